"""The Dagster project: it loads as Dagster loads it, and runs, checks, pools and dead runs behave as we rely on."""

import asyncio
import signal
import subprocess
import sys
import time
from pathlib import Path

import dagster as dg
import pytest
import yaml

from abstain_assets.blocks import blocks
from abstain_assets.errors import AbstainError, BadInput
from abstain_assets.partitions import MODEL, SCENARIO, Cell, register
from abstain_assets.project import ALIVE_TAG, ASSETS, Project, definitions, pairs, rollouts, verdicts
from abstain_assets.rollouts.pools import blocking_provider_slot, provider_slot
from abstain_assets.rounds import scenarios_of
from abstain_assets.taxonomy import Scenario
from resources.lake import Lake
from resources.settings import Settings
from tests.command import ROOT

STAGES = ("seeds", "catalog", "environments", "pairs", "rollouts", "verdicts", "metrics")
SMALL = scenarios_of("v1", [Scenario.CONFLICTING_CONSTRAINTS])[0]
MODELS = ("scripted~oracle", "scripted~always-act")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A home with one built scenario and one evaluated cell."""
    opened = Project.open(Settings(tmp_path_factory.mktemp("home")))
    register(opened.instance, rounds=["v1"], models=MODELS)
    opened.materialize([pairs], [SMALL.key])
    opened.materialize([rollouts, verdicts], [Cell(MODELS[0], SMALL).key])
    return opened


def records(project: Project, asset: str) -> list[dg.AssetMaterialization]:
    found = project.instance.fetch_materializations(dg.AssetKey(asset), limit=100).records
    return [record.asset_materialization for record in found if record.asset_materialization]


def test_definitions_are_valid() -> None:
    dg.Definitions.validate_loadable(definitions(Settings(Path("unused"))))


def test_dagster_can_load_them_from_the_workspace_file() -> None:
    workspace = yaml.safe_load((ROOT / "workspace.yaml").read_text(encoding="utf-8"))
    module = workspace["load_from"][0]["python_module"]
    assert module == {"module_name": "definitions", "working_directory": ".", "location_name": "abstain"}
    command = [str(Path(sys.executable).with_name("dagster")), "definitions", "validate", "--workspace", "workspace.yaml"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_every_asset_says_what_it_is() -> None:
    for asset in ASSETS:
        spec = next(iter(asset.specs))
        assert spec.group_name in STAGES
        assert spec.description
        assert {"python"} <= set(spec.kinds)
        if spec.group_name not in ("catalog", "environments", "seeds", "pairs") and asset.partitions_def:
            assert asset.backfill_policy == dg.BackfillPolicy.single_run()
            assert isinstance(asset.partitions_def, dg.MultiPartitionsDefinition)


def test_stages_follow_each_other() -> None:
    graph = definitions(Settings(Path("unused"))).resolve_asset_graph()
    stage = {key: STAGES.index(graph.get(key).group_name) for key in graph.toposorted_asset_keys}
    assert sorted(set(stage.values())) == list(range(len(STAGES)))
    for key in stage:
        assert all(stage[parent] <= stage[key] for parent in graph.get(key).parent_keys), key


def test_the_instance_is_private_and_quiet(project: Project) -> None:
    config = yaml.safe_load((project.settings.dagster_home / "dagster.yaml").read_text(encoding="utf-8"))
    assert config["telemetry"] == {"enabled": False}
    assert config["nux"] == {"enabled": False}
    assert config["concurrency"]["pools"]["default_limit"] > 0
    assert not project.instance.telemetry_enabled


def test_metadata_says_what_was_made(project: Project) -> None:
    [made] = records(project, "pairs")
    lake = Lake(project.settings.home)
    assert made.partition == SMALL.key
    assert made.metadata["dagster/row_count"].value == lake.read("pairs", [SMALL.key]).height > 0
    assert isinstance(made.metadata["pairs"], dg.TableMetadataValue)
    assert (made.tags or {})["dagster/data_version"] == made.metadata["digest"].value
    [run] = records(project, "rollouts")
    assert run.metadata["done"].value == run.metadata["expected"].value == 2 * lake.read("pairs").height


def test_equal_content_gives_an_equal_data_version(project: Project) -> None:
    project.materialize([pairs], [SMALL.key])
    first, second = records(project, "pairs")[:2]
    assert (first.tags or {})["dagster/data_version"] == (second.tags or {})["dagster/data_version"]


def test_checks_are_recorded_per_partition(project: Project) -> None:
    run = project.instance.get_runs(filters=dg.RunsFilter(tags={"dagster/partition": SMALL.key}), limit=1)[0]
    events = project.instance.all_logs(run.run_id, of_type=dg.DagsterEventType.ASSET_CHECK_EVALUATION)
    found = {
        entry.dagster_event.asset_check_evaluation_data.check_name: entry.dagster_event.asset_check_evaluation_data
        for entry in events
        if entry.dagster_event
    }
    assert set(found) == {"verified_again", "counts", "quarantine_rate"}
    assert all(item.partition == SMALL.key and item.passed for item in found.values())
    assert {name for name, item in found.items() if item.blocking} == {"verified_again", "counts"}


def test_a_blocking_check_reads_what_is_published(project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A published pair is spoilt between writing and checking: the check finds it and the error says which and why."""
    original = Lake.write

    def spoil(lake: Lake, table: str, partition: str, rows: object) -> object:
        kept = list(rows)  # type: ignore[call-overload]
        if table == "pairs":
            kept[0]["record"] = kept[0]["record"].replace("You are", "You must act as", 1)
        return original(lake, table, partition, kept)

    monkeypatch.setattr(Lake, "write", spoil)
    spoilt = Project.open(Settings(tmp_path))
    register(spoilt.instance, rounds=["v1"])
    with pytest.raises(AbstainError, match="verified_again failed"):
        spoilt.materialize([pairs], [SMALL.key])


