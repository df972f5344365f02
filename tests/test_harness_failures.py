"""The failure matrix of the Chat Completions loop: each fault ends in its own error kind, and the other rollouts go on."""

import email.utils
import os
import signal
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from abstain_assets.records import Rollout
from abstain_assets.rollouts.runner import CellResult
from abstain_assets.taxonomy import Scenario, Side
from resources.harness.retry import Retry
from tests.builders_rollouts import FAST, KEY, Lab, chat_spec, kept, pairs_of
from tests.servers.chat_completions_stub import (
    Body,
    ChatServer,
    Reply,
    Script,
    completion,
    data,
    error,
    in_order,
    in_turn,
    message,
    turns,
)

PAIR = pairs_of(Scenario.MISSING_CRITICAL_PARAMETER)[0]
FIND = "retail_orders__find_customer"
FINE = message("Done.")
LOOP = message(calls=[(FIND, {"name": "Nobody"})])


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    opened = Lab()
    yield opened
    opened.close()


def broken_act(script: Script) -> Script:
    """The script for the act side; the abstain side is answered well."""
    return lambda body: script(body) if body["messages"][1]["content"] == PAIR.act.instruction else FINE


def run(lab: Lab, folder: Path, script: Script, *, retry: Retry = FAST, **spec: Any) -> tuple[Rollout, CellResult]:
    """Run one pair whose act side meets the script. The abstain side must come out well."""
    with ChatServer(broken_act(script), key=KEY) as server:
        result = lab.run(folder / "j.jsonl", [PAIR], chat_spec(server.url, **spec), retry=retry, concurrency=1)
        total = len(server.received)
    act, abstain = kept(folder / "j.jsonl")
    assert (act.side, abstain.side) == (Side.ACT, Side.ABSTAIN)
    assert abstain.usable and abstain.final_text == "Done."
    assert total == act.usage.requests + abstain.usage.requests == result.usage.requests
    assert result.stopped is None and result.done == 2
    return act, result


FLAKY = {
    "429 without Retry-After": error(429, "slow down", "rate_limit_exceeded"),
    "408": error(408, "timeout"),
    "500": error(500, "oops"),
    "503 not JSON": Reply(503, b"<html>busy</html>", {"content-type": "text/html"}),
    "529": error(529, "overloaded"),
    "reset": Reply(wire="reset"),
    "cut short": Reply(200, FINE.payload, wire="truncated"),
    "not JSON": Reply(200, b"{nope"),
    "not an object": data([1, 2]),
    "no choices": completion([]),
    "choices of another shape": completion("many"),
    "error inside a success": data({"error": {"message": "upstream gave up", "code": 502}}),
    "slow": Reply(200, FINE.payload, delay=0.8),
}


@pytest.mark.parametrize("name", FLAKY)
def test_what_passes_is_retried_counted_and_forgotten(lab: Lab, tmp_path: Path, name: str) -> None:
    act, _ = run(lab, tmp_path, in_order(FLAKY[name], FINE), timeout_seconds=0.4 if name == "slow" else 20)
    assert act.usable and act.final_text == "Done."
    assert (act.usage.requests, act.usage.retries, act.turns) == (2, 1, 1)


@pytest.mark.parametrize("name", FLAKY)
def test_what_stays_is_an_api_error_after_bounded_attempts(lab: Lab, tmp_path: Path, name: str) -> None:
    act, result = run(lab, tmp_path, in_turn(FLAKY[name]), timeout_seconds=0.2 if name == "slow" else 20)
    assert act.error_kind == "api_error" and act.error_message
    assert (act.usage.requests, act.usage.retries, act.turns) == (FAST.attempts, FAST.attempts - 1, 0)
    assert act.final_text == "" and result.errors == {"api_error": 1}


