"""Applying the one delta of a pair. `abstain = apply(delta, act)`; no other way to an abstain variant exists."""

from typing import Any

from jsonpointer import JsonPointerException, resolve_pointer

from abstain_assets.records import DataDelta, Delta, InstructionDelta, Pair, Task, ToolBehaviorDelta, ToolsDelta
from abstain_assets.taxonomy import Side


class DeltaError(Exception):
    """A delta does not fit the task it is meant for."""


def apply(delta: Delta, task: Task) -> Task:
    """The task with the delta applied.

    Raises:
        DeltaError: the span does not occur exactly once, the path is no existing leaf, the tool is unknown or already treated, or
            nothing would change.
    """
    match delta:
        case InstructionDelta():
            if task.instruction.count(delta.find) != 1:
                raise DeltaError(f"{delta.find!r} must occur exactly once in the instruction")
            changed = task.instruction.replace(delta.find, delta.replace)
            result = task.model_copy(update={"instruction": changed})
        case DataDelta():
            result = task.model_copy(update={"states": _replace_leaf(task.states, delta)})
        case ToolsDelta():
            if delta.hide.split(".")[0] not in task.mount.environments or delta.hide in task.mount.hidden:
                raise DeltaError(f"{delta.hide} is not a visible tool of the mount")
            mount = task.mount.model_copy(update={"hidden": (*task.mount.hidden, delta.hide)})
            result = task.model_copy(update={"mount": mount})
        case ToolBehaviorDelta():
            if any(fault.tool == delta.fault.tool for fault in task.mount.faults):
                raise DeltaError(f"{delta.fault.tool} already has a fault")
            mount = task.mount.model_copy(update={"faults": (*task.mount.faults, delta.fault)})
            result = task.model_copy(update={"mount": mount})
    if result == task:
        raise DeltaError("the delta changes nothing")
    return result


def variant(pair: Pair, side: Side) -> Task:
    """The complete task of one side of a pair."""
    return pair.act if side is Side.ACT else apply(pair.delta, pair.act)


def _replace_leaf(states: dict[str, Any], delta: DataDelta) -> dict[str, Any]:
    try:
        old = resolve_pointer(states, delta.path)
    except JsonPointerException as error:
        raise DeltaError(f"{delta.path} does not exist in the state") from error
    if isinstance(old, (dict, list)) or isinstance(delta.value, (dict, list)):
        raise DeltaError(f"{delta.path} is not a leaf: a data delta replaces one existing value")
    return dict(with_leaf(states, delta.path, delta.value))


def with_leaf(states: Any, pointer: str, value: Any) -> Any:
    """A JSON value with one leaf replaced. Only what lies on the way is copied: states are large."""
    head, _, rest = pointer[1:].partition("/")
    copied = list(states) if isinstance(states, list) else dict(states)
    key: Any = int(head) if isinstance(states, list) else head.replace("~1", "/").replace("~0", "~")
    copied[key] = with_leaf(copied[key], f"/{rest}", value) if rest else value
    return copied
