VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
EXTRAS := $(VENV)/.extras

.PHONY: setup extras demo dev test test-openclaw lock

# Installs into .venv, and again only when the lock file or pyproject.toml changed.
setup: $(INSTALLED)

# Installs the agent SDKs and the local model's runtime as well (the optional extras of pyproject.toml).
extras: $(EXTRAS)

# Builds the round, evaluates the scripted agents, prints the leaderboard and writes the report.
demo: $(INSTALLED)
	@$(BIN)/abstain demo

# Serves the Dagster UI on this machine.
dev: $(INSTALLED)
	@$(BIN)/abstain dev

test: $(EXTRAS)
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@$(BIN)/mypy
	@$(BIN)/pytest --quiet --numprocesses 3 --dist loadfile --no-loadscope-reorder

# Tests the openclaw harness, which `test` leaves out: its program is installed once (600 MB), and a rollout takes about ten seconds.
test-openclaw: $(EXTRAS)
	@[ -n "$$ABSTAIN_OPENCLAW" ] || [ -e .openclaw/patched.json ] || scripts/install-openclaw.sh
	@$(BIN)/pytest --quiet tests/optional

# Resolves all dependencies anew; needs uv. The extras come first, so that both files agree on every version.
COMPILE := uv pip compile pyproject.toml --group dev --universal --generate-hashes --no-emit-index-url --no-header --strip-extras \
  --no-annotate
lock:
	$(COMPILE) --all-extras -o requirements-extras.lock
	$(COMPILE) --constraint requirements-extras.lock -o requirements.lock

# The lock files are constraints as well: what asks for `name[extra]` gets the release that is locked as `name`, also from a pip older than 23.3,
# which would otherwise look at the newest release and refuse it for having no hash.
$(INSTALLED): requirements.lock pyproject.toml
	@set -e; \
	for python in python3 python3.14 python3.13 python3.12 python3.11; do \
	  if $$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then found=$$python; break; fi; \
	done; \
	[ -n "$$found" ] || { echo "Python 3.11 or newer is needed." >&2; exit 1; }; \
	$$found -m venv $(VENV) || { echo "Making $(VENV) failed. On Debian and Ubuntu, run: apt-get install $$found-venv" >&2; exit 1; }
	@echo "Installing into $(VENV) (once)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock -c requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

$(EXTRAS): $(INSTALLED) requirements-extras.lock
	@echo "Installing the agent SDKs (once)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-extras.lock -c requirements-extras.lock
	@touch $@
