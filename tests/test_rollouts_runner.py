"""The runner: nothing finished is repeated, nothing unfinished is lost, and money is never spent beyond what was allowed."""

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from pydantic import TypeAdapter
from rich.console import Console

from abstain_assets.errors import BadInput
from abstain_assets.records import Pair, Rollout, canonical
from abstain_assets.rollouts.assets import Logged
from abstain_assets.rollouts.errors import CellStopped
from abstain_assets.rollouts.fingerprints import fingerprint
from abstain_assets.rollouts.journal import read_journal
from abstain_assets.rollouts.progress import Shown
from abstain_assets.rollouts.runner import collect
from abstain_assets.taxonomy import Scenario, Side
from environments.runtime import registry
from resources.harness.base import Budget
from resources.harness.chat_completions import ChatCompletions
from resources.harness.scripted import Scripted
from resources.models import ModelSpec
from tests.builders_rollouts import KEY, Lab, chat_spec, kept, pairs_of, scripted_spec
from tests.sandbox_forks import wait_until
from tests.servers.chat_completions_stub import Body, ChatServer, Reply, error, in_order, in_turn, message

FIND = "retail_orders__find_customer"
PAIRS = pairs_of(Scenario.MISSING_CRITICAL_PARAMETER)
TWO_TURNS = in_turn(message("", calls=[(FIND, {"name": "Nobody"})]), message("Done."))
PRICES = {"input_per_million": 1000.0, "output_per_million": 10_000.0, "date": "2026-11-01"}  # 0.2 USD for a reply of the stub


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    opened = Lab()
    yield opened
    opened.close()


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer(TWO_TURNS) as running:
        yield running


# --- content keys ---------------------------------------------------------------------------------------------------------


def test_both_sides_of_every_pair_run_once_and_are_reused(lab: Lab, tmp_path: Path, server: ChatServer) -> None:
    path, spec = tmp_path / "j.jsonl", chat_spec(server.url)
    first = lab.run(path, PAIRS, spec)
    assert (first.planned, first.done, first.reused, first.errors) == (2 * len(PAIRS), 2 * len(PAIRS), 0, {})
    assert Counter((item.pair_id, item.side) for item in kept(path)) == {(pair.id, side): 1 for pair in PAIRS for side in Side}
    asked, before = len(server.received), path.read_bytes()
    second = lab.run(path, PAIRS, spec)
    assert (second.done, second.reused, second.usage.requests, second.usage.cost_usd) == (0, 2 * len(PAIRS), 0, 0.0)
    assert len(server.received) == asked and path.read_bytes() == before


def test_a_rollout_says_what_it_is(lab: Lab, tmp_path: Path, server: ChatServer) -> None:
    lab.run(tmp_path / "j.jsonl", PAIRS[:1], chat_spec(server.url))
    act, abstain = kept(tmp_path / "j.jsonl")
    pair = PAIRS[0]
    for rollout, side in ((act, Side.ACT), (abstain, Side.ABSTAIN)):
        assert (rollout.pair_id, rollout.round, rollout.scenario, rollout.action_type) == (
            pair.id,
            pair.round,
            pair.scenario,
            pair.action_type,
        )
        assert (rollout.side, rollout.family, rollout.model, rollout.harness) == (
            side,
            pair.family,
            "stub/model",
            "chat_completions",
        )
    assert len({timing.fingerprint for timing in read_journal(tmp_path / "j.jsonl").timings}) == 2


def test_epochs_are_work_of_their_own_and_add_up(lab: Lab, tmp_path: Path, server: ChatServer) -> None:
    path, spec = tmp_path / "j.jsonl", chat_spec(server.url)
    lab.run(path, PAIRS[:1], spec)
    more = lab.run(path, PAIRS[:1], spec, epochs=3)
    assert (more.done, more.reused) == (4, 2)
    assert [item.epoch for item in kept(path)] == [0, 0, 1, 1, 2, 2]


