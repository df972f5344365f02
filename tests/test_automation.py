"""What the sensor and the schedule decide, and on what they base it: on a real instance, with a real endpoint."""

import json
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from dagster._core.storage.tags import GRPC_INFO_TAG

from abstain_assets.automation.decide import PAUSES, Attempt, Situation, Work, why_not
from abstain_assets.automation.fresh_round import asks_for
from abstain_assets.automation.jobs import JOBS, name_of
from abstain_assets.automation.rounds import draw_seed, newest_fresh, round_of_week, unfinished
from abstain_assets.automation.schedule import weekly_fresh_round
from abstain_assets.automation.sensor import models_to_evaluate
from abstain_assets.automation.survey import WORK_TAG
from abstain_assets.blocks import Block
from abstain_assets.errors import BadInput
from abstain_assets.partitions import Cell
from abstain_assets.project import ASSETS, Project, metrics, rollouts, verdicts
from abstain_assets.rounds import scenarios_of
from abstain_assets.rows import pair_rows, pairs_from
from resources.lake import Lake
from resources.settings import Settings
from tests.builders_rollouts import KEY, chat_spec
from tests.command import abstain
from tests.homes import KEY_VARIABLE, SCENARIO
from tests.homes import models as model_files
from tests.servers.chat_completions_stub import ChatServer, message
from tests.written import written

NOW = datetime(2026, 12, 1, 12, 0, tzinfo=UTC)
CELLS = [Cell("stub~model", item) for item in scenarios_of("v1")]
WORK = Work(Block(CELLS[0], CELLS[-1]), "digest", unpaid=True)
PRICES = {"input_per_million": 1.0, "output_per_million": 1.0, "date": "2026-11-01"}
SPEC = chat_spec("http://127.0.0.1:9/v1", evaluate=["v1"], max_cost_usd=5, prices=PRICES)
READY = Situation(SPEC, free=False, problem=None, unbuilt=(), work=WORK, spent=0.0, busy=False, attempts=())


def situation(**changes: Any) -> Situation:
    fields = {name: changes.pop(name) for name in tuple(changes) if name in ("max_cost_usd", "prices")}
    return replace(READY, spec=SPEC.model_copy(update=fields), **changes)


def ended(*minutes_ago: float, cancelled: bool = False) -> tuple[Attempt, ...]:
    return tuple(Attempt(NOW - timedelta(minutes=minutes), cancelled) for minutes in minutes_ago)


def test_a_model_that_says_everything_is_launched() -> None:
    assert why_not(READY, NOW) is None


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"max_cost_usd": None}, "max_cost_usd is missing"),
        ({"prices": None}, "prices are missing"),
        ({"problem": "set STUB_KEY in the environment", "work": None}, "set STUB_KEY"),
        ({"work": None}, "nothing is missing on v1"),
        ({"work": None, "unbuilt": ("round r2 is not built",)}, "round r2 is not built"),
        ({"busy": True}, "a run is working on it"),
        ({"spent": 5.0}, "$5.00 of max_cost_usd 5 are spent; raise it"),
        ({"attempts": ended(9)}, "1 runs ended without getting any further; tried again after 2026-12-01 12:01 UTC"),
        ({"attempts": ended(99, 59)}, "2 runs ended"),
        ({"attempts": ended(9999, cancelled=True)}, "was cancelled"),
    ],
)
def test_otherwise_the_reason_names_model_file_and_what_is_missing(changes: dict[str, Any], said: str) -> None:
    reason = why_not(situation(**changes), NOW)
    assert reason is not None and reason.startswith(f"stub/model ({SPEC.file}): ") and said in reason


@pytest.mark.parametrize(
    "changes",
    [
        {"prices": None, "free": True},
        {"spent": 5.0, "work": replace(WORK, unpaid=False)},
        {"unbuilt": ("round r2 is not built",)},
        {"attempts": ended(11)},
        {"attempts": ended(120, 61)},
    ],
)
def test_these_do_not_keep_a_model_from_being_launched(changes: dict[str, Any]) -> None:
    assert why_not(situation(**changes), NOW) is None


