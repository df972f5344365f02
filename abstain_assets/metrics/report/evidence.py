"""Everything the report shows of one round, read from the lake once and found by pair, model and judge."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from abstain_assets.records import Outcome, Pair, Rollout, Verdict
from abstain_assets.taxonomy import ActionType, Scenario, Side


@dataclass(frozen=True, order=True)
class Entry:
    """One line of every table: a model under a harness, as one judge reads it."""

    model: str
    harness: str
    judge: str

    @classmethod
    def of(cls, verdict: Verdict) -> "Entry":
        return cls(verdict.model, verdict.harness, verdict.judge)


@dataclass(frozen=True)
class Mark:
    """How one side of one pair went for an entry, over all epochs.

    Attributes:
        usable: judged runs; `passed` and `strict` count among them.
        unjudged: runs whose judge gave no reading.
        errors: runs without a verdict, by error kind.
    """

    passed: int
    strict: int
    usable: int
    unjudged: int
    errors: Mapping[str, int]

    @property
    def runs(self) -> int:
        return self.usable + self.unjudged + sum(self.errors.values())


@dataclass(frozen=True)
class Shares:
    """Outcomes of one entry's runs on one side and action type; `usable` of them were judged."""

    outcomes: Mapping[Outcome, int]
    usable: int
    unjudged: int
    errors: Mapping[str, int]


@dataclass(frozen=True)
class RoundEvidence:
    """Pairs, runs and verdicts of one round."""

    round: str
    pairs: tuple[Pair, ...]
    rollouts: tuple[Rollout, ...]
    verdicts: tuple[Verdict, ...]

    @classmethod
    def of(cls, name: str, pairs: Iterable[Pair], rollouts: Iterable[Rollout], verdicts: Iterable[Verdict]) -> "RoundEvidence":
        """What belongs to a round. Verdicts on runs that are gone are left out: their pair was built anew since."""
        runs = tuple(rollout for rollout in rollouts if rollout.round == name)
        current = {rollout.fingerprint for rollout in runs}
        return cls(
            name,
            tuple(pair for pair in pairs if pair.round == name),
            runs,
            tuple(verdict for verdict in verdicts if verdict.fingerprint in current),
        )

    @cached_property
    def models(self) -> tuple[str, ...]:
        """Models with any run, by name."""
        return tuple(sorted({rollout.model for rollout in self.rollouts}))

    @cached_property
    def judges(self) -> tuple[str, ...]:
        """Judges with any verdict, by name."""
        return tuple(sorted({verdict.judge for verdict in self.verdicts}))

    @cached_property
    def entries(self) -> tuple[Entry, ...]:
        """Everything that was judged, by name."""
        return tuple(sorted(self._of_entry))

    def label(self, entry: Entry) -> str:
        """The name of an entry: its model, with harness and judge only where the model has several."""
        mine = [other for other in self.entries if other.model == entry.model]
        parts = [entry.model]
        parts += [entry.harness] if len({other.harness for other in mine}) > 1 else []
        parts += [entry.judge] if len({other.judge for other in mine}) > 1 else []
        return ", ".join(parts)

    @cached_property
    def runs(self) -> dict[tuple[str, str, Side], tuple[Rollout, ...]]:
        """Runs by pair, model and side, in the order of their epochs."""
        found: dict[tuple[str, str, Side], list[Rollout]] = defaultdict(list)
        for rollout in sorted(self.rollouts, key=lambda item: (item.epoch, item.fingerprint)):
            found[rollout.pair_id, rollout.model, rollout.side].append(rollout)
        return {key: tuple(items) for key, items in found.items()}

    @cached_property
    def by_run(self) -> dict[str, tuple[Verdict, ...]]:
        """Verdicts by fingerprint of their run, in the order of the judges' names."""
        found: dict[str, list[Verdict]] = defaultdict(list)
        for verdict in sorted(self.verdicts, key=lambda item: item.judge):
            found[verdict.fingerprint].append(verdict)
        return {key: tuple(items) for key, items in found.items()}

    @cached_property
    def _by_side(self) -> dict[tuple[str, Entry, Side], list[Verdict]]:
        found: dict[tuple[str, Entry, Side], list[Verdict]] = defaultdict(list)
        for verdict in self.verdicts:
            found[verdict.pair_id, Entry.of(verdict), verdict.side].append(verdict)
        return found

    def mark(self, pair: str, entry: Entry, side: Side) -> Mark | None:
        """How a side of a pair went; `None` where nothing was run or judged."""
        verdicts = self._by_side.get((pair, entry, side))
        return mark_of(verdicts) if verdicts else None

    def shares(self, entry: Entry, side: Side, action_type: ActionType, scenario: Scenario | None = None) -> Shares:
        """What an entry's runs came to on one side of pairs of one action type."""
        chosen = [
            verdict
            for verdict in self._of_entry[entry]
            if verdict.side is side and verdict.action_type is action_type and scenario in (None, verdict.scenario)
        ]
        judged = [verdict for verdict in chosen if verdict.usable and verdict.outcome is not None]
        return Shares(
            outcomes=Counter(verdict.outcome for verdict in judged if verdict.outcome),
            usable=len(judged),
            unjudged=sum(verdict.usable for verdict in chosen) - len(judged),
            errors=_errors(chosen),
        )

    @cached_property
    def _of_entry(self) -> dict[Entry, list[Verdict]]:
        found: dict[Entry, list[Verdict]] = defaultdict(list)
        for verdict in self.verdicts:
            found[Entry.of(verdict)].append(verdict)
        return found


def mark_of(verdicts: Sequence[Verdict]) -> Mark:
    """The verdicts of one side of one pair, counted."""
    judged = [verdict for verdict in verdicts if verdict.passed is not None]
    return Mark(
        passed=sum(bool(verdict.passed) for verdict in judged),
        strict=sum(bool(verdict.passed_strict) for verdict in judged),
        usable=len(judged),
        unjudged=sum(verdict.usable and verdict.passed is None for verdict in verdicts),
        errors=_errors(verdicts),
    )


def _errors(verdicts: Iterable[Verdict]) -> dict[str, int]:
    return dict(sorted(Counter(verdict.error_kind for verdict in verdicts if verdict.error_kind).items()))
