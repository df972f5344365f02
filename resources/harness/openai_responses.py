"""The plain loop over any endpoint that speaks the Responses protocol: ask, run the tool calls, ask again.

Nothing is stored at the provider: every request carries the whole conversation, the model's own items as they came. Reasoning comes
back sealed where the server can do that, and goes back the same way.
"""

from typing import Literal

import openai

from abstain_assets.records import AgentView
from environments.runtime.records import JsonObject
from resources.harness import responses_reply
from resources.harness.base import HarnessRequest
from resources.harness.openai_endpoint import OpenAIEndpoint, open_client
from resources.harness.responses_reply import ResponsesReply
from resources.harness.retry import Retry
from resources.harness.tool_calls import answer, used_ids
from resources.models import ModelSpec


class OpenAIResponses:
    """One model behind a Responses endpoint.

    Args:
        key: the endpoint's key; it is never stored, logged or put into evidence.
    """

    name = "openai_responses"
    version = "1"
    evidence_version = f"{version} (openai {openai.__version__})"
    privileged = False
    foreign: Literal[False] = False

    def __init__(self, spec: ModelSpec, key: str | None, retry: Retry | None = None) -> None:
        self._settings = _settings(spec)
        self._endpoint = OpenAIEndpoint(spec, key, retry)
        self._client = open_client(spec, key)

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

        async def send(include: list[str]) -> ResponsesReply:
            asking = {"include": include} if include else {}
            # Everything is in the body as it shall leave; the SDK adds nothing to it.
            body = {"input": conversation, **_opening(view), **asking, **self._settings}
            response = await self._client.responses.with_raw_response.create(extra_body=body)
            return responses_reply.read(response.http_response.content, used_ids(trace))

        while True:
            reply = await self._endpoint.ask(lambda: self._endpoint.sealed(send, trace), trace)
            if not reply.asked:
                return reply.text
            conversation += reply.echo()
            for call in reply.asked:
                text = await answer(call, request.session)
                trace.say("tool", text, answers=call.id)
                conversation.append({"type": "function_call_output", "call_id": call.id, "output": text})


def _opening(view: AgentView) -> JsonObject:
    """The parts of the view that the conversation does not hold. Without `strict: false` the server would rewrite the schemas."""
    system = {"instructions": view.system_prompt} if view.system_prompt else {}
    tools = [
        {
            "type": "function",
            "name": tool.name,
            "description": tool.description,
            "parameters": tool.input_schema,
            "strict": False,
        }
        for tool in view.tools
    ]
    return {**system, **({"tools": tools} if tools else {})}


def _settings(spec: ModelSpec) -> JsonObject:
    """What a model file sets, as fields of a request."""
    settings = spec.settings
    limit = settings.max_completion_tokens or settings.max_tokens
    effort = settings.reasoning_effort
    chosen: JsonObject = {
        "temperature": settings.temperature,
        "top_p": settings.top_p,
        "max_output_tokens": limit,
        "reasoning": {"effort": effort} if effort else None,
    }
    told = {name: value for name, value in chosen.items() if value is not None}
    return {"model": spec.model, "store": False, **told, **settings.extra_body}
