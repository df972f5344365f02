"""References into earlier results, by key and never by position.

    n1.order_id                      a field
    n1.orders[only].order_id         the single item of a list
    n1.orders[status=shipped].id     the single item whose field has this value; `{slot}` or `{n0.field}` inserts one
    n1.orders[max placed_on].id      the item with the largest value; a tie is an error
    n1.orders[status=open][*].id     every remaining item, as a list

Selectors chain from left to right. A list that is not reduced to one item (or spread by `[*]`) is an error, so a replay that
succeeds never depended on an order the environment happens to use.
"""

import re
from collections.abc import Mapping
from typing import Any

from abstain_assets.records import Arg, Fields, Free, Items, Op, Ref, Said, Slot

_SEGMENT = re.compile(r"(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?P<selectors>(\[[^\]]+\])*)$")
_INSERT = re.compile(r"\{([^{}]+)\}")


class RefError(Exception):
    """A reference does not resolve: a missing field, no item or several where one is needed."""


def resolve(arg: Arg, slots: Mapping[str, Slot], results: Mapping[str, Any]) -> Any:
    """The value of an argument, given the slots of the instruction and the results so far (node id -> content).

    Raises:
        RefError: the value is not determined.
    """
    match arg:
        case Said():
            return _slot(arg.said, slots)
        case Free():
            return arg.free
        case Ref():
            return follow(arg.ref, slots, results)
        case Items():
            return [resolve(item, slots, results) for item in arg.items]
        case Fields():
            return {name: resolve(item, slots, results) for name, item in arg.fields.items()}
        case Op():
            return _calculate(arg, [resolve(item, slots, results) for item in arg.args])


def follow(ref: str, slots: Mapping[str, Slot], results: Mapping[str, Any]) -> Any:
    """Follow one reference.

    >>> follow("a.items[kind=x].n", {}, {"a": {"items": [{"kind": "x", "n": 3}, {"kind": "y", "n": 4}]}})
    3
    """
    text = _INSERT.sub(lambda found: str(_insert(found.group(1), slots, results)), ref)
    value: Any = results
    spread = False
    for segment in _split(text):
        parsed = _SEGMENT.match(segment)
        if parsed is None:
            raise RefError(f"{ref}: cannot read segment {segment!r}")
        name, selectors = parsed["name"], re.findall(r"\[([^\]]+)\]", parsed["selectors"])
        value = [_field(item, name, ref) for item in value] if spread else _field(value, name, ref)
        if selectors:
            if spread:
                raise RefError(f"{ref}: only the last list may be spread")
            value, spread = _select(value, selectors, ref)
    return value


def mentioned(arg: Arg) -> tuple[set[str], set[str]]:
    """Slots and nodes an argument depends on."""
    slots: set[str] = set()
    nodes: set[str] = set()
    match arg:
        case Said():
            slots.add(arg.said)
        case Ref():
            for inner in _INSERT.findall(arg.ref):
                (nodes if "." in inner else slots).add(inner.split(".")[0])
            nodes.add(re.split(r"[.\[]", arg.ref, maxsplit=1)[0])
        case Op() | Items() | Fields():
            children = arg.args if isinstance(arg, Op) else arg.items if isinstance(arg, Items) else arg.fields.values()
            for child in children:
                more_slots, more_nodes = mentioned(child)
                slots |= more_slots
                nodes |= more_nodes
        case Free():
            pass
    return slots, nodes


def _split(text: str) -> list[str]:
    """Split at dots outside brackets."""
    return re.split(r"\.(?![^\[]*\])", text)


def _insert(name: str, slots: Mapping[str, Slot], results: Mapping[str, Any]) -> Any:
    return follow(name, slots, results) if "." in name else _slot(name, slots)


def _slot(name: str, slots: Mapping[str, Slot]) -> Any:
    if name not in slots:
        raise RefError(f"the instruction does not give {name!r}")
    return slots[name].value


def _field(value: Any, name: str, ref: str) -> Any:
    if not isinstance(value, Mapping) or name not in value:
        raise RefError(f"{ref}: there is no {name!r}")
    return value[name]


def _select(value: Any, selectors: list[str], ref: str) -> tuple[Any, bool]:
    if not isinstance(value, list):
        raise RefError(f"{ref}: {selectors[0]!r} needs a list")
    items = list(value)
    for selector in selectors:
        if selector == "*":
            return items, True
        if selector == "only":
            continue
        word, _, key = selector.partition(" ")
        if word in ("max", "min") and key:
            if not items:
                raise RefError(f"{ref}: no item to take the {word} of")
            best = (max if word == "max" else min)(_field(item, key, ref) for item in items)
            items = [item for item in items if item[key] == best]
        else:
            key, equals, wanted = selector.partition("=")
            if not equals:
                raise RefError(f"{ref}: unknown selector {selector!r}")
            items = [item for item in items if _text(_field(item, key, ref)) == wanted]
    if len(items) != 1:
        raise RefError(f"{ref}: {len(items)} items where exactly one is needed")
    return items[0], False


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _calculate(op: Op, values: list[Any]) -> Any:
    flat = [item for value in values for item in (value if isinstance(value, list) else [value])]
    if op.op == "count":
        return len(flat)
    if not flat or not all(isinstance(item, int) and not isinstance(item, bool) for item in flat):
        raise RefError(f"{op.op} needs whole numbers, got {flat}")
    if op.op == "sum":
        return sum(flat)
    if op.op == "sub":
        return flat[0] - sum(flat[1:])
    product = 1
    for item in flat:
        product *= item
    return product
