"""`abstain models`: the registry in `models/`."""

import asyncio
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from abstain_assets.commands.session import Home, Json, Session, show_table
from abstain_assets.errors import BadInput

if TYPE_CHECKING:
    from abstain_assets.rollouts.trial import Tried
    from resources.models import ModelSpec

app = typer.Typer(help="The registry of models.", no_args_is_help=True)

_AT_ONCE = 4


@app.command("list")
def list_models(context: typer.Context, home: Home = None, as_json: Json = False) -> None:
    """All registered models. What is wrong with other files is said on standard error."""
    session = Session(context, home, as_json)
    rows = [_row(spec) for spec in session.models.values()]
    for error in session.models.broken:
        session.note(f"abstain: {error}")
    session.finish(rows, lambda: show_table(_COLUMNS, [[_short(row[name]) for name in _COLUMNS] for row in rows]))
    if session.models.broken:
        raise typer.Exit(BadInput.exit_code)


_COLUMNS = ("model", "harness", "sdk", "provider", "model_id", "key", "prices")


def _row(spec: "ModelSpec") -> dict[str, Any]:
    """Every field of a model file, and whether its key and its harness's SDK are there. `model` is the name, as everywhere."""
    from resources.endpoints import SDKS

    fields = spec.model_dump(mode="json")
    sdk = SDKS.get(spec.harness)
    return {
        "model": fields.pop("name"),
        "harness": fields.pop("harness"),
        "sdk": "not needed" if sdk is None else "installed" if sdk.installed else "missing",
        "provider": fields.pop("provider"),
        "model_id": fields.pop("model"),
        "key": "not needed" if spec.api_key_env is None else "missing" if _missing_key(spec) else "present",
        **fields,
        "file": spec.file.name,
    }


def _short(value: Any) -> Any:
    """Prices for a table: dollars per million tokens in and out."""
    return f"{value['input_per_million']:g} / {value['output_per_million']:g}" if isinstance(value, dict) else value


