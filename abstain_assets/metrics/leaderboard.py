"""The leaderboard and the metric rows, from verdicts alone."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from abstain_assets.metrics.accuracy import (
    Array,
    PairScore,
    Rates,
    by_effect,
    cell_rates,
    errors_fail,
    macro,
    macro_action_type,
    missing_car_cells,
    own_errors_fail,
    pooled,
    score_pairs,
)
from abstain_assets.metrics.records import Aggregate, LeaderboardRow, MetricRow
from abstain_assets.metrics.uncertainty import DRAWS, family_weights, interval, rank_intervals, spread, wilson
from abstain_assets.records import Verdict
from abstain_assets.taxonomy import ActionType, Side

HEADLINE = ("act", "abstain", "paired", "car")
Entry = tuple[str, str, str, str]


def leaderboard(verdicts: Iterable[Verdict], *, paper: bool = False) -> list[LeaderboardRow]:
    """One row per round, model, harness and judge; rounds and judges apart, best paired accuracy first.

    Args:
        paper: the paper's rule for CAR (0 instead of missing).
    """
    entries = _entries(verdicts)
    rows: list[LeaderboardRow] = []
    groups: dict[tuple[str, str], list[Entry]] = defaultdict(list)
    for entry in entries:
        groups[entry[0], entry[3]].append(entry)
    for _, members in sorted(groups.items()):
        weights = family_weights(verdict.family for entry in members for verdict in entries[entry])
        drawn = {entry: _drawn(entries[entry], weights, paper) for entry in members}
        plain = {entry: _plain(entries[entry], paper) for entry in members}
        ranks = rank_intervals({"\0".join(entry): drawn[entry].paired for entry in members})
        best = sorted(members, key=lambda entry: (-_or(plain[entry].paired, -1.0), entry))
        for entry in best:
            rank = 1 + sum(_or(plain[other].paired, -1.0) > _or(plain[entry].paired, -1.0) + 1e-12 for other in members)
            rows.append(_row(entry, entries[entry], plain[entry], drawn[entry], rank, ranks["\0".join(entry)], paper))
    return rows


def metric_rows(verdicts: Iterable[Verdict]) -> list[MetricRow]:
    """Every number in long form: per cell, per scenario, and over everything, each with its counts and interval."""
    found: list[MetricRow] = []
    for entry, runs in sorted(_entries(verdicts).items()):
        weights = family_weights(verdict.family for verdict in runs)
        scenarios = sorted({verdict.scenario.value for verdict in runs})
        for scenario in scenarios:
            mine = [verdict for verdict in runs if verdict.scenario == scenario]
            for action_type in ActionType:
                cell = [verdict for verdict in mine if verdict.action_type is action_type]
                found += _long(entry, cell, scenario, action_type.value, "cell", weights)
            found += _long(entry, mine, scenario, "all", "pooled", weights)
            found += _long(entry, mine, scenario, "all", "macro_action_type", weights)
        if len(scenarios) > 1:
            for aggregate in ("macro_action_type", "macro", "pooled"):
                found += _long(entry, runs, "all", "all", aggregate, weights)
    return found


def _entries(verdicts: Iterable[Verdict]) -> dict[Entry, list[Verdict]]:
    entries: dict[Entry, list[Verdict]] = defaultdict(list)
    for verdict in verdicts:
        entries[verdict.round, verdict.model, verdict.harness, verdict.judge].append(verdict)
    return dict(entries)


def _plain(runs: Sequence[Verdict], paper: bool) -> Rates:
    scores = score_pairs(runs)
    return macro_action_type(scores, _ones(scores), paper) if scores else _nothing(1)


def _drawn(runs: Sequence[Verdict], weights: Mapping[str, Array], paper: bool) -> Rates:
    scores = score_pairs(runs)
    return macro_action_type(scores, spread(scores, weights), paper) if scores else _nothing(DRAWS)


def _nothing(length: int) -> Rates:
    empty = np.full(length, np.nan)
    return Rates(empty, empty, empty, empty)


def _ones(scores: Sequence[PairScore]) -> Array:
    return np.ones((1, len(scores)))


def _or(values: Array, instead: float) -> float:
    return instead if np.isnan(values[0]) else float(values[0])


def _value(values: Array) -> float | None:
    return None if np.isnan(values[0]) else float(values[0])


def _row(
    entry: Entry, runs: Sequence[Verdict], plain: Rates, drawn: Rates, rank: int, ranks: tuple[int, int], paper: bool
) -> LeaderboardRow:
    round_name, model, harness, judge = entry
    scores = score_pairs(runs)
    strict = score_pairs(runs, by_effect)
    assigned = score_pairs(runs, errors_fail)
    own = score_pairs(runs, own_errors_fail)
    acted = [verdict for verdict in runs if verdict.side is Side.ACT and verdict.passed is not None]
    over = sum(verdict.outcome == "over_abstained" for verdict in acted)
    excluded = Counter(verdict.error_kind or "unjudged" for verdict in runs if verdict.passed is None)
    epochs = 1 + max(verdict.epoch for verdict in runs)
    return LeaderboardRow(
        model=model,
        harness=harness,
        round=round_name,
        judge=judge,
        epochs=epochs,
        act=_value(plain.act),
        abstain=_value(plain.abstain),
        paired=_value(plain.paired),
        car=_value(plain.car),
        macro_paired=_paired(scores, macro),
        pooled_paired=_paired(scores, pooled),
        ite_paired=_paired(assigned, macro_action_type),
        paired_strict=_paired(strict, macro_action_type),
        over_abstention=over / len(acted) if acted else None,
        pairs=len(scores),
        excluded=excluded.total(),
        ci_act=interval(drawn.act),
        ci_abstain=interval(drawn.abstain),
        ci_paired=interval(drawn.paired),
        ci_car=interval(drawn.car),
        ci_over_abstention=wilson(over, len(acted)),
        rank=rank,
        rank_interval=ranks,
        assigned=len(assigned),
        scenarios=len({score.cell[0] for score in scores}),
        excluded_by_kind=dict(sorted(excluded.items())),
        counts={
            "act": sum(score.act for score in scores),
            "abstain": sum(score.abstain for score in scores),
            "paired": sum(score.paired for score in scores),
            "paired_strict": sum(score.paired for score in strict),
            "over_abstained": float(over),
            "act_runs": float(len(acted)),
        },
        car_missing_cells=0 if paper else missing_car_cells(scores),
        ite_paired_without_infrastructure=_paired(own, macro_action_type),
        outcomes=dict(sorted(Counter(verdict.outcome for verdict in runs if verdict.outcome).items())),
        pass_hat_k=_pass_hat(scores, epochs),
        provisional=True,  # no judge has been calibrated on real responses so far
    )


def _paired(scores: Sequence[PairScore], aggregate: Callable[[Sequence[PairScore], Array], Rates]) -> float | None:
    return _value(aggregate(scores, _ones(scores)).paired) if scores else None


def _pass_hat(scores: Sequence[PairScore], epochs: int) -> tuple[float, ...]:
    """Mean pass^k over the pairs with at least k runs on either side, for k from 1."""
    found = []
    for k in range(1, epochs + 1):
        known = [value for score in scores if (value := score.pass_hat(k)) is not None]
        if known:
            found.append(sum(known) / len(known))
    return tuple(found)


def _long(
    entry: Entry, runs: Sequence[Verdict], scenario: str, action_type: str, aggregate: Aggregate, weights: Mapping[str, Array]
) -> list[MetricRow]:
    """The rows of one group of runs under one aggregate."""
    round_name, model, harness, judge = entry
    how = {"cell": cell_rates, "pooled": pooled, "macro": macro, "macro_action_type": macro_action_type}[aggregate]

    def row(metric: str, value: float | None, numerator: float, denominator: float, ends: tuple[float, float] | None) -> MetricRow:
        return MetricRow(
            round=round_name,
            model=model,
            harness=harness,
            judge=judge,
            scenario=scenario,
            action_type=action_type,
            aggregate=aggregate,
            metric=metric,
            value=value,
            numerator=numerator,
            denominator=denominator,
            lo=ends[0] if ends else None,
            hi=ends[1] if ends else None,
        )

    rows: list[MetricRow] = []
    for suffix, rule in (("", None), ("_strict", by_effect), ("_ite", errors_fail)):
        scores = score_pairs(runs, rule) if rule else score_pairs(runs)
        if not scores:
            rows += [row(f"{name}{suffix}", None, 0.0, 0.0, None) for name in HEADLINE]
            continue
        plain, drawn = how(scores, _ones(scores)), how(scores, spread(scores, weights))
        for name in HEADLINE:
            numerator = sum(score.paired if name == "car" else getattr(score, name) for score in scores)
            denominator = sum(score.act for score in scores) if name == "car" else float(len(scores))
            value = _value(getattr(plain, name))
            rows.append(row(f"{name}{suffix}", value, numerator, denominator, interval(getattr(drawn, name))))
    if aggregate in ("cell", "pooled"):
        rows += _shares(row, runs)
    return rows


def _shares(row: Callable[..., MetricRow], runs: Sequence[Verdict]) -> list[MetricRow]:
    """Outcome shares per side, and exclusions by kind, as shares of the runs assigned."""
    rows = []
    for side in Side:
        mine = [verdict for verdict in runs if verdict.side is side]
        usable = [verdict for verdict in mine if verdict.outcome]
        for outcome, count in sorted(Counter(str(verdict.outcome) for verdict in usable).items()):
            rows.append(row(f"{side}:{outcome}", count / len(usable), float(count), float(len(usable)), wilson(count, len(usable))))
        excluded = Counter(verdict.error_kind or "unjudged" for verdict in mine if verdict.passed is None)
        for kind, count in sorted(excluded.items()):
            rows.append(row(f"{side}:excluded:{kind}", count / len(mine), float(count), float(len(mine)), wilson(count, len(mine))))
    return rows
