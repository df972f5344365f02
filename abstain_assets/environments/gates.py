"""The gates: what every environment must pass before anything is built on it, whoever wrote it.

static_check     no host clock, randomness, files, network, processes or code loading in the source
import           the module loads and defines one environment with an example state
state_types      records are immutable and lie under their own ids
round_trip       states survive dump and load byte by byte; unknown keys and wrong types are refused
portable_schemas schemas all providers accept; short, unique wire names
tool_list        3 to 29 tools of all three kinds
examples         docstring examples come out as written: a success for every tool, a refusal for every commit
end_to_end       every tool through a real MCP client and server, results valid by their schemas
purity           lookups and verifies leave no trace
atomicity        refused calls change nothing, patches are the whole change (random sequences)
determinism      the same calls give the same bytes in two processes
effects          declared effects name real fields and happen
read_after_write some lookup shows what a commit changed
filters          every lookup parameter changes some result
stored_arguments every commit argument makes a difference
verify_verifies  verify tools say yes and no, and compare every value they are given
refusals         commits on unknown records are refused; errors leak nothing
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import environments
from abstain_assets.environments import check_conduct, check_meaning, check_shape, check_wire
from abstain_assets.environments.static_check import check_folder
from abstain_assets.environments.subject import Checked, Subject
from environments.runtime import registry
from environments.runtime.errors import MountError

_SHOWN = 12


@dataclass(frozen=True)
class GateResult:
    """What one gate says of one environment. `detail` says what was looked at, or what is wrong."""

    environment: str
    gate: str
    ok: bool
    detail: str


_CHECKS: dict[str, Callable[[Subject], Checked]] = {
    "state_types": check_shape.state_types,
    "round_trip": check_shape.round_trip,
    "portable_schemas": check_shape.portable_schemas,
    "tool_list": check_shape.tool_list,
    "examples": check_wire.examples,
    "end_to_end": check_wire.end_to_end,
    "purity": check_conduct.purity,
    "atomicity": check_conduct.atomicity,
    "determinism": check_conduct.determinism,
    "effects": check_shape.effects,
    "read_after_write": check_meaning.read_after_write,
    "filters": check_meaning.filters,
    "stored_arguments": check_meaning.stored_arguments,
    "verify_verifies": check_meaning.verify_verifies,
    "refusals": check_meaning.refusals,
}
GATES = ("static_check", "import", *_CHECKS)


def run_gates(name: str, only: Collection[str] = GATES) -> tuple[GateResult, ...]:
    """Run the gates on a shipped environment.

    Args:
        only: names of gates to run; `static_check` and `import` are always run, and nothing else where the import fails.

    Raises:
        MountError: there is no such environment.
        ValueError: there is no such gate.
    """
    if unknown := sorted(set(only) - set(GATES)):
        raise ValueError(f"unknown gates {unknown}; known: {', '.join(GATES)}")
    folder = _folder(name)
    loaded: list[Subject] = []
    results = [
        _result(name, "static_check", lambda: _static(folder)),
        _result(name, "import", lambda: _imported(name, folder, loaded)),
    ]
    if not loaded:
        return tuple(results)
    with loaded[0] as subject:
        if "determinism" in only:
            subject.start_other_process()
        results += [_result(name, gate, partial(check, subject)) for gate, check in _CHECKS.items() if gate in only]
    return tuple(results)


def _static(folder: Path) -> Checked:
    return Checked(tuple(map(str, check_folder(folder))), f"{len(list(folder.rglob('*.py')))} files")


def _folder(name: str) -> Path:
    for root in environments.__path__:
        if (Path(root) / name / "environment.py").is_file():
            return Path(root) / name
    raise MountError(f"unknown environment {name!r}; known: {', '.join(registry.names())}")


def _imported(name: str, folder: Path, loaded: list[Subject]) -> Checked:
    subject = Subject(registry.load(name), folder)
    loaded.append(subject)
    return Checked((), f"{subject.env_type.__name__} with {len(subject.specs)} tools")


def _result(name: str, gate: str, check: Callable[[], Checked]) -> GateResult:
    try:
        checked = check()
    # The code under test is not ours: whatever it raises is a finding about it.
    except Exception as error:
        cause: BaseException = error
        while isinstance(cause, BaseExceptionGroup):
            cause = cause.exceptions[0]
        checked = Checked((f"{type(cause).__name__}: {cause}",), "")
    shown = checked.findings[:_SHOWN]
    more = len(checked.findings) - len(shown)
    detail = "; ".join((*shown, *((f"and {more} more",) if more else ()))) or checked.summary
    return GateResult(name, gate, not checked.findings, detail)
