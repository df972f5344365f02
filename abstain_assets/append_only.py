"""Files of JSON lines that are only ever appended to: each line is on disk before it counts, and one process writes at a time.

A process killed in mid-write leaves at most a partial last line, which readers leave out and the next writer cuts off.
"""

import io
import os
import shlex
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import Generic, Self, TypeVar

from filelock import FileLock, Timeout
from pydantic import BaseModel, ValidationError

from abstain_assets.errors import AbstainError

E = TypeVar("E", bound=BaseModel)


class FileBusy(AbstainError):
    """Another process has a file open for writing."""


class JournalError(AbstainError):
    """A journal cannot be read or written. The message names the file and the fix."""


def read_lines(path: Path, kind: type[E]) -> Iterator[E]:
    """The lines of a file; none where there is no file.

    Raises:
        JournalError: a line in the middle cannot be read.
    """
    for _, entry in _lines(path, kind):
        yield entry


def _lines(path: Path, kind: type[E]) -> Iterator[tuple[int, E]]:
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
            entry = kind.model_validate_json(line)
        except ValidationError as error:
            problem = error.errors(include_url=False, include_input=False)[0]
            if problem["type"] != "json_invalid":
                where = f"{path}: line {number} is no entry of this version ({problem['msg']})"
                raise JournalError(f"{where}; move the file away to do its work again") from error
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


class Appender(Generic[E]):
    """A file open for appending, locked against other processes. Use it as a context manager.

    Args:
        kind: of its lines.
        take: called with every line, those that are there first.
        wait: seconds to wait for another process; -1 for as long as it takes.

    Raises:
        FileBusy: another process has it open.
        JournalError: it cannot be read or written.
    """

    def __init__(self, path: Path, kind: type[E], take: Callable[[E], None], wait: float = 0) -> None:
        self.path = path
        self._kind = kind
        self._take = take
        self._lock = FileLock(f"{path}.lock", timeout=wait)
        self._writing = Lock()
        self._descriptor = -1

    def __enter__(self) -> Self:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._lock.acquire()
        except Timeout as error:
            raise FileBusy(f"another process is working on {self.path}; wait for it to end") from error
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

    def append(self, entry: E) -> None:
        """Keep one more line. It is on disk when this returns.

        Raises:
            JournalError: it could not be written; nothing of it remains in the file.
        """
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
                    f"{self.path} cannot be written: {error}; make room and run again, what is finished is kept"
                ) from error
            self._take(entry)

    def _open(self) -> None:
        end = 0
        for end, entry in _lines(self.path, self._kind):  # noqa: B007 - the last value is used after the loop
            self._take(entry)
        try:
            self._descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
            os.ftruncate(self._descriptor, end)
            os.fsync(self._descriptor)
            folder = os.open(self.path.parent, os.O_RDONLY)  # a new file is only kept when its folder is
            os.fsync(folder)
            os.close(folder)
        except OSError as error:
            raise JournalError(f"{self.path} cannot be opened: {error}") from error
