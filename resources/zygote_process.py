"""The zygote as a process of the runner's: starting it, and talking to it without blocking the event loop."""

import array
import asyncio
import json
import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio

import environments
from environments.runtime.child import LENGTH_BYTES, Request
from environments.runtime.pipes import LineReader
from environments.runtime.zygote import READY, TOKEN_BYTES

_START = "import sys, json; sys.path += json.loads(sys.argv[1]); from environments.runtime.zygote import main; main(sys.argv[2])"
_START_SECONDS = 60.0


class ZygoteError(Exception):
    """The zygote did not start, or refused a request."""


class ZygoteGone(ZygoteError):
    """The zygote ended."""


def new_token() -> bytes:
    """A token no other connection has."""
    return secrets.token_hex(TOKEN_BYTES // 2).encode()


class Link:
    """One connection to the zygote. Closing it kills the sandbox that was run or offered on it.

    Args:
        body: what the sandbox is to read. It is sent in the background, because an offered sandbox does not read before it starts.
    """

    def __init__(self, connection: socket.socket, body: bytes = b"") -> None:
        self._connection = connection
        self._lines = LineReader(connection.fileno())
        self._sending = asyncio.create_task(_send(connection, body)) if body else None

    async def expect(self, key: str) -> Any:
        """The next answer with this key.

        Raises:
            ZygoteError: the zygote refused.
            ZygoteGone: it ended.
        """
        while (line := await self._lines.next()) is not None:
            answer = json.loads(line)
            if "error" in answer:
                raise ZygoteError(answer["error"])
            if key in answer:
                return answer[key]
        raise ZygoteGone("the zygote ended")

    def close(self) -> None:
        if self._sending is not None:
            self._sending.cancel()
        self._connection.close()


class ZygoteProcess:
    """A running zygote. It ends when this process does, however that ends."""

    def __init__(self, process: subprocess.Popen[bytes], owner: socket.socket, path: Path) -> None:
        self._process = process
        self._owner = owner
        self.path = path

    @classmethod
    async def start(cls) -> "ZygoteProcess":
        """Start one and wait until it is warm.

        Raises:
            ZygoteError: it did not start; the message is its own.
        """
        folder = Path(tempfile.mkdtemp(prefix="sandbox-"))
        path = folder / "zygote.sock"
        owner, theirs = socket.socketpair()
        owner.setblocking(False)
        with theirs:
            process = subprocess.Popen(
                # Isolated and without site: neither variables, nor the working folder, nor .pth files decide what it imports.
                [sys.executable, "-I", "-S", "-X", "utf8", "-c", _START, json.dumps(_import_path()), str(path)],
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                env={"TZ": "UTC", "LANG": "C.UTF-8"},
                cwd="/",
                # Ctrl-C is for the runner, which ends its sandboxes in order.
                start_new_session=True,
            )
        zygote = cls(process, owner, path)
        said = b""
        try:
            with anyio.fail_after(_START_SECONDS):
                while not said.endswith(b"\n"):
                    await anyio.wait_readable(owner)
                    if not (chunk := owner.recv(4096)):
                        break
                    said += chunk
        except BaseException:
            process.kill()
            zygote.close()
            raise
        if said != READY:
            zygote.close()
            raise ZygoteError(f"the zygote did not start: {said.decode(errors='replace').strip() or 'see its error output'}")
        return zygote

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    async def request(self, operation: bytes, token: bytes, descriptors: Sequence[int] = (), body: Request | None = None) -> Link:
        """Send a request and return its connection.

        Raises:
            ZygoteGone: the zygote ended.
        """
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        connection.setblocking(False)
        try:
            await _connect(connection, self.path)
            rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))] if descriptors else []
            connection.sendmsg([operation + token], rights)
        except OSError as error:
            connection.close()
            raise ZygoteGone(f"the zygote ended: {error}") from error
        except BaseException:
            connection.close()
            raise
        if body is None:
            return Link(connection)
        text = body.model_dump_json().encode()
        return Link(connection, len(text).to_bytes(LENGTH_BYTES, "big") + text)

    def close(self) -> None:
        """End it and every sandbox it forked. Returns when it is gone."""
        self._owner.close()
        try:
            self._process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        # It removes its folder itself, unless it was killed.
        shutil.rmtree(self.path.parent, ignore_errors=True)


def _import_path() -> list[str]:
    """Where this process finds packages, with the environments it uses first."""
    own = str(Path(environments.__file__).parent.parent)
    return [own, *(path for path in map(os.path.abspath, sys.path) if path != own and Path(path).is_dir())]


async def _connect(connection: socket.socket, path: Path) -> None:
    while True:
        try:
            connection.connect(str(path))
            return
        except BlockingIOError:
            # The queue of the listener is full; there is nothing to wait on but time.
            await anyio.sleep(0.005)


async def _send(connection: socket.socket, data: bytes) -> None:
    """Send everything, unless the other side leaves: whoever waits for its answer notices."""
    rest = memoryview(data)
    with suppress(OSError):
        while rest:
            try:
                rest = rest[connection.send(rest) :]
            except BlockingIOError:
                await anyio.wait_writable(connection)
