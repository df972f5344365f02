"""Augmentation: what is said stays said, what is needed is found, and what cannot become a pair says why."""

import os
from collections import Counter
from pathlib import Path
from typing import get_args

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from abstain_assets.errors import BadInput
from abstain_assets.rows import kept_seeds_from
from abstain_assets.seeds.augment import augment
from abstain_assets.seeds.consolidate import rules
from abstain_assets.seeds.needs import needs
from abstain_assets.seeds.objects import RULES, read_vocabulary, singular, vocabulary
from abstain_assets.seeds.records import AugmentedSeed, CapabilityKind, Problem, Seed, SeedCapability
from abstain_assets.seeds.rewrite import facts, rewrite
from abstain_assets.seeds.stored import pool_for
from abstain_assets.taxonomy import ActionType, Scenario

INFORMATIONAL, OPERATIONAL = ActionType.INFORMATIONAL, ActionType.OPERATIONAL
LOOKUPS = ("get_order_details", "find_user_id_by_email", "search_flights", "get_balance", "read_file")
CHANGES = ("cancel_pending_order", "book_flight", "send_money", "delete_file", "create_calendar_event", "update_widget")


def seed(
    instruction: str,
    *tools: str,
    scenario: Scenario = Scenario.CRITICAL_TOOL_FAILURE,
    action_type: ActionType | None = None,
    environment: str = "retail orders",
    named: str = "retail",
) -> Seed:
    """A seed; without an action type one that changes something if one of its tools is among `CHANGES`."""
    inferred = OPERATIONAL if set(tools) & set(CHANGES) else INFORMATIONAL
    return Seed(
        id="test/a/1",
        source="test",
        split="a",
        instruction=instruction,
        environment=environment,
        source_environment=named,
        tools=tools,
        scenario=scenario,
        scenario_by="keyword",
        action_type=action_type or inferred,
    )


def can(kind: CapabilityKind, name: str) -> SeedCapability:
    return SeedCapability(kind=kind, object=name)


# --- rewriting ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "rewritten"),
    [
        (
            "You want to cancel order #W77. You are Ann Lee. Your email is ann@example.com.",
            "I want to cancel order #W77. I am Ann Lee. My email is ann@example.com.",
        ),
        (
            "You want a refund. Make sure you mention both things at once. You name is Ann.",
            "I want a refund. My name is Ann.",
        ),
        (
            "You need a seat for your son. You are very impatient. You are Dutch by birth and like tea. You've paid 12.50.",
            "I need a seat for my son. I've paid 12.50.",
        ),
        (
            "You want to swap a lamp. Ask the agent to take the best. If the agent offers you several, ask the agent for a list.",
            "I want to swap a lamp. Please take the best. If you offer me several, please give me a list.",
        ),
        (
            "You want it sent to your other address (you do not want to reveal it but it is in your profile).",
            "I want it sent to my other address (it is in my profile).",
        ),
        (
            "You want to know why the agent told you no, and whether you can return it yourself.",
            "I want to know why you told me no, and whether I can return it myself.",
        ),
        ("Hi there! Could you send Bob the file 'a b.txt'? Thanks a lot!", "Could you send Bob the file 'a b.txt'?"),
        ("Send the user's balance to Bob. If details of payments are underspecified, fill them in.", "Send my balance to Bob."),
        ("List all users and what the user with most posts wrote", "List all users and what the user with most posts wrote."),
        ("Can you tell me what you know of Oslo?", "Can you tell me what you know of Oslo?"),
    ],
)
def test_requests_stand_alone(said: str, rewritten: str) -> None:
    assert rewrite(said).text == rewritten


def test_a_direction_with_a_fact_in_it_is_never_dropped() -> None:
    kept = rewrite("You want to return a lamp. Make sure you mention the order #W12 first.")
    assert "#W12" in kept.text
    assert not kept.dropped
    assert rewrite("You want to return a lamp. Make sure you mention it first.").dropped


_VALUES = st.one_of(
    st.from_regex(r"#[A-Z][0-9]{3,6}", fullmatch=True),
    st.from_regex(r"[a-z]{3,8}@[a-z]{3,8}\.(com|org)", fullmatch=True),
    st.from_regex(r"'[a-z]{2,8} [a-z]{2,8}'", fullmatch=True),
    st.integers(10, 99999).map(str),
    st.sampled_from(["Ann Lee", "San Diego", "PayPal", "Rosa Petrov"]),
)
_FRAMES = (
    "You want to cancel {}.",
    "You are {}.",
    "If the agent asks for it, you say {} is yours.",
    "Make sure you mention {} and your name at once.",
    "You don't want to reveal {}.",
    "Ask the agent to send you {} today.",
    "You think that {} was charged to you by the agent.",
    "Please look for {} and tell me.",
    "Thanks for {}!",
)


@given(st.lists(st.tuples(st.sampled_from(_FRAMES), _VALUES), min_size=1, max_size=6))
def test_every_fact_survives(parts: list[tuple[str, str]]) -> None:
    said = " ".join(frame.format(value) for frame, value in parts)
    done = rewrite(said)
    for _, value in parts:
        assert value.strip("'") in done.text, done


