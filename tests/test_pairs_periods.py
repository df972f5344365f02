"""Periods hold the day they are for and none of the others; the contradiction leaves no day at all."""

from datetime import date, timedelta
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from abstain_assets.pairs.atoms import minimal_contradiction, satisfiable
from abstain_assets.pairs.periods import backward_period, period_around
from abstain_assets.records import ConflictingConstraints, Ref, Slot

_START = date(2026, 3, 1)
_days = st.integers(0, 60).map(lambda days: _START + timedelta(days=days))


@given(st.integers(0, 10_000), _days, st.lists(_days))
def test_a_period_holds_its_day_and_no_other(seed: int, day: date, others: list[date]) -> None:
    low, high = period_around(Random(seed), day, others)
    assert low <= day <= high
    assert not [other for other in others if low <= other <= high and other != day]


@given(st.integers(0, 10_000), _days, st.lists(_days))
def test_a_backward_period_contradicts_itself(seed: int, day: date, others: list[date]) -> None:
    slots: dict[str, Slot] = {}
    trigger = backward_period(Random(seed), slots, day, others, Ref(ref="found.day"), "no message").trigger
    assert isinstance(trigger, ConflictingConstraints)
    assert set(slots) == {"low", "high"}
    assert satisfiable(trigger.act_atoms, trigger.domains)
    assert minimal_contradiction(trigger.abstain_atoms, trigger.domains) == trigger.abstain_atoms
