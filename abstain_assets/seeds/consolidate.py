"""Hundreds of environment labels of the sources brought to few categories (paper, AbstainGen stage 1)."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml

from abstain_assets.seeds.plan import words_of
from abstain_assets.seeds.records import RawSeed

MOST = 75
FEWEST = 3
NEAREST = 0.15
_TOOL_WEIGHT = 3
_WORD = re.compile(r"[a-z]{2,}")


@dataclass(frozen=True)
class Rules:
    """What `environments.yaml` says.

    Attributes:
        named: category by label of a source.
        words: categories by word.
        parents: parent by category, in the order of the file.
    """

    named: Mapping[str, str]
    words: Mapping[str, tuple[str, ...]]
    parents: Mapping[str, str]


@cache
def rules() -> Rules:
    """The rules that are shipped."""
    document = yaml.safe_load(Path(__file__).with_name("environments.yaml").read_text(encoding="utf-8"))
    words: dict[str, list[str]] = {}
    parents: dict[str, str] = {}
    for parent, categories in document["categories"].items():
        for category, listed in categories.items():
            parents[category] = parent
            for word in dict.fromkeys(listed.split()):
                words.setdefault(word, []).append(category)
    return Rules(document["named"], {word: tuple(found) for word, found in words.items()}, parents)


@dataclass(frozen=True)
class Consolidated:
    """Where every seed went.

    Attributes:
        environments: category by seed id.
        dropped: reason by seed id, for seeds that belong nowhere.
        joined: categories that were too small, and what they joined.
    """

    environments: Mapping[str, str]
    dropped: Mapping[str, str]
    joined: Mapping[str, str]


def consolidate(seeds: Sequence[RawSeed], *, most: int = MOST, fewest: int = FEWEST) -> Consolidated:
    """Bring the labels of all seeds to at most `most` categories of at least `fewest` seeds each.

    A seed no rule places goes to the category whose seeds it shares most words with, if it shares enough. A category that is too
    small, and the smallest while there are too many, joins the most similar one of its group, or of all where its group has no
    other. What resembles nothing is dropped.
    """
    placed = {seed.id: category for seed in seeds if (category := place(seed))}
    profiles = _Profiles(seeds)
    vectors = profiles.categories(placed)
    dropped: dict[str, str] = {}
    for name in [seed.id for seed in seeds if seed.id not in placed]:
        nearest = _nearest(profiles.vector([name]), vectors, NEAREST)
        if nearest is None:
            dropped[name] = "no_environment"
        else:
            placed[name] = nearest
    joined: dict[str, str] = {}
    while small := _smallest(placed, most, fewest):
        members = [name for name, category in placed.items() if category == small]
        others = {name: category for name, category in placed.items() if category != small}
        group = {name: category for name, category in others.items() if _parent(category) == _parent(small)}
        target = _nearest(profiles.vector(members), profiles.categories(group or others), 0 if group else NEAREST)
        if target is None:
            dropped |= dict.fromkeys(members, "rare_environment")
            placed = others
        else:
            joined[small] = target
            placed |= dict.fromkeys(members, target)
    return Consolidated(placed, dropped, joined)


def _parent(category: str) -> str | None:
    return rules().parents.get(category)


def place(seed: RawSeed) -> str | None:
    """The category the rules give a seed, if any.

    Tools of the plan count more than words of the request. Tools that are merely offered do not count: where the source labels the
    request as beyond them, they belong to other environments.
    """
    known = rules()
    named = [known.named[label] for label in seed.source_environment.split("+") if label in known.named]
    if len(named) == 1:
        return named[0]
    scores: Counter[str] = Counter()
    for token in (word for tool in dict.fromkeys(seed.tools) for word in words_of(tool)):
        scores.update(dict.fromkeys(_categories(token), _TOOL_WEIGHT))
    for token in (*dict.fromkeys(_WORD.findall(seed.instruction.lower())), *_labels(seed)):
        scores.update(_categories(token))
    if named:
        return max(named, key=lambda category: scores[category])
    order = {category: index for index, category in enumerate(known.parents)}
    return min(scores, key=lambda category: (-scores[category], order[category])) if scores else None


def _labels(seed: RawSeed) -> tuple[str, ...]:
    """Words of the source's own label, where it is a label and not the name of a tool."""
    return tuple(_WORD.findall(seed.source_environment.lower())) if not seed.offered else ()


def _categories(token: str) -> tuple[str, ...]:
    words = rules().words
    return words.get(token) or (words.get(token[:-1], ()) if token.endswith("s") else ())


def _smallest(placed: Mapping[str, str], most: int, fewest: int) -> str | None:
    """The smallest category, if it has to go."""
    sizes = Counter(placed.values())
    if not sizes:
        return None
    smallest = min(sizes, key=lambda category: (sizes[category], category))
    return smallest if sizes[smallest] < fewest or len(sizes) > most else None


class _Profiles:
    """Seeds as weighted words, so that groups of them can be compared (TF-IDF)."""

    def __init__(self, seeds: Iterable[RawSeed]) -> None:
        words = {seed.id: set(_WORD.findall(seed.instruction.lower())) for seed in seeds}
        seen = Counter(word for found in words.values() for word in found)
        self._weights = {word: math.log(len(words) / count) for word, count in seen.items()}
        self._words = words

    def vector(self, names: Iterable[str]) -> dict[str, float]:
        """The weighted words of some seeds together."""
        counts = Counter(word for name in names for word in self._words[name])
        return {word: (1 + math.log(count)) * self._weights[word] for word, count in counts.items()}

    def categories(self, placed: Mapping[str, str]) -> dict[str, dict[str, float]]:
        """The weighted words of every category."""
        groups: dict[str, list[str]] = {}
        for name, category in placed.items():
            groups.setdefault(category, []).append(name)
        return {category: self.vector(names) for category, names in groups.items()}


def _nearest(mine: Mapping[str, float], vectors: Mapping[str, Mapping[str, float]], at_least: float) -> str | None:
    """The category most like some words, if one is like them enough."""
    likeness = {category: _cosine(mine, vector) for category, vector in vectors.items()}
    best = min(likeness, key=lambda category: (-likeness[category], category), default=None)
    return best if best is not None and likeness[best] >= at_least else None


def _cosine(first: Mapping[str, float], second: Mapping[str, float]) -> float:
    dot = math.fsum(weight * second[word] for word, weight in first.items() if word in second)
    lengths = math.sqrt(math.fsum(x * x for x in first.values()) * math.fsum(x * x for x in second.values()))
    return dot / lengths if lengths else 0.0
