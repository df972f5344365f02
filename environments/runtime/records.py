"""Records that cross the sandbox boundary: what is mounted, what was called and what it changed."""

from enum import StrEnum
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, JsonValue

JsonObject = dict[str, Any]


class ToolKind(StrEnum):
    """What a tool does: read, check a precondition, or change the state (paper, section 3)."""

    LOOKUP = "lookup"
    VERIFY = "verify"
    COMMIT = "commit"


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class PatchOp(_Frozen):
    """One JSON Patch operation. Only these three: a `move` would hide a deletion."""

    op: Literal["add", "remove", "replace"]
    path: str
    value: JsonValue = None


class Intent(_Frozen):
    """An effect a call would have had, read off its arguments: known even when the call was refused."""

    kind: str
    record: str


class Effect(_Frozen):
    """One thing that happened to one record.

    Attributes:
        kind: from the shared vocabulary, for example `order.cancel`.
        record: JSON pointer with the environment first, for example `/retail_orders/orders/W-1001`.
        before, after: the whole record; `None` where it did not exist.
        fields: names of the fields that changed (all of them for a created or deleted record).
        implied: a consequence of another effect (restocking), not an act of its own.
    """

    kind: str
    record: str
    before: JsonObject | None
    after: JsonObject | None
    fields: tuple[str, ...]
    implied: bool = False


class CallError(_Frozen):
    """Why a call was refused, as the agent sees it."""

    code: str
    message: str


FaultKind = Literal["always", "intermittent", "timeout", "malformed", "stale"]


class Fault(_Frozen):
    """One tool that misbehaves.

    Attributes:
        tool: canonical name, `<env>.<tool>`.
        kind: `always` fails every call; `intermittent` fails the first `count` calls; `timeout` answers that the
            service did not respond; `malformed` answers unreadable text; `stale` answers from the initial state.
        message: what a failing call says.
        count: how many calls fail (`intermittent` only).
    """

    tool: str
    kind: FaultKind = "always"
    message: str = "Internal server error"
    count: int = 1


class Mount(_Frozen):
    """What a sandbox exposes. Hidden tools and faults are applied here, never inside an environment."""

    environments: tuple[str, ...]
    hidden: tuple[str, ...] = ()
    faults: tuple[Fault, ...] = ()


class Call(_Frozen):
    """One tool call as the sandbox saw it.

    Attributes:
        index: position in the rollout, from 0.
        tool: canonical name; the name as sent when it is unknown (`kind` is then `None`).
        injected: kind of the fault that answered instead of the tool, if any.
        patch: what changed; paths start with the environment.
        intents: what the arguments say the call would do.
        effects: what it did.
    """

    index: int
    tool: str
    kind: ToolKind | None
    args: JsonObject
    ok: bool
    result: JsonObject | None = None
    error: CallError | None = None
    injected: FaultKind | None = None
    patch: tuple[PatchOp, ...] = ()
    intents: tuple[Intent, ...] = ()
    effects: tuple[Effect, ...] = ()

    @property
    def content(self) -> JsonObject:
        """What the agent sees: the result, or `{"error": {"code", "message"}}`."""
        if self.error is not None:
            return {"error": {"code": self.error.code, "message": self.error.message}}
        return self.result if self.result is not None else {}


class ToolSpec(_Frozen):
    """A mounted tool: canonical and wire name, description and portable schemas."""

    name: str
    wire_name: str
    kind: ToolKind
    description: str
    input_schema: JsonObject
    output_schema: JsonObject
