"""A process that runs one cell, for tests that kill it: `python -m tests.rollouts_worker URL PAIRS JOURNAL EPOCHS CONCURRENCY`."""

import asyncio
import json
import sys
from pathlib import Path

from pydantic import TypeAdapter

from abstain_assets.errors import AbstainError
from abstain_assets.records import Pair
from abstain_assets.rollouts.interrupt import run_interruptible
from abstain_assets.rollouts.journal import Journal
from abstain_assets.rollouts.progress import Shown
from abstain_assets.rollouts.runner import CellResult, run_cell
from resources.harness.chat_completions import ChatCompletions
from resources.sandbox import SandboxPool
from tests.builders_rollouts import FAST, KEY, chat_spec


def main(url: str, pairs: str, path: str, epochs: str, concurrency: str) -> int:
    """Run the cell and print what it came to as JSON."""
    spec = chat_spec(url)
    chosen = TypeAdapter(tuple[Pair, ...]).validate_json(Path(pairs).read_bytes())

    async def work(stop: asyncio.Event) -> CellResult:
        harness = ChatCompletions(spec, KEY, FAST)
        async with SandboxPool() as pool:
            with Journal(Path(path)) as journal:
                return await run_cell(
                    chosen,
                    spec,
                    harness=harness,
                    pool=pool,
                    journal=journal,
                    epochs=int(epochs),
                    concurrency=int(concurrency),
                    progress=Shown(),
                    stop=stop,
                )

    try:
        result = run_interruptible(work)
    except AbstainError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    stopped = result.stopped.reason if result.stopped else None
    print(json.dumps({"planned": result.planned, "done": result.done, "reused": result.reused, "stopped": stopped}))
    return 1 if stopped else 0


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
