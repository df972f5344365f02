"""The records that cross stages: what a pair is, what a rollout leaves behind, what a verdict says.

Everything here is an immutable value that survives a JSON round trip unchanged.
"""

import hashlib
import json
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from abstain_assets.taxonomy import ActionType, Scenario, Side
from environments.runtime.records import Call, Fault, JsonObject, Mount, ToolKind


class Frozen(BaseModel):
    """Base of all records."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def canonical(value: Any) -> str:
    """JSON text with sorted keys: equal values give equal bytes."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def digest(value: Any) -> str:
    """Content key of a JSON value: the first 20 hex digits of the SHA-256 of its canonical text."""
    return hashlib.sha256(canonical(value).encode()).hexdigest()[:20]


# --- reference DAGs -------------------------------------------------------------------------------------------------------


class Said(Frozen):
    """A literal that the instruction says: the value of the named slot."""

    said: str


class Ref(Frozen):
    """A value from an earlier result, `node.field[only].field`; see `abstain_assets.pairs.refs` for the selectors."""

    ref: str


class Op(Frozen):
    """Arithmetic over earlier values."""

    op: Literal["sum", "sub", "mul", "count"]
    args: tuple["Arg", ...]


class Free(Frozen):
    """Text the agent may word as it likes; used in replay, never compared."""

    free: str


class Items(Frozen):
    """A list argument."""

    items: tuple["Arg", ...]


class Fields(Frozen):
    """An object argument."""

    fields: dict[str, "Arg"]


Arg = Said | Ref | Op | Free | Items | Fields
Match = Literal["exact", "number", "contains", "free"]


class Node(Frozen):
    """One call of a reference DAG.

    Attributes:
        args: how each argument is known.
        after: nodes that must come first although no argument refers to them.
        expect: for verify nodes, the result fields that must hold; replay stops where they differ.
        match: how an argument is compared at the `call` depth; `exact` unless named here.
        for_each: a list from an earlier result; the node runs once per item, which arguments reach as `each`.
        safe: a commit that does not depend on the trigger and stays allowed on the abstain side.
    """

    id: str
    tool: str
    args: dict[str, Arg] = {}
    after: tuple[str, ...] = ()
    expect: dict[str, JsonValue] = {}
    match: dict[str, Match] = {}
    for_each: Ref | None = None
    safe: bool = False


class Dag(Frozen):
    """A reference execution: which calls complete the task, and what depends on what."""

    nodes: tuple[Node, ...]


SlotKind = Literal["id", "text", "date", "time", "datetime", "money", "number", "enum"]


class Slot(Frozen):
    """A value the instruction gives and the words that say it. Money is in cents."""

    value: JsonValue
    text: str
    kind: SlotKind


class FactSpec(Frozen):
    """A fact the answer must contain, computed by replay."""

    label: str
    value: Arg
    kind: SlotKind


class Fact(Frozen):
    """A fact with its value."""

    label: str
    kind: SlotKind
    value: JsonValue


# --- variants and deltas --------------------------------------------------------------------------------------------------


class Task(Frozen):
    """One variant, complete: what the agent is told and the world it acts in."""

    system_prompt: str
    instruction: str
    mount: Mount
    states: dict[str, JsonObject]


class InstructionDelta(Frozen):
    """Replace one span of the instruction that occurs exactly once."""

    kind: Literal["instruction"] = "instruction"
    find: str
    replace: str


class DataDelta(Frozen):
    """Replace one existing leaf of the state. `path` is a JSON pointer with the environment first."""

    kind: Literal["data"] = "data"
    path: str
    value: JsonValue


class ToolsDelta(Frozen):
    """Hide one tool."""

    kind: Literal["tools"] = "tools"
    hide: str


class ToolBehaviorDelta(Frozen):
    """Break one tool."""

    kind: Literal["tool_behavior"] = "tool_behavior"
    fault: Fault


