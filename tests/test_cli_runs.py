"""Building and running through the command line: the same bytes twice, nothing repeated, nothing lost, private seeds kept."""

import shutil
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from abstain_assets.rows import pair_rows, pairs_from
from resources.lake import Lake
from tests.builders_rollouts import KEY
from tests.command import abstain, warm
from tests.homes import KEY_VARIABLE, SCENARIO, digests, models
from tests.servers.chat_completions_stub import ChatServer, Reply, error, message
from tests.warm import Running, Said

FAILING_RUN = ("run", "stub/model", "--scenario", "S3", "--limit", "2", "--json")
WRONG_KEY = "canary-of-a-wrong-key"


@pytest.fixture
def home(built_home: Path, tmp_path: Path) -> Path:
    return shutil.copytree(built_home, tmp_path / "home")


def test_equal_seeds_give_equal_bytes(built_home: Path, demo_home: Path, home: Path) -> None:
    """Built elsewhere by another process, and a second time in place."""
    built = digests(built_home, "lake")
    elsewhere = digests(demo_home, "lake")
    assert built == {name: elsewhere[name] for name in built}
    assert {name.split("/")[1] for name in built} >= {"environments", "tools", "checks", "pairs", "quarantine"}
    Lake(home).path("environments", "retail_orders").unlink()
    assert abstain("build", "--scenario", SCENARIO, home=home).code == 0
    assert digests(home, "lake") == built


def test_scripted_runs_give_equal_bytes_outside_the_timing_table(built_home: Path, tmp_path: Path) -> None:
    found = []
    for name in ("one", "two"):
        home = shutil.copytree(built_home, tmp_path / name)
        said = abstain("run", "scripted/oracle", "scripted/always-act", "--scenario", SCENARIO, "--limit", "4", "--json", home=home)
        assert said.code == 0, said.err
        found.append({file: digest for file, digest in digests(home, "lake").items() if not file.startswith("lake/timings/")})
    assert found[0] == found[1]
    assert {file.split("/")[1] for file in found[0]} >= {"rollouts", "calls", "verdicts", "metrics", "leaderboard"}


def test_another_seed_is_another_round_beside_the_first(home: Path) -> None:
    before = digests(home, "lake")
    said = abstain("build", "--seed", "12", "--scenario", SCENARIO, "--json", home=home)
    assert said.code == 0, said.err
    assert said.document["round"] == "seed-12"
    lake = Lake(home)
    assert {file: digest for file, digest in digests(home, "lake").items() if "seed-12" not in file} == before
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


def test_an_interrupt_keeps_what_is_finished(home: Path, tmp_path: Path) -> None:
    def slow(_: dict[str, Any]) -> Reply:
        time.sleep(0.2)
        return message("I could not do that.")

    with ChatServer(slow, key=KEY) as server:
        command = ("run", "stub/model", "--scenario", "S3", "--concurrency", "2")
        running = warm().start(*command, home=home, variables=models(tmp_path / "models", url=server.url))
        end = time.monotonic() + 90
        while time.monotonic() < end and len(server.received) < 4:
            time.sleep(0.02)
        running.send(signal.SIGINT)
        said = running.wait(60)
    assert said.code == 130, said.err
    assert "everything finished is kept, run the same command to go on" in said.err
    assert "Traceback" not in said.err
    assert Lake(home).read("rollouts").height >= 4


@pytest.fixture(scope="module", autouse=True)
def unreachable(built_home: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Running]:
    """A run on an endpoint where nothing listens. It waits for it half a minute, so it is started before the other tests."""
    folder = tmp_path_factory.mktemp("unreachable")
    home = shutil.copytree(built_home, folder / "home")
    variables = {**models(folder / "models", url="http://127.0.0.1:9/v1"), KEY_VARIABLE: WRONG_KEY}
    return home, warm().start(*FAILING_RUN, home=home, variables=variables)


def test_a_wrong_key_is_one_message(home: Path, tmp_path: Path) -> None:
    with ChatServer(lambda _: message("x"), key=KEY) as server:
        variables = {**models(tmp_path / "models", url=server.url), KEY_VARIABLE: WRONG_KEY}
        check_failure(abstain(*FAILING_RUN, home=home, variables=variables), home, "key")


def check_failure(said: Said, home: Path, words: str) -> None:
    """No row pretends to be a result, no key is printed, and the exit code says that it failed."""
    assert said.code == 1
    assert words in said.err
    assert "Traceback" not in said.err
    assert WRONG_KEY not in said.out + said.err
    assert said.document[0]["done"] == 0
    assert Lake(home).read("verdicts").is_empty()
    leaks = [path for path in home.rglob("*") if path.is_file() and WRONG_KEY.encode() in path.read_bytes()]
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


def test_an_endpoint_where_nothing_listens_is_one_message(unreachable: tuple[Path, Running]) -> None:
    home, running = unreachable
    check_failure(running.wait(120), home, "stub/model")
