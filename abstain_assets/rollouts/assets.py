"""The asset of the rollouts stage."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field
from time import perf_counter

import dagster as dg
from pydantic import Field

from abstain_assets.errors import AbstainError, BadInput
from abstain_assets.metadata import column_schema, combined, written
from abstain_assets.pairs.assets import pairs
from abstain_assets.partitions import Cell, cell_partitions
from abstain_assets.records import Rollout
from abstain_assets.rollouts.cells import Order, run_and_publish
from abstain_assets.rollouts.errors import CellBusy, CellStopped, ModelsStopped
from abstain_assets.rollouts.interrupt import run_interruptible
from abstain_assets.rollouts.pools import provider_slot
from abstain_assets.rollouts.progress import Progress, Tally
from abstain_assets.rollouts.runner import CellResult
from abstain_assets.rollouts.spending import spent_on
from abstain_assets.rounds import RoundScenario
from abstain_assets.rows import pairs_from
from resources.harness.base import Budget
from resources.lake import Lake
from resources.models import ModelSpec, find_model, from_slug, load_models
from resources.sandbox import SandboxPool
from resources.settings import Settings


class RolloutsConfig(dg.Config):
    """What to run of each cell."""

    pairs: list[str] = Field(default=[], description="Ids of the pairs to run, both sides of each; all of them when empty.")
    epochs: int = Field(default=1, ge=1, description="Repetitions of every rollout.")
    seed: int = Field(default=0, ge=0, description="Seed of the runs: of what scripted policies say.")
    concurrency: int = Field(default=8, ge=1, description="Rollouts of a cell at once.")
    max_cost_usd: float | None = Field(default=None, description="What this run may spend.")
    count_spent: bool = Field(default=False, description="Count against it what these models have cost in all runs before.")
    retry_errors: bool = Field(default=False, description="Run those again that have no verdict.")


@dataclass
class Watch:
    """Who looks on while cells run, and what each of them came to."""

    progress: Callable[[dg.AssetExecutionContext], Progress]
    results: list[CellResult] = field(default_factory=list)


class Logged:
    """Progress for the log of a run, every few seconds while rollouts finish, and at the end of each cell."""

    def __init__(self, context: dg.AssetExecutionContext, every_seconds: float = 10.0) -> None:
        self._say = context.log.info
        self._every = every_seconds

    def begin(self, title: str, planned: int, reused: int) -> None:
        """See `Progress`."""
        self._tally = Tally(title, planned, reused)
        self._said = perf_counter()

    def started(self) -> None:
        """See `Progress`."""
        self._tally.started()

    def finished(self, rollout: Rollout) -> None:
        """See `Progress`."""
        self._tally.finished(rollout)
        if perf_counter() - self._said >= self._every:
            self._said = perf_counter()
            self._say(f"{self._tally.line}, {self._tally.time_left}")

    def dropped(self) -> None:
        """See `Progress`."""
        self._tally.dropped()

    def end(self, stopped: CellStopped | None) -> None:
        """See `Progress`."""
        self._say(f"{self._tally.line}{f', stopped: {stopped}' if stopped else ''}")


@dg.asset(
    partitions_def=cell_partitions,
    deps=[pairs],
    backfill_policy=dg.BackfillPolicy.single_run(),
    group_name="rollouts",
    kinds={"python", "parquet"},
    metadata=column_schema("rollouts"),
)
def rollouts(
    context: dg.AssetExecutionContext,
    config: RolloutsConfig,
    lake: dg.ResourceParam[Lake],
    settings: dg.ResourceParam[Settings],
    watch: dg.ResourceParam[Watch],
) -> dg.MaterializeResult[None]:
    """The evidence of one model on one scenario: messages, calls, changes and final text of every run.

    What is finished is never run again; the table holds everything in the cell's journal that is still true of the pairs.
    """
    cells = [Cell.parse(key) for key in context.partition_keys]
    models = load_models()
    orders = {where: _order(lake, where, config) for where in dict.fromkeys(cell.scenario for cell in cells)}
    work = [(cell, find_model(from_slug(cell.model), models), orders[cell.scenario]) for cell in cells]
    digests: list[str] = []

    async def run_all(stop: asyncio.Event) -> tuple[dict[str, AbstainError], bool]:
        """Run cell after cell. What stops a model does not stop the others."""
        specs = {spec.name: spec for _, spec, _ in work}
        before = sum(spent_on(spec, settings.journals) for spec in specs.values()) if config.count_spent else 0.0
        budget = Budget(config.max_cost_usd, before)
        stopped: dict[str, AbstainError] = {}
        async with SandboxPool() as pool:
            for cell, spec, order in work:
                if spec.name in stopped or stop.is_set():
                    continue
                try:
                    async with _slot(context, spec, cell):
                        done = await run_and_publish(
                            cell.file,
                            spec,
                            order,
                            lake=lake,
                            journals=settings.journals,
                            cache=settings.cache,
                            pool=pool,
                            budget=budget,
                            progress=watch.progress(context),
                            stop=stop,
                        )
                except CellBusy as busy:
                    stopped[spec.name] = busy
                    continue
                watch.results.append(done.result)
                summary = written(*done.parts)
                digests.append(summary["digest"])
                context.add_asset_metadata({**summary, **done.facts}, partition_key=cell.key)
                if done.result.stopped and done.result.stopped.reason != "budget":  # what is left is quickly written without it
                    stopped[spec.name] = done.result.stopped
        return stopped, stop.is_set()

    stopped, interrupted = run_interruptible(run_all)
    lake.changed()
    if interrupted:
        raise KeyboardInterrupt
    if stopped:
        raise ModelsStopped(stopped)
    return dg.MaterializeResult(data_version=dg.DataVersion(combined(digests)))


def _order(lake: Lake, where: RoundScenario, config: RolloutsConfig) -> Order:
    rows = lake.read("pairs", [where.key])
    if rows.is_empty():
        raise BadInput(f"{where.key} has no pairs: run `abstain build --round {where.round}` first")
    published = pairs_from(rows)
    return Order(
        pairs=published,
        digests=dict(rows.select("id", "digest").iter_rows()),
        chosen=[pair for pair in published if not config.pairs or pair.id in config.pairs],
        epochs=config.epochs,
        seed=config.seed,
        concurrency=config.concurrency,
        retry_errors=config.retry_errors,
    )


def _slot(context: dg.AssetExecutionContext, spec: ModelSpec, cell: Cell) -> AbstractAsyncContextManager[None]:
    """A slot of the provider's pool; scripted policies have no provider to spare."""
    if spec.harness == "scripted":
        return nullcontext()
    return provider_slot(context.instance, context.run, spec.provider, cell.key)