@given(st.text(max_size=200))
def test_any_text_becomes_one_paragraph(text: str) -> None:
    done = rewrite(text)
    assert rewrite(text) == done
    assert done.text == " ".join(done.text.split())


# --- capabilities ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tool", "environment", "expected"),
    [
        ("cancel_pending_order", "retail orders", can("delete", "order")),
        ("return_delivered_order_items", "retail orders", can("write", "return")),
        ("modify_pending_order_address", "retail orders", can("write", "address")),
        ("find_user_id_by_email", "retail orders", can("search", "customer")),
        ("get_all_user_accounts_by_user_id", "bank accounts", can("read", "bank account")),
        ("send_money", "bank accounts", can("write", "bank transfer")),
        ("get_user_dispute_history", "bank accounts", can("read", "payment dispute")),
        ("FlightsAPI.BookFlight", "flights", can("write", "booking")),
        ("search_calendar_events", "events and concerts", can("search", "calendar event")),
        ("send_direct_message", "team chat", can("write", "chat message")),
        ("rm", "file system", can("delete", "file")),
        ("verify_identity", "weather", can("verify", "weather report")),
        ("get_something_else", "bank accounts", can("read", "other bank record")),
    ],
)
def test_the_plan_says_what_is_needed(tool: str, environment: str, expected: SeedCapability) -> None:
    assert needs(seed("Please do it.", tool, environment=environment, named=environment)) == (expected,)


def test_tools_that_only_think_or_talk_are_no_capabilities() -> None:
    assert needs(seed("Add it up and go on.", "calculate", "transfer_to_human_agents", "get_order_details")) == (
        can("read", "order"),
    )


@pytest.mark.parametrize(
    ("said", "action_type", "expected"),
    [
        ("Find my last order and cancel it.", OPERATIONAL, (can("search", "order"), can("delete", "order"))),
        ("Find my last order to cancel it.", INFORMATIONAL, (can("search", "order"),)),
        ("Where is the parcel of my order?", INFORMATIONAL, (can("read", "shipment"),)),
        ("Book a flight to Oslo.", OPERATIONAL, (can("write", "booking"),)),
        ("Show me the refund.", INFORMATIONAL, (can("search", "order"),)),
        ("Please return the lamp, but I don't want to cancel the order.", OPERATIONAL, (can("write", "return"),)),
        ("I like green tea very much.", INFORMATIONAL, ()),
    ],
)
def test_without_a_plan_the_words_say_it(said: str, action_type: ActionType, expected: tuple[SeedCapability, ...]) -> None:
    assert needs(seed(said, action_type=action_type)) == expected


def test_every_kind_of_environment_has_an_object_to_fall_back_on() -> None:
    known = vocabulary()
    assert set(known.kinds) == set(rules().parents)
    assert set(known.kinds.values()) <= set(known.objects)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        (("objects", "order", "colour"), "red", r"objects\.yaml, objects\.order: colour"),
        (("objects", "flight", "changes"), "zeppelin", r"objects\.yaml, changes: zeppelin is no object"),
        (("tools", "cat"), "zeppelin", r"objects\.yaml, tools: zeppelin is no object"),
    ],
)
def test_a_wrong_vocabulary_names_the_field(field: tuple[str, ...], value: str, message: str) -> None:
    document = yaml.safe_load(RULES.read_text(encoding="utf-8"))
    place = document
    for key in field[:-1]:
        place = place[key]
    place[field[-1]] = value
    with pytest.raises(BadInput, match=message):
        read_vocabulary(document)


def test_singulars() -> None:
    plurals = ("orders", "addresses", "batches", "boxes", "entries", "bus", "address", "status", "news", "as")
    assert [singular(word) for word in plurals] == [
        "order",
        "address",
        "batch",
        "box",
        "entry",
        "bus",
        "address",
        "status",
        "news",
        "as",
    ]


# --- augmented seeds ------------------------------------------------------------------------------------------------------

_SAID = st.sampled_from(
    [
        "Please cancel order #W77 for Ann Lee.",
        "You want to know the total of order #W77. You are Ann Lee.",
        "What is the balance?",
        "Book a flight to Oslo before May 3 and send me the ticket.",
        "Delete the file 'notes.txt'.",
        "Add 3 and 4.",
        "hello there",
        "",
    ]
)


@given(
    said=st.one_of(_SAID, st.text(max_size=80)),
    tools=st.lists(st.sampled_from([*LOOKUPS, *CHANGES, "calculate"]), max_size=4),
    scenario=st.sampled_from(list(Scenario)),
    action_type=st.sampled_from(list(ActionType)),
    environment=st.sampled_from(["retail orders", "bank accounts", "arithmetic", "flights"]),
)
@settings(max_examples=200)
def test_the_act_side_is_what_the_action_type_says(
    said: str, tools: list[str], scenario: Scenario, action_type: ActionType, environment: str
) -> None:
    if tools:
        action_type = OPERATIONAL if set(tools) & set(CHANGES) else INFORMATIONAL
    one = seed(said, *tools, scenario=scenario, action_type=action_type, environment=environment)
    done = augment(one)
    assert augment(one) == done
    assert (done.seed, done.scenario, done.action_type) == (one.id, scenario, action_type)
    if done.problem is None:
        assert any(item.changes for item in done.act) is (action_type is OPERATIONAL)
        assert all(item.changes for item in done.abstain)
        assert not set(done.act) & set(done.abstain)
        assert "{" not in done.sketch
        assert done.sketch.count(". ") <= 2
    else:
        assert (done.sketch, done.abstain) == ("", ())


