"""Routing (paper, AbstainGen stage 3): each seed to the smallest set of shipped environments found that can do what it asks for.

Nothing is dropped: what no environment can do is reported with the seed. Pure functions of capabilities; the order of environments
and of capabilities never matters.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass

from abstain_assets.catalog.capabilities import Offers, offers
from abstain_assets.records import CapabilityRow
from abstain_assets.seeds.records import TOOL_KINDS, AugmentedSeed, Route, SeedCapability

MOST_ENVIRONMENTS = 4
_HOME = 3


def cover(needed: Set[SeedCapability], offered: Offers, wished: Set[SeedCapability] = frozenset()) -> tuple[str, ...]:
    """A set of environments that together have all that is needed, none of which could be left out.

    Greedy: the environment that adds most is taken first; of several the one that has more of what is wished for, then the first by
    name. What became superfluous by later ones is taken out again.

    Args:
        needed: capabilities; at least one environment has each of them.
        wished: capabilities that only decide between equals.

    Returns:
        Names in the order in which they were taken.

    Raises:
        ValueError: no environment has one of those needed.
    """
    taken: list[str] = []
    open_ = set(needed)
    while open_:
        best = min(sorted(offered), key=lambda name: (-len(open_ & offered[name]), -len(wished & offered[name])), default=None)
        if best is None or not open_ & offered[best]:
            raise ValueError(f"no environment has {', '.join(sorted(map(str, open_)))}")
        taken.append(best)
        open_ -= offered[best]
    for name in tuple(reversed(taken)):
        others = frozenset[SeedCapability]().union(*(offered[other] for other in taken if other != name))
        if needed <= others:
            taken.remove(name)
    return tuple(taken)


def route(seed: AugmentedSeed, offered: Offers) -> Route:
    """Where a seed goes, or why it goes nowhere.

    Only what the act side asks for has to be covered. What only the abstain side refers to decides between equal covers.
    """
    everything = frozenset[SeedCapability]().union(*offered.values())
    if unassigned := tuple(item for item in seed.act if item not in everything):
        return Route(seed=seed.seed, unassigned=unassigned)
    found = cover(frozenset(seed.act), offered, frozenset(seed.abstain))
    if len(found) > MOST_ENVIRONMENTS:
        return Route(seed=seed.seed, too_many=len(found))
    there = frozenset[SeedCapability]().union(*(offered[name] for name in found))
    return Route(seed=seed.seed, environments=found, missing=tuple(item for item in seed.abstain if item not in there))


@dataclass(frozen=True)
class GateFinding:
    """Something that must not be published: a seed or a tool, and what is wrong with it."""

    subject: str
    reason: str


def publish_gate(
    seeds: Iterable[AugmentedSeed], routes: Iterable[Route], rows: Sequence[CapabilityRow], tools: Set[str]
) -> tuple[GateFinding, ...]:
    """Everything that keeps routes from being published; nothing where they may be.

    Every feasible seed has exactly one route. A routed seed has every capability it asks for in at most four environments, none of
    them superfluous; one that is not routed names exactly what no environment has. Every capability is that of a shipped tool and
    acts on something.

    Args:
        rows: the capabilities as published.
        tools: the tools that are shipped, `<environment>.<tool>`.
    """
    findings = [GateFinding(row.tool, reason) for row in rows for reason in _wrong_tool(row, tools)]
    findings += [GateFinding(name, "has no capability") for name in sorted(tools - {row.tool for row in rows})]
    offered = offers(rows)
    everything = frozenset[SeedCapability]().union(*offered.values())
    by_seed = {item.seed: item for item in seeds if item.problem is None}
    routed = Counter[str]()
    for item in routes:
        routed[item.seed] += 1
        if item.seed not in by_seed:
            findings.append(GateFinding(item.seed, "is routed but is no feasible seed"))
        else:
            needed = frozenset(by_seed[item.seed].act)
            findings += [GateFinding(item.seed, reason) for reason in _wrong(item, needed, offered, everything)]
    findings += [GateFinding(name, f"has {routed[name]} routes") for name in sorted(by_seed) if routed[name] != 1]
    return tuple(findings)


def _wrong_tool(row: CapabilityRow, tools: Set[str]) -> Iterator[str]:
    """What is wrong with one capability."""
    if row.tool not in tools:
        yield "is no shipped tool"
    if not row.objects:
        yield "acts on nothing in the vocabulary"
    if TOOL_KINDS[row.kind] is not row.tool_kind:
        yield f"is a {row.tool_kind}, which is not what a {row.kind} takes"


def _wrong(item: Route, needed: frozenset[SeedCapability], offered: Offers, everything: Set[SeedCapability]) -> list[str]:
    """What is wrong with one route."""
    if not item.environments:
        reported = set(item.unassigned) == needed - everything and (item.unassigned or (item.too_many or 0) > MOST_ENVIRONMENTS)
        return [] if reported else ["goes nowhere and does not say why"]
    wrong = [f"goes to {name}, which is not shipped" for name in item.environments if name not in offered]
    there = {name: offered.get(name, frozenset()) for name in item.environments}
    uncovered = needed - frozenset[SeedCapability]().union(*there.values())
    wrong += [f"asks for {capability}, which no environment of its route has" for capability in sorted(map(str, uncovered))]
    if len(item.environments) > MOST_ENVIRONMENTS:
        wrong.append(f"goes to more than {MOST_ENVIRONMENTS} environments")
    for name in there:
        others = frozenset[SeedCapability]().union(*(has for other, has in there.items() if other != name))
        if not uncovered and needed <= others:
            wrong.append(f"goes to {name} without need")
    return wrong


@dataclass(frozen=True)
class CatalogReport:
    """What is odd about the catalog. Reported, never repaired by itself.

    Attributes:
        redundant: environments of which every capability is found in others.
        single: environments with only one capability.
        mismatched: by environment, objects only one of its tools acts on, while another environment has three or more for them.
        idle: environments no seed was routed to.
    """

    redundant: tuple[str, ...]
    single: tuple[str, ...]
    mismatched: Mapping[str, tuple[str, ...]]
    idle: tuple[str, ...]


def report(rows: Iterable[CapabilityRow], routes: Iterable[Route]) -> CatalogReport:
    """Redundant, single-capability and mismatched environments, and idle ones."""
    kept = list(rows)
    offered = offers(kept)
    tools = Counter((row.environment, name) for row in kept for name in row.objects)
    mismatched: dict[str, tuple[str, ...]] = {}
    for environment in offered:
        guests = (
            name
            for here, name in sorted(tools)
            if here == environment
            and tools[here, name] == 1
            and any(count >= _HOME for (other, same), count in tools.items() if same == name and other != here)
        )
        if found := tuple(guests):
            mismatched[environment] = found
    used = {name for item in routes for name in item.environments}
    return CatalogReport(
        redundant=tuple(
            name
            for name, has in offered.items()
            if has <= frozenset[SeedCapability]().union(*(others for other, others in offered.items() if other != name))
        ),
        single=tuple(name for name, count in Counter(row.environment for row in kept).items() if count == 1),
        mismatched=mismatched,
        idle=tuple(name for name in offered if name not in used),
    )
