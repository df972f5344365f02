"""`abstain build`, `abstain stats` and `abstain verify`: from seeds to published pairs, and a second look at them."""

import json
import time
from collections import Counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from abstain_assets.commands.seeds import collect_seeds, seed_figures, show_seeds
from abstain_assets.commands.session import DEFAULT_ROUND, Home, Json, Round, Session, show_facts, show_table
from abstain_assets.errors import BadInput
from abstain_assets.rounds import RoundScenario, scenario_named, scenarios_of
from abstain_assets.taxonomy import Scenario
from resources.settings import check_round

if TYPE_CHECKING:
    import polars as pl

ScenarioOption = Annotated[str | None, typer.Option("--scenario", metavar="S", help="One scenario, by name or code (S1 to S8).")]

verify = typer.Typer(help="Run all gates or validators again.", no_args_is_help=True)


def register(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command()(build)
    app.command()(stats)


def build(
    context: typer.Context,
    round_name: Annotated[str | None, typer.Option("--round", metavar="R", help="The round; v1 by default.")] = None,
    seed: Annotated[int | None, typer.Option("--seed", min=0, help="Seed of a fresh round; alone it builds seed-<n>.")] = None,
    scenario: ScenarioOption = None,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Build the pairs of a round: draw, replay, validate, publish."""
    session = Session(context, home, as_json)
    started = time.perf_counter()
    name = check_round(round_name or (DEFAULT_ROUND if seed is None else f"seed-{seed}"))
    if seed is not None:
        session.settings.keep_seed(name, seed)
    wanted = scenarios_of(name, [scenario_named(scenario)] if scenario else ())
    build_round(session, wanted)
    keys = [item.key for item in wanted]
    pairs, quarantined = session.lake.read("pairs", keys).height, session.lake.read("quarantine", keys).height
    seconds = round(time.perf_counter() - started, 3)
    document = {"round": name, "pairs": pairs, "quarantined": quarantined, "seconds": seconds}
    session.finish(document, lambda: show_facts(document))


def build_round(session: Session, wanted: tuple[RoundScenario, ...]) -> None:
    """Materialize the pairs of some scenarios of one round, and first what they stand on where it changed.

    Raises:
        AbstainError: a gate or a blocking check failed, or something could not be written.
    """
    from abstain_assets.parallel import warm_up
    from abstain_assets.partitions import register as register_partitions
    from abstain_assets.project import capabilities, environments, groundings, pairs, routes, seeds
    from abstain_assets.rows import environment_row
    from environments.runtime import registry

    session.settings.seed_of(wanted[0].round)  # without one, say so before anything is written
    warm_up()
    register_partitions(session.project.instance, rounds=[wanted[0].round])
    changed = [name for name in registry.names() if not _is_checked(session, name, environment_row(name))]
    if changed:
        session.note(f"checking {len(changed)} environments")
    if changed or not _are_listed(session):
        session.project.materialize([capabilities])
    if changed:
        session.project.materialize([environments], changed)
    collect_seeds(session)
    session.note(f"building {len(wanted)} scenarios of round {wanted[0].round}")
    session.project.materialize([seeds, routes, pairs, groundings], [item.key for item in wanted])


def _are_listed(session: Session) -> bool:
    """Whether the lake has the capabilities of the tools as they are now."""
    from abstain_assets.catalog.capabilities import capabilities
    from abstain_assets.rows import capability_rows, frame
    from resources.lake import ALL

    if not session.lake.is_whole("capabilities", ALL):
        return False
    return session.lake.read("capabilities", [ALL]).equals(frame("capabilities", capability_rows(capabilities())))


def _is_checked(session: Session, name: str, row: dict[str, Any]) -> bool:
    """Whether the lake holds everything about an environment as it is now. What is damaged is written again."""
    if not all(session.lake.is_whole(table, name) for table in ("environments", "tools", "checks")):
        return False
    return session.lake.read("environments", [name]).to_dicts() == [row]


def published(session: Session, round_name: str) -> "pl.DataFrame":
    """The rows of `pairs` of a round.

    Raises:
        BadInput: the round is not built.
    """
    rows = session.lake.read("pairs", [item.key for item in scenarios_of(round_name)])
    if rows.is_empty():
        raise BadInput(f"round {round_name!r} is not built: run `abstain build --round {round_name}` first")
    return rows


def stats(
    context: typer.Context,
    round_name: Round = DEFAULT_ROUND,
    with_seeds: Annotated[bool, typer.Option("--seeds", help="Add the funnel of the seeds.")] = False,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Figures of the corpus: environments, tools, pairs, reference executions."""
    session = Session(context, home, as_json)
    document = corpus_figures(session, round_name)
    if with_seeds:
        document["seeds"] = seed_figures(session, round_name)

    def show() -> None:
        tools, dag, mounted = document["tools"], document["dag"], document["environments_per_pair"]
        show_facts(
            {
                "round": round_name,
                "environments": document["environments"],
                "tools": f"{tools['total']} ({tools['lookup']} lookup, {tools['verify']} verify, {tools['commit']} commit)",
                "pairs": document["pairs"]["total"],
                "calls per reference": f"mean {dag['nodes_mean']:.1f}, most {dag['nodes_max']}; edges mean {dag['edges_mean']:.1f}",
                "environments per pair": ", ".join(f"{count} with {size}" for size, count in mounted.items()),
                "quarantined": document["quarantined"],
            }
        )
        by_scenario = document["pairs"]["by_scenario"].items()
        show_table(["scenario", "informational", "operational"], [(name, *counts.values()) for name, counts in by_scenario])
        if with_seeds:
            show_seeds(document["seeds"])

    session.finish(document, show)


def corpus_figures(session: Session, round_name: str) -> dict[str, Any]:
    """The document of `abstain stats --json`.

    Raises:
        BadInput: the round is not built.
    """
    pairs = published(session, round_name)
    kinds = Counter(session.lake.read("tools")["kind"].to_list())
    types = Counter(zip(pairs["scenario"], pairs["action_type"], strict=True))
    mounted = Counter(str(len(json.loads(text))) for text in pairs["environments"])
    return {
        "round": round_name,
        "environments": session.lake.read("environments").height,
        "tools": {"total": kinds.total(), **{kind: kinds[kind] for kind in ("lookup", "verify", "commit")}},
        "pairs": {
            "total": pairs.height,
            "by_scenario": {
                item.value: {kind: types[item.value, kind] for kind in ("informational", "operational")} for item in Scenario
            },
        },
        "dag": {"nodes_mean": pairs["nodes"].mean(), "nodes_max": pairs["nodes"].max(), "edges_mean": pairs["edges"].mean()},
        "environments_per_pair": dict(sorted(mounted.items())),
        "quarantined": session.lake.read("quarantine", [item.key for item in scenarios_of(round_name)]).height,
    }


@verify.command("environments")
def verify_environments(context: typer.Context, home: Home = None, as_json: Json = False) -> None:
    """Run every gate on every shipped environment."""
    from abstain_assets.environments.gates import run_gates
    from abstain_assets.parallel import spread
    from environments.runtime import registry

    session = Session(context, home, as_json)
    started = time.perf_counter()
    names = registry.names()
    gates = [gate for found in spread(run_gates, names) for gate in found]
    failed = [{"id": gate.environment, "check": gate.gate, "reason": gate.detail} for gate in gates if not gate.ok]
    _report_verification(session, len(names), failed, time.perf_counter() - started)


@verify.command("pairs")
def verify_pairs(context: typer.Context, round_name: Round = DEFAULT_ROUND, home: Home = None, as_json: Json = False) -> None:
    """Run every validator again on the published pairs of a round, from their records alone."""
    from abstain_assets.pairs.audit import audit
    from abstain_assets.rows import pairs_from

    session = Session(context, home, as_json)
    started = time.perf_counter()
    pairs = pairs_from(published(session, round_name))
    failed = [vars(finding) for finding in audit(pairs)]
    _report_verification(session, len(pairs), failed, time.perf_counter() - started)


def _report_verification(session: Session, checked: int, failed: list[dict[str, Any]], seconds: float) -> None:
    def show() -> None:
        print(f"{checked} checked, {len(failed)} failed, {seconds:.1f} s")
        if failed:
            show_table(["id", "check", "reason"], [list(item.values()) for item in failed])

    session.finish({"checked": checked, "failed": failed, "seconds": round(seconds, 3)}, show)
    if failed:
        raise typer.Exit(1)
