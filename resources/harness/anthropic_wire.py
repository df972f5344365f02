"""The Anthropic Messages protocol as the proxy sees it. Errors are those of the SDK, so that one module says what they mean."""

from collections.abc import Mapping
from typing import Any

import anthropic
import httpx2

from abstain_assets.rollouts.errors import CellStopped, RunFailed
from environments.runtime.records import JsonObject
from resources.harness import anthropic_errors
from resources.harness.anthropic_messages import key_header
from resources.harness.anthropic_reply import read, read_stream
from resources.harness.wire import NoRequest, Said, Shown, error_body
from resources.models import ModelSpec


class MessagesWire:
    """Anthropic's Messages.

    Args:
        bearer: the endpoint takes the key as a bearer token; see `ModelSpec.bearer`.
    """

    path = "v1/messages"
    key_headers = frozenset({"x-api-key", "authorization"})

    def __init__(self, bearer: bool = False) -> None:
        self._bearer = bearer

    def key_of(self, headers: Mapping[str, str]) -> str | None:
        """The key, in either header."""
        return headers.get("x-api-key") or headers.get("authorization", "").removeprefix("Bearer ") or None

    def with_key(self, key: str | None) -> dict[str, str]:
        """The header with the key."""
        return key_header(key, self._bearer)

    def shown(self, body: Any) -> Shown:
        """What a request shows; see `Wire.shown`."""
        try:
            blocks = [block for item in body["messages"] if item["role"] != "assistant" for block in _blocks(item["content"])]
            return Shown(
                texts=tuple(item["text"] for item in _blocks(body.get("system") or []) + blocks if item["type"] == "text"),
                tools=frozenset(tool["name"] for tool in body.get("tools") or []),
                results=tuple((item["tool_use_id"], _text(item)) for item in blocks if item["type"] == "tool_result"),
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise NoRequest(f"{type(error).__name__}: {error}") from error

    def said(self, response: httpx2.Response) -> Said:
        """What a reply says; see `Wire.said`."""
        streamed = response.headers.get("content-type", "").startswith("text/event-stream")
        reply = (read_stream if streamed else read)(response.content)
        return Said(reply.text, reply.asked, reply.input_tokens, reply.output_tokens, reply.failure)

    def error(self, message: str) -> JsonObject:
        """An error in the protocol's shape."""
        return {"type": "error", "error": {"type": "invalid_request_error", "message": message}}

    def refused(self, response: httpx2.Response) -> Exception:
        """The SDK's error for an answer without success."""
        body = error_body(response)
        return anthropic.APIStatusError(f"Error code: {response.status_code} - {body}", response=response, body=body)

    def broken(self, request: httpx2.Request, error: Exception) -> Exception:
        """The SDK's error for a connection that failed."""
        late = isinstance(error, (TimeoutError, httpx2.TimeoutException))
        broken = anthropic.APITimeoutError(request) if late else anthropic.APIConnectionError(request=request)
        broken.__cause__ = error
        return broken

    def transient(self, error: BaseException) -> bool:
        """As for the plain loop."""
        return anthropic_errors.transient(error)

    def wait_hint(self, error: BaseException) -> float | None:
        """As for the plain loop."""
        return anthropic_errors.wait_hint(error)

    def explain(self, error: Exception, spec: ModelSpec, key: str | None, attempts: int) -> RunFailed | CellStopped:
        """As for the plain loop."""
        return anthropic_errors.explain(error, spec, key, attempts)


def _blocks(content: Any) -> list[JsonObject]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)


def _text(result: JsonObject) -> str:
    """The text of a tool result."""
    return "".join(block["text"] for block in _blocks(result.get("content") or []) if block["type"] == "text")
