"""Processes that die at any moment and files that are not what was written: the next run repairs, or says exactly what to do."""

import re
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import pytest

from abstain_assets.rollouts.journal import read_journal
from abstain_assets.tables import TABLES
from resources.lake import Lake
from tests.command import Said, abstain, warm
from tests.homes import SCENARIO, digests
from tests.small_disk import SmallDisk, small_disk

BUILD = ("build", "--scenario", SCENARIO)
RUN = ("run", "scripted/oracle", "scripted/always-act", "--scenario", SCENARIO, "--limit", "2", "--epochs", "2")
REPORT = ("report",)
CELL = f"scripted~oracle__{SCENARIO}"
ROLLOUTS_PER_CELL = 8


@pytest.fixture(scope="module")
def finished(built_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home in which nothing was disturbed. Copy it before writing to it."""
    home = shutil.copytree(built_home, tmp_path_factory.mktemp("finished") / "home")
    for command in (RUN, REPORT):
        said = abstain(*command, home=home)
        assert said.code == 0, said.err
    return home


@pytest.fixture
def home(finished: Path, tmp_path: Path) -> Path:
    return shutil.copytree(finished, tmp_path / "home")


def results(home: Path) -> dict[str, str]:
    """Everything that must not depend on what happened on the way: all tables but the timings, and every page of the report."""
    return {name: digest for name, digest in digests(home, "lake", "report").items() if not name.startswith("lake/timings/")}


def one_message(said: Said) -> str:
    """What a command that failed says to the person."""
    assert said.code == 1, said
    assert "Traceback" not in said.err
    assert said.out == ""
    [message] = [line for line in said.err.splitlines() if line.startswith("abstain: ")]
    return message


def advice(message: str) -> str:
    """The command that a message tells to run."""
    return message.split("`")[1]


# --- SIGKILL at the boundaries of stages and inside them ------------------------------------------------------------------

PAGE = r"^open \.report-new/pairs/"
INSTANCE = r"^sqlite dagster/history/"
LINE = rf"^write journals/{CELL}\.jsonl$"

# Where a command dies: before the n-th deed (see `sudden_death`) that looks like this; a range draws n from the seed. Each list is
# the fate of one home: every command dies once more than the one before it got to, and the last one is left alone.
Death = tuple[str, int | range]
DEATHS: dict[str, tuple[tuple[str, ...], list[Death]]] = {
    "build": (
        BUILD,
        [
            (r"^rename lake/capabilities/", 1),
            (r"^mkdir lake/tools$", 1),
            (r"^rename lake/checks/retail_orders", 1),
            (r"^rename lake/environments/", 1),
            (r"^rename lake/seeds/", 1),
            (r"^rename lake/seed_sources/", 1),
            (r"^mkdir lake/seed_samples$", 1),
            (r"^mkdir lake/quarantine$", 1),
            (r"^rename lake/pairs/", 1),
            (r"^sync lake/pairs$", 1),
        ],
    ),
    "rollouts": (
        RUN,
        [
            (r"^open journals/.*jsonl$", 1),
            (LINE, range(2, 5)),
            (r"^sync journals/.*jsonl$", range(2, 4)),
            (r"^rename lake/(timings|calls|rollouts)/", range(1, 7)),
            (r"^rename lake/rollouts/", 2),
        ],
    ),
    "verdicts, metrics, leaderboard, database": (
        RUN,
        [
            (r"^mkdir lake/verdicts$", 1),
            (r"^rename lake/verdicts/", range(1, 3)),
            (r"^mkdir lake/metrics$", 1),
            (r"^rename lake/metrics/", range(1, 3)),
            (r"^sync lake/metrics$", 2),
            (r"^rename lake/leaderboard/", 1),
            (r"^sync \.abstain-", 1),
            (r"^rename abstain\.duckdb$", 1),
        ],
    ),
    "report": (REPORT, [(PAGE, 1), (PAGE, range(2, 20)), (r"^rename \.report-old$", 1), (r"^rename report$", 1)]),
    "instance": (RUN, [(INSTANCE, range(1, 40)), (INSTANCE, range(40, 90)), (INSTANCE, range(90, 160))]),
}


@pytest.mark.parametrize("stage", DEATHS)
def test_sigkill_anywhere_in_a_stage_changes_no_result(stage: str, finished: Path, built_home: Path, tmp_path: Path) -> None:
    command, deaths = DEATHS[stage]
    home = shutil.copytree(finished if command == REPORT else built_home, tmp_path / "home")
    if command == BUILD:
        undo_build(home)
    chance = Random(f"deaths of {stage}")
    known: set[str] = set()
    for pattern, nth in deaths:
        at = chance.choice(nth) if isinstance(nth, range) else nth
        fate = {"home": str(home), "pattern": pattern, "nth": at, "torn": pattern == LINE}
        died = warm().start(*command, home=home, before=("tests.sudden_death:arm", fate)).wait()
        assert died.code == -signal.SIGKILL, f"{command[0]} did not die before deed {at} of {pattern}: {died}"
        journals = {name for path in (home / "journals").glob("*.jsonl") for name in read_journal(path).rollouts}
        assert known <= journals, "a finished rollout was lost"
        known = journals
    said = abstain(*command, home=home)
    assert said.code == 0, said.err
    assert results(home) == {name: digest for name, digest in results(finished).items() if made_by(command, name)}
    rows = Lake(home).read("rollouts").height
    assert Lake(home).query("SELECT count(*) FROM rollouts").rows == ((rows,),)
    assert rows == (0 if command == BUILD else 2 * ROLLOUTS_PER_CELL)


def made_by(command: tuple[str, ...], name: str) -> bool:
    """Whether a result is there after a command, which comes after those before it."""
    table = name.split("/")[1]
    if command == BUILD:
        return name.startswith("lake/") and not TABLES[table].stage.startswith(("rollouts", "verdicts", "metrics"))
    return command == REPORT or name.startswith("lake/")


def undo_build(home: Path) -> None:
    """Take the pairs away, and so much of what they stand on that building them runs every stage before them, if not every gate."""
    for table in ("capabilities", "seeds", "seed_sources", "seed_samples"):
        shutil.rmtree(home / "lake" / table)
    for table in ("pairs", "quarantine", "checks"):
        Lake(home).path(table, SCENARIO).unlink()
    for table in ("environments", "tools", "checks"):
        Lake(home).path(table, "retail_orders").unlink()


# --- files that are not what was written ----------------------------------------------------------------------------------


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def empty(path: Path) -> None:
    path.write_bytes(b"")


def overwrite(path: Path) -> None:
    path.write_bytes(b"something else entirely\n" * 200)


def flip(path: Path) -> None:
    """Flip one bit in the middle of a page."""
    content = bytearray(path.read_bytes())
    content[len(content) // 3] ^= 16
    path.write_bytes(content)


HARMS: list[Callable[[Path], None]] = [cut, empty, overwrite, flip]

# Damaged partitions of a stage, the command that the message must name, and the one to run in its place: a whole round takes
# long, and a run is to be repeated with the options it had.
DAMAGES: dict[str, tuple[list[str], str, tuple[str, ...] | None]] = {
    "environments and seeds": (
        ["capabilities/all", "environments/calendar", "tools/calendar", "checks/calendar", "seeds/all", "seed_sources/all"],
        "abstain build",
        BUILD,
    ),
    "pairs": (
        [f"{table}/{SCENARIO}" for table in ("seed_samples", "pairs", "quarantine", "checks")],
        f"abstain build --scenario {SCENARIO}",
        BUILD,
    ),
    "rollouts": (
        [f"{table}/{CELL}" for table in ("rollouts", "calls", "timings")],
        f"abstain run scripted/oracle --scenario {SCENARIO}",
        RUN,
    ),
    "verdicts": ([f"verdicts/{CELL}__rules"], "abstain judge run --judge rules --model scripted/oracle", None),
    "metrics": ([f"metrics/{CELL}"], "abstain judge run --model scripted/oracle", None),
    "leaderboard": (["leaderboard/all"], "abstain report", None),
}


@pytest.mark.parametrize("stage", DAMAGES)
def test_a_damaged_table_is_named_with_the_command_that_writes_it_again(stage: str, home: Path, finished: Path) -> None:
    names, command, shorter = DAMAGES[stage]
    files = [home / "lake" / f"{name}.parquet" for name in names]
    for file, harm in zip(files, Random(stage).sample(2 * HARMS, len(files)), strict=True):
        harm(file)
    message = one_message(abstain("query", "SELECT 1", home=home))
    assert any(str(file) in message for file in files)
    assert advice(message) == command
    said = abstain(*(shorter or command.split()[1:]), home=home)
    assert said.code == 0, said.err
    assert digests(home, "lake", "report") == digests(finished, "lake", "report")
    assert abstain("query", "SELECT count(*) FROM rollouts", home=home).code == 0


def test_one_run_repairs_everything_behind_the_pairs(home: Path, finished: Path) -> None:
    for table in ("rollouts", "calls", "timings", "verdicts", "metrics", "leaderboard"):
        for file, harm in zip(sorted((home / "lake" / table).iterdir()), Random(table).sample(HARMS, 4), strict=False):
            harm(file)
    (home / "abstain.duckdb").unlink()
    said = abstain(*RUN, "--json", home=home)
    assert said.code == 0, said.err
    assert [document["done"] for document in said.document] == [0, 0]
    assert digests(home, "lake") == digests(finished, "lake")


def test_models_are_not_run_on_damaged_pairs(home: Path) -> None:
    flip(home / "lake" / "pairs" / f"{SCENARIO}.parquet")
    journals = digests(home, "journals")
    message = one_message(abstain("run", "scripted/silent-stop", "--scenario", SCENARIO, home=home))
    assert "some of its bytes are not those that were written" in message
    assert advice(message) == f"abstain build --scenario {SCENARIO}"
    assert digests(home, "journals") == journals


def test_a_journal_cut_off_within_a_character_costs_its_last_rollout_only(home: Path, finished: Path) -> None:
    path = home / "journals" / f"{CELL}.jsonl"
    content = path.read_bytes()
    within = max(index for index, byte in enumerate(content) if 0x80 <= byte < 0xC0)
    last = content[:within].count(b"\n")
    path.write_bytes(content[:within])
    said = abstain(*RUN, "--json", home=home)
    assert said.code == 0, said.err
    assert [(item["done"], item["reused"]) for item in said.document] == [(ROLLOUTS_PER_CELL - last, last), (0, ROLLOUTS_PER_CELL)]
    assert results(home) == results(finished)


def test_garbage_in_a_journal_is_taken_out_as_the_message_says(home: Path, finished: Path) -> None:
    path = home / "journals" / f"{CELL}.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    lines[2] = b"\xff\0garbage\n" + lines[2][40:]
    path.write_bytes(b"".join(lines))
    before = results(home)
    message = one_message(abstain(*RUN, home=home))
    assert f"{path}: 2 lines from line 3 on cannot be read" in message
    assert results(home) == before
    subprocess.run(advice(message), shell=True, check=True)  # noqa: S602 - as a person would
    said = abstain(*RUN, "--json", home=home)
    assert said.code == 0, said.err
    assert [item["done"] for item in said.document] == [1, 0]
    assert results(home) == results(finished)


@pytest.mark.parametrize("harm", [cut, flip])
def test_a_damaged_database_is_built_again(harm: Callable[[Path], None], home: Path) -> None:
    database = Lake(home).database
    Lake(home).refresh()
    harm(database)
    said = abstain("query", "SELECT * FROM pairs", "--json", home=home)
    assert said.code == 0, said.err
    assert len(said.document) == Lake(home).read("pairs").height


@pytest.mark.parametrize(
    ("file", "harm"),
    [
        ("history/runs.db", cut),
        ("history/runs/index.db", overwrite),
        ("history/runs/index.db", empty),
        ("schedules/schedules.db", cut),
    ],
)
def test_a_damaged_instance_is_moved_away_as_told(file: str, harm: Callable[[Path], None], home: Path, finished: Path) -> None:
    harm(home / "dagster" / file)
    message = one_message(abstain("judge", "run", home=home))
    assert f"the Dagster instance in {home / 'dagster'} cannot be used" in message
    subprocess.run(advice(message), shell=True, check=True)  # noqa: S602 - as a person would
    said = abstain("judge", "run", home=home)
    assert said.code == 0, said.err
    assert results(home) == results(finished)


# --- places that cannot be written ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def disk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SmallDisk]:
    with small_disk(tmp_path_factory.mktemp("disk"), megabytes=40) as mounted:
        yield mounted


@pytest.fixture
def inside(disk: SmallDisk, finished: Path) -> Iterator[Path]:
    """A home on the small disk, seen from here; for commands it is `disk.folder / "home"`."""
    home = shutil.copytree(finished, disk.outside / "home")
    yield home
    shutil.rmtree(home)


def test_what_cannot_be_written_is_one_message_and_changes_nothing(disk: SmallDisk, inside: Path, finished: Path) -> None:
    home = disk.folder / "home"
    assert disk.warm.start("query", "SELECT count(*) FROM pairs", home=home).wait().code == 0
    before = digests(inside, "lake", "journals", "dagster", "report")
    disk.remount("ro")
    try:
        for command in (BUILD, RUN, REPORT):
            message = one_message(disk.warm.start(*command, home=home).wait())
            assert str(home) in message
            assert "--home" in message
        looked = disk.warm.start("query", "SELECT count(*) FROM pairs", home=home).wait()
        assert looked.code == 0, looked.err
        assert digests(inside, "lake", "journals", "dagster", "report") == before
    finally:
        disk.remount("rw")
    said = disk.warm.start(*RUN, home=home).wait()
    assert said.code == 0, said.err
    assert results(inside) == results(finished)


@pytest.mark.parametrize(
    ("command", "left"),
    [(BUILD, 600_000), (RUN, 0), (RUN, 40_000), (RUN, 600_000), (REPORT, 100_000)],
    ids=["build", "run at once", "run early", "run late", "report"],
)
def test_a_full_disk_is_one_message_and_the_next_run_repairs(
    command: tuple[str, ...], left: int, disk: SmallDisk, inside: Path, finished: Path
) -> None:
    """Something else takes all the room but so many bytes."""
    home = disk.folder / "home"
    if command == BUILD:
        Lake(inside).path("environments", "calendar").unlink()
    elif command == RUN:
        for folder in ("journals", *(f"lake/{table}" for table in ("rollouts", "calls", "verdicts", "metrics", "leaderboard"))):
            shutil.rmtree(inside / folder)
    disk.fill(left)
    message = one_message(disk.warm.start(*command, home=home).wait())
    assert re.search("make room|free some space|No space left", message), message
    for path in (inside / "lake").rglob("*.parquet"):
        Lake(inside).read(path.parent.name, [path.stem])
    assert not list(inside.rglob(".abstain-*"))
    disk.free()
    said = disk.warm.start(*command, home=home).wait()
    assert said.code == 0, said.err
    assert results(inside) == results(finished)
