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
    with InstanceConcurrencyContext(instance, run) as slots:
        while not slots.claim(_pool(provider), holder):
            await asyncio.sleep(_LOOK_AGAIN_SECONDS)
    try:
        yield
    finally:
        _free(instance, run, holder)


@contextmanager
def blocking_provider_slot(instance: dg.DagsterInstance, run: dg.DagsterRun, provider: str, holder: str) -> Iterator[None]:
    """`provider_slot` for code that is not asynchronous."""
    with InstanceConcurrencyContext(instance, run) as slots:
        while not slots.claim(_pool(provider), holder):
            time.sleep(_LOOK_AGAIN_SECONDS)
    try:
        yield
    finally:
        _free(instance, run, holder)


def _pool(provider: str) -> str:
    return f"provider-{provider}"


def _free(instance: dg.DagsterInstance, run: dg.DagsterRun, holder: str) -> None:
    instance.event_log_storage.free_concurrency_slot_for_step(run.run_id, holder)