@pytest.mark.parametrize(
    ("action_type", "act", "abstain", "sketch"),
    [
        (INFORMATIONAL, (can("write", "order"),), (), "It changes."),
        (OPERATIONAL, (can("read", "order"),), (), "It changes."),
        (INFORMATIONAL, (), (), "It changes."),
        (INFORMATIONAL, (can("read", "order"),), (), ""),
        (OPERATIONAL, (can("write", "order"),), (can("write", "order"),), "It changes."),
    ],
)
def test_a_broken_invariant_is_an_error(
    action_type: ActionType, act: tuple[SeedCapability, ...], abstain: tuple[SeedCapability, ...], sketch: str
) -> None:
    with pytest.raises(ValidationError):
        AugmentedSeed(
            seed="a",
            scenario=Scenario.HIGH_STAKES_ACTION,
            action_type=action_type,
            instruction="Do it.",
            act=act,
            abstain=abstain,
            sketch=sketch,
        )


VERDICTS: dict[Problem, Seed] = {
    "asks_for_nothing": seed("I like green tea very much."),
    "scripted_conversation": seed("You want a lamp. When asked for the order, say #W1.", "get_order_details"),
    "not_self_contained": seed("Cancel the order as discussed earlier.", "cancel_pending_order"),
    "changes_nothing": seed("How could I apply it?", action_type=OPERATIONAL, environment="weather", named="x"),
    "asks_for_a_change": seed("You want to cancel your order. You are Ann.", "get_order_details"),
    "nothing_to_leave_out": seed("Is my order late?", "get_order_details", scenario=Scenario.MISSING_CRITICAL_PARAMETER),
    "no_record": seed(
        "How much is 3 plus 4?", "sum_numbers", scenario=Scenario.CONFLICTING_EVIDENCE, environment="arithmetic", named="x"
    ),
}


def test_every_verdict_has_its_reason() -> None:
    assert set(VERDICTS) == set(get_args(Problem))
    assert {name: augment(one).problem for name, one in VERDICTS.items()} == {name: name for name in VERDICTS}


SAID = "You want to cancel order #W77 if it costs over 50 dollars. You are Ann Lee."


@pytest.mark.parametrize("action_type", ActionType)
@pytest.mark.parametrize("scenario", Scenario)
def test_the_sketch_speaks_of_the_seed(scenario: Scenario, action_type: ActionType) -> None:
    said = SAID if action_type is OPERATIONAL else "You want to know if order #W77 costs over 50 dollars. You are Ann Lee."
    tool = "cancel_pending_order" if action_type is OPERATIONAL else "get_order_details"
    done = augment(seed(said, tool, scenario=scenario))
    assert done.problem is None
    assert "order" in done.sketch
    if action_type is OPERATIONAL:
        assert "cancelling" in done.sketch
    if scenario is Scenario.MISSING_CRITICAL_PARAMETER:
        assert '"#W77"' in done.sketch
    if scenario is Scenario.CONFLICTING_CONSTRAINTS:
        assert '"over 50 dollars"' in done.sketch
    tempting = {
        (Scenario.AMBIGUOUS_ACTION_SPECIFICATION, INFORMATIONAL): (can("write", "order"), can("delete", "order")),
        (Scenario.AMBIGUOUS_ACTION_SPECIFICATION, OPERATIONAL): (can("write", "order"),),
        (Scenario.HIGH_STAKES_ACTION, INFORMATIONAL): (can("delete", "order"),),
    }
    assert done.abstain == tempting.get((scenario, action_type), ())
    observed = scenario in (Scenario.CONFLICTING_EVIDENCE, Scenario.EMERGENT_RISK_DISCOVERY)
    if observed or action_type is INFORMATIONAL:
        assert not done.act[0].changes, "something is looked at first"
    else:
        assert done.act == (can("delete", "order"),)


def test_the_real_seeds_keep_their_facts_and_their_side() -> None:
    pool = pool_for(Path(os.environ["ABSTAIN_CACHE"]))
    if any(item.problem for item in pool.sources):
        pytest.skip("the wheels cannot be had")
    kept = kept_seeds_from(pool.seeds)
    verdicts: Counter[Problem | None] = Counter()
    for one in kept:
        done = rewrite(one.instruction)
        lost = [fact for fact in facts(one.instruction) if fact not in done.text and not any(fact in text for text in done.dropped)]
        assert not lost, (one.id, lost)
        assert not any(character.isdigit() or character in "@#" for text in done.dropped for character in text), done.dropped
        verdicts[augment(one).problem] += 1
    assert verdicts[None] > 0.85 * len(kept), verdicts
