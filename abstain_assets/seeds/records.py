"""The records of the seeds stage, in the order in which a seed passes through it."""

from typing import Literal, Self

from pydantic import model_validator

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


class RawSeed(Frozen):
    """One request as its parser found it, before any filter.

    Attributes:
        id, source, split, instruction, source_environment, tools, offered: as in `Seed`.
        label: the scenario the source itself gives the request, by the split or by a mark on the task.
    """

    id: str
    source: str
    split: str
    instruction: str
    source_environment: str
    tools: tuple[str, ...] = ()
    offered: tuple[str, ...] = ()
    label: Scenario | None = None


Fate = Literal["kept", "filtered", "duplicate", "dropped"]


class CollectedSeed(Frozen):
    """What became of one collected request.

    Attributes:
        fate: kept in the pool, or the pass that took it out.
        reason: the name of the filter, the granularity of the duplicate or why it was dropped; empty where it was kept.
        twin: the seed that was preferred to a duplicate; it went on, and was kept or dropped later.
        environment: the consolidated label; empty where a pass before consolidation took it out.
        scenario, scenario_by, action_type: of kept seeds only.
    """

    raw: RawSeed
    fate: Fate
    reason: str = ""
    twin: str | None = None
    environment: str | None = None
    scenario: Scenario | None = None
    scenario_by: Literal["label", "keyword", "default"] | None = None
    action_type: ActionType | None = None


class SampledSeed(Frozen):
    """A seed drawn for one scenario of one round.

    Attributes:
        position: its place in the draw within its action type, from 0.
    """

    round: str
    position: int
    seed: Seed


class SeedSource(Frozen):
    """One benchmark and what came of fetching and parsing it.

    Attributes:
        project, version, file, sha256: the pinned wheel.
        problem: why nothing was collected from it; empty where it could be read.
        collected: requests found in it.
        basis: digest of the pinned wheels and of the code of the stage; another one means that the pool is out of date.
    """

    source: str
    project: str
    version: str
    file: str
    sha256: str
    problem: str = ""
    collected: int
    basis: str


class SeedCapability(Frozen):
    """One thing an environment must be able to do for a seed.

    Attributes:
        kind: decides the kind of tool: read and search are lookups, verify is a verify, write and delete are commits.
        object: what it is done to, a singular noun like `order` or `calendar event`.
    """

    kind: CapabilityKind
    object: str

    def __str__(self) -> str:
        return f"{self.kind} {self.object}"

    @property
    def changes(self) -> bool:
        """Whether it takes a commit tool."""
        return TOOL_KINDS[self.kind] is ToolKind.COMMIT


Problem = Literal[
    "asks_for_nothing",
    "scripted_conversation",
    "not_self_contained",
    "changes_nothing",
    "asks_for_a_change",
    "nothing_to_leave_out",
    "no_record",
]


class AugmentedSeed(Frozen):
    """A seed with what a pair grounded in it needs (paper, AbstainGen stage 2).

    Attributes:
        instruction: rewritten: self-contained, one paragraph, without remarks of the source about itself.
        act: capabilities of the act side. Informational seeds have no write or delete there, operational ones at least one.
        abstain: further capabilities that only the abstain side refers to, the tempting tools.
        sketch: what would change on the abstain side and why acting would then be wrong; empty where no pair can be grounded in it.
        problem: why no pair can be grounded in it ("infeasible", a verdict); `None` where one can.
    """

    seed: str
    scenario: Scenario
    action_type: ActionType
    instruction: str
    act: tuple[SeedCapability, ...] = ()
    abstain: tuple[SeedCapability, ...] = ()
    sketch: str = ""
    problem: Problem | None = None

    @model_validator(mode="after")
    def _holds(self) -> Self:
        if self.problem is None:
            changing = [item for item in self.act if item.changes]
            if (self.action_type is ActionType.OPERATIONAL) != bool(changing) or not self.act or not self.sketch:
                raise ValueError(f"{self.seed}: {self.action_type} with {[str(item) for item in self.act]} on the act side")
            if set(self.act) & set(self.abstain):
                raise ValueError(f"{self.seed}: the abstain side tempts with what the act side asks for")
        return self


class Route(Frozen):
    """The environments an augmented seed was routed to: the smallest set found that covers what it needs.

    Attributes:
        environments: in the order in which the greedy cover took them; empty where the seed was not routed.
        unassigned: capabilities no shipped environment has; the seed is then not routed.
        missing: capabilities of the abstain side that the environments do not have.
        too_many: environments it would take, where they are more than a pair may mount; the seed is then not routed.
    """

    seed: str
    environments: tuple[str, ...] = ()
    unassigned: tuple[SeedCapability, ...] = ()
    missing: tuple[SeedCapability, ...] = ()
    too_many: int | None = None


class Grounding(Frozen):
    """A seed that is grounded by a pair of a family: the pair has the shape the seed asks for.

    Attributes:
        environments: those the seed was routed to; the pair mounts them all.
        shared: capabilities that the seed asks for and a call of the pair's reference has.
        strength: their share of all the seed asks for.
    """

    pair_id: str
    round: str
    seed: str
    scenario: Scenario
    action_type: ActionType
    environments: tuple[str, ...]
    shared: tuple[SeedCapability, ...]
    strength: float
