"""Parquet files that show whether they are whole.

Readers of Parquet check no checksum: a flipped bit in a page is often read as another value. The footer of every file written here
names the SHA-256 of the file, computed with zeros in place of that name.
"""

import hashlib
import io
from collections.abc import Sequence
from pathlib import Path

import polars as pl

_KEY = "abstain.sha256"
_BLANK = "0" * 64
_BEFORE = _KEY.encode() + b"\x18\x40"  # how the footer continues: a string of 64 bytes


class Damaged(Exception):
    """A file is not what was written."""


class OtherVersion(Exception):
    """A file is whole and was not written by this version."""


def sealed(content: pl.DataFrame) -> memoryview:
    """The bytes of a file with this content. Equal rows give equal bytes."""
    buffer = io.BytesIO()
    content.write_parquet(buffer, compression="zstd", metadata={_KEY: _BLANK})
    raw = buffer.getbuffer()
    start = buffer.getvalue().rindex(_BEFORE) + len(_BEFORE)
    raw[start : start + len(_BLANK)] = hashlib.sha256(raw).hexdigest().encode()
    return raw


def checked(path: Path, schema: pl.Schema) -> bytes:
    """The bytes of a file with exactly this schema, none of them changed since it was written.

    Raises:
        Damaged: some are, or the file is cut off or unreadable.
        OtherVersion: there is no digest in it, or its schema is another one.
    """
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise Damaged(error.strerror or str(error)) from error
    if not raw.endswith(b"PAR1") or len(raw) < len(_BLANK):
        raise Damaged("it is cut off" if raw.startswith(b"PAR1") else "it is no Parquet file")
    start = raw.rfind(_BEFORE) + len(_BEFORE)
    if start < len(_BEFORE):
        raise OtherVersion
    end = start + len(_BLANK)
    digest = hashlib.sha256(raw[:start])
    digest.update(_BLANK.encode() + raw[end:])
    if digest.hexdigest().encode() != raw[start:end]:
        raise Damaged("some of its bytes are not those that were written")
    if pl.read_parquet_schema(io.BytesIO(raw)) != schema:
        raise OtherVersion
    return raw


def read(path: Path, schema: pl.Schema, columns: Sequence[str] | None = None) -> pl.DataFrame:
    """The rows of a file.

    Raises:
        Damaged, OtherVersion: as `checked`.
    """
    return pl.read_parquet(io.BytesIO(checked(path, schema)), columns=list(columns) if columns else None)