def test_cells_side_by_side_take_one_run(project: Project) -> None:
    other = Cell(MODELS[1], SMALL)
    before = len(project.instance.get_run_ids())
    results = project.materialize([verdicts], [Cell(MODELS[0], SMALL).key])
    assert len(results) == 1
    with pytest.raises(BadInput, match="has no rollouts"):
        project.materialize([verdicts], [other.key])
    assert len(project.instance.get_run_ids()) == before + 2


def test_a_range_of_scenarios_is_one_run_with_metadata_for_each(tmp_path: Path) -> None:
    opened = Project.open(Settings(tmp_path))
    register(opened.instance, rounds=["v1", "seed-1"], models=MODELS)
    wanted = scenarios_of("v1", [Scenario.CONFLICTING_CONSTRAINTS, Scenario.AMBIGUOUS_ACTION_SPECIFICATION])
    opened.materialize([pairs], [item.key for item in wanted])
    cells = [Cell(MODELS[0], item) for item in wanted]
    config = {"rollouts": {"pairs": [Lake(tmp_path).read("pairs", [wanted[0].key])["id"][0]]}}
    assert len(opened.materialize([rollouts, verdicts], [cell.key for cell in cells], config)) == 1
    made = {item.partition: item.metadata for item in records(opened, "rollouts")}
    assert set(made) == {cell.key for cell in cells}
    assert {str(item["done"].value) for item in made.values()} == {"0", "2"}
    gap = [Cell(MODELS[0], item) for item in scenarios_of("v1") if item.scenario is not Scenario.HIGH_STAKES_ACTION]
    keys = [opened.instance.get_dynamic_partitions(dimension) for dimension in (SCENARIO, MODEL)]
    assert len(list(blocks(gap, *keys))) == 2


def test_a_partial_run_never_overwrites_finished_rows(project: Project) -> None:
    lake, cell = Lake(project.settings.home), Cell(MODELS[0], SMALL)
    before = lake.path("rollouts", cell.file).read_bytes()
    some = lake.read("pairs")["id"][0]
    project.watch.results.clear()
    project.materialize([rollouts], [cell.key], {"rollouts": {"pairs": [some]}})
    assert lake.path("rollouts", cell.file).read_bytes() == before
    [result] = project.watch.results
    assert (result.planned, result.done, result.reused) == (2, 0, 2)


def test_rollouts_of_an_unbuilt_scenario_say_what_to_do(project: Project) -> None:
    with pytest.raises(BadInput, match="has no pairs: run `abstain build --round v1` first"):
        project.materialize([rollouts], [Cell(MODELS[0], scenarios_of("v1")[0]).key])


