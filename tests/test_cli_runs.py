"""Building and running through the command line: the same bytes twice, nothing repeated, nothing lost, private seeds kept."""

import hashlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from abstain_assets.rows import pair_rows, pairs_from
from resources.lake import Lake
from tests.builders_rollouts import KEY
from tests.command import MAIN, ROOT, abstain
from tests.servers.chat_completions_stub import ChatServer, Reply, error, message

SCENARIO = "conflicting_constraints"
KEY_VARIABLE = "STUB_KEY"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with one built scenario. Copy it before writing to it."""
    home = tmp_path_factory.mktemp("built")
    said = abstain("build", "--scenario", SCENARIO, "--json", home=home)
    assert said.code == 0, said.err
    assert set(said.document) == {"round", "pairs", "quarantined", "seconds"}
    return home


@pytest.fixture
def home(built: Path, tmp_path: Path) -> Path:
    return shutil.copytree(built, tmp_path / "home")


def files_of(home: Path) -> dict[str, str]:
    """Digests of all files of the lake."""
    lake = home / "lake"
    return {str(path.relative_to(lake)): hashlib.sha256(path.read_bytes()).hexdigest() for path in lake.rglob("*.parquet")}


def models(folder: Path, *, url: str, **fields: Any) -> dict[str, str]:
    """A folder with one model on a local endpoint, and the variables that make it known."""
    folder.mkdir(exist_ok=True)
    spec = {"name": "stub/model", "harness": "chat_completions", "provider": "stub", "model": "m", "base_url": url}
    prices = {"input_per_million": 1000.0, "output_per_million": 1000.0, "date": "2026-01-01"}
    text = yaml.safe_dump({**spec, "api_key_env": KEY_VARIABLE, "prices": prices, **fields})
    (folder / "stub.yaml").write_text(text, encoding="utf-8")
    return {"ABSTAIN_MODELS": str(folder), KEY_VARIABLE: KEY}


def test_equal_seeds_give_equal_bytes(built: Path, tmp_path: Path) -> None:
    """A second build elsewhere, and a second one in place."""
    assert abstain("build", "--scenario", SCENARIO, home=tmp_path).code == 0
    assert files_of(tmp_path) == files_of(built)
    assert abstain("build", "--scenario", SCENARIO, home=tmp_path).code == 0
    assert files_of(tmp_path) == files_of(built)


def test_scripted_runs_give_equal_bytes_outside_the_timing_table(built: Path, tmp_path: Path) -> None:
    found = []
    for name in ("one", "two"):
        home = shutil.copytree(built, tmp_path / name)
        said = abstain("run", "scripted/oracle", "scripted/always-act", "--scenario", SCENARIO, "--limit", "4", "--json", home=home)
        assert said.code == 0, said.err
        found.append({file: digest for file, digest in files_of(home).items() if not file.startswith("timings/")})
    assert found[0] == found[1]
    assert {file.split("/")[0] for file in found[0]} >= {"rollouts", "calls", "verdicts", "metrics", "leaderboard"}


def test_another_seed_is_another_round_beside_the_first(home: Path) -> None:
    before = files_of(home)
    said = abstain("build", "--seed", "12", "--scenario", SCENARIO, "--json", home=home)
    assert said.code == 0, said.err
    assert said.document["round"] == "seed-12"
    lake = Lake(home)
    assert {file: digest for file, digest in files_of(home).items() if "seed-12" not in file} == before
    fresh, old = lake.read("pairs", [f"{SCENARIO}@seed-12"]), lake.read("pairs", [SCENARIO])
    assert set(fresh["round"]) == {"seed-12"}
    assert set(fresh["act_instruction"]) - set(old["act_instruction"])
    ran = abstain("run", "scripted/oracle", "--round", "seed-12", "--scenario", "S3", "--limit", "2", "--json", home=home)
    assert ran.code == 0, ran.err
    assert abstain("leaderboard", "--round", "seed-12", "--json", home=home).document[0]["paired"] == 1
    assert abstain("leaderboard", "--json", home=home).document == []


def test_a_private_seed_is_found_nowhere(home: Path) -> None:
    seed = "918273645546372819"
    said = abstain("build", "--round", "r2", "--scenario", SCENARIO, "--json", home=home, variables={"ABSTAIN_SEED_R2": seed})
    assert said.code == 0, said.err
    run = ("run", "scripted/oracle", "--round", "r2", "--scenario", "S3", "--limit", "1")
    ran = abstain(*run, home=home, variables={"ABSTAIN_SEED_R2": seed})
    assert ran.code == 0, ran.err
    assert abstain("report", home=home).code == 0
    assert seed not in said.out + said.err + ran.out + ran.err
    holding = [path for path in home.rglob("*") if path.is_file() and seed.encode() in path.read_bytes()]
    assert holding == []
    assert Lake(home).read("pairs", [f"{SCENARIO}@r2"]).height > 0


def test_nothing_finished_is_run_again(home: Path) -> None:
    run = ("run", "scripted/oracle", "--scenario", SCENARIO, "--json")
    [first] = abstain(*run, "--limit", "2", home=home).document
    assert set(first) == {"model", "harness", "done", "reused", "errors", "usage", "cost_usd", "seconds"}
    assert (first["done"], first["reused"], first["errors"]) == (4, 0, {})
    [second] = abstain(*run, "--limit", "3", home=home).document
    assert (second["done"], second["reused"]) == (2, 4)
    before = Lake(home).read("rollouts").sort("fingerprint")
    [third] = abstain(*run, "--limit", "1", home=home).document
    assert (third["done"], third["reused"]) == (0, 2)
    assert Lake(home).read("rollouts").sort("fingerprint").equals(before)
    [epochs] = abstain(*run, "--limit", "1", "--epochs", "2", home=home).document
    assert (epochs["done"], epochs["reused"]) == (2, 2)
    [row] = abstain("leaderboard", "--json", home=home).document
    assert (row["epochs"], row["pairs"]) == (2, 3)


def test_chosen_pairs_and_unknown_ones(home: Path) -> None:
    names = Lake(home).read("pairs")["id"].to_list()[:2]
    said = abstain("run", "scripted/always-act", "--scenario", "S3", "--pairs", ",".join(names), "--json", home=home)
    assert said.document[0]["done"] == 4
    assert set(Lake(home).read("rollouts")["pair_id"]) == set(names)
    wrong = abstain("run", "scripted/always-act", "--scenario", "S3", "--pairs", "no/such/pair", home=home)
    assert wrong.code == 2
    assert "has no pair no/such/pair" in wrong.err


def test_judging_again_runs_no_agent(home: Path) -> None:
    assert abstain("run", "scripted/oracle", "--scenario", "S3", "--limit", "2", home=home).code == 0
    journal = next((home / "journals").glob("*.jsonl"))
    before = journal.read_bytes()
    said = abstain("judge", "run", "--json", home=home)
    assert said.code == 0
    assert said.document == {"judge": "rules", "judged": 4, "reused": 0, "unjudged": 0, "cost_usd": 0.0}
    assert journal.read_bytes() == before
    unknown = abstain("judge", "run", "--judge", "nobody", home=home)
    assert unknown.code == 2
    assert "there is no judge 'nobody'; choose one of" in unknown.err


def test_rollouts_of_a_changed_pair_wait_for_the_next_run(home: Path) -> None:
    """A pair is replaced behind the rollouts' back: they are neither judged nor counted until the model has run on it again."""
    run = ("run", "scripted/oracle", "--scenario", "S3", "--limit", "2", "--json")
    assert abstain(*run, home=home).code == 0
    lake = Lake(home)
    changed = lake.read("rollouts")["pair_id"][0]
    [pair] = [pair for pair in pairs_from(lake.read("pairs")) if pair.id == changed]
    others = [other for other in pairs_from(lake.read("pairs")) if other.id != changed]
    act = pair.act.model_copy(update={"instruction": f"{pair.act.instruction} Thank you."})
    lake.write("pairs", SCENARIO, pair_rows([*others, pair.model_copy(update={"act": act})]))
    said = abstain("judge", "run", "--json", home=home)
    assert said.code == 1
    assert "2 rollouts are older than their pairs" in said.err
    assert (said.document["judged"], said.document["unjudged"]) == (2, 2)
    assert abstain("leaderboard", "--json", home=home).document[0]["pairs"] == 1
    assert abstain("report", home=home).code == 0
    assert abstain(*run, home=home).document[0]["done"] == 2
    assert abstain("leaderboard", "--json", home=home).document[0]["pairs"] == 2


