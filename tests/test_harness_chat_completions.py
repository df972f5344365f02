"""The Chat Completions loop, through the real SDK, against a server that speaks the protocol, over real sandboxes."""

import getpass
import json
import socket
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from abstain_assets.pairs.deltas import variant
from abstain_assets.records import Pair, Rollout
from abstain_assets.rollouts.view import agent_view
from abstain_assets.taxonomy import SCENARIOS, Scenario, Side
from environments.runtime.records import JsonObject
from environments.runtime.sandbox import Sandbox, compact
from environments.runtime.server import RESULT_LIMIT
from resources.sandbox import WireTool
from resources.settings import PROJECT
from tests.builders_rollouts import KEY, Lab, chat_spec, kept, pairs_of
from tests.servers.chat_completions_stub import Body, ChatServer, Reply, Script, data, in_turn, message, turns

PAIR = pairs_of(Scenario.CRITICAL_TOOL_FAILURE)[0]
FIND, LIST = "retail_orders__find_customer", "retail_orders__list_orders"
WHO = {"name": PAIR.slots["name"].text, "email": PAIR.slots["email"].text}


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    opened = Lab()
    yield opened
    opened.close()


def act(lab: Lab, folder: Path, script: Script, pair: Pair = PAIR, **spec: object) -> tuple[Rollout, list[Body]]:
    """Run both sides against a script; the act side's rollout and the requests it took."""
    with ChatServer(script, key=KEY) as server:
        lab.run(folder / "j.jsonl", [pair], chat_spec(server.url, **spec), concurrency=1)
        requests = [request.body for request in server.received]
    rollout = kept(folder / "j.jsonl")[0]
    assert rollout.side is Side.ACT
    return rollout, requests[: rollout.usage.requests]


def tool_texts(body: Body) -> list[str]:
    return [item["content"] for item in body["messages"] if item["role"] == "tool"]


