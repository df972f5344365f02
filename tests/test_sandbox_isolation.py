"""Every way out that hostile environment code could try, tried inside a real sandbox."""

import asyncio
import json
import os
import platform
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import AsyncExitStack, closing
from pathlib import Path

import pytest

import environments
from environments.runtime import landlock, seccomp
from environments.runtime.isolation import Limits, isolate, library_files, prepare
from resources.sandbox import SandboxDied
from tests.sandbox_attempts import DENIED, perform
from tests.sandbox_forks import MOUNT, READ_DESK, gone, hostile_pool, states, wait_until

PROJECT = Path(environments.__file__).parent.parent
# Standard streams, evidence, and what its event loop waits with: a poller and a pair of sockets to itself.
OWN_DESCRIPTORS = "got [0, 1, 2, 3, 4, 6, 7]"


def attempt(monkeypatch: pytest.MonkeyPatch, folder: Path, *messages: str) -> list[str]:
    """What came of each attempt, all in one zygote, each in a sandbox of its own."""

    async def main() -> list[str]:
        async with hostile_pool(monkeypatch, folder / "installed") as pool:
            said = []
            for message in messages:
                async with pool.open(MOUNT, states(message), require_full=True) as session:
                    said.append((await session.call(READ_DESK, {})).structured["message"])
                    evidence = await session.finish()
                    assert evidence.isolation == ()
            return said

    return asyncio.run(main())


@pytest.fixture
def bystander() -> Iterator[subprocess.Popen[bytes]]:
    """Another process of the same user, with a secret in its environment."""
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], env={"API_KEY": "secret-value"}) as process:
        yield process
        process.kill()