@app.command("check")
def check(
    context: typer.Context,
    names: Annotated[list[str] | None, typer.Argument(metavar="MODEL...", help="By default all with key and SDK.")] = None,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Try models: one short question and one tool call, through their own harness. Says what is wrong and what it cost."""
    session = Session(context, home, as_json)
    broken = [] if names else session.models.broken
    for error in broken:
        session.note(f"abstain: {error}")
    chosen = [session.model(name) for name in dict.fromkeys(names)] if names else list(session.models.values())
    unready = {} if names else {spec.name: lack for spec in chosen if (lack := _lack(spec))}
    tried = asyncio.run(_try_all(session, [spec for spec in chosen if spec.name not in unready]))
    results = [_result(spec, tried[spec.name]) if spec.name in tried else unready[spec.name] for spec in chosen]
    columns = ("model", "harness", "ok", "part", "problem", "cost_usd", "seconds")
    session.finish(results, lambda: show_table(columns, [[_word(row[name]) for name in columns] for row in results]))
    if broken or any(result["ok"] is False for result in results):
        raise typer.Exit(1)


async def _try_all(session: Session, specs: "list[ModelSpec]") -> "dict[str, Tried]":
    from abstain_assets.rollouts.trial import try_model  # brings the environments
    from resources.sandbox import SandboxPool

    slots = asyncio.Semaphore(_AT_ONCE)
    async with SandboxPool() as pool:

        async def one(spec: "ModelSpec") -> "tuple[str, Tried]":
            async with slots:
                tried = await try_model(spec, pool)
            session.note(f"{spec.name}: {tried.problem or 'ok'}")
            return spec.name, tried

        return dict(await asyncio.gather(*map(one, specs)))


def _result(spec: "ModelSpec", tried: "Tried") -> dict[str, Any]:
    usage = tried.usage.model_dump(exclude={"cost_usd"})
    outcome = {"ok": tried.problem is None, "part": tried.part, "problem": tried.problem}
    cost = {"usage": usage, "cost_usd": tried.usage.cost_usd, "seconds": tried.seconds}
    return {"model": spec.name, "harness": spec.harness, **outcome, **cost}


def _lack(spec: "ModelSpec") -> dict[str, Any] | None:
    """The result for a model that nobody named and that has no key or no SDK here. It is not tried, so it is not wrong."""
    from resources.endpoints import SDKS

    part, problem = "key", _missing_key(spec)
    sdk = SDKS.get(spec.harness)
    if problem is None and sdk is not None and not sdk.installed:
        part, problem = "harness", f"the {spec.harness} harness is not installed: {sdk.fix}"
    if problem is None:
        return None
    outcome = {"ok": None, "part": part, "problem": problem, "usage": None, "cost_usd": 0.0, "seconds": 0.0}
    return {"model": spec.name, "harness": spec.harness, **outcome}


def _word(value: Any) -> Any:
    return {True: "yes", False: "no", None: "-"}[value] if value is None or isinstance(value, bool) else value


def _missing_key(spec: "ModelSpec") -> str | None:
    from resources.models import MissingKey, api_key

    try:
        api_key(spec)
    except MissingKey as error:
        return str(error)
    except BadInput:
        return None  # it is there and wrong
    return None


@app.command("add")
def add(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="`provider/model`, the name everything is reported under.")],
    harness: Annotated[str, typer.Option("--harness", help="The agent loop that drives it.")] = "chat_completions",
    provider: Annotated[str | None, typer.Option("--provider", help="Who serves it; by default the name's first part.")] = None,
    model: Annotated[str | None, typer.Option("--model", help="The provider's id of it; by default the rest of the name.")] = None,
    base_url: Annotated[
        str | None, typer.Option("--base-url", metavar="URL", help="The endpoint; known providers need none.")
    ] = None,
    key: Annotated[str | None, typer.Option("--api-key-env", metavar="VARIABLE", help="Names the variable of the key.")] = None,
    temperature: Annotated[float | None, typer.Option("--temperature", help="0 by default.")] = None,
    default_sampling: Annotated[bool, typer.Option("--default-sampling", help="Leave the temperature to the provider.")] = False,
    max_tokens: Annotated[int | None, typer.Option("--max-tokens", help="Of one reply.")] = None,
    max_turns: Annotated[int | None, typer.Option("--max-turns", help="Of one rollout; 30 by default.")] = None,
    prices: Annotated[
        tuple[float, float] | None, typer.Option("--prices", metavar="IN OUT", help="US dollars per million tokens, as of today.")
    ] = None,
    weights: Annotated[bool | None, typer.Option("--open/--closed", help="Whether the weights can be had.")] = None,
    family: Annotated[str | None, typer.Option("--family", help="For example GLM.")] = None,
    generation: Annotated[str | None, typer.Option("--generation", help="For example 5.")] = None,
    released: Annotated[str | None, typer.Option("--release-date", metavar="YYYY-MM-DD")] = None,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Write a model file. It names the variable of the key and never holds the key."""
    from resources.models import models_folder, read_model, slug

    session = Session(context, home, as_json)
    if default_sampling and temperature is not None:
        raise BadInput("--temperature and --default-sampling exclude each other: give one of them")
    try:
        file = models_folder() / f"{slug(name).replace('~', '-')}.yaml"
    except ValueError as error:
        raise BadInput(str(error)) from error
    _refuse_taken(session, name, harness, file)
    first, _, rest = name.partition("/")
    settings = {"max_tokens": max_tokens} | ({"temperature": temperature} if temperature is not None else {})
    settings = {field: value for field, value in settings.items() if value is not None}
    fields = {
        "name": name,
        "harness": harness,
        "provider": provider or first,
        "model": model or rest.partition("+")[0],
        "base_url": base_url,
        "api_key_env": key,
        "settings": settings | ({"temperature": None} if default_sampling else {}),
        "prices": prices and {"input_per_million": prices[0], "output_per_million": prices[1], "date": date.today()},
        "open": weights,
        "family": family,
        "generation": generation,
        "release_date": released,
        "max_turns": max_turns,
    }
    _write(file, {field: value for field, value in fields.items() if value not in (None, {})})
    spec = read_model(file)
    session.finish(_row(spec), lambda: print(f"{spec.name} is registered in {spec.file}; try it: abstain models check {spec.name}"))


def _refuse_taken(session: Session, name: str, harness: str, file: Path) -> None:
    """A name means one model under one harness, for results carry it.

    Raises:
        BadInput: it is taken, or its file is.
    """
    taken = session.models.get(name)
    if taken is None and not file.exists():
        return
    advice = ""
    if taken is not None and taken.harness != harness:
        own = f"{name}+{harness.partition('_')[0]}"
        advice = f" under the harness {taken.harness}; under another one it needs a name of its own, like {own}"
    raise BadInput(f"{name} is already registered in {taken.file if taken else file}{advice}")


def _write(file: Path, fields: dict[str, Any]) -> None:
    """Write a model file that is known to be valid: it is read under another name first."""
    import yaml

    from resources.models import BadModel, read_model

    draft = file.with_suffix(".draft")
    try:
        draft.write_text(yaml.safe_dump(fields, sort_keys=False, allow_unicode=True), encoding="utf-8")
        read_model(draft)
        draft.replace(file)
    except BadModel as error:
        raise BadInput(f"nothing was written: {str(error).removeprefix(f'{draft}: ')}") from error
    finally:
        draft.unlink(missing_ok=True)
