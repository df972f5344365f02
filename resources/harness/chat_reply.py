"""Replies of the Chat Completions protocol."""

from collections.abc import Set

from abstain_assets.records import ToolRequest
from abstain_assets.rollouts.errors import RunFailed
from environments.runtime.records import JsonObject
from resources.harness.openai_errors import MalformedReply
from resources.harness.openai_reply import Lenient, hint, parse
from resources.harness.tool_calls import identities, read_arguments, written_arguments

_OUTPUT_ONLY = ("refusal", "annotations", "audio", "function_call")


class _Function(Lenient):
    name: str
    arguments: str | JsonObject | None = None


class _ToolCall(Lenient):
    id: str | None = None
    function: _Function


class _Message(Lenient):
    content: str | list[JsonObject] | None = None
    refusal: str | None = None
    tool_calls: list[_ToolCall] | None = None

    @property
    def text(self) -> str:
        parts = [self.content] if isinstance(self.content, str) else [part.get("text") or "" for part in self.content or []]
        return "".join(map(str, parts))


class _Choice(Lenient):
    message: _Message
    finish_reason: str | None = None


class _Usage(Lenient):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class _Completion(Lenient):
    choices: list[_Choice]
    usage: _Usage | None = None


class ChatReply:
    """The first choice of a completion; see `OpenAIReply`.

    Args:
        raw: the completion as it came.
        used: ids of all tool calls before.
    """

    def __init__(self, raw: JsonObject, completion: _Completion, used: Set[str]) -> None:
        choice = completion.choices[0]
        message, usage = choice.message, completion.usage or _Usage()
        self._raw = raw
        self.text = message.text
        calls = message.tool_calls or []
        self.asked = tuple(
            ToolRequest(id=identity, name=call.function.name, arguments=read_arguments(call.function.arguments))
            for call, identity in zip(calls, identities((call.id for call in calls), used), strict=True)
        )
        self.input_tokens = usage.prompt_tokens or 0
        self.output_tokens = usage.completion_tokens or 0
        self.failure: RunFailed | None = None
        if message.refusal or choice.finish_reason == "content_filter":
            self.failure = RunFailed("policy_refusal", message.refusal or "the provider's content filter cut the reply")
        elif not self.asked and not self.text.strip():
            self.failure = RunFailed("empty_output", f"the reply was empty (finish reason {choice.finish_reason})")

    def echo(self) -> JsonObject:
        """The assistant's message for the next request. What the server sent goes back as it came: providers attach signatures to
        tool calls that they want to see again."""
        raw: JsonObject = self._raw["choices"][0]["message"]
        kept = {name: value for name, value in raw.items() if name not in _OUTPUT_ONLY and (value is not None or name == "content")}
        kept["role"] = "assistant"
        if self.asked:
            calls = zip(raw["tool_calls"], self.asked, strict=True)
            kept["tool_calls"] = [
                {**call, "id": asked.id, "type": "function", "function": _function(call["function"], asked)}
                for call, asked in calls
            ]
        return kept

    def tidy(self) -> JsonObject:
        """The completion with every field in its place; see `OpenAIReply`."""
        message = {**self.echo(), "content": self.text or None}
        tokens = {"prompt_tokens": self.input_tokens, "completion_tokens": self.output_tokens}
        return {
            "id": "reply",
            "object": "chat.completion",
            "created": 0,
            "model": "model",
            **{name: value for name, value in self._raw.items() if value is not None},
            "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls" if self.asked else "stop"}],
            "usage": {**tokens, "total_tokens": sum(tokens.values())},
        }


def read(content: bytes, used: Set[str] = frozenset()) -> ChatReply:
    """Read a reply.

    Raises:
        MalformedReply: it is no chat completion with at least one choice.
    """
    raw, completion = parse(content, _Completion)
    if not completion.choices:
        raise MalformedReply(f"the reply has no choices{hint(raw)}")
    return ChatReply(raw, completion, used)


def _function(raw: JsonObject, asked: ToolRequest) -> JsonObject:
    return {**raw, "arguments": written_arguments(asked, raw.get("arguments"))}
