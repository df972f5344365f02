"""Installing the small test environment, and spoiled copies of it, so that the registry finds them like any other environment."""

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

import environments
from environments.runtime import Environment, registry
from environments.runtime.records import Fault, JsonObject, Mount
from environments.runtime.sandbox import Sandbox

LIBRARY = Path(__file__).parent / "toys" / "library"
LENDING = {"book_id": "B-3", "member_id": "M-1", "due_on": "2026-04-01"}


def install(monkeypatch: pytest.MonkeyPatch, root: Path, edits: Iterable[tuple[str, str]] = (), name: str = "library") -> None:
    """Write a copy of the library under `root` and let the registry find it until the test ends.

    Args:
        edits: replacements in its source; each old text must occur exactly once.
        name: name of the copy.
    """
    text = (LIBRARY / "environment.py").read_text(encoding="utf-8")
    if name != "library":
        edits = (*edits, ('name = "library"', f'name = "{name}"'))
    for old, new in edits:
        assert text.count(old) == 1, f"{old!r} occurs {text.count(old)} times"
        text = text.replace(old, new)
    folder = root / name
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text((LIBRARY / "__init__.py").read_text(encoding="utf-8"), encoding="utf-8")
    (folder / "environment.py").write_text(text, encoding="utf-8")

    known, load = registry.names(), getattr(registry.load, "__wrapped__", registry.load)
    monkeypatch.setattr(environments, "__path__", [*environments.__path__, str(root)])
    monkeypatch.setattr(registry, "names", lambda: tuple(sorted({*known, name})))
    # Without its cache: the next test may install another class under the same name.
    monkeypatch.setattr(registry, "load", lambda asked: load(asked))
    for module in (f"environments.{name}", f"environments.{name}.environment"):
        monkeypatch.delitem(sys.modules, module, raising=False)


def world(name: str = "library") -> JsonObject:
    return registry.load(name).example_state().dump()


def fresh(name: str = "library") -> Environment[Any]:
    return registry.load(name).load(world(name))


def mounted(*faults: Fault, hidden: tuple[str, ...] = (), names: tuple[str, ...] = ("library",)) -> Sandbox:
    return Sandbox(Mount(environments=names, hidden=hidden, faults=faults), {name: world(name) for name in names})
