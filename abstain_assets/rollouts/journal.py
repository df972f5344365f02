"""The journal of a cell: one JSON line per finished rollout, on disk before the next one counts as done.

Journals are append-only and the source of the lake's rollout tables. A process killed in mid-write leaves at most a partial last
line, which the next writer cuts off.
"""

import io
import os
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import Self

from filelock import FileLock, Timeout
from pydantic import ValidationError

from abstain_assets.records import Frozen, Rollout, Timing, Usage
from abstain_assets.rollouts.errors import CellBusy, JournalError


class Entry(Frozen):
    """One line: a finished rollout with its timing, or what was paid for one that was broken off."""

    fingerprint: str
    rollout: Rollout | None = None
    timing: Timing | None = None
    broken_off: Usage | None = None


@dataclass
class Contents:
    """What a journal holds.

    Attributes:
        rollouts: the latest finished rollout per fingerprint.
        timings: of all attempts, in the order they finished.
        usages: of all attempts, the broken-off ones included: what was paid.
    """

    rollouts: dict[str, Rollout] = field(default_factory=dict)
    timings: list[Timing] = field(default_factory=list)
    usages: list[Usage] = field(default_factory=list)

    def add(self, entry: Entry) -> None:
        """Take up one more line."""
        if entry.rollout is not None:
            self.rollouts.pop(entry.fingerprint, None)  # the order of the dictionary is the order in which they finished
            self.rollouts[entry.fingerprint] = entry.rollout
            self.usages.append(entry.rollout.usage)
        if entry.timing is not None:
            self.timings.append(entry.timing)
        if entry.broken_off is not None:
            self.usages.append(entry.broken_off)


def read_journal(path: Path) -> Contents:
    """The contents of a journal; empty where there is none. A partial last line is left out.

    Raises:
        JournalError: a line in the middle cannot be read.
    """
    contents = Contents()
    for _, entry in _entries(path):
        contents.add(entry)
    return contents


def _entries(path: Path) -> Iterator[tuple[int, Entry]]:
    """Entries with the position at which each one's line ends.

    Raises:
        JournalError: lines in the middle cannot be read; all of them are named.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return
    except OSError as error:
        raise JournalError(f"{path} cannot be read: {error}") from error
    position, damage, reason = 0, list[int](), ""
    lines = io.BytesIO(data).readlines()
    for number, line in enumerate(lines, start=1):
        position += len(line)
        try:
            entry = Entry.model_validate_json(line)
        except ValidationError as error:
            problem = error.errors(include_url=False, include_input=False)[0]
            if problem["type"] != "json_invalid":
                where = f"{path}: line {number} is no rollout of this version ({problem['msg']})"
                raise JournalError(f"{where}; move the file away to run the cell again") from error
            if number == len(lines):
                break
            damage.append(number)
            reason = reason or problem["msg"]
            continue
        if not line.endswith(b"\n"):
            break
        if not damage:
            yield position, entry
    if damage:
        where = f"line {damage[0]}" if len(damage) == 1 else f"{len(damage)} lines from line {damage[0]} on"
        fix = f"sed -i '{_deleting(damage)}' {shlex.quote(str(path))}"
        raise JournalError(
            f"{path}: {where} cannot be read ({reason}). To keep everything else, take out what is damaged with `{fix}`; "
            "the next run repeats what was in there"
        )


def _deleting(numbers: Sequence[int]) -> str:
    """The script that makes sed delete some lines.

    >>> _deleting([2, 3, 4, 7])
    '2,4d;7,7d'
    """
    spans: list[list[int]] = []
    for number in numbers:
        if spans and spans[-1][1] == number - 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    return ";".join(f"{first},{last}d" for first, last in spans)


class Journal:
    """A journal open for writing, locked against other processes.

    Use it as a context manager.

    Raises:
        CellBusy: another process has it open.
        JournalError: it cannot be read or written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.contents = Contents()
        self._lock = FileLock(f"{path}.lock", timeout=0)
        self._writing = Lock()
        self._descriptor = -1

    def __enter__(self) -> Self:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._lock.acquire()
        except Timeout as error:
            raise CellBusy(f"another process is working on this cell ({self.path}); wait for it to end") from error
        except OSError as error:
            raise JournalError(f"{self.path} cannot be opened: {error}") from error
        try:
            self._open()
        except BaseException:
            self._lock.release()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        os.close(self._descriptor)
        self._lock.release()

    def append(self, rollout: Rollout, timing: Timing) -> None:
        """Keep a finished rollout. It is on disk when this returns.

        Raises:
            JournalError: it could not be written; nothing of it remains in the file.
        """
        self._write(Entry(fingerprint=rollout.fingerprint, rollout=rollout, timing=timing))

    def broken_off(self, fingerprint: str, usage: Usage) -> None:
        """Keep what was paid for a rollout that did not finish.

        Raises:
            JournalError: it could not be written.
        """
        self._write(Entry(fingerprint=fingerprint, broken_off=usage))

    def _open(self) -> None:
        end = 0
        for end, entry in _entries(self.path):  # noqa: B007 - the last value is used after the loop
            self.contents.add(entry)
        try:
            self._descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
            os.ftruncate(self._descriptor, end)
            os.fsync(self._descriptor)
            folder = os.open(self.path.parent, os.O_RDONLY)  # a new file is only kept when its folder is
            os.fsync(folder)
            os.close(folder)
        except OSError as error:
            raise JournalError(f"{self.path} cannot be opened: {error}") from error

    def _write(self, entry: Entry) -> None:
        line = entry.model_dump_json().encode() + b"\n"
        with self._writing:
            size = os.fstat(self._descriptor).st_size
            try:
                rest = memoryview(line)
                while rest:
                    rest = rest[os.write(self._descriptor, rest) :]
                os.fsync(self._descriptor)
            except OSError as error:
                os.ftruncate(self._descriptor, size)
                raise JournalError(
                    f"{self.path} cannot be written: {error}; make room and run again, finished rollouts are kept"
                ) from error
            self.contents.add(entry)
