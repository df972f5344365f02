"""Which rounds there are to evaluate models on: built, and verified by Dagster's blocking checks; and the weekly fresh ones."""

import re
import secrets
from datetime import datetime

import dagster as dg
from dagster._core.storage.asset_check_execution_record import AssetCheckExecutionRecordStatus, AssetCheckPartitionInfo

from abstain_assets.pairs.checks import published_pairs
from abstain_assets.rounds import RoundScenario, scenarios_of
from resources.lake import Lake
from resources.settings import MissingSeed, Settings

FRESH = "fresh"
_WEEKLY = re.compile(r"w\d{4}-\d{2}")
_SEED_BITS = 63


def round_of_week(moment: datetime) -> str:
    """The fresh round of a week, by its ISO number.

    >>> round_of_week(datetime(2026, 12, 1))
    'w2026-49'
    """
    year, week, _ = moment.isocalendar()
    return f"w{year}-{week:02d}"


def newest_fresh(lake: Lake) -> str | None:
    """The latest weekly round of which there are pairs."""
    rounds = {RoundScenario.parse(key).round for key in lake.partitions("pairs")}
    return max(filter(_WEEKLY.fullmatch, rounds), default=None)


def draw_seed(settings: Settings, round_name: str) -> None:
    """Give a private round a seed that nobody can guess, unless it has one.

    Raises:
        BadInput: the seed it has is no number.
    """
    try:
        settings.seed_of(round_name)
    except MissingSeed:
        settings.keep_seed(round_name, secrets.randbits(_SEED_BITS))


def unfinished(lake: Lake, instance: dg.DagsterInstance, round_name: str) -> list[RoundScenario]:
    """Scenarios of a round that are not built, or whose latest pairs did not pass the blocking checks.

    Raises:
        BadInput: it is no name of a round.
    """
    wanted = scenarios_of(round_name)
    built = set(lake.partitions("pairs"))
    passed = _verified(instance, [item.key for item in wanted])
    return [item for item in wanted if item.key not in built or item.key not in passed]


def _verified(instance: dg.DagsterInstance, keys: list[str]) -> set[str]:
    blocking = [spec.key for spec in published_pairs.check_specs if spec.blocking]
    found = instance.event_log_storage.get_asset_check_partition_info(blocking, partition_keys=keys)
    passed = {(info.check_key, info.partition_key) for info in found if info.is_current and _succeeded(info)}
    return {key for key in keys if all((check, key) in passed for check in blocking)}


def _succeeded(info: AssetCheckPartitionInfo) -> bool:
    return info.latest_execution_status is AssetCheckExecutionRecordStatus.SUCCEEDED
