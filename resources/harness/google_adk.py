"""Google's Agent Development Kit as a harness: its runner, its tool loop and its MCP client; the model is reached through its own
client.

The kit appends an identity line and a paragraph on untrusted tools to the system prompt, and fences every tool description. Its
hook before a request takes them out again: the request is then exactly the agent's view and the conversation.
"""

import logging
import os
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any, Literal

import google.adk
from google import genai
from google.adk.agents import LlmAgent
from google.adk.agents.run_config import RunConfig
from google.adk.models.base_llm import BaseLlm
from google.adk.models.google_llm import Gemini
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import InMemoryRunner
from google.adk.tools.base_tool import BaseTool
from google.adk.tools.mcp_tool import McpToolset, StdioConnectionParams
from google.adk.tools.tool_context import ToolContext
from google.genai import types
from mcp import StdioServerParameters
from pydantic import PrivateAttr

from abstain_assets.errors import BadInput
from abstain_assets.records import AgentView, ToolRequest
from abstain_assets.rollouts.errors import CellStopped, RunFailed
from environments.runtime.records import JsonObject
from environments.runtime.sandbox import compact
from resources.harness import google_errors
from resources.harness.base import ForeignRequest, Trace
from resources.harness.encoding import encodable
from resources.harness.retry import Retry
from resources.models import ModelSpec

_CALL_SECONDS = 120.0  # above the sandbox's own limit, which ends a run that hangs
_FILTERED = {"SAFETY", "PROHIBITED_CONTENT", "BLOCKLIST", "SPII", "RECITATION", "IMAGE_SAFETY", "MODEL_ARMOR", "JAILBREAK", "OTHER"}
_APP = "app"

# It logs every failed request with a trace; the evidence says what happened, and people look at a progress bar.
logging.getLogger("google_adk").setLevel(logging.CRITICAL)


class GoogleAdk:
    """One Gemini model under the Agent Development Kit.

    Args:
        key: of the Gemini API; it is never stored, logged or put into evidence.

    Raises:
        BadInput: the file sets something the protocol does not have.
    """

    name = "google_adk"
    version = "1"
    evidence_version = f"{version} (google-adk {google.adk.__version__}, google-genai {genai.__version__})"
    privileged = False
    foreign: Literal[True] = True

    def __init__(self, spec: ModelSpec, key: str | None, retry: Retry | None = None) -> None:
        self._spec = spec
        self._key = key
        self._retry = retry or Retry()
        self._config = _config(spec)
        milliseconds = round(1000 * spec.timeout_seconds)
        self._client = genai.Client(
            api_key=key or "none",
            vertexai=False,
            http_options=types.HttpOptions(
                base_url=spec.base_url, timeout=milliseconds, retry_options=types.HttpRetryOptions(attempts=1)
            ),
        )

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aio.aclose()
        self._client.close()

    async def run(self, request: ForeignRequest) -> str:
        """Run the kit to its end; see `ForeignHarness.run`."""
        view, trace = request.view, request.trace
        if view.system_prompt:
            trace.say("system", view.system_prompt)
        trace.say("user", view.instruction)
        model = _Model(self._spec, self._client, self._retry, self._key, view, trace)
        parameters = StdioServerParameters(
            command=request.command.command, args=list(request.command.args), env=request.command.env
        )
        with Path(os.devnull).open("w", encoding="utf-8") as nowhere:
            toolset = McpToolset(
                connection_params=StdioConnectionParams(server_params=parameters, timeout=_CALL_SECONDS), errlog=nowhere
            )
            agent = LlmAgent(
                name="agent",
                model=model,
                instruction=lambda _: view.system_prompt,
                tools=[toolset],
                generate_content_config=self._config,
                on_tool_error_callback=_tool_error,
            )
            runner = InMemoryRunner(agent=agent, app_name=_APP)
            try:
                session = await runner.session_service.create_session(app_name=_APP, user_id="user")
                message = types.Content(role="user", parts=[types.Part(text=view.instruction)])
                async for _ in runner.run_async(
                    user_id="user",
                    session_id=session.id,
                    new_message=message,
                    # One more than allowed, so that the model below says no first and knows why.
                    run_config=RunConfig(max_llm_calls=self._spec.max_turns + 1),
                ):
                    pass
            except (RunFailed, CellStopped):
                raise
            except Exception:
                if model.failure is None:
                    raise
            finally:
                await toolset.close()
                await runner.close()
        if model.failure is not None:
            raise model.failure
        return model.final_text