def test_a_killed_run_loses_nothing_and_repeats_nothing(home: Path, tmp_path: Path) -> None:
    """Every finished rollout cost one provider conversation; after a SIGKILL only what was under way is paid again."""

    def slow(_: dict[str, Any]) -> Reply:
        time.sleep(0.15)
        return message("I could not do that.")

    command = ["run", "stub/model", "--scenario", SCENARIO, "--limit", "8", "--concurrency", "2", "--json"]
    with ChatServer(slow, key=KEY) as server:
        variables = models(tmp_path / "models", url=server.url)
        environment = {**os.environ, **variables, "PYTHONPATH": str(ROOT)}
        whole = [sys.executable, "-c", MAIN, "--home", str(home), *command]
        process = subprocess.Popen(whole, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        journal = home / "journals" / f"stub~model__{SCENARIO}.jsonl"
        end = time.monotonic() + 90
        while time.monotonic() < end and (not journal.exists() or journal.read_bytes().count(b"\n") < 5):
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        finished = journal.read_bytes().count(b"\n")
        assert 5 <= finished < 16
        paid = len(server.received)
        said = abstain(*command, home=home, variables=variables)
        assert said.code == 0, said.err
        assert said.document[0]["reused"] == finished
        assert said.document[0]["done"] == 16 - finished
        assert len(server.received) - paid == 16 - finished
        rows = Lake(home).read("rollouts")
        assert rows.height == rows["fingerprint"].n_unique() == 16


def test_an_interrupt_keeps_what_is_finished(home: Path, tmp_path: Path) -> None:
    def slow(_: dict[str, Any]) -> Reply:
        time.sleep(0.2)
        return message("I could not do that.")

    with ChatServer(slow, key=KEY) as server:
        environment = {**os.environ, **models(tmp_path / "models", url=server.url), "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-c", MAIN, "--home", str(home), "run", "stub/model", "--scenario", "S3", "--concurrency", "2"]
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        end = time.monotonic() + 90
        while time.monotonic() < end and len(server.received) < 4:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 130, said
    assert "everything finished is kept, run the same command to go on" in said
    assert "Traceback" not in said
    assert Lake(home).read("rollouts").height >= 4


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("wrong key", "key"),
        ("no server", "stub/model"),
    ],
)
def test_an_endpoint_that_cannot_work_is_one_message(home: Path, tmp_path: Path, fault: str, words: str) -> None:
    """No row pretends to be a result, no key is printed, and the exit code says that it failed."""
    with ChatServer(lambda _: message("x"), key=KEY) as server:
        url = server.url if fault == "wrong key" else "http://127.0.0.1:9/v1"
        variables = {**models(tmp_path / "models", url=url), KEY_VARIABLE: "canary-of-a-wrong-key"}
        said = abstain("run", "stub/model", "--scenario", "S3", "--limit", "2", "--json", home=home, variables=variables)
    assert said.code == 1
    assert words in said.err
    assert "Traceback" not in said.err
    assert "canary-of-a-wrong-key" not in said.out + said.err
    assert said.document[0]["done"] == 0
    assert Lake(home).read("verdicts").is_empty()
    leaks = [path for path in home.rglob("*") if path.is_file() and b"canary-of-a-wrong-key" in path.read_bytes()]
    assert leaks == []


