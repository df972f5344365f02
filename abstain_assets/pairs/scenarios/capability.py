"""S5 and S6: what is needed is out of reach. Two proofs, shared by both scenarios.

A change is out of reach when no remaining tool declares an effect that writes those fields of that collection: the runtime
enforces the declarations, so this is a proof. A fact is out of reach when some state value it depends on can be altered without any
remaining observation answering differently.
"""

from collections.abc import Iterator
from datetime import date, timedelta
from typing import Any

from abstain_assets.pairs.contract import collection, declarations
from abstain_assets.pairs.deltas import with_leaf
from abstain_assets.pairs.explore import Exploration, explore, observe
from abstain_assets.pairs.refs import RefError
from abstain_assets.pairs.replay import ReplayError, facts, replay
from abstain_assets.pairs.scenarios.base import Proof, check
from abstain_assets.records import Check, Task
from environments.runtime.effects import EffectDecl
from environments.runtime.errors import EnvironmentBug
from environments.runtime.records import Effect
from environments.runtime.sandbox import Sandbox


def unreachable_effects(proof: Proof, tool: str) -> Iterator[Check]:
    """No remaining tool can bring about the required effects of `tool`."""
    needed = [effect for call in proof.replay.calls if call.tool == tool for effect in call.effects if not effect.implied]
    others = [spec.name for spec in Sandbox(proof.act.mount, proof.act.states).tools if spec.name != tool]
    rivals = [name for name in others if any(_may_bring_about(name, effect) for effect in needed)]
    yield check("capability.no_other_tool", not rivals, f"the outcome can also be reached with {', '.join(rivals)}")


def may_write(tool: str, effect: Effect) -> bool:
    """Whether a tool declares that it can write what an effect wrote: the same fields of the same collection."""
    for decl in _same_collection(tool, effect):
        writes = "*" in decl.writes or set(effect.fields) & set(decl.writes)
        # Anything may write an existing record; a new record also has to be of the same kind, for collections hold several.
        if writes and (effect.before is not None or decl.kind == effect.kind):
            return True
    return False


def _may_bring_about(tool: str, effect: Effect) -> bool:
    """Whether a tool declares that it can do what an effect did."""
    updates = effect.before is not None and effect.after is not None
    for decl in _same_collection(tool, effect):
        # "*" creates or deletes whole records; another kind of that never updates one.
        if ("*" in decl.writes and decl.kind == effect.kind) or (updates and set(effect.fields) & set(decl.writes)):
            return True
    return False


def _same_collection(tool: str, effect: Effect) -> list[EffectDecl]:
    env = tool.split(".")[0]
    return [decl for decl in declarations(tool) if collection(effect.record) == collection(f"/{env}{decl.on}")]


def undeterminable(proof: Proof, task: Task, tool: str) -> Iterator[Check]:
    """Something the outcome depends on can change without any remaining observation showing it."""
    exploration = explore(task, proof.pair.slots, without=tool)
    witness = next(_hidden_leaves(proof, task, exploration, tool), None)
    yield check("capability.undeterminable", witness is not None, f"everything the outcome depends on can be seen without {tool}")


def _hidden_leaves(proof: Proof, task: Task, exploration: Exploration, tool: str) -> Iterator[str]:
    """State leaves the outcome depends on and no remaining observation reveals."""
    seen = {repr(value) for call in proof.replay.calls if call.tool == tool for _, value in leaves(call.content)}
    for pointer, value in sorted(leaves(proof.act.states), key=lambda leaf: _remoteness(leaf[0], leaf[1], seen)):
        if repr(value) not in seen or pointer.endswith(("/now",)):
            continue
        altered = alter(value)
        if altered is None or not _depends(proof, pointer, altered):
            continue
        changed = task.model_copy(update={"states": with_leaf(task.states, pointer, altered)})
        if next(observe(changed, exploration.observations), None) is None:
            yield pointer


def _remoteness(pointer: str, value: Any, seen: set[str]) -> int:
    """Where to look first: telling values in records that the tool showed, then other telling values."""
    telling = len(value) > 3 if isinstance(value, str) else isinstance(value, int) and abs(value) > 20
    shown = sum(repr(part) in seen for part in pointer.split("/"))
    return (0 if telling else 10) + (0 if shown else 5) + (0 if pointer.rsplit("/", 1)[0].endswith(str(value)) else 1)


def _depends(proof: Proof, pointer: str, altered: Any) -> bool:
    """Whether the act side's outcome differs when the leaf is altered."""
    pair = proof.pair
    changed = proof.act.model_copy(update={"states": with_leaf(proof.act.states, pointer, altered)})
    try:
        done = replay(changed, pair.dag, pair.slots)
        if facts(pair.facts, pair.slots, done.results) != facts(pair.facts, pair.slots, proof.replay.results):
            return True
        return [(item.kind, item.record) for item in done.effects] != [(item.kind, item.record) for item in proof.replay.effects]
    except (ReplayError, RefError):
        return True
    except (ValueError, EnvironmentBug):
        return False  # the altered world is not a possible one


def leaves(value: Any, pointer: str = "") -> Iterator[tuple[str, Any]]:
    """All leaves of a JSON value with their pointers."""
    if isinstance(value, dict):
        for key, child in value.items():
            yield from leaves(child, f"{pointer}/{str(key).replace('~', '~0').replace('/', '~1')}")
    elif isinstance(value, list):
        for index, child in enumerate(value):
            yield from leaves(child, f"{pointer}/{index}")
    else:
        yield pointer, value


def alter(value: Any) -> Any:
    """Another value of the same kind; `None` when there is no obvious one."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 37
    if isinstance(value, str):
        try:
            moved = date.fromisoformat(value[:10]) + timedelta(days=9)
            return moved.isoformat() + value[10:]
        except ValueError:
            return f"{value} Q"
    return None
