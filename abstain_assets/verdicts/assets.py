"""The asset of the verdicts stage."""

from collections import Counter
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field

import dagster as dg
from pydantic import Field

from abstain_assets.errors import BadInput
from abstain_assets.metadata import column_schema, combined, written
from abstain_assets.partitions import Cell, cell_partitions
from abstain_assets.records import Pair, Usage
from abstain_assets.rollouts.assets import rollouts
from abstain_assets.rollouts.pools import blocking_provider_slot
from abstain_assets.rollouts.runner import total
from abstain_assets.rows import pairs_from, rollouts_from, verdict_rows
from abstain_assets.verdicts.current import current_rollouts
from abstain_assets.verdicts.judges import Judge
from abstain_assets.verdicts.judging import judge_rollouts, judgements_of
from resources.harness.base import Budget
from resources.judge import ModelJudge, open_judge
from resources.lake import Lake, Written
from resources.models import slug
from resources.settings import Settings

DEFAULT_JUDGE = "rules"


class VerdictsConfig(dg.Config):
    """Who judges."""

    judge: str = Field(default=DEFAULT_JUDGE, description="Name of the judge: `rules`, or a model of `models/`.")
    max_cost_usd: float | None = Field(default=None, description="What a model may spend on judging in this run.")


@dataclass(frozen=True)
class Judged:
    """What judging a cell came to.

    Attributes:
        reused: judgements that were paid for earlier.
        usage: what the others took.
        stale: rollouts that are older than their pairs and were left out.
    """

    part: Written
    outcomes: dict[str, int]
    judged: int
    reused: int
    unjudged: int
    errored: int
    stale: int
    usage: Usage


@dataclass
class Bench:
    """What the cells of a command came to."""

    judged: list[Judged] = field(default_factory=list)


@dg.asset(
    partitions_def=cell_partitions,
    deps=[rollouts],
    backfill_policy=dg.BackfillPolicy.single_run(),
    group_name="verdicts",
    kinds={"python", "parquet"},
    metadata=column_schema("verdicts"),
)
def verdicts(
    context: dg.AssetExecutionContext,
    config: VerdictsConfig,
    lake: dg.ResourceParam[Lake],
    settings: dg.ResourceParam[Settings],
    bench: dg.ResourceParam[Bench],
) -> dg.MaterializeResult[None]:
    """What the commit check and one judge say of every rollout. Never runs an agent; verdicts of other judges stay.

    A model that judges is asked once about a response; its answers are kept.
    """
    budget = Budget(config.max_cost_usd)
    cells = [Cell.parse(key) for key in context.partition_keys]
    published = {where: pairs_from(lake.read("pairs", [where.key])) for where in dict.fromkeys(cell.scenario for cell in cells)}
    digests = []
    for cell in cells:
        judge = open_judge(config.judge, settings.judgements / f"{verdicts_file(cell, config.judge)}.jsonl", budget)
        with _slot(context, judge, cell):
            done = judge_cell(lake, cell, published[cell.scenario], judge)
        bench.judged.append(done)
        summary = written(done.part)
        digests.append(summary["digest"])
        facts = {
            "judge": judge.name,
            "outcomes": done.outcomes,
            "reused": done.reused,
            "unjudged": done.unjudged,
            "errored": done.errored,
            "judge_cost_usd": done.usage.cost_usd if done.usage.cost_usd is not None else "unknown",
        }
        context.add_asset_metadata({**summary, **facts, "stale": done.stale}, partition_key=cell.key)
    lake.changed()
    return dg.MaterializeResult(data_version=dg.DataVersion(combined(digests)))


def _slot(context: dg.AssetExecutionContext, judge: Judge, cell: Cell) -> AbstractContextManager[None]:
    """A slot of the pool of the judge's provider, the same that its rollouts take."""
    if not isinstance(judge, ModelJudge):
        return nullcontext()
    return blocking_provider_slot(context.instance, context.run, judge.provider, f"{cell.key}: {judge.name} judges")


def judge_cell(lake: Lake, cell: Cell, pairs: Sequence[Pair], judge: Judge) -> Judged:
    """Judge every current rollout of a cell and write the verdicts.

    Args:
        pairs: what is published of the scenario.

    Raises:
        BadInput: the cell has no rollouts.
        CellStopped: the judge can answer no question.
        ContractError: a contract cannot fail.
        LakeError: a table cannot be read or written.
    """
    if cell.file not in lake.partitions("rollouts"):
        raise BadInput(f"{cell.key} has no rollouts: run the model first")
    rows = lake.read("rollouts", [cell.file])
    current = rows.join(current_rollouts(lake, [cell.file]), on="fingerprint", how="semi", maintain_order="left")
    runs = rollouts_from(current, lake.read("calls", [cell.file]))
    judgements = judgements_of(pairs, runs, judge)
    found = judge_rollouts(pairs, runs, judge, judgements)
    part = lake.write("verdicts", verdicts_file(cell, judge.name), verdict_rows(found))
    return Judged(
        part,
        outcomes=dict(Counter(item.outcome for item in found if item.outcome)),
        judged=sum(item.abstained is not None and not item.reused for item in judgements.values()),
        reused=sum(item.reused for item in judgements.values()),
        unjudged=sum(item.usable and item.abstained is None for item in found),
        errored=sum(not item.usable for item in found),
        stale=rows.height - current.height,
        usage=total(item.usage for item in judgements.values() if not item.reused),
    )


def verdicts_file(cell: Cell, judge: str) -> str:
    """The lake's name of one judge's verdicts on a cell."""
    return f"{cell.file}__{slug(judge) if '/' in judge else judge}"
