"""OpenAI's Agents SDK as a harness: its runner, its tool loop and its MCP client, over Chat Completions or Responses.

The SDK adds nothing to the prompt. Its tracing, which would report every run to OpenAI, has neither an exporter nor a thread here.
"""

import logging
import os
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, Literal, TextIO

import httpx2
import openai
from agents import (
    Agent,
    FunctionTool,
    Model,
    ModelSettings,
    OpenAIChatCompletionsModel,
    OpenAIResponsesModel,
    RunConfig,
    Runner,
    ToolErrorFormatter,
    ToolErrorFormatterArgs,
)
from agents.mcp import MCPServerStdio
from agents.mcp.server import MCPStreamTransport
from agents.models.openai_client_utils import is_official_openai_base_url
from agents.tool_context import ToolContext
from agents.tracing import set_trace_provider
from agents.tracing.provider import DefaultTraceProvider
from agents.version import __version__ as sdk_version
from mcp.client.stdio import stdio_client
from mcp_types import TextContent
from openai.types.shared import Reasoning

from abstain_assets.records import ToolView
from resources.harness import chat_reply, responses_reply
from resources.harness.base import ForeignRequest
from resources.harness.openai_agents_model import CountedModel, ReadingTransport
from resources.harness.openai_endpoint import OpenAIEndpoint, open_client
from resources.harness.retry import Retry
from resources.harness.tool_calls import complaint
from resources.models import ModelSpec
from resources.sandbox_session import StdioCommand

_CALL_SECONDS = 120.0  # above the sandbox's own limit, which ends a run that hangs


class OpenAIAgents:
    """One model under the Agents SDK.

    Args:
        key: the endpoint's key; it is never stored, logged or put into evidence.
    """

    name = "openai_agents"
    privileged = False
    foreign: Literal[True] = True

    def __init__(self, spec: ModelSpec, key: str | None, retry: Retry | None = None) -> None:
        self._responses = (spec.protocol or _usual_protocol(spec)) == "responses"
        self.version = "2 over responses" if self._responses else "2 over chat"
        self.evidence_version = f"2 (openai-agents {sdk_version}, openai {openai.__version__})"
        self._spec = spec
        self._key = key
        self._settings = _settings(spec, responses=self._responses)
        self._endpoint = OpenAIEndpoint(spec, key, retry)
        self._http = openai.DefaultAsyncHttpxClient()
        _quieten()

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def run(self, request: ForeignRequest) -> str:
        """Run the SDK to its end; see `ForeignHarness.run`."""
        view, trace = request.view, request.trace
        if view.system_prompt:
            trace.say("system", view.system_prompt)
        trace.say("user", view.instruction)
        transport = ReadingTransport(self._http, responses_reply.read if self._responses else chat_reply.read, trace)
        client = open_client(self._spec, self._key, httpx2.AsyncClient(transport=transport))
        model = CountedModel(self._model(client), self._endpoint, transport, trace, sealed=self._responses)
        with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
            async with _Sandbox(request.command, nowhere) as sandbox:
                agent = Agent(
                    name="agent",
                    instructions=view.system_prompt or None,
                    model=model,
                    model_settings=self._settings,
                    tools=[_tool(tool, sandbox, transport) for tool in view.tools],
                )
                # One turn more than allowed, so that the model below says no first and knows why.
                config = RunConfig(
                    tracing_disabled=True,
                    tool_not_found_behavior="return_error_to_model",
                    tool_error_formatter=_unknown_tool(sandbox, transport),
                )
                await Runner.run(agent, view.instruction, max_turns=self._spec.max_turns + 1, run_config=config)
        assert transport.reply is not None
        return transport.reply.text

    def _model(self, client: openai.AsyncOpenAI) -> Model:
        kind = OpenAIResponsesModel if self._responses else OpenAIChatCompletionsModel
        return kind(self._spec.model, client)


class _Sandbox(MCPServerStdio):
    """The sandbox as the SDK's tool server. It is not asked for its tools, which the view has."""

    def __init__(self, command: StdioCommand, errlog: TextIO) -> None:
        super().__init__(
            {"command": command.command, "args": list(command.args), "env": command.env},
            name="s",
            client_session_timeout_seconds=_CALL_SECONDS,
        )
        self._errlog = errlog

    def create_streams(self) -> AbstractAsyncContextManager[MCPStreamTransport]:
        """The streams of the process. What it says on stderr is known from elsewhere."""
        return stdio_client(self.params, errlog=self._errlog)


def _tool(tool: ToolView, sandbox: MCPServerStdio, transport: ReadingTransport) -> FunctionTool:
    """A tool of the view."""

    async def invoke(context: ToolContext[Any], arguments: str) -> str:
        return await _answer(tool.name, context.tool_call_id, sandbox, transport)

    return FunctionTool(tool.name, tool.description, tool.input_schema, invoke, strict_json_schema=False)


def _unknown_tool(sandbox: MCPServerStdio, transport: ReadingTransport) -> ToolErrorFormatter:
    """Has the sandbox answer calls of tools that do not exist, so that they are in the evidence."""

    async def answer(problem: ToolErrorFormatterArgs[Any]) -> str | None:
        if problem.kind != "tool_not_found":
            return None
        return await _answer(problem.tool_name, problem.call_id, sandbox, transport)

    return answer


async def _answer(name: str, call_id: str, sandbox: MCPServerStdio, transport: ReadingTransport) -> str:
    """The text that the sandbox sent, errors included."""
    assert transport.reply is not None
    call = next(item for item in transport.reply.asked if item.id == call_id)
    if isinstance(call.arguments, str):
        return complaint(call.arguments)
    result = await sandbox.call_tool(name, call.arguments)
    return "".join(item.text for item in result.content if isinstance(item, TextContent))


def _settings(spec: ModelSpec, *, responses: bool) -> ModelSettings:
    """What a model file sets, in the SDK's words."""
    settings = spec.settings
    limit, newer = settings.max_tokens, settings.max_completion_tokens
    if responses:
        limit, newer = newer or limit, None
    # OpenAI's own address stores what it is not told to forget; other servers may not know the field of the older protocol.
    forgets = responses or is_official_openai_base_url(spec.base_url)
    return ModelSettings(
        temperature=settings.temperature,
        top_p=settings.top_p,
        max_tokens=limit,
        reasoning=Reasoning.model_validate({"effort": settings.reasoning_effort}) if settings.reasoning_effort else None,
        store=False if forgets else None,
        extra_body=dict(settings.extra_body) or None,
        extra_args={"max_completion_tokens": newer} if newer else None,
    )


def _usual_protocol(spec: ModelSpec) -> str:
    return "responses" if spec.provider == "openai" else "chat"


def _quieten() -> None:
    """Take the exporter out of the SDK's tracing before anything makes it, and its errors off the terminal; rollouts have them."""
    silent = DefaultTraceProvider()
    silent.set_disabled(True)
    set_trace_provider(silent)
    logging.getLogger("openai.agents").setLevel(logging.CRITICAL)
