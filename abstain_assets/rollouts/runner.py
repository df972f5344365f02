"""Running a cell: one model on pairs of one scenario, both sides, with nothing finished ever repeated."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from time import perf_counter

from abstain_assets.errors import BadInput
from abstain_assets.pairs.deltas import variant
from abstain_assets.records import ErrorKind, Pair, Rollout, Timing, Usage, digest
from abstain_assets.rollouts.errors import CellStopped, RunFailed
from abstain_assets.rollouts.fingerprints import fingerprint
from abstain_assets.rollouts.journal import Contents, Journal
from abstain_assets.rollouts.progress import Progress, Silent
from abstain_assets.rollouts.view import agent_view, foreign_view
from abstain_assets.taxonomy import Side
from environments.runtime.errors import EnvironmentBug, MountError
from resources.harness.base import AnyHarness, Budget, ForeignRequest, HarnessRequest, Privileged, Trace
from resources.models import ModelSpec
from resources.sandbox import IsolationIncomplete, SandboxDied, SandboxEvidence, SandboxPool, ZygoteError
from resources.sandbox_session import RunningSandbox
from resources.secrets import redact


@dataclass(frozen=True)
class Planned:
    """One rollout that a cell should have."""

    pair: Pair
    side: Side
    epoch: int
    fingerprint: str


@dataclass
class CellResult:
    """What running a cell came to.

    Attributes:
        planned, done, reused: rollouts asked for, run now, and found finished.
        errors: rollouts of the plan without a verdict, by kind, reused ones included.
        usage: of this run alone, broken-off rollouts included.
        stopped: why it ended early, if it did.
    """

    model: str
    harness: str
    planned: int
    done: int = 0
    reused: int = 0
    errors: dict[str, int] = field(default_factory=dict)
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0
    stopped: CellStopped | None = None


def plan(pairs: Iterable[Pair], spec: ModelSpec, harness: AnyHarness, *, epochs: int, seed: int) -> list[Planned]:
    """Both sides of every pair for every epoch, one epoch after the other, so that an early stop leaves complete pairs."""
    ordered = sorted(pairs, key=lambda pair: pair.id)
    return [
        Planned(pair, side, epoch, fingerprint(pair, side, spec, harness, epoch=epoch, seed=seed))
        for epoch in range(epochs)
        for pair in ordered
        for side in Side
    ]


def collect(contents: Contents, pairs: Sequence[Pair], spec: ModelSpec, harness: AnyHarness, *, seed: int) -> list[Rollout]:
    """Every rollout of a journal that is still true of these pairs, whatever epochs it holds.

    One side of a pair has one rollout per epoch. Of runs that differ in their seed alone the one with this seed counts, else the
    latest.
    """
    published = {pair.id: pair for pair in pairs}
    latest: dict[tuple[str, Side, int], Rollout] = {}
    for name, rollout in sorted(contents.rollouts.items(), key=lambda item: item[1].seed == seed):  # a stable sort
        pair = published.get(rollout.pair_id)
        if pair and name == fingerprint(pair, rollout.side, spec, harness, epoch=rollout.epoch, seed=rollout.seed):
            latest[pair.id, rollout.side, rollout.epoch] = rollout
    return sorted(latest.values(), key=lambda item: (item.epoch, item.pair_id, list(Side).index(item.side)))


def is_finished(rollout: Rollout | None, *, retry_errors: bool) -> bool:
    """Whether a rollout need not be run again. What the budget cut off always needs it."""
    if rollout is None or rollout.error_kind == "budget_exceeded":
        return False
    return rollout.usable or not retry_errors


async def run_cell(
    pairs: Sequence[Pair],
    spec: ModelSpec,
    *,
    harness: AnyHarness,
    pool: SandboxPool,
    journal: Journal,
    epochs: int = 1,
    seed: int = 0,
    concurrency: int = 8,
    budget: Budget | None = None,
    retry_errors: bool = False,
    progress: Progress | None = None,
    stop: asyncio.Event | None = None,
) -> CellResult:
    """Run what is missing of a cell. Every finished rollout is on disk before it counts.

    Args:
        journal: open for writing.
        budget: what may be spent; shared between cells. Requests under way when it is spent are still paid.
        retry_errors: run those again that have no verdict.
        stop: when set, rollouts under way are finished and no new ones begin.

    Raises:
        BadInput: a budget is set and the model has no prices.
        JournalError: a finished rollout cannot be kept.
    """
    budget = budget or Budget()
    if budget.limit is not None and spec.prices is None and not harness.privileged:
        raise BadInput(f"a cost limit needs prices: add `prices` to {spec.file}")
    planned = plan(pairs, spec, harness, epochs=epochs, seed=seed)
    before = journal.contents.rollouts
    todo = [item for item in planned if not is_finished(before.get(item.fingerprint), retry_errors=retry_errors)]
    cell = _Cell(spec, harness, pool, journal, budget, seed, progress or Silent(), stop or asyncio.Event())
    result = CellResult(spec.name, harness.name, len(planned), reused=len(planned) - len(todo))
    start, paid = perf_counter(), len(journal.contents.usages)
    cell.progress.begin(spec.name, len(planned), result.reused)
    try:
        result.stopped = await cell.run(todo, concurrency)
    except CellStopped as stopped:
        result.stopped = stopped
    finally:
        result.done = cell.done
        result.seconds = perf_counter() - start
        result.usage = total(journal.contents.usages[paid:])
        kept = (journal.contents.rollouts.get(item.fingerprint) for item in planned)
        result.errors = dict(Counter(item.error_kind for item in kept if item is not None and item.error_kind))
        cell.progress.end(result.stopped)
    return result


def total(usages: Iterable[Usage]) -> Usage:
    """The sum of usages. Its cost is unknown when that of one part is."""
    items = list(usages)
    costs = [item.cost_usd for item in items]
    return Usage(
        requests=sum(item.requests for item in items),
        retries=sum(item.retries for item in items),
        input_tokens=sum(item.input_tokens for item in items),
        output_tokens=sum(item.output_tokens for item in items),
        cost_usd=None if None in costs else sum(cost for cost in costs if cost is not None),
    )


@dataclass
class _Cell:
    """A running cell: what its rollouts share."""

    spec: ModelSpec
    harness: AnyHarness
    pool: SandboxPool
    journal: Journal
    budget: Budget
    seed: int
    progress: Progress
    stop: asyncio.Event
    done: int = 0
    cut_off: int = 0

    async def run(self, todo: list[Planned], concurrency: int) -> CellStopped | None:
        """Run everything that is to do; the reason where it ended early."""
        queue = iter(todo)

        async def work() -> None:
            for item in queue:
                if self._halted():
                    return
                await self._one(item)

        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(min(concurrency, len(todo))):
                    group.create_task(work())
        except BaseExceptionGroup as group:
            stops, others = group.split(CellStopped)
            raise _first(others or stops) from None
        return self._halted() if self.done - self.cut_off < len(todo) else None

    def _halted(self) -> CellStopped | None:
        if self.stop.is_set():
            return CellStopped("interrupted", "interrupted; everything finished is kept, run the same command to go on")
        if self.budget.exhausted:
            return CellStopped("budget", f"the budget of ${self.budget.limit:g} is spent; run again with a higher one to go on")
        return None

    async def _one(self, item: Planned) -> None:
        trace = Trace(self.budget, self.spec.prices)
        self.progress.started()
        try:
            rollout, timing = await self._rollout(item, trace)
        except BaseException:
            if trace.requests:
                self.journal.broken_off(item.fingerprint, trace.usage)
            self.progress.dropped()
            raise
        self.journal.append(rollout, timing)
        self.done += 1
        self.cut_off += rollout.error_kind == "budget_exceeded"
        self.progress.finished(rollout)

    async def _rollout(self, item: Planned, trace: Trace) -> tuple[Rollout, Timing]:
        """Run one side of a pair in a sandbox of its own. Whatever goes wrong with this run alone becomes its error kind."""
        started_at, start = datetime.now(UTC), perf_counter()
        evidence, ended = await self._evidence(item, trace)
        seconds = perf_counter() - start
        pair = item.pair
        rollout = Rollout(
            fingerprint=item.fingerprint,
            pair_id=pair.id,
            round=pair.round,
            scenario=pair.scenario,
            action_type=pair.action_type,
            side=item.side,
            family=pair.family,
            model=self.spec.name,
            harness=self.harness.name,
            harness_version=self.harness.evidence_version,
            epoch=item.epoch,
            seed=self.seed,
            final_text=ended.text,
            messages=tuple(trace.messages),
            additions=tuple(trace.additions),
            calls=evidence.calls,
            usage=trace.usage,
            turns=trace.turns,
            state_digest=digest(evidence.final_state) if evidence.final_state else "",
            isolation=evidence.isolation,
            error_kind=ended.kind,
            error_message=ended.problem,
        )
        timing = Timing(
            fingerprint=item.fingerprint,
            started_at=started_at.isoformat(timespec="milliseconds"),
            seconds=seconds,
            # The harness itself takes next to nothing beside the two.
            sandbox_seconds=seconds - trace.model_seconds,
            model_seconds=trace.model_seconds,
        )
        return _without_keys(rollout), timing

    async def _evidence(self, item: Planned, trace: Trace) -> tuple[SandboxEvidence, "_Ended"]:
        task = variant(item.pair, item.side)
        sandbox: RunningSandbox | None = None
        try:
            if self.harness.foreign:
                async with self.pool.command(task.mount, task.states) as sandbox:
                    foreign = ForeignRequest(foreign_view(task), sandbox.command, trace)
                    ended = await self._ended(sandbox.while_alive(self.harness.run(foreign)))
                    if ended.kind and not sandbox.started:  # the harness knows better why than a sandbox nobody started
                        return SandboxEvidence((), {}, ()), ended
                    return await sandbox.finish(), ended
            privileged = Privileged(item.pair, item.side, item.epoch, self.seed) if self.harness.privileged else None
            async with self.pool.open(task.mount, task.states) as sandbox:
                request = HarnessRequest(agent_view(task, sandbox.tools), sandbox, trace, privileged)
                ended = await self._ended(self.harness.run(request))
                return await sandbox.finish(), ended
        except _BROKEN as error:
            broken = _Ended(kind="runtime_error", problem=f"{type(error).__name__}: {error}")
            left = SandboxEvidence(sandbox.calls, {}, sandbox.isolation) if sandbox else SandboxEvidence((), {}, ())
            return left, broken
        except (ZygoteError, IsolationIncomplete) as error:
            raise CellStopped("sandbox", f"no sandbox can be started: {error}") from error

    async def _ended(self, run: Awaitable[str]) -> "_Ended":
        try:
            return _Ended(text=await run)
        except RunFailed as error:
            return _Ended(kind=error.kind, problem=str(error))
        except (CellStopped, *_BROKEN):
            raise
        except Exception as error:
            # A harness that cannot cope with one reply must not take the other rollouts with it.
            return _Ended(kind="runtime_error", problem=f"{self.harness.name}: {type(error).__name__}: {error}")


_BROKEN = (SandboxDied, EnvironmentBug, MountError)


@dataclass(frozen=True)
class _Ended:
    """How a run ended: a final text, or an error."""

    text: str = ""
    kind: ErrorKind | None = None
    problem: str = ""


def _without_keys(rollout: Rollout) -> Rollout:
    """The evidence of a run whose endpoint may have said the key back, in an error nobody expected or to the model."""
    text = rollout.model_dump_json()
    clean = redact(text)
    return rollout if clean == text else Rollout.model_validate_json(clean)


def _first(group: BaseException | None) -> BaseException:
    """The first single exception of a group."""
    while isinstance(group, BaseExceptionGroup):
        group = group.exceptions[0]
    assert group is not None
    return group
