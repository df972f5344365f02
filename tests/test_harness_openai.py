"""What the harnesses over OpenAI's protocols do beyond the shared suite: settings, odd replies, sealed reasoning, and an SDK that
reports to nobody."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from abstain_assets.errors import BadInput
from abstain_assets.records import Rollout
from abstain_assets.taxonomy import Scenario
from resources.harness import open_harness
from resources.models import ModelSpec, read_model
from resources.settings import PROJECT
from tests.builders_rollouts import FAST, Lab, kept, pairs_of
from tests.harnesses import SETUPS, Setup, run
from tests.servers import chat_completions_stub as chat
from tests.servers.dialects import FINE, Says, in_turn
from tests.servers.responses import response
from tests.servers.stub import Body, Received, Reply, StubServer

PAIR = pairs_of(Scenario.CRITICAL_TOOL_FAILURE)[0]
FIND = "retail_orders__find_customer"
WHO = {"name": PAIR.slots["name"].text}
BY_ID = {setup.id: setup for setup in SETUPS}
RESPONSES = ["openai_responses", "openai_agents-responses"]
AGENTS = ["openai_agents-chat", "openai_agents-responses"]


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    opened = Lab()
    yield opened
    opened.close()


def setup_of(name: str) -> Setup:
    setup = BY_ID[name]
    if not setup.installed:
        pytest.skip(f"{setup.needs} is not installed: make extras")
    return setup


def act(lab: Lab, folder: Path, name: str, answer: Callable[[Body], Reply], **fields: Any) -> tuple[Rollout, list[Received]]:
    """Run both sides of a pair against a server that answers any request; the act side's rollout and its requests."""
    setup = setup_of(name)
    with StubServer(lambda request: answer(request.body)) as server:
        address = {"base_url": f"{server.origin}/v1", "api_key_env": None}
        spec = ModelSpec.model_validate(
            {"name": "stub/m", "harness": setup.harness, "provider": "stub", "model": "m", **address, **setup.fields, **fields}
        )
        lab.run(folder / "j.jsonl", [PAIR], spec, harness=open_harness(spec, retry=FAST), concurrency=1)
        received = list(server.received)
    rollout = kept(folder / "j.jsonl")[0]
    return rollout, received[: rollout.usage.requests]


def message(text: str, **fields: Any) -> Body:
    part = {"type": "output_text", "text": text, "annotations": []}
    return {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [part], **fields}


