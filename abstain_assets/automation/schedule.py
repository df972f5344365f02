"""The schedule: every week a fresh round with a private seed, and the models that ask for it on that round."""

from collections.abc import Sequence
from typing import Any

import dagster as dg

from abstain_assets.automation.fresh_round import make
from abstain_assets.automation.rounds import round_of_week
from abstain_assets.automation.survey import OPEN
from resources.settings import Settings

ROUND_TAG = "abstain/round"
_EVERY_MONDAY = "0 5 * * 1"


class FreshRoundConfig(dg.Config):
    """Which round to make. Its seed is never configuration: that is stored and shown."""

    round: str


@dg.op
def make_fresh_round(context: dg.OpExecutionContext, config: FreshRoundConfig, settings: dg.ResourceParam[Settings]) -> None:
    """Draws a private seed, builds and verifies the round, evaluates the models that ask for it, and ranks them.

    Each of these is a run of its own, as if made by hand; what is done already is not done again.
    """
    make(settings, config.round, context.log.info)


@dg.job
def fresh_round() -> None:
    """Makes one fresh round and evaluates on it the models whose `evaluate` names it or says `fresh`."""
    make_fresh_round()


@dg.schedule(
    job=fresh_round, cron_schedule=_EVERY_MONDAY, execution_timezone="UTC", default_status=dg.DefaultScheduleStatus.STOPPED
)
def weekly_fresh_round(context: dg.ScheduleEvaluationContext) -> dg.RunRequest:
    """Makes the round of the week, `w<year>-<week>`. Off until somebody turns it on."""
    name = round_of_week(context.scheduled_execution_time)
    return dg.RunRequest(run_key=name, run_config=_config(name), tags={ROUND_TAG: name})


def _config(name: str) -> dg.RunConfig:
    return dg.RunConfig(ops={"make_fresh_round": FreshRoundConfig(round=name)})


def rounds_in_the_making(instance: dg.DagsterInstance) -> set[str]:
    """Rounds that an unfinished run of the job makes, which evaluates them itself."""
    runs: Sequence[Any] = instance.get_runs(filters=dg.RunsFilter(job_name=fresh_round.name, statuses=OPEN))
    return {run.run_config["ops"]["make_fresh_round"]["config"]["round"] for run in runs}