@pytest.mark.parametrize("headers", [{"Retry_After": "0.4"}, {"retry_after_ms": "400"}])
def test_retry_after_is_waited_for(lab: Lab, tmp_path: Path, headers: dict[str, str]) -> None:
    act, result = run(lab, tmp_path, in_order(error(429, "slow down", **headers), FINE))
    assert act.usable and act.usage.retries == 1 and result.seconds >= 0.4


def test_retry_after_may_be_a_date(lab: Lab, tmp_path: Path) -> None:
    start = time.time()
    when = int(start) + 2
    script = in_order(error(429, "slow down", Retry_After=email.utils.formatdate(when, usegmt=True)), FINE)
    act, _ = run(lab, tmp_path, script, retry=Retry(attempts=2, base_seconds=0.01, max_seconds=5.0))
    assert act.usable and time.time() >= when


def test_a_wait_that_is_too_long_is_not_waited_for(lab: Lab, tmp_path: Path) -> None:
    act, result = run(lab, tmp_path, in_turn(error(429, "come back tomorrow", Retry_After="86400")))
    assert act.error_kind == "api_error" and "86400" in act.error_message
    assert act.usage.requests == 1 and result.seconds < 10


REFUSALS = {
    "refusal": message(None, refusal="I will not help with that."),
    "content filter": message("I", finish="content_filter"),
    "content filter as an error": error(400, "filtered", "content_filter"),
    "moderation at a gateway": data({"error": {"message": "flagged", "code": 403, "metadata": {"reasons": ["violence"]}}}, 403),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_a_refusal_of_the_provider_is_its_own_kind(lab: Lab, tmp_path: Path, name: str) -> None:
    act, _ = run(lab, tmp_path, in_turn(REFUSALS[name]))
    assert act.error_kind == "policy_refusal" and act.usage.requests == 1


@pytest.mark.parametrize("text", ["", " \n\t", None])
@pytest.mark.parametrize("before", [(), (LOOP,)])
def test_an_empty_reply_is_its_own_kind(lab: Lab, tmp_path: Path, text: str | None, before: tuple[Reply, ...]) -> None:
    act, _ = run(lab, tmp_path, in_turn(*before, message(text)))
    assert act.error_kind == "empty_output" and len(act.calls) == len(before)


def test_an_endless_loop_of_calls_ends(lab: Lab, tmp_path: Path) -> None:
    act, _ = run(lab, tmp_path, in_turn(LOOP))
    assert act.error_kind == "max_turns_exceeded" and act.usage.requests == 30


def test_a_request_that_cannot_succeed_is_not_repeated(lab: Lab, tmp_path: Path) -> None:
    act, _ = run(lab, tmp_path, in_turn(error(400, "too long", "context_length_exceeded")))
    assert act.error_kind == "api_error" and act.usage.requests == 1


def test_evidence_up_to_a_failure_is_kept(lab: Lab, tmp_path: Path) -> None:
    act, _ = run(lab, tmp_path, in_turn(LOOP, error(500, "oops")))
    assert act.error_kind == "api_error" and len(act.calls) == 1 and act.state_digest
    assert [item.role for item in act.messages] == ["system", "user", "assistant", "tool"]


def test_a_sandbox_killed_in_mid_run_is_a_runtime_error(lab: Lab, tmp_path: Path) -> None:
    def script(body: Body) -> Reply:
        if turns(body) == 1:
            kill_sandboxes()
        return LOOP

    act, _ = run(lab, tmp_path, script)
    assert act.error_kind == "runtime_error" and "SIGKILL" in act.error_message
    assert len(act.calls) == 1 and act.turns == 2 and act.usage.requests == 2


def kill_sandboxes() -> None:
    """Kill the grandchildren of this process: its child is the zygote, whose children are sandboxes."""
    found = [pid for child in _children(os.getpid()) for pid in _children(child)]
    assert found
    for pid in found:
        os.kill(pid, signal.SIGKILL)


def _children(pid: int) -> list[int]:
    texts = [path.read_text(encoding="utf-8") for path in Path(f"/proc/{pid}/task").glob("*/children")]
    return [int(item) for text in texts for item in text.split()]


# --- faults that every further rollout would meet -------------------------------------------------------------------------

STOPS = {
    "wrong key": (None, "auth"),
    "forbidden": (error(403, "not for you"), "auth"),
    "no money": (error(402, "insufficient credits"), "quota"),
    "no quota": (error(429, "you exceeded your quota", "insufficient_quota"), "quota"),
    "unknown model": (error(404, "no such model", "model_not_found"), "configuration"),
    "unsupported setting": (error(400, "temperature is not supported", "unsupported_value"), "configuration"),
}


@pytest.mark.parametrize("name", STOPS)
def test_what_every_rollout_would_meet_stops_the_cell(lab: Lab, tmp_path: Path, name: str) -> None:
    reply, reason = STOPS[name]
    pairs = pairs_of(Scenario.MISSING_CRITICAL_PARAMETER)
    with ChatServer(in_turn(reply or FINE), key="another key") as server:
        key = KEY if reply is None else "another key"
        result = lab.run(tmp_path / "j.jsonl", pairs, chat_spec(server.url, api_key_env="STUB_KEY"), key=key, concurrency=2)
        asked = len(server.received)
    assert result.stopped is not None and result.stopped.reason == reason
    assert "stub/model" in str(result.stopped) and "\n" not in str(result.stopped)
    assert asked <= 2 and result.done == 0 and result.errors == {} and kept(tmp_path / "j.jsonl") == []


def test_a_wrong_key_names_its_variable_and_is_never_repeated(lab: Lab, tmp_path: Path) -> None:
    """The server quotes the key in its error, as providers do."""
    with ChatServer(in_turn(FINE), key="another key") as server:
        result = lab.run(tmp_path / "j.jsonl", [PAIR], chat_spec(server.url, api_key_env="STUB_KEY"))
    assert "STUB_KEY" in str(result.stopped)
    assert KEY not in str(result.stopped)


def test_an_unreachable_endpoint_stops_the_cell_with_one_message(lab: Lab, tmp_path: Path) -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{held.getsockname()[1]}/v1"
        result = lab.run(tmp_path / "j.jsonl", [PAIR], chat_spec(url), concurrency=2)
    assert result.stopped is not None and result.stopped.reason == "unreachable"
    assert (
        url in str(result.stopped)
        and "check base_url" in str(result.stopped)
        and f"{FAST.attempts} attempts" in str(result.stopped)
    )
    assert result.done == 0 and kept(tmp_path / "j.jsonl") == []


def test_an_endpoint_that_goes_away_keeps_what_is_finished(lab: Lab, tmp_path: Path) -> None:
    pairs = pairs_of(Scenario.MISSING_CRITICAL_PARAMETER)
    with ChatServer(in_turn(FINE)) as server:
        spec = chat_spec(server.url)
        lab.run(tmp_path / "j.jsonl", pairs[:1], spec)
    result = lab.run(tmp_path / "j.jsonl", pairs, spec)
    assert result.stopped is not None and result.stopped.reason == "unreachable"
    assert (result.reused, result.done) == (2, 0) and len(kept(tmp_path / "j.jsonl")) == 2


def test_the_key_is_nowhere_in_journal_or_output(
    lab: Lab, tmp_path: Path, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    leaky = [error(400, f"bad key {KEY}"), error(500, f"bad key {KEY}"), data({"error": {"message": f"key {KEY}"}})]
    for index, reply in enumerate(leaky):
        run(lab, tmp_path / str(index), in_turn(reply))
    texts = [path.read_text(encoding="utf-8") for path in tmp_path.rglob("*.jsonl")]
    assert any("[key]" in text for text in texts)
    assert not any(KEY in text for text in (*texts, *capfd.readouterr(), caplog.text))