def test_runs_that_get_nowhere_are_repeated_ever_more_rarely_but_always_again() -> None:
    """Over 30 days, looked at every half minute: a handful on the first day, then one a day."""
    launched: list[datetime] = []
    moment = NOW
    while moment < NOW + timedelta(days=30):
        if why_not(replace(READY, attempts=tuple(Attempt(item, False) for item in launched)), moment) is None:
            launched.append(moment)
        moment += timedelta(seconds=30)
    pauses = [later - earlier for earlier, later in pairwise(launched)]
    assert pauses == sorted(pauses) and sorted({*pauses}) == list(PAUSES)
    assert 28 <= len(launched) <= 34


def test_every_asset_is_in_a_job() -> None:
    assert {name_of([asset]) for asset in ASSETS} <= set(JOBS)
    assert name_of([rollouts, verdicts, metrics]) == "evaluate" and name_of([verdicts, metrics]) == "judge"


# --- rounds ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("day", "name"), [(datetime(2026, 11, 30), "w2026-49"), (datetime(2027, 1, 3), "w2026-53"), (datetime(2027, 1, 4), "w2027-01")]
)
def test_a_week_has_one_round(day: datetime, name: str) -> None:
    assert round_of_week(day) == name


def test_the_schedule_is_off_and_asks_for_the_round_of_its_week() -> None:
    assert weekly_fresh_round.default_status is dg.DefaultScheduleStatus.STOPPED
    context = dg.build_schedule_context(scheduled_execution_time=datetime(2026, 11, 30, 5, tzinfo=UTC))
    request = weekly_fresh_round(context)
    assert isinstance(request, dg.RunRequest) and request.run_key == "w2026-49"
    assert request.run_config["ops"] == {"make_fresh_round": {"config": {"round": "w2026-49"}}}


def test_a_seed_is_drawn_once_and_what_is_there_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = Settings(tmp_path)
    draw_seed(settings, "w2026-49")
    first = settings.seed_of("w2026-49")
    draw_seed(settings, "w2026-49")
    draw_seed(settings, "w2026-50")
    assert settings.seed_of("w2026-49") == first != settings.seed_of("w2026-50")
    monkeypatch.setenv("ABSTAIN_SEED_W2026_51", "77")
    draw_seed(settings, "w2026-51")
    assert settings.seed_of("w2026-51") == 77 and not (tmp_path / "rounds" / "w2026-51.seed").exists()
    monkeypatch.setenv("ABSTAIN_SEED_W2026_52", "seventy")
    with pytest.raises(BadInput, match="ABSTAIN_SEED_W2026_52 must give the seed as a whole number"):
        draw_seed(settings, "w2026-52")
    assert not (tmp_path / "rounds" / "w2026-52.seed").exists()


