"""Commands from a warm process: importing Dagster alone takes seconds, and tests start some hundred commands.

The server has imported what commands import and has run nothing. Every command is forked from it: a process of its own, which can
be killed, with the arguments, variables, folder and output it was given, and which runs the same `main` as `abstain` does.
"""

import contextlib
import gc
import importlib
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

ROOT = Path(__file__).parent.parent
_PRELOADED = (
    "abstain_assets.cli",
    "abstain_assets.commands.evaluation",
    "abstain_assets.commands.progress",
    "abstain_assets.pairs.sampling",
    "abstain_assets.project",
    "dagster._core.storage.local_compute_log_manager",
    "dagster._core.storage.root",
    "dagster._core.storage.sqlite_storage",
    "tests.sudden_death",
)


@dataclass(frozen=True)
class Said:
    """What one command did. A command that was killed has the negative number of the signal as its code."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """Standard output as the one JSON document it must be."""
        return json.loads(self.out)


class Running:
    """A command at work."""

    def __init__(self, connection: socket.socket, folder: tempfile.TemporaryDirectory[str]) -> None:
        self._connection = connection
        self._lines = connection.makefile(encoding="utf-8")
        self._folder = folder
        self._code: int | None = None
        self.pid = int(self._lines.readline())

    def send(self, number: signal.Signals) -> None:
        """Send it a signal."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, number)

    def alive(self) -> bool:
        """Whether it still runs."""
        self._connection.settimeout(0)
        try:
            return bool(self._connection.recv(1, socket.MSG_PEEK) == b"never")
        except BlockingIOError:
            return self._code is None
        finally:
            self._connection.settimeout(None)

    def wait(self, timeout: float = 240) -> Said:
        """Wait for its end."""
        self._connection.settimeout(timeout)
        if self._code is None:
            self._code = os.waitstatus_to_exitcode(int(self._lines.readline()))
        folder = Path(self._folder.name)
        out, err = ((folder / name).read_text(encoding="utf-8") for name in ("out", "err"))
        return Said(self._code, out, err)


@dataclass
class Warm:
    """The server. Use it as a context manager.

    Attributes:
        prefix: what starts it, for a server in namespaces of its own.
    """

    prefix: Sequence[str] = ()
    _folder: tempfile.TemporaryDirectory[str] = field(default_factory=tempfile.TemporaryDirectory, init=False)

    def __enter__(self) -> Self:
        command = [*self.prefix, sys.executable, "-m", "tests.warm", self._address]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        self._process = subprocess.Popen(command, cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == b"ready\n", "the warm process did not start"
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(20)
        self._folder.cleanup()

    @property
    def pid(self) -> int:
        """Of the server."""
        return self._process.pid

    def start(
        self,
        *args: object,
        home: Path | None = None,
        cwd: Path = ROOT,
        variables: Mapping[str, str] | None = None,
        before: tuple[str, Mapping[str, Any]] | None = None,
    ) -> Running:
        """Start one command. Of the variables that steer it, only those given and the shared cache reach it.

        Args:
            before: `module:function` and its arguments, called in the new process before the command.
        """
        steering = {name for name in os.environ if name.startswith("ABSTAIN_")} - {"ABSTAIN_CACHE"}
        inherited = {name: value for name, value in os.environ.items() if name not in steering}
        output = tempfile.TemporaryDirectory()
        job = {
            "argv": [*(["--home", str(home)] if home else []), *map(str, args)],
            "cwd": str(cwd),
            "env": {**inherited, "PYTHONPATH": str(ROOT), **(variables or {})},
            "output": output.name,
            "before": before,
        }
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(self._address)
        connection.sendall(json.dumps(job).encode() + b"\n")
        return Running(connection, output)

    @property
    def _address(self) -> str:
        return f"{self._folder.name}/socket"


def _serve(address: str) -> dict[str, Any]:
    """Fork a process for every job. Returns only in such a process, with its job."""
    for module in _PRELOADED:
        importlib.import_module(module)
    with socket.socket(socket.AF_UNIX) as listener, selectors.DefaultSelector() as selector:
        listener.bind(address)
        listener.listen(64)
        selector.register(listener, selectors.EVENT_READ)
        selector.register(sys.stdin, selectors.EVENT_READ)
        gc.collect()
        gc.freeze()  # or every child would copy all of it when it collects
        print("ready", flush=True)
        children: dict[int, tuple[int, socket.socket]] = {}
        while True:
            for key, _ in selector.select():
                if key.fileobj is sys.stdin:
                    for pid, _ in children.values():
                        os.kill(pid, signal.SIGKILL)
                    os._exit(0)
                elif key.fileobj is listener:
                    connection, _ = listener.accept()
                    job: dict[str, Any] = json.loads(connection.makefile(encoding="utf-8").readline())
                    if (pid := os.fork()) == 0:
                        connection.close()
                        for _, other in children.values():
                            other.close()
                        return job
                    connection.sendall(f"{pid}\n".encode())
                    descriptor = os.pidfd_open(pid)
                    children[descriptor] = (pid, connection)
                    selector.register(descriptor, selectors.EVENT_READ)
                else:
                    pid, connection = children.pop(key.fd)
                    selector.unregister(key.fd)
                    os.close(key.fd)
                    _, status = os.waitpid(pid, 0)
                    with contextlib.suppress(BrokenPipeError), connection:
                        connection.sendall(f"{status}\n".encode())


def _become(job: dict[str, Any]) -> None:
    """Be the process that the job describes."""
    os.environ.clear()
    os.environ.update(job["env"])
    os.chdir(job["cwd"])
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    for number, name in ((1, "out"), (2, "err")):
        descriptor = os.open(Path(job["output"]) / name, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.dup2(descriptor, number)
        os.close(descriptor)
    sys.argv = ["abstain", *job["argv"]]
    if job["before"]:
        name, arguments = job["before"]
        module, _, function = name.partition(":")
        getattr(importlib.import_module(module), function)(**arguments)


if __name__ == "__main__":
    _become(_serve(sys.argv[1]))
    from abstain_assets.cli import main

    main()
