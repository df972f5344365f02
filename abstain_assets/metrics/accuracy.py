"""Accuracies by METHODS: pairs whose two sides are usable, cells of scenario and action type, and three ways to put them together.

Runs of a pair are summarised first: with `ca` of `Ka` act runs and `cb` of `Kb` abstain runs passed, the pair's act score is
`ca/Ka`, its abstain score `cb/Kb`, and its paired score their product. One epoch gives the usual zeros and ones.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import comb

import numpy as np
import numpy.typing as npt

from abstain_assets.records import Verdict
from abstain_assets.taxonomy import Side

Array = npt.NDArray[np.float64]
Passed = Callable[[Verdict], bool | None]
INFRASTRUCTURE = ("api_error", "runtime_error")


@dataclass(frozen=True)
class PairScore:
    """One pair of one model: passes and runs on either side."""

    pair_id: str
    family: str
    cell: tuple[str, str]
    act_passes: int
    act_runs: int
    abstain_passes: int
    abstain_runs: int

    @property
    def act(self) -> float:
        return self.act_passes / self.act_runs

    @property
    def abstain(self) -> float:
        return self.abstain_passes / self.abstain_runs

    @property
    def paired(self) -> float:
        return self.act * self.abstain

    def pass_hat(self, k: int) -> float | None:
        """Chance that k act and k abstain runs drawn from these all passed; `None` with fewer than k runs on a side."""
        if min(self.act_runs, self.abstain_runs) < k:
            return None
        both = comb(self.act_passes, k) * comb(self.abstain_passes, k)
        return both / (comb(self.act_runs, k) * comb(self.abstain_runs, k))


def by_paper(verdict: Verdict) -> bool | None:
    """Passed by the paper's rule; `None` where the run has no verdict."""
    return verdict.passed


def by_effect(verdict: Verdict) -> bool | None:
    """Passed at effect depth; `None` where the run has no verdict."""
    return verdict.passed_strict


def errors_fail(verdict: Verdict) -> bool | None:
    """Intention to evaluate: a run without a verdict failed."""
    return bool(verdict.passed)


def own_errors_fail(verdict: Verdict) -> bool | None:
    """Intention to evaluate, but infrastructure errors are nobody's failure and are left out."""
    return None if verdict.error_kind in INFRASTRUCTURE else bool(verdict.passed)


def score_pairs(verdicts: Iterable[Verdict], passed: Passed = by_paper) -> list[PairScore]:
    """Scores of the pairs of one model that have at least one counted run on either side, sorted by id.

    Args:
        passed: whether a run passed; runs for which it gives `None` are not counted.
    """
    found: dict[str, list[Verdict]] = defaultdict(list)
    for verdict in verdicts:
        found[verdict.pair_id].append(verdict)
    scores = []
    for pair_id, runs in sorted(found.items()):
        sides = {side: [result for run in runs if run.side is side and (result := passed(run)) is not None] for side in Side}
        act, abstain = sides[Side.ACT], sides[Side.ABSTAIN]
        if act and abstain:
            cell = (runs[0].scenario.value, runs[0].action_type.value)
            scores.append(PairScore(pair_id, runs[0].family, cell, sum(act), len(act), sum(abstain), len(abstain)))
    return scores


@dataclass(frozen=True)
class Rates:
    """Headline rates under one or many weightings of families: arrays of one value per weighting, NaN where missing."""

    act: Array
    abstain: Array
    paired: Array
    car: Array


def cell_rates(scores: Sequence[PairScore], weights: Array, paper: bool = False) -> Rates:
    """Rates of one set of pairs.

    Args:
        weights: one row per weighting, one column per pair; ones for the plain rates.
        paper: the paper's rule for CAR: 0 instead of missing where no act side passed.
    """
    act = np.array([score.act for score in scores])
    abstain = np.array([score.abstain for score in scores])
    total = weights.sum(axis=1)
    solved = weights @ act
    both = weights @ (act * abstain)
    with np.errstate(divide="ignore", invalid="ignore"):
        car = np.where(solved > 0, both / solved, 0.0 if paper else np.nan)
    return Rates(solved / total, (weights @ abstain) / total, both / total, car)


def pooled(scores: Sequence[PairScore], weights: Array, paper: bool = False) -> Rates:
    """All pairs count the same."""
    return cell_rates(scores, weights, paper)


def macro(scores: Sequence[PairScore], weights: Array, paper: bool = False) -> Rates:
    """Pooled within a scenario, then the mean over scenarios."""
    return _mean([cell_rates([scores[i] for i in rows], weights[:, rows], paper) for rows in _groups(scores, 1)])


def macro_action_type(scores: Sequence[PairScore], weights: Array, paper: bool = False) -> Rates:
    """The mean over the two action types within a scenario, then over scenarios: what the published figures follow."""
    by_scenario: dict[str, list[Rates]] = defaultdict(list)
    for rows in _groups(scores, 2):
        by_scenario[scores[rows[0]].cell[0]].append(cell_rates([scores[i] for i in rows], weights[:, rows], paper))
    return _mean([_mean(rates) for rates in by_scenario.values()])


def missing_car_cells(scores: Sequence[PairScore]) -> int:
    """Cells in which no act side passed, so that CAR says nothing there."""
    return sum(not any(scores[i].act_passes for i in rows) for rows in _groups(scores, 2))


def _groups(scores: Sequence[PairScore], depth: int) -> list[list[int]]:
    """Positions of pairs with the same scenario (depth 1) or the same scenario and action type (depth 2)."""
    found: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for position, score in enumerate(scores):
        found[score.cell[:depth]].append(position)
    return list(found.values())


def _mean(rates: Sequence[Rates]) -> Rates:
    """The mean over cells, leaving out missing values."""

    def over(name: str) -> Array:
        stacked = np.vstack([getattr(rate, name) for rate in rates])
        known = ~np.isnan(stacked)
        with np.errstate(invalid="ignore"):
            result: Array = np.where(known, stacked, 0.0).sum(axis=0) / known.sum(axis=0)
        return result

    return Rates(over("act"), over("abstain"), over("paired"), over("car"))
