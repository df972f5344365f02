"""The Dagster project: every asset and check, and the persistent instance on which commands materialize them."""

import secrets
import shutil
import warnings
from collections.abc import Iterator, Mapping, Sequence
from textwrap import shorten
from typing import Any

import dagster as dg
from dagster._core.errors import DagsterExecutionInterruptedError
from filelock import FileLock
from sqlalchemy.exc import SQLAlchemyError
from yaml import YAMLError

with warnings.catch_warnings():
    # Backfill policies and partitioned checks are marked beta; tests pin the behaviour this project relies on.
    warnings.simplefilter("ignore", category=dg.BetaWarning)
    warnings.simplefilter("ignore", category=dg.PreviewWarning)
    from abstain_assets.catalog.assets import capabilities, groundings, routes
    from abstain_assets.catalog.checks import published_routes
    from abstain_assets.environments.assets import environments
    from abstain_assets.environments.checks import gates
    from abstain_assets.metrics.assets import leaderboard, metrics, report
    from abstain_assets.pairs.assets import pairs
    from abstain_assets.pairs.checks import published_pairs
    from abstain_assets.rollouts.assets import Logged, Watch, rollouts
    from abstain_assets.seeds.assets import seed_pool, seeds
    from abstain_assets.seeds.checks import full_sample, sources_available
    from abstain_assets.verdicts.assets import Bench, verdicts

from abstain_assets.alive import ALIVE_TAG as ALIVE_TAG
from abstain_assets.alive import Alive
from abstain_assets.automation.jobs import JOBS, name_of
from abstain_assets.automation.schedule import fresh_round, weekly_fresh_round
from abstain_assets.automation.sensor import models_to_evaluate, rank_after_evaluating
from abstain_assets.blocks import blocks
from abstain_assets.errors import AbstainError, Incomplete, Interrupted
from abstain_assets.instance import brief, unusable
from abstain_assets.partitions import MODEL, SCENARIO, Cell
from abstain_assets.rollouts.progress import Shown
from environments.runtime import EnvironmentBug, MountError
from resources.lake import Lake
from resources.settings import PROJECT, Settings

__all__ = [
    "Project",
    "capabilities",
    "definitions",
    "environments",
    "groundings",
    "leaderboard",
    "metrics",
    "pairs",
    "prepare_instance",
    "report",
    "rollouts",
    "routes",
    "seed_pool",
    "seeds",
    "verdicts",
]

ASSETS = (
    seed_pool,
    seeds,
    capabilities,
    routes,
    environments,
    pairs,
    groundings,
    rollouts,
    verdicts,
    metrics,
    leaderboard,
    report,
)
CHECKS = (sources_available, full_sample, published_routes, gates, published_pairs)
_QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}


def definitions(settings: Settings) -> dg.Definitions:
    """Everything Dagster serves.

    The steps of a run share its process: starting one takes seconds, and rollouts are parallel inside a step.
    """
    return dg.Definitions(
        assets=ASSETS,
        asset_checks=CHECKS,
        jobs=[*JOBS.values(), fresh_round],
        sensors=[models_to_evaluate, rank_after_evaluating],
        schedules=[weekly_fresh_round],
        resources=_resources(settings, Lake(settings.home), Watch(Logged), Bench()),
        executor=dg.in_process_executor,
    )


def _resources(settings: Settings, lake: Lake, watch: Watch, bench: Bench) -> dict[str, Any]:
    return {"settings": settings, "lake": lake, "watch": watch, "bench": bench}


