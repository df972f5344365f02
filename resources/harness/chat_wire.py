"""The Chat Completions protocol as the proxy sees it. Errors are those of the SDK, so that one module says what they mean."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import httpx2
import openai

from abstain_assets.rollouts.errors import CellStopped, RunFailed
from environments.runtime.records import JsonObject
from resources.harness import openai_errors
from resources.harness.chat_reply import ChatReply, read
from resources.harness.openai_errors import MalformedReply
from resources.harness.wire import NoRequest, Said, Shown, error_body
from resources.models import ModelSpec


class ChatWire:
    """OpenAI's Chat Completions. Tokens of a streamed reply are known only where the program asks for them (`stream_options`)."""

    path = "chat/completions"
    key_headers = frozenset({"authorization"})

    def key_of(self, headers: Mapping[str, str]) -> str | None:
        """The bearer token."""
        return headers.get("authorization", "").removeprefix("Bearer ") or None

    def with_key(self, key: str | None) -> dict[str, str]:
        """The header with the key."""
        return {"Authorization": f"Bearer {key}"} if key else {}

    def shown(self, body: Any) -> Shown:
        """What a request shows; see `Wire.shown`."""
        try:
            said = [(item["role"], _text(item.get("content")), item.get("tool_call_id")) for item in body["messages"]]
            return Shown(
                texts=tuple(text for role, text, _ in said if role in ("system", "developer", "user")),
                tools=frozenset(tool["function"]["name"] for tool in body.get("tools") or []),
                results=tuple((str(answers), text) for role, text, answers in said if role == "tool"),
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise NoRequest(f"{type(error).__name__}: {error}") from error

    def said(self, response: httpx2.Response) -> Said:
        """What a reply says; see `Wire.said`."""
        streamed = response.headers.get("content-type", "").startswith("text/event-stream")
        reply = read_stream(response.content) if streamed else read(response.content)
        return Said(reply.text, reply.asked, reply.input_tokens, reply.output_tokens, reply.failure)

    def error(self, message: str) -> JsonObject:
        """An error in the protocol's shape."""
        return {"error": {"message": message, "type": "invalid_request_error", "param": None, "code": None}}

    def refused(self, response: httpx2.Response) -> Exception:
        """The SDK's error for an answer without success."""
        body = error_body(response)
        inner = body.get("error", body) if isinstance(body, dict) else body
        return openai.APIStatusError(f"Error code: {response.status_code} - {body}", response=response, body=inner)

    def broken(self, request: httpx2.Request, error: Exception) -> Exception:
        """The SDK's error for a connection that failed."""
        late = isinstance(error, (TimeoutError, httpx2.TimeoutException))
        broken = openai.APITimeoutError(request) if late else openai.APIConnectionError(request=request)
        broken.__cause__ = error
        return broken

    def transient(self, error: BaseException) -> bool:
        """As for the plain loop."""
        return openai_errors.transient(error)

    def wait_hint(self, error: BaseException) -> float | None:
        """As for the plain loop."""
        return openai_errors.wait_hint(error)

    def explain(self, error: Exception, spec: ModelSpec, key: str | None, attempts: int) -> RunFailed | CellStopped:
        """As for the plain loop."""
        assert isinstance(error, (openai.OpenAIError, MalformedReply))
        return openai_errors.explain(error, spec, key, attempts)


def read_stream(content: bytes) -> ChatReply:
    """A reply that came as server-sent events.

    Raises:
        MalformedReply: the events are no complete reply.
    """
    message: JsonObject = {"role": "assistant", "content": None}
    calls: dict[int, JsonObject] = {}
    finish, usage = None, None
    try:
        for chunk in _chunks(content):
            if chunk.get("error"):
                raise MalformedReply(f"the stream broke off with {json.dumps(chunk['error'], ensure_ascii=False)[:300]}")
            usage = chunk.get("usage") or usage
            for choice in chunk.get("choices") or []:
                finish = choice.get("finish_reason") or finish
                _add(choice.get("delta") or {}, message, calls)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise MalformedReply(f"the stream cannot be read: {type(error).__name__}: {error}") from error
    if finish is None:
        raise MalformedReply("the stream ended before the reply did")
    if calls:
        message["tool_calls"] = [calls[index] for index in sorted(calls)]
    whole = {"choices": [{"index": 0, "message": message, "finish_reason": finish}], "usage": usage}
    return read(json.dumps(whole).encode())


def _chunks(content: bytes) -> Iterator[JsonObject]:
    # Not `splitlines`: it also splits at characters that JSON strings may hold, such as U+2028.
    for line in content.decode("utf-8").replace("\r\n", "\n").split("\n"):
        data = line.removeprefix("data:").strip()
        if line.startswith("data:") and data != "[DONE]":
            yield json.loads(data)


def _add(delta: JsonObject, message: JsonObject, calls: dict[int, JsonObject]) -> None:
    """Add a piece to the message, and pieces of tool calls to the call that their index names."""
    for name in ("content", "refusal"):
        if delta.get(name):
            message[name] = (message.get(name) or "") + delta[name]
    for piece in delta.get("tool_calls") or []:
        call = calls.setdefault(piece.get("index", len(calls)), {"type": "function", "function": {"name": "", "arguments": ""}})
        if piece.get("id"):
            call["id"] = piece["id"]
        for name in ("name", "arguments"):
            call["function"][name] += (piece.get("function") or {}).get(name) or ""


def _text(content: Any) -> str:
    if content is None or isinstance(content, str):
        return content or ""
    return "".join(part.get("text") or "" for part in content)
