"""Which command writes a partition of the lake again. Every one of them overwrites the file without reading it."""

from abstain_assets.errors import BadInput
from abstain_assets.rounds import RoundScenario
from abstain_assets.tables import TABLES
from resources.models import from_slug
from resources.settings import V1


def way_back(table: str, partition: str) -> str:
    """What to do to get a partition back, for the end of a message.

    >>> way_back("verdicts", "scripted~oracle__missing_tools@r2__rules")
    'run `abstain judge run --judge rules --model scripted/oracle --round r2`, which writes it again, or delete it'
    """
    stage = TABLES[table].stage
    try:
        if stage == "rollouts":
            model, where = _cell(partition)
            command = f"abstain run {from_slug(model)} --scenario {where.scenario}{_round(where)}"
            return f"repeat the `{command}` that wrote it: what is finished comes from the journal and is not run again"
        if stage == "verdicts":
            cell, _, judge = partition.rpartition("__")
            model, where = _cell(cell)
            command = f"abstain judge run --judge {judge.replace('~', '/')} --model {from_slug(model)}{_round(where)}"
        elif table == "metrics":
            model, where = _cell(partition)
            command = f"abstain judge run --model {from_slug(model)}{_round(where)}"
        elif table == "leaderboard":
            command = "abstain report"
        else:
            command = f"abstain build{_build_options(partition)}"
    except (BadInput, ValueError):
        return f"delete it; the stage {stage} writes it again"
    return f"run `{command}`, which writes it again, or delete it"


def _cell(file: str) -> tuple[str, RoundScenario]:
    model, _, scenario = file.partition("__")
    return model, RoundScenario.parse(scenario)


def _build_options(partition: str) -> str:
    """Options for one scenario; none where the partition is no scenario."""
    try:
        where = RoundScenario.parse(partition)
    except BadInput:
        return ""
    return f" --scenario {where.scenario}{_round(where)}"


def _round(where: RoundScenario) -> str:
    return "" if where.round == V1 else f" --round {where.round}"
