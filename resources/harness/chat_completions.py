"""The plain loop over any endpoint that speaks the Chat Completions protocol: ask, run the tool calls, ask again.

The conversation is the agent's view and nothing else. What the server sent goes back as it came (providers attach signatures to
tool calls that they want to see again); only arguments that are no JSON object are replaced, because some servers refuse their own
output.
"""

import json
from collections.abc import Mapping
from typing import Any, Literal

import openai
from pydantic import BaseModel, ConfigDict, ValidationError

from abstain_assets.records import AgentView, ToolRequest
from abstain_assets.rollouts.errors import RunFailed
from environments.runtime.records import JsonObject
from environments.runtime.sandbox import compact
from resources.harness import openai_errors
from resources.harness.base import HarnessRequest, ToolSession, Trace
from resources.harness.openai_errors import MalformedReply
from resources.harness.retry import Retry
from resources.models import ModelSpec

_OUTPUT_ONLY = ("refusal", "annotations", "audio", "function_call")


class _Lenient(BaseModel):
    model_config = ConfigDict(extra="ignore")


class _Function(_Lenient):
    name: str
    arguments: str | JsonObject | None = None


class _ToolCall(_Lenient):
    id: str | None = None
    function: _Function


class _Message(_Lenient):
    content: str | list[JsonObject] | None = None
    refusal: str | None = None
    tool_calls: list[_ToolCall] | None = None

    @property
    def text(self) -> str:
        parts = [self.content] if isinstance(self.content, str) else [part.get("text") or "" for part in self.content or []]
        return "".join(map(str, parts))


class _Choice(_Lenient):
    message: _Message
    finish_reason: str | None = None


class _Usage(_Lenient):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class _Completion(_Lenient):
    choices: list[_Choice]
    usage: _Usage | None = None


class ChatCompletions:
    """One model behind a Chat Completions endpoint.

    Args:
        key: the endpoint's key; it is never stored, logged or put into evidence.
    """

    name = "chat_completions"
    version = "1"
    evidence_version = f"{version} (openai {openai.__version__})"
    privileged = False
    foreign: Literal[False] = False

    def __init__(self, spec: ModelSpec, key: str | None, retry: Retry | None = None) -> None:
        self._spec = spec
        self._key = key
        self._retry = retry or Retry()
        self._client = openai.AsyncOpenAI(
            api_key=key or "none",
            base_url=spec.base_url,
            max_retries=0,
            timeout=openai.Timeout(spec.timeout_seconds, connect=min(10.0, spec.timeout_seconds)),
        )

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def run(self, request: HarnessRequest) -> str:
        """Run the loop; see `Harness.run`."""
        view, trace = request.view, request.trace
        conversation = _opening(view, trace)
        while trace.turns < self._spec.max_turns:
            if trace.budget.exhausted:
                raise RunFailed("budget_exceeded", f"the budget of ${trace.budget.limit:g} is spent")
            raw, choice = await self._ask(conversation, view, trace)
            message = choice.message
            asked = _requests(message, trace.turns)
            trace.say("assistant", message.text, tool_calls=tuple(asked))
            if message.refusal or choice.finish_reason == "content_filter":
                raise RunFailed("policy_refusal", message.refusal or "the provider's content filter cut the reply")
            if not asked:
                if not message.text.strip():
                    raise RunFailed("empty_output", f"the reply was empty (finish reason {choice.finish_reason})")
                return message.text
            conversation.append(_echo(raw, asked))
            for call in asked:
                text = await _answer(call, request.session)
                trace.say("tool", text, answers=call.id)
                conversation.append({"role": "tool", "tool_call_id": call.id, "content": text})
        raise RunFailed("max_turns_exceeded", f"still calling tools after {trace.turns} turns")

    async def _ask(self, conversation: list[JsonObject], view: AgentView, trace: Trace) -> tuple[JsonObject, _Choice]:
        body = {"model": self._spec.model, "messages": conversation, **_tools(view), **_settings(self._spec)}

        async def send() -> tuple[JsonObject, _Completion]:
            trace.requests += 1
            # The SDK would add these from the environment, whoever the endpoint belongs to.
            headers = {"OpenAI-Organization": openai.omit, "OpenAI-Project": openai.omit}
            response = await self._client.chat.completions.with_raw_response.create(**body, extra_headers=headers)
            return _read(response.http_response.content)

        def again() -> None:
            trace.retries += 1

        before = trace.requests
        try:
            with trace.waiting():
                raw, completion = await self._retry.send(
                    send, transient=openai_errors.transient, wait_hint=openai_errors.wait_hint, on_retry=again
                )
        except (openai.OpenAIError, MalformedReply) as error:
            raise openai_errors.explain(error, self._spec, self._key, trace.requests - before) from error
        trace.turns += 1
        usage = completion.usage or _Usage()
        trace.bill(usage.prompt_tokens or 0, usage.completion_tokens or 0)
        return raw["choices"][0]["message"], completion.choices[0]


