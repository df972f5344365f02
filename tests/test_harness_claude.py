"""What is special about the Claude Agent SDK and its CLI: what they get to know, and that they end."""

import asyncio
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from abstain_assets.rollouts.view import foreign_view
from abstain_assets.taxonomy import Scenario
from environments.runtime import registry
from environments.runtime.records import Mount
from resources.harness import open_harness
from resources.harness.base import Budget, ForeignRequest, Trace
from resources.settings import PROJECT
from tests.builders_rollouts import FAST, KEY, Lab, all_pairs, pairs_of
from tests.harnesses import KEY_VARIABLE, SETUPS, only_act, run
from tests.sandbox_forks import gone, wait_until
from tests.servers.dialects import FINE, Broken, ModelServer, Says, Seen, Turn, in_turn
from tests.servers.messages import Messages

claude_agent = pytest.importorskip("resources.harness.claude_agent", reason="claude-agent-sdk is not installed: make extras")

SETUP = next(setup for setup in SETUPS if setup.id == "claude_agent")
PAIR = pairs_of(Scenario.CRITICAL_TOOL_FAILURE)[0]
SPOKEN = pairs_of(Scenario.MISSING_CRITICAL_PARAMETER)[0]
FIND = "mcp__s__retail_orders__find_customer"
LOOK = Says(calls=((FIND, {"name": "Nobody"}),))


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    opened = Lab()
    yield opened
    opened.close()


def below(pid: int) -> dict[int, tuple[str, str]]:
    """Command line and environment of every process below one."""
    found: dict[int, tuple[str, str]] = {}
    todo = [pid]
    while todo:
        for path in Path(f"/proc/{todo.pop()}/task").glob("*/children"):
            for child in map(int, path.read_text(encoding="utf-8").split()):
                with suppress(FileNotFoundError, ProcessLookupError):
                    command, environ = (Path(f"/proc/{child}/{name}").read_bytes().decode() for name in ("cmdline", "environ"))
                    found[child] = (command, environ)
                    todo.append(child)
    return found


