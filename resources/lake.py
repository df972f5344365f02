"""The lake: one Parquet file per partition, and a DuckDB database of the same tables for anyone to query.

A partition is written under a temporary name, synced and moved into place, so a reader sees the old file or the new one and a
crash leaves the old one. The database is a cache of the files: it is built beside the old one and replaces it, so readers are
never blocked and writers never wait for them.
"""

import contextlib
import errno
import hashlib
import os
import re
import secrets
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
from filelock import FileLock

from abstain_assets.errors import BadInput, LakeError
from abstain_assets.rebuilding import way_back
from abstain_assets.rows import frame
from abstain_assets.tables import TABLES
from resources import parquet
from resources.database import Answer, DatabaseDamaged, build_database, is_current, run_query

_PARTITION = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@~+-]*")
_ABANDONED_AFTER_SECONDS = 3600
ALL = "all"


@dataclass(frozen=True)
class Written:
    """What was written: the number of rows and a digest of their values, which does not depend on the file format."""

    rows: int
    digest: str


class Lake:
    """Tables below `<home>/lake`, and `<home>/abstain.duckdb`.

    Args:
        home: the folder of everything; it is made when first written to.
        lazy: leave the database alone until it is queried or refreshed; for whoever writes many partitions in a row.
    """

    def __init__(self, home: Path, *, lazy: bool = False) -> None:
        self._lazy = lazy
        self.root = home / "lake"
        self.database = home / "abstain.duckdb"
        self._scratch = self.root / ".tmp"

    def path(self, table: str, partition: str) -> Path:
        """The file of a partition, whether or not it exists.

        Raises:
            BadInput: the partition's name is not safe as a file name.
        """
        if not _PARTITION.fullmatch(partition):
            raise BadInput(f"{partition!r} cannot name a partition: use letters, digits and . _ @ ~ + -")
        return self.root / TABLES[table].name / f"{partition}.parquet"

    def partitions(self, table: str) -> tuple[str, ...]:
        """Names of the partitions that exist, sorted."""
        return tuple(sorted(path.name.removesuffix(".parquet") for path in (self.root / table).glob("*.parquet")))

    def write(self, table: str, partition: str, rows: Iterable[Mapping[str, Any]]) -> Written:
        """Replace one partition. Equal rows, in any order, give equal bytes.

        Raises:
            LakeError: the disk is full or the lake cannot be written; the partition is as it was.
        """
        content = frame(table, rows)
        self._replace(self.path(table, partition), parquet.sealed(content))
        return Written(content.height, hashlib.sha256(content.write_ndjson().encode()).hexdigest()[:20])

    def read(self, table: str, partitions: Iterable[str] | None = None, *, columns: Sequence[str] | None = None) -> pl.DataFrame:
        """The rows of some partitions, or of all of them. What does not exist has no rows.

        Args:
            columns: leave the others on the disk.

        Raises:
            LakeError: a file is damaged or was written by another version.
        """
        wanted = self.partitions(table) if partitions is None else partitions
        found = [_rows(table, path, columns) for name in wanted if (path := self.path(table, name)).exists()]
        empty = frame(table, ())
        return pl.concat([empty.select(columns) if columns else empty, *found], how="vertical")

    def is_whole(self, table: str, partition: str) -> bool:
        """Whether a partition exists and can be read."""
        try:
            parquet.checked(self.path(table, partition), TABLES[table].schema)
        except (parquet.Damaged, parquet.OtherVersion):
            return False
        return True

    def changed(self) -> None:
        """Say that a step has written what it had to write; the database follows, unless the lake is lazy.

        Raises:
            LakeError: as `refresh`.
        """
        if not self._lazy:
            self.refresh()

    def refresh(self, *, damaged: int | None = None) -> None:
        """Bring the database up to date. Does nothing where it already is.

        Args:
            damaged: the inode of a database that must not stay.

        Raises:
            LakeError: a file is damaged, or the database cannot be written; the old database is still there.
        """
        with self.lock("database"):
            files = self.files()
            if is_current(self.database, files) and _inode(self.database) != damaged:
                return
            self._sweep()
            with self._explained(self.database), self._temporary(self.database.parent) as temporary:
                build_database(temporary, files, _rows)
                _sync(temporary)
                temporary.replace(self.database)
                _sync(self.database.parent)

    def query(self, sql: str) -> Answer:
        """Run one read-only query on the tables as they are now.

        Raises:
            BadInput: the query is wrong or would write.
            LakeError: the database cannot be brought up to date.
        """
        if not is_current(self.database, self.files()):
            self.refresh()
        opened = _inode(self.database)
        try:
            return run_query(self.database, sql)
        except DatabaseDamaged:
            self.refresh(damaged=opened)
            return run_query(self.database, sql)

    def files(self) -> dict[str, list[Path]]:
        """The Parquet files of every table, sorted."""
        return {name: [self.path(name, partition) for partition in self.partitions(name)] for name in TABLES}

    @contextlib.contextmanager
    def lock(self, name: str) -> Iterator[None]:
        """Hold a lock shared by all processes on this lake; a process that dies gives it up.

        Raises:
            LakeError: the lake cannot be written.
        """
        with self._explained(self.root):
            self._scratch.mkdir(parents=True, exist_ok=True)
            held = FileLock(self._scratch / f"{name}.lock")
            held.acquire()
        try:
            yield
        finally:
            held.release()

    def _replace(self, path: Path, content: memoryview) -> None:
        with self._explained(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            self._scratch.mkdir(parents=True, exist_ok=True)
            with self._temporary(self._scratch) as temporary:
                temporary.write_bytes(content)
                _sync(temporary)
                temporary.replace(path)
            _sync(path.parent)

    @contextlib.contextmanager
    def _temporary(self, folder: Path) -> Iterator[Path]:
        """A path in the same file system that no reader looks at; gone afterwards unless it was moved into place."""
        path = folder / f".abstain-{os.getpid()}-{secrets.token_hex(8)}"
        try:
            yield path
        finally:
            for leftover in (path, path.with_name(f"{path.name}.wal")):
                leftover.unlink(missing_ok=True)

    @contextlib.contextmanager
    def _explained(self, path: Path) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
                message = f"no space left to write {path}: free some space or move the home with --home, then run the command again"
            else:
                message = f"cannot write {path}: {error.strerror or error}"
            raise LakeError(f"{message}. Nothing was changed.") from error

    def _sweep(self) -> None:
        """Remove what killed processes left behind."""
        limit = time.time() - _ABANDONED_AFTER_SECONDS
        for folder in (self._scratch, self.database.parent):
            for path in folder.glob(".abstain-*"):
                with contextlib.suppress(FileNotFoundError):
                    if path.stat().st_mtime < limit:
                        path.unlink()


def _rows(table: str, path: Path, columns: Sequence[str] | None = None) -> pl.DataFrame:
    """The rows of a file.

    Raises:
        LakeError: it is damaged or was written by another version.
    """
    try:
        return parquet.read(path, TABLES[table].schema, columns)
    except parquet.Damaged as error:
        raise LakeError(f"{path} is damaged ({error}): {way_back(table, path.stem)}") from error
    except parquet.OtherVersion as error:
        raise LakeError(f"{path} was written by another version: {way_back(table, path.stem)}") from error


def _inode(path: Path) -> int | None:
    try:
        return path.stat().st_ino
    except FileNotFoundError:
        return None


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
