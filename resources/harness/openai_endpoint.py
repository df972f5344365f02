"""An endpoint that speaks one of the OpenAI protocols, as all harnesses for them use it: one client, and requests that are counted,
limited, sent again and written down."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

import httpx2
import openai

from abstain_assets.rollouts.errors import RunFailed
from resources.harness import openai_errors
from resources.harness.base import Trace
from resources.harness.openai_errors import MalformedReply
from resources.harness.openai_reply import OpenAIReply
from resources.harness.retry import Retry
from resources.models import ModelSpec

SEALED_REASONING = "reasoning.encrypted_content"

R = TypeVar("R", bound=OpenAIReply)
T = TypeVar("T")


def open_client(spec: ModelSpec, key: str | None, http: httpx2.AsyncClient | None = None) -> openai.AsyncOpenAI:
    """A client of the model's endpoint that sends nothing again by itself."""
    client = openai.AsyncOpenAI(
        api_key=key or "none",
        base_url=spec.base_url,
        max_retries=0,
        timeout=openai.Timeout(spec.timeout_seconds, connect=min(10.0, spec.timeout_seconds)),
        http_client=http,
    )
    # The SDK takes these from the environment, whoever the endpoint belongs to.
    client.organization = client.project = None
    client._custom_headers = {}
    return client


class OpenAIEndpoint:
    """One model's endpoint.

    Args:
        key: the endpoint's key; it is never stored, logged or put into evidence.
    """

    def __init__(self, spec: ModelSpec, key: str | None, retry: Retry | None) -> None:
        self._spec = spec
        self._key = key
        self._retry = retry or Retry()
        self._seals = True

    async def ask(self, send: Callable[[], Awaitable[R]], trace: Trace) -> R:
        """The model's reply, after as many requests as that takes.

        Args:
            send: sends the request once.

        Raises:
            RunFailed: no further request may be sent, none was answered, or the reply is no answer.
            CellStopped: no request of this cell can be answered.
        """
        if trace.turns >= self._spec.max_turns:
            raise RunFailed("max_turns_exceeded", f"still calling tools after {trace.turns} turns")
        if trace.budget.exhausted:
            raise RunFailed("budget_exceeded", f"the budget of ${trace.budget.limit:g} is spent")

        async def attempt() -> R:
            trace.requests += 1
            return await send()

        def again() -> None:
            trace.retries += 1

        before = trace.requests
        try:
            with trace.waiting():
                reply = await self._retry.send(
                    attempt, transient=openai_errors.transient, wait_hint=openai_errors.wait_hint, on_retry=again
                )
        except (openai.OpenAIError, MalformedReply) as error:
            raise openai_errors.explain(error, self._spec, self._key, trace.requests - before) from error
        trace.turns += 1
        trace.bill(reply.input_tokens, reply.output_tokens)
        trace.say("assistant", reply.text, tool_calls=reply.asked)
        if reply.failure is not None:
            raise reply.failure
        return reply

    async def sealed(self, send: Callable[[list[str]], Awaitable[T]], trace: Trace) -> T:
        """Send a request that asks for sealed reasoning, which a server without memory needs to see again. Models that do not
        reason refuse the question; from then on it is not asked.

        Args:
            send: sends the request once; gets what the reply shall include.
        """
        if self._seals:
            try:
                return await send([SEALED_REASONING])
            except openai.BadRequestError as error:
                if error.param != "include":
                    raise
            self._seals = False
            trace.requests += 1
            trace.retries += 1
        return await send([])
