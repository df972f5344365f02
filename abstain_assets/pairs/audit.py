"""The independent second look at published pairs: what the blocking checks and `abstain verify pairs` share."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from abstain_assets.pairs.verify import verify_pair
from abstain_assets.parallel import spread
from abstain_assets.records import Pair
from abstain_assets.taxonomy import ActionType

FEWEST_PER_ACTION_TYPE = 2


@dataclass(frozen=True)
class Finding:
    """A published pair that fails a check."""

    id: str
    check: str
    reason: str


def audit(pairs: Sequence[Pair]) -> Iterator[Finding]:
    """Validate published pairs again, from their records alone."""
    for (round_name, name), count in Counter((pair.round, pair.id) for pair in pairs).items():
        if count > 1:
            yield Finding(name, "unique", f"round {round_name} holds this id {count} times")
    for pair, checks in zip(pairs, spread(verify_pair, pairs), strict=True):
        yield from (Finding(pair.id, check.name, check.detail) for check in checks if not check.ok)


def shortfalls(pairs: Iterable[Pair]) -> dict[str, int]:
    """Action types of which a scenario has too few pairs, with the number it has."""
    counts = Counter(pair.action_type for pair in pairs)
    return {item.value: counts[item] for item in ActionType if counts[item] < FEWEST_PER_ACTION_TYPE}
