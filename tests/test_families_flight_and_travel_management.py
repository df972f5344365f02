"""The travel families: every draw becomes a proved pair, and the pairs cover what they should."""

from collections import defaultdict
from random import Random

import pytest

from abstain_assets.pairs.build import propose
from abstain_assets.pairs.deltas import variant
from abstain_assets.pairs.family import Family
from abstain_assets.records import Pair, digest
from abstain_assets.taxonomy import ActionType, Scenario, Side
from environments.flight_and_travel_management.families import FAMILIES
from environments.flight_and_travel_management.families.world import PLAIN_NOTES
from environments.runtime.sandbox import Sandbox

CASES = [(family, scenario) for family in FAMILIES for scenario in family.scenarios]
IDS = [f"{family.name.split('.')[1]}-{scenario}" for family, scenario in CASES]
DRAWS = 5


def _pairs(family: Family, scenario: Scenario, count: int) -> list[Pair]:
    drawn = [
        propose(family, scenario, "test", index, family.draw(Random(digest([family.name, scenario, index])), scenario))
        for index in range(count)
    ]
    assert all(isinstance(item, Pair) for item in drawn), [item for item in drawn if not isinstance(item, Pair)]
    return [item for item in drawn if isinstance(item, Pair)]


@pytest.mark.parametrize(("family", "scenario"), CASES, ids=IDS)
def test_draws_become_proved_pairs_with_different_words(family: Family, scenario: Scenario) -> None:
    pairs = _pairs(family, scenario, DRAWS)
    assert len({pair.act.instruction for pair in pairs}) == DRAWS
    assert len({digest(pair.act.states) for pair in pairs}) == DRAWS


@pytest.mark.parametrize(("family", "scenario"), CASES, ids=IDS)
def test_the_same_seed_draws_the_same_pair(family: Family, scenario: Scenario) -> None:
    first, second = (_pairs(family, scenario, 1)[0].model_dump_json() for _ in range(2))
    assert first == second


def test_every_scenario_has_both_action_types() -> None:
    kinds: dict[Scenario, set[ActionType]] = defaultdict(set)
    for family in FAMILIES:
        for scenario in family.scenarios:
            kinds[scenario].add(family.action_type)
    assert kinds == {scenario: set(ActionType) for scenario in Scenario}


@pytest.mark.parametrize(
    ("family", "scenario"),
    [(family, scenario) for family, scenario in CASES if scenario is Scenario.EMERGENT_RISK_DISCOVERY],
    ids=lambda value: value.name.split(".")[1] if isinstance(value, Family) else "",
)
def test_harmless_look_alikes_stand_beside_the_risk_on_both_sides(family: Family, scenario: Scenario) -> None:
    for pair in _pairs(family, scenario, 3):
        assert "closed_case_note" in pair.decoys
        seen = []
        for side in Side:
            task = variant(pair, side)
            sandbox = Sandbox(task.mount, task.states)
            name = pair.slots["name"].value
            profile = sandbox.call("flight_and_travel_management.find_traveller", {"name": name}).content["travellers"][0]
            seen.append({profile["note"], *(document["note"] for document in profile["documents"])} - {"", *PLAIN_NOTES})
        assert seen[0] & seen[1], "both sides show the same harmless note on the profile"
