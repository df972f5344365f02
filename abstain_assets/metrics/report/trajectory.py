"""One run as a reader follows it: what the agent said, what it called, what came back and what that changed."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from abstain_assets.metrics.report.text import RESULT_LIMIT, SAID_LIMIT, arguments, clipped, layout
from abstain_assets.records import Message, Rollout, ToolRequest
from environments.runtime.records import Call, Effect
from environments.runtime.wire import wire_name

_EFFECTS_SHOWN = 8
_VALUE_LIMIT = 300
_LONG = 240
Status = Literal["ok", "refused", "fault", "not run"]


@dataclass(frozen=True)
class Saying:
    """Words between calls."""

    text: str


@dataclass(frozen=True)
class Changed:
    """One record that a call changed. `fields` are name, value before and value after."""

    kind: str
    record: str
    how: Literal["created", "changed", "removed"]
    fields: tuple[tuple[str, str, str], ...]
    implied: bool


@dataclass(frozen=True)
class Called:
    """One tool call.

    Attributes:
        status: `refused` by the tool itself, answered by an injected `fault`, or `not run` because it never reached the sandbox.
        fault: kind of the injected fault.
        result: what the agent was told.
        long: whether the result is worth folding away.
        unshown: effects beyond those in `changes`.
        patch: the state changes as JSON Patch.
    """

    tool: str
    kind: str
    args: list[tuple[str, str]]
    status: Status
    fault: str
    result: str
    long: bool
    changes: tuple[Changed, ...]
    unshown: int
    patch: str


Step = Saying | Called


def steps(rollout: Rollout) -> list[Step]:
    """What happened between the instruction and the final text, in order.

    The calls are the sandbox's own evidence. Requests that never reached it are shown as such, and calls that the transcript does
    not mention come last, so nothing that changed the state can be missing.
    """
    answers = {message.tool_call_id: message.content for message in rollout.messages if message.role == "tool"}
    left = list(rollout.calls)
    shown: list[Step] = []
    for message in _spoken(rollout):
        if message.content.strip():
            shown.append(Saying(clipped(message.content, SAID_LIMIT, _where(rollout))))
        for request in message.tool_calls:
            call = _made(request, left)
            if call is None:
                shown.append(_unmade(request, answers.get(request.id, ""), rollout))
            else:
                left.remove(call)
                shown.append(_called(call, rollout))
    return [*shown, *(_called(call, rollout) for call in left)]


def _spoken(rollout: Rollout) -> Iterator[Message]:
    """The agent's messages, without the one that is the final text and has its own place."""
    messages = [message for message in rollout.messages if message.role == "assistant"]
    if messages and not messages[-1].tool_calls and messages[-1].content == rollout.final_text:
        messages.pop()
    yield from messages


def _made(request: ToolRequest, calls: list[Call]) -> Call | None:
    """The first call that this request can have been."""
    fits = (call for call in calls if request.name in (wire_name(call.tool), call.tool) and call.args == request.arguments)
    return next(fits, None)


def _called(call: Call, rollout: Rollout) -> Called:
    status: Status = "fault" if call.injected else "ok" if call.ok else "refused"
    result = layout(call.content)
    effects = call.effects[:_EFFECTS_SHOWN]
    patch = [op.model_dump(mode="json") for op in call.patch]
    return Called(
        tool=call.tool,
        kind=call.kind.value if call.kind else "unknown tool",
        args=arguments(call.args),
        status=status,
        fault=call.injected or "",
        result=clipped(result, RESULT_LIMIT, _where(rollout)),
        long=len(result) > _LONG,
        changes=tuple(_changed(effect) for effect in effects),
        unshown=len(call.effects) - len(effects),
        patch=clipped("\n".join(layout(op) for op in patch), RESULT_LIMIT, _where(rollout)),
    )


def _unmade(request: ToolRequest, answer: str, rollout: Rollout) -> Called:
    raw = request.arguments
    return Called(
        tool=request.name,
        kind="",
        args=[("arguments", raw)] if isinstance(raw, str) else arguments(raw),
        status="not run",
        fault="",
        result=clipped(answer, RESULT_LIMIT, _where(rollout)),
        long=len(answer) > _LONG,
        changes=(),
        unshown=0,
        patch="",
    )


def _changed(effect: Effect) -> Changed:
    before, after = effect.before, effect.after
    names = effect.fields if after is not None else ()
    return Changed(
        kind=effect.kind,
        record=effect.record,
        how="created" if before is None else "removed" if after is None else "changed",
        fields=tuple((name, _value(before, name), _value(after, name)) for name in names),
        implied=effect.implied,
    )


def _value(record: dict[str, object] | None, name: str) -> str:
    return "" if record is None or name not in record else clipped(layout(record[name]), _VALUE_LIMIT, "see the patch")


def _where(rollout: Rollout) -> str:
    return f"abstain show {rollout.fingerprint}"