def test_fresh_is_the_newest_weekly_round(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    fresh = SPEC.model_copy(update={"evaluate": ("fresh",)})
    assert newest_fresh(lake) is None
    for key in (f"{SCENARIO}@w2026-09", f"{SCENARIO}@w2026-49", f"{SCENARIO}@zz", SCENARIO):
        lake.write("pairs", key, [])
    assert newest_fresh(lake) == "w2026-49"
    assert asks_for(fresh, "w2026-49", lake) and not asks_for(fresh, "w2026-09", lake)
    assert asks_for(SPEC, "v1", lake) and not asks_for(SPEC, "w2026-49", lake)


def test_a_private_seed_is_nowhere_but_where_it_came_from(built_home: Path, tmp_path: Path) -> None:
    """One round has its seed from the environment, the other from its file; both are built, one is run, judged and reported."""
    home = shutil.copytree(built_home, tmp_path / "home")
    in_environment, in_file = "7402913358861274019", "6118840275539016628"
    (home / "rounds").mkdir()
    (home / "rounds" / "filed.seed").write_text(in_file, encoding="utf-8")
    variables = {"ABSTAIN_SEED_HIDDEN": in_environment}
    said = ""
    run = ("run", "scripted/oracle", "--limit", "2")
    for command, name in ((("build",), "hidden"), (("build",), "filed"), (run, "hidden")):
        done = abstain(*command, "--round", name, "--scenario", SCENARIO, home=home, variables=variables)
        assert done.code == 0, done.err
        said += done.out + done.err
    said += abstain("report", home=home, variables=variables).out
    assert not [seed for seed in (in_environment, in_file) if seed in said]
    texts = list(written(home))
    assert {Path(name).suffix for name, _ in texts} >= {".parquet", ".duckdb", ".db", ".jsonl", ".html"}
    assert {name for name, text in texts if in_environment in text} == set()
    assert {name for name, text in texts if in_file in text} == {"rounds/filed.seed"}


# --- the sensor on an instance --------------------------------------------------------------------------------------------


@dataclass
class Bench:
    """A home with two pairs per scenario, models at a stub, and the sensor as the daemon calls it."""

    project: Project
    folder: Path
    stub: ChatServer

    def add(self, **fields: Any) -> None:
        """Write the file of `stub/model`."""
        model_files(self.folder, url=self.stub.url, **{"evaluate": ["v1"], "max_cost_usd": 5, "prices": PRICES, **fields})

    def tick(self) -> dg.SensorResult:
        resources = {"settings": self.project.settings, "lake": Lake(self.project.settings.home)}
        with dg.build_sensor_context(instance=self.project.instance, resources=resources) as context:
            result = models_to_evaluate(context)
        assert isinstance(result, dg.SensorResult)
        for request in result.dynamic_partitions_requests or ():
            self.project.instance.add_dynamic_partitions(request.partitions_def_name, list(request.partition_keys))
        return result

    def launched(self) -> dg.RunRequest:
        """The one run that a tick launches."""
        [request] = self.tick().run_requests or ()
        return request

    def reason(self) -> str:
        """Why a tick launches nothing."""
        result = self.tick()
        assert not result.run_requests and result.skip_reason and result.skip_reason.skip_message
        return result.skip_reason.skip_message

    def carry_out(self, request: dg.RunRequest, **config: Any) -> int:
        """Do what a request asks for, or less of it; the calls it took."""
        before = len(self.stub.received)
        start, end = (request.tags.get(f"dagster/asset_partition_range_{name}", request.partition_key) for name in ("start", "end"))
        keys = [str(cell.key) for cell in CELLS]
        keys = keys[keys.index(str(start)) : keys.index(str(end)) + 1]
        asked: Mapping[str, Any] = request.run_config["ops"]["rollouts"]["config"]
        self.project.materialize([rollouts, verdicts, metrics], keys, {"rollouts": {**asked, **config}})
        return len(self.stub.received) - before

    def over(self, request: dg.RunRequest, status: dg.DagsterRunStatus) -> None:
        """A run of this request that ended without having done anything."""
        run = self.project.instance.create_run_for_job(JOB, tags=dict(request.tags), status=status)
        assert run.tags[WORK_TAG] == request.tags[WORK_TAG]


@dg.job(name="evaluate")
def JOB() -> None:
    """Stands in the list of runs."""


@pytest.fixture
def bench(demo_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    home, folder = tmp_path / "home", tmp_path / "models"
    shutil.copytree(demo_home, home)
    project = Project.open(Settings(home))
    for item in scenarios_of("v1"):
        rows = project.lake.read("pairs", [item.key])
        few = rows.group_by("action_type", maintain_order=True).head(1).select(rows.columns)
        project.lake.write("pairs", item.key, few.to_dicts())
    folder.mkdir()
    (folder / "broken.yaml").write_text("name: stub/broken\nharness: telepathy\n", encoding="utf-8")
    monkeypatch.setenv("ABSTAIN_MODELS", str(folder))
    monkeypatch.setenv(KEY_VARIABLE, KEY)
    with ChatServer(lambda _: message("I cannot do that."), key=KEY) as stub:
        yield Bench(project, folder, stub)


def test_a_model_is_launched_for_what_it_lacks_and_no_more(bench: Bench) -> None:
    bench.add(evaluate=[])
    assert bench.reason().endswith("1 models have no `evaluate` and are left alone")
    assert "stub~model" in bench.project.instance.get_dynamic_partitions("model")
    bench.add(evaluate=["v1", "r2"])
    request = bench.launched()
    assert dict(request.tags) == {WORK_TAG: request.tags[WORK_TAG], **Block(CELLS[0], CELLS[-1]).tags}
    assert bench.launched().run_key == request.run_key, "as long as nothing happens, it is the same run"
    assert bench.stub.received == []

    some = [pairs_from(bench.project.lake.read("pairs", [CELLS[0].scenario.key]))[0].id]
    assert bench.carry_out(request, pairs=some) == 2
    rest = bench.launched()
    assert rest.run_key != request.run_key, "a run that was broken off is taken up again"
    assert bench.carry_out(rest) == 30
    reason = bench.reason()
    assert "round r2 is not built and verified" in reason and "`abstain build --round r2`" in reason
    assert "broken.yaml: harness: " in reason

    where = CELLS[3].scenario.key
    first, *others = pairs_from(bench.project.lake.read("pairs", [where]))
    act = first.act.model_copy(update={"instruction": f"{first.act.instruction} Thank you."})
    bench.project.lake.write("pairs", where, pair_rows([*others, first.model_copy(update={"act": act})]))
    changed = bench.launched()
    assert changed.partition_key == CELLS[3].key
    assert bench.carry_out(changed) == 2
    bench.add(settings={"temperature": 1})
    assert bench.launched().tags["dagster/asset_partition_range_end"] == CELLS[-1].key, "other settings are other work"
    bench.add()
    bench.project.lake.path("metrics", CELLS[5].file).unlink()
    unpublished = bench.launched()
    assert unpublished.partition_key == CELLS[5].key, "what is paid for and not published is published"
    assert bench.carry_out(unpublished) == 0
    assert "nothing is missing on v1" in bench.reason()


def test_runs_that_ended_without_doing_anything_are_known(bench: Bench) -> None:
    bench.add()
    request = bench.launched()
    bench.over(request, dg.DagsterRunStatus.STARTED)
    assert "a run is working on it" in bench.reason()
    [run] = bench.project.instance.get_runs(filters=dg.RunsFilter(tags={WORK_TAG: request.tags[WORK_TAG]}))
    bench.project.instance.report_run_failed(run)
    assert "1 runs ended without getting any further" in bench.reason()
    bench.over(request, dg.DagsterRunStatus.CANCELED)
    assert "its last run was cancelled" in bench.reason()
    bench.add(max_cost_usd=6)
    assert bench.launched().run_key not in (request.run_key, f"{request.tags[WORK_TAG]}-2")


def test_the_limit_holds_over_all_runs_of_a_model(bench: Bench) -> None:
    """One request costs 10 cents (100 tokens in, 10 out)."""
    dear = {"prices": {**PRICES, "input_per_million": 900.0, "output_per_million": 1000.0}}
    bench.add(**dear, max_cost_usd=0.55)
    first = bench.carry_out(bench.launched(), concurrency=1)
    assert first == 6
    assert "$0.60 of max_cost_usd 0.55 are spent; raise it to go on" in bench.reason()
    bench.add(**dear, max_cost_usd=1.15)
    assert bench.carry_out(bench.launched(), concurrency=1) == 6
    assert "$1.20 of max_cost_usd 1.15 are spent" in bench.reason()


def test_pairs_that_failed_a_blocking_check_are_not_paid_for(bench: Bench) -> None:
    bench.add()
    instance, where = bench.project.instance, CELLS[2].scenario.key
    assert unfinished(bench.project.lake, instance, "v1") == []
    key = dg.AssetKey("pairs")
    instance.report_runless_asset_event(dg.AssetMaterialization(key, partition=where))
    assert f"round v1 is not built and verified ({where})" in bench.reason(), "built again, and not checked since"
    for name, passed in (("verified_again", False), ("counts", True)):
        instance.report_runless_asset_event(dg.AssetCheckEvaluation(key, name, passed=passed, partition=where))
    assert [item.key for item in unfinished(bench.project.lake, instance, "v1")] == [where]


def test_a_run_whose_server_is_gone_is_closed(bench: Bench, tmp_path: Path) -> None:
    gone = json.dumps({"host": "localhost", "socket": str(tmp_path / "gone.sock")})
    instance = bench.project.instance
    run = instance.create_run_for_job(JOB, tags={GRPC_INFO_TAG: gone}, status=dg.DagsterRunStatus.STARTED)
    Project.open(bench.project.settings)
    found = instance.get_run_by_id(run.run_id)
    assert found is not None and found.status is dg.DagsterRunStatus.FAILURE


def test_a_missing_folder_of_models_is_a_reason(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ABSTAIN_MODELS", str(bench.folder / "none"))
    assert "there is no folder" in bench.reason()
