"""The sensor on `models/`: new files become partitions, and what is missing of the models that ask for it is launched."""

from datetime import UTC, datetime
from typing import Any

import dagster as dg

from abstain_assets.automation.decide import Situation, why_not
from abstain_assets.automation.jobs import JOBS
from abstain_assets.automation.schedule import rounds_in_the_making
from abstain_assets.automation.survey import WORK_TAG, Surroundings, survey
from abstain_assets.errors import AbstainError
from abstain_assets.partitions import MODEL, model_partitions
from resources.lake import Lake
from resources.models import load_models
from resources.settings import Settings


@dg.sensor(job=JOBS["evaluate"], minimum_interval_seconds=30, default_status=dg.DefaultSensorStatus.RUNNING)
def models_to_evaluate(
    context: dg.SensorEvaluationContext, settings: dg.ResourceParam[Settings], lake: dg.ResourceParam[Lake]
) -> dg.SensorResult:
    """Adds a partition for every new model. Evaluates those whose file has `evaluate` and `max_cost_usd`, and whose key is there.

    A model without `evaluate` is left alone, so looking at it never costs anything. One run at a time works on a model, and all its
    runs together stay within its `max_cost_usd`.
    """
    try:
        models = load_models()
    except AbstainError as error:
        return dg.SensorResult(skip_reason=str(error))
    known = set(context.instance.get_dynamic_partitions(MODEL))
    new = [spec.slug for spec in models.values() if spec.slug not in known]
    where = Surroundings.look(settings, lake, context.instance, models=new, in_the_making=rounds_in_the_making(context.instance))
    requests, reasons = [], [str(error) for error in models.broken]
    asking = [spec for spec in models.values() if spec.evaluate]
    for spec in asking:
        try:
            situation = survey(spec, where)
        except AbstainError as error:
            reasons.append(f"{spec.name} ({spec.file}): {error}")
            continue
        if reason := why_not(situation, datetime.now(UTC)):
            reasons.append(reason)
        else:
            requests.append(request(situation))
    if others := len(models) - len(asking):
        reasons.append(f"{others} models have no `evaluate` and are left alone")
    for reason in reasons if requests else ():
        context.log.info(reason)
    return dg.SensorResult(
        run_requests=requests,
        skip_reason=None if requests else "; ".join(reasons) or "there are no models",
        dynamic_partitions_requests=[model_partitions.build_add_request(new)] if new else [],
    )


def request(situation: Situation) -> dg.RunRequest:
    """The run that does the work of a model. Its key differs from that of every earlier run."""
    assert situation.work is not None
    work = situation.work
    return dg.RunRequest(
        run_key=f"{work.digest}-{len(situation.attempts)}",
        run_config=run_config(situation),
        tags={WORK_TAG: work.digest, **work.block.tags},
        partition_key=work.block.key,
    )


def run_config(situation: Situation) -> dict[str, Any]:
    """What such a run may spend: whatever earlier runs left of the model's `max_cost_usd`."""
    return {"ops": {"rollouts": {"config": {"max_cost_usd": situation.spec.max_cost_usd, "count_spent": True}}}}


@dg.run_status_sensor(
    run_status=dg.DagsterRunStatus.SUCCESS,
    monitored_jobs=[JOBS["evaluate"], JOBS["judge"]],
    request_job=JOBS["rank"],
    minimum_interval_seconds=30,
    default_status=dg.DefaultSensorStatus.RUNNING,
)
def rank_after_evaluating(context: dg.RunStatusSensorContext) -> dg.RunRequest | dg.SkipReason:
    """Brings leaderboard and report up to date after models were evaluated or judged."""
    waiting = [dg.DagsterRunStatus.NOT_STARTED, dg.DagsterRunStatus.QUEUED]
    if context.instance.get_runs(filters=dg.RunsFilter(job_name="rank", statuses=waiting), limit=1):
        return dg.SkipReason("a run that has not begun yet will see this as well")
    return dg.RunRequest(run_key=context.dagster_run.run_id)
