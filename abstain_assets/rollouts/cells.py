"""A cell from journal to lake: run what is missing, then rebuild the partition from all that is still true in the journal."""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from abstain_assets.records import Pair, Rollout
from abstain_assets.rollouts.journal import Contents, Journal
from abstain_assets.rollouts.progress import Progress
from abstain_assets.rollouts.runner import CellResult, collect, run_cell, total
from abstain_assets.rows import call_rows, rollout_rows, timing_rows
from resources.harness import open_harness
from resources.harness.base import Budget
from resources.lake import Lake, Written
from resources.models import ModelSpec
from resources.sandbox import SandboxPool


@dataclass(frozen=True)
class Order:
    """What is asked of a cell.

    Attributes:
        pairs: everything published; the partition is rebuilt for all of them.
        digests: of the published pairs, by id.
        chosen: what to run now.
        seed: of the runs to make now.
    """

    pairs: Sequence[Pair]
    digests: Mapping[str, str]
    chosen: Sequence[Pair]
    epochs: int
    seed: int
    concurrency: int
    retry_errors: bool

    @property
    def expected(self) -> int:
        """Rollouts of a complete cell."""
        return 2 * len(self.pairs) * self.epochs


@dataclass(frozen=True)
class Published:
    """What became of a cell: how the run went, what the partition holds now, and a summary of it."""

    result: CellResult
    parts: tuple[Written, ...]
    facts: dict[str, Any]


async def run_and_publish(
    file: str,
    spec: ModelSpec,
    order: Order,
    *,
    lake: Lake,
    journals: Path,
    cache: Path,
    pool: SandboxPool,
    budget: Budget,
    progress: Progress,
    stop: asyncio.Event,
) -> Published:
    """Run what is missing of a cell and rewrite its partition, also where the run ended early.

    Args:
        file: name of the partition, and of its journal.
        cache: of downloads.

    Raises:
        CellBusy: another process works on the cell.
        BadInput: the harness cannot be opened.
        JournalError, LakeError: something could not be written.
    """
    harness = open_harness(spec, cache=cache)
    try:
        with Journal(journals / f"{file}.jsonl") as journal:
            result = await run_cell(
                order.chosen,
                spec,
                harness=harness,
                pool=pool,
                journal=journal,
                epochs=order.epochs,
                seed=order.seed,
                concurrency=order.concurrency,
                budget=budget,
                retry_errors=order.retry_errors,
                progress=progress,
                stop=stop,
            )
            kept = collect(journal.contents, order.pairs, spec, harness, seed=order.seed)
            parts = _write(lake, file, kept, journal.contents, order.digests)
    finally:
        await harness.close()
    return Published(result, parts, _facts(kept, order.expected))


def _write(lake: Lake, file: str, kept: Sequence[Rollout], contents: Contents, digests: Mapping[str, str]) -> tuple[Written, ...]:
    """Rewrite a cell's partition of each table; the one others build on comes last."""
    current = {rollout.fingerprint for rollout in kept}
    lake.write("timings", file, timing_rows(item for item in contents.timings if item.fingerprint in current))
    calls = lake.write("calls", file, call_rows(kept))
    return lake.write("rollouts", file, rollout_rows(kept, digests)), calls


def _facts(kept: Sequence[Rollout], expected: int) -> dict[str, Any]:
    usage = total(rollout.usage for rollout in kept)
    errors = Counter(rollout.error_kind for rollout in kept if rollout.error_kind)
    return {
        "done": len(kept),
        "expected": expected,
        "errors": dict(errors),
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        **({} if usage.cost_usd is None else {"cost_usd": usage.cost_usd}),
    }
