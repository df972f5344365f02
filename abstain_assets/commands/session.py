"""What every command shares: the two common options, the lake, and where output goes.

With `--json` standard output holds one JSON document and nothing else; everything said on the way goes to standard error.
"""

import json
import math
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from resources.settings import V1, Settings

if TYPE_CHECKING:
    from abstain_assets.project import Project
    from resources.lake import Lake
    from resources.models import Models, ModelSpec

Home = Annotated[
    Path | None, typer.Option("--home", metavar="DIR", help="Where everything is written; ABSTAIN_HOME or ./data by default.")
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document on standard output.")]
Round = Annotated[str, typer.Option("--round", metavar="R", help="The round.")]
DEFAULT_ROUND = V1
_PIPE_WIDTH = 160


@dataclass(frozen=True)
class Common:
    """The common options given before the command's name."""

    home: Path | None = None
    as_json: bool = False


class Session:
    """One command at work.

    Args:
        context: the command's context, which knows the options given before the command's name.
        home, as_json: the options given after it.
    """

    def __init__(self, context: typer.Context, home: Path | None, as_json: bool) -> None:
        before = context.find_root().obj or Common()
        self.settings = Settings.resolve(home or before.home)
        self.as_json = as_json or before.as_json

    @cached_property
    def lake(self) -> "Lake":
        from resources.lake import Lake  # polars and duckdb: not needed for --help

        return Lake(self.settings.home)

    @cached_property
    def project(self) -> "Project":
        from abstain_assets.project import Project  # dagster takes seconds to import

        return Project.open(self.settings)

    @cached_property
    def models(self) -> "Models":
        """The registered models by name.

        Raises:
            BadInput: there is no folder of models.
        """
        from resources.models import load_models  # pydantic and YAML: not needed for --help

        return load_models()

    def model(self, name: str) -> "ModelSpec":
        """A registered model.

        Raises:
            BadInput: there is no such model.
        """
        from resources.models import find_model

        return find_model(name, self.models)

    def note(self, text: str) -> None:
        """Say something on the way."""
        print(text, file=sys.stderr, flush=True)

    def finish(self, document: Any, show: Callable[[], None]) -> None:
        """Print the result: the document with `--json`, else what `show` prints."""
        if "project" in vars(self):
            self.project.lake.refresh()
        if self.as_json:
            print(json.dumps(plain(document), ensure_ascii=False, indent=2, default=str))
        else:
            show()


def plain(value: Any) -> Any:
    """A value as JSON can hold it: a number that is none becomes null."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value


def show_table(columns: Sequence[str], rows: Iterable[Sequence[Any]], *, title: str = "") -> None:
    """Print a table. Numbers stand on the right; a pipe gets room for long lines."""
    from rich.console import Console
    from rich.table import Table

    shown = [list(row) for row in rows]
    table = Table(title=title or None, title_justify="left")
    for index, column in enumerate(columns):
        numbers = all(isinstance(row[index], (int, float, type(None))) for row in shown) and shown
        table.add_column(column, justify="right" if numbers else "left", overflow="fold")
    for row in shown:
        table.add_row(*(_cell(value) for value in row))
    Console(width=None if sys.stdout.isatty() else _PIPE_WIDTH).print(table, markup=False)


def show_facts(facts: Mapping[str, Any]) -> None:
    """Print names and values, one a line."""
    width = max(map(len, facts), default=0)
    for name, value in facts.items():
        print(f"{name:<{width}}  {_cell(value)}")


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:.3f}" if isinstance(value, float) else str(value)
