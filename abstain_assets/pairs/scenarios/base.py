"""What every scenario module provides, and the helpers they share."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

from abstain_assets.pairs.deltas import variant
from abstain_assets.pairs.replay import Replay, ReplayError, facts, replay
from abstain_assets.records import Check, Dag, Fact, FactSpec, InstructionDelta, Pair, Slot, Task
from abstain_assets.taxonomy import Side


@dataclass(frozen=True)
class Proof:
    """A pair under validation: its two tasks and the act side's replay."""

    pair: Pair
    act: Task
    abstain: Task
    replay: Replay

    @classmethod
    def of(cls, pair: Pair) -> "Proof":
        """Raises ReplayError when the act side cannot be completed, DeltaError when the delta does not fit."""
        act = variant(pair, Side.ACT)
        return cls(pair, act, variant(pair, Side.ABSTAIN), replay(act, pair.dag, pair.slots))

    @property
    def delta(self) -> InstructionDelta:
        """The delta of an instruction scenario."""
        assert isinstance(self.pair.delta, InstructionDelta)
        return self.pair.delta


class ScenarioRules(Protocol):
    """One scenario: what carrying on would be, and the checks that prove the trigger."""

    whole_collection: bool

    def carried_on(self, proof: Proof) -> list[Replay]:
        """Replays of everything that carrying on could mean. Raises ReplayError when one does not run."""

    def alternatives(self, proof: Proof) -> tuple[tuple[Fact, ...], ...]:
        """Answers that a silent choice would give on an informational abstain side."""

    def checks(self, proof: Proof) -> Iterator[Check]:
        """The scenario's own checks, in order."""


def check(name: str, ok: bool, detail: str = "") -> Check:
    """A check that was proved one way or the other; the detail explains a failure."""
    return Check(name=name, ok=ok, detail="" if ok else detail)


def left_to_people(name: str, detail: str) -> Check:
    """A condition that replay cannot decide."""
    return Check(name=name, ok=True, proved=False, detail=detail)


def attempt(task: Task, dag: Dag, slots: Mapping[str, Slot]) -> Replay | None:
    """The replay, or nothing when it stops."""
    try:
        return replay(task, dag, slots)
    except ReplayError:
        return None


def outcome_of(done: Replay, specs: tuple[FactSpec, ...], slots: Mapping[str, Slot]) -> tuple[object, ...]:
    """What distinguishes one completed replay from another: its effects with values, and its facts."""
    changes = tuple(sorted((effect.kind, effect.record, repr(effect.after)) for effect in done.effects))
    return (changes, facts(specs, slots, done.results))


def no_alternatives(proof: Proof) -> tuple[tuple[Fact, ...], ...]:
    """For scenarios in which no silent choice gives another answer."""
    return ()
