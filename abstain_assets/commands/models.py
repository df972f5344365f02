"""`abstain models`: the registry in `models/`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from abstain_assets.commands.session import Home, Json, Session, show_table
from abstain_assets.errors import BadInput

if TYPE_CHECKING:
    from resources.models import ModelSpec

app = typer.Typer(help="The registry of models.", no_args_is_help=True)


@app.command("list")
def list_models(context: typer.Context, home: Home = None, as_json: Json = False) -> None:
    """All registered models."""
    session = Session(context, home, as_json)
    rows = [_row(spec) for spec in session.models.values()]
    session.finish(rows, lambda: show_table(list(_COLUMNS), [[row[name] for name in _COLUMNS] for row in rows]))


_COLUMNS = ("model", "harness", "provider", "base_url", "key", "file")


def _row(spec: "ModelSpec") -> dict[str, Any]:
    return {
        "model": spec.name,
        "harness": spec.harness,
        "provider": spec.provider,
        "base_url": spec.base_url,
        "key": _key_problem(spec) or ("present" if spec.api_key_env else "not needed"),
        "evaluate": list(spec.evaluate),
        "max_cost_usd": spec.max_cost_usd,
        "max_turns": spec.max_turns,
        "file": spec.file.name,
    }


@app.command("check")
def check(
    context: typer.Context,
    names: Annotated[list[str] | None, typer.Argument(metavar="MODEL...", help="Models to check; all by default.")] = None,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Check that models can be run: file, harness and key. Nothing is sent anywhere."""
    session = Session(context, home, as_json)
    chosen = [session.model(name) for name in names] if names else list(session.models.values())
    results = [{"model": spec.name, "ok": not (problem := _problem(spec)), "problem": problem} for spec in chosen]
    session.finish(results, lambda: show_table(["model", "ok", "problem"], [list(result.values()) for result in results]))
    if not all(result["ok"] for result in results):
        raise typer.Exit(1)


def _problem(spec: "ModelSpec") -> str | None:
    from resources.harness import open_harness  # brings the SDKs

    if problem := _key_problem(spec):
        return problem
    try:
        open_harness(spec)
    except BadInput as error:
        return str(error)
    return None


def _key_problem(spec: "ModelSpec") -> str | None:
    from resources.models import api_key

    try:
        api_key(spec)
    except BadInput as error:
        return str(error)
    return None


@app.command("add")
def add(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="`provider/model`, the name everything is reported under.")],
    base_url: Annotated[str, typer.Option("--base-url", metavar="URL", help="Address of an OpenAI-compatible endpoint.")],
    model: Annotated[str | None, typer.Option("--model", help="The provider's id of the model; by default the last part.")] = None,
    key: Annotated[str | None, typer.Option("--api-key-env", metavar="VARIABLE", help="The variable that holds the key.")] = None,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Write a model file for an OpenAI-compatible endpoint."""
    from resources.models import models_folder, read_model, slug

    session = Session(context, home, as_json)
    try:
        file = models_folder() / f"{slug(name).replace('~', '-')}.yaml"
    except ValueError as error:
        raise BadInput(str(error)) from error
    if name in session.models or file.exists():
        raise BadInput(f"{name} is already registered in {session.models[name].file if name in session.models else file}")
    provider, _, last = name.partition("/")
    fields = {"name": name, "harness": "chat_completions", "provider": provider, "model": model or last, "base_url": base_url}
    _write(file, fields | ({"api_key_env": key} if key else {}))
    spec = read_model(file)
    session.finish(_row(spec), lambda: print(f"{spec.name} is registered in {spec.file}"))


def _write(file: Path, fields: dict[str, str]) -> None:
    """Write a model file that is known to be valid: it is read under another name first."""
    import yaml

    from resources.models import read_model

    draft = file.with_suffix(".draft")
    try:
        draft.write_text(yaml.safe_dump(fields, sort_keys=False, allow_unicode=True), encoding="utf-8")
        read_model(draft)
        draft.replace(file)
    finally:
        draft.unlink(missing_ok=True)
