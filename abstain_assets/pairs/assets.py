"""The assets of the pairs stage."""

from collections import Counter

import dagster as dg

from abstain_assets.environments.assets import environments
from abstain_assets.metadata import column_schema, small_table, written
from abstain_assets.pairs.build import Built, build_half, merged
from abstain_assets.parallel import spread
from abstain_assets.partitions import scenario_partitions
from abstain_assets.rounds import RoundScenario
from abstain_assets.rows import check_rows, pair_rows, quarantine_rows
from abstain_assets.seeds.assets import seeds
from abstain_assets.taxonomy import ActionType, Scenario
from resources.lake import Lake
from resources.settings import Settings


@dg.asset(
    partitions_def=scenario_partitions,
    deps=[dg.AssetDep(environments, partition_mapping=dg.AllPartitionMapping()), seeds],  # families draw without the seeds
    group_name="pairs",
    kinds={"python", "parquet"},
    metadata=column_schema("pairs"),
)
def pairs(
    context: dg.AssetExecutionContext, lake: dg.ResourceParam[Lake], settings: dg.ResourceParam[Settings]
) -> dg.MaterializeResult[None]:
    """The pairs of one scenario in one round: drawn by the families, replayed and validated. What fails is in `quarantine`."""
    where = RoundScenario.parse(context.partition_key)
    seed = settings.seed_of(where.round)
    built = merged(spread(_half, [(where.scenario, action_type, where.round, seed) for action_type in ActionType]))
    checks = [
        row
        for pair in built.pairs
        for row in check_rows("pairs", pair.id, pair.checks, round_name=pair.round, scenario=pair.scenario)
    ]
    rejected = lake.write("quarantine", where.key, quarantine_rows(built.rejections))
    checked = lake.write("checks", where.key, checks)
    published = lake.write("pairs", where.key, pair_rows(built.pairs))
    lake.changed()
    summary = written(published, checked, rejected)
    reasons = Counter(item.check for item in built.rejections)
    return dg.MaterializeResult(
        metadata={
            **summary,
            "quarantined": rejected.rows,
            "pairs": small_table(
                {"pair": pair.id, "type": pair.action_type.value, "delta": pair.delta.kind, "instruction": pair.act.instruction}
                for pair in built.pairs
            ),
            "quarantine": small_table({"check": name, "draws": count} for name, count in reasons.most_common()),
        },
        data_version=dg.DataVersion(summary["digest"]),
    )


def _half(task: tuple[Scenario, ActionType, str, int]) -> Built:
    return build_half(*task)
