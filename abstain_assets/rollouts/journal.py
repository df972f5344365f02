"""The journal of a cell: one JSON line per finished rollout, on disk before the next one counts as done.

Journals are append-only and the source of the lake's rollout tables.
"""

from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

from abstain_assets.append_only import Appender, FileBusy, read_lines
from abstain_assets.records import Frozen, Rollout, Timing, Usage
from abstain_assets.rollouts.errors import CellBusy


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
    for entry in read_lines(path, Entry):
        contents.add(entry)
    return contents


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
        self._file = Appender(path, Entry, self.contents.add)

    def __enter__(self) -> Self:
        try:
            self._file.__enter__()
        except FileBusy as error:
            raise CellBusy(f"another process is working on this cell ({self.path}); wait for it to end") from error
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._file.__exit__(kind, error, trace)

    def append(self, rollout: Rollout, timing: Timing) -> None:
        """Keep a finished rollout. It is on disk when this returns.

        Raises:
            JournalError: it could not be written; nothing of it remains in the file.
        """
        self._file.append(Entry(fingerprint=rollout.fingerprint, rollout=rollout, timing=timing))

    def broken_off(self, fingerprint: str, usage: Usage) -> None:
        """Keep what was paid for a rollout that did not finish.

        Raises:
            JournalError: it could not be written.
        """
        self._file.append(Entry(fingerprint=fingerprint, broken_off=usage))
