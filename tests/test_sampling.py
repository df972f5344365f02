"""The stratified sample of pairs."""

from collections import Counter

from abstain_assets.pairs.sampling import stratified
from abstain_assets.taxonomy import ActionType, Scenario

STRATA = [(scenario.value, kind.value) for scenario in Scenario for kind in ActionType]
PAIRS = [(f"{scenario}/{kind}/{number}", scenario, kind) for scenario, kind in STRATA for number in range(9)]
STRATUM = {name: (scenario, kind) for name, scenario, kind in PAIRS}


def test_every_stratum_takes_its_turn() -> None:
    for limit in (1, 16, 20, 32, 100):
        counts = Counter(STRATUM[name] for name in stratified(PAIRS, limit))
        assert counts.total() == limit
        assert max(counts.values()) - min(counts[stratum] for stratum in set(STRATUM.values())) <= 1


def test_a_larger_sample_holds_every_smaller_one() -> None:
    everything = stratified(PAIRS, None)
    assert sorted(everything) == sorted(name for name, _, _ in PAIRS)
    assert stratified(reversed(PAIRS), 40) == everything[:40]


def test_short_strata_leave_their_turns_to_others() -> None:
    few = [item for item in PAIRS if item[1] != Scenario.HIGH_STAKES_ACTION or item[0].endswith("/0")]
    assert len(stratified(few, 100)) == 100
