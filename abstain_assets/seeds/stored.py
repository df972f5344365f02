"""The pool as it is kept beside the wheels it was made of, so that homes which share a cache make it once."""

import os
import secrets
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from abstain_assets.rows import frame, seed_rows
from abstain_assets.seeds.pool import make_pool
from abstain_assets.seeds.records import SeedSource
from abstain_assets.seeds.sources import SOURCES, basis, collect, fact
from abstain_assets.tables import TABLES


@dataclass(frozen=True)
class Pool:
    """The rows of `seeds`, and what each source came to."""

    seeds: pl.DataFrame
    sources: tuple[SeedSource, ...]


def pool_for(cache: Path) -> Pool:
    """The pool of all sources. It is taken from the cache where wheels and code are those it was made with, else made.

    A pool that lacks a source is not stored: the source may be there the next time.
    """
    file = cache / f"seed-pool-{basis()}.parquet"
    if (stored := _read(file)) is not None:
        counts = Counter(stored["source"].to_list())
        return Pool(stored, tuple(fact(source, counts[source.name]) for source in SOURCES))
    collected = collect(cache)
    seeds = frame("seeds", seed_rows(make_pool(collected.seeds)))
    if not any(item.problem for item in collected.sources):
        _store(seeds, file)
    return Pool(seeds, collected.sources)


def _read(file: Path) -> pl.DataFrame | None:
    """What is stored; nothing where it is missing, damaged or not what it should be."""
    try:
        found = pl.read_parquet(file)
    except (pl.exceptions.PolarsError, OSError):
        return None
    return found if found.schema == TABLES["seeds"].schema else None


def _store(seeds: pl.DataFrame, file: Path) -> None:
    """Put a pool in place of those of other versions. A cache that cannot be written does without."""
    fresh = file.with_name(f".{file.name}-{os.getpid()}-{secrets.token_hex(4)}")
    try:
        seeds.write_parquet(fresh, compression="zstd")
        fresh.replace(file)
        for other in file.parent.glob("seed-pool-*.parquet"):
            if other != file:
                other.unlink(missing_ok=True)
    except (pl.exceptions.PolarsError, OSError):
        fresh.unlink(missing_ok=True)
