"""`abstain judge`: judging stored rollouts. Agents are never run again."""

from typing import Annotated

import typer

from abstain_assets.commands.evaluation import judge, judged_cells, rank, unjudged_runs
from abstain_assets.commands.session import DEFAULT_ROUND, Home, Json, Round, Session, show_facts
from abstain_assets.errors import BadInput

app = typer.Typer(help="Judges and their verdicts.", no_args_is_help=True)


@app.command("run")
def run(
    context: typer.Context,
    judge_name: Annotated[str, typer.Option("--judge", metavar="NAME", help="The judge.")] = "rules",
    round_name: Round = DEFAULT_ROUND,
    model: Annotated[str | None, typer.Option("--model", metavar="M", help="Only this model.")] = None,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Judge the stored rollouts of a round. Verdicts of other judges stay beside these."""
    from abstain_assets.verdicts.current import stale_rollouts

    session = Session(context, home, as_json)
    spec = session.model(model) if model else None
    cells = judged_cells(session, round_name, [spec.slug] if spec else ())
    if not cells:
        raise BadInput(f"there are no rollouts on round {round_name} to judge: run `abstain run MODEL --round {round_name}` first")
    judge(session, cells, judge_name)
    rank(session)
    rows = session.lake.read("verdicts")
    rows = rows.filter((rows["round"] == round_name) & (rows["judge"] == judge_name))
    names = [spec.name] if spec else sorted(set(rows["model"]))
    judged = rows.filter(rows["model"].is_in(names) & rows["abstained"].is_not_null()).height
    stale = stale_rollouts(session.lake, [cell.file for cell in cells]).height
    if stale:
        session.note(f"{stale} rollouts are older than their pairs and were not judged: run the models again, which repeats them")
    unjudged = stale + sum(unjudged_runs(session, round_name, names, judge_name).values())
    document = {"judge": judge_name, "judged": judged, "reused": 0, "unjudged": unjudged, "cost_usd": 0.0}
    session.finish(document, lambda: show_facts(document))
    if unjudged:
        raise typer.Exit(1)
