"""Grounding: which seeds a pair made by a family gives a world to.

Families draw without looking at seeds, so equal rounds have equal bytes with or without the network. What ties the two together is
found afterwards and kept in a table of its own.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping

from abstain_assets.catalog.capabilities import asked_as
from abstain_assets.records import CapabilityRow, Pair
from abstain_assets.seeds.records import AugmentedSeed, Grounding, Route, SeedCapability
from abstain_assets.seeds.sketch import primary
from abstain_assets.taxonomy import ActionType


def ground(
    pairs: Iterable[Pair], seeds: Iterable[AugmentedSeed], routes: Iterable[Route], rows: Iterable[CapabilityRow]
) -> tuple[Grounding, ...]:
    """Every pair with every seed it grounds, sorted by pair and seed.

    A pair grounds a seed where all of this holds:

    - scenario and action type are the same,
    - the seed was routed, and the pair mounts every environment it was routed to,
    - calls of the pair's reference to tools of these environments have every change the seed asks for, or, where it asks for none,
      the lookup its answer rests on.

    Args:
        rows: what the tools can do.
    """
    by_tool = {row.tool: frozenset(asked_as(row)) for row in rows}
    routed = {item.seed: item.environments for item in routes if item.environments}
    candidates = [seed for seed in seeds if seed.seed in routed]
    found: list[Grounding] = []
    for pair in pairs:
        used = _used(pair, by_tool)
        for seed in candidates:
            if (seed.scenario, seed.action_type) != (pair.scenario, pair.action_type):
                continue
            shared = _shared(seed, routed[seed.seed], used)
            if shared and set(routed[seed.seed]) <= set(pair.environments):
                found.append(_grounding(pair, seed, routed[seed.seed], shared))
    return tuple(sorted(found, key=lambda item: (item.pair_id, item.seed)))


def _used(pair: Pair, by_tool: Mapping[str, frozenset[SeedCapability]]) -> Mapping[str, set[SeedCapability]]:
    """By environment, what the calls of a pair's reference can do."""
    used: dict[str, set[SeedCapability]] = defaultdict(set)
    for node in pair.dag.nodes:
        used[node.tool.partition(".")[0]] |= by_tool[node.tool]
    return used


def _shared(
    seed: AugmentedSeed, environments: Iterable[str], used: Mapping[str, set[SeedCapability]]
) -> tuple[SeedCapability, ...]:
    """What the seed asks for and the reference has, there; nothing where what matters is not among it."""
    there = set[SeedCapability]().union(*(used.get(name, set()) for name in environments))
    operational = seed.action_type is ActionType.OPERATIONAL
    required = {item for item in seed.act if item.changes} if operational else {primary(seed.act)}
    return tuple(item for item in seed.act if item in there) if required <= there else ()


def _grounding(pair: Pair, seed: AugmentedSeed, environments: tuple[str, ...], shared: tuple[SeedCapability, ...]) -> Grounding:
    return Grounding(
        pair_id=pair.id,
        round=pair.round,
        seed=seed.seed,
        scenario=pair.scenario,
        action_type=pair.action_type,
        environments=environments,
        shared=shared,
        strength=len(shared) / len(seed.act),
    )
