"""Backfills, the sensor and the weekly round on a running `abstain dev`, with every call to a provider counted.

All tests share one server, and a round of two pairs per scenario. What one test has paid for, the next one must not pay for again.
"""

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml

from abstain_assets.blocks import Block
from abstain_assets.partitions import Cell
from abstain_assets.records import InstructionDelta, Pair
from abstain_assets.rounds import scenarios_of
from abstain_assets.rows import pair_rows, pairs_from
from abstain_assets.taxonomy import SCENARIOS
from abstain_assets.verdicts.assets import verdicts_file
from abstain_assets.verdicts.current import current_verdicts
from resources.lake import Lake
from resources.models import slug
from resources.settings import PROJECT
from tests.browser import CHROMIUM, Browser
from tests.command import ROOT, abstain
from tests.dagster_ui import DagsterUi
from tests.sandbox_forks import wait_until
from tests.served import REPOSITORY, Served, serving
from tests.servers.chat_completions_stub import Body, ChatServer, Reply, message
from tests.written import written

pytestmark = pytest.mark.timeout(600)

UI, GRAPHQL, CLI = "stub/ui", "stub/graphql", "stub/cli"
SCENARIO_KEYS = [item.key for item in scenarios_of("v1")]
CALLS_PER_CELL = 4  # both sides of two pairs, one request each
EVALUATION = ("rollouts", "verdicts", "metrics")
KEY = "key-of-the-stub"


@dataclass(frozen=True)
class Scene:
    """The server, the stub behind its models, and the same home for commands."""

    served: Served
    stub: ChatServer

    @property
    def lake(self) -> Lake:
        return Lake(self.served.home)

    def calls(self) -> Counter[str]:
        """Requests so far, by model."""
        return Counter(f"stub/{request.body['model']}" for request in self.stub.received)

    def abstain(self, *args: object) -> Any:
        """The document a command prints."""
        variables = {"ABSTAIN_MODELS": str(self.served.models), "STUB_KEY": KEY}
        said = abstain(*args, "--json", home=self.served.home, variables=variables)
        assert said.code == 0, said.err
        return said.document

    def add_model(self, name: str, **fields: Any) -> None:
        """Drop a file into the folder of models."""
        spec = {"name": name, "harness": "chat_completions", "provider": "stub", "model": name.partition("/")[2]}
        file = self.served.models / f"{slug(name)}.yaml"
        file.write_text(yaml.safe_dump({**spec, "base_url": self.stub.url, "api_key_env": "STUB_KEY", **fields}), encoding="utf-8")


