"""A local server that speaks the Chat Completions protocol, answers from a script, and records what it was sent.

A script sees the request body and returns one `Reply`. Faults happen on the wire: wrong statuses, closed connections, broken
bodies.
"""

import json
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

Body = dict[str, Any]


@dataclass(frozen=True)
class Reply:
    """What goes back. `wire` says how it travels: `ok`, `reset` (connection closed hard) or `truncated` (body cut short)."""

    status: int = 200
    payload: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0
    wire: str = "ok"


@dataclass(frozen=True)
class Received:
    """One request as it came in."""

    path: str
    headers: dict[str, str]
    raw: bytes

    @property
    def body(self) -> Body:
        parsed: Body = json.loads(self.raw)
        return parsed


Script = Callable[[Body], Reply]


def message(
    content: str | None = None,
    *,
    calls: Iterable[tuple[str, Any]] = (),
    finish: str | None = None,
    usage: tuple[int, int] = (100, 10),
    **extra: Any,
) -> Reply:
    """A completion with a text, tool calls (name, arguments as an object or raw text) or both."""
    tool_calls = [
        {
            "id": f"call_{index}_{name}",
            "type": "function",
            "function": {"name": name, "arguments": args if isinstance(args, str) else json.dumps(args)},
        }
        for index, (name, args) in enumerate(calls)
    ]
    said = {"role": "assistant", "content": content, **({"tool_calls": tool_calls} if tool_calls else {}), **extra}
    reason = finish or ("tool_calls" if tool_calls else "stop")
    return completion([{"index": 0, "message": said, "finish_reason": reason}], usage)


def completion(choices: Any, usage: tuple[int, int] = (100, 10)) -> Reply:
    """A completion object with any choices."""
    tokens = {"prompt_tokens": usage[0], "completion_tokens": usage[1], "total_tokens": sum(usage)}
    return data({"id": "c1", "object": "chat.completion", "created": 1, "model": "stub", "choices": choices, "usage": tokens})


def data(value: Any, status: int = 200, **headers: str) -> Reply:
    """Any JSON body."""
    return Reply(
        status, json.dumps(value, ensure_ascii=False).encode(), {name.replace("_", "-"): text for name, text in headers.items()}
    )


def error(status: int, text: str, code: str | None = None, **headers: str) -> Reply:
    """An error in the protocol's shape."""
    return data({"error": {"message": text, "type": "stub_error", "param": None, "code": code}}, status, **headers)


def turns(body: Body) -> int:
    """How many replies the model has given in this conversation."""
    return sum(item["role"] == "assistant" for item in body["messages"])


def in_turn(*replies: Reply) -> Script:
    """One reply after another within a conversation; the last one repeats."""
    return lambda body: replies[min(turns(body), len(replies) - 1)]


def in_order(*replies: Reply) -> Script:
    """One reply after another over all requests; the last one repeats."""
    rest = list(replies)
    lock = threading.Lock()

    def script(body: Body) -> Reply:
        with lock:
            return rest.pop(0) if len(rest) > 1 else rest[0]

    return script


class ChatServer:
    """The server. Use it as a context manager; `url` is its base address, `received` all requests so far.

    Args:
        key: refuse every other key with 401.
    """

    def __init__(self, script: Script, key: str | None = None) -> None:
        self.script = script
        self.received: list[Received] = []
        self._key = key
        self._lock = threading.Lock()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                outer._handle(self)

            def log_message(self, format: str, *args: Any) -> None:
                """Keep the test output clean."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _handle(self, handler: BaseHTTPRequestHandler) -> None:
        raw = handler.rfile.read(int(handler.headers.get("content-length") or 0))
        request = Received(handler.path, {name.lower(): value for name, value in handler.headers.items()}, raw)
        with self._lock:
            self.received.append(request)
        if request.path != "/v1/chat/completions":
            reply = error(404, f"unknown path {request.path}")
        elif self._key is not None and request.headers.get("authorization") != f"Bearer {self._key}":
            reply = error(401, f"Incorrect API key provided: {request.headers.get('authorization')}", "invalid_api_key")
        else:
            reply = self.script(request.body)
        time.sleep(reply.delay)
        try:
            _send(handler, reply)
        except (BrokenPipeError, ConnectionResetError):
            handler.close_connection = True


def _send(handler: BaseHTTPRequestHandler, reply: Reply) -> None:
    if reply.wire == "reset":
        handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        handler.connection.close()
        handler.close_connection = True
        return
    handler.send_response(reply.status)
    headers = {"content-type": "application/json", "content-length": str(len(reply.payload)), **reply.headers}
    for name, value in headers.items():
        handler.send_header(name, value)
    handler.end_headers()
    cut = reply.wire == "truncated"
    handler.wfile.write(reply.payload[: len(reply.payload) // 2] if cut else reply.payload)
    if cut:
        handler.close_connection = True
