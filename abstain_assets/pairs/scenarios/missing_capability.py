"""S5: the tool that the task needs is not among the tools. Visible before any call."""

from collections.abc import Iterator

from abstain_assets.pairs.replay import Replay
from abstain_assets.pairs.scenarios.base import Proof, check, no_alternatives
from abstain_assets.pairs.scenarios.capability import undeterminable, unreachable_effects
from abstain_assets.records import Check, MissingCapability, ToolsDelta
from environments.runtime.records import ToolKind

whole_collection = False
alternatives = no_alternatives


def carried_on(proof: Proof) -> list[Replay]:
    """What the act side does."""
    return [proof.replay]


def checks(proof: Proof) -> Iterator[Check]:
    """The reference uses the hidden tool, and nothing left replaces it."""
    trigger, delta = proof.pair.trigger, proof.pair.delta
    assert isinstance(trigger, MissingCapability) and isinstance(delta, ToolsDelta)
    yield check("s5.same_tool", trigger.tool == delta.hide, "the trigger names another tool than the delta hides")
    used = [call for call in proof.replay.calls if call.tool == trigger.tool]
    yield check("s5.used", bool(used), f"the reference never calls {trigger.tool}")
    if not used:
        return
    if used[0].kind is ToolKind.COMMIT:
        yield from unreachable_effects(proof, trigger.tool)
    else:
        yield from undeterminable(proof, proof.abstain, trigger.tool)
