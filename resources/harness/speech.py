"""The words of the scripted policies: phrasings from `phrasings/`, chosen by content and filled with what the pair is about."""

from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from pydantic import JsonValue

from abstain_assets.records import Fact, digest
from resources.harness.base import Privileged

_FOLDER = Path(__file__).parent / "phrasings"
_ARTICLES = {
    "the",
    "a",
    "an",
    "no",
    "every",
    "each",
    "all",
    "two",
    "several",
    "some",
    "it",
    "this",
    "that",
    "these",
    "there",
    "one",
    "both",
}
_PARTICIPLES = {
    "send": "sent",
    "book": "booked",
    "pay": "paid",
    "make": "made",
    "write": "written",
    "put": "put",
    "set": "set",
    "freeze": "frozen",
    "unfreeze": "unfrozen",
    "stop": "stopped",
    "cancel": "cancelled",
    "label": "labelled",
    "transfer": "transferred",
    "submit": "submitted",
    "permit": "permitted",
}


@cache
def phrasings(policy: str) -> dict[str, list[str]]:
    """The phrasings of a policy by situation."""
    loaded: dict[str, list[str]] = yaml.safe_load((_FOLDER / f"{policy}.yaml").read_text(encoding="utf-8"))
    return loaded


def say(policy: str, situation: str, who: Privileged, **words: str) -> str:
    """One phrasing, filled. The same pair, side, epoch and seed give the same one."""
    choices = phrasings(policy)[situation]
    key = digest([policy, situation, who.pair.model_dump(mode="json"), who.side, who.epoch, who.seed])
    return fill(choices[int(key, 16) % len(choices)], words)


def fill(phrasing: str, words: Mapping[str, str]) -> str:
    """A phrasing with its words in place; `{Word}` is `{word}` with a capital first letter.

    Raises:
        KeyError: the phrasing needs a word that is not given.
    """
    return phrasing.format(**words, **{name.capitalize(): text[:1].upper() + text[1:] for name, text in words.items()})


def listed(items: Iterable[str], word: str = "and") -> str:
    """Items in a sentence, apart by semicolons where one of them holds a comma.

    >>> listed(["a", "b", "c"], "or")
    'a, b or c'
    """
    *head, last = items
    mark = "; " if any("," in item for item in (*head, last)) else ", "
    return f"{mark.join(head)}{';' if mark == '; ' else ''} {word} {last}" if head else last


def reasons(explanation: str) -> dict[str, str]:
    """A reason as a sentence of its own and inside one."""
    first, _, rest = explanation.strip().rstrip(".").partition(" ")
    inside = f"{first.lower() if first.lower() in _ARTICLES else first} {rest}".strip()
    return {"reason": f"{explanation.strip().rstrip('.')}.", "reason_inside": inside}


def facts_text(facts: Iterable[Fact]) -> str:
    """Facts with their labels."""
    return "; ".join(f"{fact.label}: {value_text(fact.value, fact.kind)}" for fact in facts)


def value_text(value: JsonValue, kind: str = "text") -> str:
    """A value as an agent would write it.

    >>> value_text(123450, "money")
    '$1,234.50'
    """
    if isinstance(value, list):
        return listed([value_text(item, kind) for item in value]) if value else "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if kind == "money" and isinstance(value, int):
        return f"{'-' if value < 0 else ''}${abs(value) / 100:,.2f}"
    return str(value)[:16].replace("T", " at ") if kind == "datetime" else str(value)


def ability(tool: str) -> str:
    """What a tool can do, after "to".

    >>> ability("retail_orders.cancel_order")
    'cancel an order'
    """
    verb, things = _parts(tool)
    article = "" if not things or things.endswith("s") else "an " if things[0] in "aeiou" else "a "
    return f"{verb} {article}{things}".strip()


def deed(tool: str, args: Mapping[str, Any]) -> str:
    """What a call has done, with its first telling argument.

    >>> deed("retail_orders.cancel_order", {"order_id": "W-1001"})
    'order cancelled (W-1001)'
    """
    verb, things = _parts(tool)
    what = f"{things} {_participle(verb)}".strip()
    for value in args.values():
        if isinstance(value, str) and value and len(value) <= 60:
            return f"{what} ({value})"
        if isinstance(value, (list, tuple)) and value:
            return f"{what} ({len(value)} of them)" if len(value) > 1 else f"{what} ({value[0]})"
    return what


def _parts(tool: str) -> tuple[str, str]:
    verb, _, things = tool.rpartition(".")[2].partition("_")
    return verb, things.replace("_", " ")


def _participle(verb: str) -> str:
    if verb in _PARTICIPLES:
        return _PARTICIPLES[verb]
    if verb.endswith("e"):
        return f"{verb}d"
    if verb.endswith("y") and verb[-2:-1] not in "aeiou":
        return f"{verb[:-1]}ied"
    return f"{verb}ed"
