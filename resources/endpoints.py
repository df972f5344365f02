"""What harnesses need and providers offer: the protocol a harness speaks, the SDK it is built on, and where a known provider serves
a protocol, so that a model file can leave out the address.

Addresses are those the providers' own SDKs and documentation give; a gateway knows a model under an id of its own.
"""

import importlib.util
from dataclasses import dataclass
from typing import Literal

from resources.openclaw_install import OpenClawInstall

HarnessName = Literal[
    "chat_completions",
    "openai_responses",
    "anthropic_messages",
    "openai_agents",
    "claude_agent",
    "google_adk",
    "openclaw",
    "scripted",
    "local",
]
Protocol = Literal["openai", "anthropic", "google"]

# `scripted` and `local` speak to no provider.
PROTOCOLS: dict[HarnessName, Protocol] = {
    "chat_completions": "openai",
    "openai_responses": "openai",
    "openai_agents": "openai",
    "openclaw": "openai",
    "anthropic_messages": "anthropic",
    "claude_agent": "anthropic",
    "google_adk": "google",
}


@dataclass(frozen=True)
class Sdk:
    """An optional package: the module it is imported as, and the extra of this project that installs it."""

    module: str
    extra: str

    @property
    def installed(self) -> bool:
        try:
            return importlib.util.find_spec(self.module) is not None
        except ModuleNotFoundError:
            return False

    @property
    def fix(self) -> str:
        return f"run `make extras`, or `pip install 'abstain-assets[{self.extra}]'`"


SDKS: dict[HarnessName, Sdk | OpenClawInstall] = {
    "openai_agents": Sdk("agents", "openai-agents"),
    "claude_agent": Sdk("claude_agent_sdk", "claude-agent"),
    "google_adk": Sdk("google.adk", "google-adk"),
    "local": Sdk("xllamacpp", "local"),
    "openclaw": OpenClawInstall(),
}


@dataclass(frozen=True)
class Endpoint:
    """Where a provider serves a protocol.

    Attributes:
        url: up to the part that the SDK of the protocol appends.
        key: the variable that usually holds the key; `None` where none is needed.
        bearer: the key goes into `Authorization`, also where the protocol has a header of its own for it.
    """

    url: str
    key: str | None = None
    bearer: bool = False


_BEDROCK_KEY = "AWS_BEARER_TOKEN_BEDROCK"

ENDPOINTS: dict[tuple[str, Protocol], Endpoint] = {
    ("openai", "openai"): Endpoint("https://api.openai.com/v1", "OPENAI_API_KEY"),
    ("anthropic", "anthropic"): Endpoint("https://api.anthropic.com", "ANTHROPIC_API_KEY"),
    ("anthropic", "openai"): Endpoint("https://api.anthropic.com/v1", "ANTHROPIC_API_KEY"),
    ("google", "google"): Endpoint("https://generativelanguage.googleapis.com", "GEMINI_API_KEY"),
    ("google", "openai"): Endpoint("https://generativelanguage.googleapis.com/v1beta/openai", "GEMINI_API_KEY"),
    ("openrouter", "openai"): Endpoint("https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
    ("openrouter", "anthropic"): Endpoint("https://openrouter.ai/api", "OPENROUTER_API_KEY", bearer=True),
    ("bedrock", "openai"): Endpoint("https://bedrock-runtime.us-east-1.amazonaws.com/openai/v1", _BEDROCK_KEY),
    ("bedrock", "anthropic"): Endpoint("https://bedrock-mantle.us-east-1.api.aws/anthropic", _BEDROCK_KEY, bearer=True),
    ("deepseek", "openai"): Endpoint("https://api.deepseek.com/v1", "DEEPSEEK_API_KEY"),
    ("ollama", "openai"): Endpoint("http://127.0.0.1:11434/v1"),
    ("vllm", "openai"): Endpoint("http://127.0.0.1:8000/v1"),
    ("llama.cpp", "openai"): Endpoint("http://127.0.0.1:8080/v1"),
}


def endpoint_of(provider: object, harness: object) -> Endpoint | None:
    """Where a harness finds a known provider; `None` for any other."""
    return next((item for (name, protocol), item in ENDPOINTS.items() if name == provider and protocol == _spoken(harness)), None)


def missing_address(provider: str, harness: HarnessName) -> str:
    """What to do where a harness knows no address of a provider."""
    offered = {protocol for name, protocol in ENDPOINTS if name == provider}
    if offered:
        able = ", ".join(name for name, protocol in PROTOCOLS.items() if protocol in offered)
        return f"base_url is missing: {provider} is not known to serve the {harness} harness; give its address, or use {able}"
    known = ", ".join(name for name, protocol in ENDPOINTS if protocol == PROTOCOLS[harness])
    return f"base_url is missing: the {harness} harness needs the address of the endpoint, unless provider is one of {known}"


def _spoken(harness: object) -> Protocol | None:
    return next((protocol for name, protocol in PROTOCOLS.items() if name == harness), None)
