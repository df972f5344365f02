"""`abstain demo` and the commands that look at what it left: output as agreed, and the numbers that theory says."""

import json
from pathlib import Path
from typing import Any

import pytest

from abstain_assets.taxonomy import Scenario
from environments.runtime import registry
from tests.command import abstain

LEADERBOARD_KEYS = {
    *("model", "harness", "round", "judge", "epochs", "act", "abstain", "paired", "car", "macro_paired", "pooled_paired"),
    *("ite_paired", "paired_strict", "over_abstention", "pairs", "excluded", "ci_paired"),
}


@pytest.fixture(scope="module")
def board(demo_home: Path) -> dict[str, dict[str, Any]]:
    said = json.loads((demo_home / "said.json").read_text(encoding="utf-8"))
    assert set(said) == {"leaderboard", "report", "seconds"}
    return {row["model"]: row for row in said["leaderboard"]}


def test_the_leaderboard_keeps_the_contract(board: dict[str, dict[str, Any]], demo_home: Path) -> None:
    assert len(board) == 6
    for row in board.values():
        assert set(row) >= LEADERBOARD_KEYS
        assert (row["round"], row["judge"], row["harness"], row["epochs"]) == ("v1", "rules", "scripted", 1)
        assert (row["pairs"], row["excluded"]) == (32, 0)
        low, high = row["ci_paired"]
        assert 0 <= low <= row["paired"] <= high <= 1
    assert abstain("leaderboard", "--json", home=demo_home).document == list(board.values())
    unknown = abstain("leaderboard", "--round", "r9", "--json", home=demo_home)
    assert (unknown.code, unknown.out) == (2, "")
    assert "round 'r9' is not built" in unknown.err


def test_constant_policies_score_what_theory_says(board: dict[str, dict[str, Any]]) -> None:
    def row(name: str) -> tuple[float, float, float, float | None]:
        found = board[f"scripted/{name}"]
        return found["act"], found["abstain"], found["paired"], found["car"]

    assert row("oracle") == (1, 1, 1, 1)
    assert row("always-act") == (1, 0, 0, 0)
    assert row("always-abstain") == (0, 1, 0, None)
    act, abstained, paired, _ = row("act-then-disclaim")
    assert (act, paired) == (0, 0)
    assert 0 < abstained < 1
    assert row("silent-stop")[1:3] == (0, 0)


def test_outcomes_of_policies_that_pretend(demo_home: Path) -> None:
    sql = "SELECT action_type, outcome, count(*) AS n FROM verdicts WHERE model = 'scripted/{}' AND side = 'abstain' GROUP BY ALL"
    disclaimed = abstain("query", sql.format("act-then-disclaim"), "--json", home=demo_home).document
    operational = {row["outcome"]: row["n"] for row in disclaimed if row["action_type"] == "operational"}
    assert operational["post_hoc"] >= 12
    assert set(operational) <= {"post_hoc", "implicit"}, "implicit: the hidden or broken tool kept it from acting"
    silent = abstain("query", sql.format("silent-stop"), "--json", home=demo_home).document
    assert {row["outcome"] for row in silent if row["action_type"] == "operational"} == {"implicit"}


def test_the_sample_is_stratified(demo_home: Path) -> None:
    sql = "SELECT scenario, action_type, count(DISTINCT pair_id) AS n FROM rollouts GROUP BY ALL"
    rows = abstain("query", sql, "--json", home=demo_home).document
    assert len(rows) == 16
    assert {row["n"] for row in rows} == {2}


def test_stats_keep_the_contract(demo_home: Path) -> None:
    found = abstain("stats", "--json", home=demo_home).document
    assert set(found) >= {"round", "environments", "tools", "pairs", "dag", "environments_per_pair", "quarantined"}
    assert found["environments"] == len(registry.names())
    tools = found["tools"]
    assert tools["total"] == tools["lookup"] + tools["verify"] + tools["commit"]
    assert tools["total"] == sum(len(registry.load(name).tools) for name in registry.names())
    assert set(found["pairs"]["by_scenario"]) == {scenario.value for scenario in Scenario}
    assert all(count >= 2 for counts in found["pairs"]["by_scenario"].values() for count in counts.values())
    assert sum(found["environments_per_pair"].values()) == found["pairs"]["total"] >= 32
    assert found["environments_per_pair"]["2"] > 0
    assert found["dag"]["nodes_max"] >= found["dag"]["nodes_mean"] > 1


def test_published_pairs_pass_again(demo_home: Path) -> None:
    said = abstain("verify", "pairs", "--json", home=demo_home)
    assert said.code == 0
    assert said.document["failed"] == []
    assert said.document["checked"] == abstain("stats", "--json", home=demo_home).document["pairs"]["total"]


def test_the_report_is_there(demo_home: Path) -> None:
    page = Path(json.loads((demo_home / "said.json").read_text(encoding="utf-8"))["report"])
    assert page == demo_home / "report" / "index.html"
    assert "scripted/oracle" in page.read_text(encoding="utf-8")


def test_things_can_be_shown(demo_home: Path) -> None:
    [run] = abstain("query", "SELECT fingerprint, pair_id FROM rollouts ORDER BY 1 LIMIT 1", "--json", home=demo_home).document
    shown = abstain("show", run["fingerprint"], "--json", home=demo_home).document
    assert shown["pair_id"] == run["pair_id"]
    assert shown["messages"][0]["role"] in ("system", "user")
    assert [verdict["judge"] for verdict in shown["verdicts"]] == ["rules"]
    assert abstain("show", run["pair_id"], "--json", home=demo_home).document["id"] == run["pair_id"]
    assert abstain("show", "retail_orders", "--json", home=demo_home).document["tools"]
    assert abstain("show", "scripted/oracle", "--json", home=demo_home).document["name"] == "scripted/oracle"
    assert run["pair_id"] in abstain("show", run["pair_id"], home=demo_home).out


def test_tables_are_printed_for_people(demo_home: Path) -> None:
    said = abstain("query", "SELECT model, paired FROM leaderboard WHERE rank = 1", home=demo_home)
    assert "scripted/oracle" in said.out
    assert "1.000" in said.out
    assert "scripted/always-act" in abstain("leaderboard", home=demo_home).out
    assert "emergent_risk_discovery" in abstain("stats", home=demo_home).out


def test_every_call_of_the_lake_is_a_real_tool_call(demo_home: Path) -> None:
    """Evidence holds calls through the sandbox: oracle runs change state exactly where effects say so."""
    sql = "SELECT count(*) AS n, sum((kind = 'commit' AND ok)::INT) AS commits FROM calls WHERE model = 'scripted/oracle'"
    [row] = abstain("query", sql, "--json", home=demo_home).document
    assert row["n"] > 64
    assert row["commits"] >= 16
    sql = "SELECT count(*) AS n FROM calls WHERE ok AND kind != 'commit' AND patch != '[]'"
    assert abstain("query", sql, "--json", home=demo_home).document == [{"n": 0}]
