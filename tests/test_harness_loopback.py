"""No harness asks anybody but its endpoint: each runs in a network that ends at this machine, where every other packet is seen."""

import json
import shutil
import subprocess
import sys

import pytest

from resources.settings import PROJECT
from tests.harnesses import SETUPS
from tests.loopback import AFTERWARDS, CONTROL, UNAVAILABLE, Outcome

INSTALLED = [setup.id for setup in SETUPS if setup.installed]


@pytest.fixture(scope="module")
def outcomes(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Outcome]:
    """What the setups tried that are to be tested, all from one process."""
    if not shutil.which("unshare") or not shutil.which("ip"):
        pytest.skip("needs unshare and ip (util-linux, iproute2)")
    chosen = {item.name for item in request.session.items if item.path == request.path}
    names = [name for name in INSTALLED if f"{test_a_harness_asks_nobody_but_its_endpoint.__name__}[{name}]" in chosen]
    command = ["unshare", "-rn", sys.executable, "-m", "tests.loopback", "watch", str(tmp_path_factory.mktemp("home")), *names]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, timeout=250)
    if done.returncode == UNAVAILABLE or done.stderr.startswith("unshare:"):
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, done.stderr
    return {name: Outcome(**outcome) for name, outcome in json.loads(done.stdout).items()}


def test_whoever_tries_to_leave_is_seen(outcomes: dict[str, Outcome]) -> None:
    tried = ["looks up somewhere.example", "connects to somewhere.example:443", "connects to 192.0.2.1:4317"]
    assert outcomes[CONTROL] == Outcome(tried)


@pytest.mark.parametrize("name", [setup.id for setup in SETUPS])
def test_a_harness_asks_nobody_but_its_endpoint(outcomes: dict[str, Outcome], name: str) -> None:
    if name not in INSTALLED:
        pytest.skip("its SDK is not installed: make extras")
    assert outcomes[name] == Outcome()


def test_nothing_is_sent_after_the_last_run(outcomes: dict[str, Outcome]) -> None:
    """SDKs like to send what they have gathered when the process ends."""
    assert outcomes[AFTERWARDS] == Outcome()
