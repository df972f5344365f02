"""The lake: typed, atomic, reproducible, and one clear message where something is wrong."""

import random
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from abstain_assets.errors import BadInput, LakeError
from abstain_assets.rebuilding import way_back
from abstain_assets.rows import frame
from abstain_assets.tables import TABLES
from resources.lake import Lake

ROOT = Path(__file__).parent.parent


def timing(number: int, text: str = "") -> dict[str, Any]:
    return {
        "fingerprint": f"{text}{number}",
        "started_at": "2026-03-02T09:00:00+00:00",
        "seconds": number / 2,
        "sandbox_seconds": 0.1,
        "model_seconds": 0.2,
    }


@pytest.fixture
def lake(tmp_path: Path) -> Lake:
    return Lake(tmp_path)


def test_what_does_not_exist_is_an_empty_typed_table(lake: Lake) -> None:
    for name, table in TABLES.items():
        assert lake.read(name).schema == table.schema
        assert lake.read(name, ["nothing"]).is_empty()
    answer = lake.query("SELECT count(*) AS n FROM pairs")
    assert answer.records() == [{"n": 0}]


def test_rows_come_back_typed_and_sorted(lake: Lake) -> None:
    lake.write("timings", "b", [timing(3)])
    lake.write("timings", "a", [timing(2), timing(1)])
    assert lake.partitions("timings") == ("a", "b")
    assert lake.read("timings", ["a"])["fingerprint"].to_list() == ["1", "2"]
    assert lake.read("timings")["seconds"].to_list() == [0.5, 1.0, 1.5]


def test_equal_rows_give_equal_bytes_in_any_order(tmp_path: Path) -> None:
    rows = [timing(number) for number in range(200)]
    first, second = Lake(tmp_path / "one"), Lake(tmp_path / "two")
    a = first.write("timings", "x", rows)
    b = second.write("timings", "x", random.Random(3).sample(rows, len(rows)))
    assert a == b
    assert first.path("timings", "x").read_bytes() == second.path("timings", "x").read_bytes()
    assert second.write("timings", "x", rows[1:]).digest != a.digest


def test_a_row_that_does_not_fit_the_schema_is_refused(lake: Lake) -> None:
    lake.write("timings", "x", [timing(1)])
    with pytest.raises((TypeError, pl.exceptions.PolarsError)):
        lake.write("timings", "x", [{**timing(2), "seconds": "soon"}])
    assert lake.read("timings").height == 1


@pytest.mark.parametrize("name", ["", "../x", "a/b", "a b", ".hidden", "x\n"])
def test_unsafe_partition_names_are_refused(lake: Lake, name: str) -> None:
    with pytest.raises(BadInput, match="cannot name a partition"):
        lake.write("timings", name, [])


def test_queries_see_every_write_and_cannot_change_anything(lake: Lake, tmp_path: Path) -> None:
    for number in range(3):
        lake.write("timings", str(number), [timing(number)])
        assert lake.query("SELECT count(*) FROM timings").rows == ((number + 1,),)
    outside = tmp_path / "outside.csv"
    writing = ("DELETE FROM timings", "CREATE TABLE t (a INT)", f"COPY timings TO '{outside}'")
    for sql in (*writing, "SELECT * FROM read_text('/etc/hostname')"):
        with pytest.raises(BadInput, match="the query failed"):
            lake.query(sql)
    assert not outside.exists()
    assert lake.query("SELECT count(*) FROM timings").rows == ((3,),)


def test_json_columns_can_be_queried(lake: Lake) -> None:
    row = dict.fromkeys(TABLES["calls"].schema) | {"fingerprint": "f", "index": 0, "args": '{"order_id":"W-1"}', "ok": True}
    lake.write("calls", "x", [row])
    assert lake.query("SELECT args->>'order_id' AS id, index FROM calls").records() == [{"id": "W-1", "index": 0}]


def test_an_open_reader_keeps_the_old_database(lake: Lake) -> None:
    import duckdb

    lake.write("timings", "x", [timing(1)])
    lake.refresh()
    with duckdb.connect(str(lake.database), read_only=True) as reader:
        lake.write("timings", "y", [timing(2)])
        lake.refresh()
        assert reader.execute("SELECT count(*) FROM timings").fetchall() == [(1,)]
    assert lake.query("SELECT count(*) FROM timings").rows == ((2,),)


