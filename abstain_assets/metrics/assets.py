"""The assets of the metrics stage."""

import dagster as dg

from abstain_assets.metadata import column_schema, combined, small_table, written
from abstain_assets.metrics.leaderboard import leaderboard as ranked
from abstain_assets.metrics.leaderboard import metric_rows
from abstain_assets.metrics.report.site import write_report
from abstain_assets.partitions import Cell, cell_partitions
from abstain_assets.rows import leaderboard_table_rows, metric_table_rows, verdicts_from
from abstain_assets.verdicts.assets import verdicts
from abstain_assets.verdicts.current import current_verdicts
from resources.lake import ALL, Lake
from resources.settings import Settings


@dg.asset(
    partitions_def=cell_partitions,
    deps=[verdicts],
    backfill_policy=dg.BackfillPolicy.single_run(),
    group_name="metrics",
    kinds={"python", "parquet"},
    metadata=column_schema("metrics"),
)
def metrics(context: dg.AssetExecutionContext, lake: dg.ResourceParam[Lake]) -> dg.MaterializeResult[None]:
    """Accuracies and outcome shares of one model on one scenario, under every judge, each with its counts and interval."""
    digests = []
    for key in context.partition_keys:
        file = Cell.parse(key).file
        rows = metric_rows(verdicts_from(current_verdicts(lake, [file])))
        summary = written(lake.write("metrics", file, metric_table_rows(rows)))
        digests.append(summary["digest"])
        headline = ({"judge": row.judge, "type": row.action_type, row.metric: row.value} for row in rows if row.metric == "paired")
        context.add_asset_metadata({**summary, "paired": small_table(headline)}, partition_key=key)
    lake.changed()
    return dg.MaterializeResult(data_version=dg.DataVersion(combined(digests)))


@dg.asset(
    deps=[metrics],
    group_name="metrics",
    kinds={"python", "parquet"},
    metadata=column_schema("leaderboard"),
)
def leaderboard(lake: dg.ResourceParam[Lake]) -> dg.MaterializeResult[None]:
    """Every model of every round under every judge, best paired accuracy first, from all verdicts in the lake."""
    with lake.lock("leaderboard"):  # whoever writes last has read everything
        lines = ranked(verdicts_from(current_verdicts(lake)))
        summary = written(lake.write("leaderboard", ALL, leaderboard_table_rows(lines)))
    lake.changed()
    columns = ("rank", "model", "round", "judge", "act", "abstain", "paired", "car", "pairs", "excluded")
    table = small_table({name: getattr(line, name) for name in columns} for line in lines)
    return dg.MaterializeResult(metadata={**summary, "leaderboard": table}, data_version=dg.DataVersion(summary["digest"]))


@dg.asset(deps=[leaderboard], group_name="metrics", kinds={"python", "html"})
def report(lake: dg.ResourceParam[Lake], settings: dg.ResourceParam[Settings]) -> dg.MaterializeResult[None]:
    """The static site: leaderboard, figures, and a page per scenario, model and pair. It opens from the file system."""
    pages = write_report(lake, settings.report)
    return dg.MaterializeResult(metadata={"pages": pages, "path": dg.MetadataValue.path(settings.report / "index.html")})
