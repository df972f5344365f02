"""The Dagster project: every asset and check, and the persistent instance on which commands materialize them."""

import secrets
import shutil
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from textwrap import shorten
from typing import Any, TypeVar

import dagster as dg
from dagster._core.errors import DagsterExecutionInterruptedError
from filelock import FileLock, Timeout
from sqlalchemy.exc import SQLAlchemyError

with warnings.catch_warnings():
    # Backfill policies and partitioned checks are marked beta; tests pin the behaviour this project relies on.
    warnings.simplefilter("ignore", category=dg.BetaWarning)
    warnings.simplefilter("ignore", category=dg.PreviewWarning)
    from abstain_assets.catalog.assets import capabilities
    from abstain_assets.environments.assets import environments
    from abstain_assets.environments.checks import gates
    from abstain_assets.metrics.assets import leaderboard, metrics, report
    from abstain_assets.pairs.assets import pairs
    from abstain_assets.pairs.checks import published_pairs
    from abstain_assets.rollouts.assets import Logged, Watch, rollouts
    from abstain_assets.verdicts.assets import verdicts

from abstain_assets.errors import AbstainError, Incomplete, Interrupted
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
    "leaderboard",
    "metrics",
    "pairs",
    "prepare_instance",
    "report",
    "rollouts",
    "verdicts",
]

ASSETS = (capabilities, environments, pairs, rollouts, verdicts, metrics, leaderboard, report)
CHECKS = (gates, published_pairs)
ALIVE_TAG = "abstain/alive"
T = TypeVar("T")
_QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}


def definitions(settings: Settings) -> dg.Definitions:
    """Everything Dagster serves.

    The steps of a run share its process: starting one takes seconds, and rollouts are parallel inside a step.
    """
    return dg.Definitions(
        assets=ASSETS,
        asset_checks=CHECKS,
        resources=_resources(settings, Lake(settings.home), Watch(Logged)),
        executor=dg.in_process_executor,
    )


def _resources(settings: Settings, lake: Lake, watch: Watch) -> dict[str, Any]:
    return {"settings": settings, "lake": lake, "watch": watch}


class Project:
    """The assets on the instance below the home, so that whatever a command does is seen in the UI.

    Args:
        settings: where the home is.
        instance: the persistent instance.

    Attributes:
        lake: written to by the assets; whoever owns the project refreshes its database at the end.
        watch: sees every cell that runs; what cells came to is left in its `results`.
    """

    def __init__(self, settings: Settings, instance: dg.DagsterInstance) -> None:
        self.settings = settings
        self.instance = instance
        self.lake = Lake(settings.home, lazy=True)
        self.watch = Watch(lambda _: Shown())
        self._alive = _Alive(settings.dagster_home)

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
        except (OSError, SQLAlchemyError, dg.DagsterError) as error:
            raise AbstainError(f"the Dagster instance in {settings.dagster_home} cannot be opened: {_brief(error)}") from error
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
        for target in self._targets(assets[0], keys):
            try:
                results.append(self._run(assets, target, config or {}))
            except Incomplete as error:
                failures.append(str(error))
        if failures:
            raise Incomplete("; ".join(failures))
        return results

    def _run(
        self, assets: Sequence[dg.AssetsDefinition], target: "_Target", config: Mapping[str, Any]
    ) -> dg.ExecuteInProcessResult:
        chosen = dg.AssetSelection.assets(*assets)
        ops = {"ops": {name: {"config": values} for name, values in config.items()}} if config else {}
        try:
            result = dg.materialize(
                [*ASSETS, *CHECKS],
                selection=chosen,
                instance=self.instance,
                resources=_resources(self.settings, self.lake, self.watch),
                partition_key=target.key,
                tags={**target.tags, ALIVE_TAG: self._alive.token},
                run_config={**_QUIET, **ops},
            )
        except (EnvironmentBug, MountError) as error:
            raise AbstainError(f"an environment is broken: {error}") from error
        except SQLAlchemyError as error:
            where = f"the Dagster instance in {self.settings.dagster_home}"
            raise AbstainError(f"{where} cannot be written ({_brief(error)}): make room or check its permissions") from error
        except dg.DagsterError as error:
            raise self._failed_checks() or AbstainError(_brief(error)) from error
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

    def _targets(self, asset: dg.AssetsDefinition, keys: Sequence[str]) -> Iterator["_Target"]:
        if asset.partitions_def is None:
            yield _Target(None, {})
        elif asset.backfill_policy is None:
            yield from (_Target(key, {}) for key in keys)
        else:
            yield from (_Target.range(*ends) for ends in self._ranges([Cell.parse(key) for key in keys]))

    def _ranges(self, cells: Sequence[Cell]) -> Iterator[tuple[Cell, Cell]]:
        """First and last cell of every block: models side by side that share an unbroken line of scenarios.

        Dagster reads a range over two dimensions as a block, in the order in which the instance keeps their keys.
        """
        scenarios, models = self._positions(SCENARIO), self._positions(MODEL)
        lines: dict[tuple[int, int], list[Cell]] = {}
        for model in sorted({cell.model for cell in cells}, key=models.__getitem__):
            mine = sorted((cell for cell in cells if cell.model == model), key=lambda cell: scenarios[cell.scenario.key])
            for line in _unbroken(mine, lambda cell: scenarios[cell.scenario.key]):
                lines.setdefault((scenarios[line[0].scenario.key], len(line)), []).extend((line[0], line[-1]))
        for ends in lines.values():
            for block in _unbroken(list(zip(ends[::2], ends[1::2], strict=True)), lambda pair: models[pair[0].model]):
                yield block[0][0], block[-1][1]

    def _positions(self, dimension: str) -> dict[str, int]:
        return {key: index for index, key in enumerate(self.instance.get_dynamic_partitions(dimension))}


