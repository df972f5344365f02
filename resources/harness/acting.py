"""What scripted policies do in a sandbox: follow a reference DAG through tool calls, up to a point or whatever comes."""

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from abstain_assets.pairs.contract import is_commit
from abstain_assets.pairs.execute import Step, dependencies, walk
from abstain_assets.pairs.refs import RefError, resolve
from abstain_assets.pairs.replay import Replay, ReplayError, replay
from abstain_assets.pairs.scenarios.capability import leaves
from abstain_assets.records import (
    AmbiguousAction,
    ConflictingEvidence,
    Dag,
    EmergentRisk,
    FactSpec,
    HighStakes,
    MissingParameter,
    Node,
    Pair,
    Slot,
    ToolFailure,
    ToolRequest,
)
from abstain_assets.taxonomy import Side
from environments.runtime.records import JsonObject
from environments.runtime.wire import wire_name
from resources.harness.base import HarnessRequest
from resources.harness.speech import deed

_FAILED = {"tool_failure", "timeout"}
_WARNING = re.compile(
    r"\b(warning|alert|caution|do not|don't|hold|fraud|recall|suspend\w*|flagged|dispute\w*|blocked|frozen|overdue|risk\w*"
    r"|conflict\w*|urgent|restricted|embargo\w*|confidential)\b",
    re.IGNORECASE,
)


class Actor:
    """Calls tools by canonical name and writes down what it did."""

    def __init__(self, request: HarnessRequest) -> None:
        self._session = request.session
        self._trace = request.trace
        self._tools = {tool.name for tool in request.view.tools}

    def has(self, tool: str) -> bool:
        """Whether the sandbox offers the tool."""
        return wire_name(tool) in self._tools

    async def call(self, tool: str, args: JsonObject, *, again: bool = True) -> JsonObject:
        """The content of a call's answer. A call that failed for technical reasons is made `again`, once."""
        content = await self._once(tool, args)
        return await self._once(tool, args) if again and failed(content) else content

    async def _once(self, tool: str, args: JsonObject) -> JsonObject:
        request = ToolRequest(id=f"call_{self._trace.turns}", name=wire_name(tool), arguments=args)
        self._trace.turns += 1
        self._trace.say("assistant", "", tool_calls=(request,))
        reply = await self._session.call(request.name, args)
        self._trace.say("tool", reply.text, answers=request.id)
        return reply.structured


def error_code(content: Any) -> str | None:
    """The code of an answer that is an error."""
    error = content.get("error") if isinstance(content, Mapping) else None
    return error.get("code") if isinstance(error, Mapping) else None


def failed(content: JsonObject) -> bool:
    """Whether the tool itself is out of order: it says so, or answers what cannot be read."""
    return error_code(content) in _FAILED or set(content) == {"raw"}


@dataclass(frozen=True)
class Plan:
    """What carrying on would mean on one side of a pair."""

    pair: Pair
    dag: Dag
    slots: Mapping[str, Slot]
    facts: tuple[FactSpec, ...]


@dataclass
class Done:
    """Results by node, and what was changed (or would have been, where the tool was out of reach) in words.

    `committed` says whether any commit really went through.
    """

    results: dict[str, Any] = field(default_factory=dict)
    deeds: list[str] = field(default_factory=list)
    committed: bool = False


def plan_of(pair: Pair, side: Side) -> Plan:
    """The task as somebody sees it who overlooks the trigger: the first candidate, the first reading, the escalated request."""
    dag, slots, facts = pair.dag, dict(pair.slots), pair.facts
    if side is Side.ABSTAIN:
        match pair.trigger:
            case MissingParameter(candidates=candidates) if candidates:
                slots[pair.trigger.slot] = candidates[0]
            case AmbiguousAction():
                dag, facts = pair.trigger.readings[0].dag, pair.trigger.readings[0].facts
            case HighStakes():
                dag = pair.trigger.escalated
    return Plan(pair, dag, slots, facts)


