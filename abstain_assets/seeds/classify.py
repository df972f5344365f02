"""The one scenario of a seed: by a label of its source, else by keywords (paper, AbstainGen stage 1)."""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

import yaml

from abstain_assets.seeds.records import RawSeed
from abstain_assets.taxonomy import Scenario


@dataclass(frozen=True)
class Classified:
    """A scenario and what decided it."""

    scenario: Scenario
    by: Literal["label", "keyword", "default"]


@dataclass(frozen=True)
class _Keywords:
    scenario: Scenario
    weighted: tuple[tuple[re.Pattern[str], int], ...]

    def score(self, text: str) -> int:
        return sum(weight for pattern, weight in self.weighted if pattern.search(text))


@cache
def _rules() -> tuple[tuple[_Keywords, ...], Scenario]:
    document = yaml.safe_load(Path(__file__).with_name("scenarios.yaml").read_text(encoding="utf-8"))
    default = Scenario(document.pop("default"))
    keywords = (
        _Keywords(Scenario(name), tuple((re.compile(rule["any"]), int(rule["weight"])) for rule in listed))
        for name, listed in document.items()
    )
    return tuple(keywords), default


def classify(seed: RawSeed) -> Classified:
    """The scenario of a seed. It depends on nothing but the seed, so another seed never changes it."""
    if seed.label is not None:
        return Classified(seed.label, "label")
    keywords, default = _rules()
    text = seed.instruction.lower()
    scores = [(item.score(text), item.scenario) for item in keywords]
    best, scenario = max(scores, key=lambda scored: scored[0])
    return Classified(scenario, "keyword") if best else Classified(default, "default")