def call(arguments: Any, **fields: Any) -> Body:
    return {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": FIND, "arguments": arguments, **fields}


def then_done(first: Reply) -> Callable[[Body], Reply]:
    """A reply, and `Done.` as soon as a tool result has come, in whichever protocol the request is."""

    def answer(body: Body) -> Reply:
        if "messages" in body:
            return chat.message("Done.") if any(item["role"] == "tool" for item in body["messages"]) else first
        results = [item for item in body["input"] if item.get("type") == "function_call_output"]
        return response([message("Done.")]) if results else first

    return answer


# --- settings -------------------------------------------------------------------------------------------------------------

SETTINGS = {"temperature": None, "top_p": 0.9, "reasoning_effort": "low", "extra_body": {"service_tier": "flex"}}


@pytest.mark.parametrize("limit", ["max_tokens", "max_completion_tokens"])
@pytest.mark.parametrize("name", ["openai_responses", *AGENTS])
def test_settings_are_sent_in_the_protocols_words(lab: Lab, tmp_path: Path, name: str, limit: str) -> None:
    setup = setup_of(name)
    ran = run(setup, lab, tmp_path, [PAIR], in_turn(FINE), settings={**SETTINGS, limit: 77})
    sent = dict(ran.seen[0].settings)
    assert "temperature" not in sent and (sent["top_p"], sent["service_tier"]) == (0.9, "flex")
    if setup.dialect().name == "responses":
        assert (sent["max_output_tokens"], sent["reasoning"], sent["store"]) == (77, {"effort": "low"}, False)
        assert "max_tokens" not in sent and "max_completion_tokens" not in sent
    else:
        assert (sent[limit], sent["reasoning_effort"]) == (77, "low") and len(sent) == 4


@pytest.mark.parametrize("name", ["chat_completions", "openai_responses", *AGENTS])
def test_nothing_of_the_environment_is_sent(lab: Lab, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org-mine")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-mine")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Mine: custom-mine")
    monkeypatch.setenv("OPENAI_API_KEY", "key-mine")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/mine")
    ran = run(setup_of(name), lab, tmp_path, [PAIR], in_turn(FINE))
    assert ran.act.usable
    assert not [word for request in ran.asked for word in request.headers.values() if "mine" in word]


@pytest.mark.parametrize(("provider", "path"), [("openai", "/v1/responses"), ("stub", "/v1/chat/completions")])
def test_the_protocol_follows_from_the_provider(lab: Lab, tmp_path: Path, provider: str, path: str) -> None:
    done = response([message("Done.")]) if provider == "openai" else chat.message("Done.")
    _, received = act(lab, tmp_path, "openai_agents-chat", lambda body: done, provider=provider, protocol=None)
    assert [request.path for request in received] == [path]


def test_only_a_harness_with_two_protocols_takes_the_field(tmp_path: Path) -> None:
    path = tmp_path / "m.yaml"
    text = "{name: a/b, harness: chat_completions, provider: openai, model: m, protocol: chat}"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(BadInput, match="protocol: only openai_agents"):
        read_model(path)


def test_protocols_do_not_share_fingerprints() -> None:
    versions = []
    for name in AGENTS:
        fields = {"name": "a/b", "harness": "openai_agents", "provider": "stub", "model": "m", "base_url": "http://127.0.0.1:9/v1"}
        setup = setup_of(name)
        versions.append(open_harness(ModelSpec.model_validate({**fields, **setup.fields})).version)
    assert len(set(versions)) == 2


# --- reasoning ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", RESPONSES)
def test_models_that_do_not_reason_are_asked_without_sealed_reasoning(lab: Lab, tmp_path: Path, name: str) -> None:
    """They refuse the question, once for the whole cell."""
    refused = {"message": "not with this model", "type": "invalid_request_error", "param": "include", "code": None}

    def answer(body: Body) -> Reply:
        return chat.data({"error": refused}, 400) if body.get("include") else response([message("Done.")])

    act_side, received = act(lab, tmp_path, name, answer)
    assert act_side.usable and (act_side.usage.requests, act_side.usage.retries, act_side.turns) == (2, 1, 1)
    assert [bool(request.body.get("include")) for request in received] == [True, False]
    abstain_side = kept(tmp_path / "j.jsonl")[1]
    assert abstain_side.usage.requests == 1


@pytest.mark.parametrize("name", RESPONSES)
def test_every_item_of_the_model_goes_back_as_it_came(lab: Lab, tmp_path: Path, name: str) -> None:
    reasoning = {
        "type": "reasoning",
        "id": "rs_1",
        "encrypted_content": "sealed",
        "summary": [{"type": "summary_text", "text": "Hm."}],
    }
    said = [reasoning, message("Looking.", phase="commentary"), call(json.dumps(WHO), status="completed")]
    rollout, (_, second) = act(lab, tmp_path, name, then_done(response(said)))
    assert rollout.usable and second.body["input"][1:4] == said
    assert second.body["input"][4].keys() == {"type", "call_id", "output"}


# --- odd replies ----------------------------------------------------------------------------------------------------------

MALFORMED = {
    "failed": response([], status="failed", error={"code": "server_error", "message": "oops"}),
    "never came to an end": response([], status="in_progress"),
    "no output": chat.data({"id": "resp_1", "object": "response"}),
    "output of another shape": chat.data({"output": "many"}),
    "an error inside a success": chat.data({"error": {"message": "upstream gave up", "code": 502}}),
    "a list": chat.data([1, 2]),
}


@pytest.mark.parametrize("name", RESPONSES)
@pytest.mark.parametrize("reply", MALFORMED)
def test_what_is_no_response_is_asked_for_again(lab: Lab, tmp_path: Path, name: str, reply: str) -> None:
    rollout, _ = act(lab, tmp_path, name, lambda body: MALFORMED[reply])
    assert rollout.error_kind == "api_error" and rollout.error_message.startswith("MalformedReply: ")
    assert (rollout.usage.requests, rollout.turns) == (FAST.attempts, 0)


REFUSED = {
    "policy in the response": response([], status="failed", error={"code": "bio_policy", "message": "flagged"}),
    "flagged prompt": chat.error(400, "flagged", "invalid_prompt"),
}


@pytest.mark.parametrize("name", RESPONSES)
@pytest.mark.parametrize("reply", REFUSED)
def test_policies_told_by_their_codes_are_refusals(lab: Lab, tmp_path: Path, name: str, reply: str) -> None:
    rollout, _ = act(lab, tmp_path, name, lambda body: REFUSED[reply])
    assert rollout.error_kind == "policy_refusal" and rollout.usage.requests == 1


CUT: dict[str, Any] = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}


