"""One sandbox as the runner holds it: spoken to over MCP, or started by a foreign harness."""

import asyncio
import json
import os
import signal
from abc import ABC, abstractmethod
from collections.abc import Coroutine
from dataclasses import dataclass
from typing import Any, TypeVar

import anyio
import mcp_types
from mcp.client.session import ClientSession
from mcp.shared.exceptions import MCPError

from environments.runtime.pipes import message_streams
from environments.runtime.records import Call, JsonObject
from environments.runtime.zygote import STOP
from resources.evidence import EvidenceReader, SandboxEvidence
from resources.zygote_process import Link, ZygoteError, ZygoteGone, ZygoteProcess

T = TypeVar("T")


@dataclass(frozen=True)
class WireTool:
    """A tool as the sandbox lists it to any client."""

    name: str
    description: str
    input_schema: JsonObject


@dataclass(frozen=True)
class ToolReply:
    """The answer to a call. `text` is the compact JSON of `structured`."""

    text: str
    structured: JsonObject
    is_error: bool


@dataclass(frozen=True)
class StdioCommand:
    """How a foreign harness starts the sandbox as its stdio server. `env` is to be added to what the harness passes on."""

    command: str
    args: tuple[str, ...]
    env: dict[str, str]


class RunningSandbox(ABC):
    """One sandbox process and what is known of it."""

    def __init__(self, link: Link, evidence: EvidenceReader, close_timeout: float) -> None:
        self._link = link
        self._evidence = evidence
        self._close_timeout = close_timeout
        self._ended: str | None = None

    @property
    def calls(self) -> tuple[Call, ...]:
        """The calls made so far."""
        return tuple(self._evidence.calls)

    @property
    def isolation(self) -> tuple[str, ...]:
        """Layers of isolation that were missing, as far as the sandbox has said."""
        return self._evidence.isolation or ()

    async def finish(self) -> SandboxEvidence:
        """End the sandbox and return its evidence.

        Raises:
            EnvironmentBug: an environment broke its contract; the rollout is invalid.
            SandboxDied: it ended before it told its final state.
            MountError, IsolationIncomplete: it had refused to start.
        """
        await self._ask_to_end()
        if not await self._evidence.over_within(self._close_timeout):
            await self._kill(f"it did not end within {self._close_timeout:g} s and was killed")
        if self._evidence.final_state is None:
            raise await self._problem()
        return SandboxEvidence(self.calls, self._evidence.final_state, self.isolation)

    async def close(self) -> None:
        """End the process, by force if it does not end when asked."""
        await self._ask_to_end()
        await self._end()
        await self._kill("it was closed")

    @abstractmethod
    async def _ask_to_end(self) -> None:
        """Close what the sandbox waits on."""

    async def _problem(self) -> Exception:
        reason = await self._end()
        await self._evidence.over_within(self._close_timeout)
        return self._evidence.problem(reason)

    async def _end(self) -> str:
        """How the process ended; it is killed when it does not within the timeout."""
        if self._ended is None:
            try:
                async with asyncio.timeout(self._close_timeout):
                    self._ended = _describe(await self._link.expect("exit"))
            except ZygoteError as error:
                self._ended = str(error)
            except TimeoutError:
                await self._kill(f"it did not end within {self._close_timeout:g} s and was killed")
        return self._ended or ""

    async def _kill(self, reason: str) -> None:
        self._ended = self._ended or reason
        self._link.close()
        if not await self._evidence.over_within(self._close_timeout):
            self._evidence.abandon()


