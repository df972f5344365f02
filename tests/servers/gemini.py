"""Google's generateContent as a dialect."""

import itertools
import json
import re
from collections.abc import Iterator
from typing import Any

from tests.servers.dialects import Fails, Says, Seen
from tests.servers.stub import Body, Received, Reply

_STATUSES = {400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND", 429: "RESOURCE_EXHAUSTED"}
_PATH = re.compile(r"/v1beta/models/([^/:]+):generateContent")


class Gemini:
    """Google's Gemini API, without streaming, which no harness here asks for."""

    name = "gemini"
    base = ""
    carries_text = False

    def __init__(self) -> None:
        self._ids: Iterator[int] = itertools.count()

    def serves(self, request: Received) -> bool:
        return _PATH.fullmatch(request.path) is not None

    def key(self, request: Received) -> str | None:
        return request.headers.get("x-goog-api-key")

    def seen(self, request: Received) -> Seen:
        body = dict(request.body)
        contents: list[Body] = body.pop("contents")
        system: Body = body.pop("systemInstruction", {"parts": []})
        tools: list[Body] = body.pop("tools", [])
        named = _PATH.fullmatch(request.path)
        assert named is not None and all(item["role"] in ("user", "model") for item in contents)
        said = [(item["role"], part) for item in contents for part in item["parts"]]
        calls = [part["functionCall"] for _, part in said if "functionCall" in part]
        answers = [part["functionResponse"] for _, part in said if "functionResponse" in part]
        known = {"text", "functionCall", "functionResponse", "thoughtSignature"}
        assert all(part.keys() <= known for _, part in said)
        return Seen(
            model=named[1],
            system=tuple(part["text"] for part in system["parts"]),
            user=tuple(part["text"] for role, part in said if role == "user" and "text" in part),
            tools=tuple(_tool(item) for group in tools for item in group["functionDeclarations"]),
            replies=sum(item["role"] == "model" for item in contents),
            asked=tuple((call["id"], call["name"], call.get("args", {})) for call in calls),
            results=tuple((answer["id"], _result(answer["response"])) for answer in answers),
            settings={**body.pop("generationConfig", {}), **body},
        )

    def says(self, said: Says, request: Received) -> Reply:
        parts: list[Body] = [{"text": said.text}] if said.text is not None else []
        parts += [
            {"functionCall": {"id": f"call-{next(self._ids)}", "name": name, "args": args}, "thoughtSignature": "c2lnbmVk"}
            for name, args in said.calls
        ]
        usage = {"promptTokenCount": said.usage[0], "candidatesTokenCount": said.usage[1], "totalTokenCount": sum(said.usage)}
        if said.ending == "refused":
            return _json({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}, "usageMetadata": usage})
        candidate: Body = {"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}
        if said.ending == "filtered":
            candidate = {"finishReason": "SAFETY", "index": 0}
        return _json({"candidates": [candidate], "usageMetadata": usage, "modelVersion": "stub-1"})

    def fails(self, failure: Fails) -> Reply:
        error = {"code": failure.status, "message": failure.text, "status": _STATUSES.get(failure.status, "UNAVAILABLE")}
        return _json({"error": error}, failure.status, failure.headers)


def _tool(item: Body) -> tuple[str, str, Body]:
    # The SDK writes this name as the protocol's source has it; the API reads both.
    assert item.keys() == {"name", "description", "parameters_json_schema"}, item.keys()
    return item["name"], item["description"], item["parameters_json_schema"]


def _result(response: Body) -> str:
    """The text of a result: the harness forwards what the tool server sent, text and structured content."""
    if "content" in response:
        (part,) = response["content"]
        assert json.loads(part["text"]) == response["structuredContent"] and part["type"] == "text"
        text: str = part["text"]
        return text
    return json.dumps(response, ensure_ascii=False, separators=(",", ":"))


def _json(value: Any, status: int = 200, headers: dict[str, str] | None = None) -> Reply:
    return Reply(status, json.dumps(value, ensure_ascii=False).encode(), headers or {})
