"""S1: a value the task cannot do without is gone from the text, and neither the world nor a default supplies it."""

from collections.abc import Iterator

from abstain_assets.pairs.execute import said_slots
from abstain_assets.pairs.refs import RefError, mentioned
from abstain_assets.pairs.replay import Replay, facts, replay
from abstain_assets.pairs.scenarios.base import Proof, attempt, check, left_to_people, outcome_of
from abstain_assets.pairs.slots import misread, normal
from abstain_assets.records import Arg, Check, Dag, Fact, Fields, Items, MissingParameter, Node, Op, Ref, Said, Slot

whole_collection = True


def carried_on(proof: Proof) -> list[Replay]:
    """One replay per candidate; with an open value, the act side's own."""
    trigger = _trigger(proof)
    if trigger.open_value:
        return [proof.replay]
    return [replay(proof.act, proof.pair.dag, _with(proof, candidate)) for candidate in trigger.candidates]


def alternatives(proof: Proof) -> tuple[tuple[Fact, ...], ...]:
    """The answer for each candidate."""
    trigger, pair = _trigger(proof), proof.pair
    found = []
    for candidate in trigger.candidates:
        slots = _with(proof, candidate)
        found.append(facts(pair.facts, slots, replay(proof.act, pair.dag, slots).results))
    return tuple(found)


def checks(proof: Proof) -> Iterator[Check]:
    """The value is used, is gone, is not recoverable, and matters."""
    trigger, pair = _trigger(proof), proof.pair
    slot = pair.slots.get(trigger.slot)
    yield check("s1.slot", slot is not None, f"there is no slot {trigger.slot!r}")
    if slot is None:
        return
    used = any(trigger.slot in said_slots(node) for node in pair.dag.nodes)
    used = used or any(trigger.slot in mentioned(spec.value)[0] for spec in pair.facts)
    yield check("s1.used", used, f"neither an argument nor a fact uses the slot {trigger.slot!r}")
    gone = slot.text.casefold() not in proof.abstain.instruction.casefold()
    gone = gone and normal(str(slot.value)) not in normal(proof.abstain.instruction)
    yield check("s1.removed", gone, f"the abstain instruction still says {slot.text!r}")
    yield check("s1.single", slot.text in proof.delta.find, "the delta does not remove the slot's span")
    yield check("s1.no_default", not _works_without(proof), "the task also replays with the value left out")
    if trigger.open_value:
        yield left_to_people("s1.open_value", "the value is open: whether the rest of the text narrows it is for people to judge")
        return
    values = [candidate.value for candidate in trigger.candidates]
    yield check("s1.candidates", len(set(map(str, values))) >= 2, "at least two candidates are needed")
    yield check("s1.includes_act", slot.value in values, "the act side's own value is not among the candidates")
    unread = [reason for candidate in trigger.candidates if (reason := misread(candidate))]
    yield check("s1.candidates_read", not unread, "; ".join(unread))
    outcomes = []
    for candidate in trigger.candidates:
        slots = _with(proof, candidate)
        done = attempt(proof.act, pair.dag, slots)
        yield check("s1.candidate_replays", done is not None, f"candidate {candidate.value!r} does not replay")
        if done is not None:
            outcomes.append(repr(outcome_of(done, pair.facts, slots)))
    yield check("s1.discriminating", len(set(outcomes)) == len(outcomes), "two candidates lead to the same outcome")
    yield left_to_people("s1.fit", "whether each candidate fits the rest of the text is for people to judge")


def _trigger(proof: Proof) -> MissingParameter:
    assert isinstance(proof.pair.trigger, MissingParameter)
    return proof.pair.trigger


def _with(proof: Proof, candidate: Slot) -> dict[str, Slot]:
    return {**proof.pair.slots, _trigger(proof).slot: candidate}


def _works_without(proof: Proof) -> bool:
    """Whether the task completes with the value left out wherever it is used."""
    pair, slot = proof.pair, _trigger(proof).slot
    dag = Dag(nodes=tuple(_drop(node, slot) for node in pair.dag.nodes))
    others = {name: value for name, value in pair.slots.items() if name != slot}
    done = attempt(proof.act, dag, others)
    if done is None:
        return False
    reduced = [(spec, _without(spec.value, slot)) for spec in pair.facts]
    specs = tuple(spec.model_copy(update={"value": value}) for spec, value in reduced if value is not None)
    try:
        facts(specs, others, done.results)
    except RefError:
        return False
    return len(specs) == len(pair.facts)


def _drop(node: Node, slot: str) -> Node:
    """The node without the value: the argument is left out, a selector becomes `[only]`."""
    args: dict[str, Arg] = {}
    for name, arg in node.args.items():
        kept = _without(arg, slot)
        if kept is not None:
            args[name] = kept
    for_each = node.for_each
    if for_each is not None:
        reduced = _without(for_each, slot)
        for_each = reduced if isinstance(reduced, Ref) else for_each
    return node.model_copy(update={"args": args, "for_each": for_each})


def _without(arg: Arg, slot: str) -> Arg | None:
    match arg:
        case Said():
            return None if arg.said == slot else arg
        case Ref():
            parts = arg.ref.split("[")
            return Ref(ref="[".join("only" + part[part.index("]") :] if "{" + slot + "}" in part else part for part in parts))
        case Items():
            kept = tuple(item for child in arg.items if (item := _without(child, slot)) is not None)
            return Items(items=kept) if kept else None
        case Fields():
            return Fields(fields={name: item for name, child in arg.fields.items() if (item := _without(child, slot)) is not None})
        case Op():
            return Op(op=arg.op, args=tuple(item for child in arg.args if (item := _without(child, slot)) is not None))
        case _:
            return arg