class Project:
    """The assets on the instance below the home, so that whatever a command does is seen in the UI.

    Args:
        settings: where the home is.
        instance: the persistent instance.

    Attributes:
        lake: written to by the assets; whoever owns the project refreshes its database at the end.
        watch: sees every cell that runs; what cells came to is left in its `results`.
        bench: what judged cells came to is left in its `judged`.
    """

    def __init__(self, settings: Settings, instance: dg.DagsterInstance) -> None:
        self.settings = settings
        self.instance = instance
        self.lake = Lake(settings.home, lazy=True)
        self.watch = Watch(lambda _: Shown())
        self.bench = Bench()
        self._alive = Alive(settings.dagster_home)

    @classmethod
    def open(cls, settings: Settings) -> "Project":
        """Open the instance, make it first where there is none, and close what killed commands left open.

        Raises:
            AbstainError: the instance cannot be written or is damaged.
        """
        try:
            prepare_instance(settings)
            with FileLock(settings.dagster_home / "open.lock"):  # two processes must not create the tables at once
                project = cls(settings, dg.DagsterInstance.from_config(str(settings.dagster_home)))
                project._alive.bury_dead(project.instance)
                project.instance.get_dynamic_partitions(MODEL)  # it opens its databases as it needs them
        except (OSError, SQLAlchemyError, dg.DagsterError, YAMLError, UnicodeDecodeError) as error:
            raise unusable(settings.dagster_home, error) from error
        return project

    def materialize(
        self, assets: Sequence[dg.AssetsDefinition], keys: Sequence[str] = (), config: Mapping[str, Any] | None = None
    ) -> list[dg.ExecuteInProcessResult]:
        """Materialize assets that share their partitions, and run their checks.

        Args:
            keys: partitions; assets with a single-run policy take as many as lie side by side in one run.
            config: op configuration by asset name.

        Raises:
            Incomplete: blocking checks failed or models stopped; the other partitions were materialized all the same.
            AbstainError: what an asset raised.
        """
        results, failures = [], []
        for key, tags in self._targets(assets[0], keys):
            try:
                results.append(self._run(assets, key, tags, config or {}))
            except Incomplete as error:
                failures.append(str(error))
        if failures:
            raise Incomplete("; ".join(failures))
        return results

    def _run(
        self, assets: Sequence[dg.AssetsDefinition], key: str | None, tags: Mapping[str, str], config: Mapping[str, Any]
    ) -> dg.ExecuteInProcessResult:
        job = dg.define_asset_job(name_of(assets), dg.AssetSelection.assets(*assets))
        everything = dg.Definitions(
            assets=ASSETS, asset_checks=CHECKS, jobs=[job], resources=_resources(self.settings, self.lake, self.watch, self.bench)
        )
        ops = {"ops": {name: {"config": values} for name, values in config.items()}} if config else {}
        try:
            result = everything.resolve_job_def(job.name).execute_in_process(
                instance=self.instance,
                partition_key=key,
                tags={**tags, ALIVE_TAG: self._alive.token},
                run_config={**_QUIET, **ops},
            )
        except (EnvironmentBug, MountError) as error:
            raise AbstainError(f"an environment is broken: {error}") from error
        except SQLAlchemyError as error:
            raise unusable(self.settings.dagster_home, error) from error
        except dg.DagsterError as error:
            raise self._failed_checks() or AbstainError(brief(error)) from error
        except BaseException as error:
            if _is_interrupt(error):
                raise Interrupted from error
            raise
        return result

    def _failed_checks(self) -> Incomplete | None:
        """The checks that failed in this command's last run, in their own words."""
        run = self.instance.get_runs(filters=dg.RunsFilter(tags={ALIVE_TAG: self._alive.token}), limit=1)[0]
        events = self.instance.all_logs(run.run_id, of_type=dg.DagsterEventType.ASSET_CHECK_EVALUATION)
        found = [entry.dagster_event.asset_check_evaluation_data for entry in events if entry.dagster_event]
        where = run.tags.get("dagster/partition")
        failed = [
            f"{item.partition or where}: {item.check_name} failed: {shorten(item.description or '', 400)}"
            for item in found
            if not item.passed and item.blocking
        ]
        return Incomplete("; ".join(failed)) if failed else None

    def _targets(self, asset: dg.AssetsDefinition, keys: Sequence[str]) -> Iterator[tuple[str | None, dict[str, str]]]:
        """Partition and tags of every run."""
        if asset.partitions_def is None:
            yield None, {}
        elif asset.backfill_policy is None:
            yield from ((key, {}) for key in keys)
        else:
            cells = [Cell.parse(key) for key in keys]
            yield from ((block.key, block.tags) for block in blocks(cells, self._keys(SCENARIO), self._keys(MODEL)))

    def _keys(self, dimension: str) -> Sequence[str]:
        return self.instance.get_dynamic_partitions(dimension)


def prepare_instance(settings: Settings) -> None:
    """Make the instance's folder from the template, unless it is there.

    Raises:
        OSError: it cannot be written.
    """
    target = settings.dagster_home / "dagster.yaml"
    if not target.exists():
        settings.dagster_home.mkdir(parents=True, exist_ok=True)
        fresh = target.with_name(f".dagster.yaml-{secrets.token_hex(4)}")
        shutil.copyfile(PROJECT / "dagster.yaml", fresh)
        fresh.replace(target)


def _is_interrupt(error: BaseException) -> bool:
    """Dagster turns the signal into an exception of its own, which may come out of a task group."""
    if isinstance(error, BaseExceptionGroup):
        return any(_is_interrupt(inner) for inner in error.exceptions)
    return isinstance(error, (KeyboardInterrupt, DagsterExecutionInterruptedError))