@pytest.mark.parametrize("name", RESPONSES)
def test_a_text_cut_at_the_limit_counts_and_an_empty_one_does_not(lab: Lab, tmp_path: Path, name: str) -> None:
    rollout, _ = act(lab, tmp_path, name, lambda body: response([message("Half of it")], **CUT))
    assert rollout.usable and rollout.final_text == "Half of it"
    rollout, _ = act(lab, tmp_path / "empty", name, lambda body: response([], **CUT))
    assert rollout.error_kind == "empty_output" and "max_output_tokens" in rollout.error_message


def test_a_completion_cut_before_its_first_word_is_empty(lab: Lab, tmp_path: Path) -> None:
    rollout, _ = act(lab, tmp_path, "openai_agents-chat", lambda body: chat.message("", finish="length"))
    assert rollout.error_kind == "empty_output" and rollout.usage.requests == 1


WRONG = ["{not json", "[1, 2]", '{"a": NaN}', '{"a": 1e999}', "[" * 100_000, '{"name": "Zo']


@pytest.mark.parametrize("name", ["openai_responses", *AGENTS])
@pytest.mark.parametrize("arguments", WRONG, ids=range(len(WRONG)))
def test_arguments_that_are_no_object_never_reach_a_tool(lab: Lab, tmp_path: Path, name: str, arguments: str) -> None:
    first = chat.message(calls=[(FIND, arguments)]) if name.endswith("chat") else response([call(arguments)])
    rollout, (_, second) = act(lab, tmp_path, name, then_done(first))
    assert rollout.usable and rollout.calls == () and rollout.messages[2].tool_calls[0].arguments == arguments
    told = json.loads(rollout.messages[3].content)["error"]
    assert told["code"] == "invalid_arguments" and arguments[:100] in told["message"]
    assert rollout.messages[3].content in [str(item.get("output", item.get("content"))) for item in _items(second.body)]


@pytest.mark.parametrize("name", ["openai_responses", *AGENTS])
def test_lone_surrogates_break_nothing(lab: Lab, tmp_path: Path, name: str) -> None:
    arguments = '{"name": "\\ud83d!"}'
    first = chat.message("A MARK", calls=[(FIND, arguments)])
    if not name.endswith("chat"):
        first = response([message("A MARK"), call(arguments)])
    first = Reply(200, first.payload.replace(b"MARK", b"\\ud83d"), first.headers)
    rollout, _ = act(lab, tmp_path, name, then_done(first))
    assert rollout.usable and [item.args for item in rollout.calls] == [{"name": "?!"}]
    assert rollout.messages[2].content == "A ?"


@pytest.mark.parametrize("name", ["openai_responses", *AGENTS])
def test_calls_without_id_or_arguments_still_work(lab: Lab, tmp_path: Path, name: str) -> None:
    bare = {"role": "assistant", "content": None, "tool_calls": [{"function": {"name": FIND}}]}
    first = chat.data({"choices": [{"message": bare}]})
    if not name.endswith("chat"):
        first = chat.data({"output": [{"type": "function_call", "name": FIND}]})
    rollout, (_, second) = act(lab, tmp_path, name, then_done(first))
    assert rollout.usable and [item.args for item in rollout.calls] == [{}]
    told = rollout.messages[3]
    assert told.tool_call_id and told.tool_call_id in second.raw.decode()


@pytest.mark.parametrize("name", ["openai_responses", *AGENTS])
def test_servers_may_use_an_id_again(lab: Lab, tmp_path: Path, name: str) -> None:
    def answer(body: Body) -> Reply:
        results = [item for item in _items(body) if item.get("type") == "function_call_output" or item.get("role") == "tool"]
        if len(results) == 3:
            return chat.message("Done.") if name.endswith("chat") else response([message("Done.")])
        arguments = json.dumps(WHO if len(results) != 1 else {"name": "Nobody"})
        return chat.message(calls=[(FIND, arguments)]) if name.endswith("chat") else response([call(arguments)])

    rollout, _ = act(lab, tmp_path, name, answer)
    assert rollout.usable and [item.args for item in rollout.calls] == [WHO, {"name": "Nobody"}, WHO]
    assert [item.role for item in rollout.messages].count("tool") == 3


