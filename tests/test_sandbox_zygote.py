"""The warm process: what it holds, whom it answers, and that nothing outlives anything."""

import array
import asyncio
import json
import os
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from environments.runtime import registry
from environments.runtime.records import Mount
from environments.runtime.zygote import CLAIM, OFFER, RUN, STOP, TOKEN_BYTES
from resources.sandbox import SandboxDied, SandboxPool
from resources.zygote_process import ZygoteError, ZygoteProcess, _import_path
from tests.sandbox_forks import MOUNT, READ_DESK, gone, hostile_pool, states, wait_until

PROJECT = Path(registry.ROOT).parent
NAME = registry.names()[0]
STATES = {NAME: registry.load(NAME).example_state().dump()}


@contextmanager
def running() -> Iterator[ZygoteProcess]:
    zygote = asyncio.run(ZygoteProcess.start())
    try:
        yield zygote
    finally:
        zygote.close()


@pytest.fixture(scope="module")
def zygote() -> Iterator[ZygoteProcess]:
    with running() as process:
        yield process


def raw_request(path: Path, header: bytes, descriptors: int = 0) -> bytes:
    """What the zygote answers to these bytes with this many descriptors."""
    with closing(socket.socket(socket.AF_UNIX)) as connection:
        connection.settimeout(5)
        connection.connect(str(path))
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [2] * descriptors))] if descriptors else []
        connection.sendmsg([header], rights)
        return connection.recv(4096)


def test_zygote_starts_clean(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret-value")
    monkeypatch.setenv("PYTHONPATH", "/somewhere")
    with running() as zygote:
        proc = Path(f"/proc/{zygote.pid}")
        assert (proc / "environ").read_bytes().split(b"\0")[:-1] == [b"TZ=UTC", b"LANG=C.UTF-8"]
        assert (proc / "cwd").readlink() == Path("/")
        assert [task.name for task in (proc / "task").iterdir()] == [str(zygote.pid)]
        libraries = (proc / "maps").read_text(encoding="utf-8")
        assert "pydantic_core" in libraries and not any(word in libraries for word in ("duckdb", "polars", "numpy"))
        assert stat.S_IMODE(zygote.path.parent.stat().st_mode) == 0o700
        assert os.getsid(zygote.pid) == zygote.pid


def test_zygote_imports_the_runtime_and_environments_only() -> None:
    script = (
        "import sys, json; sys.path += json.loads(sys.argv[1]); from environments.runtime import zygote; "
        "assert zygote._import_environments() == {}; zygote._warm_up(); print(json.dumps(sorted(sys.modules)))"
    )
    command = [sys.executable, "-I", "-S", "-c", script, json.dumps(_import_path())]
    modules = set(json.loads(subprocess.run(command, check=True, capture_output=True, cwd="/").stdout))
    assert {f"environments.{name}.environment" for name in registry.names()} <= modules
    unwanted = {"dagster", "duckdb", "polars", "abstain_assets", "resources", "openai", "anthropic", "matplotlib", "numpy", "site"}
    assert not unwanted & modules
    assert not [name for name in modules if name.startswith("environments.") and name.endswith("families")]


def test_one_broken_environment_does_not_stop_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    from environments.runtime.zygote import _import_environments

    load = registry.load

    def failing(name: str) -> object:
        if name == NAME:
            raise SyntaxError("invalid syntax")
        return load(name)

    monkeypatch.setattr(registry, "load", failing)
    assert _import_environments() == {NAME: "SyntaxError: invalid syntax"}


def test_start_failure_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    # The path of a Unix socket is limited to 107 bytes.
    deep = tmp_path / ("d" * 100)
    deep.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(deep))
    with pytest.raises(ZygoteError, match="did not start: OSError: AF_UNIX path too long"):
        asyncio.run(ZygoteProcess.start())
    assert list(deep.iterdir()) == []


@pytest.mark.skipif(os.getuid() != 0, reason="only root can act as another user")
def test_other_users_are_not_answered() -> None:
    with running() as zygote:
        # Opened on purpose: the check of the peer must hold without the private folder.
        zygote.path.parent.chmod(0o711)
        zygote.path.chmod(0o777)
        reading, writing = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.setgid(65534)
            os.setuid(65534)
            try:
                os.write(writing, b"answer:" + raw_request(zygote.path, STOP + b"0" * TOKEN_BYTES))
            except OSError as error:
                os.write(writing, repr(error).encode())
            os._exit(0)
        os.waitpid(pid, 0)
        assert b"nothing" not in os.read(reading, 4096)
        assert b"nothing runs under this token" in raw_request(zygote.path, STOP + b"0" * TOKEN_BYTES)
        os.close(reading)
        os.close(writing)