def _unbroken(items: Sequence[T], position: Callable[[T], int]) -> list[list[T]]:
    """Sorted items cut wherever their positions do not follow each other."""
    runs: list[list[T]] = []
    for item in items:
        if runs and position(item) == position(runs[-1][-1]) + 1:
            runs[-1].append(item)
        else:
            runs.append([item])
    return runs


class _Target:
    """What one run covers: nothing, one partition or a range of partitions."""

    def __init__(self, key: str | None, tags: dict[str, str]) -> None:
        self.key = key
        self.tags = tags

    @classmethod
    def range(cls, first: Cell, last: Cell) -> "_Target":
        if first == last:
            return cls(first.key, {})
        return cls(None, {"dagster/asset_partition_range_start": first.key, "dagster/asset_partition_range_end": last.key})


class _Alive:
    """A lock that lives as long as this process. Runs carry its name, so a later command can tell which ones died with theirs."""

    def __init__(self, home: Path) -> None:
        self.token = secrets.token_hex(8)
        self._folder = home / "alive"
        self._folder.mkdir(exist_ok=True)
        self._lock = FileLock(self._file(self.token))
        self._lock.acquire()

    def bury_dead(self, instance: dg.DagsterInstance) -> None:
        """Mark runs of killed commands as failed and free the pool slots they hold."""
        open_states = [dg.DagsterRunStatus.STARTING, dg.DagsterRunStatus.STARTED]
        for run in instance.get_runs(filters=dg.RunsFilter(statuses=open_states)):
            token = run.tags.get(ALIVE_TAG)
            if token and token != self.token and self._is_dead(token):
                instance.report_run_failed(run, "the command was killed")
                instance.event_log_storage.free_concurrency_slots_for_run(run.run_id)
        for file in self._folder.glob("*.lock"):
            if file.stem != self.token and self._is_dead(file.stem):
                file.unlink()

    def _is_dead(self, token: str) -> bool:
        lock = FileLock(self._file(token), blocking=False)
        try:
            lock.acquire()
        except Timeout:
            return False
        lock.release()
        return True

    def _file(self, token: str) -> Path:
        return self._folder / f"{token}.lock"


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


def _brief(error: Exception) -> str:
    """The first line of an error, without its class: what follows is a statement or a trace."""
    return str(getattr(error, "orig", error)).strip().split("\n", 1)[0]
