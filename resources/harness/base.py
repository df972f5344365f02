"""What every harness is: something that shows a model an `AgentView`, lets it use a sandbox, and comes back with a final text.

A harness gets nothing that names the scenario, the side or the pair. Scripted policies are the exception: they are marked
privileged and receive the pair. A foreign harness, which is somebody's agent SDK, starts the sandbox itself as its tool server.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter
from typing import Literal, Protocol

from abstain_assets.records import AgentView, Message, Pair, ToolRequest, Usage
from abstain_assets.taxonomy import Side
from environments.runtime.records import JsonObject
from resources.models import Prices
from resources.sandbox_session import StdioCommand

Role = Literal["system", "user", "assistant", "tool"]


class ToolReply(Protocol):
    """What a tool call gave: the text for the model and the same as data."""

    @property
    def text(self) -> str: ...
    @property
    def structured(self) -> JsonObject: ...
    @property
    def is_error(self) -> bool: ...


class ToolSession(Protocol):
    """The open sandbox of one run. `call` takes wire names and raises when the sandbox is gone."""

    async def call(self, name: str, args: JsonObject) -> ToolReply: ...


@dataclass
class Budget:
    """What may still be spent, shared by everything that draws on it. Dollars; no limit where `limit` is `None`."""

    limit: float | None = None
    spent: float = 0.0

    @property
    def exhausted(self) -> bool:
        return self.limit is not None and self.spent >= self.limit


@dataclass
class Trace:
    """What a run has left behind so far. It belongs to the runner, so it survives however the run ends.

    Attributes:
        additions: what the harness sent to the model beside the view because it cannot be dropped.
    """

    budget: Budget
    prices: Prices | None = None
    messages: list[Message] = field(default_factory=list)
    additions: list[str] = field(default_factory=list)
    turns: int = 0
    requests: int = 0
    retries: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    model_seconds: float = 0.0

    def say(self, role: Role, content: str, *, tool_calls: tuple[ToolRequest, ...] = (), answers: str | None = None) -> None:
        """Add a message; `answers` is the id of the tool call that a tool message answers."""
        self.messages.append(Message(role=role, content=content, tool_calls=tool_calls, tool_call_id=answers))

    def bill(self, input_tokens: int, output_tokens: int) -> None:
        """Count the tokens of one reply and charge the budget for them."""
        self.input_tokens += input_tokens
        self.output_tokens += output_tokens
        if self.prices is not None:
            self.budget.spent += self.prices.cost(input_tokens, output_tokens)

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Count the time inside as spent waiting for the model."""
        start = perf_counter()
        try:
            yield
        finally:
            self.model_seconds += perf_counter() - start

    @property
    def usage(self) -> Usage:
        """Tokens and money so far. What sent no request cost nothing."""
        priced = self.prices.cost(self.input_tokens, self.output_tokens) if self.prices else None
        return Usage(
            requests=self.requests,
            retries=self.retries,
            input_tokens=self.input_tokens,
            output_tokens=self.output_tokens,
            cost_usd=priced if self.requests else 0.0,
        )


@dataclass(frozen=True)
class Privileged:
    """What only scripted policies may know."""

    pair: Pair
    side: Side
    epoch: int
    seed: int


@dataclass(frozen=True)
class HarnessRequest:
    """One run.

    Attributes:
        view: everything that may leave for the model.
        session: the sandbox to call tools in.
        trace: where messages and usage go as they happen.
        privileged: set for privileged harnesses only.
    """

    view: AgentView
    session: ToolSession
    trace: Trace
    privileged: Privileged | None = None


@dataclass(frozen=True)
class ForeignRequest:
    """One run of a foreign harness.

    Attributes:
        view: everything that may leave for the model; its tools are what the command will serve.
        command: starts the sandbox as a tool server on stdio (MCP), once.
        trace: where messages and usage go as they happen. Calls, results and changes reach the runner from the sandbox itself.
    """

    view: AgentView
    command: StdioCommand
    trace: Trace


class _Common(Protocol):
    """What every harness says of itself.

    Attributes:
        name: as in model files.
        version: of what it does and sends; part of every fingerprint, so a change runs everything again.
        evidence_version: `version` with the versions of the libraries it used; kept with every rollout.
        privileged: whether it receives the pair.
    """

    name: str
    version: str
    evidence_version: str
    privileged: bool

    async def close(self) -> None:
        """Close connections and end processes."""
        ...


class Harness(_Common, Protocol):
    """One model under one harness. Made once per cell and shared by its runs."""

    foreign: Literal[False]

    async def run(self, request: HarnessRequest) -> str:
        """Run to the end and return the final text.

        Raises:
            RunFailed: the run has no verdict.
            CellStopped: no further run of this cell can succeed.
        """
        ...


class ForeignHarness(_Common, Protocol):
    """One model under somebody's agent SDK, which starts the sandbox itself."""

    foreign: Literal[True]

    async def run(self, request: ForeignRequest) -> str:
        """As `Harness.run`. The harness has left nothing running when this returns or raises."""
        ...


AnyHarness = Harness | ForeignHarness