def _opening(view: AgentView, trace: Trace) -> list[JsonObject]:
    if view.system_prompt:
        trace.say("system", view.system_prompt)
    trace.say("user", view.instruction)
    return [{"role": item.role, "content": item.content} for item in trace.messages]


def _tools(view: AgentView) -> JsonObject:
    if not view.tools:
        return {}
    functions = [{"name": tool.name, "description": tool.description, "parameters": tool.input_schema} for tool in view.tools]
    return {"tools": [{"type": "function", "function": function} for function in functions]}


def _settings(spec: ModelSpec) -> JsonObject:
    settings = spec.settings.model_dump(exclude_none=True)
    extra = settings.pop("extra_body")
    return {**settings, **({"extra_body": extra} if extra else {})}


def _read(content: bytes) -> tuple[JsonObject, _Completion]:
    """Read a reply.

    Raises:
        MalformedReply: it is no chat completion with at least one choice.
    """
    try:
        raw = _encodable(json.loads(content))
        completion = _Completion.model_validate(raw)
    except ValidationError as error:
        problem = error.errors(include_url=False, include_input=False)[0]
        raise MalformedReply(f"{'.'.join(map(str, problem['loc'])) or 'reply'}: {problem['msg']}{_hint(raw)}") from error
    except (ValueError, RecursionError) as error:
        raise MalformedReply(f"the reply is not JSON: {error}") from error
    if not completion.choices:
        raise MalformedReply(f"the reply has no choices{_hint(raw)}")
    return raw, completion


def _hint(raw: object) -> str:
    """Some gateways answer 200 with an error inside."""
    error = raw.get("error") if isinstance(raw, Mapping) else None
    return f" ({json.dumps(error, ensure_ascii=False)[:300]})" if error else ""


def _requests(message: _Message, turn: int) -> list[ToolRequest]:
    """The tool calls of a message. Servers that give no id get one, because the answers need it."""
    return [
        ToolRequest(id=call.id or f"call_{turn}_{index}", name=call.function.name, arguments=_arguments(call.function.arguments))
        for index, call in enumerate(message.tool_calls or [])
    ]


def _arguments(text: str | JsonObject | None) -> JsonObject | str:
    """Arguments as an object, or the raw text where they are none. Some servers send the object itself."""
    if isinstance(text, dict):
        return text
    try:
        value = json.loads(text or "{}")
        json.dumps(value, allow_nan=False)
        value = _encodable(value)
    except (ValueError, RecursionError):
        return text or ""
    return value if isinstance(value, dict) else text or ""


def _encodable(value: Any) -> Any:
    """A JSON value without lone surrogates: JSON can escape them, but no file and no pipe can hold them."""
    return json.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))


def _echo(raw: JsonObject, asked: list[ToolRequest]) -> JsonObject:
    """The assistant's message for the next request."""
    kept = {name: value for name, value in raw.items() if name not in _OUTPUT_ONLY and (value is not None or name == "content")}
    kept["role"] = "assistant"
    for call, request in zip(kept["tool_calls"], asked, strict=True):
        call["id"] = request.id
        call["type"] = "function"
        text = call["function"].get("arguments")
        if isinstance(request.arguments, str):
            call["function"]["arguments"] = "{}"
        elif not text or not isinstance(text, str):
            call["function"]["arguments"] = compact(request.arguments)
    return kept


async def _answer(call: ToolRequest, session: ToolSession) -> str:
    """The text that answers a tool call."""
    if isinstance(call.arguments, str):
        message = f"The arguments are no JSON object: {call.arguments[:500]}"
        return compact({"error": {"code": "invalid_arguments", "message": message}})
    return (await session.call(call.name, call.arguments)).text
