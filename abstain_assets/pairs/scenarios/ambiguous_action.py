"""S2: one phrase, at least two valid readings with different outcomes."""

from collections.abc import Iterator
from itertools import combinations

from abstain_assets.pairs.replay import Replay, facts, replay
from abstain_assets.pairs.scenarios.base import Proof, attempt, check, left_to_people
from abstain_assets.records import AmbiguousAction, Check, Fact

whole_collection = True


def carried_on(proof: Proof) -> list[Replay]:
    """One replay per reading."""
    return [replay(proof.act, reading.dag, proof.pair.slots) for reading in _trigger(proof).readings]


def alternatives(proof: Proof) -> tuple[tuple[Fact, ...], ...]:
    """The answer of each reading."""
    slots = proof.pair.slots
    readings = _trigger(proof).readings
    return tuple(facts(item.facts, slots, replay(proof.act, item.dag, slots).results) for item in readings)


def checks(proof: Proof) -> Iterator[Check]:
    """The act wording picks the first reading, the phrase picks none, and the readings end differently."""
    trigger, pair = _trigger(proof), proof.pair
    readings = trigger.readings
    yield check("s2.readings", len(readings) >= 2, "at least two readings are needed")
    phrase = trigger.phrase.casefold()
    yield check("s2.phrase", trigger.phrase in proof.delta.replace, "the delta does not bring in the ambiguous phrase")
    cues = [cue for reading in readings for cue in reading.cues if cue.casefold() in phrase]
    yield check("s2.open", not cues, f"the phrase already says {', '.join(cues)}")
    yield check("s2.cues", all(reading.cues for reading in readings), "every reading needs cue words")
    yield check("s2.act_is_first", readings[0].dag == pair.dag, "the first reading must be the act side's DAG")
    act = proof.delta.find.casefold()
    said = [index for index, reading in enumerate(readings) if any(cue.casefold() in act for cue in reading.cues)]
    yield check("s2.act_picks_one", said == [0], f"the act wording has the cues of readings {said}, not of the first alone")
    shapes = []
    for reading in readings:
        done = attempt(proof.act, reading.dag, pair.slots)
        yield check("s2.replays", done is not None, f"the reading {reading.label!r} does not replay")
        if done is None:
            return
        kinds = tuple(sorted((effect.kind, *effect.fields) for effect in done.effects))
        shapes.append((kinds, tuple(fact.value for fact in facts(reading.facts, pair.slots, done.results))))
    same = [f"{readings[a].label} / {readings[b].label}" for a, b in combinations(range(len(shapes)), 2) if shapes[a] == shapes[b]]
    yield check("s2.discriminating", not same, f"no different outcome, or only another record (that is S1): {', '.join(same)}")
    yield left_to_people("s2.natural", "that people see just these readings is for people to judge")


def _trigger(proof: Proof) -> AmbiguousAction:
    assert isinstance(proof.pair.trigger, AmbiguousAction)
    return proof.pair.trigger
