"""The OpenAI Responses protocol as a dialect, without a memory: every request must carry the whole conversation."""

import itertools
import json
from collections.abc import Iterator
from typing import Any

from tests.servers.dialects import Fails, Says, Seen
from tests.servers.stub import Body, Received, Reply

_CODES = {401: "invalid_api_key", 402: "insufficient_quota", 404: "model_not_found", 429: "rate_limit_exceeded"}
_SEALED = "reasoning.encrypted_content"


class Responses:
    """OpenAI's Responses, without streaming, which no harness here asks for. A reply begins with sealed reasoning that must come
    back as it was. Tools must be declared `strict: false`, else the provider would rewrite their schemas."""

    name = "responses"
    base = "/v1"
    carries_text = True

    def __init__(self) -> None:
        self._ids: Iterator[int] = itertools.count()
        self._said: dict[str, Body] = {}

    def serves(self, request: Received) -> bool:
        return request.path == "/v1/responses"

    def key(self, request: Received) -> str | None:
        return (request.headers.get("authorization") or "").removeprefix("Bearer ") or None

    def seen(self, request: Received) -> Seen:
        body = dict(request.body)
        items: list[Body] = body.pop("input")
        assert body["store"] is False and "previous_response_id" not in body and not body.get("stream")
        assert body["include"] == [_SEALED]
        asked, results, replies = [], [], set()
        for item in items:
            match item.get("type", "message"):
                case "function_call":
                    self._unchanged(item)
                    asked.append((item["call_id"], item["name"], json.loads(item["arguments"])))
                case "function_call_output":
                    results.append((item["call_id"], _text(item["output"])))
                case "reasoning":
                    self._unchanged(item)
                    replies.add(item["id"])
                case "message" if item["role"] == "assistant":
                    self._unchanged(item)
                case kind:
                    assert kind == "message" and item["role"] == "user", item
        assert sorted(identity for identity, _, _ in asked) == sorted(identity for identity, _ in results)
        instructions = body.pop("instructions", None)
        return Seen(
            model=body.pop("model"),
            system=() if instructions is None else (instructions,),
            user=tuple(_text(item["content"]) for item in items if item.get("role") == "user"),
            tools=tuple(_tool(item) for item in body.pop("tools", [])),
            replies=len(replies),
            asked=tuple(asked),
            results=tuple(results),
            settings=body,
        )

    def says(self, said: Says, request: Received) -> Reply:
        reasoning: Body = {"type": "reasoning", "summary": [], "encrypted_content": f"sealed-{next(self._ids)}"}
        output = [{**reasoning, "id": f"rs_{next(self._ids)}"}]
        if said.text is not None or said.ending == "refused":
            part: Body = {"type": "output_text", "text": said.text, "annotations": [], "logprobs": []}
            if said.ending == "refused":
                part = {"type": "refusal", "refusal": said.text or "No."}
            message = {"type": "message", "role": "assistant", "status": "completed", "content": [part]}
            output.append({**message, "id": f"msg_{next(self._ids)}"})
        output += [
            {
                "type": "function_call",
                "id": f"fc_{next(self._ids)}",
                "call_id": f"call_{next(self._ids)}",
                "name": name,
                "arguments": args if isinstance(args, str) else json.dumps(args),
                "status": "completed",
            }
            for name, args in said.calls
        ]
        ends: Body = {"status": "completed", "incomplete_details": None}
        if said.ending == "filtered":
            ends = {"status": "incomplete", "incomplete_details": {"reason": "content_filter"}}
        self._said.update({item["id"]: item for item in output})
        return response(output, usage=said.usage, **ends)

    def fails(self, failure: Fails) -> Reply:
        error = {"message": failure.text, "type": "stub_error", "param": None, "code": _CODES.get(failure.status)}
        return _json({"error": error}, failure.status, failure.headers)

    def _unchanged(self, item: Body) -> None:
        """An item of the model's must come back as it was. Arguments that are no object may be replaced, as in the plain loop."""
        said = self._said[item["id"]]
        if item != said:
            assert {**item, "arguments": said["arguments"]} == said and item["arguments"] == "{}", (item, said)


def response(output: list[Body], *, usage: tuple[int, int] = (100, 10), **fields: Any) -> Reply:
    """A response with any output."""
    tokens = {
        "input_tokens": usage[0],
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": usage[1],
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": sum(usage),
    }
    common = {"id": "resp_1", "object": "response", "created_at": 1, "model": "stub", "status": "completed", "error": None}
    rest: Body = {"incomplete_details": None, "parallel_tool_calls": True, "tool_choice": "auto", "tools": []}
    return _json({**common, **rest, "output": output, "usage": tokens, **fields})


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    assert all(part["type"] == "input_text" for part in content)
    return "".join(part["text"] for part in content)


def _tool(item: Body) -> tuple[str, str, Body]:
    assert item.keys() == {"type", "name", "description", "parameters", "strict"}, item.keys()
    assert item["type"] == "function" and item["strict"] is False
    return item["name"], item["description"], item["parameters"]


def _json(value: Body, status: int = 200, headers: dict[str, str] | None = None) -> Reply:
    return Reply(status, json.dumps(value, ensure_ascii=False).encode(), headers or {})
