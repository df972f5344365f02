"""The asset of the verdicts stage."""

from collections import Counter
from dataclasses import dataclass

import dagster as dg
from pydantic import Field

from abstain_assets.errors import BadInput
from abstain_assets.metadata import column_schema, combined, written
from abstain_assets.partitions import Cell, cell_partitions
from abstain_assets.rollouts.assets import rollouts
from abstain_assets.rows import pairs_from, rollouts_from, verdict_rows
from abstain_assets.verdicts.judges import Judge, named
from abstain_assets.verdicts.judging import judge_rollouts
from resources.lake import Lake, Written

DEFAULT_JUDGE = "rules"


class VerdictsConfig(dg.Config):
    """Who judges."""

    judge: str = Field(default=DEFAULT_JUDGE, description="Name of the judge.")


@dataclass(frozen=True)
class Judged:
    """What judging a cell came to."""

    part: Written
    outcomes: dict[str, int]
    unjudged: int
    errored: int


@dg.asset(
    partitions_def=cell_partitions,
    deps=[rollouts],
    backfill_policy=dg.BackfillPolicy.single_run(),
    group_name="verdicts",
    kinds={"python", "parquet"},
    metadata=column_schema("verdicts"),
)
def verdicts(context: dg.AssetExecutionContext, config: VerdictsConfig, lake: dg.ResourceParam[Lake]) -> dg.MaterializeResult[None]:
    """What the commit check and one judge say of every rollout. Never runs an agent; verdicts of other judges stay."""
    judge = named(config.judge)
    digests = []
    for key in context.partition_keys:
        done = judge_cell(lake, Cell.parse(key), judge)
        summary = written(done.part)
        digests.append(summary["digest"])
        facts = {"judge": judge.name, "outcomes": done.outcomes, "unjudged": done.unjudged, "errored": done.errored}
        context.add_asset_metadata({**summary, **facts}, partition_key=key)
    lake.changed()
    return dg.MaterializeResult(data_version=dg.DataVersion(combined(digests)))


def judge_cell(lake: Lake, cell: Cell, judge: Judge) -> Judged:
    """Judge everything in a cell and write its verdicts.

    Raises:
        BadInput: the cell has no rollouts.
        ContractError: a contract cannot fail.
        LakeError: a table cannot be read or written.
    """
    runs = rollouts_from(lake.read("rollouts", [cell.file]), lake.read("calls", [cell.file]))
    if cell.file not in lake.partitions("rollouts"):
        raise BadInput(f"{cell.key} has no rollouts: run the model first")
    found = judge_rollouts(pairs_from(lake.read("pairs", [cell.scenario.key])), runs, judge)
    part = lake.write("verdicts", verdicts_file(cell, judge.name), verdict_rows(found))
    return Judged(
        part,
        outcomes=dict(Counter(item.outcome for item in found if item.outcome)),
        unjudged=sum(item.usable and item.abstained is None for item in found),
        errored=sum(not item.usable for item in found),
    )


def verdicts_file(cell: Cell, judge: str) -> str:
    """The lake's name of one judge's verdicts on a cell."""
    return f"{cell.file}__{judge.replace('/', '~')}"
