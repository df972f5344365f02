"""Plausible arguments for single parameters and for whole calls, by name and type of the parameters alone."""

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from datetime import date, datetime, timedelta
from functools import cache
from typing import Any

from abstain_assets.environments.pools import DATE, DATETIME, TIME, Pools, key_of, tokens
from environments.runtime.records import JsonObject

MAX_CANDIDATES = 256

_DATE_NAMES = {"date", "day", "on", "from", "until", "since", "before", "after"}
_DATETIME_NAMES = {"at", "datetime", "start", "end"}


def bases_of(properties: JsonObject, required: frozenset[str], pools: Pools) -> list[JsonObject]:
    """Arguments that single rows can give, distinct: rows that give most of the required ones first."""
    names = dict.fromkeys(name for row in pools.rows for name in row)
    near = {parameter: [(rank, name) for rank, name in _related(parameter, "", names) if rank <= 2] for parameter in properties}
    scored: dict[str, tuple[int, int, JsonObject]] = {}
    for row in pools.rows:
        base, exact = {}, 0
        for parameter, schema in properties.items():
            for rank, value in _row_values(row, near[parameter], schema):
                if _fits(value, schema):
                    base[parameter] = value
                    exact += rank == 0
                    break
        if base:
            scored.setdefault(key_of(base), (len(required & base.keys()), exact, base))
    return [base for _, _, base in sorted(scored.values(), key=lambda item: (-item[0], -item[1]))]


def candidates_of(name: str, schema: JsonObject, pools: Pools) -> list[Any]:
    """Values for one parameter, the most plausible first; never empty."""
    if "enum" in schema:
        return list(schema["enum"])
    match schema["type"]:
        case "boolean":
            return [True, False]
        case "array":
            return _lists(name, schema, pools)
        case "object":
            return _objects(schema, pools)
        case "string":
            found = _strings(name, schema, pools)
        case _:
            known = _named(name, schema, pools)
            found = [*known[:8], 1, 2, 10, *known[8:]]
    return list({key_of(value): value for value in found}.values())[:MAX_CANDIDATES]


def slightly_other(value: Any, schema: JsonObject) -> list[Any]:
    """Values close to a value: wrong by a little, as an observed value may be."""
    match value:
        case bool():
            return [not value]
        case int() | float():
            return [value + 1, value - 1, value * 2]
        case str() if "enum" in schema:
            return []
        case str() if DATETIME.match(value):
            return _moved(value, datetime.fromisoformat, [timedelta(hours=1), timedelta(days=1)])
        case str() if DATE.match(value):
            return _moved(value, date.fromisoformat, [timedelta(days=days) for days in (1, -1, 30)])
        case str() if TIME.match(value):
            return [f"{(int(value[:2]) + hours) % 24:02d}{value[2:]}" for hours in (1, -1, 4)]
        case str():
            return [f"{value}x", f"Other {value}"]
        case list() if value and isinstance(schema.get("items"), dict):
            return [value[:-1], *([*value[:-1], other] for other in slightly_other(value[-1], schema["items"]))]
        case dict():
            children = schema.get("properties", {})
            return [{**value, name: o} for name, item in value.items() for o in slightly_other(item, children.get(name, {}))[:1]]
    return []


def _row_values(row: JsonObject, near: list[tuple[int, str]], schema: JsonObject) -> Iterator[tuple[int, Any]]:
    if schema["type"] == "object":
        wanted = schema.get("properties", {})
        yield 0, {name: row[name] for name in wanted if row.get(name) is not None}
        return
    if schema["type"] == "array" and schema["items"].get("type") == "object":
        for rank, value in _row_values(row, near, schema["items"]):
            yield rank, [value]
        return
    for rank, name in near:
        if name in row:
            yield rank, row[name]
            if schema["type"] == "array" and not isinstance(row[name], list):
                yield rank, [row[name]]
            # Dates and times of one record: a parameter may want the day where the record has the moment.
            if isinstance(row[name], str) and DATETIME.match(row[name]):
                yield rank, row[name][:10]


def _named(name: str, schema: JsonObject, pools: Pools) -> list[Any]:
    """Values of related fields. For an id with fields of its own name, only those."""
    related = _related(name, schema.get("description", ""), pools.values)
    if tokens(name)[-1] == "id" and related and related[0][0] <= 1:
        related = [item for item in related if item[0] <= 1]
    return [value for _, field_name in related for value in pools.values[field_name] if _fits(value, schema)]