def test_no_process_gets_to_know_the_key_or_the_environment(lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Variables for the CLI in the outer environment would change what it sends and whom it asks."""
    plain = run(SETUP, lab, tmp_path / "plain", [PAIR], in_turn(FINE)).seen
    outer = {
        "ANTHROPIC_API_KEY": "decoy-1",
        "ANTHROPIC_AUTH_TOKEN": "decoy-2",
        "ANTHROPIC_BASE_URL": "http://127.0.0.1:9/decoy",
        "ANTHROPIC_CUSTOM_HEADERS": "X-Decoy: decoy",
        "ANTHROPIC_MODEL": "decoy-model",
        "CLAUDE_CODE_EXTRA_BODY": '{"decoy": 1}',
        "CLAUDE_CODE_USE_BEDROCK": "1",
        "CLAUDE_CONFIG_DIR": str(tmp_path / "decoy"),
        "HTTPS_PROXY": "http://127.0.0.1:9",
    }
    for name, value in outer.items():
        monkeypatch.setenv(name, value)
    seen_processes: list[tuple[str, str]] = []
    others = below(os.getpid())  # what other tests left to be used again

    def script(seen: Seen) -> Turn:
        if seen.replies:
            seen_processes.extend(process for pid, process in below(os.getpid()).items() if pid not in others)
            return FINE
        return LOOK

    ran = run(SETUP, lab, tmp_path / "outer", [PAIR], script)
    assert ran.act.usable
    cli = [(command, environ) for command, environ in seen_processes if "_bundled/claude" in command]
    assert len(cli) == 2 and len(seen_processes) >= 6  # two runs; each with its zygote, sandbox and connector
    for command, environ in seen_processes:
        assert KEY not in command and KEY not in environ
    for command, environ in cli:
        variables = dict(item.split("=", 1) for item in environ.split("\0") if item)
        assert "decoy" not in environ + command and "HTTPS_PROXY" not in variables and KEY_VARIABLE not in variables
        folder = Path(variables["HOME"]).parent
        assert folder not in (PROJECT, *PROJECT.parents) and not folder.exists()
        assert str(Path.home()) not in (variables["HOME"], variables["CLAUDE_CONFIG_DIR"], variables["PWD"])
        assert not {"USER", "LOGNAME", "HOSTNAME", "SHELL"} & variables.keys()
        assert PAIR.act.system_prompt not in command and PAIR.act.instruction not in command
    assert [request.headers["x-api-key"] for request in ran.asked] == [KEY] * len(ran.asked)
    assert ran.seen[0] == plain[0]
    assert not any("decoy" in json.dumps(request.headers) for request in ran.asked)


def test_the_cli_dies_with_the_process_that_started_it(tmp_path: Path) -> None:
    with ModelServer(Messages(), in_turn(Broken("slow", 60))) as server:
        command = [sys.executable, "-m", "tests.claude_parent", server.url, str(tmp_path)]
        environ = {**os.environ, "TMPDIR": str(tmp_path)}
        with subprocess.Popen(command, cwd=PROJECT, env=environ) as parent:
            assert wait_until(lambda: bool(server.asked), 60)
            children = below(parent.pid)
            (cli,) = (pid for pid, (line, _) in children.items() if "_bundled/claude" in line)
            os.kill(cli, signal.SIGSTOP)  # one that is stuck does not notice by itself
            parent.send_signal(signal.SIGKILL)
        assert wait_until(lambda: all(map(gone, children)))


def test_a_cancelled_run_leaves_nothing(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    before = set(below(os.getpid()))
    seen: list[Path] = []
    folders = Path(tempfile.mkdtemp())  # nobody else's
    monkeypatch.setattr(tempfile, "tempdir", str(folders))

    async def main(server: ModelServer, delay: float) -> None:
        harness = open_harness(SETUP.spec(server, api_key_env=None), retry=FAST)
        assert harness.foreign
        async with lab.pool.command(PAIR.act.mount, PAIR.act.states) as sandbox:
            running = asyncio.create_task(harness.run(ForeignRequest(foreign_view(PAIR.act), sandbox.command, Trace(Budget()))))
            await asyncio.wait({running}, timeout=delay)
            seen.extend(folders.glob("agent-*"))
            running.cancel()
            await asyncio.wait({running})
            assert running.cancelled()
        await harness.close()

    for delay in (0.0, 0.01, 0.1, 0.4, 2.0):
        with ModelServer(Messages(), in_turn(Broken("slow", 30))) as server:
            lab.do(main(server, delay))
    assert wait_until(lambda: len(set(below(os.getpid())) - before) <= 1)  # the zygote may be new
    assert not [line for line, _ in below(os.getpid()).values() if "claude" in line]
    assert seen and not list(folders.glob("agent-*"))
    shutil.rmtree(folders)


def test_a_cli_that_falls_silent_is_a_runtime_error(lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claude_agent, "SILENCE_SECONDS", 4.0)
    stopped: list[int] = []

    def script(seen: Seen) -> Turn:
        for pid, (command, _) in below(os.getpid()).items():
            if "_bundled/claude" in command:
                os.kill(pid, signal.SIGSTOP)
                stopped.append(pid)
        return LOOK

    ran = run(SETUP, lab, tmp_path, [SPOKEN], only_act(SPOKEN, script, in_turn(FINE)))
    assert [rollout.error_kind for rollout in ran.rollouts] == ["runtime_error", None]
    assert "did nothing for 4 s" in ran.act.error_message and ran.act.usage.requests == 1
    assert stopped and all(map(gone, stopped))


def test_a_cli_that_is_killed_is_a_runtime_error(lab: Lab, tmp_path: Path) -> None:
    def script(seen: Seen) -> Turn:
        for pid, (command, _) in below(os.getpid()).items():
            if "_bundled/claude" in command:
                os.kill(pid, signal.SIGKILL)
        return LOOK

    ran = run(SETUP, lab, tmp_path, [PAIR], script)
    assert [rollout.error_kind for rollout in ran.rollouts] == ["runtime_error"] * 2
    assert ran.act.usage.requests == 1 and ran.result.stopped is None


def test_runs_side_by_side_do_not_mix(lab: Lab, tmp_path: Path) -> None:
    pairs = all_pairs()[:3]

    def script(seen: Seen) -> Turn:
        return LOOK if not seen.replies else Says(f"Read: {seen.user[0]}")

    ran = run(SETUP, lab, tmp_path, pairs, script, concurrency=6)
    assert len(ran.rollouts) == 6 and all(rollout.usable for rollout in ran.rollouts)
    for rollout in ran.rollouts:
        assert rollout.final_text == f"Read: {rollout.messages[1].content}"
        assert (rollout.turns, len(rollout.calls), rollout.usage.requests) == (2, 1, 2)


def test_a_hundred_tools_are_all_offered(lab: Lab) -> None:
    """Its CLI would hide them behind a search."""
    names = (
        "filesystem",
        "flight_and_travel_management",
        "consumer_banking",
        "retail_orders",
        "gmail_and_email_records",
        "calendar",
    )
    states = {name: registry.load(name).example_state().dump() for name in names}
    task = PAIR.act.model_copy(update={"mount": Mount(environments=names), "states": states})
    view = foreign_view(task)
    trace = Trace(Budget())

    async def main(server: ModelServer) -> None:
        harness = open_harness(SETUP.spec(server, api_key_env=None), retry=FAST)
        assert harness.foreign
        async with lab.pool.command(task.mount, task.states) as sandbox:
            assert await harness.run(ForeignRequest(view, sandbox.command, trace)) == "Done."
            assert len((await sandbox.finish()).calls) == 1
        await harness.close()

    with ModelServer(Messages(), in_turn(LOOK, FINE)) as server:
        lab.do(main(server))
        offered = server.dialect.seen(server.asked[0]).tools
    assert len(view.tools) > 100
    assert sorted(offered) == sorted((f"mcp__s__{tool.name}", tool.description, tool.input_schema) for tool in view.tools)


def test_a_missing_sdk_names_the_fix() -> None:
    program = """
import sys
sys.modules["claude_agent_sdk"] = None
from resources.harness import open_harness
from resources.models import ModelSpec
open_harness(ModelSpec(name="stub/m", harness="claude_agent", provider="stub", model="m", base_url="http://127.0.0.1:1"))
"""
    ended = subprocess.run([sys.executable, "-c", program], cwd=PROJECT, capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    fix = "run `make extras`, or `pip install 'abstain-assets[claude-agent]'`"
    assert ended.stderr.strip().endswith(f"claude_agent needs claude-agent-sdk, which is not installed: {fix}")
