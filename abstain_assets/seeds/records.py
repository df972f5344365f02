"""The records of the seeds stage, in the order in which a seed passes through it."""

from typing import Literal

from abstain_assets.records import Frozen
from abstain_assets.taxonomy import ActionType, Scenario
from environments.runtime.records import ToolKind

CapabilityKind = Literal["read", "search", "verify", "write", "delete"]
TOOL_KINDS: dict[CapabilityKind, ToolKind] = {
    "read": ToolKind.LOOKUP,
    "search": ToolKind.LOOKUP,
    "verify": ToolKind.VERIFY,
    "write": ToolKind.COMMIT,
    "delete": ToolKind.COMMIT,
}


class Seed(Frozen):
    """One request of a benchmark in the common schema (paper, AbstainGen stage 1).

    Attributes:
        id: `<source>/<split>/<the source's own id>`.
        source: the benchmark; `split` the part of it.
        instruction: the request as the source has it, white space tidied.
        environment: the kind of environment it plays in, consolidated.
        source_environment: as the source names it.
        tools: names of tools the source's own solution calls, in order.
        offered: names of tools the source offers, where it says so.
        scenario: exactly one; `scenario_by` says whether a label of the source or a keyword decided.
        action_type: operational where a tool of the plan changes something.
    """

    id: str
    source: str
    split: str
    instruction: str
    environment: str
    source_environment: str
    tools: tuple[str, ...] = ()
    offered: tuple[str, ...] = ()
    scenario: Scenario
    scenario_by: Literal["label", "keyword", "default"]
    action_type: ActionType


class SeedCapability(Frozen):
    """One thing an environment must be able to do for a seed.

    Attributes:
        kind: decides the kind of tool: read and search are lookups, verify is a verify, write and delete are commits.
        object: what it is done to, a singular noun like `order` or `calendar event`.
    """

    kind: CapabilityKind
    object: str


class AugmentedSeed(Frozen):
    """A seed with what a pair grounded in it needs (paper, AbstainGen stage 2).

    Attributes:
        instruction: rewritten: self-contained, one paragraph, without remarks of the source about itself.
        act: capabilities of the act side. Informational seeds have no write or delete there, operational ones at least one.
        abstain: further capabilities that only the abstain side refers to, the tempting tools.
        sketch: what would change on the abstain side and why acting would then be wrong.
        problem: why no pair can be grounded in it ("infeasible", a verdict); empty where one can.
    """

    seed: str
    instruction: str
    act: tuple[SeedCapability, ...]
    abstain: tuple[SeedCapability, ...] = ()
    sketch: str
    problem: str = ""


class Route(Frozen):
    """The environments an augmented seed was routed to: the smallest set found that covers what it needs.

    Attributes:
        environments: in the order in which the greedy cover took them; empty where something stays unassigned.
        unassigned: capabilities no shipped environment has.
    """

    seed: str
    environments: tuple[str, ...] = ()
    unassigned: tuple[SeedCapability, ...] = ()
