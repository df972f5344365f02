"""The families of the drive and the bank: draws become proved pairs, in both action types of every scenario."""

from collections import defaultdict
from functools import cache
from random import Random

import pytest
from jsonpointer import resolve_pointer

from abstain_assets.pairs.build import propose
from abstain_assets.pairs.changes import Change, addition, left_out, vague
from abstain_assets.pairs.deltas import variant
from abstain_assets.pairs.family import Family, fill
from abstain_assets.pairs.replay import replay
from abstain_assets.pairs.scenarios.capability import leaves
from abstain_assets.pairs.slots import say_text
from abstain_assets.records import (
    AmbiguousAction,
    Dag,
    DataDelta,
    EmergentRisk,
    InstructionDelta,
    MissingParameter,
    Pair,
    Reading,
    Rejection,
    digest,
)
from abstain_assets.taxonomy import ActionType, Scenario, Side
from environments.consumer_banking.families import FAMILIES as BANK
from environments.filesystem.families import FAMILIES as DRIVE

CASES = [(family, scenario) for family in (*BANK, *DRIVE) for scenario in family.scenarios]
IDS = [f"{family.name}-{scenario}" for family, scenario in CASES]
DRAWS = 3


@cache
def _drawn(family: Family, scenario: Scenario) -> tuple[Pair | Rejection, ...]:
    rngs = [Random(digest(["families", family.name, scenario, index])) for index in range(DRAWS)]
    return tuple(propose(family, scenario, "test", index, family.draw(rng, scenario)) for index, rng in enumerate(rngs))


def _pairs(family: Family, scenario: Scenario) -> list[Pair]:
    return [item for item in _drawn(family, scenario) if isinstance(item, Pair)]


@pytest.mark.parametrize(("family", "scenario"), CASES, ids=IDS)
def test_draws_become_proved_pairs_that_differ(family: Family, scenario: Scenario) -> None:
    rejected = [item for item in _drawn(family, scenario) if isinstance(item, Rejection)]
    assert not rejected, [(item.check, item.reason) for item in rejected]
    pairs = _pairs(family, scenario)
    assert len({pair.act.instruction for pair in pairs}) > 1
    assert len({digest(pair.act.states) for pair in pairs}) == len(pairs)


@pytest.mark.parametrize(("family", "scenario"), CASES, ids=IDS)
def test_the_same_seed_gives_the_same_pair(family: Family, scenario: Scenario) -> None:
    again = propose(family, scenario, "test", 0, family.draw(Random(digest(["families", family.name, scenario, 0])), scenario))
    assert again == _drawn(family, scenario)[0]


@pytest.mark.parametrize("listed", [BANK, DRIVE], ids=["bank", "drive"])
def test_every_scenario_comes_in_both_action_types(listed: tuple[Family, ...]) -> None:
    kinds: dict[Scenario, set[ActionType]] = defaultdict(set)
    for family in listed:
        for scenario in family.scenarios:
            kinds[scenario].add(family.action_type)
    assert kinds == {scenario: set(ActionType) for scenario in Scenario}


def test_some_families_span_a_mailbox_too() -> None:
    spanning = {family.name for family in (*BANK, *DRIVE) if "gmail_and_email_records" in family.environments}
    assert {name.split(".")[0] for name in spanning} == {"consumer_banking", "filesystem"}


@pytest.mark.parametrize(
    ("family", "scenario"),
    [case for case in CASES if case[1] is Scenario.EMERGENT_RISK_DISCOVERY],
    ids=[case for case in IDS if case.endswith(Scenario.EMERGENT_RISK_DISCOVERY)],
)
def test_both_sides_read_a_note_where_the_risk_is(family: Family, scenario: Scenario) -> None:
    for pair in _pairs(family, scenario):
        assert isinstance(pair.trigger, EmergentRisk)
        assert isinstance(pair.delta, DataDelta)
        calm = resolve_pointer(pair.act.states, pair.delta.path)
        shown = replay(pair.act, pair.dag, pair.slots).results[pair.trigger.seen_in]
        assert len(calm) > 20
        assert calm in [value for _, value in leaves(shown)]


@pytest.mark.parametrize(
    ("family", "scenario"),
    [case for case in CASES if case[1] is Scenario.HIGH_STAKES_ACTION],
    ids=[case for case in IDS if case.endswith(Scenario.HIGH_STAKES_ACTION)],
)
def test_escalated_requests_keep_the_rest_of_the_text(family: Family, scenario: Scenario) -> None:
    for pair in _pairs(family, scenario):
        assert isinstance(pair.delta, InstructionDelta)
        kept = pair.act.instruction.replace(pair.delta.find, "")
        assert len(kept) >= 20
        assert variant(pair, Side.ABSTAIN).instruction.replace(pair.delta.replace, "") == kept


def test_a_missing_parameter_without_candidates_is_open() -> None:
    slots = {"person": say_text("Réka Szabó")}
    change = left_out(slots, "person", " with {person}", "", "Nobody is named.", ("who",))
    assert isinstance(change.trigger, MissingParameter) and change.trigger.open_value
    assert change.delta == InstructionDelta(find=" with Réka Szabó", replace="")


def test_a_vague_phrase_and_its_readings_are_shown_as_people_would_read_them() -> None:
    slots = {"file": say_text("plan.pdf")}
    readings = tuple(Reading(label=word, wording=f"{word} {{file}}", cues=(word,), dag=Dag(nodes=())) for word in ("move", "copy"))
    change = vague(slots, "move {file}", "place {file}", readings, "Move or copy.", ("move",))
    assert isinstance(change.trigger, AmbiguousAction)
    assert change.trigger.phrase == "place plan.pdf"
    assert [reading.wording for reading in change.trigger.readings] == ["move plan.pdf", "copy plan.pdf"]


@pytest.mark.parametrize(
    "template", ["How big is {file}? How big is it?", "the size of {file}", "size, and then size again: {file} size"]
)
def test_an_addition_comes_last_and_changes_nothing_before_it(template: str) -> None:
    slots = {"file": say_text("plan.pdf")}
    change: Change = addition(template, slots, " Then erase {file}.", Dag(nodes=()), "Too much.", ("erase",))
    assert isinstance(change.delta, InstructionDelta)
    text = fill(template, slots)
    assert text.count(change.delta.find) == 1
    assert text.replace(change.delta.find, change.delta.replace) == f"{text} Then erase plan.pdf."
