"""A stratified sample of a round's pairs: as even over scenarios and action types as the number allows."""

from collections import defaultdict
from collections.abc import Iterable
from itertools import chain, zip_longest

from abstain_assets.records import digest
from abstain_assets.taxonomy import ActionType, Scenario

Stratum = tuple[str, str]


def stratified(pairs: Iterable[tuple[str, str, str]], limit: int | None, seed: int = 0) -> list[str]:
    """Ids of at most `limit` pairs, taking one of every stratum in turn.

    Within a stratum the order is fixed but mixed, so that a sample does not prefer the environments whose names come first. A
    larger sample holds every smaller one of the same seed.

    Args:
        pairs: id, scenario and action type of each pair.
    """
    strata: dict[Stratum, list[str]] = defaultdict(list)
    for name, scenario, action_type in pairs:
        strata[scenario, action_type].append(name)
    queues = [
        sorted(strata[item.value, kind.value], key=lambda name: digest([name, seed] if seed else name))
        for kind in ActionType
        for item in Scenario
    ]
    turns = chain.from_iterable(zip_longest(*queues))
    return [name for name in turns if name is not None][:limit]
