"""Trying a model before it is evaluated: one short question, and one that needs a tool, through its own harness in real sandboxes.

What can go wrong is told apart by what fails: opening the harness (SDK, key), the first question (address, key, model id, quota) or
only the second (tools).
"""

from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from random import Random
from time import perf_counter
from typing import Literal

from abstain_assets.errors import BadInput
from abstain_assets.pairs.build import propose
from abstain_assets.records import Pair, Task, Usage
from abstain_assets.rollouts.errors import CellStopped, RunFailed
from abstain_assets.rollouts.runner import total
from abstain_assets.rollouts.view import agent_view, foreign_view
from abstain_assets.taxonomy import Scenario, Side
from environments.retail_orders.environment import RetailOrders
from environments.retail_orders.example import example_state
from environments.retail_orders.families import FAMILIES
from environments.runtime.errors import EnvironmentBug, MountError
from environments.runtime.records import Call, Mount
from resources.harness import open_harness
from resources.harness.base import AnyHarness, Budget, ForeignRequest, HarnessRequest, Privileged, Trace
from resources.harness.retry import Retry
from resources.models import MissingKey, ModelSpec
from resources.sandbox import IsolationIncomplete, SandboxDied, SandboxPool, ZygoteError

Part = Literal["key", "harness", "url", "model", "quota", "endpoint", "tools", "sandbox"]

_ENVIRONMENT = RetailOrders.name
_TOOL = "get_order"
_ORDER = "W-1001"
_SYSTEM = "You answer questions about the orders of a shop, in one short sentence."
_TURNS = 4
_SECONDS = 120.0
_PATIENCE = Retry(attempts=3, base_seconds=0.5, max_seconds=5.0)
_PARTS: dict[str, Part] = {"auth": "key", "quota": "quota", "configuration": "model", "unreachable": "url", "sandbox": "sandbox"}
_BROKEN = (SandboxDied, EnvironmentBug, MountError, ZygoteError, IsolationIncomplete)


@dataclass(frozen=True)
class Tried:
    """What trying a model came to.

    Attributes:
        part, problem: what is wrong and how to mend it; `None` where the model can be evaluated.
        usage: what it took; the cost is in US dollars, and unknown where the model has no prices.
    """

    part: Part | None
    problem: str | None
    usage: Usage
    seconds: float


async def try_model(spec: ModelSpec, pool: SandboxPool, *, retry: Retry = _PATIENCE) -> Tried:
    """Try one model. Scripted policies, which ask nobody, carry out one pair instead."""
    start = perf_counter()
    traces: list[Trace] = []
    small = spec.model_copy(update={"max_turns": _TURNS, "timeout_seconds": min(spec.timeout_seconds, _SECONDS)})
    problem = await _problem(spec if spec.harness == "scripted" else small, pool, traces, retry)
    part, text = problem or (None, None)
    return Tried(part, text, total(trace.usage for trace in traces), round(perf_counter() - start, 3))


async def _problem(spec: ModelSpec, pool: SandboxPool, traces: list[Trace], retry: Retry) -> tuple[Part, str] | None:
    try:
        harness = open_harness(spec, retry=retry)
    except MissingKey as error:
        return "key", str(error)
    except BadInput as error:
        return "harness", str(error)

    async def run(what: Task | Pair) -> _Ran:
        traces.append(Trace(Budget(), spec.prices))
        return await _run(harness, pool, traces[-1], what)

    try:
        if harness.privileged:
            return await _fails(run(_pair()))
        return await _fails(run(_question())) or await _without_tools(run(_errand()), spec)
    finally:
        await harness.close()


@dataclass(frozen=True)
class _Ran:
    """The calls of a run that reached the sandbox, and why there is no final text, if there is none."""

    calls: Sequence[Call]
    failure: RunFailed | CellStopped | None


async def _fails(run: Awaitable[_Ran]) -> tuple[Part, str] | None:
    """Why a run has no final text."""
    try:
        failure = (await run).failure
    except _BROKEN as error:
        return "sandbox", f"{type(error).__name__}: {error}"
    if isinstance(failure, RunFailed):
        return "endpoint", f"{failure.kind}: {failure}"
    return None if failure is None else (_PARTS.get(failure.reason, "endpoint"), str(failure))


async def _without_tools(run: Awaitable[_Ran], spec: ModelSpec) -> tuple[Part, str] | None:
    """Why the model, which answers questions, cannot be had to call a tool."""
    try:
        ran = await run
    except _BROKEN as error:
        return "sandbox", f"{type(error).__name__}: {error}"
    failure, called = ran.failure, any(call.kind for call in ran.calls)
    if isinstance(failure, CellStopped) and failure.reason != "configuration":
        return _PARTS.get(failure.reason, "endpoint"), str(failure)
    if called and isinstance(failure, RunFailed) and failure.kind == "max_turns_exceeded":
        return None  # it can call tools; that it does not stop is for the rollouts to say
    advice = f"choose a model or an endpoint that supports tool calls, in {spec.file}"
    if failure is not None:
        return "tools", f"a request with a tool failed, while one without succeeded: {failure}; {advice}"
    if not called:
        tried = f"; it called {', '.join(call.tool for call in ran.calls)}" if ran.calls else ""
        return "tools", f"it answered without calling the tool that it was asked to use{tried}: {advice}"
    return None


async def _run(harness: AnyHarness, pool: SandboxPool, trace: Trace, what: Task | Pair) -> _Ran:
    """Run a task, or the act side of a pair.

    Raises:
        SandboxDied, EnvironmentBug, MountError, ZygoteError, IsolationIncomplete: the sandbox broke.
    """
    task = what.act if isinstance(what, Pair) else what
    if harness.foreign:
        async with pool.command(task.mount, task.states) as foreign:
            failure = await _failure(foreign.while_alive(harness.run(ForeignRequest(foreign_view(task), foreign.command, trace))))
            try:
                return _Ran((await foreign.finish()).calls, failure)
            except SandboxDied:
                return _Ran(foreign.calls, failure)  # without a tool to offer, a harness need not start it
    privileged = Privileged(what, Side.ACT, epoch=0, seed=0) if isinstance(what, Pair) else None
    async with pool.open(task.mount, task.states) as session:
        failure = await _failure(harness.run(HarnessRequest(agent_view(task, session.tools), session, trace, privileged)))
        return _Ran((await session.finish()).calls, failure)


async def _failure(run: Awaitable[str]) -> RunFailed | CellStopped | None:
    try:
        await run
    except (RunFailed, CellStopped) as error:
        return error
    return None


def _question() -> Task:
    """A question that needs no tool, and has none."""
    return _task("Say that you are ready.", ())


def _errand() -> Task:
    """A question that one tool answers."""
    return _task(f"What is the status of order {_ORDER}? Look it up with the tool.", (_TOOL,))


def _task(instruction: str, tools: Sequence[str]) -> Task:
    hidden = tuple(f"{_ENVIRONMENT}.{name}" for name in RetailOrders.tools if name not in tools)
    states = {_ENVIRONMENT: example_state().model_dump(mode="json")}
    mount = Mount(environments=(_ENVIRONMENT,), hidden=hidden)
    return Task(system_prompt=_SYSTEM, instruction=instruction, mount=mount, states=states)


def _pair() -> Pair:
    """A pair for the policies, which work from its reference."""
    scenario = Scenario.CONFLICTING_CONSTRAINTS
    family = next(family for family in FAMILIES if scenario in family.scenarios)
    drawn = (propose(family, scenario, "v1", seed, family.draw(Random(seed), scenario)) for seed in range(50))
    return next(item for item in drawn if isinstance(item, Pair))
