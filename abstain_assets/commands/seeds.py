"""What `abstain build` and `abstain stats` do about seeds: collecting them where that is due, and the funnel."""

from typing import TYPE_CHECKING, Any

from abstain_assets.commands.session import Session, show_facts, show_table
from abstain_assets.rounds import scenarios_of

if TYPE_CHECKING:
    from resources.lake import Lake


def collect_seeds(session: Session) -> None:
    """Materialize the pool where it is missing or out of date, or where a benchmark could not be had the last time.

    Raises:
        AbstainError: something could not be written.
    """
    from abstain_assets.project import seed_pool
    from abstain_assets.rows import sources_from
    from resources.lake import ALL

    if is_collected(session.lake):
        return
    session.note("collecting seeds")
    session.project.materialize([seed_pool])
    for item in sources_from(session.lake.read("seed_sources", [ALL])):
        if item.problem:
            session.note(f"no seeds from {item.source}: {item.problem}")


def is_collected(lake: "Lake") -> bool:
    """Whether the lake has the pool of all benchmarks, made of the pinned wheels by the code as it is now."""
    from abstain_assets.rows import sources_from
    from abstain_assets.seeds.sources import basis
    from resources.lake import ALL

    if not all(lake.is_whole(table, ALL) for table in ("seeds", "seed_sources")):
        return False
    sources = sources_from(lake.read("seed_sources", [ALL]))
    return all(item.basis == basis() and not item.problem for item in sources)


def seed_figures(session: Session, round_name: str) -> dict[str, Any]:
    """The funnel, down to what was drawn for a round, where that was routed, and which pairs ground it."""
    from abstain_assets.catalog.figures import funnel as routing_funnel
    from abstain_assets.rows import sources_from
    from abstain_assets.seeds.figures import funnel
    from resources.lake import ALL

    lake = session.lake
    keys = [item.key for item in scenarios_of(round_name)]
    routed = routing_funnel(
        lake.read("augmented_seeds", keys),
        lake.read("routes", keys),
        lake.read("groundings", keys),
        lake.read("capabilities", [ALL]),
        lake.read("pairs", keys, columns=["id"])["id"],
    )
    collected = funnel(lake.read("seeds", [ALL]), lake.read("seed_samples", keys), sources_from(lake.read("seed_sources", [ALL])))
    return {**collected, **routed}


def show_seeds(figures: dict[str, Any]) -> None:
    """Print the funnel."""
    show_facts(
        {
            "seeds": f"{figures['collected']} collected, {figures['kept']} kept, {figures['sampled']} sampled",
            "filtered": _listed(figures["filtered"]),
            "duplicates": _listed(figures["duplicates"]),
            "dropped": _listed(figures["dropped"]),
            "environments": f"{len(figures['environments'])}, from {figures['source_environments']} labels of the sources",
        }
    )
    for source, problem in figures["unavailable"].items():
        print(f"no seeds from {source}: {problem}")
    show_table(["source", *_FATES], [(name, *(counts[fate] for fate in _FATES)) for name, counts in figures["by_source"].items()])
    rows = [
        (name, counts["informational"], counts["operational"], sum(counts["shortfall"].values()))
        for name, counts in figures["by_scenario"].items()
    ]
    show_table(["scenario", "informational", "operational", "missing"], rows)
    _show_routing(figures["augmentation"], figures["routing"], figures["grounding"])


def _show_routing(augmentation: dict[str, Any], routing: dict[str, Any], grounding: dict[str, Any]) -> None:
    """Print where the drawn seeds went."""
    lacking = routing["unassigned_capabilities"]
    most = dict(list(lacking.items())[:_SHOWN])
    show_facts(
        {
            "augmented": f"{augmentation['augmented']}, of which {augmentation['feasible']} feasible",
            "infeasible": _listed(augmentation["infeasible"]),
            "routed": f"{routing['routed']}, to {_listed(routing['by_environment'])}",
            "environments per seed": ", ".join(f"{count} with {size}" for size, count in routing["by_size"].items() if count),
            "unassigned": f"{routing['unassigned']}, which lack {len(lacking)} capabilities; most often {_listed(most)}",
            "grounded": f"{grounding['seeds_grounded']} seeds by {grounding['pairs_with_seeds']} of {grounding['pairs']} pairs",
        }
    )


_SHOWN = 6
_FATES = ("filtered", "duplicate", "dropped", "kept")


def _listed(counts: dict[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counts.items() if count) or "none"
