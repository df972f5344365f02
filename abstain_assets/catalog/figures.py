"""The second half of the seeds' funnel in numbers: augmentation, routing, grounding."""

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import asdict
from typing import Any, get_args

import polars as pl

from abstain_assets.catalog.routing import MOST_ENVIRONMENTS, report
from abstain_assets.rows import augmented_from, capabilities_from, routes_from
from abstain_assets.seeds.records import AugmentedSeed, Problem, Route

Figures = dict[str, Any]


def routing_figures(seeds: Collection[AugmentedSeed], routes: Collection[Route]) -> Figures:
    """What became of drawn seeds up to routing.

    Returns:
        Counts. `augmentation`: `augmented`, `feasible` and by reason `infeasible`. `routing`: `routed`, by number of environments
        `by_size`, seeds per environment `by_environment`, `unassigned` seeds and, most frequent first, their
        `unassigned_capabilities`, seeds that would take `too_many` environments, and routed seeds whose environments lack something
        of the abstain side in `abstain_side_missing`.
    """
    verdicts = Counter(item.problem for item in seeds)
    sizes = Counter(len(item.environments) for item in routes if item.environments)
    environments = Counter(name for item in routes for name in item.environments)
    lacking = Counter(str(capability) for item in routes for capability in item.unassigned)
    return {
        "augmentation": {
            "augmented": len(seeds),
            "feasible": verdicts[None],
            "infeasible": {name: verdicts[name] for name in get_args(Problem)},
        },
        "routing": {
            "routed": sum(sizes.values()),
            "by_size": {str(size): sizes[size] for size in range(1, MOST_ENVIRONMENTS + 1)},
            "by_environment": dict(sorted(environments.items())),
            "unassigned": sum(bool(item.unassigned) for item in routes),
            "unassigned_capabilities": dict(sorted(lacking.items(), key=lambda item: (-item[1], item[0]))),
            "too_many": sum(item.too_many is not None for item in routes),
            "abstain_side_missing": sum(bool(item.missing) for item in routes),
        },
    }


def grounding_figures(groundings: pl.DataFrame, pairs: Iterable[str]) -> Figures:
    """How pairs and seeds meet.

    Args:
        groundings: the table `groundings`.
        pairs: ids of the published pairs.

    Returns:
        Counts: `pairs` published, `pairs_with_seeds`, `seeds_grounded`, `groundings`, and by scenario pairs with seeds and seeds.
    """
    published = set(pairs)
    by_scenario = groundings.group_by("scenario").agg(pl.col("pair_id").n_unique(), pl.col("seed").n_unique()).sort("scenario")
    return {
        "pairs": len(published),
        "pairs_with_seeds": groundings["pair_id"].n_unique(),
        "seeds_grounded": groundings["seed"].n_unique(),
        "groundings": groundings.height,
        "by_scenario": {
            row["scenario"]: {"pairs_with_seeds": row["pair_id"], "seeds_grounded": row["seed"]}
            for row in by_scenario.iter_rows(named=True)
        },
    }


def funnel(
    augmented: pl.DataFrame, routes: pl.DataFrame, groundings: pl.DataFrame, capabilities: pl.DataFrame, pairs: Iterable[str]
) -> Figures:
    """The figures of `abstain stats --seeds` after sampling: `augmentation`, `routing`, `catalog` and `grounding`.

    Args:
        augmented, routes, groundings, capabilities: the tables of one round.
        pairs: ids of its published pairs.
    """
    routed = routes_from(routes)
    return {
        **routing_figures(augmented_from(augmented), routed),
        "catalog": asdict(report(capabilities_from(capabilities), routed)),
        "grounding": grounding_figures(groundings, pairs),
    }
