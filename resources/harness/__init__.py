"""Harnesses by name."""

import importlib
from pathlib import Path

from abstain_assets.errors import BadInput
from resources.harness.base import AnyHarness
from resources.harness.retry import Retry
from resources.harness.scripted import Scripted
from resources.models import ModelSpec, api_key
from resources.settings import Settings


def open_harness(
    spec: ModelSpec, *, retry: Retry | None = None, env_file: Path | None = None, cache: Path | None = None
) -> AnyHarness:
    """The harness of a model, ready to run. Close it when done.

    Raises:
        BadInput: a scripted policy does not exist, or what the harness runs on is not installed.
        MissingKey: the model's key is set nowhere.
    """
    match spec.harness:
        case "scripted":
            return Scripted(spec)
        case "chat_completions":
            # Its SDK takes half a second to import, which scripted policies need not wait for.
            from resources.harness.chat_completions import ChatCompletions

            return ChatCompletions(spec, api_key(spec, env_file), retry)
        case "openai_responses":
            from resources.harness.openai_responses import OpenAIResponses

            return OpenAIResponses(spec, api_key(spec, env_file), retry)
        case "openai_agents":
            _require("agents", spec, "openai-agents", extra="openai-agents")
            from resources.harness.openai_agents import OpenAIAgents

            return OpenAIAgents(spec, api_key(spec, env_file), retry)
        case "anthropic_messages":
            from resources.harness.anthropic_messages import AnthropicMessages

            return AnthropicMessages(spec, api_key(spec, env_file), retry)
        case "google_adk":
            _require("google.adk", spec, "google-adk", extra="google-adk")
            from resources.harness.google_adk import GoogleAdk

            return GoogleAdk(spec, api_key(spec, env_file), retry)
        case "claude_agent":
            _require("claude_agent_sdk", spec, "claude-agent-sdk", extra="claude-agent")
            from resources.harness.claude_agent import ClaudeAgent

            return ClaudeAgent(spec, api_key(spec, env_file), retry)
        case "openclaw":
            from resources.harness.openclaw import OpenClaw

            return OpenClaw(spec, api_key(spec, env_file), retry)
        case "local":
            _require("xllamacpp", spec, "xllamacpp", extra="local")
            from resources.harness.local import Local

            return Local(spec, cache or Settings.resolve().cache, retry)


def _require(module: str, spec: ModelSpec, package: str, *, extra: str) -> None:
    """Refuse a harness whose SDK is not installed.

    Raises:
        BadInput: it is not.
    """
    try:
        importlib.import_module(module)
    except ImportError as error:
        fix = f"run `make extras`, or `pip install 'abstain-assets[{extra}]'`"
        raise BadInput(f"{spec.file}: harness: {spec.harness} needs {package}, which is not installed: {fix}") from error
