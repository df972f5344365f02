"""A llama.cpp server as a process of its own, on loopback, for one model."""

import json
import os
import secrets
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import IO

import anyio

from resources import local_server_child

_START_SECONDS = 120.0
_WORDS = 500


class LocalServerError(Exception):
    """The server did not start. The message is its own."""


class LocalServer:
    """A running server. It ends when this process does, however that ends.

    Attributes:
        url: where it speaks the Chat Completions protocol.
        key: what it wants to see; made for it alone.
    """

    def __init__(self, process: subprocess.Popen[bytes], said: IO[bytes], key: str) -> None:
        self._process = process
        self._said = said
        self.key = key
        self.url = ""

    @classmethod
    async def start(cls, weights: Path, *, context: int) -> "LocalServer":
        """Start a server and wait until it is ready.

        It answers one request at a time, on one core. Requests that share a server change each other's rounding, and with it some
        replies; threads that share a busy machine wait for each other most of the time. More servers use more cores.

        Args:
            weights: a GGUF file.
            context: tokens of the longest conversation. Memory for all of them is taken at once.

        Raises:
            LocalServerError: it did not start.
        """
        options = {"weights": str(weights), "context": context, "key": secrets.token_urlsafe(32)}
        said = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the server
        process = subprocess.Popen(
            # Isolated: neither variables nor the working folder decide what it imports.
            [sys.executable, "-I", "-X", "utf8", local_server_child.__file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=said,
            env={"TZ": "UTC", "LANG": "C.UTF-8"},
            cwd="/",
            # Ctrl-C is for the runner, which lets the rollouts under way finish.
            start_new_session=True,
        )
        server = cls(process, said, str(options["key"]))
        try:
            with anyio.fail_after(_START_SECONDS):
                server.url = await server._address(json.dumps(options).encode() + b"\n")
        except TimeoutError:
            server.close()
            raise LocalServerError(f"it was not ready after {_START_SECONDS:g} s") from None
        except BaseException:
            server.close()
            raise
        return server

    async def _address(self, options: bytes) -> str:
        assert self._process.stdin is not None and self._process.stdout is not None
        address = b""
        try:
            os.write(self._process.stdin.fileno(), options)
            while not address.endswith(b"\n"):
                await anyio.wait_readable(self._process.stdout)
                if not (chunk := os.read(self._process.stdout.fileno(), 4096)):
                    raise LocalServerError(await anyio.to_thread.run_sync(self.ending))
                address += chunk
        except BrokenPipeError:
            raise LocalServerError(await anyio.to_thread.run_sync(self.ending)) from None
        return f"{address.decode().strip()}/v1"

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def ending(self) -> str:
        """How it ended, with the last of what it said."""
        code = self._process.wait()
        how = f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
        self._said.seek(0)
        lines = self._said.read().decode(errors="replace").splitlines()
        words = " ".join(" ".join(lines).split())[-_WORDS:]
        return f"it {how}{f', and said: {words}' if words else ''}"

    def close(self) -> None:
        """End it at once. Returns when it is gone."""
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._said):
            if stream is not None:
                stream.close()
