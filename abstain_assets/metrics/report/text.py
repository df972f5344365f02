"""Turning evidence into text that is safe to look at: nothing hidden, nothing endless, numbers always with their counts.

Escaping is the templates' business (every template escapes by default). What is done here is what escaping leaves: characters that
cannot be seen or that reorder what stands beside them.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from environments.runtime.records import JsonObject

RESULT_LIMIT = 4000
SAID_LIMIT = 20_000
_WIDTH = 88
_json = json.JSONEncoder(ensure_ascii=False).encode
# Controls but tab and newline, marks without width or that change the direction of writing, lone surrogates, tag characters.
_UNSEEN = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff\U000e0000-\U000e007f]"
)


def visible(text: str) -> str:
    """A text in which every character can be seen.

    >>> visible("safe\\u202eevas")
    'safe[U+202E]evas'
    """
    return _UNSEEN.sub(lambda found: f"[U+{ord(found.group()):04X}]", text.replace("\r\n", "\n"))


def clipped(text: str, limit: int, where: str) -> str:
    """A text cut to `limit` characters; the cut is said, with the place where the rest is."""
    if len(text) <= limit:
        return text
    return f"{text[:limit]}\n[… {len(text) - limit:,} more characters: {where}]"


def layout(value: Any, indent: int = 0) -> str:
    """JSON over as few lines as are easy to read: what fits on one line stays on one.

    >>> print(layout({"id": "W-1", "items": [{"sku": "A", "n": 1}]}))
    {"id": "W-1", "items": [{"sku": "A", "n": 1}]}
    """
    flat = _json(value)
    if len(flat) + indent <= _WIDTH or not isinstance(value, (dict, list)) or not value:
        return flat
    inner = " " * (indent + 2)
    if isinstance(value, dict):
        parts = [f"{_json(name)}: {layout(item, indent + 2)}" for name, item in value.items()]
    else:
        parts = [layout(item, indent + 2) for item in value]
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    return f"{opening}\n" + ",\n".join(f"{inner}{part}" for part in parts) + f"\n{' ' * indent}{closing}"


def arguments(args: JsonObject) -> list[tuple[str, str]]:
    """Names and values of a call's arguments."""
    return [(name, layout(value)) for name, value in args.items()]


def rate(value: float | None) -> str:
    """A rate as a percentage with one decimal; a dash where there is none.

    >>> rate(0.5), rate(None)
    ('50.0', '–')
    """
    return "–" if value is None else f"{100 * value:.1f}"


def count(value: float) -> str:
    """A count; with epochs, pairs are counted in parts.

    >>> count(12.0), count(2.5)
    ('12', '2.5')
    """
    return f"{value:.0f}" if value == int(value) else f"{value:.1f}"


def counted(counts: Mapping[str, int]) -> str:
    """Kinds and how often each occurred.

    >>> counted({"api_error": 2, "empty_output": 1})
    '2 api error, 1 empty output'
    """
    return ", ".join(f"{count} {words(kind)}" for kind, count in counts.items() if count)


def words(name: str) -> str:
    """An identifier as words.

    >>> words("over_abstained")
    'over abstained'
    """
    return name.replace("_", " ")


_OUTCOMES = {"post_hoc": "post-hoc", "over_abstained": "over-abstained", "silent_incomplete": "silent, incomplete"}


def outcome_words(outcome: str) -> str:
    """An outcome as METHODS writes it.

    >>> outcome_words("post_hoc")
    'post-hoc'
    """
    return _OUTCOMES.get(outcome, words(outcome))
