"""Pairs drawn from the shipped families, for tests that need real ones."""

from functools import cache
from random import Random

from abstain_assets.pairs.build import Built, build_scenario, propose
from abstain_assets.pairs.family import Family, families
from abstain_assets.records import Pair, Rejection, digest
from abstain_assets.taxonomy import Scenario


@cache
def family(name: str) -> Family:
    return next(item for item in families() if item.name == name)


@cache
def drawn(name: str, scenario: Scenario, seed: int = 1) -> Pair | Rejection:
    """One instance of a family, as proposed."""
    draft = family(name).draw(Random(digest([seed, name, scenario])), scenario)
    return propose(family(name), scenario, "test", seed, draft)


def pair_of(name: str, scenario: Scenario, seed: int = 1) -> Pair:
    """One instance that must have passed."""
    item = drawn(name, scenario, seed)
    assert isinstance(item, Pair), item
    return item


@cache
def built(scenario: Scenario) -> Built:
    """The pairs of one scenario, drawn once for all tests."""
    return build_scenario(scenario, "test", 1)
