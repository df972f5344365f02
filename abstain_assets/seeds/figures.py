"""The funnel of the seeds stage in numbers."""

from collections import Counter
from collections.abc import Iterable
from typing import Any, get_args

import polars as pl

from abstain_assets.seeds.duplicates import GRANULARITIES
from abstain_assets.seeds.filters import FILTERS
from abstain_assets.seeds.records import Fate, SeedSource
from abstain_assets.seeds.sampling import HALF
from abstain_assets.taxonomy import ActionType, Scenario

Figures = dict[str, Any]


def pool_figures(seeds: pl.DataFrame) -> Figures:
    """What became of everything collected.

    Args:
        seeds: the table `seeds`.

    Returns:
        Counts: `collected`, `kept`, by reason `filtered`, `duplicates` and `dropped`, kept seeds by environment in `environments`,
        by scenario and action type in `supply`, and every fate by source in `by_source`.
    """
    fates = Counter(zip(seeds["source"], seeds["fate"], strict=True))
    reasons = Counter(zip(seeds["fate"], seeds["reason"], strict=True))
    kept = seeds.filter(seeds["fate"] == "kept")
    environments = Counter(kept["environment"].to_list())
    return {
        "collected": seeds.height,
        "kept": kept.height,
        "by_source": {name: {fate: fates[name, fate] for fate in get_args(Fate)} for name in sorted(set(seeds["source"]))},
        "filtered": _counted(reasons, "filtered", (item.reason for item in FILTERS)),
        "duplicates": _counted(reasons, "duplicate", GRANULARITIES),
        "dropped": _counted(reasons, "dropped", ()),
        "environments": dict(sorted(environments.items(), key=lambda item: (-item[1], item[0]))),
        "source_environments": seeds["source_environment"].n_unique(),
        "supply": _by_scenario(kept),
    }


def funnel(seeds: pl.DataFrame, samples: pl.DataFrame, sources: Iterable[SeedSource]) -> Figures:
    """The figures of `abstain stats --seeds`.

    Args:
        seeds: the table `seeds`.
        samples: the rows of `seed_samples` of one round.
        sources: what each benchmark came to.
    """
    drawn = _by_scenario(samples)
    return {
        **pool_figures(seeds),
        "sampled": samples.height,
        "by_scenario": {
            name: {**counts, "shortfall": {kind: HALF - count for kind, count in counts.items()}} for name, counts in drawn.items()
        },
        "sampled_by_source": dict(sorted(Counter(samples["source"].to_list()).items())),
        "unavailable": {item.source: item.problem for item in sources if item.problem},
    }


def _counted(reasons: Counter[tuple[str, str]], fate: str, known: Iterable[str]) -> dict[str, int]:
    """Counts of a fate's reasons: those known beforehand in their order, also where there are none, then any others."""
    others = sorted(reason for found, reason in reasons if found == fate)
    return {reason: reasons[fate, reason] for reason in dict.fromkeys([*known, *others])}


def _by_scenario(rows: pl.DataFrame) -> dict[str, dict[str, int]]:
    counts = Counter(zip(rows["scenario"], rows["action_type"], strict=True))
    return {item.value: {kind.value: counts[item.value, kind.value] for kind in ActionType} for item in Scenario}
