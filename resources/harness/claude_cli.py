"""The CLI of the Claude Agent SDK as a process of ours: a clean environment, a process group of its own, and a certain end.

The SDK's own transport hands the whole environment on, keys included, and may leave the process alive when it is cancelled.
"""

import asyncio
import json
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from claude_agent_sdk import CLIConnectionError, ProcessError, Transport

_LAUNCH = Path(__file__).with_name("launch.py")
_LONGEST_LINE = 2**28
_COMPLAINT = 500


class CliTransport(Transport):
    """One CLI process.

    Args:
        command: the CLI and its arguments.
        env: its whole environment.
        complaints: a file for what it writes to its standard error.
    """

    def __init__(self, command: Sequence[str], env: Mapping[str, str], cwd: Path, complaints: Path) -> None:
        self._command = command
        self._env = env
        self._cwd = cwd
        self._complaints = complaints
        self._process: Process | None = None
        self._killed = False

    @property
    def complaint(self) -> str:
        """The end of what it wrote to its standard error."""
        if not self._complaints.exists():
            return ""
        return self._complaints.read_text(encoding="utf-8", errors="replace").strip()[-_COMPLAINT:]

    async def connect(self) -> None:
        """Start it."""
        launch = (sys.executable, "-I", "-S", str(_LAUNCH), str(os.getpid()))
        with self._complaints.open("wb") as complaints:
            starting = asyncio.ensure_future(
                asyncio.create_subprocess_exec(
                    *launch,
                    *self._command,
                    stdin=PIPE,
                    stdout=PIPE,
                    stderr=complaints,
                    cwd=self._cwd,
                    env=self._env,
                    start_new_session=True,
                    limit=_LONGEST_LINE,
                )
            )
            try:
                self._process = await asyncio.shield(starting)
            except asyncio.CancelledError:
                # It is being started already and has to be known to be killed.
                self._process = await starting
                raise

    async def write(self, data: str) -> None:
        """Write to its standard input."""
        pipe = self._running.stdin
        if pipe is None or pipe.is_closing():
            raise CLIConnectionError("the CLI takes no more input")
        try:
            pipe.write(data.encode("utf-8"))
            await pipe.drain()
        except ConnectionError as error:
            raise CLIConnectionError("the CLI has ended") from error

    def read_messages(self) -> AsyncIterator[dict[str, Any]]:
        """Its messages until it ends.

        Raises:
            ProcessError: it ended with an error.
        """
        return self._messages()

    async def _messages(self) -> AsyncIterator[dict[str, Any]]:
        process = self._running
        assert process.stdout is not None
        while line := await process.stdout.readline():
            # A line that is cut short was being written when the process was killed.
            if line.startswith(b"{") and line.endswith(b"\n"):
                yield json.loads(line)
        if (status := await process.wait()) and not self._killed:
            raise ProcessError("the CLI failed", exit_code=status, stderr=self.complaint)

    async def end_input(self) -> None:
        """Close its standard input."""
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()

    async def close(self) -> None:
        """Kill it and everything in its process group, and wait until it is gone."""
        process = self._process
        if process is None:
            return
        self._killed = True
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        # Else `wait` would go on while anybody holds an end of its pipes.
        process._transport.close()  # type: ignore[attr-defined]
        await process.wait()

    def is_ready(self) -> bool:
        """Whether it takes input."""
        return self._process is not None and self._process.returncode is None

    @property
    def _running(self) -> Process:
        if self._process is None:
            raise CLIConnectionError("the CLI was not started")
        return self._process
