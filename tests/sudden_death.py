"""A process that dies by SIGKILL at a chosen deed: the n-th file operation below a folder that looks like a pattern.

A deed is something a process does to files: opening one to write, renaming, removing, making a folder, syncing, writing to a
journal, opening one of Dagster's databases. It is seen just before it happens. Nothing of the program is replaced but `os.fsync`
and `os.write`, which are called through.
"""

import os
import re
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT
_MOVES = {"os.rename": "rename", "os.remove": "remove", "os.mkdir": "mkdir", "os.rmdir": "rmdir", "sqlite3.connect": "sqlite"}


def arm(home: str, *, log: str | None = None, pattern: str | None = None, nth: int = 1, torn: bool = False) -> None:
    """Watch this process from now on.

    Args:
        home: only deeds below this folder count.
        log: append every deed to this file, one a line: its name and its path below the folder.
        pattern: die before the `nth` deed whose line matches.
        torn: where that deed is a write to a journal, write half of it first.
    """
    root, left = os.path.realpath(home), nth
    sink = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600) if log else None
    sought = re.compile(pattern) if pattern is not None else None

    def deed(name: str, path: Any, half: Callable[[], object] | None = None) -> None:
        nonlocal left
        text = os.fsdecode(path) if isinstance(path, (str, bytes, os.PathLike)) else ""
        if not text.startswith(root + os.sep):
            return
        line = f"{name} {text[len(root) + 1 :]}"
        if sink is not None:
            write(sink, line.encode() + b"\n")
        if sought is not None and sought.search(line):
            left -= 1
            if left == 0:
                if half is not None and torn:
                    half()
                os.kill(os.getpid(), signal.SIGKILL)

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open":
            path, _, flags = arguments
            if isinstance(flags, int) and flags & _WRITING:
                deed("open", path)
        elif event in _MOVES:
            deed(_MOVES[event], arguments[1] if event == "os.rename" else arguments[0])

    sync, write = os.fsync, os.write

    def watched_sync(descriptor: int) -> None:
        deed("sync", _path(descriptor))
        sync(descriptor)

    def watched_write(descriptor: int, data: Any) -> int:
        path = _path(descriptor)
        if path.endswith(".jsonl"):
            deed("write", path, lambda: write(descriptor, bytes(data)[: len(data) // 2]))
        return write(descriptor, data)

    os.fsync, os.write = watched_sync, watched_write  # type: ignore[assignment]
    sys.addaudithook(hook)


def _path(descriptor: int) -> str:
    try:
        return str(Path(f"/proc/self/fd/{descriptor}").readlink())
    except OSError:
        return ""
