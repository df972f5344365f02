"""What the reference path observes on the abstain side, going on through whatever it finds."""

from collections.abc import Mapping
from typing import Any

from abstain_assets.pairs.execute import walk
from abstain_assets.records import Dag, Slot, Task
from environments.runtime.records import Call, JsonObject
from environments.runtime.sandbox import Sandbox


def lenient_calls(task: Task, dag: Dag, slots: Mapping[str, Slot]) -> tuple[tuple[str, Call], ...]:
    """Node id and call, in order, of a walk that ignores refusals and findings."""
    done, _ = _go(task, dag, slots)
    return done


def lenient_results(task: Task, dag: Dag, slots: Mapping[str, Slot]) -> dict[str, Any]:
    """Results by node of such a walk."""
    _, results = _go(task, dag, slots)
    return results


def _go(task: Task, dag: Dag, slots: Mapping[str, Slot]) -> tuple[tuple[tuple[str, Call], ...], dict[str, Any]]:
    sandbox = Sandbox(task.mount, task.states)
    steps = walk(dag, slots, lenient=True)
    done: list[tuple[str, Call]] = []
    try:
        step = next(steps)
        while True:
            call = sandbox.call(step.node.tool, step.args)
            if call.injected == "intermittent":
                call = sandbox.call(step.node.tool, step.args)
            done.append((step.node.id, call))
            step = steps.send(call.content)
    except StopIteration as stop:
        results: dict[str, JsonObject] = stop.value
        return tuple(done), results