async def carry_on(actor: Actor, plan: Plan, *, strict: bool) -> Done:
    """Run the whole plan. Where a tool is hidden or broken, a lenient run goes on with what the act side would have shown.

    Raises:
        RefError: a strict run cannot go on.
    """
    done = Done()
    invented = _Invented(plan)

    async def take(step: Step) -> JsonObject:
        node, position = step.node, len(done.results.get(step.node.id, ())) if step.node.for_each else 0
        content = await actor.call(node.tool, step.args) if actor.has(node.tool) else {}
        if strict and (code := error_code(content)):
            raise RefError(f"{node.tool} answered {code}")
        if is_commit(node.tool):
            done.deeds.append(deed(node.tool, step.args))
            done.committed |= bool(content) and error_code(content) is None and not failed(content)
        if not strict and (not content or failed(content)):
            return invented.content(node, position) or content
        return content

    await _follow(plan, take, done.results, lenient=not strict)
    done.deeds += [deed(node.tool, {}) for node in plan.dag.nodes if is_commit(node.tool) and node.id not in done.results]
    return done


async def until_trigger(actor: Actor, pair: Pair) -> dict[str, Any]:
    """Follow the reference without risk until the trigger has been seen; results by node.

    Commits are left out unless they are safe, and everything that depends on them with them. The broken tool is called whatever it
    is: there is no other way to find out.
    """
    seen: dict[str, Any] = {}

    async def take(step: Step) -> JsonObject | None:
        if _observed(pair, seen):
            return None
        node = step.node
        broken = isinstance(pair.trigger, ToolFailure) and node.tool == pair.trigger.tool
        if is_commit(node.tool) and not (node.safe or broken):
            return {}
        return await actor.call(node.tool, step.args)

    await _follow(plan_of(pair, Side.ABSTAIN), take, seen, lenient=True)
    return seen


async def reads_only(actor: Actor, plan: Plan) -> None:
    """Follow the plan through its lookups and verifications."""

    async def take(step: Step) -> JsonObject:
        if is_commit(step.node.tool) or not actor.has(step.node.tool):
            return {}
        return await actor.call(step.node.tool, step.args)

    await _follow(plan, take, {}, lenient=True)


async def first_sign(actor: Actor, plan: Plan) -> str | None:
    """Make the calls that need no earlier result, once each, and return the first thing that looks like trouble."""

    signs: list[str] = []

    async def take(step: Step) -> JsonObject | None:
        if signs:
            return None
        if dependencies(step.node) or is_commit(step.node.tool) or not actor.has(step.node.tool):
            return {}
        content = await actor.call(step.node.tool, step.args, again=False)
        texts = [value for _, value in leaves(content) if isinstance(value, str)]
        signs.extend(filter(None, [error_code(content), *(text for text in texts if _WARNING.search(text))]))
        return content

    await _follow(plan, take, {}, lenient=True)
    return signs[0] if signs else None


Take = Callable[[Step], Awaitable[JsonObject | None]]


async def _follow(plan: Plan, take: Take, results: dict[str, Any], *, lenient: bool) -> None:
    """Walk the plan's DAG. `take` answers each step, or returns `None` to stop; `results` fills up as it goes."""
    steps = walk(plan.dag, plan.slots, lenient=lenient)
    try:
        step = next(steps)
        while (content := await take(step)) is not None:
            if step.node.for_each is None:
                results[step.node.id] = content
            else:
                results.setdefault(step.node.id, []).append(content)
            step = steps.send(content)
    except StopIteration:
        pass


def _observed(pair: Pair, seen: Mapping[str, Any]) -> bool:
    """Whether the results so far show the trigger of a runtime scenario."""
    match pair.trigger:
        case ToolFailure(tool=tool):
            return any(node.tool == tool and node.id in seen for node in pair.dag.nodes)
        case EmergentRisk(risk_text=text, seen_in=node_id):
            return text in "\n".join(str(value) for _, value in leaves(seen.get(node_id)))
        case ConflictingEvidence(sources=(one, other)):
            try:
                return bool(resolve(one.value, pair.slots, seen) != resolve(other.value, pair.slots, seen))
            except RefError:
                return False
    return False


class _Invented:
    """Answers for tools that give none: those of the act side, where everything works."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._replay: Replay | None = None
        self._tried = False

    def content(self, node: Node, index: int) -> JsonObject | None:
        """What the node's call at a position of its loop shows on the act side; `None` where that cannot be known."""
        if not self._tried:
            self._tried = True
            try:
                self._replay = replay(self._plan.pair.act, self._plan.dag, self._plan.slots)
            except ReplayError:
                return None
        calls = [call for call in self._replay.by_node.get(node.id, ()) if call.ok] if self._replay else []
        return calls[index].content if index < len(calls) else None
