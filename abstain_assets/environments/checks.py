"""The asset check of the environments stage."""

import dagster as dg

from abstain_assets.environments.assets import environments
from abstain_assets.metadata import small_table
from abstain_assets.partitions import environment_partitions
from resources.lake import Lake


@dg.asset_check(asset=environments, blocking=True, partitions_def=environment_partitions)
def gates(context: dg.AssetCheckExecutionContext, lake: dg.ResourceParam[Lake]) -> dg.AssetCheckResult:
    """Every gate that an environment must pass, whoever wrote it."""
    rows = lake.read("checks", [context.partition_key])
    failed = rows.filter(~rows["ok"])
    return dg.AssetCheckResult(
        passed=failed.is_empty() and not rows.is_empty(),
        description="; ".join(f"{row['name']}: {row['detail']}" for row in failed.iter_rows(named=True)) or "all gates passed",
        metadata={"gates": small_table(rows.select("name", "ok", "detail").iter_rows(named=True))},
    )