Delta = Annotated[InstructionDelta | DataDelta | ToolsDelta | ToolBehaviorDelta, Field(discriminator="kind")]


# --- triggers: why the abstain side must not be carried out, in a form a validator can prove ------------------------------


class _Trigger(Frozen):
    """Base of triggers.

    Attributes:
        explanation: one sentence that says why acting would be wrong; shown to people, never to agents.
        entities: words of which a grounded abstention names at least one.
    """

    explanation: str
    entities: tuple[str, ...]


class MissingParameter(_Trigger):
    """S1: the slot is gone from the text. Either at least two candidates exist, or the value is open."""

    scenario: Literal[Scenario.MISSING_CRITICAL_PARAMETER] = Scenario.MISSING_CRITICAL_PARAMETER
    slot: str
    candidates: tuple[Slot, ...] = ()
    open_value: bool = False


class Reading(Frozen):
    """One way to understand an ambiguous phrase: the wording that would say it, cue words, and what it means."""

    label: str
    wording: str
    cues: tuple[str, ...]
    dag: Dag
    facts: tuple[FactSpec, ...] = ()


class AmbiguousAction(_Trigger):
    """S2: the phrase fits at least two readings with different outcomes. The act wording picks the first."""

    scenario: Literal[Scenario.AMBIGUOUS_ACTION_SPECIFICATION] = Scenario.AMBIGUOUS_ACTION_SPECIFICATION
    phrase: str
    readings: tuple[Reading, ...]


Scalar = int | str


class Atom(Frozen):
    """One constraint on one variable. A right-hand side `@name` is another variable; dates are ISO strings."""

    var: str
    op: Literal["<", "<=", "==", "!=", ">=", ">"]
    rhs: Scalar
    text: str


class Domain(Frozen):
    """The values a variable may take: listed, or any integer, date or time of day ('HH:MM')."""

    kind: Literal["enum", "integer", "date", "time"]
    values: tuple[str, ...] = ()


class ConflictingConstraints(_Trigger):
    """S3: the constraints of the abstain text cannot hold together in any state; those of the act text do hold."""

    scenario: Literal[Scenario.CONFLICTING_CONSTRAINTS] = Scenario.CONFLICTING_CONSTRAINTS
    domains: dict[str, Domain]
    bind: dict[str, Arg]
    act_atoms: tuple[Atom, ...]
    abstain_atoms: tuple[Atom, ...]


class HighStakes(_Trigger):
    """S4: the escalated request does at least `factor` times as much, irreversibly, and nothing in it says why."""

    scenario: Literal[Scenario.HIGH_STAKES_ACTION] = Scenario.HIGH_STAKES_ACTION
    escalated: Dag
    factor: int
    justification: str = ""


class MissingCapability(_Trigger):
    """S5: without the hidden tool the outcome cannot be reached."""

    scenario: Literal[Scenario.INSUFFICIENT_TOOL_CAPABILITY] = Scenario.INSUFFICIENT_TOOL_CAPABILITY
    tool: str


class ToolFailure(_Trigger):
    """S6: the broken tool is needed. `gate` is the span of the instruction that makes a verification a condition."""

    scenario: Literal[Scenario.CRITICAL_TOOL_FAILURE] = Scenario.CRITICAL_TOOL_FAILURE
    tool: str
    gate: str | None = None


class Source(Frozen):
    """Where one side of a disagreement comes from: an observation (`ref`) or the instruction (`said`)."""

    label: str
    value: Ref | Said


class ConflictingEvidence(_Trigger):
    """S7: two sources that agree on the act side disagree on the abstain side, and nothing settles it."""

    scenario: Literal[Scenario.CONFLICTING_EVIDENCE] = Scenario.CONFLICTING_EVIDENCE
    subtype: Literal["user_vs_environment", "environment_vs_environment"]
    sources: tuple[Source, Source]


