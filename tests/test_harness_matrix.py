"""The failure matrix of every harness: each fault ends in its own error kind after a bounded number of requests, and the batch goes
on: the pair's other side always comes out well."""

import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from abstain_assets.records import Rollout
from abstain_assets.taxonomy import Scenario, Side
from resources.harness.base import Budget
from resources.harness.retry import Retry
from tests.builders_rollouts import FAST, KEY, Lab, kept, pairs_of
from tests.harnesses import SETUPS, Ran, Setup, only_act, run
from tests.servers.dialects import FINE, Broken, Fails, Says, Script, Seen, Turn, in_order, in_turn
from tests.test_harness_failures import kill_sandboxes

PAIR = pairs_of(Scenario.MISSING_CRITICAL_PARAMETER)[0]
FIND = "retail_orders__find_customer"

FLAKY: dict[str, Turn] = {
    "429": Fails(429, "slow down"),
    "500": Fails(500, "oops"),
    "529": Fails(529, "overloaded"),
    "reset": Broken("reset"),
    "reset in mid-stream": Broken("reset_midway"),
    "cut short": Broken("truncated"),
    "not JSON": Broken("not_json"),
    "slow": Broken("slow", 1.5),
}


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    opened = Lab()
    opened.do(opened.pool.warm())
    yield opened
    opened.close()


@pytest.fixture(params=SETUPS, ids=lambda setup: setup.id)
def setup(request: pytest.FixtureRequest) -> Setup:
    chosen: Setup = request.param
    if not chosen.installed:
        pytest.skip(f"{chosen.needs} is not installed: make extras")
    return chosen


def loop(setup: Setup) -> Says:
    return Says(calls=((setup.shown(FIND), {"name": "Nobody"}),))


def broken_act(setup: Setup, lab: Lab, folder: Path, script: Script, *, retry: Retry = FAST, **spec: Any) -> Rollout:
    """Run one pair whose act side meets the script. The abstain side must come out well, and no process may be left."""
    before = _processes()
    ran = run(setup, lab, folder, [PAIR], only_act(PAIR, script, in_turn(FINE)), retry=retry, **spec)
    act, abstain = ran.rollouts
    assert (act.side, abstain.side) == (Side.ACT, Side.ABSTAIN)
    assert abstain.usable and abstain.final_text == "Done."
    assert len(ran.asked) == act.usage.requests + abstain.usage.requests == ran.result.usage.requests
    assert ran.result.stopped is None and ran.result.done == 2
    assert not _processes() - before
    assert KEY not in (folder / "j.jsonl").read_text(encoding="utf-8")
    return act


def _processes() -> set[int]:
    """Everything below this process, the sandboxes' own zygote included."""
    found: set[int] = set()
    todo = [os.getpid()]
    while todo:
        for path in Path(f"/proc/{todo.pop()}/task").glob("*/children"):
            children = [int(item) for item in path.read_text(encoding="utf-8").split()]
            found.update(children)
            todo += children
    return found


@pytest.mark.parametrize("name", FLAKY)
def test_what_passes_is_retried_counted_and_forgotten(setup: Setup, lab: Lab, tmp_path: Path, name: str) -> None:
    act = broken_act(setup, lab, tmp_path, in_order(FLAKY[name], FINE), timeout_seconds=0.7 if name == "slow" else 20)
    assert act.usable and act.final_text == "Done."
    assert (act.usage.requests, act.usage.retries, act.turns) == (2, 1, 1)


@pytest.mark.parametrize("name", FLAKY)
def test_what_stays_is_an_api_error_after_bounded_attempts(setup: Setup, lab: Lab, tmp_path: Path, name: str) -> None:
    act = broken_act(setup, lab, tmp_path, in_turn(FLAKY[name]), timeout_seconds=0.5 if name == "slow" else 20)
    assert act.error_kind == "api_error" and act.error_message
    assert (act.usage.requests, act.usage.retries, act.turns) == (FAST.attempts, FAST.attempts - 1, 0)
    assert act.final_text == ""


def test_retry_after_is_waited_for(setup: Setup, lab: Lab, tmp_path: Path) -> None:
    script = only_act(PAIR, in_order(Fails(429, "slow down", {"Retry-After": "0.6"}), FINE), in_turn(FINE))
    ran = run(setup, lab, tmp_path, [PAIR], script)
    assert ran.act.usable and ran.act.usage.retries == 1 and ran.result.seconds >= 0.6


def test_a_wait_that_is_too_long_is_not_waited_for(setup: Setup, lab: Lab, tmp_path: Path) -> None:
    act = broken_act(setup, lab, tmp_path, in_turn(Fails(429, "come back tomorrow", {"Retry-After": "86400"})))
    assert act.error_kind == "api_error" and act.usage.requests == 1


