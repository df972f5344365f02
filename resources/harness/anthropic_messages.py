"""The plain loop over any endpoint that speaks the Anthropic Messages protocol: ask, run the tool calls, ask again.

The conversation is the agent's view and nothing else. Blocks of a reply go back as they came, since thinking is signed and must not
be changed. All results of a reply's tool calls go into one message of the user, as the protocol wants it.
"""

from typing import Literal

import anthropic

from abstain_assets.errors import BadInput
from abstain_assets.records import AgentView, ToolRequest
from abstain_assets.rollouts.errors import RunFailed
from environments.runtime.records import JsonObject
from resources.harness import anthropic_errors
from resources.harness.anthropic_reply import AnthropicReply, MalformedReply, read
from resources.harness.base import HarnessRequest, ToolSession, Trace
from resources.harness.retry import Retry
from resources.harness.tool_calls import complaint
from resources.models import ModelSpec

DEFAULT_MAX_TOKENS = 4096
_NOT_IN_PROTOCOL = {
    "max_completion_tokens": "the protocol calls it max_tokens",
    "reasoning_effort": "the protocol has no such field; put `thinking` or `output_config` under settings.extra_body",
}


def settings_of(spec: ModelSpec) -> JsonObject:
    """What a model file sets, as fields of a request. The protocol demands `max_tokens`, so there is a default.

    Raises:
        BadInput: it sets something the protocol lacks.
    """
    settings: JsonObject = spec.settings.model_dump(exclude_none=True)
    for name, reason in _NOT_IN_PROTOCOL.items():
        if name in settings:
            raise BadInput(f"{spec.file}: settings.{name}: {reason}; remove it")
    if (settings.get("temperature") or 0) > 1:
        raise BadInput(f"{spec.file}: settings.temperature: this protocol goes up to 1; lower it")
    extra = settings.pop("extra_body")
    return {"max_tokens": DEFAULT_MAX_TOKENS, **settings, **extra}


def key_header(key: str | None, bearer: bool) -> dict[str, str]:
    """The header that carries the key; see `ModelSpec.bearer`."""
    if key is None:
        return {}
    return {"Authorization": f"Bearer {key}"} if bearer else {"X-Api-Key": key}


class AnthropicMessages:
    """One model behind an Anthropic Messages endpoint.

    Args:
        key: the endpoint's key; it is never stored, logged or put into evidence.

    Raises:
        BadInput: the model file sets something the protocol lacks.
    """

    name = "anthropic_messages"
    version = "1"
    evidence_version = f"{version} (anthropic {anthropic.__version__})"
    privileged = False
    foreign: Literal[False] = False

    def __init__(self, spec: ModelSpec, key: str | None, retry: Retry | None = None) -> None:
        self._spec = spec
        self._key = key
        self._retry = retry or Retry()
        self._settings = settings_of(spec)
        self._client = anthropic.AsyncAnthropic(
            api_key=key or "none",
            base_url=spec.base_url,
            max_retries=0,
            timeout=anthropic.Timeout(spec.timeout_seconds, connect=min(10.0, spec.timeout_seconds)),
            open_telemetry=False,
        )
        # The SDK would send the key as a bearer token, which not every compatible endpoint takes.
        self._headers = dict.fromkeys(("X-Api-Key", "Authorization"), anthropic.omit) | key_header(key, spec.bearer)
        # The SDK takes headers from ANTHROPIC_CUSTOM_HEADERS, whoever the endpoint belongs to.
        self._client._custom_headers = {}

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def run(self, request: HarnessRequest) -> str:
        """Run the loop; see `Harness.run`."""
        view, trace = request.view, request.trace
        if view.system_prompt:
            trace.say("system", view.system_prompt)
        trace.say("user", view.instruction)
        conversation: list[JsonObject] = [{"role": "user", "content": view.instruction}]
        while trace.turns < self._spec.max_turns:
            if trace.budget.exhausted:
                raise RunFailed("budget_exceeded", f"the budget of ${trace.budget.limit:g} is spent")
            reply = await self._ask(conversation, view, trace)
            trace.say("assistant", reply.text, tool_calls=reply.asked)
            if reply.failure is not None:
                raise reply.failure
            if not reply.asked:
                return reply.text
            conversation.append({"role": "assistant", "content": reply.echo()})
            results = [await _answer(call, request.session, trace) for call in reply.asked]
            conversation.append({"role": "user", "content": results})
        raise RunFailed("max_turns_exceeded", f"still calling tools after {trace.turns} turns")

    async def _ask(self, conversation: list[JsonObject], view: AgentView, trace: Trace) -> AnthropicReply:
        body = {"model": self._spec.model, "messages": conversation, **_opening(view), **self._settings}

        async def send() -> AnthropicReply:
            trace.requests += 1
            # Everything is in the body as it shall leave; the SDK adds nothing to these three and knows no other field of ours.
            required = {name: body[name] for name in ("model", "messages", "max_tokens")}
            response = await self._client.messages.with_raw_response.create(
                **required, extra_body=body, extra_headers=self._headers
            )
            return read(response.http_response.content)

        def again() -> None:
            trace.retries += 1

        before = trace.requests
        try:
            with trace.waiting():
                reply = await self._retry.send(
                    send, transient=anthropic_errors.transient, wait_hint=anthropic_errors.wait_hint, on_retry=again
                )
        except (anthropic.AnthropicError, MalformedReply) as error:
            raise anthropic_errors.explain(error, self._spec, self._key, trace.requests - before) from error
        trace.turns += 1
        trace.bill(reply.input_tokens, reply.output_tokens)
        return reply


def _opening(view: AgentView) -> JsonObject:
    """The parts of the view that the conversation does not hold."""
    system = {"system": view.system_prompt} if view.system_prompt else {}
    tools = [{"name": tool.name, "description": tool.description, "input_schema": tool.input_schema} for tool in view.tools]
    return {**system, **({"tools": tools} if tools else {})}


async def _answer(call: ToolRequest, session: ToolSession, trace: Trace) -> JsonObject:
    """The block that answers a tool call."""
    if isinstance(call.arguments, str):
        text, failed = complaint(call.arguments), True
    else:
        reply = await session.call(call.name, call.arguments)
        text, failed = reply.text, reply.is_error
    trace.say("tool", text, answers=call.id)
    return {"type": "tool_result", "tool_use_id": call.id, "content": text, "is_error": failed}
