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

from abstain_assets.rollouts.journal import read_journal
from resources.lake import Lake
from resources.models import slug
from tests.builders_rollouts import KEY
from tests.command import ROOT, Said, abstain, warm
from tests.homes import SCENARIO, digests, models
from tests.servers.chat_completions_stub import ChatServer, Reply, message

# Four commands, each for five models of its own.
TEAMS = {f"team {team}": tuple(f"stub/model-{team}{number}" for number in range(5)) for team in "abcd"}
NAMES = tuple(name for team in TEAMS.values() for name in team)
PAIRS, EPOCHS, CONCURRENCY, KILLS = 7, 2, 4, 2
PLANNED = 2 * PAIRS * EPOCHS

pytestmark = pytest.mark.timeout(900)


@dataclass
class Life:
    """One process of a team: what the server and the journals say of it."""

    finished: int
    requests: int
    killed: bool


@dataclass
class Writer:
    """What became of a team: its processes one after the other, and what the last one said."""

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
def battle(built_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Battle:
    folder = tmp_path_factory.mktemp("battle")
    home = shutil.copytree(built_home, folder / "home")
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
        writers = {team: Writer() for team in TEAMS}
        fights = [
            threading.Thread(target=_fight, args=(team, writer, home, variables, requests, folder / "writes", outputs))
            for team, writer in writers.items()
        ]
        for fight in fights:
            fight.start()
        for fight in fights:
            fight.join()
    seen = [_stop(reader) for reader in readers]
    writes = (folder / "writes").read_text(encoding="utf-8").splitlines()
    return Battle(home, variables, writers, requests, seen, [line for line in writes if line.startswith("rename lake/")], outputs)


def _fight(
    team: str, writer: Writer, home: Path, variables: dict[str, str], requests: Counter[str], log: Path, outputs: list[str]
) -> None:
    """Run a team's models to their end, first one epoch and then all, and kill the process now and then on the way."""
    chance = Random(team)
    watched = ("tests.sudden_death:arm", {"home": str(home), "log": str(log)})

    def asked() -> int:
        return sum(requests[name] for name in TEAMS[team])

    for epochs in (1, EPOCHS):
        kills = KILLS
        while True:
            finished, before = _finished(home, team), asked()
            options = ("--scenario", SCENARIO, "--limit", PAIRS, "--epochs", epochs, "--concurrency", CONCURRENCY, "--json")
            running = warm().start("run", *TEAMS[team], *options, home=home, variables=variables, before=watched)
            if kills:
                wanted, end = before + chance.randrange(1, 24), time.monotonic() + 300
                while asked() < wanted and running.alive() and time.monotonic() < end:
                    time.sleep(0.02)
                time.sleep(chance.uniform(0, 0.4))
                running.send(signal.SIGKILL)
                kills -= 1
            said = running.wait(600)
            outputs.append(said.out + said.err)
            killed = said.code == -signal.SIGKILL
            writer.lives.append(Life(_finished(home, team) - finished, asked() - before, killed))
            writer.said = said
            if not killed:
                break


def _finished(home: Path, team: str) -> int:
    """Rollouts in the journals of a team."""
    return sum(len(read_journal(_journal(home, name)).rollouts) for name in TEAMS[team])


def _journal(home: Path, name: str) -> Path:
    return home / "journals" / f"{_cell(name)}.jsonl"


def _cell(name: str) -> str:
    return f"{slug(name)}__{SCENARIO}"


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
    lives = [life for writer in battle.writers.values() for life in writer.lives]
    assert len(NAMES) * PLANNED >= 500
    assert len(battle.writes) >= 200
    assert sum(life.killed for life in lives) >= 10
    assert sum(life.killed and life.finished > 0 for life in lives) >= 8


def test_every_command_ends_well(battle: Battle) -> None:
    for team, writer in battle.writers.items():
        assert writer.said is not None
        assert writer.said.code == 0, writer.said.err
        ended = [(item["model"], item["done"] + item["reused"], item["errors"]) for item in writer.said.document]
        assert ended == [(name, PLANNED, {}) for name in TEAMS[team]]


def test_no_row_is_lost(battle: Battle) -> None:
    """Tables hold exactly what the journals do, and every rollout was judged."""
    lake = Lake(battle.home)
    for name in NAMES:
        finished = set(read_journal(_journal(battle.home, name)).rollouts)
        assert len(finished) == PLANNED
        for table in ("rollouts", "timings"):
            assert set(lake.read(table, [_cell(name)])["fingerprint"]) == finished
        assert sorted(lake.read("verdicts", [f"{_cell(name)}__rules"])["fingerprint"]) == sorted(finished)
    ranked = "SELECT model, count(*), min(epochs) FROM rollouts JOIN leaderboard USING (model) GROUP BY ALL ORDER BY ALL"
    assert lake.query(ranked).rows == tuple((name, PLANNED, EPOCHS) for name in sorted(NAMES))


def test_what_is_in_the_tables_follows_from_the_rollouts(battle: Battle) -> None:
    """Judging and ranking everything again, undisturbed, changes no byte."""
    before = digests(battle.home, "lake")
    said = abstain("judge", "run", home=battle.home, variables=battle.variables)
    assert said.code == 0, said.err
    assert digests(battle.home, "lake") == before


def test_nothing_finished_is_paid_twice(battle: Battle) -> None:
    """Each process asks for what it finishes, and a killed one for at most as much more as was in flight."""
    for writer in battle.writers.values():
        assert sum(life.finished for life in writer.lives) == len(writer.said.document if writer.said else ()) * PLANNED
        for life in writer.lives:
            assert life.finished <= life.requests <= life.finished + (CONCURRENCY if life.killed else 0)
    kills = sum(life.killed for writer in battle.writers.values() for life in writer.lives)
    assert len(NAMES) * PLANNED <= battle.requests.total() <= len(NAMES) * PLANNED + kills * CONCURRENCY


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