def _strings(name: str, schema: JsonObject, pools: Pools) -> list[Any]:
    found = _named(name, schema, pools)
    description, words = schema.get("description", ""), set(name.lower().split("_"))
    if "HH:MM" in description and "YYYY" not in description:
        return [*filter(TIME.match, found), *pools.times, "09:00", "17:00"]
    if "HH:MM" in description or words & _DATETIME_NAMES:
        return [*filter(DATETIME.match, found), *pools.datetimes, *found, *pools.dates, "text"]
    if "YYYY" in description or words & _DATE_NAMES:
        return [*filter(DATE.match, found), *pools.dates, *found, "text"]
    if found:
        return found
    texts = [value for values in pools.values.values() for value in values if isinstance(value, str)]
    longest = [max(re.findall(r"\w+", text), key=len, default=text) for text in texts if " " in text]
    return [*longest, *texts, "text"]


def _lists(name: str, schema: JsonObject, pools: Pools) -> list[Any]:
    near = [field_name for rank, field_name in _related(name, "", dict.fromkeys(n for row in pools.rows for n in row)) if rank <= 1]
    whole = [row[field_name] for field_name in near for row in pools.rows if isinstance(row.get(field_name), list)]
    items = candidates_of(name, {**schema["items"], "description": schema.get("description", "")}, pools)
    found = [*(value for value in whole if value and _fits(value, schema)), *([item] for item in items), items[:2], []]
    return list({key_of(value): value for value in found}.values())[:MAX_CANDIDATES]


def _objects(schema: JsonObject, pools: Pools) -> list[Any]:
    properties = schema.get("properties", {})
    required = frozenset(schema.get("required", ()))
    found = [base for base in bases_of(properties, required, pools) if required <= base.keys()]
    first = {name: candidates_of(name, child, pools)[0] for name, child in properties.items() if name in required}
    return [*found, first][:MAX_CANDIDATES]


def _fits(value: Any, schema: JsonObject) -> bool:
    if "enum" in schema:
        return value in schema["enum"]
    match schema["type"]:
        case "string":
            return isinstance(value, str)
        case "boolean":
            return isinstance(value, bool)
        case "integer":
            return isinstance(value, int) and not isinstance(value, bool)
        case "number":
            return isinstance(value, (int, float)) and not isinstance(value, bool)
        case "array":
            return isinstance(value, list) and all(_fits(item, schema["items"]) for item in value)
        case _:
            properties = schema.get("properties", {})
            given = isinstance(value, dict) and set(schema.get("required", ())) <= value.keys() <= properties.keys()
            return given and all(_fits(item, properties[name]) for name, item in value.items())


def _moved(value: str, parse: Callable[[str], date], steps: list[timedelta]) -> list[Any]:
    # No such day, or none after it: some systems write 9999-12-31 for never.
    with suppress(ValueError, OverflowError):
        return [(parse(value) + step).isoformat() for step in steps]
    return []


# --- matching names -------------------------------------------------------------------------------------------------------


@cache
def _distance(parameter: str, name: str) -> int | None:
    """How far a field's name is from a parameter's: 0 equal, 1 one ends in the other, 2 same ending, 3 a common word, else None."""
    wanted, given = tokens(parameter), tokens(name)
    if wanted == given:
        return 0
    alike = 0
    for left, right in zip(reversed(wanted), reversed(given), strict=False):
        if left != right:
            break
        alike += 1
    if alike == min(len(wanted), len(given)) and wanted[-alike:] != ("id",):
        return 1
    # All ids end alike: `order_id` has nothing to do with `customer_id`.
    if alike > (1 if wanted[-1] == "id" else 0):
        return 2
    return 3 if set(wanted) & set(given) - {"id"} else None


def _related(parameter: str, description: str, names: Iterable[str]) -> list[tuple[int, str]]:
    """Field names that may hold values of a parameter, with their distance, nearest first. Distance 4: named in the description."""
    said = {word for raw in re.findall(r"[a-z]+", description.lower().replace("e-mail", "email")) for word in tokens(raw)}
    found = []
    for name in names:
        distance = _distance(parameter, name)
        if distance is None and set(tokens(name)) - {"id"} <= said:
            distance = 4
        if distance is not None:
            found.append((distance, name))
    return sorted(found, key=lambda item: item[0])
