"""Wheels through the real pip from a folder of wheels: the right one, another one, a cut one, none at all."""

import hashlib
import os
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import polars as pl
import pytest

from abstain_assets.seeds import stored
from abstain_assets.seeds.sources import BFCL_EVAL, SOURCES, collect
from abstain_assets.seeds.stored import pool_for
from resources.wheels import PinnedWheel, WheelUnavailable, fetch
from tests.seed_wheels import bfcl_members, small_sources, write_wheel

OFFLINE = {
    "PIP_INDEX_URL": "http://127.0.0.1:9/simple",
    "PIP_EXTRA_INDEX_URL": "",
    "PIP_FIND_LINKS": "",
    "PIP_NO_INDEX": "0",
    "PIP_CONFIG_FILE": os.devnull,
}
INFO = "bfcl_eval-2026.3.23.dist-info"
INSTALLABLE = {
    f"{INFO}/METADATA": "Metadata-Version: 2.1\nName: bfcl-eval\nVersion: 2026.3.23\n",
    f"{INFO}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    f"{INFO}/RECORD": "",
}


@pytest.fixture
def published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PinnedWheel:
    """A small `bfcl-eval` in a folder that pip takes wheels from."""
    wheel = write_wheel(tmp_path / "index" / BFCL_EVAL.file, bfcl_members() | INSTALLABLE)
    links = {**OFFLINE, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(wheel.parent)}
    for name, value in links.items():
        monkeypatch.setenv(name, value)
    return replace(BFCL_EVAL, sha256=hashlib.sha256(wheel.read_bytes()).hexdigest())


def test_the_pinned_wheel_is_fetched_once_and_mended_when_it_is_cut(published: PinnedWheel, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    kept = fetch(published, cache)
    whole = kept.read_bytes()
    index = tmp_path / "index" / published.file
    index.rename(tmp_path / "away")
    assert fetch(published, cache) == kept, "nothing is fetched again"
    kept.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(WheelUnavailable, match=r"bfcl-eval 2026\.3\.23 could not be fetched"):
        fetch(published, cache)
    (tmp_path / "away").rename(index)
    assert fetch(published, cache).read_bytes() == whole
    assert sorted(path.name for path in cache.iterdir() if path.suffix != ".lock") == [published.file], "no leftovers"


def test_a_wheel_with_another_hash_is_refused(published: PinnedWheel, tmp_path: Path) -> None:
    other = replace(published, sha256="0" * 64)
    with pytest.raises(WheelUnavailable, match="the file the package index has is not the pinned one"):
        fetch(other, tmp_path / "cache")
    assert not (tmp_path / "cache" / other.file).exists()
    sources = tuple(replace(source, wheel=other) for source in SOURCES if source.wheel == BFCL_EVAL)
    [fact] = collect(tmp_path / "cache", sources).sources
    assert (fact.collected, "not the pinned one" in fact.problem) == (0, True)


def test_without_an_index_the_reason_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in OFFLINE.items():
        monkeypatch.setenv(name, value)
    found = collect(tmp_path)
    assert found.seeds == ()
    assert [item.source for item in found.sources] == [source.name for source in SOURCES]
    assert all(item.problem.endswith("could not be fetched: the package index cannot be reached") for item in found.sources)


def test_a_cache_that_cannot_be_written_is_a_reason(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("in the way", encoding="utf-8")
    found = collect(tmp_path / "cache")
    assert all("cannot be kept in" in item.problem for item in found.sources)


# --- the stored pool ------------------------------------------------------------------------------------------------------


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Makes the pool of small wheels; the returned function breaks the wheels."""
    monkeypatch.setattr(stored, "collect", partial(collect, sources=small_sources(tmp_path)))

    def break_wheels() -> None:
        for wheel in tmp_path.glob("*.whl"):
            wheel.write_bytes(b"broken")
        for name, value in OFFLINE.items():
            monkeypatch.setenv(name, value)

    return break_wheels


def test_a_pool_is_made_once_for_a_cache(small: Callable[[], None], tmp_path: Path) -> None:
    (tmp_path / "seed-pool-old.parquet").write_bytes(b"of another version")
    made = pool_for(tmp_path)
    [kept] = tmp_path.glob("seed-pool-*.parquet")
    assert kept.name != "seed-pool-old.parquet"
    small()
    again = pool_for(tmp_path)
    assert again.seeds.equals(made.seeds)
    assert [(item.source, item.collected, item.problem) for item in again.sources] == [
        (item.source, item.collected, "") for item in made.sources
    ]


@pytest.mark.parametrize("content", [b"", b"PAR1 cut"])
def test_a_damaged_or_foreign_stored_pool_is_made_again(small: Callable[[], None], tmp_path: Path, content: bytes) -> None:
    made = pool_for(tmp_path)
    [kept] = tmp_path.glob("seed-pool-*.parquet")
    kept.write_bytes(content)
    assert pool_for(tmp_path).seeds.equals(made.seeds)
    pl.DataFrame({"id": ["a"]}).write_parquet(kept)
    assert pool_for(tmp_path).seeds.equals(made.seeds)
    assert pl.read_parquet(kept).equals(made.seeds)


def test_a_pool_without_a_source_is_not_stored(small: Callable[[], None], tmp_path: Path) -> None:
    small()
    assert all(item.problem for item in pool_for(tmp_path).sources)
    assert list(tmp_path.glob("seed-pool-*.parquet")) == []
