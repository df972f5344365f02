"""Plausible tool calls, made from values that occur in states and results.

Nothing is known about a tool but its JSON schema. Arguments are drawn from fields with the same name first (`order_id` from all
order ids), then from fields whose names end alike (`recipient_email` from `email`), and several arguments of one call preferably
from one record or its neighbours, so that they fit together. Everything is deterministic: equal documents give equal calls.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from random import Random
from typing import Any
from weakref import WeakKeyDictionary

from abstain_assets.environments.candidates import bases_of, candidates_of, slightly_other
from abstain_assets.environments.pools import Pools, key_of, value_pools
from environments.runtime.records import JsonObject, ToolSpec

__all__ = ["Pools", "candidate_arguments", "corrupt_arguments", "enumerate_calls", "neighbours", "value_pools"]

_ABSENT = object()


def enumerate_calls(tool: ToolSpec, pools: Pools, limit: int) -> list[JsonObject]:
    """Up to `limit` distinct argument objects for a tool, the most plausible first.

    Arguments from one record come before mixtures, few optional arguments before many. The order is by total rank, so no argument
    is varied at the expense of the others; with a large enough limit every combination of candidates comes up.
    """
    return list(islice(_plan(tool, pools).ordered(), limit))


def candidate_arguments(tool: ToolSpec, pools: Pools, rng: Random) -> JsonObject:
    """One random plausible argument object: usually from one record, optional arguments given about every other time."""
    plan = _plan(tool, pools)
    base = rng.choice(plan.bases) if plan.bases and rng.random() < 0.75 else {}
    args = {}
    for name, options in plan.candidates.items():
        if name not in plan.required and rng.random() < 0.5:
            continue
        args[name] = base[name] if name in base and rng.random() < 0.9 else rng.choice(options)
    return args


def corrupt_arguments(tool: ToolSpec, args: JsonObject, rng: Random) -> JsonObject:
    """The arguments with one mistake: one missing, one too many, a wrong type, an unknown id, an empty or absurd value."""
    broken = dict(args)
    if not broken or rng.random() < 0.1:
        return {**broken, "no_such_parameter": 1}
    name = rng.choice(sorted(broken))
    wrong: list[Any] = [None, {"unexpected": True}, [[]], "", "no-such-value", -1, 10**12]
    choice = rng.randrange(len(wrong) + 1)
    if choice == len(wrong):
        del broken[name]
    else:
        broken[name] = wrong[choice]
    return broken


def neighbours(tool: ToolSpec, args: JsonObject, name: str, pools: Pools, limit: int) -> list[JsonObject]:
    """Up to `limit` calls that differ from `args` in one argument: left out, a slightly other value, another candidate."""
    plan = _plan(tool, pools)
    options: list[Any] = []
    if name in args:
        if name not in plan.required:
            options.append(_ABSENT)
        options += slightly_other(args[name], tool.input_schema["properties"][name])
    options += plan.candidates[name]
    found: dict[str, JsonObject] = {}
    for option in options:
        other = {key: value for key, value in args.items() if key != name}
        if option is not _ABSENT:
            other[name] = option
        if other != args:
            found.setdefault(key_of(other), other)
        if len(found) == limit:
            break
    return list(found.values())


@dataclass(frozen=True)
class _Plan:
    """Everything needed to make calls of one tool: candidates per parameter and sets of arguments that fit together."""

    required: frozenset[str]
    candidates: dict[str, list[Any]]
    bases: list[JsonObject]

    def ordered(self) -> Iterator[JsonObject]:
        """All combinations, by total cost. A choice costs the bit length of its rank, so long lists are walked at the same pace."""
        bases = self.bases or [{}]
        choices = [self._choices(base) for base in bases]
        top = max(_cost(index) + sum(_cost(len(options) - 1) for options in rows) for index, rows in enumerate(choices))
        seen: set[str] = set()
        for level in range(top + 1):
            # Of equal cost, a further record as it is comes before a mixture of an earlier one.
            for index, rows in sorted(enumerate(choices[: 2**level]), key=lambda item: -_cost(item[0])):
                for combination in _combinations(rows, level - _cost(index)):
                    pairs = zip(self.candidates, combination, strict=True)
                    args = {name: value for name, value in pairs if value is not _ABSENT}
                    key = key_of(args)
                    if key not in seen:
                        seen.add(key)
                        yield args

    def _choices(self, base: JsonObject) -> list[list[Any]]:
        rows = []
        for name, options in self.candidates.items():
            absent = [] if name in self.required else [_ABSENT]
            given = [base[name]] if name in base else []
            rows.append([*absent, *given, *(option for option in options if not given or option != given[0])])
        return rows


# Plans live as long as the pools they are made from. They depend on nothing else but the schema.
_plans: "WeakKeyDictionary[Pools, dict[str, _Plan]]" = WeakKeyDictionary()


def _plan(tool: ToolSpec, pools: Pools) -> _Plan:
    plans = _plans.setdefault(pools, {})
    key = key_of(tool.input_schema)
    plan = plans.get(key)
    if plan is None:
        properties = tool.input_schema["properties"]
        required = frozenset(tool.input_schema.get("required", ()))
        candidates = {name: candidates_of(name, schema, pools) for name, schema in properties.items()}
        plan = plans[key] = _Plan(required, candidates, bases_of(properties, required, pools))
    return plan


def _combinations(rows: list[list[Any]], budget: int) -> Iterator[list[Any]]:
    """One value per row, with costs that add up to exactly the budget."""
    if not rows:
        if budget == 0:
            yield []
        return
    most = sum(_cost(len(row) - 1) for row in rows[1:])
    for index, value in enumerate(rows[0]):
        rest = budget - _cost(index)
        if rest < 0:
            return
        if rest <= most:
            for tail in _combinations(rows[1:], rest):
                yield [value, *tail]


def _cost(rank: int) -> int:
    return rank.bit_length()