# --- what leaves ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scenario", list(Scenario))
def test_the_outbound_requests_are_exactly_the_agents_view(
    lab: Lab, tmp_path: Path, scenario: Scenario, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org-canary")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "project-canary")
    pair = pairs_of(scenario)[0]
    with ChatServer(in_turn(message("Done."))) as server:
        lab.run(tmp_path / "j.jsonl", [pair], chat_spec(server.url), concurrency=1)
        received = list(server.received)
    assert len(received) == 2
    for side, request in zip(Side, received, strict=True):
        task = variant(pair, side)
        tools = [WireTool(tool.wire_name, tool.description, tool.input_schema) for tool in Sandbox(task.mount, task.states).tools]
        view = agent_view(task, tools)
        assert request.body == {
            "model": "stub-1",
            "messages": [{"role": "system", "content": view.system_prompt}, {"role": "user", "content": view.instruction}],
            "tools": [
                {
                    "type": "function",
                    "function": {"name": tool.name, "description": tool.description, "parameters": tool.input_schema},
                }
                for tool in view.tools
            ],
            "temperature": 0.0,
        }
        everything = (request.raw.decode() + json.dumps(request.headers)).casefold()
        secret = [
            scenario.value,
            scenario.value.replace("_", " "),
            SCENARIOS[scenario].title,
            "abstain",
            "canary-",
            "-canary",
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
        found = [word for word in secret if word.casefold() in everything.replace(KEY, "")]
        assert not found
        assert request.headers["authorization"] == f"Bearer {KEY}"


def test_later_requests_add_only_the_conversation(lab: Lab, tmp_path: Path) -> None:
    _, (first, second) = act(lab, tmp_path, in_turn(message(calls=[(FIND, WHO)]), message("Done.")))
    assert second["messages"][:2] == first["messages"]
    assert [item["role"] for item in second["messages"][2:]] == ["assistant", "tool"]
    assert {name: value for name, value in second.items() if name != "messages"} == {
        name: value for name, value in first.items() if name != "messages"
    }


def test_settings_are_sent_and_null_leaves_them_out(lab: Lab, tmp_path: Path) -> None:
    settings = {"temperature": None, "top_p": 0.9, "max_tokens": 77, "extra_body": {"reasoning": {"effort": "low"}}}
    _, (body,) = act(lab, tmp_path, in_turn(message("Done.")), settings=settings)
    assert "temperature" not in body
    assert (body["top_p"], body["max_tokens"], body["reasoning"]) == (0.9, 77, {"effort": "low"})


# --- tools ----------------------------------------------------------------------------------------------------------------


def test_results_reach_the_model_and_the_evidence_complete(lab: Lab, tmp_path: Path) -> None:
    rollout, (_, second) = act(lab, tmp_path, in_turn(message(calls=[(FIND, WHO)]), message("Done.", usage=(50, 7))))
    (call,) = rollout.calls
    assert (call.tool, call.args, call.ok) == ("retail_orders.find_customer", WHO, True)
    assert tool_texts(second) == [compact(call.content)]
    assert [item.role for item in rollout.messages] == ["system", "user", "assistant", "tool", "assistant"]
    assert rollout.messages[3].content == compact(call.content)
    assert rollout.final_text == "Done." and rollout.turns == 2
    assert (rollout.usage.requests, rollout.usage.input_tokens, rollout.usage.output_tokens) == (2, 150, 17)


def test_parallel_calls_are_made_in_order_and_answered_by_id(lab: Lab, tmp_path: Path) -> None:
    asked = [(FIND, WHO), (FIND, {"name": "Nobody"}), (FIND, WHO)]
    rollout, (_, second) = act(lab, tmp_path, in_turn(message("Looking.", calls=asked), message("Done.")))
    assert [call.args for call in rollout.calls] == [args for _, args in asked]
    answers = [item for item in second["messages"] if item["role"] == "tool"]
    assert [item["tool_call_id"] for item in answers] == [call["id"] for call in second["messages"][2]["tool_calls"]]
    assert second["messages"][2]["content"] == "Looking."


@pytest.mark.parametrize("name", ["no_such_tool", "retail_orders.find_customer ", ""])
def test_an_unknown_tool_is_answered_and_recorded(lab: Lab, tmp_path: Path, name: str) -> None:
    rollout, (_, second) = act(lab, tmp_path, in_turn(message(calls=[(name, {"a": 1})]), message("Done.")))
    (call,) = rollout.calls
    assert call.kind is None and not call.ok and call.tool == name
    assert json.loads(tool_texts(second)[0])["error"]["code"] == "unknown_tool"
    assert rollout.usable


@pytest.mark.parametrize(
    "arguments", ["{not json", "[1, 2]", '"text"', '{"a": NaN}', '{"a": 1e999}', "[" * 100_000, '{"name": "Zo']
)
def test_arguments_that_are_no_object_are_answered_as_an_error(lab: Lab, tmp_path: Path, arguments: str) -> None:
    rollout, (_, second) = act(lab, tmp_path, in_turn(message(calls=[(FIND, arguments)]), message("Done.")))
    answer = json.loads(tool_texts(second)[0])["error"]
    assert answer["code"] == "invalid_arguments" and arguments[:100] in answer["message"]
    assert rollout.calls == () and rollout.usable
    assert rollout.messages[2].tool_calls[0].arguments == arguments
    assert second["messages"][2]["tool_calls"][0]["function"]["arguments"] == "{}"


def test_arguments_that_do_not_fit_are_answered_by_the_tool(lab: Lab, tmp_path: Path) -> None:
    rollout, (_, second) = act(lab, tmp_path, in_turn(message(calls=[(FIND, {"nome": 3})]), message("Done.")))
    assert rollout.calls[0].error is not None and rollout.calls[0].error.code == "invalid_arguments"
    assert json.loads(tool_texts(second)[0]) == rollout.calls[0].content


def test_a_call_without_arguments_or_id_still_works(lab: Lab, tmp_path: Path) -> None:
    bare = {"role": "assistant", "content": None, "tool_calls": [{"id": "", "function": {"name": FIND, "arguments": ""}}]}
    first = data({"choices": [{"message": bare, "finish_reason": "tool_calls"}]})
    rollout, (_, second) = act(lab, tmp_path, in_turn(first, message("Done.")))
    sent = second["messages"][2]["tool_calls"][0]
    assert sent["id"] == second["messages"][3]["tool_call_id"] != ""
    assert sent["function"]["arguments"] == "{}" and rollout.calls[0].args == {}


def test_what_a_provider_attached_goes_back_unchanged(lab: Lab, tmp_path: Path) -> None:
    signed = {
        "role": "assistant",
        "content": None,
        "refusal": None,
        "reasoning_content": "First the customer.",
        "tool_calls": [
            {
                "id": "c1",
                "type": "function",
                "function": {"name": FIND, "arguments": json.dumps(WHO)},
                "extra_content": {"google": {"thought_signature": "abc"}},
            }
        ],
    }
    first = data({"choices": [{"message": signed, "finish_reason": "tool_calls"}]})
    _, (_, second) = act(lab, tmp_path, in_turn(first, message("Done.")))
    assert second["messages"][2] == {name: value for name, value in signed.items() if name != "refusal"}


def test_an_oversized_result_is_cut_visibly_for_the_model_and_kept_in_full(lab: Lab, tmp_path: Path) -> None:
    note = "Grüße ✓ " * 131_072
    states = json.loads(json.dumps(PAIR.act.states))
    customers = states["retail_orders"]["customers"]
    chosen = next(key for key, value in customers.items() if value["email"] == PAIR.slots["email"].value)
    customers[chosen]["note"] = note
    pair = PAIR.model_copy(update={"act": PAIR.act.model_copy(update={"states": states})})
    rollout, (_, second) = act(lab, tmp_path, in_turn(message(calls=[(FIND, WHO)]), message("Done.")), pair)
    (text,) = tool_texts(second)
    full = compact(rollout.calls[0].content)
    assert note in full and len(full) > 1_000_000
    shown = json.loads(text)
    assert shown["cut"] == full[:RESULT_LIMIT] and f"it has {len(full)} characters" in shown["note"]


# --- limits and texts -----------------------------------------------------------------------------------------------------


def test_the_31st_request_is_never_sent(lab: Lab, tmp_path: Path) -> None:
    rollout, requests = act(lab, tmp_path, in_turn(message(calls=[(FIND, WHO)])))
    assert rollout.error_kind == "max_turns_exceeded"
    assert len(requests) == rollout.usage.requests == rollout.turns == 30
    assert len(rollout.calls) == 30


def test_a_model_file_may_set_the_number_of_turns(lab: Lab, tmp_path: Path) -> None:
    rollout, requests = act(lab, tmp_path, in_turn(message(calls=[(FIND, WHO)])), max_turns=2)
    assert len(requests) == 2 and rollout.error_kind == "max_turns_exceeded"


def test_a_long_final_answer_is_kept(lab: Lab, tmp_path: Path) -> None:
    answer = "Überblick: 東京 🗼 \u2028 \x00 " * 5_000
    rollout, _ = act(lab, tmp_path, in_turn(message(answer)))
    assert len(answer.encode()) > 100_000 and rollout.final_text == answer


def test_lone_surrogates_do_not_break_the_evidence(lab: Lab, tmp_path: Path) -> None:
    broken = data({"choices": [{"message": {"role": "assistant", "content": "MARK"}, "finish_reason": "stop"}]})
    broken = Reply(200, broken.payload.replace(b"MARK", b"before \\ud83d after"))
    rollout, _ = act(lab, tmp_path, in_turn(broken))
    assert rollout.final_text == "before ? after"


def test_lone_surrogates_in_arguments_do_not_break_the_sandbox(lab: Lab, tmp_path: Path) -> None:
    rollout, _ = act(lab, tmp_path, in_turn(message(calls=[(FIND, '{"name": "\\ud83d!"}')]), message("Done.")))
    assert rollout.usable and rollout.calls[0].args == {"name": "?!"}


def test_content_in_parts_is_joined(lab: Lab, tmp_path: Path) -> None:
    parts = [{"type": "text", "text": "One. "}, {"type": "text", "text": "Two."}]
    reply = data({"choices": [{"message": {"role": "assistant", "content": parts}, "finish_reason": "stop"}]})
    rollout, _ = act(lab, tmp_path, in_turn(reply))
    assert rollout.final_text == "One. Two."


def test_commits_are_in_the_evidence_with_patches_and_effects(lab: Lab, tmp_path: Path) -> None:
    """A model that reads what it is given and cancels the order it found."""

    def script(body: Body) -> Reply:
        results: list[JsonObject] = [json.loads(text) for text in tool_texts(body)]
        match turns(body):
            case 0:
                return message(calls=[(FIND, WHO)])
            case 1 | 2:
                return message(calls=[(LIST, {"customer_id": results[0]["customers"][0]["customer_id"]})])
            case 3:
                order = next(item for item in results[-1]["orders"] if item["status"] == "processing")
                return message(calls=[("retail_orders__cancel_order", {"order_id": order["order_id"], "reason": "Wrong colour."})])
        return message("Cancelled.")

    rollout, _ = act(lab, tmp_path, script)
    commit = rollout.calls[-1]
    assert commit.ok and any(op.path.endswith("/status") and op.value == "cancelled" for op in commit.patch)
    assert "order.cancel" in {effect.kind for effect in commit.effects}
    assert rollout.calls[1].injected == "intermittent" and not rollout.calls[1].ok and rollout.calls[2].ok
    assert rollout.state_digest and rollout.harness_version.startswith("1 (openai ")