@pytest.mark.parametrize(
    ("header", "descriptors"),
    [
        (b"R", 3),
        (b"X" + b"0" * TOKEN_BYTES, 0),
        (RUN + b"0" * TOKEN_BYTES, 0),
        (RUN + b"0" * TOKEN_BYTES, 2),
        (OFFER + b"0" * TOKEN_BYTES, 3),
        (CLAIM + b"0" * TOKEN_BYTES, 0),
        (b"GET / HTTP/1.1\r\n\r\n", 0),
    ],
)
def test_malformed_requests_get_one_error_and_harm_nobody(header: bytes, descriptors: int, zygote: ZygoteProcess) -> None:
    def open_descriptors() -> int:
        return len(list(Path(f"/proc/{zygote.pid}/fd").iterdir()))

    raw_request(zygote.path, b"first")
    before = open_descriptors()
    with closing(socket.socket(socket.AF_UNIX)) as silent:
        silent.connect(str(zygote.path))
        for _ in range(10):
            assert json.loads(raw_request(zygote.path, header, descriptors)) == {"error": "the request is malformed"}
    assert wait_until(lambda: open_descriptors() <= before)
    assert zygote.alive


def test_unknown_tokens_are_refused(zygote: ZygoteProcess) -> None:
    for header, descriptors, said in (
        (CLAIM, 2, "nothing is offered under this token"),
        (STOP, 0, "nothing runs under this token"),
    ):
        assert json.loads(raw_request(zygote.path, header + b"0" * TOKEN_BYTES, descriptors)) == {"error": said}


def test_a_request_that_never_comes_holds_up_nobody_and_dies_with_its_connection() -> None:
    async def main() -> None:
        async with SandboxPool() as pool:
            zygote = await pool.warm()
            reading, writing = os.pipe()
            link = await zygote.request(RUN, b"0" * TOKEN_BYTES, (reading, writing, writing))
            pid = await link.expect("pid")
            async with pool.open(Mount(environments=(NAME,)), STATES) as session:
                await session.finish()
            assert not gone(pid)
            link.close()
            assert wait_until(lambda: gone(pid))
            os.close(reading)
            os.close(writing)

    asyncio.run(main())


def test_killed_zygote_takes_its_sandboxes_and_is_replaced(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    async def main() -> None:
        async with hostile_pool(monkeypatch, tmp_path) as pool:
            zygote = await pool.warm()
            async with pool.open(MOUNT, states()) as idle, pool.open(MOUNT, states("sleep_deaf 60")) as busy:
                await idle.call("library__find_books", {})
                asking = asyncio.create_task(busy.call(READ_DESK, {}))
                await asyncio.sleep(0.1)
                os.kill(zygote.pid, signal.SIGKILL)
                with pytest.raises(SandboxDied, match="the zygote ended"):
                    await asking
                with pytest.raises(SandboxDied, match="the zygote ended"):
                    await idle.finish()
                assert len(idle.calls) == 1
                assert wait_until(lambda: gone(idle.pid, busy.pid))
            async with pool.open(Mount(environments=(NAME,)), STATES) as session:
                assert (await session.finish()).final_state == STATES
            assert (await pool.warm()).pid != zygote.pid
            assert not zygote.path.parent.exists()

    asyncio.run(main())


RUNNER = f"""
import asyncio, json, sys
from environments.runtime import registry
from environments.runtime.records import Mount
from resources.sandbox import SandboxPool

async def main():
    mount, states = Mount(environments=({NAME!r},)), {{{NAME!r}: registry.load({NAME!r}).example_state().dump()}}
    async with SandboxPool() as pool:
        zygote = await pool.warm()
        async with pool.open(mount, states) as one, pool.open(mount, states) as two, pool.command(mount, states):
            print(json.dumps([str(zygote.path), zygote.pid, one.pid, two.pid]), flush=True)
            await asyncio.sleep(60)

asyncio.run(main())
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_nothing_outlives_the_runner(number: signal.Signals) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", RUNNER], cwd=PROJECT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    ) as runner:
        assert runner.stdout is not None
        path, *pids = json.loads(runner.stdout.readline())
        assert len(pids) == 3 and not any(gone(pid) for pid in pids)
        os.killpg(runner.pid, number)
        runner.wait(timeout=20)
        assert wait_until(lambda: gone(*pids))
        assert wait_until(lambda: not Path(path).parent.exists())


EARLY_DEATH = """
import asyncio, os, subprocess
from resources.zygote_process import ZygoteProcess

class Fatal(subprocess.Popen):
    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        print(self.pid, flush=True)
        os.kill(os.getpid(), 9)

subprocess.Popen = Fatal
asyncio.run(ZygoteProcess.start())
"""


def test_a_runner_that_dies_early_leaves_no_zygote() -> None:
    ended = subprocess.run([sys.executable, "-c", EARLY_DEATH], cwd=PROJECT, stdout=subprocess.PIPE, check=False)
    assert ended.returncode == -signal.SIGKILL
    assert wait_until(lambda: gone(int(ended.stdout)), seconds=30)
