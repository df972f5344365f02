"""The runner's side of sandboxes: a pool that forks one isolated process per rollout.

    async with SandboxPool() as pool:
        async with pool.open(mount, states) as session:
            reply = await session.call("retail_orders__get_order", {"order_id": "W-1001"})
            evidence = await session.finish()

A foreign harness starts its tool server itself. It gets a command instead of a session, and the evidence comes back all the same:

        async with pool.command(mount, states) as foreign:
            ...  # run the harness with `foreign.command` as its stdio server
            evidence = await foreign.finish()
"""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import anyio

from environments.runtime import connector
from environments.runtime.child import Request
from environments.runtime.records import JsonObject, Mount
from environments.runtime.zygote import OFFER, RUN
from resources.evidence import EvidenceReader, IsolationIncomplete, SandboxDied, SandboxEvidence
from resources.sandbox_session import ForeignSandbox, SandboxSession, StdioCommand, ToolReply, WireTool
from resources.zygote_process import Link, ZygoteError, ZygoteGone, ZygoteProcess, new_token

__all__ = [
    "ForeignSandbox",
    "IsolationIncomplete",
    "SandboxDied",
    "SandboxEvidence",
    "SandboxPool",
    "SandboxSession",
    "StdioCommand",
    "ToolReply",
    "WireTool",
    "ZygoteError",
]


class SandboxPool:
    """Sandboxes for one run, all forked from one warm process that is started when first needed and again if it died.

    Args:
        call_timeout: seconds a call may take before the sandbox is killed.
        close_timeout: seconds a sandbox has to end when asked.
    """

    def __init__(self, call_timeout: float = 60.0, close_timeout: float = 5.0) -> None:
        self._call_timeout = call_timeout
        self._close_timeout = close_timeout
        self._zygote: ZygoteProcess | None = None
        self._starting = asyncio.Lock()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._zygote is not None:
            await self._discard(self._zygote)

    async def warm(self) -> ZygoteProcess:
        """The running zygote, started if there is none. Calling it early takes the second this costs out of the first rollout.

        Raises:
            ZygoteError: it did not start.
        """
        async with self._starting:
            if self._zygote is not None and not self._zygote.alive:
                await self._discard(self._zygote)
            if self._zygote is None:
                self._zygote = await ZygoteProcess.start()
            return self._zygote

    @asynccontextmanager
    async def open(
        self, mount: Mount, states: Mapping[str, JsonObject], *, require_full: bool = False
    ) -> AsyncIterator[SandboxSession]:
        """A sandbox with its tools listed. It is ended when the block is left.

        Args:
            require_full: refuse to run where isolation is incomplete.

        Raises:
            MountError, IsolationIncomplete, EnvironmentBug, SandboxDied: as `SandboxSession.start`.
            ZygoteError: no sandbox could be forked.
        """
        request = Request(mount=mount, states=dict(states), require_full=require_full)
        (child_stdin, stdin), (stdout, child_stdout), (evidence, child_evidence) = os.pipe(), os.pipe(), os.pipe()
        try:
            _, link, pid = await self._ask(RUN, new_token(), (child_stdin, child_stdout, child_evidence), request, "pid")
        except BaseException:
            _close(stdin, stdout, evidence)
            raise
        finally:
            _close(child_stdin, child_stdout, child_evidence)
        session = SandboxSession(
            link,
            EvidenceReader(evidence),
            self._close_timeout,
            pid=pid,
            stdin=stdin,
            stdout=stdout,
            call_timeout=self._call_timeout,
        )
        try:
            await session.start()
            yield session
        finally:
            with anyio.CancelScope(shield=True):
                await session.close()

    @asynccontextmanager
    async def command(self, mount: Mount, states: Mapping[str, JsonObject]) -> AsyncIterator[ForeignSandbox]:
        """A sandbox that starts when a foreign harness runs its command, once. It is ended when the block is left.

        Raises:
            ZygoteError: the zygote did not start.
        """
        token = new_token()
        evidence, child_evidence = os.pipe()
        try:
            zygote, link, _ = await self._ask(OFFER, token, (child_evidence,), Request(mount=mount, states=dict(states)), "offered")
        except BaseException:
            _close(evidence)
            raise
        finally:
            _close(child_evidence)
        # Isolated and without site, it starts in a few milliseconds whatever is installed.
        arguments = ("-I", "-S", str(Path(connector.__file__).resolve()))
        environment = {connector.SOCKET: str(zygote.path), connector.TOKEN: token.decode()}
        command = StdioCommand(sys.executable, arguments, environment)
        foreign = ForeignSandbox(link, EvidenceReader(evidence), self._close_timeout, zygote=zygote, token=token, command=command)
        try:
            yield foreign
        finally:
            with anyio.CancelScope(shield=True):
                await foreign.close()

    async def _ask(
        self, operation: bytes, token: bytes, descriptors: tuple[int, ...], request: Request, key: str
    ) -> tuple[ZygoteProcess, Link, Any]:
        """Send a request and wait for the answer under `key`. A zygote that turns out to be dead is replaced, once."""
        for again in (True, False):
            zygote = await self.warm()
            link = None
            try:
                link = await zygote.request(operation, token, descriptors, request)
                return zygote, link, await link.expect(key)
            except BaseException as error:
                if link is not None:
                    link.close()
                if not (again and isinstance(error, ZygoteGone)):
                    raise
                await self._discard(zygote)
        raise AssertionError("unreachable")

    async def _discard(self, zygote: ZygoteProcess) -> None:
        if self._zygote is zygote:
            self._zygote = None
        await asyncio.to_thread(zygote.close)


def _close(*descriptors: int) -> None:
    for descriptor in descriptors:
        os.close(descriptor)
