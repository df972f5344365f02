"""Pairs drawn, replayed and validated per second, as `abstain build` does it: on all cores, without the lake and Dagster."""

import time
from itertools import product

from abstain_assets.pairs.build import Built, build_half
from abstain_assets.parallel import spread
from abstain_assets.taxonomy import ActionType, Scenario
from resources.settings import V1, V1_SEED


def measure() -> dict[str, float]:
    """Build round v1 once, after a first part that starts the workers and does not count.

    Returns:
        `{"pairs_per_second", "pairs", "seconds"}`.
    """
    parts = list(product(Scenario, ActionType))
    spread(_build, parts[:2])
    started = time.perf_counter()
    built = spread(_build, parts)
    seconds = time.perf_counter() - started
    pairs = sum(len(part.pairs) for part in built)
    return {"pairs_per_second": round(pairs / seconds, 1), "pairs": pairs, "seconds": round(seconds, 3)}


def _build(part: tuple[Scenario, ActionType]) -> Built:
    return build_half(*part, V1, V1_SEED)
