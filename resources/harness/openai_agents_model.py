"""The model of one run as OpenAI's Agents SDK asks it: the SDK's own, with every request counted and every reply read first."""

import json
from collections.abc import AsyncIterator, Callable, Set
from dataclasses import replace
from typing import Any

import httpx2
from agents import Model, ModelResponse, ModelSettings, TResponseInputItem
from agents.items import TResponseStreamEvent

from resources.harness.base import Trace
from resources.harness.openai_endpoint import OpenAIEndpoint
from resources.harness.openai_reply import OpenAIReply
from resources.harness.tool_calls import used_ids

Read = Callable[[bytes, Set[str]], OpenAIReply]


class ReadingTransport(httpx2.AsyncBaseTransport):
    """Sends requests through a shared client and reads every reply of the model as the plain loop does. The SDK gets it tidied,
    since it stumbles over what some servers leave out.

    Attributes:
        reply: the last one; `None` where the last request got none.

    Args:
        http: stays open.
    """

    def __init__(self, http: httpx2.AsyncClient, read: Read, trace: Trace) -> None:
        self.reply: OpenAIReply | None = None
        self._http = http
        self._read = read
        self._trace = trace

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """See `httpx2.AsyncBaseTransport`.

        Raises:
            MalformedReply: the endpoint answered with success and no reply.
        """
        self.reply = None
        response = await self._http.send(request)
        content = response.content
        if response.is_success:
            self.reply = self._read(content, used_ids(self._trace))
            content = json.dumps(self.reply.tidy(), ensure_ascii=False).encode()
        kept = {name: value for name, value in response.headers.items() if name not in ("content-encoding", "content-length")}
        return httpx2.Response(response.status_code, headers=kept, content=content, request=request)


class CountedModel(Model):
    """The SDK's model, limited, counted and written down by the endpoint.

    Args:
        inner: reaches the endpoint through the transport.
        sealed: whether its protocol knows sealed reasoning.
    """

    def __init__(self, inner: Model, endpoint: OpenAIEndpoint, transport: ReadingTransport, trace: Trace, *, sealed: bool) -> None:
        self._inner = inner
        self._endpoint = endpoint
        self._transport = transport
        self._trace = trace
        self._sealed = sealed
        self._heard = 0

    async def get_response(
        self,
        system_instructions: str | None,
        input: str | list[TResponseInputItem],
        model_settings: ModelSettings,
        *args: Any,
        **kwargs: Any,
    ) -> ModelResponse:
        """Ask the model once, with as many requests as that takes; see `OpenAIEndpoint.ask`."""
        self._hear(input)
        response: ModelResponse | None = None

        async def send(include: list[str]) -> OpenAIReply:
            nonlocal response
            settings = replace(model_settings, response_include=list(include))
            response = await self._inner.get_response(system_instructions, input, settings, *args, **kwargs)
            assert self._transport.reply is not None
            return self._transport.reply

        async def ask() -> OpenAIReply:
            return await (self._endpoint.sealed(send, self._trace) if self._sealed else send([]))

        await self._endpoint.ask(ask, self._trace)
        assert response is not None
        return response

    def stream_response(self, *args: Any, **kwargs: Any) -> AsyncIterator[TResponseStreamEvent]:
        """Refused: a streamed answer would pass by the counting of requests and retries."""
        raise TypeError("this model answers in one piece: use Runner.run, not Runner.run_streamed")

    def _hear(self, items: str | list[TResponseInputItem]) -> None:
        """Write down the tool results that came since the last reply."""
        listed = [dict(item) for item in items] if isinstance(items, list) else []
        results = [item for item in listed if item.get("type") == "function_call_output"]
        for item in results[self._heard :]:
            self._trace.say("tool", str(item["output"]), answers=str(item["call_id"]))
        self._heard = len(results)
