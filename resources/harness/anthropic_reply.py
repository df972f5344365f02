"""Replies of the Anthropic Messages protocol, whole or streamed, read from the bytes as they came: what the server sent can go back
unchanged, and what is no reply is told apart from one."""

import json
from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from abstain_assets.records import ToolRequest
from abstain_assets.rollouts.errors import RunFailed
from environments.runtime.records import JsonObject
from resources.harness.encoding import encodable
from resources.harness.tool_calls import read_arguments
from resources.secrets import redact


class MalformedReply(Exception):
    """The endpoint answered with success and something that is no complete message."""


class _Lenient(BaseModel):
    model_config = ConfigDict(extra="ignore")


class _Usage(_Lenient):
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    cache_read_input_tokens: int | None = None


class _Message(_Lenient):
    content: list[JsonObject]
    stop_reason: str | None = None
    usage: _Usage = _Usage()


class AnthropicReply:
    """One reply of the model.

    Attributes:
        content: its blocks as the server sent them.
        asked: its tool calls; arguments that are no JSON object stay text.
        input_tokens: those read from and written to a cache included.
        failure: set where the reply is no answer: a refusal, or nothing at all.
    """

    def __init__(self, message: _Message) -> None:
        self.content = message.content
        self.text = "".join(str(block.get("text") or "") for block in message.content if block.get("type") == "text")
        self.asked = tuple(
            ToolRequest(id=str(block["id"]), name=str(block["name"]), arguments=_arguments(block.get("input")))
            for block in message.content
            if block.get("type") == "tool_use"
        )
        usage = message.usage
        cached = (usage.cache_creation_input_tokens or 0) + (usage.cache_read_input_tokens or 0)
        self.input_tokens = (usage.input_tokens or 0) + cached
        self.output_tokens = usage.output_tokens or 0
        self.failure: RunFailed | None = None
        if message.stop_reason == "refusal":
            self.failure = RunFailed("policy_refusal", self.text or "the provider refused and said nothing more")
        elif not self.asked and not self.text.strip():
            self.failure = RunFailed("empty_output", f"the reply was empty (stop reason {message.stop_reason})")

    def echo(self) -> list[JsonObject]:
        """The blocks for the next request. Empty texts are left out, arguments that are no object emptied: servers refuse both."""
        kept = [block for block in self.content if block.get("type") != "text" or str(block.get("text") or "").strip()]
        return [{**block, "input": {}} if not isinstance(block.get("input", {}), dict) else block for block in kept]


def read(content: bytes) -> AnthropicReply:
    """A reply that came whole.

    Raises:
        MalformedReply: it is no message.
    """
    try:
        return _reply(json.loads(content))
    except (ValueError, RecursionError) as error:
        raise MalformedReply(f"the reply is not JSON: {error}") from error


def read_stream(content: bytes) -> AnthropicReply:
    """A reply that came as server-sent events.

    Raises:
        MalformedReply: the events are no complete message.
    """
    message: JsonObject | None = None
    parts: dict[int, list[str]] = {}
    try:
        for event in _events(content):
            match event.get("type"):
                case "message_start":
                    message = {**event["message"], "content": []}
                case "message_stop" if message is not None:
                    return _reply(message)
                case "content_block_start" if message is not None:
                    message["content"].append(dict(event["content_block"]))
                case "content_block_delta" if message is not None:
                    _add(message["content"][event["index"]], event["delta"], parts.setdefault(event["index"], []))
                case "content_block_stop" if message is not None and parts.get(event["index"]):
                    message["content"][event["index"]]["input"] = _arguments("".join(parts[event["index"]]))
                case "message_delta" if message is not None:
                    message.update(event["delta"])
                    told = {name: value for name, value in (event.get("usage") or {}).items() if value is not None}
                    message["usage"] = {**(message.get("usage") or {}), **told}
                case "error":
                    raise MalformedReply(f"the stream broke off with {_quoted(event.get('error'))}")
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError) as error:
        raise MalformedReply(f"the stream cannot be read: {type(error).__name__}: {error}") from error
    raise MalformedReply("the stream ended before the message did")


def _reply(raw: Any) -> AnthropicReply:
    try:
        return AnthropicReply(_Message.model_validate(encodable(raw)))
    except KeyError as error:
        raise MalformedReply(f"a tool call has no {error}") from error
    except ValidationError as error:
        problem = error.errors(include_url=False, include_input=False)[0]
        hint = raw.get("error") if isinstance(raw, dict) else None
        told = f" ({_quoted(hint)})" if hint else ""
        raise MalformedReply(f"{'.'.join(map(str, problem['loc'])) or 'reply'}: {problem['msg']}{told}") from error


def _quoted(error: Any) -> str:
    return redact(json.dumps(error, ensure_ascii=False))[:300]


def _events(content: bytes) -> Iterator[JsonObject]:
    """The data of every server-sent event."""
    # Not `splitlines`: it also splits at characters that JSON strings may hold, such as U+2028.
    for block in content.decode("utf-8").replace("\r\n", "\n").split("\n\n"):
        lines = [line[5:].removeprefix(" ") for line in block.split("\n") if line.startswith("data:")]
        if lines:
            yield json.loads("\n".join(lines))


def _add(block: JsonObject, delta: JsonObject, parts: list[str]) -> None:
    """Add a piece to a block. Pieces of arguments are put together when the block ends."""
    match delta["type"]:
        case "text_delta":
            block["text"] = block.get("text", "") + delta["text"]
        case "input_json_delta":
            parts.append(delta["partial_json"])
        case "thinking_delta":
            block["thinking"] = block.get("thinking", "") + delta["thinking"]
        case "signature_delta":
            block["signature"] = block.get("signature", "") + delta["signature"]


def _arguments(value: Any) -> JsonObject | str:
    """Arguments as an object, or as text where they are none."""
    return read_arguments(value if value is None or isinstance(value, (str, dict)) else json.dumps(value, ensure_ascii=False))
