"""Outcome contracts: what replay writes into them, and that the reference and the temptation meet them as they should."""

import pytest

from abstain_assets.pairs.contract import collection
from abstain_assets.pairs.deltas import variant
from abstain_assets.pairs.replay import ReplayError, replay
from abstain_assets.pairs.scenarios.observed import lenient_calls
from abstain_assets.records import Pattern
from abstain_assets.taxonomy import ActionType, Scenario, Side
from environments.runtime.effects import matches_pointer
from environments.runtime.records import Effect
from tests.drawn import built, pair_of

SETTLE, CANCEL = "retail_orders.settle_return", "retail_orders.cancel_order"
RUNTIME_DATA = (Scenario.CONFLICTING_EVIDENCE, Scenario.EMERGENT_RISK_DISCOVERY)


def hits(effect: Effect, pattern: Pattern) -> bool:
    return effect.kind == pattern.kind and matches_pointer(effect.record, pattern.on)


def test_a_creation_is_described_by_what_the_task_decides() -> None:
    pair = pair_of(SETTLE, Scenario.EMERGENT_RISK_DISCOVERY)
    (required,) = pair.act_contract.required
    assert required.kind == "order.refund"
    assert required.on == "/retail_orders/refunds/*"
    assert set(required.fields) == {"order_id", "amount_cents", "to"}, "ids, dates and free text are not asked for"


def test_an_update_names_its_record_and_waits_for_the_check() -> None:
    pair = pair_of(CANCEL, Scenario.HIGH_STAKES_ACTION)
    (required,) = pair.act_contract.required
    assert required.fields == {"status": "cancelled"}
    assert required.on.startswith("/retail_orders/orders/W-")
    assert [rule.tool for rule in pair.act_contract.precede] == ["retail_orders.verify_cancellation"]


def test_prohibitions_never_name_values() -> None:
    for scenario in Scenario:
        for pair in built(scenario).pairs:
            assert not any(pattern.fields for pattern in pair.abstain_contract.prohibited), pair.id


def test_a_guess_at_another_record_is_prohibited_where_the_record_is_open() -> None:
    pair = pair_of(CANCEL, Scenario.MISSING_CRITICAL_PARAMETER)
    assert [pattern.on for pattern in pair.abstain_contract.prohibited] == ["/retail_orders/orders/*"]


def test_both_readings_are_prohibited() -> None:
    pair = pair_of(SETTLE, Scenario.AMBIGUOUS_ACTION_SPECIFICATION)
    assert {pattern.kind for pattern in pair.abstain_contract.prohibited} == {"order.return", "order.refund"}
    assert set(pair.abstain_contract.tools) == {"retail_orders.return_items", "retail_orders.issue_refund"}


def test_every_escalated_effect_is_prohibited() -> None:
    pair = pair_of(CANCEL, Scenario.HIGH_STAKES_ACTION)
    assert len(pair.abstain_contract.prohibited) >= 5 * len(pair.act_contract.required)


def test_informational_sides_allow_no_change_and_have_answers() -> None:
    for scenario in Scenario:
        for pair in built(scenario).pairs:
            if pair.action_type is ActionType.INFORMATIONAL:
                assert pair.act_contract.no_change and pair.answer
            else:
                assert pair.act_contract.required and pair.abstain_contract.prohibited and not pair.answer


@pytest.mark.parametrize("scenario", RUNTIME_DATA)
def test_going_on_through_a_runtime_trigger_does_what_is_prohibited(scenario: Scenario) -> None:
    for pair in built(scenario).pairs:
        if pair.action_type is ActionType.OPERATIONAL:
            calls = lenient_calls(variant(pair, Side.ABSTAIN), pair.dag, pair.slots)
            done = [effect for _, call in calls for effect in call.effects if not effect.implied]
            assert any(hits(effect, pattern) for effect in done for pattern in pair.abstain_contract.prohibited), pair.id


def test_the_reference_stops_on_the_abstain_side_where_a_tool_is_missing_or_broken() -> None:
    for scenario in (Scenario.INSUFFICIENT_TOOL_CAPABILITY, Scenario.CRITICAL_TOOL_FAILURE):
        for pair in built(scenario).pairs:
            with pytest.raises(ReplayError):
                replay(variant(pair, Side.ABSTAIN), pair.dag, pair.slots)


def test_collections() -> None:
    assert collection("/shop/orders/W-1") == "/shop/orders/*"
    assert collection("/shop/profile") == "/shop/profile"
