"""Drawing seeds for one scenario: sources take turns, each with what its environments are short of."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from abstain_assets.records import digest
from abstain_assets.seeds.records import SampledSeed, Seed
from abstain_assets.taxonomy import ActionType, Scenario

QUOTA = 100
HALF = QUOTA // len(ActionType)
_TRUST = {"label": 0, "keyword": 1, "default": 2}


def sample(pool: Iterable[Seed], scenario: Scenario, round_name: str, seed: int, *, half: int = HALF) -> tuple[SampledSeed, ...]:
    """Up to `half` informational and as many operational seeds of a scenario (paper, AbstainGen stage 1).

    The two halves never fill each other up: what is missing stays missing and is reported.

    Args:
        pool: kept seeds, in any order; those of other scenarios are left alone.
        seed: of the round; it only decides between seeds that are equally wanted.
    """
    mine = [item for item in pool if item.scenario is scenario]
    drawn: list[SampledSeed] = []
    for action_type in ActionType:
        candidates = [item for item in mine if item.action_type is action_type]
        for position, item in enumerate(_in_turns(candidates, half, seed)):
            drawn.append(SampledSeed(round=round_name, position=position, seed=item))
    return tuple(drawn)


def _in_turns(candidates: Sequence[Seed], most: int, seed: int) -> list[Seed]:
    """Sources in turns; a source gives a seed of the environment drawn least so far, of several the one with fewest seeds.

    Among seeds of the same environment, labels go before keywords before the default.
    """
    supply = Counter(item.environment for item in candidates)
    waiting: dict[str, list[Seed]] = defaultdict(list)
    lots = {item.id: digest([seed, item.id]) for item in candidates}
    for item in sorted(candidates, key=lambda item: (_TRUST[item.scenario_by], lots[item.id])):
        waiting[item.source].append(item)
    drawn: list[Seed] = []
    taken: Counter[str] = Counter()
    while len(drawn) < most and waiting:
        for source in sorted(waiting):
            if len(drawn) == most:
                break
            chosen = min(waiting[source], key=lambda item: (taken[item.environment], supply[item.environment], item.environment))
            drawn.append(chosen)
            taken[chosen.environment] += 1
            waiting[source].remove(chosen)
            if not waiting[source]:
                del waiting[source]
    return drawn


def shortfall(drawn: Iterable[SampledSeed], *, half: int = HALF) -> dict[ActionType, int]:
    """How many seeds of each action type are missing of a scenario's draw."""
    counts = Counter(item.seed.action_type for item in drawn)
    return {action_type: half - counts[action_type] for action_type in ActionType}
