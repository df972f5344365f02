"""Whole rollouts under every harness, with a model that answers at once: what the machinery around a model costs.

Each rollout is one side of a real pair in a real isolated sandbox: a tool call, then a final text, kept in a journal. Beside the
harnesses stands the plain way to start a tool server, a Python process per rollout, from start to its tool list.
"""

import asyncio
import multiprocessing
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, TypeVar

from mcp import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client

from abstain_assets.records import Pair
from abstain_assets.rollouts.journal import Journal
from abstain_assets.rollouts.runner import CellResult, run_cell
from abstain_assets.taxonomy import Scenario
from environments.runtime import registry
from environments.runtime.server import SandboxSpec
from resources.harness import open_harness
from resources.models import ModelSpec
from resources.sandbox import SandboxPool
from tests.builders_rollouts import pairs_of
from tests.harnesses import KEY_VARIABLE, SETUPS, Setup
from tests.servers.dialects import FINE, ModelServer, Says, in_turn

FIND = "retail_orders__find_customer"
SCENARIO = Scenario.MISSING_CRITICAL_PARAMETER
CONCURRENCY = 8
T = TypeVar("T")


def measure(alone: int = 20, together: int = 64) -> dict[str, Any]:
    """Every installed harness, one after the other, and the plain start of a server process.

    Args:
        alone: rollouts made one at a time, after one that does not count.
        together: rollouts made eight at a time.

    Returns:
        By harness and for `spawn`: `p50_ms` of one alone, `per_second` with eight at a time, `private_mb` of memory that each of
        eight concurrent ones adds to all processes together.
    """
    found = {setup.id: asyncio.run(_harness(setup, alone, together)) for setup in SETUPS if setup.installed}
    return {**found, "spawn": asyncio.run(_spawn(alone, max(CONCURRENCY, together // 4)))}


async def _harness(setup: Setup, alone: int, together: int) -> dict[str, float]:
    if setup.slow:
        alone, together = max(3, alone // 4), max(CONCURRENCY, together // 4)
    pairs = pairs_of(SCENARIO, instances=12)
    with tempfile.TemporaryDirectory() as folder, _instant_model(setup) as spec:
        async with SandboxPool() as pool:

            async def cell(name: str, rollouts: int, concurrency: int) -> tuple[CellResult, list[float]]:
                harness = open_harness(spec)
                try:
                    with Journal(Path(folder, name)) as journal:
                        chosen, epochs = _enough(pairs, rollouts)
                        result = await run_cell(
                            chosen, spec, harness=harness, pool=pool, journal=journal, epochs=epochs, concurrency=concurrency
                        )
                        assert result.done == result.planned and not result.errors, (setup.id, result)
                        return result, [timing.seconds for timing in journal.contents.timings]
                finally:
                    await harness.close()

            await cell("first", 2, 1)
            _, seconds = await cell("alone", alone, 1)
            (result, _), memory = await _with_memory(lambda: cell("together", together, CONCURRENCY))
    return _row(seconds, result.done / result.seconds, memory)


def _enough(pairs: Sequence[Pair], rollouts: int) -> tuple[Sequence[Pair], int]:
    """So many pairs and epochs that both sides make at least the wanted number of rollouts."""
    chosen = pairs[: max(1, rollouts // 2)]
    return chosen, -(-rollouts // (2 * len(chosen)))


@contextmanager
def _instant_model(setup: Setup) -> Iterator[ModelSpec]:
    """A model that calls a tool and then answers, served by a process of its own, so that it does not slow the runner down."""
    ours, theirs = multiprocessing.get_context("spawn").Pipe()
    process = multiprocessing.get_context("spawn").Process(target=_serve, args=(setup.id, theirs), daemon=True)
    process.start()
    os.environ[KEY_VARIABLE] = "none"
    try:
        yield ModelSpec.model_validate(ours.recv())
    finally:
        del os.environ[KEY_VARIABLE]
        ours.send(None)
        process.join()


def _serve(name: str, connection: Connection) -> None:
    setup = next(setup for setup in SETUPS if setup.id == name)
    script = in_turn(Says(calls=((setup.shown(FIND), {"name": "Nobody"}),)), FINE)
    with ModelServer(setup.dialect(), script) as server:
        connection.send(setup.spec(server).model_dump(mode="json"))
        connection.recv()


# --- the plain start ------------------------------------------------------------------------------------------------------


async def _spawn(alone: int, together: int) -> dict[str, float]:
    task = pairs_of(SCENARIO)[0].act
    spec = SandboxSpec(mount=task.mount, states=task.states)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "spec.json")
        path.write_text(spec.model_dump_json(), encoding="utf-8")
        seconds = [await _start(path) for _ in range(alone)]
        slots = asyncio.Semaphore(CONCURRENCY)

        async def one() -> None:
            async with slots:
                await _start(path)

        async def all_of_them() -> float:
            start = time.perf_counter()
            await asyncio.gather(*(one() for _ in range(together)))
            return time.perf_counter() - start

        took, memory = await _with_memory(all_of_them)
    return _row(seconds, together / took, memory)


async def _start(path: Path) -> float:
    command = ["-m", "environments.runtime.server", "--spec", str(path)]
    parameters = StdioServerParameters(command=sys.executable, args=command, cwd=registry.ROOT.parent)
    start = time.perf_counter()
    async with stdio_client(parameters) as streams, ClientSession(*streams) as client:
        await client.initialize()
        await client.list_tools()
        return time.perf_counter() - start


# --- memory ---------------------------------------------------------------------------------------------------------------


async def _with_memory(work: Callable[[], Awaitable[T]]) -> tuple[T, float]:
    """The result of some work, and the most megabytes by which it raised the private memory of this process and all below it."""
    before = _private_mb()
    running = asyncio.ensure_future(work())
    most = before
    while not running.done():
        await asyncio.wait({running}, timeout=0.1)
        most = max(most, await asyncio.to_thread(_private_mb))
    return running.result(), most - before


def _private_mb() -> float:
    todo, total = [os.getpid()], 0
    while todo:
        pid = todo.pop()
        try:
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="utf-8").splitlines()
            total += sum(int(line.split()[1]) for line in lines if line.startswith(("Private_Clean", "Private_Dirty")))
            for path in Path(f"/proc/{pid}/task").glob("*/children"):
                todo += [int(item) for item in path.read_text(encoding="utf-8").split()]
        except OSError:
            continue  # it has ended
    return total / 1024


def _row(seconds: Sequence[float], per_second: float, memory: float) -> dict[str, float]:
    return {
        "p50_ms": round(1000 * statistics.median(seconds), 1),
        "per_second": round(per_second, 2),
        "private_mb": round(memory / CONCURRENCY, 1),
    }
