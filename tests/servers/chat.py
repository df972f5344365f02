"""The Chat Completions protocol as a dialect."""

import itertools
import json
from collections.abc import Iterator
from typing import Any

from tests.servers.dialects import Fails, Says, Seen
from tests.servers.stub import Body, Received, Reply

_CODES = {401: "invalid_api_key", 402: "insufficient_quota", 404: "model_not_found", 429: "rate_limit_exceeded"}


class Chat:
    """OpenAI's Chat Completions."""

    name = "chat"
    base = "/v1"
    carries_text = True

    def __init__(self) -> None:
        self._ids: Iterator[int] = itertools.count()

    def serves(self, request: Received) -> bool:
        return request.path == "/v1/chat/completions"

    def key(self, request: Received) -> str | None:
        return (request.headers.get("authorization") or "").removeprefix("Bearer ") or None

    def seen(self, request: Received) -> Seen:
        body = dict(request.body)
        messages: list[Body] = body.pop("messages")
        calls = [call for item in messages for call in item.get("tool_calls") or []]
        assert all(item["role"] in ("system", "user", "assistant", "tool") for item in messages)
        return Seen(
            model=body.pop("model"),
            system=tuple(_text(item["content"]) for item in messages if item["role"] == "system"),
            user=tuple(_text(item["content"]) for item in messages if item["role"] == "user"),
            tools=tuple(_tool(item) for item in body.pop("tools", [])),
            replies=sum(item["role"] == "assistant" for item in messages),
            asked=tuple((call["id"], call["function"]["name"], json.loads(call["function"]["arguments"])) for call in calls),
            results=tuple((item["tool_call_id"], _text(item["content"])) for item in messages if item["role"] == "tool"),
            settings=body,
        )

    def says(self, said: Says, request: Received) -> Reply:
        calls: list[Body] = [
            {
                "id": f"call_{next(self._ids)}",
                "type": "function",
                "function": {"name": name, "arguments": args if isinstance(args, str) else json.dumps(args)},
            }
            for name, args in said.calls
        ]
        message: Body = {"role": "assistant", "content": said.text}
        if said.ending == "refused":
            message = {"role": "assistant", "content": None, "refusal": said.text or "No."}
        if calls:
            message["tool_calls"] = calls
        finish = "content_filter" if said.ending == "filtered" else "tool_calls" if calls else "stop"
        tokens = {"prompt_tokens": said.usage[0], "completion_tokens": said.usage[1], "total_tokens": sum(said.usage)}
        common = {"id": "c1", "created": 1, "model": "stub"}
        if not request.body.get("stream"):
            choice = {"index": 0, "message": message, "finish_reason": finish}
            return _json({**common, "object": "chat.completion", "choices": [choice], "usage": tokens})
        for index, call in enumerate(calls):
            call["index"] = index
        choices: list[Body] = [
            {"index": 0, "delta": message, "finish_reason": None},
            {"index": 0, "delta": {}, "finish_reason": finish},
        ]
        chunks: list[Body] = [{**common, "object": "chat.completion.chunk", "choices": [choice]} for choice in choices]
        chunks.append({**common, "object": "chat.completion.chunk", "choices": [], "usage": tokens})
        lines = [f"data: {json.dumps(chunk, ensure_ascii=False)}\n\n" for chunk in chunks]
        return Reply(200, "".join([*lines, "data: [DONE]\n\n"]).encode(), {"content-type": "text/event-stream"})

    def fails(self, failure: Fails) -> Reply:
        error = {"message": failure.text, "type": "stub_error", "param": None, "code": _CODES.get(failure.status)}
        return _json({"error": error}, failure.status, failure.headers)


def _text(content: Any) -> str:
    if content is None or isinstance(content, str):
        return content or ""
    assert all(part["type"] == "text" for part in content)
    return "".join(part["text"] for part in content)


def _tool(item: Body) -> tuple[str, str, Body]:
    function = item["function"]
    assert item["type"] == "function" and set(function) <= {"name", "description", "parameters", "strict"}
    return function["name"], function.get("description", ""), function["parameters"]


def _json(value: Body, status: int = 200, headers: dict[str, str] | None = None) -> Reply:
    return Reply(status, json.dumps(value, ensure_ascii=False).encode(), headers or {})
