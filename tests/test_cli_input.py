"""Bad input gives one clear message, the right exit code, no traceback, and nothing half-written."""

import resource
import subprocess
import sys
from pathlib import Path

import pytest

from tests.command import MAIN, ROOT, abstain


def test_help_is_there_at_once() -> None:
    """Nothing heavy is imported before a command needs it. Processor time, since other processes may be busy."""
    command = [sys.executable, "-c", MAIN, "--help"]
    times = []
    for _ in range(5):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    for name in ("demo", "build", "stats", "verify", "models", "run", "leaderboard", "judge", "report", "query", "show", "bench"):
        assert name in done.stdout
    assert min(times) < 0.5


def test_commands_that_need_no_dagster_do_not_import_it() -> None:
    heavy = {"dagster", "duckdb", "openai", "polars", "pydantic"}
    code = f"import sys; from abstain_assets.cli import app; assert not {heavy} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "scripted/orcale"], "unknown model 'scripted/orcale'; did you mean scripted/oracle"),
        (["run", "scripted/oracle", "--scenario", "S9"], "unknown scenario 'S9'; known: missing_critical_parameter"),
        (["run", "scripted/oracle", "--round", "r2"], "round 'r2' has no seed: set ABSTAIN_SEED_R2"),
        (["build", "--scenario", "nope"], "unknown scenario 'nope'"),
        (["build", "--round", "Nope!"], "'Nope!' is no round name"),
        (["build", "--round", "r2"], "round 'r2' has no seed"),
        (["build", "--round", "v1", "--seed", "5"], "round 'v1' already has another seed"),
        (["build", "--seed", "many"], "integer"),
        (["stats"], "round 'v1' is not built: run `abstain build --round v1` first"),
        (["verify", "pairs", "--round", "seed-3"], "round 'seed-3' is not built"),
        (["judge", "run"], "there are no rollouts on round v1"),
        (["query", "SELEC 1"], "the query failed"),
        (["query", "DROP TABLE pairs"], "the query failed"),
        (["query", ""], "give exactly one SQL statement"),
        (["query", "select 1; select 2"], "give exactly one SQL statement"),
        (["query", "select 1 a, 2 a"], "two columns are named a"),
        (["run", "scripted/oracle", "--pairs", " ,"], "--pairs is empty"),
        (["show", "no-such-thing"], "nothing is called 'no-such-thing'"),
        (["models", "check", "nobody/nothing"], "unknown model 'nobody/nothing'"),
        (["models", "add", "noslash", "--base-url", "http://127.0.0.1:1"], "write `provider/model`"),
        (["no-such-command"], "no-such-command"),
    ],
)
def test_bad_input_is_one_message_and_code_2(lake_home: Path, arguments: list[str], message: str) -> None:
    said = abstain(*arguments, "--home", lake_home)
    assert said.code == 2, said.err
    assert message in " ".join(said.err.split())
    assert "Traceback" not in said.err
    assert said.out == ""
    assert not list(lake_home.rglob("*.parquet"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name: [unclosed", "not valid YAML at line"),
        ("name: a/b\nharness: scripted\nprovider: p\nmodel: m\ntemprature: 1", "temprature: unknown field"),
        ("harness: scripted\nprovider: p\nmodel: m", "name: missing; add a line `name: ...`"),
        ("name: a/b\nharness: chat_completions\nprovider: p\nmodel: m", "base_url is missing"),
    ],
)
def test_a_bad_model_file_is_named(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "bad.yaml").write_text(text, encoding="utf-8")
    said = abstain("models", "list", "--json", variables={"ABSTAIN_MODELS": str(tmp_path)})
    assert said.code == 2
    assert said.document == []
    assert "bad.yaml" in said.err
    assert message in said.err
    assert "Traceback" not in said.err


def test_models_are_listed_checked_and_added(tmp_path: Path) -> None:
    variables = {"ABSTAIN_MODELS": str(tmp_path)}
    address = ("--base-url", "http://127.0.0.1:9/v1")
    added = abstain("models", "add", "acme/small:1", *address, "--api-key-env", "ACME_KEY", "--json", variables=variables)
    assert added.code == 0, added.err
    assert added.document["model"] == "acme/small:1"
    assert [path.suffix for path in tmp_path.iterdir()] == [".yaml"]
    again = abstain("models", "add", "acme/small:1", *address, variables=variables)
    assert again.code == 2
    assert "already registered" in again.err
    without = abstain("models", "check", "acme/small:1", "--json", variables=variables)
    assert without.code == 1
    assert without.document[0]["ok"] is False
    assert "ACME_KEY" in without.document[0]["problem"]
    listed = abstain("models", "list", "--json", variables={**variables, "ACME_KEY": "canary-5c1f"})
    assert listed.document[0]["key"] == "present"
    assert "canary-5c1f" not in listed.out + listed.err


def test_options_may_stand_before_or_after_the_command(lake_home: Path) -> None:
    before = abstain("--json", "--home", lake_home, "query", "SELECT 1 AS one")
    after = abstain("query", "SELECT 1 AS one", "--json", "--home", lake_home)
    assert before.document == after.document == [{"one": 1}]


def test_home_comes_from_the_option_the_variable_or_the_env_file(tmp_path: Path) -> None:
    sql = "SELECT count(*) AS n FROM pairs"
    for name, variables in (("shell", {"ABSTAIN_HOME": str(tmp_path / "shell")}), ("file", {})):
        (tmp_path / ".env").write_text(f"ABSTAIN_HOME={tmp_path / 'file'}\n", encoding="utf-8")
        assert abstain("query", sql, "--json", cwd=tmp_path, variables=variables).document == [{"n": 0}]
        assert (tmp_path / name / "abstain.duckdb").exists()
    assert not (tmp_path / "data").exists()
