"""Stopping gracefully: the first Ctrl-C lets what is under way finish, the second one breaks it off."""

import asyncio
import signal
import threading
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


def run_interruptible(main: Callable[[asyncio.Event], Coroutine[Any, Any, T]]) -> T:
    """Run a coroutine to its end. It receives an event that is set by the first SIGINT; a second one cancels it.

    Outside the main thread, where signals cannot be received, it simply runs.

    Raises:
        KeyboardInterrupt: it was cancelled.
    """
    if threading.current_thread() is not threading.main_thread():
        return asyncio.run(main(asyncio.Event()))
    previous = signal.getsignal(signal.SIGINT)
    try:
        return asyncio.run(_guarded(main))
    except asyncio.CancelledError as error:
        raise KeyboardInterrupt from error
    finally:
        signal.signal(signal.SIGINT, previous)


async def _guarded(main: Callable[[asyncio.Event], Coroutine[Any, Any, T]]) -> T:
    stop = asyncio.Event()
    task = asyncio.ensure_future(main(stop))
    loop = asyncio.get_running_loop()

    def interrupted() -> None:
        if stop.is_set():
            task.cancel()
        stop.set()

    loop.add_signal_handler(signal.SIGINT, interrupted)
    try:
        return await task
    finally:
        loop.remove_signal_handler(signal.SIGINT)