@pytest.fixture(scope="module")
def scene(demo_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    """A copy of the demo's home with two pairs left per scenario, and models behind a stub that nobody asked to evaluate."""
    folder = tmp_path_factory.mktemp("served")
    home, models = folder / "home", folder / "models"
    _copy(demo_home, home)
    _copy(PROJECT / "models", models)
    lake = Lake(home)
    for key in SCENARIO_KEYS:
        rows = lake.read("pairs", [key])
        lake.write("pairs", key, rows.group_by("action_type", maintain_order=True).head(1).select(rows.columns).to_dicts())

    def decline(_: Body) -> Reply:
        return message("I cannot do that.")

    with ChatServer(decline, key=KEY) as stub:
        for name in (UI, GRAPHQL, CLI):
            Scene(Served(home, models, 0, folder), stub).add_model(name)
        with serving(home, models, {"STUB_KEY": KEY}) as served:
            yield Scene(served, stub)


def _copy(source: Path, target: Path) -> None:
    subprocess.run(["cp", "-r", source, target], check=True)


def _cells(model: str, scenarios: Sequence[str] = SCENARIO_KEYS) -> list[Cell]:
    return [Cell(slug(model), item) for item in scenarios_of("v1") if item.key in scenarios]


def _range(cells: Sequence[Cell]) -> dict[str, str]:
    return Block(cells[0], cells[-1]).tags


def test_it_is_served_on_this_machine_only(scene: Scene) -> None:
    """Nobody outside can reach it: every listening socket of the port is on the loopback address."""
    port = f":{scene.served.port:04X}"
    listening = [line.split() for line in Path("/proc/net/tcp").read_text(encoding="utf-8").splitlines()[1:]]
    assert [row[1] for row in listening if row[3] == "0A" and row[1].endswith(port)] == [f"0100007F{port}"]


def test_lineage_of_the_commands_is_there(scene: Scene) -> None:
    """What `abstain demo` materialized on the same instance is what the UI shows, with the checks, under names one recognises."""
    checks = "assetChecksOrError { ... on AssetChecks { checks { name } } }"
    query = f"{{ assetNodes {{ assetKey {{ path }} assetMaterializations(limit: 1) {{ runId }} {checks} }} }}"
    nodes = {"/".join(node["assetKey"]["path"]): node for node in scene.served.ask(query)["assetNodes"]}
    assert {"capabilities", "environments", "pairs", "rollouts", "verdicts", "metrics", "leaderboard", "report"} <= set(nodes)
    assert all(node["assetMaterializations"] for node in nodes.values())
    found = {check["name"] for check in nodes["pairs"]["assetChecksOrError"]["checks"]}
    assert found == {"verified_again", "counts", "quarantine_rate"}
    assert {run["jobName"] for run in scene.served.runs()} >= {"build_round", "evaluate", "rank"}


def test_one_scenario_over_all_models(scene: Scene) -> None:
    models = (UI, GRAPHQL, CLI)
    first, second, third = SCENARIO_KEYS[:3]
    before = scene.calls()
    backfill = scene.served.backfill(EVALUATION, [cell.key for model in models for cell in _cells(model, [first])])
    # In the order in which the instance has the models, which is that of their names.
    ends = [_cells(model, [second])[0] for model in (CLI, UI)]
    run = scene.served.launch("evaluate", _range(ends), {"rollouts": {"concurrency": 4}})
    documents = scene.abstain("run", *models, "--scenario", SCENARIOS[scenarios_of("v1")[2].scenario].code)
    assert {document["model"]: document["done"] for document in documents} == dict.fromkeys(models, CALLS_PER_CELL)
    counts = scene.served.finish(backfill, run)
    assert counts[backfill] == dict.fromkeys(EVALUATION, len(models))
    assert scene.calls() - before == dict.fromkeys(models, 3 * CALLS_PER_CELL)
    for key in (first, second, third):
        rows = scene.lake.read("verdicts", [verdicts_file(cell, "rules") for model in models for cell in _cells(model, [key])])
        assert rows.height == len(models) * CALLS_PER_CELL


def test_one_model_over_all_scenarios(scene: Scene, tmp_path: Path) -> None:
    """On the page of the job, if there is a browser; through GraphQL; by the command. Three scenarios are paid for already."""
    before, known = scene.calls(), {run["runId"] for run in scene.served.runs()}
    run = scene.served.launch("evaluate", _range(_cells(GRAPHQL)))
    if CHROMIUM:
        browser = Browser(tmp_path)
        try:
            DagsterUi(browser, scene.served.port).backfill_job("evaluate", slug(UI))
        finally:
            browser.close()
        query = "{ partitionBackfillsOrError(limit: 1) { ... on PartitionBackfills { results { id } } } }"
        backfill = scene.served.ask(query)["partitionBackfillsOrError"]["results"][0]["id"]
    else:
        backfill = scene.served.backfill_job("evaluate", [cell.key for cell in _cells(UI)])
    [document] = scene.abstain("run", CLI)
    assert (document["done"], document["reused"]) == (5 * CALLS_PER_CELL, 3 * CALLS_PER_CELL)
    scene.served.finish(backfill, run)
    assert scene.calls() - before == dict.fromkeys((UI, GRAPHQL, CLI), 5 * CALLS_PER_CELL)
    made = {run["jobName"] for run in scene.served.runs() if run["runId"] not in known}
    assert made <= {"evaluate", "rank"}
    assert _materialized(scene, UI) == set(SCENARIO_KEYS)


def _materialized(scene: Scene, model: str) -> set[str]:
    """Scenarios on which Dagster has a partition of metrics for a model."""
    query = """query ($keys: [String!]) { assetNodes { assetKey { path } assetMaterializations(partitions: $keys) {
        partition } } }"""
    nodes = scene.served.ask(query, keys=[cell.key for cell in _cells(model)])["assetNodes"]
    [made] = [node["assetMaterializations"] for node in nodes if node["assetKey"]["path"] == ["metrics"]]
    return {Cell.parse(item["partition"]).scenario.key for item in made}


def test_a_changed_pair(scene: Scene) -> None:
    """An instruction changes on both sides of one pair, and on the abstain side alone of another: three rollouts of each model."""
    _change(scene.lake, SCENARIO_KEYS[0], lambda pair: {"act": _politer(pair)})
    _change(scene.lake, SCENARIO_KEYS[1], lambda pair: {"delta": _vaguer(pair)}, kind="instruction")
    before = scene.calls()
    assert before == dict.fromkeys((UI, GRAPHQL, CLI), 8 * CALLS_PER_CELL)
    backfill = scene.served.backfill(EVALUATION, [cell.key for cell in _cells(UI)])
    run = scene.served.launch("evaluate", _range(_cells(GRAPHQL)))
    [document] = scene.abstain("run", CLI)
    assert (document["done"], document["reused"]) == (3, 8 * CALLS_PER_CELL - 3)
    scene.served.finish(backfill, run)
    assert scene.calls() - before == dict.fromkeys((UI, GRAPHQL, CLI), 3)


def _change(lake: Lake, key: str, change: Any, kind: str | None = None) -> None:
    first, *others = sorted(pairs_from(lake.read("pairs", [key])), key=lambda pair: kind is not None and pair.delta.kind != kind)
    lake.write("pairs", key, pair_rows([*others, first.model_copy(update=change(first))]))


def _politer(pair: Pair) -> Any:
    return pair.act.model_copy(update={"instruction": f"{pair.act.instruction} Thank you."})


def _vaguer(pair: Pair) -> InstructionDelta:
    assert isinstance(pair.delta, InstructionDelta)
    return pair.delta.model_copy(update={"replace": f"{pair.delta.replace} (whichever)"})


def test_a_changed_judge(scene: Scene) -> None:
    """Verdicts as another version of the judge would have left them: judging again restores them, and no agent runs."""
    models = (UI, GRAPHQL, CLI, "scripted/oracle")
    cells = [cell for model in models for cell in _cells(model)]
    good = {verdicts_file(cell, "rules"): current_verdicts(scene.lake, [cell.file]) for cell in cells}
    for file, rows in good.items():
        scene.lake.write("verdicts", file, rows.with_columns(~pl.col("abstained"), ~pl.col("passed")).to_dicts())
    before, evidence = scene.calls(), {path: path.read_bytes() for path in (scene.served.home / "lake" / "rollouts").iterdir()}
    backfill = scene.served.backfill(("verdicts", "metrics"), [cell.key for cell in _cells(UI)], {"verdicts": {"judge": "rules"}})
    run = scene.served.launch("judge", _range(_cells(GRAPHQL)))
    _dagster(scene, "asset", "materialize", "--select", "verdicts,metrics", "--partition-range", _cells("scripted/oracle"))
    assert scene.abstain("judge", "run", "--model", CLI)["judged"] == 8 * CALLS_PER_CELL
    scene.served.finish(backfill, run)
    for file, rows in good.items():
        assert scene.lake.read("verdicts", [file]).sort("fingerprint").equals(rows.sort("fingerprint")), file
    assert scene.calls() == before
    assert all(path.read_bytes() == content for path, content in evidence.items())


def _dagster(scene: Scene, *args: Any) -> None:
    """One of Dagster's own commands, over a range of cells."""
    *words, cells = args
    settings = {"ABSTAIN_HOME": scene.served.home, "DAGSTER_HOME": scene.served.home / "dagster"}
    variables = {**settings, "ABSTAIN_MODELS": scene.served.models}
    command = [str(Path(sys.executable).with_name("dagster")), *words, f"{cells[0].key}...{cells[-1].key}", "-m", "definitions"]
    environment = {**os.environ, **{name: str(value) for name, value in variables.items()}}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr[-3000:]


def test_the_sensor_runs_what_is_missing_of_models_that_ask_for_it(scene: Scene) -> None:
    """Until then nothing was launched for models that did not ask. What is launched is counted; then nothing is missing."""
    earlier = scene.served.ticks()
    assert len(earlier) >= 3
    assert all(tick["status"] == "SKIPPED" and "have no `evaluate` and are left alone" in tick["skipReason"] for tick in earlier)
    assert set(scene.calls()) == {UI, GRAPHQL, CLI}

    prices = {"input_per_million": 1, "output_per_million": 1, "date": "2026-11-01"}
    asked = {"evaluate": ["v1"], "max_cost_usd": 1, "prices": prices}
    scene.add_model("stub/keyless", **{**asked, "api_key_env": "STUB_KEY_OF_NOBODY"})
    scene.add_model("stub/limitless", evaluate=["v1"], prices=prices)
    (scene.served.models / "broken.yaml").write_text("name: stub/broken\nharness: telepathy\n", encoding="utf-8")
    scene.add_model("stub/eager", **asked)
    before = scene.calls()
    launched = next(tick for tick in _ticks_until_launch(scene))
    assert len(launched["runIds"]) == 1
    scene.served.finish(*launched["runIds"])
    assert scene.calls() - before == {"stub/eager": 8 * CALLS_PER_CELL}

    after = scene.served.next_ticks()[0]
    assert after["status"] == "SKIPPED", after
    for said in (
        "stub/eager (",
        "nothing is missing on v1",
        f"stub/keyless ({scene.served.models / 'stub~keyless.yaml'}): ",
        "set STUB_KEY_OF_NOBODY",
        "stub/limitless (",
        "max_cost_usd is missing",
        "broken.yaml: harness: ",
    ):
        assert said in after["skipReason"], after
    assert scene.calls() - before == {"stub/eager": 8 * CALLS_PER_CELL}
    assert wait_until(lambda: "stub/eager" in scene.lake.read("leaderboard")["model"].to_list(), 120)
    scene.served.finish(*(run["runId"] for run in scene.served.runs() if run["jobName"] == "rank"))


def _ticks_until_launch(scene: Scene) -> Iterator[Any]:
    for _ in range(3):
        yield from (tick for tick in scene.served.next_ticks() if tick["runIds"])


def test_the_weekly_round(scene: Scene) -> None:
    """Off by default. Its job makes the round with a seed that nothing else knows; the model that asks for it is ranked on it."""
    selector = {**REPOSITORY, "scheduleName": "weekly_fresh_round"}
    look = (
        "query ($s: ScheduleSelector!) { scheduleOrError(scheduleSelector: $s) { ... on Schedule { scheduleState { status } } } }"
    )
    assert scene.served.ask(look, s=selector)["scheduleOrError"]["scheduleState"]["status"] == "STOPPED"
    dry = """mutation ($s: ScheduleSelector!) { scheduleDryRun(selectorData: $s, timestamp: 1796014800) {
        ... on DryRunInstigationTick { evaluationResult { runRequests { runKey runConfigYaml } } } } }"""
    [request] = scene.served.ask(dry, s=selector)["scheduleDryRun"]["evaluationResult"]["runRequests"]
    assert request["runKey"] == "w2026-49"
    config = yaml.safe_load(request["runConfigYaml"])["ops"]["make_fresh_round"]["config"]
    assert config == {"round": "w2026-49"}
    kept = scene.served.home / "rounds" / "w2026-49.seed"
    assert not kept.exists(), "looking at what it would do makes no seed"

    fresh = {"harness": "scripted", "provider": "scripted", "model": "oracle", "base_url": None, "api_key_env": None}
    scene.add_model("mine/weekly", **fresh, evaluate=["fresh"], max_cost_usd=1)
    before = scene.calls()
    scene.served.finish(scene.served.launch("fresh_round", {}, {"make_fresh_round": config}))
    board = scene.lake.read("leaderboard").filter(pl.col("round") == "w2026-49")
    assert board["model"].to_list() == ["mine/weekly"]
    assert board["pairs"][0] == scene.lake.read("pairs").filter(pl.col("round") == "w2026-49").height > 100
    assert scene.calls() == before
    assert "w2026-49" in (scene.served.home / "report" / "index.html").read_text(encoding="utf-8")
    assert kept.stat().st_mode & 0o077 == 0
    seed = kept.read_text(encoding="utf-8").strip()
    assert int(seed) > 1 << 40

    tables = {path: path.stat().st_mtime_ns for path in (scene.served.home / "lake" / "pairs").iterdir()}
    scene.served.finish(scene.served.launch("fresh_round", {}, {"make_fresh_round": config}))
    assert {path: path.stat().st_mtime_ns for path in (scene.served.home / "lake" / "pairs").iterdir()} == tables
    assert kept.read_text(encoding="utf-8").strip() == seed

    found = {name for name, text in written(scene.served.home.parent) if seed in text}
    assert found == {str(kept.relative_to(scene.served.home.parent))}
    assert seed not in json.dumps(scene.served.runs())
