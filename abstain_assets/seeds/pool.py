"""The pool: every collected request goes through filters, duplicates, consolidation and classification, and keeps its fate."""

from collections.abc import Iterable

from abstain_assets.seeds.classify import classify
from abstain_assets.seeds.consolidate import consolidate
from abstain_assets.seeds.duplicates import find_duplicates
from abstain_assets.seeds.filters import objection
from abstain_assets.seeds.plan import action_type
from abstain_assets.seeds.records import CollectedSeed, RawSeed, Seed


def make_pool(collected: Iterable[RawSeed]) -> tuple[CollectedSeed, ...]:
    """The fate of every collected request, in the order of their ids. The result does not depend on the order of the requests."""
    seeds = sorted(collected, key=lambda seed: seed.id)
    objections = {seed.id: reason for seed in seeds if (reason := objection(seed.instruction))}
    clean = [seed for seed in seeds if seed.id not in objections]
    duplicates = find_duplicates(clean)
    distinct = [seed for seed in clean if seed.id not in duplicates]
    places = consolidate(distinct)
    fates: list[CollectedSeed] = []
    for seed in seeds:
        if reason := objections.get(seed.id):
            fates.append(CollectedSeed(raw=seed, fate="filtered", reason=reason))
        elif found := duplicates.get(seed.id):
            fates.append(CollectedSeed(raw=seed, fate="duplicate", reason=found.granularity, twin=found.twin))
        elif why := places.dropped.get(seed.id):
            fates.append(CollectedSeed(raw=seed, fate="dropped", reason=why))
        else:
            fates.append(_kept(seed, places.environments[seed.id]))
    return tuple(fates)


def _kept(seed: RawSeed, environment: str) -> CollectedSeed:
    classified = classify(seed)
    return CollectedSeed(
        raw=seed,
        fate="kept",
        environment=environment,
        scenario=classified.scenario,
        scenario_by=classified.by,
        action_type=action_type(seed),
    )


def seed_of(item: CollectedSeed) -> Seed:
    """The seed of a request that was kept.

    Raises:
        ValueError: it was not.
    """
    if item.environment is None or item.scenario is None or item.scenario_by is None or item.action_type is None:
        raise ValueError(f"{item.raw.id} was not kept")
    return Seed(
        **item.raw.model_dump(exclude={"label"}),
        environment=item.environment,
        scenario=item.scenario,
        scenario_by=item.scenario_by,
        action_type=item.action_type,
    )
