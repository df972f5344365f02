"""Rates with the counts and intervals behind them, as the tables show them: a view of the leaderboard and the metric rows."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from abstain_assets.metrics.records import LeaderboardRow, MetricRow
from abstain_assets.metrics.report.evidence import Entry
from abstain_assets.metrics.report.text import counted
from abstain_assets.taxonomy import Scenario

Interval = tuple[float, float]
_ALL = "all"
_AGGREGATE = "macro_action_type"


@dataclass(frozen=True)
class Rate:
    """A rate, what was counted for it, and its 95 % interval where there is one."""

    value: float | None
    passed: float = 0.0
    of: float = 0.0
    interval: Interval | None = None


@dataclass(frozen=True)
class Score:
    """An entry's rates on some pairs.

    Attributes:
        pairs: those with both runs usable.
        excluded: runs without a verdict, in words.
    """

    paired: Rate
    act: Rate
    abstain: Rate
    car: Rate
    strict: Rate
    pairs: int
    excluded: str


@dataclass(frozen=True)
class BoardRow:
    """One line of the leaderboard: the record, and its numbers as shown."""

    entry: Entry
    record: LeaderboardRow
    score: Score
    over: Rate


@dataclass(frozen=True)
class Scores:
    """All numbers of a round: the leaderboard, and every entry's rates per scenario."""

    board: tuple[BoardRow, ...]
    cells: Mapping[tuple[Entry, str], Score]

    @classmethod
    def of(cls, board: Sequence[LeaderboardRow], metrics: Iterable[MetricRow]) -> "Scores":
        """The numbers of one round's rows. The leaderboard's order is kept."""
        found: dict[tuple[Entry, str], dict[tuple[str, str], MetricRow]] = {}
        for row in metrics:
            if row.action_type == _ALL:
                found.setdefault((Entry(row.model, row.harness, row.judge), row.scenario), {})[row.aggregate, row.metric] = row
        cells = {key: _score(rows) for key, rows in found.items()}
        return cls(tuple(_board_row(row, cells) for row in board), cells)

    def on(self, entry: Entry, scenario: Scenario) -> Score:
        """An entry's rates on a scenario; missing rates where it has no usable pair there."""
        return self.cells.get((entry, scenario.value), _NOTHING)


def _score(rows: Mapping[tuple[str, str], MetricRow]) -> Score:
    def rate(metric: str) -> Rate:
        row = rows.get((_AGGREGATE, metric))
        if row is None:
            return Rate(None)
        ends = None if row.lo is None or row.hi is None else (row.lo, row.hi)
        return Rate(row.value, row.numerator, row.denominator, ends)

    excluded: Counter[str] = Counter()
    for (aggregate, metric), row in rows.items():
        if aggregate == "pooled" and ":excluded:" in metric:
            excluded[metric.rpartition(":")[2]] += int(row.numerator)
    paired, without = rate("paired"), counted(dict(sorted(excluded.items())))
    return Score(paired, rate("act"), rate("abstain"), rate("car"), rate("paired_strict"), int(paired.of), without)


def _board_row(row: LeaderboardRow, cells: Mapping[tuple[Entry, str], Score]) -> BoardRow:
    entry = Entry(row.model, row.harness, row.judge)
    # With a single scenario there is no row over all of them: the scenario is all there is.
    whole = cells.get((entry, _ALL)) or next((score for (other, _), score in cells.items() if other == entry), _NOTHING)
    counts, pairs = row.counts, float(row.pairs)
    score = Score(
        paired=Rate(row.paired, counts["paired"], pairs, row.ci_paired),
        act=Rate(row.act, counts["act"], pairs, row.ci_act),
        abstain=Rate(row.abstain, counts["abstain"], pairs, row.ci_abstain),
        car=Rate(row.car, counts["paired"], counts["act"], row.ci_car),
        strict=Rate(row.paired_strict, counts["paired_strict"], pairs, whole.strict.interval),
        pairs=row.pairs,
        excluded=counted(row.excluded_by_kind),
    )
    over = Rate(row.over_abstention, counts["over_abstained"], counts["act_runs"], row.ci_over_abstention)
    return BoardRow(entry, row, score, over)


_MISSING = Rate(None)
_NOTHING = Score(_MISSING, _MISSING, _MISSING, _MISSING, _MISSING, 0, "")