def test_an_unknown_tool_is_answered_as_by_the_sandbox(lab: Lab, tmp_path: Path) -> None:
    answers = []
    for name in ("chat_completions", *AGENTS):
        script = in_turn(Says(calls=(("retail_orders__sing", {}),)), FINE)
        answers.append(run(setup_of(name), lab, tmp_path / name, [PAIR], script).seen[1].results[0][1])
    assert len(set(answers)) == 1


# --- the SDK --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", AGENTS)
def test_many_runs_share_one_harness(lab: Lab, tmp_path: Path, name: str) -> None:
    pairs = pairs_of(Scenario.MISSING_CRITICAL_PARAMETER)[:4]
    script = in_turn(Says(calls=((FIND, WHO), (FIND, {"name": "Nobody"}))), FINE)
    ran = run(setup_of(name), lab, tmp_path, pairs, script, concurrency=8)
    assert len(ran.rollouts) == 2 * len(pairs) and all(item.usable and len(item.calls) == 2 for item in ran.rollouts)
    assert all([len(item.messages), item.turns, item.usage.requests] == [6, 2, 2] for item in ran.rollouts)


@pytest.mark.parametrize(("protocol", "beside"), [("chat", {"store"}), ("responses", {"store", "include", "instructions"})])
def test_openai_itself_is_sent_no_more_than_others(lab: Lab, tmp_path: Path, protocol: str, beside: set[str]) -> None:
    """The SDK knows OpenAI's own address and would store the conversation there and name a cache key."""
    setup_of("openai_agents-chat")
    from resources.harness.openai_agents import OpenAIAgents

    asked: list[Body] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        assert request.url.host == "api.openai.com"
        asked.append(json.loads(request.content))
        return httpx2.Response(400, json={"error": {"message": "enough"}})

    fields = {"name": "openai/m", "harness": "openai_agents", "provider": "openai", "model": "m", "protocol": protocol}
    spec = ModelSpec.model_validate(fields)
    harness = OpenAIAgents(spec, "sk-none", FAST)
    harness._http = httpx2.AsyncClient(transport=httpx2.MockTransport(answer))  # nothing else can stand in for that address
    lab.run(tmp_path / "j.jsonl", [PAIR], spec, harness=harness, concurrency=1)
    conversation = {"model", "tools", "temperature", "messages" if protocol == "chat" else "input"}
    assert len(asked) == 2 and all(body.keys() == conversation | beside and body["store"] is False for body in asked)


def test_a_run_leaves_no_exporter_thread_and_no_words_behind() -> None:
    """In a process of its own, with a key that the SDK's exporter would use."""
    setup_of("openai_agents-chat")
    script = """
import threading, tempfile, pathlib
from agents.tracing import setup
from tests import test_harness_openai as suite
from tests.builders_rollouts import Lab
from tests.servers.dialects import FINE, Fails, Says, in_turn
lab = Lab()
before = set(threading.enumerate())
folder = pathlib.Path(tempfile.mkdtemp())
for number, last in enumerate([FINE, Fails(500)]):
    script = in_turn(Says(calls=((suite.FIND, suite.WHO),)), last)
    ran = suite.run(suite.setup_of("openai_agents-responses"), lab, folder / str(number), [suite.PAIR], script)
    assert ran.act.usage.requests >= 2, ran.act
print([thread.name for thread in set(threading.enumerate()) - before if not thread.name.startswith("asyncio_")])
print(setup.GLOBAL_TRACE_PROVIDER._multi_processor._processors)
lab.close()
"""
    environment = {**os.environ, "OPENAI_API_KEY": "sk-none"}
    done = subprocess.run([sys.executable, "-c", script], cwd=PROJECT, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["[]", "()"] and done.stderr == ""


def test_without_the_sdk_a_message_says_how_to_get_it() -> None:
    script = """
import sys
sys.modules["agents"] = None
from resources.harness import open_harness
from resources.models import ModelSpec
fields = {"name": "a/b", "harness": "openai_agents", "provider": "stub", "model": "m", "base_url": "http://127.0.0.1:9/v1"}
try:
    open_harness(ModelSpec.model_validate(fields))
except Exception as error:
    print(type(error).__name__, error)
"""
    done = subprocess.run([sys.executable, "-c", script], cwd=PROJECT, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("BadInput ") and "make extras" in done.stdout and "abstain-assets[openai-agents]" in done.stdout


def _items(body: Body) -> list[Body]:
    items: list[Body] = body.get("messages") or body["input"]
    return items
