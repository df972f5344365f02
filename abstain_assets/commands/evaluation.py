"""Running, judging and ranking models: the assets from rollouts to the leaderboard, as commands need them."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from abstain_assets.commands.build import build_round, published
from abstain_assets.commands.session import Session
from abstain_assets.errors import BadInput, Incomplete
from abstain_assets.rounds import RoundScenario

if TYPE_CHECKING:
    import polars as pl

    from abstain_assets.partitions import Cell
    from abstain_assets.verdicts.assets import Judged
    from resources.models import ModelSpec


@dataclass(frozen=True)
class Plan:
    """What to run.

    Attributes:
        pairs: ids; all pairs of the scenarios when empty.
        limit: a stratified sample of so many pairs.
        seed: of the sample, and of what scripted policies say.
        max_cost_usd: what all models together may spend.
    """

    round: str
    scenarios: tuple[RoundScenario, ...]
    pairs: tuple[str, ...] = ()
    limit: int | None = None
    epochs: int = 1
    seed: int = 0
    concurrency: int = 8
    max_cost_usd: float | None = None
    retry_errors: bool = False


@dataclass(frozen=True)
class Evaluated:
    """What running models came to: a document per model, and whether all is well."""

    documents: list[dict[str, Any]]
    problems: list[str]


def evaluate(session: Session, specs: "Sequence[ModelSpec]", plan: Plan) -> Evaluated:
    """Run models on a plan, judge what they did and bring the leaderboard up to date. What is missing of the round is built first.

    Raises:
        BadInput: the plan names pairs that do not exist, or a model's key is missing.
        AbstainError: something could not be built, judged or written.
    """
    from abstain_assets.partitions import register as register_partitions
    from resources.models import api_key

    for spec in specs:
        api_key(spec)  # a missing key is said before anything runs
    missing = tuple(item for item in plan.scenarios if item.key not in session.lake.partitions("pairs"))
    if missing:
        build_round(session, missing)
    chosen = _chosen(session, plan)
    register_partitions(session.project.instance, rounds=[plan.round], models=[spec.slug for spec in specs])
    problems = _run(session, specs, plan, chosen)
    rank(session)
    documents = [_document(spec, [item for item in session.project.watch.results if item.model == spec.name]) for spec in specs]
    for document in documents:
        if document["errors"]:
            counted = ", ".join(f"{count} {kind}" for kind, count in document["errors"].items())
            problems.append(f"{document['model']}: runs without a verdict: {counted}")
    unjudged = unjudged_runs(session, plan.round, [spec.name for spec in specs])
    problems += [f"{name}: {count} runs unjudged" for name, count in unjudged.items()]
    return Evaluated(documents, problems)


def _run(session: Session, specs: "Sequence[ModelSpec]", plan: Plan, chosen: dict[str, list[str]]) -> list[str]:
    """Run, judge and measure. A model that had to stop does not keep what is finished from being judged."""
    from abstain_assets.commands.progress import ShownOverCells
    from abstain_assets.partitions import Cell
    from abstain_assets.project import metrics, rollouts, verdicts

    names = sorted(name for names in chosen.values() for name in names)
    cells = [Cell(spec.slug, item) for spec in specs for item in plan.scenarios if item.scenario.value in chosen]
    config = {
        "pairs": names,
        "epochs": plan.epochs,
        "seed": plan.seed,
        "concurrency": plan.concurrency,
        "retry_errors": plan.retry_errors,
        **({} if plan.max_cost_usd is None else {"max_cost_usd": plan.max_cost_usd}),
    }
    watch, problems = session.project.watch, []
    shown = ShownOverCells(2 * len(names) * plan.epochs)
    watch.progress = lambda _: shown
    watch.results.clear()
    try:
        session.project.materialize([rollouts, verdicts, metrics], [cell.key for cell in cells], {"rollouts": config})
    except Incomplete as error:
        problems.append(str(error))
        judge(session, [cell for cell in cells if cell.file in session.lake.partitions("rollouts")])
    finally:
        shown.close()
    if any(item.stopped and item.stopped.reason == "budget" for item in watch.results):
        problems.append("the budget is spent; run again with a higher one to go on")
    return problems


def _chosen(session: Session, plan: Plan) -> dict[str, list[str]]:
    """Ids of the pairs to run, by scenario."""
    from abstain_assets.pairs.sampling import stratified

    rows = published(session, plan.round)
    rows = rows.filter(rows["scenario"].is_in([item.scenario.value for item in plan.scenarios]))
    if unknown := sorted(set(plan.pairs) - set(rows["id"])):
        raise BadInput(f"round {plan.round} has no pair {', '.join(unknown)}; `abstain query 'SELECT id FROM pairs'` lists them")
    if plan.pairs:
        rows = rows.filter(rows["id"].is_in(plan.pairs))
    names = set(stratified(rows.select("id", "scenario", "action_type").iter_rows(), plan.limit, plan.seed))
    chosen: dict[str, list[str]] = {}
    for name, scenario in rows.select("id", "scenario").iter_rows():
        if name in names:
            chosen.setdefault(scenario, []).append(name)
    return chosen


def _document(spec: "ModelSpec", results: Iterable[Any]) -> dict[str, Any]:
    from abstain_assets.rollouts.runner import total

    results = list(results)
    usage = total(item.usage for item in results)
    errors: Counter[str] = Counter()
    for item in results:
        errors.update(item.errors)
    return {
        "model": spec.name,
        "harness": spec.harness,
        "done": sum(item.done for item in results),
        "reused": sum(item.reused for item in results),
        "errors": dict(errors),
        "usage": usage.model_dump(exclude={"cost_usd"}),
        "cost_usd": usage.cost_usd,
        "seconds": round(sum(item.seconds for item in results), 3),
    }


def judged_cells(session: Session, round_name: str, models: Sequence[str] = ()) -> list["Cell"]:
    """Cells of a round that have rollouts, for all models or some (by partition key)."""
    from abstain_assets.partitions import Cell

    cells = [Cell.of_file(name) for name in session.lake.partitions("rollouts")]
    return [cell for cell in cells if cell.scenario.round == round_name and (not models or cell.model in models)]


def judge(
    session: Session, cells: Sequence["Cell"], judge_name: str | None = None, max_cost_usd: float | None = None
) -> "list[Judged]":
    """Judge what is in some cells and compute their metrics. What each cell came to.

    Raises:
        AbstainError: something could not be judged or written.
    """
    from abstain_assets.partitions import register as register_partitions
    from abstain_assets.project import metrics, verdicts

    limit = {} if max_cost_usd is None else {"max_cost_usd": max_cost_usd}
    config = {"verdicts": {"judge": judge_name, **limit}} if judge_name else {}
    session.project.bench.judged.clear()
    # The lake may have cells that the instance does not know, for instance because its folder was moved away.
    register_partitions(
        session.project.instance,
        rounds=dict.fromkeys(cell.scenario.round for cell in cells),
        models=dict.fromkeys(cell.model for cell in cells),
    )
    session.project.materialize([verdicts, metrics], [cell.key for cell in cells], config)
    return list(session.project.bench.judged)


def rank(session: Session) -> None:
    """Bring the leaderboard up to date."""
    from abstain_assets.project import leaderboard

    session.project.materialize([leaderboard])


def unjudged_runs(session: Session, round_name: str, models: Sequence[str], judge_name: str | None = None) -> dict[str, int]:
    """Usable runs without a judgement, by model."""
    return dict(Counter(_unjudged(session, round_name, models, judge_name)["model"].to_list()))


def unjudged_reasons(session: Session, round_name: str, models: Sequence[str], judge_name: str) -> str:
    """The most frequent reason for which a judge gave no judgement."""
    [(reason, _)] = Counter(_unjudged(session, round_name, models, judge_name)["reason"].to_list()).most_common(1)
    return str(reason)


def _unjudged(session: Session, round_name: str, models: Sequence[str], judge_name: str | None) -> "pl.DataFrame":
    rows = session.lake.read("verdicts")
    rows = rows.filter((rows["round"] == round_name) & rows["model"].is_in(models))
    if judge_name:
        rows = rows.filter(rows["judge"] == judge_name)
    return rows.filter(rows["usable"] & rows["abstained"].is_null())
