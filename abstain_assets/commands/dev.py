"""`abstain dev`: the Dagster UI and daemon on the same instance the commands use."""

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from abstain_assets.commands.session import DEFAULT_ROUND, Home, Json, Session
from abstain_assets.errors import BadInput
from resources.secrets import ENV_FILE_VARIABLE, env_file, variable
from resources.settings import PROJECT, Settings


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command()(dev)


def dev(
    context: typer.Context,
    port: Annotated[int, typer.Option("--port", min=1, max=65535, help="Where to serve, on this machine only.")] = 3000,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Serve the Dagster UI on this machine. Opening it runs nothing."""
    from abstain_assets.partitions import register as register_partitions

    session = Session(context, home, as_json)
    dagster = Path(sys.executable).with_name("dagster")
    if not dagster.exists():
        raise BadInput(f"there is no {dagster}: run `make setup`")
    models = [spec.slug for spec in session.models.values()]
    register_partitions(session.project.instance, rounds=[DEFAULT_ROUND], models=models)
    session.note(f"http://127.0.0.1:{port} (stop with Ctrl-C)")
    os.environ |= _steering(session.settings)
    # Dagster lets a `.env` in its working directory win over the shell, and over --home. In this folder there is none.
    os.chdir(session.settings.dagster_home)
    workspace = str(PROJECT / "workspace.yaml")
    os.execv(dagster, [str(dagster), "dev", "--workspace", workspace, "--host", "127.0.0.1", "--port", str(port)])


def _steering(settings: Settings) -> dict[str, str]:
    """The variables that let Dagster's processes, which run elsewhere, find what this command finds. Keys are not among them."""
    folders = {
        name: os.pathsep.join(str(Path(folder).expanduser().absolute()) for folder in value.split(os.pathsep) if folder)
        for name in ("ABSTAIN_MODELS", "ABSTAIN_CACHE", "ABSTAIN_FAMILIES")
        if (value := variable(name))
    }
    own = {"ABSTAIN_HOME": str(settings.home), "DAGSTER_HOME": str(settings.dagster_home), ENV_FILE_VARIABLE: str(env_file())}
    return folders | own
