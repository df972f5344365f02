"""Asset checks of the seeds stage. They warn: fewer seeds stop nothing."""

import dagster as dg

from abstain_assets.metadata import small_table
from abstain_assets.partitions import scenario_partitions
from abstain_assets.rows import sources_from
from abstain_assets.seeds.assets import seed_pool, seeds
from abstain_assets.seeds.sampling import HALF
from abstain_assets.taxonomy import ActionType
from resources.lake import ALL, Lake


@dg.asset_check(asset=seed_pool)
def sources_available(lake: dg.ResourceParam[Lake]) -> dg.AssetCheckResult:
    """Every benchmark could be fetched and read."""
    sources = sources_from(lake.read("seed_sources", [ALL]))
    missing = [item for item in sources if item.problem]
    return dg.AssetCheckResult(
        passed=bool(sources) and not missing,
        severity=dg.AssetCheckSeverity.WARN,
        description="; ".join(f"{item.source}: {item.problem}" for item in missing) or "all available",
        metadata={"sources": small_table({"source": item.source, "problem": item.problem} for item in sources)},
    )


@dg.asset_check(asset=seeds, partitions_def=scenario_partitions)
def full_sample(context: dg.AssetCheckExecutionContext, lake: dg.ResourceParam[Lake]) -> dg.AssetCheckResult:
    """As many seeds of both action types as a scenario is meant to have."""
    drawn = lake.read("seed_samples", [context.partition_key])["action_type"].to_list()
    counts = {action_type.value: drawn.count(action_type.value) for action_type in ActionType}
    return dg.AssetCheckResult(
        passed=all(count == HALF for count in counts.values()),
        severity=dg.AssetCheckSeverity.WARN,
        description=", ".join(f"{count} of {HALF} {name}" for name, count in counts.items()),
        metadata=dict(counts),
    )