class _Model(BaseLlm):
    """The model as the kit asks it: every request is cleaned, counted, retried and written down here."""

    _spec: ModelSpec = PrivateAttr()
    _inner: Gemini = PrivateAttr()
    _retry: Retry = PrivateAttr()
    _key: str | None = PrivateAttr()
    _view: AgentView = PrivateAttr()
    _trace: Trace = PrivateAttr()
    _told: set[str] = PrivateAttr(default_factory=set)
    _failure: RunFailed | CellStopped | None = PrivateAttr(default=None)
    _final_text: str = PrivateAttr(default="")

    def __init__(self, spec: ModelSpec, client: genai.Client, retry: Retry, key: str | None, view: AgentView, trace: Trace) -> None:
        super().__init__(model=spec.model)
        self._spec, self._retry, self._key, self._view, self._trace = spec, retry, key, view, trace
        self._inner = Gemini(model=spec.model, client=client)

    @property
    def failure(self) -> RunFailed | CellStopped | None:
        """Why the run ended without a final text, if it did."""
        return self._failure

    @property
    def final_text(self) -> str:
        """What the model said last."""
        return self._final_text

    async def generate_content_async(self, llm_request: LlmRequest, stream: bool = False) -> AsyncGenerator[LlmResponse, None]:
        """Ask the model once, as often as that takes."""
        try:
            response = await self._ask(llm_request)
        except (RunFailed, CellStopped) as error:
            self._failure = error
            raise
        yield response

    async def _ask(self, request: LlmRequest) -> LlmResponse:
        trace = self._trace
        self._hear(request.contents)
        if trace.turns >= self._spec.max_turns:
            raise RunFailed("max_turns_exceeded", f"still calling tools after {trace.turns} turns")
        if trace.budget.exhausted:
            raise RunFailed("budget_exceeded", f"the budget of ${trace.budget.limit:g} is spent")
        _clean(request, self._view)

        async def send() -> LlmResponse:
            trace.requests += 1
            responses = [item async for item in self._inner.generate_content_async(request.model_copy(deep=False))]
            return responses[-1]

        def again() -> None:
            trace.retries += 1

        before = trace.requests
        try:
            with trace.waiting():
                response = await self._retry.send(
                    send, transient=google_errors.transient, wait_hint=google_errors.wait_hint, on_retry=again
                )
        except google_errors.ERRORS as error:
            raise google_errors.explain(error, self._spec, self._key, trace.requests - before) from error
        self._take(response)
        return response

    def _take(self, response: LlmResponse) -> None:
        """Count a reply and write it down; what is no reply of the agent's ends the run."""
        trace = self._trace
        trace.turns += 1
        if (usage := response.usage_metadata) is not None:
            thoughts = usage.thoughts_token_count or 0
            trace.bill(usage.prompt_token_count or 0, (usage.candidates_token_count or 0) + thoughts)
        parts = (response.content.parts if response.content else None) or []
        text = encodable("".join(part.text or "" for part in parts if not part.thought))
        calls = [part.function_call for part in parts if part.function_call]
        for index, call in enumerate(calls):
            call.id = call.id or f"call_{trace.turns}_{index}"
        asked = tuple(ToolRequest(id=call.id or "", name=call.name or "", arguments=encodable(call.args or {})) for call in calls)
        trace.say("assistant", text, tool_calls=asked)
        reason = getattr(response.error_code, "name", response.error_code) or getattr(response.finish_reason, "name", None)
        if reason in _FILTERED:
            raise RunFailed("policy_refusal", f"the provider blocked the reply: {reason}")
        if not calls and not text.strip():
            raise RunFailed("empty_output", f"the reply was empty (finish reason {reason})")
        self._final_text = text

    def _hear(self, contents: list[types.Content]) -> None:
        """Write down the tool results that came since the last reply."""
        for content in contents:
            for part in content.parts or []:
                answer = part.function_response
                if answer is not None and answer.id is not None and answer.id not in self._told:
                    self._told.add(answer.id)
                    self._trace.say("tool", _text_of(answer.response or {}), answers=answer.id)


def _clean(request: LlmRequest, view: AgentView) -> None:
    """Make a request say the view and the conversation, and nothing that the kit adds by itself."""
    config = request.config
    config.system_instruction = view.system_prompt or None
    config.labels = None
    functions = [
        types.FunctionDeclaration(name=tool.name, description=tool.description, parameters_json_schema=tool.input_schema)
        for tool in view.tools
    ]
    config.tools = [types.Tool(function_declarations=functions)] if functions else None


def _text_of(response: JsonObject) -> str:
    """The text of a tool's answer."""
    match response.get("content"):
        case [{"type": "text", "text": str(text)}]:
            return text
    return compact(encodable(response))


async def _tool_error(tool: BaseTool, args: dict[str, Any], tool_context: ToolContext, error: Exception) -> JsonObject:
    """The answer to a call that the kit cannot make. That is a tool that does not exist; a dead sandbox ends the run anyway."""
    return {"error": {"code": "unknown_tool", "message": f"There is no tool {tool.name}."}}


def _config(spec: ModelSpec) -> types.GenerateContentConfig:
    """The settings of a model file in the protocol's words.

    Raises:
        BadInput: the protocol has no such setting.
    """
    settings = spec.settings
    if settings.extra_body:
        raise BadInput(f"{spec.file}: settings.extra_body: google_adk sends no further fields; remove it")
    thinking = None
    if settings.reasoning_effort is not None:
        unset = types.ThinkingLevel.THINKING_LEVEL_UNSPECIFIED
        levels = {item.value.lower(): item for item in types.ThinkingLevel if item is not unset}
        if settings.reasoning_effort not in levels:
            raise BadInput(f"{spec.file}: settings.reasoning_effort: google_adk knows {', '.join(levels)}")
        thinking = types.ThinkingConfig(thinking_level=levels[settings.reasoning_effort])
    return types.GenerateContentConfig(
        temperature=settings.temperature,
        top_p=settings.top_p,
        max_output_tokens=settings.max_completion_tokens or settings.max_tokens,
        thinking_config=thinking,
    )
