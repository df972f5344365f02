"""A mounted two-environment sandbox from asking for it to its teardown: forked from the warm process, or a plain server process.

Both arms get the same mount, list the tools, make the same three calls and end. Only the warm one is isolated and leaves evidence.
"""

import asyncio
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from mcp import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client

from environments.runtime import registry
from environments.runtime.records import Mount
from environments.runtime.server import SandboxSpec
from resources.sandbox import SandboxPool

ENVIRONMENTS = ("calendar", "retail_orders")
CALLS = ("calendar__list_events", "retail_orders__list_orders", "retail_orders__search_products")


def measure(runs: int = 20) -> dict[str, Any]:
    """Milliseconds for each arm, measured alternately in one process, and how many times the median of the spawned one is longer.

    Args:
        runs: how many times each arm is measured, after one run of each that does not count.

    Returns:
        `{"warm": {"p50_ms", "p95_ms"}, "spawn": {"p50_ms", "p95_ms"}, "ratio_p50"}`.
    """
    warm, spawn = asyncio.run(_measure(runs))
    return {
        "warm": _summary(warm),
        "spawn": _summary(spawn),
        "ratio_p50": round(statistics.median(spawn) / statistics.median(warm), 1),
    }


async def _measure(runs: int) -> tuple[list[float], list[float]]:
    spec = SandboxSpec(
        mount=Mount(environments=ENVIRONMENTS), states={name: registry.load(name).example_state().dump() for name in ENVIRONMENTS}
    )
    warm, spawn = [], []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "spec.json")
        path.write_text(json.dumps(spec.model_dump(mode="json")), encoding="utf-8")
        async with SandboxPool() as pool:
            for _ in range(runs + 1):
                warm.append(await _warm(pool, spec))
                spawn.append(await _spawn(path))
    return warm[1:], spawn[1:]


async def _warm(pool: SandboxPool, spec: SandboxSpec) -> float:
    start = time.perf_counter()
    async with pool.open(spec.mount, spec.states) as session:
        for name in CALLS:
            reply = await session.call(name, {})
            assert not reply.is_error, reply.text
        await session.finish()
    return time.perf_counter() - start


async def _spawn(path: Path) -> float:
    command = ["-m", "environments.runtime.server", "--spec", str(path)]
    start = time.perf_counter()
    parameters = StdioServerParameters(command=sys.executable, args=command, cwd=registry.ROOT.parent)
    async with stdio_client(parameters) as streams, ClientSession(*streams) as client:
        await client.initialize()
        await client.list_tools()
        for name in CALLS:
            answer = await client.call_tool(name, {})
            assert not answer.is_error, answer.content
    return time.perf_counter() - start


def _summary(seconds: list[float]) -> dict[str, float]:
    ordered = sorted(seconds)
    # The smallest value that at least 95 % of the runs do not exceed.
    p95 = ordered[max(0, -(-95 * len(ordered) // 100) - 1)]
    return {"p50_ms": round(1000 * statistics.median(ordered), 1), "p95_ms": round(1000 * p95, 1)}