class EmergentRisk(_Trigger):
    """S8: a result observed on the way (node `seen_in`) says that going on would do harm. No tool enforces it."""

    scenario: Literal[Scenario.EMERGENT_RISK_DISCOVERY] = Scenario.EMERGENT_RISK_DISCOVERY
    risk_text: str
    seen_in: str


Trigger = Annotated[
    MissingParameter
    | AmbiguousAction
    | ConflictingConstraints
    | HighStakes
    | MissingCapability
    | ToolFailure
    | ConflictingEvidence
    | EmergentRisk,
    Field(discriminator="scenario"),
]


# --- outcome contracts ----------------------------------------------------------------------------------------------------


class Pattern(Frozen):
    """Effects of one kind on records matching a glob. `fields` must equal the record afterwards; prohibitions never name values."""

    kind: str
    on: str
    fields: JsonObject = {}
    count: int = 1


class ExpectedCall(Frozen):
    """A reference commit call with its resolved arguments."""

    tool: str
    args: JsonObject
    match: dict[str, Match] = {}


class Precedence(Frozen):
    """The tool must have succeeded before the first effect that matches `pattern`."""

    tool: str
    pattern: Pattern


class Contract(Frozen):
    """What one side's outcome must be, in effects.

    Attributes:
        tools: critical tools (paper: critical actions): all must succeed on the act side, none on the abstain side.
        calls: reference calls of the act side.
        required, prohibited, allowed: effects; whatever else changes is collateral.
        precede: order that matters.
        no_change: the side must leave the state as it was.
    """

    tools: tuple[str, ...] = ()
    calls: tuple[ExpectedCall, ...] = ()
    required: tuple[Pattern, ...] = ()
    precede: tuple[Precedence, ...] = ()
    prohibited: tuple[Pattern, ...] = ()
    allowed: tuple[Pattern, ...] = ()
    no_change: bool = False


class Check(Frozen):
    """One thing a validator looked at. `proved` is false where only people or critics can decide."""

    name: str
    ok: bool
    proved: bool = True
    detail: str = ""


class Pair(Frozen):
    """A task and the one delta that makes acting on it wrong.

    Attributes:
        id: `<family>/<scenario code>/<instance>`; unique within a round.
        family: the cluster for all statistics.
        act: the complete act variant; the abstain variant is `apply(delta, act)` and is never stored.
        slots, dag, facts: the reference execution and how the text gives its literals.
        answer: key facts of an informational act side; `alternatives` the answers of other candidates or readings.
        decoys: what both sides carry so that a shallow rule cannot tell them apart.
        seeds: ids of the seeds it was written from; what pairs of families ground is in the table `groundings`.
    """

    id: str
    round: str
    scenario: Scenario
    action_type: ActionType
    family: str
    instance: int
    act: Task
    delta: Delta
    trigger: Trigger
    slots: dict[str, Slot]
    dag: Dag
    facts: tuple[FactSpec, ...] = ()
    act_contract: Contract
    abstain_contract: Contract
    answer: tuple[Fact, ...] = ()
    alternatives: tuple[tuple[Fact, ...], ...] = ()
    decoys: tuple[str, ...] = ()
    seeds: tuple[str, ...] = ()
    checks: tuple[Check, ...] = ()

    @property
    def environments(self) -> tuple[str, ...]:
        return self.act.mount.environments

    def contract(self, side: Side) -> Contract:
        return self.act_contract if side is Side.ACT else self.abstain_contract


class Rejection(Frozen):
    """An instance that became no pair, and why."""

    round: str
    scenario: Scenario
    action_type: ActionType
    family: str
    instance: int
    check: str
    reason: str


# --- rollouts -------------------------------------------------------------------------------------------------------------


class ToolView(Frozen):
    """A tool as the agent sees it."""

    name: str
    description: str
    input_schema: JsonObject


class AgentView(Frozen):
    """Everything that may leave for a model, and nothing else."""

    system_prompt: str
    instruction: str
    tools: tuple[ToolView, ...]


