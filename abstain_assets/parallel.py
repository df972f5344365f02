"""Spreading pure work over the processor's cores.

Workers are forked from a clean server process, never from the one that asks, which has threads and open databases. They are started
once and kept, and end with the process that started them, however that ends.
"""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import cache, partial
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")

_PRELOADED = ["abstain_assets.pairs.build"]


def warm_up() -> None:
    """Start the workers while something else is done, so that the first `spread` does not wait for them."""
    cores = os.cpu_count() or 1
    if cores > 1:
        for _ in range(cores):
            _workers(cores).submit(os.getpid)


def spread(function: Callable[[T], R], items: Sequence[T]) -> list[R]:
    """Results of a pure function for every item, in order. What it raises is raised here.

    Args:
        function: importable by name; so are its argument and result.
    """
    cores = os.cpu_count() or 1
    if cores == 1 or len(items) < 2:
        return [function(item) for item in items]
    variables = {name: value for name, value in os.environ.items() if name.startswith("ABSTAIN_")}
    chunk = max(1, len(items) // (4 * cores))
    try:
        return list(_workers(cores).map(partial(_with, variables, function), items, chunksize=chunk))
    except BrokenProcessPool:  # a worker was killed, for its memory or by hand: the work can be done here as well
        _workers.cache_clear()
        return [function(item) for item in items]


def _with(variables: dict[str, str], function: Callable[[T], R], item: T) -> R:
    """Run under the settings of whoever asks: the worker may be older than they are."""
    for name in [name for name in os.environ if name.startswith("ABSTAIN_") and name not in variables]:
        del os.environ[name]
    os.environ.update(variables)
    return function(item)


@cache
def _workers(count: int) -> ProcessPoolExecutor:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(_PRELOADED)
    return ProcessPoolExecutor(count, mp_context=context, initializer=_follow_parent)


def _follow_parent() -> None:
    """Leave Ctrl-C to the parent. A killed parent cannot tell its workers to stop, so they watch it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()

    def watch() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
