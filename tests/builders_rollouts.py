"""What the tests of rollouts share: pairs from the shop's families, model specs, and a laboratory that runs cells for real."""

import asyncio
from collections.abc import Coroutine, Sequence
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, TypeVar

from abstain_assets.pairs.build import propose
from abstain_assets.records import Pair, Rollout, digest
from abstain_assets.rollouts.journal import Journal, read_journal
from abstain_assets.rollouts.runner import CellResult, run_cell
from abstain_assets.taxonomy import Scenario
from environments.retail_orders.families import FAMILIES
from resources.harness.base import AnyHarness
from resources.harness.chat_completions import ChatCompletions
from resources.harness.retry import Retry
from resources.harness.scripted import Scripted
from resources.models import ModelSpec
from resources.sandbox import SandboxPool

T = TypeVar("T")
ROUND = "v1"
FAST = Retry(attempts=3, base_seconds=0.01, max_seconds=1.0)
KEY = "sk-canary-5f0e9a"


@cache
def pairs_of(scenario: Scenario, instances: int = 1) -> tuple[Pair, ...]:
    """The first `instances` pairs of every family of the shop that supports the scenario."""
    found: list[Pair] = []
    for family in FAMILIES:
        made = 0
        for instance in range(20 * instances):
            if scenario not in family.scenarios or made == instances:
                break
            draft = family.draw(Random(digest([family.name, scenario, instance])), scenario)
            item = propose(family, scenario, ROUND, instance, draft)
            if isinstance(item, Pair):
                found.append(item)
                made += 1
    return tuple(found)


def all_pairs() -> tuple[Pair, ...]:
    """Pairs of every scenario."""
    return tuple(pair for scenario in Scenario for pair in pairs_of(scenario))


def chat_spec(url: str, **changes: Any) -> ModelSpec:
    """A model behind a Chat Completions endpoint."""
    fields = {"name": "stub/model", "harness": "chat_completions", "provider": "stub", "model": "stub-1", "base_url": url}
    return ModelSpec.model_validate(fields | changes)


def scripted_spec(policy: str) -> ModelSpec:
    """A scripted policy."""
    return ModelSpec(name=f"scripted/{policy}", harness="scripted", provider="scripted", model=policy)


class Lab:
    """One event loop and one sandbox pool for the tests of a module."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self.pool = SandboxPool()
        self.do(self.pool.__aenter__())

    def close(self) -> None:
        self.do(self.pool.__aexit__(None, None, None))
        self._loop.close()

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine to its end."""
        return self._loop.run_until_complete(work)

    def run(
        self,
        path: Path,
        pairs: Sequence[Pair],
        spec: ModelSpec,
        *,
        key: str | None = KEY,
        retry: Retry = FAST,
        harness: AnyHarness | None = None,
        **options: Any,
    ) -> CellResult:
        """Run a cell with its journal at a path, by default under the plain loop. The harness is closed at the end."""
        if harness is None:
            harness = Scripted(spec) if spec.harness == "scripted" else ChatCompletions(spec, key, retry)

        async def work() -> CellResult:
            try:
                with Journal(path) as journal:
                    return await run_cell(pairs, spec, harness=harness, pool=self.pool, journal=journal, **options)
            finally:
                await harness.close()

        return self.do(work())


def kept(path: Path) -> list[Rollout]:
    """The rollouts of a journal, act side first."""
    return sorted(read_journal(path).rollouts.values(), key=lambda item: (item.epoch, item.pair_id, item.side != "act"))
