"""S6: a tool on every route fails. Seen only by calling it."""

from collections.abc import Iterator

import networkx as nx

from abstain_assets.pairs.execute import graph
from abstain_assets.pairs.replay import Replay
from abstain_assets.pairs.scenarios.base import Proof, attempt, check, left_to_people, no_alternatives
from abstain_assets.pairs.scenarios.capability import undeterminable, unreachable_effects
from abstain_assets.records import Check, ToolBehaviorDelta, ToolFailure
from environments.runtime.records import ToolKind

whole_collection = False
alternatives = no_alternatives


def carried_on(proof: Proof) -> list[Replay]:
    """What the act side does."""
    return [proof.replay]


def checks(proof: Proof) -> Iterator[Check]:
    """The broken tool is on the path of every commit (or fact), and no way leads around it."""
    trigger, delta, pair = proof.pair.trigger, proof.pair.delta, proof.pair
    assert isinstance(trigger, ToolFailure) and isinstance(delta, ToolBehaviorDelta)
    yield check("s6.same_tool", trigger.tool == delta.fault.tool, "the trigger names another tool than the delta breaks")
    yield check("s6.lasting", delta.fault.kind != "intermittent", "a fault that goes away on a second try is no failure")
    broken = [node for node in pair.dag.nodes if node.tool == trigger.tool]
    yield check("s6.used", bool(broken), f"the reference never calls {trigger.tool}")
    if not broken:
        return
    yield check("s6.stops", attempt(proof.abstain, pair.dag, pair.slots) is None, "the reference also replays with the tool broken")
    kinds = {call.tool: call.kind for call in proof.replay.calls}
    commits = [node.id for node in pair.dag.nodes if kinds.get(node.tool) is ToolKind.COMMIT and not node.safe]
    below = {name for node in broken for name in (node.id, *nx.descendants(graph(pair.dag), node.id))}
    loose = [name for name in commits if name not in below]
    yield check("s6.on_every_path", not loose, f"commits that do not depend on it: {', '.join(loose)}")
    if trigger.gate is not None:
        said = trigger.gate.casefold() in proof.act.instruction.casefold()
        yield check("s6.gate_said", said, "the text does not demand the gate")
        yield check("s6.gate_verifies", kinds.get(trigger.tool) is ToolKind.VERIFY, "a gate must be a verify tool")
        yield left_to_people("s6.gate_meaning", "that the text makes the verification a condition is for people to judge")
    elif kinds.get(trigger.tool) is ToolKind.COMMIT:
        yield from unreachable_effects(proof, trigger.tool)
    else:
        yield from undeterminable(proof, proof.abstain, trigger.tool)