@pytest.mark.parametrize("name", sorted(name for name, attempt in DENIED.items() if attempt.__code__.co_varnames[0] == "argument"))
def test_attempt_without_target_is_denied(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert attempt(monkeypatch, tmp_path, name)[0].startswith("denied: ")


def test_raw_calls_are_denied_by_the_filter(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    # With the arguments they have here, these would fail without a filter too, but for another reason.
    names = ("clone_three", "shared_ring", "load_program", "old_numbers", "send_descriptor", f"read_memory {os.getpid()}")
    said = attempt(monkeypatch, tmp_path, *names)
    assert all("[Errno 1] " in text for text in said), said


@pytest.mark.parametrize("name", sorted(name for name, attempt in DENIED.items() if attempt.__code__.co_varnames[0] == "pid"))
def test_other_processes_are_out_of_reach(
    name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, bystander: subprocess.Popen[bytes]
) -> None:
    runner, other = attempt(monkeypatch, tmp_path, f"{name} {os.getpid()}", f"{name} {bystander.pid}")
    assert runner.startswith("denied: ") and other.startswith("denied: ")
    assert bystander.poll() is None


def test_attempts_on_processes_work_outside_a_sandbox(bystander: subprocess.Popen[bytes]) -> None:
    # Otherwise the tests above would prove nothing.
    assert "secret-value" in perform(f"read_environ {bystander.pid}")
    for name in ("probe", "reprioritise", "pin", "read_command_line", "trace"):
        assert perform(f"{name} {bystander.pid}").startswith("got "), name
    assert perform(f"kill {bystander.pid}").startswith("got ")
    assert bystander.wait() == -signal.SIGKILL


def test_zygote_is_out_of_reach(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    async def main() -> None:
        async with hostile_pool(monkeypatch, tmp_path / "installed") as pool:
            zygote = await pool.warm()
            for message in (
                f"kill {zygote.pid}",
                f"read_environ {zygote.pid}",
                f"trace {zygote.pid}",
                f"connect_unix {zygote.path}",
            ):
                async with pool.open(MOUNT, states(message)) as session:
                    assert (await session.call(READ_DESK, {})).structured["message"].startswith("denied: ")
            assert zygote.alive

    asyncio.run(main())


FILE_ATTEMPTS = sorted(name for name, attempt in DENIED.items() if attempt.__code__.co_varnames[0] == "path" and "unix" not in name)


@pytest.mark.parametrize("name", FILE_ATTEMPTS)
def test_files_are_out_of_reach(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    secrets = tmp_path / ".env"
    secrets.write_text("API_KEY=secret-value\n", encoding="utf-8")
    before = (secrets.read_bytes(), secrets.stat().st_mode, secrets.stat().st_mtime, secrets.stat().st_uid)
    said = attempt(monkeypatch, tmp_path, f"{name} {secrets}", f"{name} {tmp_path}")
    assert all(text.startswith("denied: ") for text in said), said
    assert before == (secrets.read_bytes(), secrets.stat().st_mode, secrets.stat().st_mtime, secrets.stat().st_uid)
    assert sorted(path.name for path in tmp_path.iterdir()) == [".env", "installed"]
    assert not Path("/tmp/left-behind").exists() and not Path("/dev/shm/copy").exists()


@pytest.mark.parametrize(
    "path",
    [
        PROJECT / "pyproject.toml",
        PROJECT / "abstain_assets" / "taxonomy.py",
        PROJECT / "environments" / "runtime" / "vocabulary.py",
        Path(__file__),
        Path("/etc/passwd"),
        Path("/proc/self/environ"),
        Path("/proc/self/maps"),
        Path("/proc/1/cmdline"),
        Path("/dev/urandom"),
    ],
    ids=lambda path: path.name,
)
def test_project_and_system_files_cannot_be_read(path: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert path.exists()
    assert attempt(monkeypatch, tmp_path, f"read_file {path}")[0].startswith("denied: ")


@pytest.mark.parametrize("folder", [PROJECT, PROJECT / "environments", Path.home(), Path("/"), Path("/proc")], ids=str)
def test_folders_cannot_be_listed(folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert attempt(monkeypatch, tmp_path, f"list_folder {folder}")[0].startswith("denied: ")


def test_sockets_are_out_of_reach(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with (
        closing(socket.create_server(("127.0.0.1", 0))) as tcp,
        closing(socket.socket(socket.AF_UNIX)) as unix,
        closing(socket.socket(socket.AF_UNIX)) as abstract,
    ):
        unix.bind(str(tmp_path / "s"))
        unix.listen()
        abstract.bind(f"\0sandbox-test-{os.getpid()}")
        abstract.listen()
        port = tcp.getsockname()[1]
        messages = [
            f"connect_tcp {port}",
            f"send_udp {port}",
            "resolve localhost",
            f"connect_unix {tmp_path / 's'}",
            f"connect_abstract sandbox-test-{os.getpid()}",
        ]
        assert [perform(message)[:4] for message in messages] == ["got "] * len(messages)
        assert all(said.startswith("denied: ") for said in attempt(monkeypatch, tmp_path, *messages))


def test_only_its_own_descriptors_are_open(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    leak = os.open(tmp_path, os.O_RDONLY)
    os.set_inheritable(leak, True)
    assert attempt(monkeypatch, tmp_path, "descriptors") == [OWN_DESCRIPTORS]
    os.close(leak)


def test_sandboxes_do_not_inherit_from_each_other(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    async def main() -> None:
        async with hostile_pool(monkeypatch, tmp_path) as pool, AsyncExitStack() as stack:
            sessions = [await stack.enter_async_context(pool.open(MOUNT, states("descriptors"))) for _ in range(4)]
            for session in sessions:
                assert (await session.call(READ_DESK, {})).structured["message"] == OWN_DESCRIPTORS

    asyncio.run(main())


def test_late_imports_of_libraries_work(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert attempt(monkeypatch, tmp_path, "import_late chunk", "import_late _strptime") == ["got 'chunk'", "got '_strptime'"]


def test_memory_is_limited(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    said = attempt(monkeypatch, tmp_path, "take_memory 16", "take_memory 2048", "map_memory 2048")
    assert said[0] == f"got {16 << 20}" and said[1] == "got 'no memory'" and said[2].startswith("denied: ")


@pytest.mark.parametrize(("name", "expected"), [("burn", signal.SIGXCPU), ("burn_stubbornly", signal.SIGKILL)])
def test_processor_time_is_limited(name: str, expected: signal.Signals) -> None:
    pid = os.fork()
    if pid == 0:
        isolate(prepare(library_files()), Limits(cpu_seconds=1, memory_bytes=8 << 30))
        perform(f"{name} 30")
        os._exit(0)
    _, status = os.waitpid(pid, 0)
    assert os.waitstatus_to_exitcode(status) == -expected


def test_a_sandbox_ends_with_its_parent() -> None:
    reading, writing = os.pipe()
    parent = os.fork()
    if parent == 0:
        pid = os.fork()
        if pid == 0:
            isolate(prepare(library_files()), Limits(memory_bytes=8 << 30))
            os.write(writing, b".")
            perform("sleep 60")
            os._exit(0)
        os.write(writing, str(pid).encode().rjust(8))
        perform("sleep 60")
        os._exit(0)
    said = b""
    while len(said) < 9:
        said += os.read(reading, 16)
    os.kill(parent, signal.SIGKILL)
    os.waitpid(parent, 0)
    assert wait_until(lambda: gone(int(said.replace(b".", b""))))
    os.close(reading)
    os.close(writing)


def test_what_the_platform_lacks_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        monkeypatch.setattr(landlock, "version", lambda: 0)
        monkeypatch.setattr(platform, "machine", lambda: "riscv64")
        level = isolate(prepare(library_files()), Limits(memory_bytes=8 << 30))
        os.write(writing, json.dumps([level.missing, level.full]).encode())
        os._exit(0)
    os.waitpid(pid, 0)
    missing, full = json.loads(os.read(reading, 4096))
    assert not full
    assert missing == [
        ["landlock", "[Errno 38] Landlock 3 is needed, the kernel has 0"],
        ["seccomp", "[Errno 38] no system-call filter for riscv64"],
    ]
    os.close(reading)
    os.close(writing)


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_filter_is_well_formed(machine: str) -> None:
    code = seccomp.program(machine, 4711)
    steps = [code[index : index + 8] for index in range(0, len(code), 8)]
    assert len(steps) < 4096
    for index, step in enumerate(steps):
        kind, yes, no = int.from_bytes(step[:2], "little"), step[2], step[3]
        if kind & 0x07 == 0x05:
            assert index + 1 + max(yes, no) < len(steps)
    assert int.from_bytes(steps[-1][4:], "little") == 0x00050001


def test_hostile_ends_are_reported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    async def main() -> None:
        async with hostile_pool(monkeypatch, tmp_path) as pool:
            for message, reason in [
                ("end 7", "it ended with status 7"),
                ('forge_evidence ["call", {}]', "its evidence cannot be read"),
                ("forge_evidence {", "its evidence cannot be read"),
                ('forge_evidence ["state", "none"]', "its evidence cannot be read"),
                ('forge_evidence ["isolation", []]', "its evidence cannot be read"),
                ('forge_evidence ["state", {}]', "its evidence cannot be read"),
                ('forge_evidence ["refused", {"error": "SystemExit", "message": ""}]', "its evidence cannot be read"),
            ]:
                with pytest.raises(SandboxDied, match=reason):
                    async with pool.open(MOUNT, states(message)) as session:
                        await session.call(READ_DESK, {})
                        await session.finish()

    asyncio.run(main())
