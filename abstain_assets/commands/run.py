"""`abstain run`, `abstain demo`, `abstain leaderboard` and `abstain report`: models, their rollouts and how they rank."""

import time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from abstain_assets.commands.build import ScenarioOption, build_round, published
from abstain_assets.commands.evaluation import Evaluated, Plan, evaluate, rank
from abstain_assets.commands.session import DEFAULT_ROUND, Home, Json, Round, Session, show_table
from abstain_assets.errors import BadInput
from abstain_assets.rounds import scenario_named, scenarios_of

if TYPE_CHECKING:
    from pathlib import Path

DEMO_PAIRS = 32


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    for command in (demo, run, leaderboard, report):
        app.command()(command)


def demo(
    context: typer.Context,
    all_pairs: Annotated[bool, typer.Option("--all", help="Run the whole round, not a sample of 32 pairs.")] = False,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Build round v1, run the scripted agents, judge them, and write the report."""
    session = Session(context, home, as_json)
    started = time.perf_counter()
    scenarios = scenarios_of(DEFAULT_ROUND)
    build_round(session, scenarios)
    specs = [spec for spec in session.models.values() if spec.harness == "scripted"]
    evaluated = evaluate(session, specs, Plan(DEFAULT_ROUND, scenarios, limit=None if all_pairs else DEMO_PAIRS))
    page = write_report(session)
    rows = leaderboard_rows(session, DEFAULT_ROUND)
    seconds = round(time.perf_counter() - started, 1)

    def show() -> None:
        show_leaderboard(rows)
        print(f"Report: {page}")
        print(f"Dagster UI: ABSTAIN_HOME={session.settings.home} make dev, then open http://127.0.0.1:3000")
        print(f"{seconds} s")

    session.finish({"leaderboard": rows, "report": str(page), "seconds": seconds}, show)
    _exit_with(session, evaluated)


def run(
    context: typer.Context,
    models: Annotated[list[str], typer.Argument(metavar="MODEL...", help="Registered models; see `abstain models list`.")],
    round_name: Round = DEFAULT_ROUND,
    scenario: ScenarioOption = None,
    pairs: Annotated[str | None, typer.Option("--pairs", metavar="ID,..", help="Only these pairs, both sides of each.")] = None,
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="A stratified sample of so many pairs.")] = None,
    epochs: Annotated[int, typer.Option("--epochs", min=1, help="Repetitions of every rollout.")] = 1,
    seed: Annotated[
        int, typer.Option("--seed", min=0, help="Draws another sample with --limit, and other words of the scripted agents.")
    ] = 0,
    concurrency: Annotated[int, typer.Option("--concurrency", min=1, help="Rollouts at once.")] = 8,
    max_cost: Annotated[float | None, typer.Option("--max-cost", min=0, metavar="USD", help="What may be spent.")] = None,
    retry_errors: Annotated[bool, typer.Option("--retry-errors", help="Run those again that have no verdict.")] = False,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Run models on the pairs of a round, then judge what they did. Nothing finished is run again."""
    session = Session(context, home, as_json)
    specs = [session.model(name) for name in dict.fromkeys(models)]
    plan = Plan(
        round_name,
        scenarios_of(round_name, [scenario_named(scenario)] if scenario else ()),
        pairs=_ids(pairs),
        limit=limit,
        epochs=epochs,
        seed=seed,
        concurrency=concurrency,
        max_cost_usd=max_cost,
        retry_errors=retry_errors,
    )
    evaluated = evaluate(session, specs, plan)

    def show() -> None:
        columns = ["model", "harness", "done", "reused", "errors", "cost_usd", "seconds"]
        show_table(columns, [[document[name] or 0 for name in columns] for document in evaluated.documents])
        show_leaderboard([row for row in leaderboard_rows(session, round_name) if row["model"] in {spec.name for spec in specs}])

    session.finish(evaluated.documents, show)
    _exit_with(session, evaluated)


def leaderboard(
    context: typer.Context,
    round_name: Round = DEFAULT_ROUND,
    paper: Annotated[bool, typer.Option("--paper", help="The paper's rules: CAR is 0 where no act side passes.")] = False,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """The leaderboard of a round."""
    session = Session(context, home, as_json)
    published(session, round_name)
    rows = leaderboard_by_paper(session, round_name) if paper else leaderboard_rows(session, round_name)
    if not rows:
        session.note(f"no model was run on round {round_name} yet: use `abstain run MODEL --round {round_name}`")
    session.finish(rows, lambda: show_leaderboard(rows))


def report(
    context: typer.Context,
    open_page: Annotated[bool, typer.Option("--open", help="Open it in the browser.")] = False,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Write the static report."""
    session = Session(context, home, as_json)
    started = time.perf_counter()
    rank(session)
    page = write_report(session)
    pages = len(list(page.parent.rglob("*.html")))
    document = {"report": str(page), "pages": pages, "seconds": round(time.perf_counter() - started, 3)}
    session.finish(document, lambda: print(f"{pages} pages: {page}"))
    if open_page:
        typer.launch(page.as_uri())


def write_report(session: Session) -> "Path":
    """Materialize the report and return its first page."""
    from abstain_assets.project import report as report_asset

    session.project.materialize([report_asset])
    return session.settings.report / "index.html"


def _ids(listed: str | None) -> tuple[str, ...]:
    """Pair ids of an option; none given means all. An empty list is a slip (an unset variable) that must not cost a round."""
    if listed is None:
        return ()
    if not (found := tuple(filter(None, (item.strip() for item in listed.split(","))))):
        raise BadInput("--pairs is empty: name at least one pair, or leave the option out to run all")
    return found


def leaderboard_rows(session: Session, round_name: str) -> list[dict[str, Any]]:
    """Rows of the leaderboard of a round, best first."""
    from abstain_assets.rows import leaderboard_from

    rows = session.lake.read("leaderboard")
    return [line.model_dump(mode="json") for line in leaderboard_from(rows.filter(rows["round"] == round_name))]


def leaderboard_by_paper(session: Session, round_name: str) -> list[dict[str, Any]]:
    """Like `leaderboard_rows`, computed from the verdicts by the paper's rules."""
    from abstain_assets.metrics.leaderboard import leaderboard as ranked
    from abstain_assets.rows import verdicts_from
    from abstain_assets.verdicts.current import current_verdicts

    verdicts = current_verdicts(session.lake)
    lines = ranked(verdicts_from(verdicts.filter(verdicts["round"] == round_name)), paper=True)
    return [line.model_dump(mode="json") for line in lines]


def show_leaderboard(rows: list[dict[str, Any]]) -> None:
    """Print the headline columns."""
    columns = ("model", "judge", "act", "abstain", "paired", "car", "paired_strict", "over_abstention", "pairs", "excluded")
    show_table(columns, [[row[name] for name in columns] for row in rows])


def _exit_with(session: Session, evaluated: Evaluated) -> None:
    for problem in evaluated.problems:
        session.note(f"abstain: {problem}")
    if evaluated.problems:
        raise typer.Exit(1)