@pytest.mark.parametrize("damage", ["other", "cut", "flipped"])
def test_a_damaged_database_is_built_again(lake: Lake, damage: str) -> None:
    lake.write("timings", "x", [timing(number) for number in range(20_000)])
    lake.refresh()
    whole = lake.database.read_bytes()
    flipped = bytearray(whole)
    for place in range(12_288, len(flipped), 4_096):  # behind the headers, which are looked at whenever it is opened
        flipped[place] ^= 1
    lake.database.write_bytes({"other": b"not a database", "cut": whole[: len(whole) // 2], "flipped": bytes(flipped)}[damage])
    assert lake.query("SELECT count(DISTINCT fingerprint), max(seconds) FROM timings").rows == ((20_000, 9_999.5),)


@pytest.mark.parametrize("content", [b"", b"PAR1", b"garbage" * 100])
def test_a_damaged_file_is_named_with_the_fix(lake: Lake, content: bytes) -> None:
    lake.write("timings", "x", [timing(number) for number in range(50)])
    path = lake.path("timings", "x")
    path.write_bytes(content)
    for act in (lambda: lake.read("timings"), lambda: lake.query("SELECT 1")):
        with pytest.raises(LakeError) as caught:
            act()
        assert str(path) in str(caught.value)
        assert "delete it; the stage rollouts writes it again" in str(caught.value)


def test_a_truncated_file_is_named(lake: Lake) -> None:
    lake.write("timings", "x", [timing(number) for number in range(50)])
    path = lake.path("timings", "x")
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(LakeError, match=r"x\.parquet is damaged"):
        lake.read("timings")


def test_every_flipped_bit_is_found(lake: Lake) -> None:
    lake.write("timings", "x", [timing(number) for number in range(50)])
    path = lake.path("timings", "x")
    content = path.read_bytes()
    chance = random.Random(7)
    for place in [*range(0, len(content), 29), *range(len(content) - 200, len(content))]:
        damaged = bytearray(content)
        damaged[place] ^= 1 << chance.randrange(8)
        path.write_bytes(damaged)
        with pytest.raises(LakeError, match=r"x\.parquet (is damaged|was written by another version)"):
            lake.read("timings")
    path.write_bytes(content)
    assert lake.read("timings").height == 50


@pytest.mark.parametrize(
    ("table", "partition", "command"),
    [
        ("tools", "calendar", "abstain build"),
        ("checks", "missing_tools@r2", None),
        ("pairs", "conflicting_constraints@r2", "abstain build --scenario conflicting_constraints --round r2"),
        ("calls", "a~b~~3b__conflicting_constraints", "abstain run a/b:3b --scenario conflicting_constraints"),
        ("verdicts", "a~b__conflicting_constraints@r2__x~y", "abstain judge run --judge x/y --model a/b --round r2"),
        ("metrics", "a~b__conflicting_constraints", "abstain judge run --model a/b"),
        ("leaderboard", "all", "abstain report"),
    ],
)
def test_the_way_back_to_a_partition_is_a_command(table: str, partition: str, command: str | None) -> None:
    assert f"`{command or 'abstain build'}`" in way_back(table, partition)


def test_a_file_of_another_version_is_named(lake: Lake) -> None:
    path = lake.path("timings", "x")
    path.parent.mkdir(parents=True)
    frame("timings", [timing(1)]).drop("seconds").write_parquet(path)
    with pytest.raises(LakeError, match="another version"):
        lake.query("SELECT * FROM timings")


WRITER = """
import sys
from pathlib import Path
from resources.lake import Lake
lake = Lake(Path(sys.argv[1]))
row = lambda n, i: {"fingerprint": f"{n}-{i}", "started_at": "", "seconds": float(n), "sandbox_seconds": 0.0, "model_seconds": 0.0}
print("ready", flush=True)
for n in range(100_000):
    lake.write("timings", sys.argv[2], [row(n, i) for i in range(2_000)])
    lake.refresh()
"""


def start_writer(home: Path, partition: str) -> "subprocess.Popen[str]":
    return start(WRITER, str(home), partition)


def start(code: str, *arguments: str) -> "subprocess.Popen[str]":
    process = subprocess.Popen([sys.executable, "-c", code, *arguments], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def test_sigkill_at_any_moment_leaves_whole_files(lake: Lake, tmp_path: Path) -> None:
    """Writers are killed again and again; every partition is then one complete generation, and the lake goes on working."""
    chance = random.Random(11)
    for _ in range(8):
        writer = start_writer(tmp_path, "x")
        time.sleep(0.05 + chance.random() * 0.4)
        writer.kill()
        writer.wait()
        rows = lake.read("timings")
        if not rows.is_empty():
            assert rows.height == 2_000
            assert rows["seconds"].n_unique() == 1
        assert lake.query("SELECT count(*) FROM timings").rows == ((rows.height,),)
    assert not rows.is_empty()
    assert lake.partitions("timings") == ("x",)


def test_readers_are_never_blocked_or_failed_by_writers(lake: Lake, tmp_path: Path) -> None:
    lake.write("timings", "a", [timing(1)])
    lake.refresh()
    writers = [start_writer(tmp_path, name) for name in ("b", "c")]
    slowest, counts, failures = 0.0, set(), []

    def read() -> None:
        nonlocal slowest
        import duckdb

        end = time.monotonic() + 4
        while time.monotonic() < end:
            started = time.monotonic()
            try:
                with duckdb.connect(str(lake.database), read_only=True) as reader:
                    counts.add(reader.execute("SELECT count(*) FROM timings").fetchall()[0][0])
            except duckdb.Error as error:
                failures.append(error)
            slowest = max(slowest, time.monotonic() - started)

    reader = threading.Thread(target=read)
    reader.start()
    reader.join()
    for writer in writers:
        assert writer.poll() is None, "a writer gave up"
        writer.kill()
        writer.wait()
    assert not failures
    assert counts <= {1, 2_001, 4_001}
    assert 4_001 in counts
    assert slowest < 3


REPLACER = """
import sys
from pathlib import Path
from resources.lake import Lake
lake = Lake(Path(sys.argv[1]))
row = lambda n, i: {"fingerprint": f"{n}-{i}", "started_at": "", "seconds": float(n), "sandbox_seconds": 0.0, "model_seconds": 0.0}
kept = [[row(n, i) for i in range(1_000 * n)] for n in (1, 2, 3)]
print("ready", flush=True)
while True:
    for rows in kept:
        lake.write("timings", "x", rows)
"""


def test_the_database_is_built_from_whole_files_while_they_are_replaced(lake: Lake, tmp_path: Path) -> None:
    """Generation n has 1000 n rows that all say n; whatever is built while they take turns holds one of them."""
    lake.write("timings", "x", [{**timing(1), "seconds": 1.0, "fingerprint": str(number)} for number in range(1_000)])
    writer = start(REPLACER, str(tmp_path))
    seen = set()
    try:
        for _ in range(16):
            lake.refresh()
            [(rows, different, value)] = lake.query("SELECT count(*), count(DISTINCT seconds), max(seconds) FROM timings").rows
            assert (rows, different) == (1_000 * value, 1)
            seen.add(value)
    finally:
        writer.kill()
        writer.wait()
    assert len(seen) > 1


FULL = """
import resource, sys
from pathlib import Path
from abstain_assets.errors import LakeError
from resources.lake import Lake
lake = Lake(Path(sys.argv[1]))
noise = lambda i: i * 7919 % 100_003
row = lambda i: {"fingerprint": str(noise(i)), "started_at": "", "seconds": i / 7, "sandbox_seconds": 0.0, "model_seconds": 0.0}
lake.write("timings", "x", [row(1)])
lake.refresh()
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
def both():
    lake.write("timings", "y", [row(2)])
    lake.refresh()

for act in (lambda: lake.write("timings", "x", map(row, range(20_000))), both):
    try:
        act()
    except LakeError as error:
        print(str(error).replace("\\n", " "))
"""


def test_no_space_leaves_everything_as_it_was(lake: Lake, tmp_path: Path) -> None:
    """A limit on file sizes stands in for a full disk: the kernel refuses the write in the same place."""
    done = subprocess.run([sys.executable, "-c", FULL, str(tmp_path)], cwd=ROOT, capture_output=True, text=True, check=True)
    partition, database = done.stdout.splitlines()
    assert "no space left to write" in partition
    assert "Nothing was changed" in partition
    assert "abstain.duckdb" in database
    assert lake.read("timings", ["x"]).height == 1
    assert lake.query("SELECT count(*) FROM timings").rows == ((2,),)
    leftovers = [path for path in tmp_path.rglob("*") if path.name.startswith(".abstain-")]
    assert leftovers == []


def test_what_killed_processes_left_is_swept(lake: Lake) -> None:
    import os

    lake.write("timings", "x", [timing(1)])
    old, new = (lake.root / ".tmp" / f".abstain-1-{name}" for name in ("old", "new"))
    for path in (old, new):
        path.write_bytes(b"half")
    os.utime(old, (0, 0))
    lake.refresh()
    assert not old.exists()
    assert new.exists()
