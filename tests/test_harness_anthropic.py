"""What is special about the Anthropic Messages loop; the shared suite tests the rest."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from abstain_assets.errors import BadInput
from abstain_assets.taxonomy import Scenario
from resources.harness import open_harness
from resources.harness.anthropic_reply import AnthropicReply, MalformedReply, read, read_stream
from resources.models import read_model
from tests.builders_rollouts import KEY, Lab, pairs_of
from tests.harnesses import SETUPS, Ran, run
from tests.servers.dialects import FINE, Fails, Says, Seen, Turn, in_turn
from tests.servers.messages import Messages, reply
from tests.servers.stub import Body, Received, Reply

SETUP = next(setup for setup in SETUPS if setup.id == "anthropic_messages")
PAIR = pairs_of(Scenario.MISSING_CRITICAL_PARAMETER)[0]
FIND = "retail_orders__find_customer"
THOUGHT: list[Body] = [
    {"type": "thinking", "thinking": "Wer ist das? ✓ 東京", "signature": "c2lnbmVk"},
    {"type": "redacted_thinking", "data": "b3BhcXVl"},
    {"type": "text", "text": ""},
    {"type": "tool_use", "id": "toolu_a", "name": FIND, "input": {"name": "Nobody"}, "caller": {"type": "direct"}},
    {"type": "tool_use", "id": "toolu_b", "name": "retail_orders__sing", "input": {}},
]


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    opened = Lab()
    yield opened
    opened.close()


class Thinking(Messages):
    """A model that thinks before it calls."""

    def says(self, said: Says, request: Received) -> Reply:
        return reply(THOUGHT, request, stop="tool_use") if said.calls else super().says(said, request)


def bodies(ran: Ran) -> list[Body]:
    return [request.body for request in ran.asked]


def test_blocks_go_back_as_they_came_and_all_results_in_one_message(lab: Lab, tmp_path: Path) -> None:
    ran = run(replace(SETUP, dialect=Thinking), lab, tmp_path, [PAIR], in_turn(Says(calls=((FIND, {}),)), FINE))
    conversation = bodies(ran)[1]["messages"]
    assert conversation[1] == {"role": "assistant", "content": [block for block in THOUGHT if block.get("text") != ""]}
    (answers,) = conversation[2:]
    assert [block["tool_use_id"] for block in answers["content"]] == ["toolu_a", "toolu_b"]
    assert [block["is_error"] for block in answers["content"]] == [False, True]
    assert ran.act.usable and ran.act.messages[2].content == ""


def test_a_length_is_always_asked_for_and_the_file_may_set_it(lab: Lab, tmp_path: Path) -> None:
    assert bodies(run(SETUP, lab, tmp_path / "a", [PAIR], in_turn(FINE)))[0]["max_tokens"] == 4096
    settings = {"max_tokens": 64_000, "top_p": 0.5, "extra_body": {"thinking": {"type": "adaptive"}}}
    body = bodies(run(SETUP, lab, tmp_path / "b", [PAIR], in_turn(FINE), settings=settings))[0]
    assert (body["max_tokens"], body["top_p"], body["thinking"]) == (64_000, 0.5, {"type": "adaptive"})


def test_headers_of_the_environment_stay_at_home(lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", "X-Canary: decoy-1\nAuthorization: decoy-2")
    monkeypatch.setenv("ANTHROPIC_AUTH_TOKEN", "decoy-3")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "decoy-4")
    ran = run(SETUP, lab, tmp_path, [PAIR], in_turn(FINE))
    assert [request.headers["x-api-key"] for request in ran.asked] == [KEY, KEY]
    assert "decoy" not in json.dumps([request.headers for request in ran.asked])


def test_an_endpoint_without_a_key_gets_none(lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "decoy")
    ran = run(SETUP, lab, tmp_path, [PAIR], in_turn(FINE), api_key_env=None)
    assert ran.result.stopped is not None and ran.result.stopped.reason == "auth"
    assert "no key (set api_key_env" in str(ran.result.stopped)
    assert not {"x-api-key", "authorization"} & ran.asked[0].headers.keys()


@pytest.mark.parametrize("harness", ["anthropic_messages", "claude_agent"])
@pytest.mark.parametrize(
    ("setting", "fix"),
    [
        ("max_completion_tokens: 100", "settings.max_completion_tokens: the protocol calls it max_tokens"),
        ("reasoning_effort: high", "settings.reasoning_effort: the protocol has no such field"),
        ("temperature: 1.5", "settings.temperature: this protocol goes up to 1"),
    ],
)
def test_settings_that_the_protocol_lacks_are_refused(tmp_path: Path, harness: str, setting: str, fix: str) -> None:
    if harness == "claude_agent":
        pytest.importorskip("claude_agent_sdk")
    file = tmp_path / "m.yaml"
    lines = ["name: stub/m", f"harness: {harness}", "provider: stub", "model: m", "base_url: http://127.0.0.1:1", "settings:"]
    file.write_text("\n".join([*lines, f"  {setting}"]), encoding="utf-8")
    with pytest.raises(BadInput) as refused:
        open_harness(read_model(file))
    assert str(refused.value).startswith(f"{file}: {fix}")


def test_money_is_told_from_keys_by_type(lab: Lab, tmp_path: Path) -> None:
    """A gateway may send a billing error under another status."""

    class Broke(Messages):
        def fails(self, failure: Fails) -> Reply:
            error = {"type": "billing_error", "message": "no"}
            return Reply(failure.status, json.dumps({"type": "error", "error": error}).encode())

    ran = run(replace(SETUP, dialect=Broke), lab, tmp_path, [PAIR], in_turn(Fails(403, "no")))
    assert ran.result.stopped is not None and ran.result.stopped.reason == "quota" and len(ran.asked) == 1


# --- replies ---------------------------------------------------------------------------------------------------------------


def wire(content: list[Body], *, stream: bool, stop: str = "end_turn") -> bytes:
    asked = Received("/v1/messages", {}, json.dumps({"stream": stream}).encode())
    return reply(content, asked, stop=stop, usage=(70, 30)).payload


def parts(found: AnthropicReply) -> tuple[Any, ...]:
    return found.content, found.text, found.asked, found.input_tokens, found.output_tokens, str(found.failure)


@pytest.mark.parametrize("stop", ["end_turn", "refusal"])
def test_a_streamed_reply_is_read_as_the_whole_one(stop: str) -> None:
    content = [*THOUGHT[:2], {"type": "text", "text": "Zeile\u2028eins\n\nZeile ✓" * 500}, *THOUGHT[3:]]
    streamed = wire(content, stream=True, stop=stop)
    assert parts(read_stream(streamed)) == parts(read(wire(content, stream=False, stop=stop)))
    assert parts(read_stream(streamed.replace(b"\n", b"\r\n"))) == parts(read_stream(streamed))


def test_a_stream_that_ends_early_is_no_reply_wherever_it_is_cut() -> None:
    streamed = wire(THOUGHT, stream=True, stop="tool_use")
    end = streamed.rindex(b"data:")
    for cut in range(0, end, 7):
        with pytest.raises(MalformedReply):
            read_stream(streamed[:cut])


@pytest.mark.parametrize(
    "content",
    [
        b"[1, 2]",
        b"null",
        b'{"type": "error", "error": {"type": "api_error", "message": "upstream gave up"}}',
        b'{"content": "text"}',
        b'{"content": [1]}',
        b'{"content": [{"type": "tool_use", "name": "x", "input": {}}]}',
        b"\xff",
    ],
)
def test_success_without_a_reply_is_no_reply(content: bytes) -> None:
    with pytest.raises(MalformedReply):
        read(content)
    with pytest.raises(MalformedReply):
        read_stream(b"event: x\ndata: " + content + b"\n\n")


def test_arguments_that_are_no_object_stay_text_and_go_back_empty() -> None:
    found = read(b'{"content": [{"type": "tool_use", "id": "t", "name": "x", "input": [1, 2]}]}')
    assert found.asked[0].arguments == "[1, 2]" and found.echo()[0]["input"] == {}


def test_halves_of_surrogate_pairs_do_not_stop_a_run() -> None:
    assert read(b'{"content": [{"type": "text", "text": "a\\ud800b"}]}').text == "a?b"


def test_cached_tokens_count_as_input() -> None:
    usage = {"input_tokens": 5, "cache_creation_input_tokens": 20, "cache_read_input_tokens": 300, "output_tokens": 7}
    found = read(json.dumps({"content": [{"type": "text", "text": "x"}], "usage": usage}).encode())
    assert (found.input_tokens, found.output_tokens) == (325, 7)


def test_arguments_that_are_no_object_are_answered_with_an_error(lab: Lab, tmp_path: Path) -> None:
    def script(seen: Seen) -> Turn:
        return FINE if seen.replies else Says(calls=((FIND, [1, 2]),))

    ran = run(SETUP, lab, tmp_path, [PAIR], script)
    assert ran.act.usable and ran.act.calls == () and "invalid_arguments" in ran.seen[1].results[0][1]
