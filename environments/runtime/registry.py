"""Finding environments by name: a folder beside `runtime` that holds `environment.py`."""

import hashlib
import importlib
from functools import cache
from pathlib import Path
from typing import Any

import environments
from environments.runtime.contract import Environment
from environments.runtime.errors import MountError

ROOT = Path(environments.__file__).parent


@cache
def names() -> tuple[str, ...]:
    """Names of all shipped environments, sorted."""
    return tuple(sorted(path.parent.name for path in ROOT.glob("*/environment.py")))


@cache
def load(name: str) -> type[Environment[Any]]:
    """The environment class of a name.

    Raises:
        MountError: there is no such environment, or its module does not define exactly one.
    """
    if name not in names():
        raise MountError(f"unknown environment {name!r}; known: {', '.join(names())}")
    module = importlib.import_module(f"environments.{name}.environment")
    found = [
        member
        for member in vars(module).values()
        if isinstance(member, type) and issubclass(member, Environment) and member.__module__ == module.__name__
    ]
    if len(found) != 1 or found[0].name != name:
        raise MountError(f"environments/{name}/environment.py must define exactly one Environment, named {name!r}")
    return found[0]


@cache
def digest(name: str) -> str:
    """Digest of an environment's own source, without its families: what a sandbox runs."""
    hasher = hashlib.sha256()
    for path in sorted((ROOT / name).glob("*.py")):
        if path.name != "families.py":
            hasher.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return hasher.hexdigest()[:16]
