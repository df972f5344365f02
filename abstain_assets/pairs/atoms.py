"""Contradictions between constraints, decided on finite domains without looking at any state.

Every variable ranges over a finite set of representative points: each constant that constrains its component, and between and
beyond neighbouring constants as many points as there are variables, so that any order among variables that the real domain allows
also occurs among the points.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, timedelta
from itertools import combinations, product
from operator import eq, ge, gt, le, lt, ne

from abstain_assets.records import Atom, Domain

_OPERATORS = {"<": lt, "<=": le, "==": eq, "!=": ne, ">=": ge, ">": gt}
Value = int | str


class AtomError(Exception):
    """An atom names an unknown variable or compares values of different kinds."""


def holds(atoms: Iterable[Atom], values: Mapping[str, Value], domains: Mapping[str, Domain]) -> bool:
    """Whether all atoms hold for the given values of the variables."""
    return all(_holds(atom, {name: _number(value, domains[name]) for name, value in values.items()}, domains) for atom in atoms)


def satisfiable(atoms: Sequence[Atom], domains: Mapping[str, Domain]) -> bool:
    """Whether some assignment makes all atoms hold (complete for these domains).

    Raises:
        AtomError: an atom does not fit the domains.
    """
    names = sorted({name for atom in atoms for name in _variables(atom, domains)})
    points = [_points(name, atoms, domains, len(names)) for name in names]
    return any(all(_holds(atom, dict(zip(names, row, strict=True)), domains) for atom in atoms) for row in product(*points))


def minimal_contradiction(atoms: Sequence[Atom], domains: Mapping[str, Domain]) -> tuple[Atom, ...] | None:
    """The smallest subset that cannot hold together; `None` when all can."""
    for size in range(1, len(atoms) + 1):
        for subset in combinations(atoms, size):
            if not satisfiable(subset, domains):
                return subset
    return None


def _variables(atom: Atom, domains: Mapping[str, Domain]) -> list[str]:
    names = [atom.var]
    if isinstance(atom.rhs, str) and atom.rhs.startswith("@"):
        names.append(atom.rhs[1:])
    if unknown := [name for name in names if name not in domains]:
        raise AtomError(f"{atom.text!r}: unknown variables {unknown}")
    if len({domains[name].kind for name in names}) != 1:
        raise AtomError(f"{atom.text!r} compares {' with '.join(domains[name].kind for name in names)}")
    return names


def _holds(atom: Atom, values: Mapping[str, Value], domains: Mapping[str, Domain]) -> bool:
    reference = isinstance(atom.rhs, str) and atom.rhs.startswith("@")
    right = values[str(atom.rhs)[1:]] if reference else _number(atom.rhs, domains[atom.var])
    return bool(_OPERATORS[atom.op](values[atom.var], right))


def _points(name: str, atoms: Sequence[Atom], domains: Mapping[str, Domain], per_gap: int) -> list[Value]:
    domain = domains[name]
    if domain.kind == "enum":
        return list(domain.values)
    constants = sorted(
        {
            int(_number(atom.rhs, domains[atom.var]))
            for atom in atoms
            if domains[atom.var].kind == domain.kind and not (isinstance(atom.rhs, str) and atom.rhs.startswith("@"))
        }
    ) or [0]
    points: set[int] = set()
    for constant in constants:
        points |= {constant + step for step in range(-per_gap, per_gap + 1)}
    if domain.kind == "time":
        points = {point for point in points if 0 <= point < 24 * 60}
    return [*sorted(points)]


def _number(value: Value, domain: Domain) -> Value:
    """Dates as days, times as minutes, so that order and gaps are those of the real domain."""
    try:
        if domain.kind == "date" and isinstance(value, str):
            return (date.fromisoformat(value[:10]) - date(1970, 1, 1)) // timedelta(days=1)
        if domain.kind == "time" and isinstance(value, str):
            hour, minute = value.split(":")[:2]
            return int(hour) * 60 + int(minute)
    except ValueError as error:
        raise AtomError(f"{value!r} is no {domain.kind}") from error
    if (domain.kind == "enum") != isinstance(value, str):
        raise AtomError(f"{value!r} is no {domain.kind}")
    return value
