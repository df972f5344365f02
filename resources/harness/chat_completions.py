"""The plain loop over any endpoint that speaks the Chat Completions protocol: ask, run the tool calls, ask again.

The conversation is the agent's view and nothing else. What the server sent goes back as it came; only arguments that are no JSON
object are replaced.
"""

from typing import Literal

import openai

from abstain_assets.records import AgentView
from environments.runtime.records import JsonObject
from resources.harness import chat_reply
from resources.harness.base import HarnessRequest
from resources.harness.chat_reply import ChatReply
from resources.harness.openai_endpoint import OpenAIEndpoint, open_client
from resources.harness.retry import Retry
from resources.harness.tool_calls import answer, used_ids
from resources.models import ModelSpec


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
        conversation: list[JsonObject] = [{"role": item.role, "content": item.content} for item in trace.messages]

        async def send() -> ChatReply:
            body = {"model": self._spec.model, "messages": conversation, **_tools(view), **_settings(self._spec)}
            response = await self._client.chat.completions.with_raw_response.create(**body)
            return chat_reply.read(response.http_response.content, used_ids(trace))

        while True:
            reply = await self._endpoint.ask(send, trace)
            if not reply.asked:
                return reply.text
            conversation.append(reply.echo())
            for call in reply.asked:
                text = await answer(call, request.session)
                trace.say("tool", text, answers=call.id)
                conversation.append({"role": "tool", "tool_call_id": call.id, "content": text})


def _tools(view: AgentView) -> JsonObject:
    if not view.tools:
        return {}
    functions = [{"name": tool.name, "description": tool.description, "parameters": tool.input_schema} for tool in view.tools]
    return {"tools": [{"type": "function", "function": function} for function in functions]}


def _settings(spec: ModelSpec) -> JsonObject:
    settings = spec.settings.model_dump(exclude_none=True)
    extra = settings.pop("extra_body")
    return {**settings, **({"extra_body": extra} if extra else {})}