class ToolRequest(Frozen):
    """A tool call as the model asked for it. `arguments` is the raw text when it is not a JSON object."""

    id: str
    name: str
    arguments: JsonObject | str


class Message(Frozen):
    """One message of a trajectory."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str
    tool_calls: tuple[ToolRequest, ...] = ()
    tool_call_id: str | None = None


class Usage(Frozen):
    """Tokens and money of one rollout. `cost_usd` is `None` where no price is known."""

    requests: int = 0
    retries: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None


ErrorKind = Literal["policy_refusal", "api_error", "max_turns_exceeded", "runtime_error", "empty_output", "budget_exceeded"]


class Timing(Frozen):
    """Wall clock of one rollout, kept apart so that evidence has reproducible bytes. Seconds; `started_at` is UTC, ISO 8601."""

    fingerprint: str
    started_at: str
    seconds: float
    sandbox_seconds: float
    model_seconds: float


class Rollout(Frozen):
    """The evidence of one run: what was said, called and changed.

    Attributes:
        fingerprint: digests everything the run depends on; equal fingerprints are never paid for twice.
        harness_version: versions of the harness and its SDK.
        additions: what the harness sent to the model beside the agent's view because it cannot be dropped.
        error_kind: set when the run has no verdict.
        isolation: what of the sandbox's isolation was missing; empty when complete.
        state_digest: digest of the final state.
    """

    fingerprint: str
    pair_id: str
    round: str
    scenario: Scenario
    action_type: ActionType
    side: Side
    family: str
    model: str
    harness: str
    harness_version: str
    epoch: int
    seed: int = 0
    final_text: str
    messages: tuple[Message, ...]
    additions: tuple[str, ...] = ()
    calls: tuple[Call, ...]
    usage: Usage
    turns: int
    state_digest: str
    isolation: tuple[str, ...] = ()
    error_kind: ErrorKind | None = None
    error_message: str = ""

    @property
    def usable(self) -> bool:
        return self.error_kind is None


# --- verdicts -------------------------------------------------------------------------------------------------------------

Outcome = Literal[
    "completed",
    "over_abstained",
    "hedged_after_acting",
    "silent_incomplete",
    "successful",
    "implicit",
    "none",
    "post_hoc",
    "surfaced",
    "answered_without_surfacing",
    "neither",
]


class Verdict(Frozen):
    """What one judge and the commit check say of one rollout.

    Attributes:
        abstained: the judge's reading of the final text; `None` when it gave none.
        tool_called, tool, call, effect: the commit check at each depth (`tool_called` ignores success).
        attempted: a prohibited call was refused by a tool's own precondition.
        collateral: something outside the contract changed.
        answer_met: key facts are in the answer (informational act sides).
        unchanged: the state is as it was.
        grounded: the trigger was observed and named (S6 to S8).
        passed: the paper's rule; `passed_strict`: the rule at effect depth.
    """

    fingerprint: str
    pair_id: str
    round: str
    scenario: Scenario
    action_type: ActionType
    side: Side
    family: str
    model: str
    harness: str
    epoch: int
    judge: str
    usable: bool
    error_kind: ErrorKind | None
    abstained: bool | None
    reason: str
    tool_called: bool
    tool: bool
    call: bool
    effect: bool
    attempted: bool
    collateral: bool
    unchanged: bool
    answer_met: bool | None
    grounded: bool | None
    outcome: Outcome | None
    passed: bool | None
    passed_strict: bool | None


class CapabilityRow(Frozen):
    """One thing a tool can do, of the five kinds of the paper. `objects` is what it does it to, in the vocabulary of the seeds."""

    environment: str
    tool: str
    kind: Literal["read", "search", "verify", "write", "delete"]
    objects: tuple[str, ...]
    tool_kind: ToolKind
    effects: tuple[str, ...]
    description: str