def test_a_changed_pair_runs_exactly_its_own_rollouts_again(lab: Lab, tmp_path: Path, server: ChatServer) -> None:
    path, spec = tmp_path / "j.jsonl", chat_spec(server.url)
    lab.run(path, PAIRS, spec)
    changed = _reworded(PAIRS[0])
    again = lab.run(path, (changed, *PAIRS[1:]), spec)
    assert (again.done, again.reused) == (2, 2 * len(PAIRS) - 2)


def _reworded(pair: Pair) -> Pair:
    return pair.model_copy(update={"act": pair.act.model_copy(update={"system_prompt": f"{pair.act.system_prompt} Be brief."})})


def _key(pair: Pair, side: Side, spec: ModelSpec, *, epoch: int = 0, seed: int = 0) -> str:
    return fingerprint(pair, side, spec, ChatCompletions(spec, KEY), epoch=epoch, seed=seed)


def test_a_fingerprint_follows_what_a_run_depends_on_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    pair, spec = PAIRS[0], chat_spec("http://h/v1")
    base = _key(pair, Side.ACT, spec)
    assert base == _key(Pair.model_validate_json(pair.model_dump_json()), Side.ACT, spec)
    states = json.loads(json.dumps(pair.act.states))
    states["retail_orders"]["now"] = "2026-01-01T00:00:00"
    different = [
        _key(pair, Side.ABSTAIN, spec),
        _key(pair, Side.ACT, spec, epoch=1),
        _key(pair, Side.ACT, spec, seed=1),
        _key(_reworded(pair), Side.ACT, spec),
        _key(pair.model_copy(update={"act": pair.act.model_copy(update={"states": states})}), Side.ACT, spec),
        _key(pair, Side.ACT, chat_spec("http://h/v1", model="stub-2")),
        _key(pair, Side.ACT, chat_spec("http://h/v1", settings={"temperature": 0.5})),
        _key(pair, Side.ACT, chat_spec("http://h/v1", max_turns=5)),
    ]
    assert len({base, *different}) == len(different) + 1
    labelled = chat_spec("http://h/v1", prices=PRICES, open=True, family="x", timeout_seconds=5, max_cost_usd=3)
    trigger = pair.trigger.model_copy(update={"explanation": "Said otherwise."})
    assert {base} == {_key(pair, Side.ACT, labelled), _key(pair.model_copy(update={"trigger": trigger}), Side.ACT, spec)}
    monkeypatch.setattr(registry, "digest", lambda name: "another source")
    assert _key(pair, Side.ACT, spec) != base


def test_privileged_policies_depend_on_the_whole_pair() -> None:
    pair, spec = PAIRS[0], scripted_spec("oracle")
    other = pair.model_copy(update={"trigger": pair.trigger.model_copy(update={"explanation": "Said otherwise."})})
    keys = {fingerprint(item, Side.ACT, spec, Scripted(spec), epoch=0, seed=0) for item in (pair, other)}
    assert len(keys) == 2


def test_collecting_takes_what_is_still_true_of_all_epochs(lab: Lab, tmp_path: Path, server: ChatServer) -> None:
    path, spec = tmp_path / "j.jsonl", chat_spec(server.url)
    lab.run(path, PAIRS, spec, epochs=2)
    harness = ChatCompletions(spec, KEY)
    contents = read_journal(path)
    assert len(collect(contents, PAIRS, spec, harness, seed=0)) == 4 * len(PAIRS)
    assert len(collect(contents, (_reworded(PAIRS[0]), *PAIRS[1:]), spec, harness, seed=0)) == 4 * len(PAIRS) - 4
    assert len(collect(contents, PAIRS, spec, harness, seed=1)) == 4 * len(PAIRS)


def test_of_runs_with_several_seeds_one_counts(lab: Lab, tmp_path: Path, server: ChatServer) -> None:
    path, spec = tmp_path / "j.jsonl", chat_spec(server.url)
    lab.run(path, PAIRS, spec)
    lab.run(path, PAIRS[:1], spec, seed=7)
    contents, harness = read_journal(path), ChatCompletions(spec, KEY)
    assert len(contents.rollouts) == 2 * len(PAIRS) + 2

    def seeds(wanted: int) -> dict[str, set[int]]:
        found: dict[str, set[int]] = {}
        for rollout in collect(contents, PAIRS, spec, harness, seed=wanted):
            found.setdefault(rollout.pair_id, set()).add(rollout.seed)
        return found

    others = {pair.id: {0} for pair in PAIRS}
    assert seeds(0) == others
    assert seeds(7) == seeds(3) == {**others, PAIRS[0].id: {7}}


