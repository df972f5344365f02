"""A local server that speaks the Chat Completions protocol, answers from a script, and records what it was sent.

A script sees the request body and returns one `Reply`. Faults happen on the wire: wrong statuses, closed connections, broken
bodies.
"""

import json
import threading
from collections.abc import Callable, Iterable
from typing import Any

from tests.servers.stub import Body as Body
from tests.servers.stub import Received as Received
from tests.servers.stub import Reply as Reply
from tests.servers.stub import StubServer

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


class ChatServer(StubServer):
    """The server. Use it as a context manager; `url` is its base address, `received` all requests so far.

    Args:
        key: refuse every other key with 401.
    """

    def __init__(self, script: Script, key: str | None = None) -> None:
        super().__init__(self._reply)
        self.script = script
        self._key = key

    @property
    def url(self) -> str:
        return f"{self.origin}/v1"

    def _reply(self, request: Received) -> Reply:
        if request.path != "/v1/chat/completions":
            return error(404, f"unknown path {request.path}")
        if self._key is not None and request.headers.get("authorization") != f"Bearer {self._key}":
            return error(401, f"Incorrect API key provided: {request.headers.get('authorization')}", "invalid_api_key")
        return self.script(request.body)