def test_a_missing_key_is_said_before_anything_runs(home: Path, tmp_path: Path) -> None:
    variables = models(tmp_path / "models", url="http://127.0.0.1:9/v1")
    del variables[KEY_VARIABLE]
    said = abstain("run", "stub/model", "--scenario", "S3", home=home, variables=variables)
    assert said.code == 2
    assert "stub/model needs a key: set STUB_KEY" in said.err
    assert not (home / "journals").exists()


def test_errored_runs_are_counted_and_run_again_only_when_asked(home: Path, tmp_path: Path) -> None:
    replies = iter([error(400, "content_filter")] * 2)

    def first_fails(_: dict[str, Any]) -> Reply:
        return next(replies, None) or message("I cannot do both.")

    with ChatServer(first_fails, key=KEY) as server:
        variables = models(tmp_path / "models", url=server.url)
        command = ("run", "stub/model", "--scenario", "S3", "--limit", "2", "--concurrency", "1", "--json")
        said = abstain(*command, home=home, variables=variables)
        assert said.code == 1, said.err
        [document] = said.document
        assert sum(document["errors"].values()) == 2
        assert document["cost_usd"] > 0
        assert abstain(*command, home=home, variables=variables).document[0]["done"] == 0
        again = abstain(*command, "--retry-errors", home=home, variables=variables)
        assert again.code == 0, again.err
        assert again.document[0]["done"] == 2
    [row] = abstain("leaderboard", "--json", home=home).document
    assert (row["pairs"], row["excluded"]) == (2, 0)


def test_a_budget_ends_a_run_without_spending_more(home: Path, tmp_path: Path) -> None:
    with ChatServer(lambda _: message("No.", usage=(900, 100)), key=KEY) as server:  # one dollar a request
        variables = models(tmp_path / "models", url=server.url)
        run = ("run", "stub/model", "--scenario", "S3", "--max-cost", "3", "--concurrency", "1", "--json")
        said = abstain(*run, home=home, variables=variables)
        assert said.code == 1
        assert "the budget is spent" in said.err
        assert len(server.received) == 3
        assert said.document[0]["done"] == 3
        assert said.document[0]["cost_usd"] == pytest.approx(3)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of a few megabytes."""
    folder = tmp_path / "small"
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", str(folder)], capture_output=True)
    if mounted.returncode:
        pytest.skip("this machine does not let us mount a small disk")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


@pytest.mark.parametrize("left", [1_800_000, 2_600_000], ids=["for the build", "for the gates"])
def test_a_full_disk_is_one_message_and_the_next_run_repairs(small_disk: Path, left: int) -> None:
    """The disk fills up while something else is on it; later or earlier, but nothing half-written is left."""
    filler = small_disk / "filler"
    filler.write_bytes(b"x" * left)
    said = abstain("build", "--scenario", SCENARIO, home=small_disk / "home")
    assert said.code == 1
    assert "abstain: " in said.err
    assert "Traceback" not in said.err
    lake = Lake(small_disk / "home")
    for table in ("pairs", "checks", "environments", "tools"):
        lake.read(table)
    filler.unlink()
    subprocess.run(["mount", "-o", "remount,size=60m", str(small_disk)], check=True)
    said = abstain("build", "--scenario", SCENARIO, home=small_disk / "home")
    assert said.code == 0, said.err
    assert abstain("verify", "pairs", home=small_disk / "home").code == 0
