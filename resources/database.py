"""The DuckDB database built from the lake's files."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import polars as pl

from abstain_assets.errors import BadInput, LakeError
from abstain_assets.tables import TABLES

Signature = list[tuple[str, int, int]]
_FILES_AT_ONCE = 64


@dataclass(frozen=True)
class Answer:
    """The result of a query."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]

    def records(self) -> list[dict[str, Any]]:
        """One mapping per row."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]


class DatabaseDamaged(LakeError):
    """The database cannot be read. It is a cache: build it again."""


@dataclass(frozen=True)
class _Stream:
    """A frame as DuckDB takes it where there is no PyArrow."""

    frame: pl.DataFrame

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.frame.__arrow_c_stream__(requested_schema)


def build_database(target: Path, files: Mapping[str, Sequence[Path]], read: Callable[[str, Path], pl.DataFrame]) -> None:
    """Build a database of all tables at a path that does not exist yet.

    Args:
        read: the rows of a file. DuckDB does not read it by itself: it opens a file more than once, and a writer may replace the
            file in between.

    Raises:
        LakeError: DuckDB cannot write the database, or what `read` raises.
    """
    held = _signature(files)  # taken first: a file replaced while we read makes the database stale, never wrongly current
    try:
        with duckdb.connect(str(target)) as connection:
            connection.execute("BEGIN")
            for name, table in TABLES.items():
                connection.execute(f"CREATE TABLE {name} ({table.ddl})")
                for start in range(0, len(files[name]), _FILES_AT_ONCE):
                    some = files[name][start : start + _FILES_AT_ONCE]
                    connection.register("incoming", _Stream(pl.concat(read(name, path) for path in some)))
                    connection.execute(f"INSERT INTO {name} BY NAME SELECT * FROM incoming")
                    connection.unregister("incoming")
                connection.execute(f"COMMENT ON TABLE {name} IS {_quoted(table.sentence)}")
            connection.execute("CREATE SCHEMA lake")
            connection.execute("CREATE TABLE lake.files (path VARCHAR, size BIGINT, modified_ns BIGINT)")
            columns = [list(column) for column in zip(*held, strict=True)]
            connection.execute("INSERT INTO lake.files SELECT unnest(?), unnest(?), unnest(?)", columns)
            connection.execute("COMMIT")
            connection.execute("CHECKPOINT")  # closing would do it too, but says nothing when the disk is full
    except duckdb.Error as error:
        raise LakeError(f"cannot build {target.parent / 'abstain.duckdb'}: {error}. The old one is still there.") from error


def is_current(database: Path, files: Mapping[str, Sequence[Path]]) -> bool:
    """Whether a database exists and holds exactly these files, none of them changed since."""
    if not database.exists():
        return False
    try:
        with duckdb.connect(str(database), read_only=True) as connection:
            held = connection.execute("SELECT path, size, modified_ns FROM lake.files ORDER BY path").fetchall()
    except duckdb.Error:
        return False  # a damaged cache is rebuilt
    return held == _signature(files)


def run_query(database: Path, sql: str) -> Answer:
    """Run one query that can neither write nor reach other files.

    Raises:
        BadInput: the query is wrong or not allowed.
        DatabaseDamaged: the database is.
    """
    try:
        with duckdb.connect(str(database), read_only=True) as connection:
            connection.execute("SET enable_external_access = false")
            connection.execute("SET lock_configuration = true")
            if len(connection.extract_statements(sql)) != 1:
                raise BadInput("give exactly one SQL statement")
            result = connection.execute(sql)
            columns = tuple(item[0] for item in result.description or ())
            if repeated := sorted({name for name in columns if columns.count(name) > 1}):
                raise BadInput(f"two columns are named {', '.join(repeated)}: rename one with AS")
            return Answer(columns, tuple(result.fetchall()))
    except duckdb.Error as error:
        if type(error) is duckdb.Error or isinstance(error, (duckdb.IOException, duckdb.FatalException, duckdb.InternalException)):
            raise DatabaseDamaged(f"{database} cannot be read: {error}; delete it and run the command again") from error
        raise BadInput(f"the query failed: {error}") from error


def _signature(files: Mapping[str, Sequence[Path]]) -> Signature:
    found = [("", len(TABLES), 0)]
    for path in sorted(path for paths in files.values() for path in paths):
        status = path.stat()
        found.append((str(path), status.st_size, status.st_mtime_ns))
    return found


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
