"""Dagster's concurrency pools, one per provider: what limits cells that run against one provider at once, over all processes.

A pool named on an asset is the same for all its partitions, but one run may cover models of several providers. So a slot is
claimed here, per cell and stage, from the same pools that the UI shows and limits.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

import dagster as dg
from dagster._core.execution.plan.instance_concurrency_context import InstanceConcurrencyContext

_LOOK_AGAIN_SECONDS = 0.5


@asynccontextmanager
async def provider_slot(instance: dg.DagsterInstance, run: dg.DagsterRun, provider: str, holder: str) -> AsyncIterator[None]:
    """Hold one slot of a provider's pool, and wait for one while all are taken.

    Args:
        provider: names the pool.
        holder: who holds the slot, within the run.
    """
    with _slot(instance, run, provider, holder) as pauses:
        for seconds in pauses:
            await asyncio.sleep(seconds)
        yield


@contextmanager
def blocking_provider_slot(instance: dg.DagsterInstance, run: dg.DagsterRun, provider: str, holder: str) -> Iterator[None]:
    """`provider_slot` for code that is not asynchronous."""
    with _slot(instance, run, provider, holder) as pauses:
        for seconds in pauses:
            time.sleep(seconds)
        yield


@contextmanager
def _slot(instance: dg.DagsterInstance, run: dg.DagsterRun, provider: str, holder: str) -> Iterator[Iterator[float]]:
    """The pauses to make until the slot is held, in seconds. At the end the slot, or the place in the queue, is given up."""
    try:
        yield _pauses(instance, run, provider, holder)
    finally:
        instance.event_log_storage.free_concurrency_slot_for_step(run.run_id, holder)


def _pauses(instance: dg.DagsterInstance, run: dg.DagsterRun, provider: str, holder: str) -> Iterator[float]:
    with InstanceConcurrencyContext(instance, run) as slots:
        while not slots.claim(f"provider-{provider}", holder):
            yield _LOOK_AGAIN_SECONDS
