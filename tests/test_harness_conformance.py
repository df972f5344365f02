"""Every harness, through its real SDK, against a server that speaks its protocol, over real sandboxes: what leaves, what arrives,
and how many turns it takes. The plain Chat Completions loop sets the standard."""

import getpass
import json
import socket
from collections.abc import Iterator
from datetime import UTC, datetime
from operator import itemgetter
from pathlib import Path

import pytest

from abstain_assets.pairs.deltas import variant
from abstain_assets.records import InstructionDelta, Pair
from abstain_assets.rollouts.view import foreign_view
from abstain_assets.taxonomy import SCENARIOS, Scenario, Side
from environments.runtime import registry
from environments.runtime.sandbox import compact
from environments.runtime.server import RESULT_LIMIT
from resources.settings import PROJECT
from tests.builders_rollouts import KEY, Lab, pairs_of
from tests.harnesses import SETUPS, Ran, Setup, run
from tests.servers.dialects import FINE, Says, Script, in_turn

PAIR = pairs_of(Scenario.CRITICAL_TOOL_FAILURE)[0]
FIND = "retail_orders__find_customer"
WORDING = InstructionDelta(find=PAIR.act.instruction, replace=f"{PAIR.act.instruction} Please.")
WHO = {"name": PAIR.slots["name"].text, "email": PAIR.slots["email"].text}


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    opened = Lab()
    yield opened
    opened.close()


@pytest.fixture(params=SETUPS, ids=lambda setup: setup.id)
def setup(request: pytest.FixtureRequest) -> Setup:
    chosen: Setup = request.param
    if not chosen.installed:
        pytest.skip(f"{chosen.needs} is not installed: make extras")
    return chosen


def act(setup: Setup, lab: Lab, folder: Path, script: Script, pair: Pair = PAIR) -> Ran:
    """Run a pair; its act side must have come to an end."""
    ran = run(setup, lab, folder, [pair], script)
    assert ran.act.side is Side.ACT and ran.result.stopped is None
    return ran


def first(ran: Ran) -> int:
    """How many requests the act side took."""
    return ran.act.usage.requests


# --- what leaves ----------------------------------------------------------------------------------------------------------


def test_the_outbound_requests_are_exactly_the_agents_view(setup: Setup, lab: Lab, tmp_path: Path) -> None:
    scenarios = list(Scenario)[::3] if setup.slow else list(Scenario)
    for scenario in scenarios:
        pair = pairs_of(scenario)[0]
        ran = run(setup, lab, tmp_path / scenario.value, [pair], in_turn(FINE))
        assert len(ran.asked) == 2 and not ran.elsewhere, [request.path for request in ran.elsewhere]
        for side, request, seen, rollout in zip(Side, ran.asked, ran.seen, ran.rollouts, strict=True):
            view = foreign_view(variant(pair, side))
            assert seen.model == "stub-1"
            assert [text for text in seen.system if text not in setup.additions] == [view.system_prompt]
            assert rollout.additions == tuple(text for text in setup.additions)
            assert set(seen.system) | set(seen.user) >= set(setup.additions)
            assert [text for text in seen.user if text not in setup.additions] == [view.instruction]
            tools = [(setup.shown(tool.name), tool.description, tool.input_schema) for tool in view.tools]
            assert list(seen.tools) == (sorted(tools, key=itemgetter(0)) if setup.sorts_tools else tools)
            assert seen.settings.keys() <= setup.beside and seen.replies == 0
            everything = (request.raw.decode() + json.dumps(request.headers) + request.path).replace(KEY, "").casefold()
            assert not [word for word in _telling(pair) if word.casefold() in everything]


def _telling(pair: Pair) -> list[str]:
    """What would tell the model that it is tested, on what, or where."""
    return [
        pair.scenario.value,
        pair.scenario.value.replace("_", " "),
        SCENARIOS[pair.scenario].title,
        "abstain",
        "benchmark",
        pair.id,
        pair.family,
        pair.trigger.explanation,
        PROJECT.name + "/",
        str(PROJECT),
        str(Path.home()),
        socket.gethostname(),
        f"/{getpass.getuser()}/",
        datetime.now(UTC).date().isoformat(),
    ]


