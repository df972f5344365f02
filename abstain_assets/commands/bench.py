"""`abstain bench`: the measurements of `benchmarks/`, run from a checkout."""

import importlib
import sys
from typing import Any

import typer

from abstain_assets.commands.session import Home, Json, Session, show_facts
from abstain_assets.errors import BadInput
from resources.settings import PROJECT

app = typer.Typer(help="Measure speed, with what it is compared to in the same run.", no_args_is_help=True)


@app.command("sandbox")
def sandbox(context: typer.Context, home: Home = None, as_json: Json = False) -> None:
    """A mounted two-environment sandbox from asking to teardown, beside a plain MCP server process."""
    _measure(Session(context, home, as_json), "sandbox")


@app.command("build")
def build(context: typer.Context, home: Home = None, as_json: Json = False) -> None:
    """Pairs built, replayed and validated per second."""
    _measure(Session(context, home, as_json), "build")


@app.command("rollouts")
def rollouts(context: typer.Context, home: Home = None, as_json: Json = False) -> None:
    """Whole rollouts under every installed harness with a model that answers at once, beside a plain server process."""
    _measure(Session(context, home, as_json), "rollouts")


def _measure(session: Session, name: str) -> None:
    sys.path.append(str(PROJECT))  # an editable installation maps the packages alone, and benchmarks/ is none
    try:
        module = importlib.import_module(f"benchmarks.{name}")
    except ModuleNotFoundError as error:
        raise BadInput("benchmarks/ is not part of the installed package: run this in a checkout") from error
    document: dict[str, Any] = module.measure()
    session.finish(document, lambda: show_facts(_flat(document)))


def _flat(document: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    facts: dict[str, Any] = {}
    for name, value in document.items():
        facts |= _flat(value, f"{prefix}{name}.") if isinstance(value, dict) else {f"{prefix}{name}": value}
    return facts
