"""Four commands at once on one home, killed at random moments and started again, while others read: nothing is lost or paid twice.

Every rollout is one request to the stub server, so requests are rollouts paid for.
"""

import json
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import pytest

from abstain_assets.partitions import Cell
from abstain_assets.rollouts.journal import read_journal
from abstain_assets.rounds import scenarios_of
from resources.lake import Lake
from resources.models import slug
from tests.builders_rollouts import KEY
from tests.command import ROOT, Said, abstain, warm
from tests.homes import digests, models
from tests.servers.chat_completions_stub import ChatServer, Reply, message

NAMES = tuple(f"stub/model-{number}" for number in range(4))
PAIRS, EPOCHS, CONCURRENCY, KILLS = 32, 2, 4, 2
PLANNED = 2 * PAIRS * EPOCHS


@dataclass
class Life:
    """One process of a model: what the server and the journals say of it."""

    finished: int
    requests: int
    killed: bool


@dataclass
class Writer:
    """What became of a model: its processes one after the other, and what the last one said."""

    lives: list[Life] = field(default_factory=list)
    said: Said | None = None


@dataclass(frozen=True)
class Battle:
    """Everything that is left to look at afterwards."""

    home: Path
    variables: dict[str, str]
    writers: dict[str, Writer]
    requests: Counter[str]
    readers: list[dict[str, Any]]
    writes: list[str]
    outputs: list[str]


@pytest.fixture(scope="module")
def battle(demo_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Battle:
    folder = tmp_path_factory.mktemp("battle")
    home = shutil.copytree(demo_home, folder / "home")
    Lake(home).refresh()
    requests: Counter[str] = Counter()
    lock = threading.Lock()

    def answer(body: dict[str, Any]) -> Reply:
        with lock:
            requests[f"stub/{body['model']}"] += 1
        return message("I could not do that.")

    readers = [_reader(home, how) for how in ("plain", "lake")]
    outputs: list[str] = []
    with ChatServer(answer, key=KEY) as server:
        variables = models(folder / "models", *NAMES, url=server.url)
        writers = {name: Writer() for name in NAMES}
        fights = [
            threading.Thread(target=_fight, args=(name, writer, home, variables, requests, folder / "writes", outputs))
            for name, writer in writers.items()
        ]
        for fight in fights:
            fight.start()
        for fight in fights:
            fight.join()
    seen = [_stop(reader) for reader in readers]
    writes = (folder / "writes").read_text(encoding="utf-8").splitlines()
    return Battle(home, variables, writers, requests, seen, [line for line in writes if line.startswith("rename lake/")], outputs)


def _fight(
    name: str, writer: Writer, home: Path, variables: dict[str, str], requests: Counter[str], log: Path, outputs: list[str]
) -> None:
    """Run a model to its end, first one epoch and then both, and kill it now and then on the way."""
    chance = Random(name)
    watched = ("tests.sudden_death:arm", {"home": str(home), "log": str(log)})
    for epochs in (1, EPOCHS):
        kills = KILLS
        while True:
            finished, asked = _finished(home, name), requests[name]
            arguments = ("run", name, "--limit", PAIRS, "--epochs", epochs, "--concurrency", CONCURRENCY, "--json")
            running = warm().start(*arguments, home=home, variables=variables, before=watched)
            if kills:
                wanted, end = asked + chance.randrange(1, 24), time.monotonic() + 120
                while requests[name] < wanted and running.alive() and time.monotonic() < end:
                    time.sleep(0.02)
                time.sleep(chance.uniform(0, 0.4))
                running.send(signal.SIGKILL)
                kills -= 1
            said = running.wait()
            outputs.append(said.out + said.err)
            killed = said.code == -signal.SIGKILL
            writer.lives.append(Life(_finished(home, name) - finished, requests[name] - asked, killed))
            writer.said = said
            if not killed:
                break


def _finished(home: Path, name: str) -> int:
    """Rollouts in a model's journals."""
    return sum(len(read_journal(path).rollouts) for path in (home / "journals").glob(f"{slug(name)}__*.jsonl"))


def _reader(home: Path, how: str) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "tests.lake_reader", str(home), how]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def _stop(reader: "subprocess.Popen[str]") -> dict[str, Any]:
    reader.send_signal(signal.SIGTERM)
    out, err = reader.communicate(timeout=60)
    assert reader.returncode == 0, err
    seen: dict[str, Any] = json.loads(out)
    return seen


def test_it_was_a_fight(battle: Battle) -> None:
    """At least 500 rollouts, 200 partition writes and ten processes killed while they worked."""
    assert len(NAMES) * PLANNED >= 500
    assert len(battle.writes) >= 200
    assert sum(life.killed for writer in battle.writers.values() for life in writer.lives) >= 10
    assert sum(life.killed and life.finished > 0 for writer in battle.writers.values() for life in writer.lives) >= 5


def test_every_command_ends_well(battle: Battle) -> None:
    for name, writer in battle.writers.items():
        assert writer.said is not None
        assert writer.said.code == 0, writer.said.err
        [document] = writer.said.document
        assert (document["model"], document["done"] + document["reused"], document["errors"]) == (name, PLANNED, {})


def test_no_row_is_lost(battle: Battle) -> None:
    """Tables hold exactly what the journals do, and every rollout was judged."""
    lake = Lake(battle.home)
    for name in NAMES:
        files = [Cell(slug(name), where).file for where in scenarios_of("v1")]
        finished = {key for file in files for key in read_journal(battle.home / "journals" / f"{file}.jsonl").rollouts}
        assert len(finished) == PLANNED
        for table in ("rollouts", "timings"):
            assert set(lake.read(table, files)["fingerprint"]) == finished
        assert sorted(lake.read("verdicts", [f"{file}__rules" for file in files])["fingerprint"]) == sorted(finished)
        ranked = f"SELECT count(*), min(epochs) FROM rollouts JOIN leaderboard USING (model) WHERE model = '{name}'"
        assert lake.query(ranked).rows == ((PLANNED, EPOCHS),)


def test_what_is_in_the_tables_follows_from_the_rollouts(battle: Battle) -> None:
    """Judging and ranking again, undisturbed, changes no byte."""
    before = digests(battle.home, "lake")
    said = abstain("judge", "run", "--model", NAMES[0], home=battle.home, variables=battle.variables)
    assert said.code == 0, said.err
    assert digests(battle.home, "lake") == before


def test_nothing_finished_is_paid_twice(battle: Battle) -> None:
    """Each process asks for what it finishes, and a killed one for at most as much more as was in flight."""
    for name, writer in battle.writers.items():
        assert sum(life.finished for life in writer.lives) == PLANNED
        for life in writer.lives:
            assert life.finished <= life.requests <= life.finished + (CONCURRENCY if life.killed else 0)
        kills = sum(life.killed for life in writer.lives)
        assert PLANNED <= battle.requests[name] <= PLANNED + kills * CONCURRENCY


def test_no_reader_ever_failed(battle: Battle) -> None:
    for seen in battle.readers:
        assert seen["failures"] == []
        assert seen["queries"] >= 20
    plain, lake = battle.readers
    assert lake["most"] >= len(NAMES) * PLANNED
    assert plain["most"] > 0


def test_nobody_met_a_lock(battle: Battle) -> None:
    said = "\n".join(battle.outputs).lower()
    for words in ("lock", "traceback", "another process"):
        assert words not in said


def test_no_process_is_left(battle: Battle) -> None:
    left = [path for path in Path("/proc").glob("[0-9]*/cmdline") if str(battle.home) in _read(path)]
    assert left == []


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