# --- errors and money -----------------------------------------------------------------------------------------------------


def test_errors_are_reused_unless_asked_otherwise(lab: Lab, tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    with ChatServer(in_order(error(400, "no"), message("Done."))) as server:
        spec = chat_spec(server.url)
        first = lab.run(path, PAIRS[:1], spec, concurrency=1)
        assert first.errors == {"api_error": 1}
        reused = lab.run(path, PAIRS[:1], spec)
        assert (reused.done, reused.reused, reused.errors) == (0, 2, {"api_error": 1})
        retried = lab.run(path, PAIRS[:1], spec, retry_errors=True)
        assert (retried.done, retried.reused, retried.errors) == (1, 1, {})
    assert all(item.usable for item in kept(path))
    assert sum(usage.requests for usage in read_journal(path).usages) == 3


def test_a_budget_stops_the_cell_and_a_higher_one_completes_it(lab: Lab, tmp_path: Path) -> None:
    """Each rollout costs 0.4 USD in two requests, so 0.5 USD ends the second one after its first request."""
    path = tmp_path / "j.jsonl"
    with ChatServer(TWO_TURNS) as server:
        spec = chat_spec(server.url, prices=PRICES)
        budget = Budget(0.5)
        first = lab.run(path, PAIRS, spec, budget=budget, concurrency=1)
        assert first.stopped is not None and first.stopped.reason == "budget" and "$0.5" in str(first.stopped)
        assert first.errors == {"budget_exceeded": 1} and first.done == 2 and len(server.received) == 3
        assert first.usage.cost_usd == pytest.approx(0.6) == budget.spent
        rest = lab.run(path, PAIRS, spec, budget=Budget(100.0), concurrency=1)
        assert rest.stopped is None and rest.errors == {}
        assert (rest.reused, rest.done) == (1, 2 * len(PAIRS) - 1)
        paid = sum(usage.cost_usd or 0 for usage in read_journal(path).usages)
        assert paid == pytest.approx(0.2 * len(server.received))


def test_a_spent_budget_starts_nothing(lab: Lab, tmp_path: Path, server: ChatServer) -> None:
    result = lab.run(tmp_path / "j.jsonl", PAIRS, chat_spec(server.url, prices=PRICES), budget=Budget(1.0, spent=1.0))
    assert result.stopped is not None and result.done == 0 and server.received == []


def test_a_budget_needs_prices(lab: Lab, tmp_path: Path, server: ChatServer) -> None:
    with pytest.raises(BadInput, match="add `prices`"):
        lab.run(tmp_path / "j.jsonl", PAIRS, chat_spec(server.url), budget=Budget(1.0))
    assert server.received == []


def test_cost_is_unknown_without_prices_and_nothing_for_scripted(lab: Lab, tmp_path: Path, server: ChatServer) -> None:
    assert lab.run(tmp_path / "a.jsonl", PAIRS[:1], chat_spec(server.url)).usage.cost_usd is None
    assert lab.run(tmp_path / "b.jsonl", PAIRS[:1], scripted_spec("oracle")).usage.cost_usd == 0.0


def test_what_was_paid_for_a_broken_off_rollout_is_kept(lab: Lab, tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    script = in_turn(message(calls=[(FIND, {"name": "Nobody"})]), error(402, "no credit left"))
    with ChatServer(script) as server:
        result = lab.run(path, PAIRS[:1], chat_spec(server.url, prices=PRICES), concurrency=1)
    assert result.stopped is not None and result.stopped.reason == "quota"
    assert result.usage.cost_usd == pytest.approx(0.2)
    contents = read_journal(path)
    assert contents.rollouts == {} and [usage.requests for usage in contents.usages] == [2]


# --- concurrency, progress, determinism -----------------------------------------------------------------------------------


@pytest.mark.parametrize("concurrency", [1, 3])
def test_no_more_requests_at_once_than_allowed(lab: Lab, tmp_path: Path, concurrency: int) -> None:
    running, most, lock = 0, 0, threading.Lock()

    def script(body: Body) -> Reply:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        time.sleep(0.15)
        with lock:
            running -= 1
        return message("Done.")

    with ChatServer(script) as server:
        lab.run(tmp_path / "j.jsonl", PAIRS, chat_spec(server.url), concurrency=concurrency)
    assert most == concurrency


def test_progress_off_a_terminal_is_one_line_a_cell(lab: Lab, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with ChatServer(in_order(error(400, "no"), message("Done."))) as server:
        lab.run(tmp_path / "j.jsonl", PAIRS[:1], chat_spec(server.url, prices=PRICES), progress=Shown())
    out, err = capsys.readouterr()
    assert out == "" and err == "stub/model: 2 of 2 rollouts (0 reused), 1 errors, 110 tokens, $0.20\n"


def test_progress_on_a_terminal_is_live(lab: Lab, tmp_path: Path) -> None:
    """The model does not answer before the screen says that it is at work."""
    path = tmp_path / "screen"

    def answer(body: Body) -> Reply:
        assert wait_until(lambda: "1 running" in path.read_text(encoding="utf-8"), 60)
        return TWO_TURNS(body)

    with ChatServer(answer) as server, path.open("w", encoding="utf-8") as screen:
        console = Console(file=screen, force_terminal=True, width=160)
        lab.run(tmp_path / "j.jsonl", PAIRS[:1], chat_spec(server.url, prices=PRICES), progress=Shown(console), concurrency=1)
    text = path.read_text(encoding="utf-8")
    assert "stub/model: 2 of 2 rollouts" in text and "$0.80" in text


def test_a_stop_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    shown = Shown()
    shown.begin("a/b", 4, 1)
    shown.started()
    shown.dropped()
    shown.end(CellStopped("auth", "the key [K] was refused"))
    assert capsys.readouterr().err.splitlines() == [
        "a/b: 1 of 4 rollouts (1 reused), 0 errors, 0 tokens, $0.00",
        "a/b: stopped: the key [K] was refused",
    ]


def test_scripted_rollouts_are_the_same_bytes_again(lab: Lab, tmp_path: Path) -> None:
    def bytes_of(name: str, concurrency: int) -> list[str]:
        lab.run(tmp_path / name, PAIRS, scripted_spec("always-act"), epochs=2, concurrency=concurrency)
        return [canonical(item.model_dump(mode="json")) for item in kept(tmp_path / name)]

    assert bytes_of("one", 1) == bytes_of("other", 8)


# --- processes that end before their time ---------------------------------------------------------------------------------


def _start(server: ChatServer, path: Path, epochs: int, concurrency: int) -> "subprocess.Popen[str]":
    pairs = path.with_name("pairs.json")
    pairs.write_bytes(TypeAdapter(tuple[Pair, ...]).dump_json(PAIRS))
    arguments = [sys.executable, "-m", "tests.rollouts_worker", server.url, str(pairs), str(path), str(epochs), str(concurrency)]
    return subprocess.Popen(
        arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, "COLUMNS": "200"}
    )


def _wait_for(path: Path, lines: int, process: "subprocess.Popen[str]") -> None:
    deadline = time.monotonic() + 60
    while not path.exists() or path.read_bytes().count(b"\n") < lines:
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.01)


def _finish(server: ChatServer, path: Path, epochs: int, concurrency: int) -> dict[str, Any]:
    process = _start(server, path, epochs, concurrency)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    result: dict[str, Any] = json.loads(out)
    return result


def _slowly(body: Body) -> Reply:
    time.sleep(0.03)
    return TWO_TURNS(body)


def test_sigkill_at_random_moments_loses_no_finished_rollout_and_repeats_none(tmp_path: Path) -> None:
    """The server counts: every finished rollout cost its two requests once; only calls in flight at a kill were lost."""
    path, epochs, concurrency, kills = tmp_path / "j.jsonl", 10, 4, 3
    planned = 2 * len(PAIRS) * epochs
    rng = random.Random(7)
    survived: dict[str, Rollout] = {}
    with ChatServer(_slowly) as server:
        for kill in range(kills):
            process = _start(server, path, epochs, concurrency)
            _wait_for(path, len(survived) + 5 + 3 * kill, process)
            time.sleep(rng.uniform(0, 0.2))
            process.send_signal(signal.SIGKILL)
            process.wait()
            now = read_journal(path).rollouts
            assert now.keys() > survived.keys() and all(now[name] == item for name, item in survived.items())
            survived = now
        last = _finish(server, path, epochs, concurrency)
        asked = len(server.received)
    assert last["reused"] == len(survived) and last["done"] == planned - len(survived)
    contents = read_journal(path)
    assert len(contents.rollouts) == len(contents.timings) == planned
    assert 2 * planned <= asked <= 2 * planned + 2 * concurrency * kills
    assert not _left_behind(path)


def _left_behind(path: Path) -> list[str]:
    """Processes that still belong to the workers of a journal."""
    found = []
    for item in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            command = item.read_bytes().decode(errors="replace")
        except OSError:
            continue
        found += [command] if str(path) in command else []
    return found


def test_one_ctrl_c_finishes_what_runs_and_keeps_it(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    with ChatServer(_slowly) as server:
        process = _start(server, path, 5, 4)
        _wait_for(path, 3, process)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        result = json.loads(out)
        contents = read_journal(path)
        assert process.returncode == 1 and result["stopped"] == "interrupted" and "interrupted; everything finished is kept" in err
        assert 3 <= result["done"] == len(contents.rollouts) < result["planned"]
        assert len(server.received) == 2 * result["done"], "nothing that was asked of the model is lost"
        rest = _finish(server, path, 5, 4)
    assert rest["reused"] == result["done"] and len(read_journal(path).rollouts) == result["planned"]


def test_a_second_ctrl_c_breaks_off_and_keeps_what_is_finished_and_paid(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    hang = threading.Event()

    def script(body: Body) -> Reply:
        if len(path.read_bytes().splitlines()) >= 2:
            hang.wait(30)
        return TWO_TURNS(body)

    with ChatServer(script) as server:
        process = _start(server, path, 5, 2)
        _wait_for(path, 2, process)
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        time.sleep(0.5)
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=30)
        hang.set()
        contents = read_journal(path)
    assert process.returncode != 0 and "KeyboardInterrupt" in err
    assert len(contents.rollouts) >= 2
    assert sum(usage.requests for usage in contents.usages) == len(server.received)


def test_two_processes_never_work_on_the_same_cell(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    refused = threading.Event()

    def script(body: Body) -> Reply:
        if path.read_bytes():
            refused.wait(60)
        return TWO_TURNS(body)

    with ChatServer(script) as server:
        first = _start(server, path, 2, 2)
        _wait_for(path, 1, first)
        second = _start(server, path, 2, 2)
        _, err = second.communicate(timeout=60)
        refused.set()
        assert second.returncode == 1 and "another process is working on this cell" in err
        out, _ = first.communicate(timeout=120)
        planned = json.loads(out)["planned"]
        assert len(server.received) == 2 * planned == 2 * len(read_journal(path).rollouts)


def test_the_log_of_a_run_tells_how_far_it_is(lab: Lab, tmp_path: Path, server: ChatServer) -> None:
    """The lines of a Dagster run: done, errors, tokens, cost, and while it lasts the time left."""
    said: list[str] = []
    context = SimpleNamespace(log=SimpleNamespace(info=said.append))
    logged = Logged(cast(Any, context), every_seconds=0.0)
    lab.run(tmp_path / "j.jsonl", PAIRS[:1], chat_spec(server.url, prices=PRICES), progress=logged, concurrency=1)
    assert len(said) == 3 and said[0].startswith("stub/model: 1 of 2 rollouts (0 reused), 0 errors, ") and said[0].endswith(" left")
    assert said[2].startswith("stub/model: 2 of 2 rollouts") and "tokens, $" in said[2]
