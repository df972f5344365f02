"""`abstain query` and `abstain show`: looking at what there is."""

import json
from typing import Annotated, Any

import typer

from abstain_assets.commands.session import Home, Json, Session, plain, show_table
from abstain_assets.errors import BadInput


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command()(query)
    app.command()(show)


def query(
    context: typer.Context,
    sql: Annotated[str, typer.Argument(help="One query over the tables of the lake; see docs/tables.md.")],
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Run one read-only SQL query (DuckDB)."""
    session = Session(context, home, as_json)
    answer = session.lake.query(sql)
    session.finish(answer.records(), lambda: show_table(answer.columns, answer.rows))


def show(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="ID", help="A pair, rollout (fingerprint), model or environment.")],
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Show one pair, rollout, model or environment."""
    from rich.console import Console
    from rich.json import JSON

    session = Session(context, home, as_json)
    record = find_record(session, name)
    session.finish(record, lambda: Console().print(JSON(json.dumps(plain(record), default=str))))


def find_record(session: Session, name: str) -> Any:
    """The record of a pair, rollout, model or environment.

    A pair's id names one pair per round: all of them are returned where there are several. With a pair come the seeds it grounds.

    Raises:
        BadInput: nothing has this id.
    """
    from abstain_assets.rows import environment_row, pairs_from, rollouts_from, tool_rows, unpacked
    from abstain_assets.tables import TABLES
    from environments.runtime import registry

    if name in registry.names():
        tools = [unpacked(TABLES["tools"], row) for row in tool_rows(name)]
        return {**unpacked(TABLES["environments"], environment_row(name)), "tools": tools}
    if name in session.models:
        return session.models[name].model_dump(mode="json")
    lake = session.lake
    rows = lake.read("pairs")
    if found := pairs_from(rows.filter(rows["id"] == name)):
        records = [{**pair.model_dump(mode="json"), "groundings": _groundings(session, pair.id, pair.round)} for pair in found]
        return records[0] if len(records) == 1 else records
    runs, calls = lake.read("rollouts"), lake.read("calls")
    for rollout in rollouts_from(runs.filter(runs["fingerprint"] == name), calls.filter(calls["fingerprint"] == name)):
        verdicts = lake.read("verdicts")
        judged = verdicts.filter(verdicts["fingerprint"] == name).to_dicts()
        return {**rollout.model_dump(mode="json"), "verdicts": judged}
    raise BadInput(f"nothing is called {name!r}: expected a pair, a rollout's fingerprint, a model or an environment")


def _groundings(session: Session, pair_id: str, round_name: str) -> list[dict[str, Any]]:
    """The seeds a pair grounds, those that ask for most of what it does first."""
    from abstain_assets.rounds import scenarios_of
    from abstain_assets.rows import unpacked
    from abstain_assets.tables import TABLES

    keys = [item.key for item in scenarios_of(round_name)]
    rows = session.lake.read("groundings", keys)
    seeds = session.lake.read("augmented_seeds", keys, columns=["seed", "scenario", "instruction"])
    found = (
        rows.filter(rows["pair_id"] == pair_id)
        .join(seeds, on=["seed", "scenario"])
        .sort(["strength", "seed"], descending=[True, False])
    )
    columns = ("seed", "instruction", "environments", "shared", "strength")
    return [unpacked(TABLES["groundings"], row) for row in found.select(columns).iter_rows(named=True)]