def test_a_broken_family_is_one_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "families"
    folder.mkdir()
    (folder / "broken.py").write_text("raise RuntimeError('no such luck')", encoding="utf-8")
    monkeypatch.setenv("ABSTAIN_FAMILIES", str(folder))
    opened = Project.open(Settings(tmp_path / "home"))
    register(opened.instance, rounds=["v1"])
    with pytest.raises(AbstainError, match=r"broken\.py cannot be loaded: RuntimeError: no such luck"):
        opened.materialize([pairs], [SMALL.key])
    assert Lake(tmp_path / "home").partitions("pairs") == ()


DYING = """
import sys, time
from pathlib import Path
import dagster as dg
from abstain_assets.project import ALIVE_TAG, Project
from resources.settings import Settings

project = Project.open(Settings(Path(sys.argv[1])))

@dg.op(pool="provider-acme")
def hang():
    print("running", flush=True)
    time.sleep(600)

@dg.job
def endless():
    hang()

endless.execute_in_process(instance=project.instance, tags={ALIVE_TAG: project._alive.token})
"""


def test_runs_of_killed_commands_are_closed_and_their_slots_freed(tmp_path: Path) -> None:
    process = subprocess.Popen([sys.executable, "-c", DYING, str(tmp_path)], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "running\n"
    alive = Project.open(Settings(tmp_path)).instance
    [run] = alive.get_runs()
    assert run.status is dg.DagsterRunStatus.STARTED, "the run of a living command is left alone"
    process.send_signal(signal.SIGKILL)
    process.wait()
    after = Project.open(Settings(tmp_path)).instance
    [run] = after.get_runs()
    assert run.status is dg.DagsterRunStatus.FAILURE
    assert ALIVE_TAG in run.tags
    assert after.event_log_storage.get_concurrency_info("provider-acme").active_slot_count == 0


def test_a_provider_takes_no_more_cells_at_once_than_its_pool_allows(tmp_path: Path) -> None:
    """Two cells and a judge of one provider take turns in a pool of one; another provider does not wait."""
    instance = Project.open(Settings(tmp_path)).instance
    instance.event_log_storage.set_concurrency_slots("provider-acme", 1)
    running: list[str] = []
    most = {"acme": 0, "other": 0}

    @dg.op
    def work(context: dg.OpExecutionContext) -> None:
        def begin(provider: str) -> None:
            running.append(provider)
            most[provider] = max(most[provider], running.count(provider))

        async def cell(provider: str, name: str) -> None:
            async with provider_slot(context.instance, context.run, provider, name):
                begin(provider)
                await asyncio.sleep(0.3)
                running.remove(provider)

        def judge() -> None:
            with blocking_provider_slot(context.instance, context.run, "acme", "judge"):
                begin("acme")
                time.sleep(0.3)
                running.remove("acme")

        async def all_at_once() -> None:
            cells = [cell("acme", "a"), cell("acme", "b"), cell("other", "c"), cell("other", "d")]
            await asyncio.gather(*cells, asyncio.to_thread(judge))

        asyncio.run(all_at_once())

    @dg.job
    def job() -> None:
        work()

    assert job.execute_in_process(instance=instance).success
    assert most == {"acme": 1, "other": 2}
    assert instance.event_log_storage.get_concurrency_info("provider-acme").active_slot_count == 0


def test_two_commands_can_make_the_instance_at_once(tmp_path: Path) -> None:
    code = """
import sys
from pathlib import Path
from abstain_assets.project import Project
from resources.settings import Settings
Project.open(Settings(Path(sys.argv[1])))
"""
    commands = [subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], cwd=ROOT, stderr=subprocess.PIPE) for _ in range(3)]
    for command in commands:
        _, said = command.communicate(timeout=120)
        assert command.returncode == 0, said.decode()


def test_an_instance_that_cannot_be_written_is_one_message(tmp_path: Path) -> None:
    (tmp_path / "dagster").write_text("in the way", encoding="utf-8")
    with pytest.raises(AbstainError, match=r"the Dagster instance in .*dagster cannot be used"):
        Project.open(Settings(tmp_path))
