"""What is known of a model: what it lacks by fingerprint, what it has cost, and which runs were launched for it before."""

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import dagster as dg

from abstain_assets.automation.decide import Attempt, Situation, Work
from abstain_assets.automation.rounds import FRESH, newest_fresh, unfinished
from abstain_assets.blocks import Block, blocks, models_of
from abstain_assets.errors import BadInput
from abstain_assets.partitions import MODEL, SCENARIO, Cell
from abstain_assets.records import Pair, digest
from abstain_assets.rollouts.journal import read_journal
from abstain_assets.rollouts.runner import is_finished, plan
from abstain_assets.rollouts.spending import spent_on
from abstain_assets.rounds import RoundScenario, scenarios_of
from abstain_assets.rows import pairs_from
from abstain_assets.verdicts.assets import DEFAULT_JUDGE, verdicts_file
from resources.harness import open_harness
from resources.harness.base import AnyHarness
from resources.lake import Lake
from resources.models import ModelSpec
from resources.settings import Settings

WORK_TAG = "abstain/work"
_OVER = (dg.DagsterRunStatus.SUCCESS, dg.DagsterRunStatus.FAILURE, dg.DagsterRunStatus.CANCELED)
OPEN = [status for status in dg.DagsterRunStatus if status not in _OVER]


@dataclass(frozen=True)
class Surroundings:
    """Where a survey looks.

    Attributes:
        scenarios, models: all keys of the two dimensions, those included that are about to be added.
        busy: models that an unfinished run works on.
        in_the_making: rounds that are being made, whose models are not to be launched yet.
    """

    settings: Settings
    lake: Lake
    instance: dg.DagsterInstance
    scenarios: Sequence[str]
    models: Sequence[str]
    busy: Collection[str]
    in_the_making: Collection[str] = ()

    @classmethod
    def look(
        cls,
        settings: Settings,
        lake: Lake,
        instance: dg.DagsterInstance,
        *,
        models: Sequence[str] = (),
        in_the_making: Collection[str] = (),
    ) -> "Surroundings":
        """As they are now, with some more models."""
        known = instance.get_dynamic_partitions(MODEL)
        everybody = [*known, *(model for model in models if model not in known)]
        working = instance.get_runs(filters=dg.RunsFilter(statuses=OPEN))
        busy = set().union(*(models_of(run, everybody) for run in working))
        scenarios = instance.get_dynamic_partitions(SCENARIO)
        return cls(settings, lake, instance, scenarios, everybody, busy, in_the_making)


def survey(spec: ModelSpec, where: Surroundings, rounds: Sequence[str] | None = None) -> Situation:
    """What is known of a model that asks to be evaluated. Nothing is sent anywhere.

    Args:
        rounds: look at these; those that its file names by default.

    Raises:
        AbstainError: a journal or a table cannot be read.
    """
    spent = spent_on(spec, where.settings.journals)
    try:
        harness = open_harness(spec)
    except BadInput as error:
        return Situation(spec, False, str(error), (), None, spent, spec.slug in where.busy, ())
    try:
        built, unbuilt = _rounds(spec.evaluate if rounds is None else rounds, where)
        work = _work(spec, harness, built, where)
        free = harness.privileged
    finally:
        asyncio.run(harness.close())
    attempts = _attempts(where.instance, work.digest) if work else ()
    return Situation(spec, free, None, unbuilt, work, spent, spec.slug in where.busy, attempts)


def _rounds(asked: Sequence[str], where: Surroundings) -> tuple[list[str], tuple[str, ...]]:
    """Rounds that are ready, and what is wrong with the others."""
    ready, problems = [], []
    for name in asked:
        found = newest_fresh(where.lake) if name == FRESH else name
        if found is None:
            problems.append("there is no weekly fresh round yet: turn the schedule on")
        elif found in where.in_the_making:
            problems.append(f"round {found} is being made")
        elif not (left := _unfinished(found, where)):
            ready.append(found)
        else:
            problems.append(f"round {found} is not built and verified ({left}): run `abstain build --round {found}`")
    return ready, tuple(problems)


def _unfinished(round_name: str, where: Surroundings) -> str:
    try:
        return ", ".join(item.scenario.value for item in unfinished(where.lake, where.instance, round_name))
    except BadInput as error:
        return str(error)


def _work(spec: ModelSpec, harness: AnyHarness, rounds: Sequence[str], where: Surroundings) -> Work | None:
    """The first block of cells that lack something."""
    lacking = {}
    for item in (item for name in rounds for item in scenarios_of(name)):
        cell = Cell(spec.slug, item)
        lack = _lack(cell, pairs_from(where.lake.read("pairs", [item.key])), spec, harness, where)
        if lack:
            lacking[cell] = lack
    for block in blocks(list(lacking), where.scenarios, where.models):
        inside = [lacking[cell] for cell in _cells(block, where.scenarios)]
        parts = [[lack.unpaid, lack.unpublished] for lack in inside]
        return Work(block, digest([spec.model_dump(mode="json"), parts]), any(lack.unpaid for lack in inside))
    return None


@dataclass(frozen=True)
class _Lack:
    """Fingerprints of a cell that are still to be run, and of those that have only to be judged and measured."""

    unpaid: list[str]
    unpublished: list[str]

    def __bool__(self) -> bool:
        return bool(self.unpaid or self.unpublished)


def _lack(cell: Cell, pairs: Sequence[Pair], spec: ModelSpec, harness: AnyHarness, where: Surroundings) -> _Lack:
    journal = read_journal(where.settings.journals / f"{cell.file}.jsonl")
    planned = [item.fingerprint for item in plan(pairs, spec, harness, epochs=1, seed=0)]
    paid = {name for name in planned if is_finished(journal.rollouts.get(name), retry_errors=False)}
    judged = verdicts_file(cell, DEFAULT_JUDGE)
    published = set(where.lake.read("verdicts", [judged], columns=["fingerprint"])["fingerprint"])
    if not _is_newer(where.lake.path("metrics", cell.file), where.lake.path("verdicts", judged)):
        published.clear()
    return _Lack([name for name in planned if name not in paid], [name for name in planned if name in paid - published])


def _is_newer(made: Path, source: Path) -> bool:
    return made.exists() and (not source.exists() or made.stat().st_mtime_ns >= source.stat().st_mtime_ns)


def _cells(block: Block, scenarios: Sequence[str]) -> list[Cell]:
    """The cells of a block of one model."""
    first, last = (scenarios.index(cell.scenario.key) for cell in (block.first, block.last))
    return [Cell(block.first.model, RoundScenario.parse(key)) for key in scenarios[first : last + 1]]


def _attempts(instance: dg.DagsterInstance, work: str) -> tuple[Attempt, ...]:
    found = instance.get_run_records(filters=dg.RunsFilter(tags={WORK_TAG: work}, statuses=list(_OVER)), ascending=True)
    return tuple(
        Attempt(
            datetime.fromtimestamp(record.end_time or record.update_timestamp.timestamp(), UTC),
            record.dagster_run.status is dg.DagsterRunStatus.CANCELED,
        )
        for record in found
    )