class SandboxSession(RunningSandbox):
    """An open sandbox, spoken to over MCP.

    Attributes:
        pid: of the sandbox process.
        tools: as listed by the server.
    """

    def __init__(
        self, link: Link, evidence: EvidenceReader, close_timeout: float, *, pid: int, stdin: int, stdout: int, call_timeout: float
    ) -> None:
        super().__init__(link, evidence, close_timeout)
        self.pid = pid
        self.tools: tuple[WireTool, ...] = ()
        self._call_timeout = call_timeout
        self._started: asyncio.Future[ClientSession] = asyncio.get_running_loop().create_future()
        # The client's task group lives in a task of its own: around the caller's code it would wrap what that raises in groups.
        self._speaking = asyncio.create_task(self._speak(stdin, stdout))

    async def _speak(self, stdin: int, stdout: int) -> None:
        try:
            async with message_streams(stdout, stdin) as (read, write), ClientSession(read, write) as client:
                await client.initialize()
                listed = await client.list_tools()
                self.tools = tuple(WireTool(tool.name, tool.description or "", tool.input_schema) for tool in listed.tools)
                self._started.set_result(client)
                await anyio.sleep_forever()
        except Exception as error:
            if not self._started.done():
                self._started.set_exception(error)
        finally:
            self._started.cancel()
            os.close(stdin)
            os.close(stdout)

    async def start(self) -> None:
        """Wait until the sandbox is mounted and its tools are listed.

        Raises:
            MountError: the mount or a state is not valid.
            IsolationIncomplete: complete isolation was required and cannot be had.
            EnvironmentBug, SandboxDied: it broke or ended.
        """
        try:
            async with asyncio.timeout(self._call_timeout):
                await self._started
        except TimeoutError:
            await self._kill(f"it did not start within {self._call_timeout:g} s and was killed")
            raise await self._problem() from None
        except Exception as error:
            raise await self._problem() from error

    async def call(self, name: str, args: JsonObject) -> ToolReply:
        """Call a tool by its wire name. A refused call is an answer with `is_error`.

        Raises:
            EnvironmentBug: the environment broke its contract; the rollout is invalid.
            SandboxDied: the sandbox ended, or gave no readable answer in time and was killed.
        """
        if self._speaking.done():
            raise await self._problem()
        # Not `call_tool`: that would check the answer against the output schema, which costs more than the call, and raise on
        # answers that are malformed on purpose.
        request = mcp_types.CallToolRequest(params=mcp_types.CallToolRequestParams(name=name, arguments=_encodable(args)))
        try:
            client = self._started.result()
            result = await client.send_request(request, mcp_types.CallToolResult, self._call_timeout)
            return _reply(result)
        except MCPError as error:
            if error.code == mcp_types.REQUEST_TIMEOUT:
                await self._kill(f"{name} gave no answer within {self._call_timeout:g} s and the sandbox was killed")
            elif error.code != mcp_types.CONNECTION_CLOSED:
                await self._kill(f"{name} was answered with a protocol error: {error}")
            raise await self._problem() from error
        except ValueError as error:
            await self._kill(f"the answer of {name} cannot be read: {error}")
            raise await self._problem() from error

    async def _ask_to_end(self) -> None:
        self._speaking.cancel()
        await asyncio.wait({self._speaking})


class ForeignSandbox(RunningSandbox):
    """A sandbox that a foreign harness starts by `command` and speaks to itself."""

    def __init__(
        self,
        link: Link,
        evidence: EvidenceReader,
        close_timeout: float,
        *,
        zygote: ZygoteProcess,
        token: bytes,
        command: StdioCommand,
    ) -> None:
        super().__init__(link, evidence, close_timeout)
        self.command = command
        self._zygote = zygote
        self._token = token

    @property
    def started(self) -> bool:
        """Whether the harness has started it."""
        return self._evidence.isolation is not None

    async def while_alive(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of what the harness does. It is cancelled when the sandbox ends without a final state: what a harness does
        with dead tools is no evidence, and some ask the model again and again.

        Raises:
            SandboxDied, EnvironmentBug, MountError, IsolationIncomplete: how the sandbox ended.
        """
        running = asyncio.ensure_future(work)
        over = asyncio.ensure_future(self._evidence.over.wait())
        try:
            await asyncio.wait({running, over}, return_when=asyncio.FIRST_COMPLETED)
            if not running.done() and self._evidence.final_state is None:
                raise await self._problem()
            return await running
        finally:
            over.cancel()
            running.cancel()
            await asyncio.wait({running})

    async def _ask_to_end(self) -> None:
        """Ask for the final state even where the harness left its connector running or killed it."""
        if self._ended is not None or self._evidence.over.is_set():
            return
        try:
            stop = await self._zygote.request(STOP, self._token)
            try:
                await stop.expect("stopped")
            finally:
                stop.close()
        except ZygoteGone:
            pass  # It took the sandbox with it.
        except ZygoteError:
            if self._evidence.isolation is None:
                await self._kill("the harness never started it")


def _describe(code: int) -> str:
    if code < 0:
        limit = " (it used up its processor time)" if -code == signal.SIGXCPU else ""
        return f"it was killed by {signal.Signals(-code).name}{limit}"
    return f"it ended with status {code}"


def _encodable(args: JsonObject) -> JsonObject:
    """The same arguments with `?` for halves of surrogate pairs: models write such escapes, and no JSON parser takes them back."""
    encodable: JsonObject = json.loads(json.dumps(args, ensure_ascii=False).encode("utf-8", "replace"))
    return encodable


def _reply(result: mcp_types.CallToolResult) -> ToolReply:
    match result.content:
        case [mcp_types.TextContent(text=text)] if isinstance(result.structured_content, dict):
            return ToolReply(text, result.structured_content, bool(result.is_error))
    raise ValueError("it is not one text with structured content")
