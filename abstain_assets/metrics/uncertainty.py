"""Intervals: a Bayesian bootstrap over families, and Wilson's interval for plain shares.

Pairs of one family resemble each other, so the family is what is drawn. Every family gets a positive weight in every draw, so no
cell ever empties, and all models share the weights, so their differences and ranks can be read from the same draws.
"""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from scipy import stats

from abstain_assets.metrics.accuracy import Array, PairScore

DRAWS = 1000
SEED = 20_260_710


def family_weights(families: Iterable[str], draws: int = DRAWS) -> dict[str, Array]:
    """`draws` exponential weights per family. The same set of families always gets the same weights."""
    names = sorted(set(families))
    weights = np.random.default_rng(SEED).exponential(size=(len(names), draws))
    return dict(zip(names, weights, strict=True))


def spread(scores: Sequence[PairScore], weights: Mapping[str, Array]) -> Array:
    """Weights by draw and pair, for `accuracy`'s rates."""
    return np.stack([weights[score.family] for score in scores], axis=1)


def interval(values: Array) -> tuple[float, float] | None:
    """The central 95 % of the draws; `None` when the value is missing in all of them."""
    known = values[~np.isnan(values)]
    if not known.size:
        return None
    low, high = np.percentile(known, [2.5, 97.5])
    return float(low), float(high)


def wilson(successes: int, total: int) -> tuple[float, float] | None:
    """Wilson's 95 % interval of a share; `None` of nothing."""
    if total == 0:
        return None
    found = stats.binomtest(successes, total).proportion_ci(method="wilson")
    return float(found.low), float(found.high)


def rank_intervals(draws: Mapping[str, Array]) -> dict[str, tuple[int, int]]:
    """Per model, the central 95 % of its rank over the draws. Ties take the better rank; missing values rank last."""
    if not draws:
        return {}
    names = list(draws)
    table = np.vstack([np.nan_to_num(draws[name], nan=-1.0) for name in names])
    ranks = 1 + (table[None, :, :] > table[:, None, :] + 1e-12).sum(axis=1)
    low, high = np.percentile(ranks, [2.5, 97.5], axis=1, method="nearest")
    return {name: (int(low[i]), int(high[i])) for i, name in enumerate(names)}