def test_later_requests_add_only_the_conversation(setup: Setup, lab: Lab, tmp_path: Path) -> None:
    ran = act(setup, lab, tmp_path, in_turn(Says(calls=((setup.shown(FIND), WHO),)), FINE))
    assert first(ran) == 2
    before, after = ran.seen[:2]
    assert (after.system, after.user, after.tools, after.settings) == (before.system, before.user, before.tools, before.settings)
    assert (after.replies, len(after.asked), len(after.results)) == (1, 1, 1)


def test_temperature_is_zero_and_null_leaves_it_to_the_provider(setup: Setup, lab: Lab, tmp_path: Path) -> None:
    ran = run(setup, lab, tmp_path, [PAIR], in_turn(FINE))
    assert [setup.temperature(seen) for seen in ran.seen] == [0.0, 0.0]
    ran = run(setup, lab, tmp_path / "default", [PAIR], in_turn(FINE), settings={"temperature": None})
    assert [setup.temperature(seen) for seen in ran.seen] == [None, None]


# --- tools ----------------------------------------------------------------------------------------------------------------


def test_results_reach_the_model_and_the_evidence_complete(setup: Setup, lab: Lab, tmp_path: Path) -> None:
    shown = setup.shown(FIND)
    ran = act(setup, lab, tmp_path, in_turn(Says(calls=((shown, WHO),)), Says("Gefunden: 東京 ✓", usage=(50, 7))))
    (call,) = ran.act.calls
    assert (call.tool, call.args, call.ok) == ("retail_orders.find_customer", WHO, True)
    second = ran.seen[1]
    assert [(name, args) for _, name, args in second.asked] == [(shown, WHO)]
    assert second.results == ((second.asked[0][0], compact(call.content)),)
    rollout = ran.act
    assert [item.role for item in rollout.messages] == ["system", "user", "assistant", "tool", "assistant"]
    assert [(request.name, request.arguments) for request in rollout.messages[2].tool_calls] == [(FIND, WHO)]
    assert rollout.messages[3].content == compact(call.content)
    assert rollout.messages[3].tool_call_id == rollout.messages[2].tool_calls[0].id
    assert rollout.messages[4].content == rollout.final_text == "Gefunden: 東京 ✓" and rollout.usable
    usage = rollout.usage
    assert (rollout.turns, usage.requests, usage.retries, usage.input_tokens, usage.output_tokens) == (2, 2, 0, 150, 17)


def test_parallel_calls_are_all_made_and_answered_by_id(setup: Setup, lab: Lab, tmp_path: Path) -> None:
    asked = [WHO, {"name": "Nobody"}, {**WHO, "email": "nobody@example.com"}]
    says = Says("Looking.", calls=tuple((setup.shown(FIND), args) for args in asked))
    ran = act(setup, lab, tmp_path, in_turn(says, FINE))
    made = [call.args for call in ran.act.calls]
    assert sorted(map(str, made)) == sorted(map(str, asked))
    second = ran.seen[1]
    answers = dict(second.results)
    assert [name for _, name, _ in second.asked] == [setup.shown(FIND)] * 3 and len(answers) == 3
    for identity, _, args in second.asked:
        assert answers[identity] == compact(next(call.content for call in ran.act.calls if call.args == args))
    assert ran.act.messages[2].content == "Looking."


def test_an_unknown_tool_is_answered_with_an_error(setup: Setup, lab: Lab, tmp_path: Path) -> None:
    ran = act(setup, lab, tmp_path, in_turn(Says(calls=((setup.shown("retail_orders__sing"), {"a": 1}),)), FINE))
    assert ran.act.usable and first(ran) == 2
    assert "retail_orders__sing" in ran.seen[1].results[0][1]
    if not setup.hides_unknown_tools:
        (call,) = ran.act.calls
        assert (call.tool, call.args, call.ok, call.kind) == ("retail_orders__sing", {"a": 1}, False, None)
        assert compact(call.content) == ran.seen[1].results[0][1]
    assert not any(call.ok for call in ran.act.calls)


def test_arguments_that_are_no_object_are_answered_with_an_error(setup: Setup, lab: Lab, tmp_path: Path) -> None:
    """Only protocols that carry arguments as text can get this wrong."""
    if not setup.dialect().carries_text:
        pytest.skip("arguments are objects in this protocol")
    for index, arguments in enumerate(["{not json", "[1, 2]"]):
        says = Says(calls=((setup.shown(FIND), arguments),))
        ran = act(setup, lab, tmp_path / str(index), in_turn(says, FINE))
        assert ran.act.usable and first(ran) == 2 and ran.act.calls == ()
        assert "invalid_arguments" in ran.seen[1].results[0][1]


