"""Every harness as the conformance suite and the failure matrix see it: what protocol it speaks and what it cannot help doing.

A `Setup` states what is allowed; whatever is not stated must be exactly as in the plain loop.
"""

import importlib.util
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from abstain_assets.pairs.deltas import variant
from abstain_assets.records import Pair, Rollout
from abstain_assets.rollouts.runner import CellResult
from abstain_assets.taxonomy import Side
from resources.harness import open_harness
from resources.harness.base import Budget
from resources.harness.retry import Retry
from resources.models import HarnessName, ModelSpec
from tests.builders_rollouts import FAST, KEY, Lab, kept
from tests.servers.chat import Chat
from tests.servers.dialects import Dialect, ModelServer, Script, Seen
from tests.servers.gemini import Gemini
from tests.servers.messages import Messages
from tests.servers.responses import Responses
from tests.servers.stub import Received

KEY_VARIABLE = "CONFORMANCE_KEY"


def _temperature(seen: Seen) -> Any:
    return seen.settings.get("temperature")


@dataclass(frozen=True)
class Setup:
    """One harness over one protocol.

    Attributes:
        needs: the module its SDK is imported as.
        additions: texts it sends beside the view, exactly; they must be recorded with the rollout.
        beside: names of fields of a request body that neither the view nor the model's settings explain.
        shown: the name under which the model sees a wire name.
        sorts_tools: it offers the tools in the order of their names, whatever the order of the view, and cannot be told otherwise.
        hides_unknown_tools: it answers calls of tools that do not exist itself; the sandbox never hears of them.
        temperature: where a request says it.
        slow: a run takes about a second, so the suite tries less.
        fields: further fields of its model files.
    """

    id: str
    harness: HarnessName
    dialect: Callable[[], Dialect]
    needs: str
    additions: tuple[str, ...] = ()
    beside: frozenset[str] = frozenset()
    shown: Callable[[str], str] = str
    sorts_tools: bool = False
    hides_unknown_tools: bool = False
    temperature: Callable[[Seen], Any] = _temperature
    slow: bool = False
    fields: dict[str, Any] = field(default_factory=dict)

    @property
    def installed(self) -> bool:
        return importlib.util.find_spec(self.needs) is not None

    @property
    def spec_name(self) -> str:
        return f"stub/{self.id}"

    def spec(self, server: ModelServer, **changes: Any) -> ModelSpec:
        """A model behind the server."""
        fields = {
            "name": self.spec_name,
            "harness": self.harness,
            "provider": "stub",
            "model": "stub-1",
            "base_url": server.url,
            "api_key_env": KEY_VARIABLE,
        }
        return ModelSpec.model_validate(fields | self.fields | changes)


SETUPS = (
    Setup("chat_completions", "chat_completions", Chat, needs="openai", beside=frozenset({"temperature"})),
    # Tools are declared `strict: false`, else the provider would rewrite their schemas; the dialect insists on it.
    Setup("openai_responses", "openai_responses", Responses, needs="openai", beside=frozenset({"temperature", "store", "include"})),
    Setup("anthropic_messages", "anthropic_messages", Messages, needs="anthropic", beside=frozenset({"temperature", "max_tokens"})),
    Setup(
        "claude_agent",
        "claude_agent",
        Messages,
        needs="claude_agent_sdk",
        additions=("You are a Claude agent, built on Anthropic's Claude Agent SDK.",),
        # `metadata` is empty.
        beside=frozenset({"temperature", "max_tokens", "stream", "metadata"}),
        shown=lambda name: f"mcp__s__{name}",
        sorts_tools=True,
        hides_unknown_tools=True,
        slow=True,
    ),
    Setup(
        "openai_agents-chat",
        "openai_agents",
        Chat,
        needs="agents",
        beside=frozenset({"temperature"}),
        fields={"protocol": "chat"},
    ),
    Setup(
        "openai_agents-responses",
        "openai_agents",
        Responses,
        needs="agents",
        beside=frozenset({"temperature", "store", "include"}),
        fields={"protocol": "responses"},
    ),
    Setup("google_adk", "google_adk", Gemini, needs="google.adk", beside=frozenset({"temperature"}), hides_unknown_tools=True),
)

# Those that `make test` leaves out; see tests/optional.
OPTIONAL_SETUPS = (
    Setup(
        "openclaw",
        "openclaw",
        Chat,
        needs="openai",
        beside=frozenset({"temperature", "stream", "stream_options"}),
        shown=lambda name: f"s__{name}",
        sorts_tools=True,
        hides_unknown_tools=True,
        slow=True,
    ),
)


@dataclass(frozen=True)
class Ran:
    """What running pairs against a script came to.

    Attributes:
        rollouts: act side first, pair by pair.
        asked: requests that asked the model; `elsewhere` all others the server got.
    """

    result: CellResult
    rollouts: Sequence[Rollout]
    asked: Sequence[Received]
    elsewhere: Sequence[Received]
    seen: Sequence[Seen]

    @property
    def act(self) -> Rollout:
        return self.rollouts[0]


def run(
    setup: Setup,
    lab: Lab,
    folder: Path,
    pairs: Sequence[Pair],
    script: Script,
    *,
    retry: Retry = FAST,
    accepted_key: str = KEY,
    concurrency: int = 1,
    budget: Budget | None = None,
    **changes: Any,
) -> Ran:
    """Run both sides of pairs under a harness against a script, over the wire and in real sandboxes."""
    folder.mkdir(exist_ok=True)
    with ModelServer(setup.dialect(), script, key=accepted_key) as server, _key():
        spec = setup.spec(server, **changes)
        harness = open_harness(spec, retry=retry)
        result = lab.run(folder / "j.jsonl", pairs, spec, harness=harness, concurrency=concurrency, budget=budget)
        asked, everything = server.asked, list(server.received)
        seen = [server.dialect.seen(request) for request in asked]
    elsewhere = [request for request in everything if request not in asked]
    return Ran(result, kept(folder / "j.jsonl"), asked, elsewhere, seen)


def only_act(pair: Pair, script: Script, otherwise: Script) -> Script:
    """A script for the act side of a pair and another one for its abstain side, told apart by what the user says."""
    assert pair.act.instruction != variant(pair, Side.ABSTAIN).instruction
    return lambda seen: script(seen) if pair.act.instruction in seen.user else otherwise(seen)


@contextmanager
def _key() -> Iterator[None]:
    os.environ[KEY_VARIABLE] = KEY
    try:
        yield
    finally:
        del os.environ[KEY_VARIABLE]
