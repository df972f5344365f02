"""Everything that was written below a folder, as text: for tests that search it for what must not be there."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import duckdb
import polars as pl


def written(folder: Path) -> Iterator[tuple[str, str]]:
    """Name and text of every file, compressed and paged formats decoded."""
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        name = str(path.relative_to(folder))
        yield name, path.read_bytes().decode("latin-1")
        if path.suffix == ".parquet":
            yield name, pl.read_parquet(path).write_ndjson()
        elif path.suffix == ".duckdb":
            with duckdb.connect(str(path), read_only=True) as connection:
                for schema, table in connection.execute("SELECT schema_name, table_name FROM duckdb_tables()").fetchall():
                    rows = connection.execute(f'SELECT * FROM "{schema}"."{table}"').fetchall()
                    yield f"{name}:{table}", repr(rows)
        elif path.suffix == ".db":
            with sqlite3.connect(f"file:{path}?mode=ro", uri=True) as database:
                yield name, "\n".join(database.iterdump())
