"""`abstain judge`: judging stored rollouts. Agents are never run again."""

from typing import Annotated

import typer

from abstain_assets.commands.evaluation import judge, judged_cells, rank, unjudged_reasons, unjudged_runs
from abstain_assets.commands.session import DEFAULT_ROUND, Home, Json, Round, Session, show_facts
from abstain_assets.errors import BadInput

app = typer.Typer(help="Judges and their verdicts.", no_args_is_help=True)


@app.command("run")
def run(
    context: typer.Context,
    judge_name: Annotated[
        str, typer.Option("--judge", metavar="NAME", help="The judge: `rules`, or a model of `abstain models list`.")
    ] = "rules",
    round_name: Round = DEFAULT_ROUND,
    model: Annotated[str | None, typer.Option("--model", metavar="M", help="Only this model.")] = None,
    max_cost: Annotated[float | None, typer.Option("--max-cost", metavar="USD", min=0, help="What the judge may spend.")] = None,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Judge the stored rollouts of a round. Verdicts of other judges stay beside these."""
    from abstain_assets.rollouts.runner import total
    from abstain_assets.verdicts.current import stale_rollouts
    from resources.models import from_slug

    session = Session(context, home, as_json)
    spec = session.model(model) if model else None
    cells = judged_cells(session, round_name, [spec.slug] if spec else ())
    if not cells:
        raise BadInput(f"there are no rollouts on round {round_name} to judge: run `abstain run MODEL --round {round_name}` first")
    done = judge(session, cells, judge_name, max_cost)
    rank(session)
    names = [spec.name] if spec else sorted({from_slug(cell.model) for cell in cells})
    stale = stale_rollouts(session.lake, [cell.file for cell in cells]).height
    if stale:
        session.note(f"{stale} rollouts are older than their pairs and were not judged: run the models again, which repeats them")
    without = unjudged_runs(session, round_name, names, judge_name)
    if without:
        reasons = unjudged_reasons(session, round_name, names, judge_name)
        session.note(f"{judge_name} gave no judgement of {sum(without.values())} rollouts ({reasons}): run the command again")
    document = {
        "judge": judge_name,
        "judged": sum(cell.judged for cell in done),
        "reused": sum(cell.reused for cell in done),
        "unjudged": stale + sum(without.values()),
        "cost_usd": total(cell.usage for cell in done).cost_usd,
    }
    session.finish(document, lambda: show_facts(document))
    if document["unjudged"]:
        raise typer.Exit(1)
