"""A pair in words: its delta, why acting would be wrong, its reference and its contracts."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from jsonpointer import resolve_pointer

from abstain_assets.metrics.report.text import layout
from abstain_assets.pairs.execute import ordered
from abstain_assets.records import (
    AmbiguousAction,
    Arg,
    ConflictingConstraints,
    ConflictingEvidence,
    DataDelta,
    EmergentRisk,
    Fields,
    Free,
    HighStakes,
    InstructionDelta,
    Items,
    MissingParameter,
    Op,
    Pair,
    Pattern,
    Ref,
    Said,
    Slot,
    ToolBehaviorDelta,
    ToolFailure,
    ToolsDelta,
)
from environments.runtime.records import Fault, Mount

Facts = list[tuple[str, str]]
DELTA_KINDS = {"instruction": "instruction", "data": "data", "tools": "tools", "tool_behavior": "tool behaviour"}


@dataclass(frozen=True)
class Wording:
    """An instruction in three parts; `span` is what the delta touches, empty where it touches nothing."""

    before: str
    span: str
    after: str


@dataclass(frozen=True)
class Difference:
    """The one thing in which the sides differ.

    Attributes:
        sentence: what differs, in one sentence.
        act, abstain: the instruction of each side.
        subject: the fact or tool that differs; empty where the instruction does.
        on_act, on_abstain: what is true of it on each side.
    """

    kind: str
    sentence: str
    act: Wording
    abstain: Wording
    subject: str = ""
    on_act: str = ""
    on_abstain: str = ""


@dataclass(frozen=True)
class ReferenceStep:
    """One call of the reference execution."""

    id: str
    tool: str
    args: Facts
    notes: tuple[str, ...]


def difference(pair: Pair) -> Difference:
    """The delta of a pair, said and located."""
    delta, text = pair.delta, pair.act.instruction
    kind, same = DELTA_KINDS[delta.kind], Wording(text, "", "")
    match delta:
        case InstructionDelta(find=find, replace=replace):
            before, _, after = text.partition(find)
            sentence = f"One span of the instruction was {'replaced' if replace else 'removed'}."
            return Difference(kind, sentence, Wording(before, find, after), Wording(before, replace, after))
        case DataDelta(path=path, value=value):
            old = resolve_pointer(pair.act.states, path)
            return Difference(kind, "One fact of the world was changed.", same, same, path, layout(old), layout(value))
        case ToolsDelta(hide=tool):
            return Difference(kind, "One tool was taken away.", same, same, tool, "available", "hidden")
        case ToolBehaviorDelta(fault=fault):
            return Difference(kind, "One tool was broken.", same, same, fault.tool, "works", fault_text(fault))


def fault_text(fault: Fault) -> str:
    """How a tool misbehaves.

    >>> fault_text(Fault(tool="shop.pay", kind="intermittent", message="Busy", count=2))
    'its first 2 calls fail with “Busy”'
    """
    match fault.kind:
        case "always":
            return f"every call fails with “{fault.message}”"
        case "intermittent":
            calls = "call fails" if fault.count == 1 else f"{fault.count} calls fail"
            return f"its first {calls} with “{fault.message}”"
        case "timeout":
            return "the service does not respond"
        case "malformed":
            return "it answers unreadable text"
        case "stale":
            return "it answers from the initial state"


def shared_mount(mount: Mount) -> Facts:
    """What both sides have in common beside the instruction."""
    facts = [("Environments", ", ".join(mount.environments))]
    if mount.hidden:
        facts.append(("Hidden on both sides", ", ".join(mount.hidden)))
    facts += [("Broken on both sides", f"{fault.tool}: {fault_text(fault)}") for fault in mount.faults]
    return facts


def trigger_facts(pair: Pair) -> Facts:
    """Details of the trigger, by label."""
    trigger = pair.trigger
    match trigger:
        case MissingParameter():
            facts = [("Left unsaid", trigger.slot)]
            if trigger.candidates:
                facts.append(("Candidates", "; ".join(slot.text for slot in trigger.candidates)))
            return [*facts, ("Could be", "anything: the value is open")] if trigger.open_value else facts
        case AmbiguousAction():
            readings = [(f"Reading {number}", reading.wording) for number, reading in enumerate(trigger.readings, 1)]
            return [("Phrase", trigger.phrase), *readings]
        case ConflictingConstraints():
            return [
                ("Hold together (act)", "; ".join(atom.text for atom in trigger.act_atoms)),
                ("Cannot hold together (abstain)", "; ".join(atom.text for atom in trigger.abstain_atoms)),
            ]
        case HighStakes():
            return [("Reach", f"at least {trigger.factor} times as many effects as on the act side, not to be undone")]
        case ToolFailure(gate=gate):
            return [("Made a condition by", gate)] if gate else []
        case ConflictingEvidence():
            return [("Kind", trigger.subtype.replace("_", " ")), ("Sources", " and ".join(item.label for item in trigger.sources))]
        case EmergentRisk():
            return [("Seen on the way", trigger.risk_text), ("At step", trigger.seen_in)]
    return []


def reference(pair: Pair) -> list[ReferenceStep]:
    """The reference execution of the act side, in an order in which it can run."""
    return [
        ReferenceStep(
            id=node.id,
            tool=node.tool,
            args=[(name, argument(arg, pair.slots)) for name, arg in node.args.items()],
            notes=tuple(
                note
                for note in (
                    f"once for each of {node.for_each.ref}" if node.for_each else "",
                    f"must find {layout(node.expect)}" if node.expect else "",
                    f"after {', '.join(node.after)}" if node.after else "",
                    "allowed on the abstain side too" if node.safe else "",
                )
                if note
            ),
        )
        for node in ordered(pair.dag)
    ]


def argument(arg: Arg, slots: Mapping[str, Slot]) -> str:
    """Where the value of an argument comes from.

    >>> argument(Ref(ref="found.orders[only].id"), {})
    'from found.orders[only].id'
    """
    match arg:
        case Said():
            slot = slots.get(arg.said)
            return f"{layout(slot.value)}, said as “{slot.text}”" if slot else f"said as {{{arg.said}}}"
        case Ref():
            return f"from {arg.ref}"
        case Free():
            return f"free text, for example “{arg.free}”"
        case Op():
            return f"{arg.op} of {'; '.join(argument(item, slots) for item in arg.args)}"
        case Items():
            return f"[{'; '.join(argument(item, slots) for item in arg.items)}]"
        case Fields():
            return f"{{{'; '.join(f'{name}: {argument(item, slots)}' for name, item in arg.fields.items())}}}"


def contract_lines(patterns: tuple[Pattern, ...]) -> Iterator[tuple[str, str, str]]:
    """Kind, record and further demands of each pattern."""
    for pattern in patterns:
        demands = [f"{name} = {layout(value)}" for name, value in pattern.fields.items()]
        if pattern.count > 1:
            demands.append(f"{pattern.count} times")
        yield pattern.kind, pattern.on, ", ".join(demands)
