"""Asset checks of the pairs stage. They read the published files, not what the building step had in memory."""

from collections.abc import Iterator

import dagster as dg

from abstain_assets.metadata import small_table
from abstain_assets.pairs.assets import pairs
from abstain_assets.pairs.audit import FEWEST_PER_ACTION_TYPE, audit, shortfalls
from abstain_assets.partitions import scenario_partitions
from abstain_assets.rows import pairs_from
from resources.lake import Lake

HIGHEST_QUARANTINE_RATE = 0.5


def _spec(name: str, description: str, *, blocking: bool = False) -> dg.AssetCheckSpec:
    return dg.AssetCheckSpec(name, asset=pairs, description=description, blocking=blocking, partitions_def=scenario_partitions)


@dg.multi_asset_check(
    name="published_pairs",
    specs=[
        _spec("verified_again", "Every published pair passes all validators again, from its record alone.", blocking=True),
        _spec("counts", f"At least {FEWEST_PER_ACTION_TYPE} informational and as many operational pairs.", blocking=True),
        _spec("quarantine_rate", f"At most {HIGHEST_QUARANTINE_RATE:.0%} of the draws were rejected."),
    ],
)
def published_pairs(context: dg.AssetCheckExecutionContext, lake: dg.ResourceParam[Lake]) -> Iterator[dg.AssetCheckResult]:
    """What is published is valid, complete, and not the rest of a landslide of rejections."""
    key = context.partition_key
    published = pairs_from(lake.read("pairs", [key]))
    findings = list(audit(published))
    yield dg.AssetCheckResult(
        check_name="verified_again",
        passed=not findings,
        description="; ".join(f"{item.id} {item.check}: {item.reason}" for item in findings) or "all valid",
        metadata={"checked": len(published), "failed": small_table(vars(item) for item in findings)},
    )
    short = shortfalls(published)
    yield dg.AssetCheckResult(
        check_name="counts",
        passed=not short,
        description=", ".join(f"only {count} {name}" for name, count in short.items()) or "enough of both types",
        metadata={"pairs": len(published)},
    )
    rejected = lake.read("quarantine", [key]).height
    rate = rejected / max(1, rejected + len(published))
    yield dg.AssetCheckResult(
        check_name="quarantine_rate",
        passed=rate <= HIGHEST_QUARANTINE_RATE,
        severity=dg.AssetCheckSeverity.WARN,
        metadata={"rate": rate, "rejected": rejected},
    )
