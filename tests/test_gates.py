"""The gates: good environments pass every one, and each kind of bad environment is caught by the gate meant for it."""

from collections.abc import Callable, Collection, Iterable
from pathlib import Path

import pytest

from abstain_assets.environments.gates import GATES, GateResult, run_gates
from environments.runtime import registry
from environments.runtime.errors import MountError
from tests.bad_environments import BAD, Bad, Edit
from tests.toy import LIBRARY, install

Run = Callable[..., dict[str, GateResult]]


@pytest.fixture
def gates(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    def run(edits: Iterable[Edit], only: Collection[str] = GATES) -> dict[str, GateResult]:
        install(monkeypatch, tmp_path, edits)
        return {result.gate: result for result in run_gates("library", only)}

    return run


def test_the_library_passes_every_gate(gates: Run) -> None:
    results = gates(())
    assert tuple(results) == GATES
    assert [result for result in results.values() if not result.ok] == []
    assert all(result.detail and result.environment == "library" for result in results.values())


@pytest.mark.parametrize("bad", BAD, ids=lambda bad: bad.name)
def test_a_bad_environment_is_caught(gates: Run, bad: Bad) -> None:
    result = gates(bad.edits, only={bad.gate})[bad.gate]
    assert not result.ok, result.detail
    assert bad.says in result.detail


def test_every_gate_has_a_bad_environment_that_it_catches() -> None:
    assert {bad.gate for bad in BAD} == set(GATES)


def test_nothing_is_run_where_the_import_fails(gates: Run) -> None:
    assert list(gates([("if due_on <= self.today:", "if due_on <= :")])) == ["static_check", "import"]


def test_two_environments_in_one_module(gates: Run) -> None:
    source = (LIBRARY / "environment.py").read_text(encoding="utf-8")
    second = source[source.index("class Library(") :].replace("class Library(", "class Annexe(")
    result = gates([("class Library(", f"{second}\n\nclass Library(")])["import"]
    assert not result.ok
    assert "exactly one Environment" in result.detail


def test_a_wire_name_shared_with_another_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def renamed(name: str) -> list[Edit]:
        return [("def read_desk(", f"def {name}("), ('call("read_desk")', f'call("{name}")')]

    install(monkeypatch, tmp_path / "one", renamed("annexe__read"))
    install(monkeypatch, tmp_path / "two", renamed("read"), name="library__annexe")
    result = {result.gate: result for result in run_gates("library__annexe", only={"portable_schemas"})}["portable_schemas"]
    assert not result.ok
    assert "share the wire name library__annexe__read" in result.detail


def test_an_unknown_environment() -> None:
    with pytest.raises(MountError, match="unknown environment 'nowhere'"):
        run_gates("nowhere")


def test_an_unknown_gate() -> None:
    with pytest.raises(ValueError, match=r"unknown gates \['flood'\]"):
        run_gates(registry.names()[0], only={"flood"})


@pytest.mark.parametrize("name", registry.names())
def test_a_shipped_environment_passes_every_gate(name: str) -> None:
    assert [f"{result.gate}: {result.detail}" for result in run_gates(name) if not result.ok] == []
