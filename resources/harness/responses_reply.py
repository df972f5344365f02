"""Replies of the Responses protocol."""

from collections.abc import Set

from abstain_assets.records import ToolRequest
from abstain_assets.rollouts.errors import RunFailed
from environments.runtime.records import JsonObject
from resources.harness.openai_errors import FILTERED, MalformedReply
from resources.harness.openai_reply import Lenient, hint, parse
from resources.harness.tool_calls import identities, read_arguments, written_arguments


class _Part(Lenient):
    text: str | None = None
    refusal: str | None = None


class _Item(Lenient):
    type: str
    content: list[_Part] | None = None
    call_id: str | None = None
    name: str | None = None
    arguments: str | JsonObject | None = None


class _Usage(Lenient):
    input_tokens: int | None = None
    output_tokens: int | None = None


class _Details(Lenient):
    reason: str | None = None


class _Error(Lenient):
    code: str | None = None
    message: str | None = None


class _Response(Lenient):
    output: list[_Item]
    status: str | None = None
    incomplete_details: _Details | None = None
    error: _Error | None = None
    usage: _Usage | None = None


class ResponsesReply:
    """One response; see `OpenAIReply`.

    Args:
        raw: the response as it came.
        used: ids of all tool calls before.
    """

    def __init__(self, raw: JsonObject, response: _Response, used: Set[str]) -> None:
        usage = response.usage or _Usage()
        parts = [part for item in response.output if item.type == "message" for part in item.content or []]
        calls = [item for item in response.output if item.type == "function_call"]
        self._raw = raw
        self.text = "".join(part.text or "" for part in parts)
        self.asked = tuple(
            ToolRequest(id=identity, name=call.name or "", arguments=read_arguments(call.arguments))
            for call, identity in zip(calls, identities((call.call_id for call in calls), used), strict=True)
        )
        self.input_tokens = usage.input_tokens or 0
        self.output_tokens = usage.output_tokens or 0
        reason = response.incomplete_details.reason if response.incomplete_details else None
        refusal = next((part.refusal for part in parts if part.refusal), None)
        self.failure = _failure(response.error, refusal, reason)
        if self.failure is None and not self.asked and not self.text.strip():
            self.failure = RunFailed(
                "empty_output", f"the reply was empty (status {response.status}, {reason or 'no reason given'})"
            )

    def echo(self) -> list[JsonObject]:
        """The output items for the next request. They go back as they came, reasoning with its sealed content included."""
        asked = iter(self.asked)
        return [_call(item, next(asked)) if item["type"] == "function_call" else item for item in self._raw["output"]]

    def tidy(self) -> JsonObject:
        """The response with every field in its place; see `OpenAIReply`."""
        tokens = {"input_tokens": self.input_tokens, "output_tokens": self.output_tokens}
        return {
            "id": "reply",
            "object": "response",
            "created_at": 0,
            "model": "model",
            **{name: value for name, value in self._raw.items() if value is not None},
            "output": self.echo(),
            "status": "completed",
            "error": None,
            "incomplete_details": None,
            "usage": {**tokens, "total_tokens": sum(tokens.values())},
        }


def read(content: bytes, used: Set[str] = frozenset()) -> ResponsesReply:
    """Read a reply.

    Raises:
        MalformedReply: it is no response that came to an end.
    """
    raw, response = parse(content, _Response)
    broken = response.status not in ("completed", "incomplete", None)
    if broken and (response.error is None or response.error.code not in FILTERED):
        raise MalformedReply(f"the response ended with status {response.status}{hint(raw)}")
    return ResponsesReply(raw, response, used)


def _failure(error: _Error | None, refusal: str | None, reason: str | None) -> RunFailed | None:
    if error is not None and error.code in FILTERED:
        return RunFailed("policy_refusal", f"the provider refused the request: {error.message or error.code}")
    if refusal is not None:
        return RunFailed("policy_refusal", refusal)
    if reason == "content_filter":
        return RunFailed("policy_refusal", "the provider's content filter cut the reply")
    return None


def _call(raw: JsonObject, asked: ToolRequest) -> JsonObject:
    return {**raw, "call_id": asked.id, "arguments": written_arguments(asked, raw.get("arguments"))}