@pytest.mark.parametrize("ending", ["refused", "filtered"])
def test_a_refusal_of_the_provider_is_its_own_kind(setup: Setup, lab: Lab, tmp_path: Path, ending: Any) -> None:
    act = broken_act(setup, lab, tmp_path, in_turn(Says("I will not.", ending=ending)))
    assert act.error_kind == "policy_refusal" and act.usage.requests == 1


@pytest.mark.parametrize("text", ["", " \n\t"])
def test_an_empty_reply_is_its_own_kind(setup: Setup, lab: Lab, tmp_path: Path, text: str) -> None:
    act = broken_act(setup, lab, tmp_path, in_turn(loop(setup), Says(text)))
    assert act.error_kind == "empty_output" and len(act.calls) == 1


def test_an_endless_loop_of_calls_ends(setup: Setup, lab: Lab, tmp_path: Path) -> None:
    act = broken_act(setup, lab, tmp_path, in_turn(loop(setup)), max_turns=4)
    assert act.error_kind == "max_turns_exceeded" and act.usage.requests == 4


def test_a_request_that_cannot_succeed_is_not_repeated(setup: Setup, lab: Lab, tmp_path: Path) -> None:
    act = broken_act(setup, lab, tmp_path, in_turn(Fails(400, "the prompt is too long")))
    assert act.error_kind == "api_error" and act.usage.requests == 1


def test_evidence_up_to_a_failure_is_kept(setup: Setup, lab: Lab, tmp_path: Path) -> None:
    act = broken_act(setup, lab, tmp_path, in_turn(loop(setup), Fails(500, "oops")))
    assert act.error_kind == "api_error" and len(act.calls) == 1 and act.state_digest
    assert [item.role for item in act.messages] == ["system", "user", "assistant", "tool"]


def test_a_sandbox_killed_in_mid_run_is_a_runtime_error(setup: Setup, lab: Lab, tmp_path: Path) -> None:
    def script(seen: Seen) -> Turn:
        if seen.replies == 1:
            kill_sandboxes()
        return loop(setup)

    act = broken_act(setup, lab, tmp_path, script)
    assert act.error_kind == "runtime_error" and "SIGKILL" in act.error_message
    assert len(act.calls) == 1


def test_an_exhausted_budget_ends_runs_before_the_next_request(setup: Setup, lab: Lab, tmp_path: Path) -> None:
    prices = {"input_per_million": 1e4, "output_per_million": 0.0, "date": "2026-01-01"}  # a dollar for every reply
    script = in_turn(loop(setup))
    ran = run(setup, lab, tmp_path, [PAIR], script, budget=Budget(2.5), prices=prices)
    assert len(ran.asked) == 3 and [item.error_kind for item in ran.rollouts] == ["budget_exceeded"]
    assert ran.result.stopped is not None and ran.result.stopped.reason == "budget"


# --- faults that every further rollout would meet -------------------------------------------------------------------------

STOPS: dict[str, tuple[int | None, str]] = {
    "wrong key": (None, "auth"),
    "forbidden": (403, "auth"),
    "no money": (402, "quota"),
    "unknown model": (404, "configuration"),
}


@pytest.mark.parametrize("name", STOPS)
def test_what_every_rollout_would_meet_stops_the_cell(setup: Setup, lab: Lab, tmp_path: Path, name: str) -> None:
    status, reason = STOPS[name]
    script = in_turn(FINE if status is None else Fails(status, "not for you"))
    accepted = "another key" if status is None else KEY
    ran: Ran = run(setup, lab, tmp_path, [PAIR], script, accepted_key=accepted)
    stopped = ran.result.stopped
    assert stopped is not None and stopped.reason == reason, stopped
    assert setup.spec_name in str(stopped) and "\n" not in str(stopped) and KEY not in str(stopped)
    assert len(ran.asked) == 1 and ran.result.done == 0 and not ran.rollouts
    if status is None:
        assert "CONFORMANCE_KEY" in str(stopped)


def test_an_unreachable_endpoint_stops_the_cell_with_one_message(setup: Setup, lab: Lab, tmp_path: Path) -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{held.getsockname()[1]}/v1"
        ran = run(setup, lab, tmp_path, [PAIR], in_turn(FINE), base_url=url)
    stopped = ran.result.stopped
    assert stopped is not None and stopped.reason == "unreachable"
    assert url in str(stopped) and "check base_url" in str(stopped) and f"{FAST.attempts} attempts" in str(stopped)
    assert ran.result.done == 0 and kept(tmp_path / "j.jsonl") == [] and not ran.asked
