"""Work spread over processes: the same results in the same order, and no process is left behind."""

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from abstain_assets.errors import BadInput
from abstain_assets.pairs.build import build_half, build_scenario, merged
from abstain_assets.parallel import spread, warm_up
from abstain_assets.taxonomy import ActionType, Scenario
from tests.command import ROOT


def half(action_type: ActionType) -> object:
    return build_half(Scenario.CONFLICTING_CONSTRAINTS, action_type, "seed-3", 3)


def process_of(_: int) -> int:
    time.sleep(0.05)
    return os.getpid()


def variable(name: str) -> str | None:
    return os.environ.get(name)


def refuse(number: int) -> int:
    if number == 3:
        raise BadInput("three is too many")
    return number


def die(number: int) -> int:
    if multiprocessing.parent_process() is not None:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def test_halves_built_apart_are_the_whole() -> None:
    parts = spread(half, list(ActionType))
    assert merged(parts) == build_scenario(Scenario.CONFLICTING_CONSTRAINTS, "seed-3", 3)  # type: ignore[arg-type]


def test_results_keep_their_order_and_come_from_other_processes() -> None:
    warm_up()
    assert spread(abs, list(range(-50, 0))) == list(range(50, 0, -1))
    processes = spread(process_of, list(range(16)))
    if (os.cpu_count() or 1) > 1:
        assert os.getpid() not in processes
        assert len(set(processes)) > 1


def test_what_is_raised_there_is_raised_here() -> None:
    with pytest.raises(BadInput, match="three is too many"):
        spread(refuse, list(range(8)))


def test_workers_see_the_settings_of_who_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    """They may be older than the settings."""
    names = ["ABSTAIN_FAMILIES", "ABSTAIN_FAMILIES"]
    monkeypatch.setenv("ABSTAIN_FAMILIES", "/somewhere")
    assert spread(variable, names) == ["/somewhere"] * 2
    monkeypatch.delenv("ABSTAIN_FAMILIES")
    assert spread(variable, names) == [None, None]


def test_a_killed_worker_does_not_lose_the_work() -> None:
    assert spread(die, list(range(6))) == list(range(6))
    assert spread(abs, [-1, -2]) == [1, 2]


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="one core needs no workers")
def test_workers_end_with_a_killed_parent() -> None:
    code = "import time; from abstain_assets.parallel import spread; from tests.test_parallel import process_of\n"
    code += "if __name__ == '__main__': print(*set(spread(process_of, list(range(16)))), flush=True); time.sleep(60)"
    process = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    workers = [int(word) for word in process.stdout.readline().split()]
    assert workers
    assert all(Path(f"/proc/{worker}").exists() for worker in workers)
    process.kill()
    process.wait()
    end = time.monotonic() + 10
    while any(Path(f"/proc/{worker}").exists() for worker in workers) and time.monotonic() < end:
        time.sleep(0.05)
    assert not any(Path(f"/proc/{worker}").exists() for worker in workers)
