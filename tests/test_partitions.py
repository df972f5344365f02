"""Keys of rounds, scenarios and cells, and the seeds of rounds."""

import stat
from pathlib import Path

import dagster as dg
import pytest

from abstain_assets.errors import BadInput
from abstain_assets.partitions import Cell, cell_partitions, register
from abstain_assets.rounds import RoundScenario, scenario_named, scenarios_of
from abstain_assets.taxonomy import Scenario
from resources.lake import Lake
from resources.models import load_models
from resources.settings import Settings


@pytest.mark.parametrize("round_name", ["v1", "r2", "seed-17"])
def test_keys_can_be_read_back(round_name: str) -> None:
    for where in scenarios_of(round_name):
        assert RoundScenario.parse(where.key) == where
        assert ("@" in where.key) == (round_name != "v1")
        for spec in load_models().values():
            cell = Cell(spec.slug, where)
            assert Cell.parse(cell.key) == Cell.of_file(cell.file) == cell
            assert Lake(Path("unused")).path("rollouts", cell.file).name == f"{cell.file}.parquet"


def test_scenarios_are_named_in_full_or_by_code() -> None:
    for name in ("S3", "s3", "conflicting_constraints"):
        assert scenario_named(name) is Scenario.CONFLICTING_CONSTRAINTS
    assert [item.scenario for item in scenarios_of("v1", [Scenario.HIGH_STAKES_ACTION])] == [Scenario.HIGH_STAKES_ACTION]


@pytest.mark.parametrize("key", ["", "nope", "S1@", "S1@UPPER", "high_stakes_action@a b", "high_stakes_action@r2@r3"])
def test_bad_scenario_keys_are_refused(key: str) -> None:
    with pytest.raises(BadInput):
        RoundScenario.parse(key)


@pytest.mark.parametrize("key", ["", "model", "|high_stakes_action", "model|nope"])
def test_bad_cell_keys_are_refused(key: str) -> None:
    with pytest.raises(BadInput):
        Cell.parse(key)


def test_every_model_meets_every_scenario_and_no_model_key_carries_a_round() -> None:
    with dg.DagsterInstance.ephemeral() as instance:
        register(instance, rounds=["v1", "r2"], models=["a~b", "a~c"])
        register(instance, rounds=["v1"], models=["a~b"])
        keys = cell_partitions.get_partition_keys(dynamic_partitions_store=instance)
    assert len(keys) == len(set(keys)) == 2 * 16
    assert {Cell.parse(key).model for key in keys} == {"a~b", "a~c"}
    assert sum("@r2" in key for key in keys) == 16


def test_a_round_has_one_seed_for_good(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = Settings(tmp_path)
    assert settings.seed_of("seed-17") == 17
    assert settings.seed_of("v1") == Settings(tmp_path / "elsewhere").seed_of("v1")
    with pytest.raises(BadInput, match="set ABSTAIN_SEED_R_2, or put the seed into"):
        settings.seed_of("r-2")
    settings.keep_seed("r-2", 5)
    settings.keep_seed("r-2", 5)
    assert settings.seed_of("r-2") == 5
    with pytest.raises(BadInput, match="already has another seed"):
        settings.keep_seed("r-2", 6)
    file = tmp_path / "rounds" / "r-2.seed"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    monkeypatch.setenv("ABSTAIN_SEED_R3", "1234")
    assert settings.seed_of("r3") == 1234
    monkeypatch.setenv("ABSTAIN_SEED_R3", "secret words")
    with pytest.raises(BadInput, match="ABSTAIN_SEED_R3 must give the seed as a whole number") as caught:
        settings.seed_of("r3")
    assert "secret words" not in str(caught.value)


@pytest.mark.parametrize("name", ["", "seed-x", "v1/..", "R2", "a" * 41])
def test_bad_round_names_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(BadInput):
        Settings(tmp_path).seed_of(name)
