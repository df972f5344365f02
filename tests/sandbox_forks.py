"""A real zygote with a hostile environment in it.

Shipped code has no way to load such an environment, so the test process itself, after it installed one in its own registry, is
forked and becomes the zygote. Everything behind that is the real thing: forking, isolation, serving, the pool.
"""

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from environments.runtime import registry
from environments.runtime.isolation import library_files, prepare
from environments.runtime.records import JsonObject, Mount
from environments.runtime.zygote import READY, Zygote
from resources.sandbox import SandboxPool
from resources.zygote_process import ZygoteProcess
from tests import toy

BROKEN: dict[str, str] = {}
MOUNT = Mount(environments=("library",))
READ_DESK = "library__read_desk"
HOSTILE = (
    ("from datetime import date\n", "from datetime import date\n\nfrom tests.sandbox_attempts import perform\n"),
    (
        "return DeskSign(is_open=self.state.desk.is_open, message=self.state.desk.message)",
        "return DeskSign(is_open=self.state.desk.is_open, message=perform(self.state.desk.message))",
    ),
)


class _Forked:
    """A forked process with the part of `subprocess.Popen` that `ZygoteProcess` uses."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None

    def poll(self) -> int | None:
        if self.returncode is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        assert wait_until(lambda: self.poll() is not None, timeout or 60)
        return self.returncode or 0

    def kill(self) -> None:
        os.kill(self.pid, 9)


def hostile_pool(monkeypatch: pytest.MonkeyPatch, folder: Path, **options: float) -> SandboxPool:
    """A pool over a zygote that has only the spoiled library; `read_desk` performs what the sign says.

    To be called inside a running event loop.
    """
    toy.install(monkeypatch, folder, HOSTILE)
    registry.load("library")
    pool = SandboxPool(**options)
    pool._zygote = _fork_zygote()
    return pool


def states(message: str = "Welcome.") -> dict[str, JsonObject]:
    """A state of the library whose sign says something."""
    state = registry.load("library").example_state().dump()
    state["desk"]["message"] = message
    return {"library": state}


def _fork_zygote() -> ZygoteProcess:
    path = Path(tempfile.mkdtemp(prefix="sandbox-")) / "zygote.sock"
    owner, theirs = socket.socketpair()
    pid = os.fork()
    if pid == 0:
        try:
            os.dup2(theirs.fileno(), 0)
            os.closerange(3, 1024)
            listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            listener.bind(str(path))
            listener.listen(128)
            os.write(0, READY)
            Zygote(listener, BROKEN, prepare(library_files())).run()
        finally:
            shutil.rmtree(path.parent, ignore_errors=True)
            os._exit(0)
    theirs.close()
    assert owner.recv(64) == READY
    return ZygoteProcess(cast("subprocess.Popen[bytes]", _Forked(pid)), owner, path)


def gone(*pids: int) -> bool:
    """Whether no process has any of these ids (one that is dead but not yet waited for by its parent counts as gone)."""

    def dead(pid: int) -> bool:
        try:
            return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] in "ZX"
        except (FileNotFoundError, ProcessLookupError):
            return True

    return all(dead(pid) for pid in pids)


def wait_until(condition: Callable[[], Any], seconds: float = 10.0) -> bool:
    """Wait for something that happens soon; whether it did."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.01)
    return False
