"""The llama.cpp server as a process: what it shows, what it is given, and that it never outlives whoever started it."""

import asyncio
import hashlib
import os
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import httpx2
import pytest

from resources.local_server import LocalServer, LocalServerError
from resources.settings import PROJECT
from resources.weights import SMOLLM2_135M, PinnedWeights, unpacked
from resources.wheels import WheelUnavailable
from tests.local_models import command_lines, real_weights
from tests.seed_wheels import pinned, write_wheel

SECRET = "sk-canary-server-environment"


def start(weights: Path) -> LocalServer:
    return asyncio.run(LocalServer.start(weights, context=512))


@pytest.fixture(scope="module")
def server() -> Iterator[LocalServer]:
    weights = real_weights()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_API_KEY", SECRET)
        running = start(weights)
    yield running
    running.close()


def ask(server: LocalServer, key: str | None) -> httpx2.Response:
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    body = {"messages": [{"role": "user", "content": "Say yes."}], "max_tokens": 4, "temperature": 0}
    return httpx2.post(f"{server.url}/chat/completions", json=body, headers=headers, timeout=60)


def test_it_is_ready_when_started_and_answers_whoever_has_the_key(server: LocalServer) -> None:
    answers = [ask(server, server.key) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [200, 200], answers[0].text
    first, second = (answer.json()["choices"][0]["message"]["content"] for answer in answers)
    assert first == second != ""
    assert [ask(server, key).status_code for key in (None, "another key")] == [401, 401]


def test_it_listens_on_loopback_only(server: LocalServer) -> None:
    assert server.url.startswith("http://127.0.0.1:")
    port = int(server.url.removesuffix("/v1").rpartition(":")[2])
    lines = [line.split() for line in Path("/proc/net/tcp").read_text(encoding="utf-8").splitlines()[1:]]
    assert [line[1] for line in lines if line[3] == "0A" and line[1].endswith(f":{port:04X}")] == [f"0100007F:{port:04X}"]
    everywhere = Path("/proc/net/tcp6").read_text(encoding="utf-8") if Path("/proc/net/tcp6").exists() else ""
    assert f":{port:04X} " not in everywhere


def test_its_arguments_and_its_environment_hold_no_secret(server: LocalServer) -> None:
    assert not [pid for pid, line in command_lines().items() if server.key in line]
    environment = Path(f"/proc/{server.pid}/environ").read_text(encoding="utf-8").strip("\0").split("\0")
    assert sorted(environment) == ["LANG=C.UTF-8", "TZ=UTC"]


def test_closing_ends_it_and_frees_its_port() -> None:
    server = start(real_weights())
    assert server.alive
    server.close()
    assert not server.alive and not Path(f"/proc/{server.pid}").exists()
    with pytest.raises(httpx2.ConnectError):
        ask(server, server.key)


@pytest.mark.parametrize("content", [b"", b"GGUF no weights at all"])
def test_weights_that_cannot_be_loaded_are_named_and_leave_no_process(tmp_path: Path, content: bytes) -> None:
    pytest.importorskip("xllamacpp")
    damaged = tmp_path / "damaged.gguf"
    damaged.write_bytes(content)
    before = children()
    with pytest.raises(LocalServerError, match=r"it ended with exit code 1, and said: .*damaged\.gguf"):
        start(damaged)
    assert children() == before


def children() -> set[str]:
    """Processes that this one has started."""
    texts = [path.read_text(encoding="utf-8") for path in Path("/proc/self/task").glob("*/children")]
    return {pid for text in texts for pid in text.split()}


OWNER = """
import asyncio, sys, time
from pathlib import Path
from resources.local_server import LocalServer

server = asyncio.run(LocalServer.start(Path(sys.argv[1]), context=512))
print(server.pid, flush=True)
time.sleep(60)
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_it_does_not_outlive_the_process_that_started_it(number: signal.Signals) -> None:
    command = [sys.executable, "-c", OWNER, str(real_weights())]
    with subprocess.Popen(command, cwd=PROJECT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as owner:
        assert owner.stdout is not None
        server = Path(f"/proc/{int(owner.stdout.readline())}")
        assert "local_server_child" in (server / "cmdline").read_text(encoding="utf-8")
        owner.send_signal(number)
        owner.wait(10)
    limit = time.monotonic() + 10
    while server.exists() and time.monotonic() < limit:
        time.sleep(0.05)
    assert not server.exists()


def test_a_server_that_was_killed_says_so() -> None:
    server = start(real_weights())
    os.kill(server.pid, signal.SIGKILL)
    assert "was killed by SIGKILL" in server.ending() and not server.alive
    server.close()


# --- weights --------------------------------------------------------------------------------------------------------------


def small(cache: Path, content: bytes = b"GGUF" * 1000) -> PinnedWeights:
    """Weights as if these bytes were published, in a wheel that is in the cache."""
    wheel = write_wheel(cache / SMOLLM2_135M.wheel.file, {SMOLLM2_135M.member: content})
    return replace(SMOLLM2_135M, wheel=pinned(SMOLLM2_135M.wheel, wheel), sha256=hashlib.sha256(content).hexdigest())


def test_weights_are_taken_out_once_and_mended_when_damaged(tmp_path: Path) -> None:
    weights = small(tmp_path)
    file = unpacked(weights, tmp_path)
    assert file.read_bytes() == b"GGUF" * 1000
    inode = file.stat().st_ino
    assert unpacked(weights, tmp_path).stat().st_ino == inode
    for damage in (b"GGUF" * 999, b"GGUX" * 1000):
        file.write_bytes(damage)
        assert unpacked(weights, tmp_path).read_bytes() == b"GGUF" * 1000
    (tmp_path / weights.wheel.file).unlink()
    assert unpacked(weights, tmp_path) == file, "the wheel is not needed any more"
    assert {path.name for path in tmp_path.iterdir() if path.suffix != ".lock"} == {file.name}


def test_other_weights_than_the_pinned_ones_are_refused(tmp_path: Path) -> None:
    weights = replace(small(tmp_path), sha256="0" * 64)
    with pytest.raises(WheelUnavailable, match="is not the pinned file"):
        unpacked(weights, tmp_path)
    assert not (tmp_path / Path(weights.member).name).exists()


def test_the_pinned_wheel_holds_the_pinned_weights() -> None:
    weights = real_weights()
    assert hashlib.sha256(weights.read_bytes()).hexdigest() == SMOLLM2_135M.sha256
    archive = weights.parent / SMOLLM2_135M.wheel.file
    if archive.exists():
        with zipfile.ZipFile(archive) as opened:
            assert opened.getinfo(SMOLLM2_135M.member).file_size == weights.stat().st_size