def test_arguments_that_do_not_fit_are_answered_by_the_tool(setup: Setup, lab: Lab, tmp_path: Path) -> None:
    ran = act(setup, lab, tmp_path, in_turn(Says(calls=((setup.shown(FIND), {"nome": 3}),)), FINE))
    (call,) = ran.act.calls
    assert call.error is not None and call.error.code == "invalid_arguments"
    assert compact(call.content) in ran.seen[1].results[0][1] and ran.act.usable


def test_over_a_hundred_tools_are_offered_and_any_can_be_called(setup: Setup, lab: Lab, tmp_path: Path) -> None:
    states = {name: registry.load(name).example_state().model_dump(mode="json") for name in registry.names()} | PAIR.act.states
    mount = PAIR.act.mount.model_copy(update={"environments": registry.names(), "faults": ()})
    pair = PAIR.model_copy(update={"act": PAIR.act.model_copy(update={"mount": mount, "states": states}), "delta": WORDING})
    view = foreign_view(pair.act)
    assert len(view.tools) > 100
    other = next(tool.name for tool in view.tools if not tool.input_schema.get("required"))
    says = Says(calls=((setup.shown(FIND), WHO), (setup.shown(other), {})))
    ran = act(setup, lab, tmp_path, in_turn(says, FINE), pair)
    tools = [(setup.shown(tool.name), tool.description, tool.input_schema) for tool in view.tools]
    assert list(ran.seen[0].tools) == (sorted(tools, key=itemgetter(0)) if setup.sorts_tools else tools)
    assert ran.act.usable and {call.tool.replace(".", "__") for call in ran.act.calls} == {FIND, other}
    assert len(ran.seen[1].results) == 2


def test_an_oversized_result_is_cut_visibly_for_the_model_and_kept_in_full(setup: Setup, lab: Lab, tmp_path: Path) -> None:
    note = "Grüße ✓ " * 131_072
    states = json.loads(json.dumps(PAIR.act.states))
    customers = states["retail_orders"]["customers"]
    chosen = next(key for key, value in customers.items() if value["email"] == PAIR.slots["email"].value)
    customers[chosen]["note"] = note
    pair = PAIR.model_copy(update={"act": PAIR.act.model_copy(update={"states": states})})
    ran = act(setup, lab, tmp_path, in_turn(Says(calls=((setup.shown(FIND), WHO),)), FINE), pair)
    full = compact(ran.act.calls[0].content)
    assert note in full and len(full) > 1_000_000
    shown = json.loads(ran.seen[1].results[0][1])
    assert shown["cut"] == full[:RESULT_LIMIT] and f"it has {len(full)} characters" in shown["note"]


# --- limits and evidence --------------------------------------------------------------------------------------------------


def test_the_31st_request_is_never_sent(setup: Setup, lab: Lab, tmp_path: Path) -> None:
    ran = run(setup, lab, tmp_path, [PAIR], in_turn(Says(calls=((setup.shown(FIND), WHO),))))
    for rollout in ran.rollouts:
        assert rollout.error_kind == "max_turns_exceeded" and rollout.final_text == ""
        assert (rollout.usage.requests, rollout.turns, len(rollout.calls)) == (30, 30, 30)
    assert len(ran.asked) == 60


def test_a_model_file_may_set_the_number_of_turns(setup: Setup, lab: Lab, tmp_path: Path) -> None:
    ran = run(setup, lab, tmp_path, [PAIR], in_turn(Says(calls=((setup.shown(FIND), WHO),))), max_turns=2)
    assert [rollout.error_kind for rollout in ran.rollouts] == ["max_turns_exceeded"] * 2
    assert len(ran.asked) == 4


def test_a_long_final_answer_is_kept(setup: Setup, lab: Lab, tmp_path: Path) -> None:
    answer = "Überblick: 東京 🗼 \u2028 „ruhig“ " * 4_000
    ran = act(setup, lab, tmp_path, in_turn(Says(answer)))
    assert len(answer.encode()) > 100_000 and ran.act.final_text == answer


def test_versions_of_harness_and_sdk_are_in_the_evidence(setup: Setup, lab: Lab, tmp_path: Path) -> None:
    ran = act(setup, lab, tmp_path, in_turn(FINE))
    assert ran.act.harness == setup.harness
    version, _, libraries = ran.act.harness_version.partition(" (")
    assert version.isdigit() and any(character.isdigit() for character in libraries)
