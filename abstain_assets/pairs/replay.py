"""Replay: run a reference DAG on a task and record everything it does. Results are consumed, so a wrong path cannot go on."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from abstain_assets.pairs.execute import walk
from abstain_assets.pairs.refs import RefError, resolve
from abstain_assets.records import Dag, Fact, FactSpec, Node, Slot, Task
from environments.runtime.records import Call, Effect, JsonObject
from environments.runtime.sandbox import Sandbox


class ReplayError(Exception):
    """A replay stopped. `node` is where, `calls` what had been called until then."""

    def __init__(self, node: str, reason: str, calls: tuple[Call, ...] = ()) -> None:
        super().__init__(f"node {node}: {reason}")
        self.node = node
        self.reason = reason
        self.calls = calls


@dataclass(frozen=True)
class Replay:
    """What a completed replay did."""

    calls: tuple[Call, ...]
    by_node: dict[str, tuple[Call, ...]]
    results: dict[str, Any]
    final_state: dict[str, JsonObject] = field(repr=False)

    @property
    def effects(self) -> tuple[Effect, ...]:
        """Effects of all calls in order, without implied ones."""
        return tuple(effect for call in self.calls for effect in call.effects if not effect.implied)


def replay(task: Task, dag: Dag, slots: Mapping[str, Slot]) -> Replay:
    """Run a DAG on a fresh sandbox of a task. The first failing call of a node under an intermittent fault is retried once.

    Raises:
        ReplayError: a reference does not resolve, a call is refused, or a verify node does not find what it expects.
    """
    sandbox = Sandbox(task.mount, task.states)
    by_node: dict[str, tuple[Call, ...]] = {}
    steps = walk(dag, slots)
    node_id = "start"
    try:
        step = next(steps)
        while True:
            node_id = step.node.id
            call = sandbox.call(step.node.tool, step.args)
            if call.injected == "intermittent":
                call = sandbox.call(step.node.tool, step.args)
            by_node[node_id] = (*by_node.get(node_id, ()), call)
            _demand(step.node, call, sandbox)
            step = steps.send(call.content)
    except StopIteration as stop:
        return Replay(tuple(sandbox.calls), by_node, stop.value, sandbox.state())
    except RefError as error:
        raise ReplayError(node_id, str(error), tuple(sandbox.calls)) from error


def _demand(node: Node, call: Call, sandbox: Sandbox) -> None:
    if call.error is not None:
        raise ReplayError(node.id, f"{call.tool} answered {call.error.code}: {call.error.message}", tuple(sandbox.calls))
    for name, wanted in node.expect.items():
        got = (call.result or {}).get(name)
        if got != wanted:
            raise ReplayError(node.id, f"{call.tool} found {name}={got!r} where {wanted!r} is needed", tuple(sandbox.calls))


def facts(specs: tuple[FactSpec, ...], slots: Mapping[str, Slot], results: Mapping[str, Any]) -> tuple[Fact, ...]:
    """Values of the facts an answer must contain.

    Raises:
        RefError: a fact does not follow from the results.
    """
    return tuple(Fact(label=spec.label, kind=spec.kind, value=resolve(spec.value, slots, results)) for spec in specs)
