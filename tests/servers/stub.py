"""A local HTTP server that answers from a script and records what it was sent. Faults happen on the wire."""

import json
import socket
import struct
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

Body = dict[str, Any]


@dataclass(frozen=True)
class Reply:
    """What goes back. `wire` says how it travels: `ok`, `reset` (connection closed hard), `reset_midway` (after half the body) or
    `truncated` (body cut short, then closed in order)."""

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


class StubServer:
    """The server. Use it as a context manager; `origin` is its address, `received` all requests so far.

    Args:
        answer: the reply to a request.
    """

    def __init__(self, answer: Callable[[Received], Reply]) -> None:
        self.received: list[Received] = []
        self._answer = answer
        self._lock = threading.Lock()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True  # else every reply waits 40 ms for a delayed acknowledgement

            def do_POST(self) -> None:
                outer._handle(self)

            def do_GET(self) -> None:
                outer._handle(self)

            def do_HEAD(self) -> None:
                outer._handle(self)

            def log_message(self, format: str, *args: Any) -> None:
                """Keep the test output clean."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

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
        reply = self._answer(request)
        time.sleep(reply.delay)
        try:
            _send(handler, reply)
        except (BrokenPipeError, ConnectionResetError):
            handler.close_connection = True


def _send(handler: BaseHTTPRequestHandler, reply: Reply) -> None:
    if reply.wire == "reset":
        _reset(handler)
        return
    handler.send_response(reply.status)
    headers = {"content-type": "application/json", "content-length": str(len(reply.payload)), **reply.headers}
    for name, value in headers.items():
        handler.send_header(name, value)
    handler.end_headers()
    if handler.command == "HEAD":
        return
    half = reply.payload[: len(reply.payload) // 2]
    handler.wfile.write(reply.payload if reply.wire == "ok" else half)
    if reply.wire == "truncated":
        handler.close_connection = True
    elif reply.wire == "reset_midway":
        handler.wfile.flush()
        time.sleep(0.05)  # let the first half arrive
        _reset(handler)


def _reset(handler: BaseHTTPRequestHandler) -> None:
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    handler.connection.close()
    handler.close_connection = True
