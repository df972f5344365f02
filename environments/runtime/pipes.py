"""MCP messages over a pair of pipes, without threads: the isolated process may not start any."""

import os
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter
from pydantic import ValidationError

MAX_LINE = 64 << 20
_CHUNK = 1 << 16

Streams = tuple[MemoryObjectReceiveStream[SessionMessage | Exception], MemoryObjectSendStream[SessionMessage]]


class LineReader:
    """Reads lines from a non-blocking descriptor."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._lines: deque[bytes] = deque()
        self._rest = bytearray()

    async def next(self) -> bytes | None:
        """The next line without its newline; `None` when the other end is closed.

        Raises:
            ValueError: the line is longer than `MAX_LINE`.
        """
        while not self._lines:
            try:
                chunk = os.read(self._descriptor, _CHUNK)
            except BlockingIOError:
                await anyio.wait_readable(self._descriptor)
                continue
            except ConnectionResetError:
                return None
            if not chunk:
                return None
            first, *others = chunk.split(b"\n")
            self._rest += first
            if others:
                self._lines += [bytes(self._rest), *others[:-1]]
                self._rest = bytearray(others[-1])
            if len(self._rest) > MAX_LINE:
                raise ValueError(f"a line is longer than {MAX_LINE} bytes")
        return self._lines.popleft()


async def write_all(descriptor: int, data: bytes) -> None:
    """Write everything to a non-blocking descriptor. Raises BrokenPipeError when its other end is closed."""
    rest = memoryview(data)
    while rest:
        try:
            rest = rest[os.write(descriptor, rest) :]
        except BlockingIOError:
            await anyio.wait_writable(descriptor)


@asynccontextmanager
async def message_streams(incoming: int, outgoing: int) -> AsyncIterator[Streams]:
    """The stream pair that MCP sessions and servers run on, over two descriptors that stay the caller's to close."""
    os.set_blocking(incoming, False)
    os.set_blocking(outgoing, False)
    received, read_stream = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    write_stream, to_send = anyio.create_memory_object_stream[SessionMessage](0)

    async def read() -> None:
        # A receiver that left needs no more messages.
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            async with received:
                lines = LineReader(incoming)
                while (line := await lines.next()) is not None:
                    try:
                        await received.send(SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False)))
                    except ValidationError as error:
                        await received.send(error)

    async def write() -> None:
        # A reader that closed its end shows on the incoming pipe, which ends the session.
        with suppress(BrokenPipeError):
            async with to_send:
                async for message in to_send:
                    text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                    await write_all(outgoing, text.encode() + b"\n")

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(read)
        tasks.start_soon(write)
        try:
            yield read_stream, write_stream
        finally:
            tasks.cancel_scope.cancel()
