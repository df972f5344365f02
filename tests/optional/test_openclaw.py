"""OpenClaw as scripts/install-openclaw.sh installs it: what the suites ask of every harness, and what is special about it."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from abstain_assets.errors import BadInput
from abstain_assets.rollouts.view import foreign_view
from abstain_assets.taxonomy import Scenario
from resources.harness import open_harness, openclaw
from resources.harness.base import Budget, ForeignRequest, Trace
from resources.openclaw_install import FOLDER_VARIABLE, OpenClawInstall
from resources.settings import PROJECT
from tests import test_harness_conformance as conformance
from tests import test_harness_matrix as matrix
from tests.builders_rollouts import FAST, KEY, Lab, all_pairs, pairs_of
from tests.harnesses import KEY_VARIABLE, OPTIONAL_SETUPS, Setup, only_act, run
from tests.loopback import Outcome
from tests.sandbox_forks import gone, wait_until
from tests.servers.chat import Chat
from tests.servers.dialects import FINE, Broken, ModelServer, Says, Seen, Turn, in_turn
from tests.test_harness_claude import below

SETUP = next(setup for setup in OPTIONAL_SETUPS if setup.harness == "openclaw")
PAIR = pairs_of(Scenario.CRITICAL_TOOL_FAILURE)[0]
SPOKEN = pairs_of(Scenario.MISSING_CRITICAL_PARAMETER)[0]
LOOK = Says(calls=(("s__retail_orders__find_customer", {"name": "Nobody"}),))

# It has its own way with them; see below.
OTHERWISE = {"test_an_unknown_tool_is_answered_with_an_error", "test_arguments_that_are_no_object_are_answered_with_an_error"}
# Both suites, with the fixtures below.
SHARED = {name: test for suite in (conformance, matrix) for name, test in vars(suite).items() if name.startswith("test_")}
globals().update({name: test for name, test in SHARED.items() if name not in OTHERWISE})


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    opened = Lab()
    opened.do(opened.pool.warm())
    yield opened
    opened.close()


@pytest.fixture
def setup() -> Setup:
    return SETUP


def claws() -> dict[int, tuple[str, str]]:
    """Command line and environment of every OpenClaw below this process. It renames itself, so it is known by its environment."""
    return {pid: said for pid, said in below(os.getpid()).items() if "OPENCLAW_STATE_DIR=" in said[1]}


def test_its_versions_and_the_patch_are_in_the_evidence(lab: Lab, tmp_path: Path) -> None:
    installed = json.loads((OpenClawInstall().folder / "patched.json").read_text(encoding="utf-8"))
    (rollout, _) = run(SETUP, lab, tmp_path, [PAIR], in_turn(FINE)).rollouts
    assert rollout.harness_version == f"1 (openclaw {installed['openclaw']} patched (1), node {installed['node']})"


def test_settings_and_ids_of_models_arrive_as_they_are(lab: Lab, tmp_path: Path) -> None:
    settings = {"temperature": 0.5, "top_p": 0.9, "max_tokens": 77, "reasoning_effort": "low", "extra_body": {"seed": 3}}
    ran = run(SETUP, lab, tmp_path, [PAIR], in_turn(FINE), settings=settings, model="Vendor/some.Model:1")
    for seen in ran.seen:
        assert seen.model == "Vendor/some.Model:1"
        rest = {name: value for name, value in seen.settings.items() if name not in ("stream", "stream_options")}
        assert rest == {"temperature": 0.5, "top_p": 0.9, "max_tokens": 77, "reasoning_effort": "low", "seed": 3}


def test_an_unknown_tool_is_hidden_from_the_model_until_it_gives_up(lab: Lab, tmp_path: Path) -> None:
    """It asks the same again, ten times, and then answers in its own words, which are no answer of the model."""
    says = Says(calls=(("s__retail_orders__sing", {"a": 1}),))
    ran = run(SETUP, lab, tmp_path, [SPOKEN], only_act(SPOKEN, in_turn(says), in_turn(FINE)))
    assert [rollout.error_kind for rollout in ran.rollouts] == ["runtime_error", None]
    assert "isn't available" in ran.act.error_message and ran.act.usage.requests == 11 and ran.act.final_text == ""


def test_arguments_that_are_no_object_are_refused_in_its_own_words(lab: Lab, tmp_path: Path) -> None:
    ran = run(SETUP, lab, tmp_path, [PAIR], in_turn(Says(calls=((LOOK.calls[0][0], "[1, 2]"),)), FINE))
    assert ran.act.usable and ran.act.calls == ()
    assert ran.seen[1].results[0][1].startswith("Validation failed for tool")


def test_no_process_gets_to_know_the_key_or_the_environment(lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENCLAW_HOME", "OPENCLAW_PROXY_URL", "HTTPS_PROXY", "NODE_OPTIONS"):
        monkeypatch.setenv(name, "decoy")
    processes: list[tuple[str, str]] = []
    programs: list[tuple[str, str]] = []

    def script(seen: Seen) -> Turn:
        processes.extend(below(os.getpid()).values())
        programs.extend(claws().values())
        return FINE

    ran = run(SETUP, lab, tmp_path, [PAIR], script)
    assert ran.act.usable and len(programs) == 2
    assert not [command for command, environ in processes if KEY in command + environ]
    for command, environ in programs:
        variables = dict(item.split("=", 1) for item in environ.split("\0") if item)
        assert "decoy" not in environ and KEY_VARIABLE not in variables
        assert not {"USER", "LOGNAME", "HOSTNAME", "SHELL"} & variables.keys()
        folder = Path(variables["HOME"]).parent
        assert not folder.exists() and folder not in (PROJECT, *PROJECT.parents)
        assert PAIR.act.system_prompt not in command


def test_a_cancelled_run_leaves_nothing(lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    before = set(below(os.getpid()))

    async def main(server: ModelServer, delay: float | None) -> None:
        harness = open_harness(SETUP.spec(server, api_key_env=None), retry=FAST)
        assert harness.foreign
        async with lab.pool.command(PAIR.act.mount, PAIR.act.states) as sandbox:
            running = asyncio.create_task(harness.run(ForeignRequest(foreign_view(PAIR.act), sandbox.command, Trace(Budget()))))
            if delay is None:
                while not server.asked:
                    await asyncio.sleep(0.1)
            else:
                await asyncio.wait({running}, timeout=delay)
            running.cancel()
            await asyncio.wait({running})
            assert running.cancelled() and not claws()
        await harness.close()

    for delay in (0.0, 0.02, 2.0, None):
        with ModelServer(Chat(), in_turn(Broken("slow", 30))) as server:
            lab.do(main(server, delay))
    assert wait_until(lambda: not set(below(os.getpid())) - before)
    assert not list(Path(tempfile.gettempdir()).glob("agent-*"))


def test_one_that_falls_silent_or_is_killed_is_a_runtime_error(lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for sent, said in ((signal.SIGSTOP, "did nothing for 45 s"), (signal.SIGKILL, "ended")):
        monkeypatch.setattr(openclaw, "SILENCE_SECONDS", 45.0)
        hit: list[int] = []

        def script(seen: Seen, sent: signal.Signals = sent, hit: list[int] = hit) -> Turn:
            for pid in claws():
                os.kill(pid, sent)
                hit.append(pid)
            return LOOK

        ran = run(SETUP, lab, tmp_path / sent.name, [SPOKEN], only_act(SPOKEN, script, in_turn(FINE)))
        assert [rollout.error_kind for rollout in ran.rollouts] == ["runtime_error", None]
        assert said in ran.act.error_message and hit and all(map(gone, hit))


def test_runs_side_by_side_do_not_mix(lab: Lab, tmp_path: Path) -> None:
    def script(seen: Seen) -> Turn:
        return LOOK if not seen.replies else Says(f"Read: {seen.user[0]}")

    ran = run(SETUP, lab, tmp_path, all_pairs()[:2], script, concurrency=4)
    assert len(ran.rollouts) == 4 and all(rollout.usable for rollout in ran.rollouts)
    for rollout in ran.rollouts:
        assert rollout.final_text == f"Read: {rollout.messages[1].content}"
        assert (rollout.turns, len(rollout.calls), rollout.usage.requests) == (2, 1, 2)


def test_it_asks_nobody_but_its_endpoint(tmp_path: Path) -> None:
    command = ["unshare", "-rn", sys.executable, "-m", "tests.loopback", "watch", str(tmp_path), SETUP.id]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, timeout=250, check=False)
    assert done.returncode == 0, done.stderr
    outcomes = {name: Outcome(**outcome) for name, outcome in json.loads(done.stdout).items()}
    assert outcomes.pop("control").attempts
    assert outcomes == {SETUP.id: Outcome(), "afterwards": Outcome()}


def test_without_an_install_the_script_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with ModelServer(Chat(), in_turn(FINE)) as server, tempfile.TemporaryDirectory() as folder:
        monkeypatch.setenv(FOLDER_VARIABLE, folder)
        with pytest.raises(BadInput, match=r"openclaw needs a patched OpenClaw.*run `scripts/install-openclaw\.sh`"):
            open_harness(SETUP.spec(server, api_key_env=None))
