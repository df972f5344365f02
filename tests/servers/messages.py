"""The Anthropic Messages protocol as a dialect, whole or streamed as the request asks."""

import itertools
import json
import uuid
from collections.abc import Iterator
from typing import Any

from tests.servers.dialects import Fails, Says, Seen
from tests.servers.stub import Body, Received, Reply

_TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}
_PIECE = 1_000


class Messages:
    """Anthropic's Messages. What only clients with a preflight ask (the root, token counts, the list of models) is not served here,
    so it counts as asked elsewhere."""

    name = "messages"
    base = ""
    carries_text = False

    def __init__(self) -> None:
        self._ids: Iterator[int] = itertools.count()

    def serves(self, request: Received) -> bool:
        return request.path.partition("?")[0] == "/v1/messages" and bool(request.raw)

    def key(self, request: Received) -> str | None:
        return request.headers.get("x-api-key")

    def seen(self, request: Received) -> Seen:
        body = dict(request.body)
        messages: list[Body] = body.pop("messages")
        assert "anthropic-version" in request.headers
        assert isinstance(body["max_tokens"], int)
        assert all(item.keys() == {"role", "content"} and item["role"] in ("user", "assistant") for item in messages)
        assert all(one["role"] != two["role"] for one, two in itertools.pairwise(messages)), "two messages of one role in a row"
        said = [block for item in messages if item["role"] == "user" for block in _blocks(item["content"])]
        replied = [block for item in messages if item["role"] == "assistant" for block in _blocks(item["content"])]
        assert {block["type"] for block in said} <= {"text", "tool_result"}
        assert {block["type"] for block in replied} <= {"text", "tool_use", "thinking", "redacted_thinking"}
        asked = tuple((block["id"], block["name"], block["input"]) for block in replied if block["type"] == "tool_use")
        results = tuple((block["tool_use_id"], _text(block["content"])) for block in said if block["type"] == "tool_result")
        assert sorted(identity for identity, _, _ in asked) == sorted(identity for identity, _ in results)
        return Seen(
            model=body.pop("model"),
            system=tuple(block["text"] for block in _blocks(body.pop("system", []))),
            user=tuple(block["text"] for block in said if block["type"] == "text"),
            tools=tuple(_tool(item) for item in body.pop("tools", [])),
            replies=sum(item["role"] == "assistant" for item in messages),
            asked=asked,
            results=results,
            settings=body,
        )

    def says(self, said: Says, request: Received) -> Reply:
        content: list[Body] = [] if said.text is None else [{"type": "text", "text": said.text}]
        content += [
            {"type": "tool_use", "id": f"toolu_{next(self._ids)}", "name": name, "input": args} for name, args in said.calls
        ]
        stop = "tool_use" if said.calls else "end_turn"
        if said.ending != "normal":
            stop = "refusal"
        return reply(content, request, stop=stop, usage=said.usage)

    def fails(self, failure: Fails) -> Reply:
        error = {"type": _TYPES.get(failure.status, "api_error"), "message": failure.text}
        return _json({"type": "error", "error": error, "request_id": "req_stub"}, failure.status, failure.headers)


def reply(content: list[Body], request: Received, *, stop: str = "end_turn", usage: tuple[int, int] = (100, 10)) -> Reply:
    """A message of the assistant with any content blocks."""
    details = {"type": "refusal", "category": None, "explanation": None} if stop == "refusal" else None
    end = {"stop_reason": stop, "stop_sequence": None, "stop_details": details}
    message: Body = {"id": f"msg_{uuid.uuid4().hex}", "type": "message", "role": "assistant", "model": "stub-1"}
    if not request.body.get("stream"):
        tokens = {"input_tokens": usage[0], "output_tokens": usage[1]}
        return _json({**message, **end, "content": content, "usage": tokens})
    start = {**message, "content": [], "stop_reason": None, "stop_sequence": None, "stop_details": None}
    start["usage"] = {"input_tokens": usage[0], "output_tokens": 1}
    events: list[Body] = [{"type": "message_start", "message": start}]
    for index, block in enumerate(content):
        empty, deltas = _pieces(block)
        events.append({"type": "content_block_start", "index": index, "content_block": empty})
        events += [{"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas]
        events.append({"type": "content_block_stop", "index": index})
    events.append({"type": "message_delta", "delta": end, "usage": {"output_tokens": usage[1]}})
    events += [{"type": "ping"}, {"type": "message_stop"}]
    lines = [f"event: {event['type']}\ndata: {json.dumps(event, ensure_ascii=False)}\n\n" for event in events]
    return Reply(200, "".join(lines).encode(), {"content-type": "text/event-stream; charset=utf-8"})


def _pieces(block: Body) -> tuple[Body, list[Body]]:
    """A block as it begins, and what is added to it bit by bit."""
    match block["type"]:
        case "text":
            return {"type": "text", "text": ""}, [{"type": "text_delta", "text": piece} for piece in _cut(block["text"])]
        case "tool_use":
            pieces = _cut(json.dumps(block["input"], ensure_ascii=False))
            return {**block, "input": {}}, [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]
        case "thinking":
            deltas: list[Body] = [{"type": "thinking_delta", "thinking": piece} for piece in _cut(block["thinking"])]
            deltas.append({"type": "signature_delta", "signature": block["signature"]})
            return {"type": "thinking", "thinking": "", "signature": ""}, deltas
    return block, []


def _cut(text: str) -> list[str]:
    return [text[start : start + _PIECE] for start in range(0, len(text), _PIECE)]


def _blocks(content: Any) -> list[Body]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _text(content: Any) -> str:
    assert all(block["type"] == "text" for block in _blocks(content))
    return "".join(block["text"] for block in _blocks(content))


def _tool(item: Body) -> tuple[str, str, Body]:
    assert set(item) <= {"name", "description", "input_schema", "type", "cache_control"} and item.get("type", "custom") == "custom"
    return item["name"], item.get("description", ""), item["input_schema"]


def _json(value: Body, status: int = 200, headers: dict[str, str] | None = None) -> Reply:
    return Reply(status, json.dumps(value, ensure_ascii=False).encode(), headers or {})
