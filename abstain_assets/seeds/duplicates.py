"""Duplicates at three granularities: the same text, the same but for values, nearly the same words.

A duplicate is decided against kept requests only, in an order that depends on the requests and not on how they were collected.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from abstain_assets.records import digest
from abstain_assets.seeds.records import RawSeed

Granularity = Literal["exact", "fingerprint", "near"]
GRANULARITIES: tuple[Granularity, ...] = ("exact", "fingerprint", "near")
SHINGLE = 3
SIMILAR = 0.7
CONTAINED = 0.9
FEWEST_CONTAINED = 10

_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|"
    r"dec(?:ember)?)"
)
_DAY = r"\d{1,2}(?:st|nd|rd|th)?"
_SUFFIX = r"(?:txt|pdf|docx?|xlsx?|csv|json|ya?ml|md|py|js|html?|png|jpe?g|gif|zip|log|pptx?|mp[34]|exe|bat)"
_VALUES = tuple(
    (re.compile(pattern), mark)
    for pattern, mark in (
        (r"(?:https?://|www\.)\S+", " _link_ "),
        (r"\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+\b", " _mail_ "),
        (r"\"[^\"]*\"|“[^”]*”|(?<!\w)'[^']*'(?!\w)|(?<!\w)‘[^’]*’(?!\w)|`[^`]*`", " _quote_ "),
        (rf"(?:[\w~./\\-]*[/\\])?[\w-]+\.{_SUFFIX}\b", " _file_ "),
        (rf"\b{_MONTH}\.? {_DAY}(?:,? \d{{4}})?\b|\b{_DAY}(?: of)? {_MONTH}(?:,? \d{{4}})?\b", " _date_ "),
        (rf"\b\d{{1,4}}[-/.]\d{{1,2}}[-/.]\d{{1,4}}\b|\b{_MONTH},? \d{{4}}\b", " _date_ "),
        (r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|\btoday\b|\btomorrow\b|\byesterday\b", " _date_ "),
        (r"\b\d{1,2}(?::\d{2}){1,2}(?:\s?[ap]\.?m\b\.?)?|\b\d{1,2}\s?[ap]\.?m\b\.?", " _time_ "),
        (r"\b(?=\w*\d)(?=\w*[a-z])[\w-]{3,}\b|#\w+", " _id_ "),
        (r"[-+]?[$€£]?\d+(?:[.,]\d+)*%?", " _number_ "),
        (r"(?:_number_[\s,;]*(?:and )?){2,}", " _number_ "),
    )
)
_TOKEN = re.compile(r"_\w+_|[^\W_]+")
_NAME = re.compile(r"(?<![.!?:\"'] )(?<!^)\b[A-Z][\w'’-]*(?:,? (?:of |the |de )?[A-Z][\w'’-]*)*")
_NO_NAMES = {"I", "I'm", "I'd", "I've", "I'll"}


@dataclass(frozen=True)
class Duplicate:
    """A request that repeats another: at which granularity, and the id of the one that goes on."""

    granularity: Granularity
    twin: str


def exact_key(instruction: str) -> str:
    """A request without differences in white space and case."""
    return " ".join(instruction.lower().split())


def fingerprint(instruction: str) -> str:
    """A request without its values: quoted texts, links, addresses, files, dates, times, ids and numbers become marks."""
    text = exact_key(instruction)
    for pattern, mark in _VALUES:
        text = pattern.sub(mark, text)
    return " ".join(_TOKEN.findall(text))


def outline(instruction: str) -> str:
    """The fingerprint with proper names as one more mark: what tells near duplicates."""
    return fingerprint(_NAME.sub(lambda found: found[0] if found[0] in _NO_NAMES else " _name_ ", instruction))


def find_duplicates(seeds: Iterable[RawSeed]) -> dict[str, Duplicate]:
    """What repeats what, by id. Requests with a label of their source are kept before those without.

    Near means at least `SIMILAR` of the word triples in common (Jaccard), or nearly all of the shorter request inside the longer.
    """
    kept: dict[tuple[Granularity, Hashable], str] = {}
    index = _Shingles()
    found: dict[str, Duplicate] = {}
    for seed in sorted(seeds, key=_rank):
        exact, values, parts = exact_key(seed.instruction), fingerprint(seed.instruction), shingles(outline(seed.instruction))
        twin: Duplicate | None = None
        if other := kept.get(("exact", exact)):
            twin = Duplicate("exact", other)
        elif other := kept.get(("fingerprint", values)):
            twin = Duplicate("fingerprint", other)
        elif other := index.nearest(parts):
            twin = Duplicate("near", other)
        if twin is None:
            kept["exact", exact] = kept["fingerprint", values] = seed.id
            index.add(seed.id, parts)
        else:
            found[seed.id] = twin
    return found


def _rank(seed: RawSeed) -> tuple[bool, str, str]:
    """Labelled first; then no source or split before another."""
    return seed.label is None, digest(seed.id), seed.id


def shingles(text: str) -> frozenset[tuple[str, ...]]:
    """The word triples of a text; the whole of it where it is shorter."""
    words = text.split()
    return frozenset(tuple(words[start : start + SHINGLE]) for start in range(max(1, len(words) - SHINGLE + 1)))


def is_near(first: int, second: int, common: int) -> bool:
    """Whether two sets of these sizes with so many elements in common are near duplicates."""
    smaller = min(first, second)
    contained = smaller >= FEWEST_CONTAINED and common >= CONTAINED * smaller
    return contained or common >= SIMILAR * (first + second - common)


class _Shingles:
    """Sets of shingles, found again by what they have in common."""

    def __init__(self) -> None:
        self._holders: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
        self._ids: list[str] = []
        self._sizes: list[int] = []

    def add(self, name: str, parts: frozenset[tuple[str, ...]]) -> None:
        """Remember a set."""
        for part in parts:
            self._holders[part].append(len(self._ids))
        self._ids.append(name)
        self._sizes.append(len(parts))

    def nearest(self, parts: frozenset[tuple[str, ...]]) -> str | None:
        """The id of the near duplicate with most in common; the one remembered first where several have as much."""
        common = Counter(holder for part in parts for holder in self._holders.get(part, ()))
        near = [(-count, holder) for holder, count in common.items() if is_near(len(parts), self._sizes[holder], count)]
        return self._ids[min(near)[1]] if near else None


def counts(found: Sequence[Duplicate]) -> dict[Granularity, int]:
    """Duplicates by granularity."""
    counted = Counter(item.granularity for item in found)
    return {granularity: counted[granularity] for granularity in GRANULARITIES}
