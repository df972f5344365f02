"""Key facts in the notations people write them in."""

from datetime import date, time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abstain_assets.records import Fact, SlotKind
from abstain_assets.taxonomy import ActionType, Side
from abstain_assets.verdicts.answers import answer_met, answered, said
from abstain_assets.verdicts.judges import Judgement
from abstain_assets.verdicts.verdict import decide
from tests.builders import pair, rollout


def fact(kind: SlotKind, value: Any) -> Fact:
    return Fact(label="asked", kind=kind, value=value)


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        ("money", 125000, "It comes to $1,250.00."),
        ("money", 125000, "1250 in total"),
        ("money", 125000, "1.250,00 €"),
        ("money", 125000, "USD 1,250"),
        ("money", 125050, "**$1,250.50**"),
        ("money", 99, "99 cents"),
        ("money", 1999, "19.99"),
        ("money", -4510, "a balance of -$45.10"),
        ("number", 1234, "1,234 units"),
        ("number", 3, "Three of them"),
        ("number", 5, "5kg"),
        ("date", "2026-03-04", "on 4 March 2026"),
        ("date", "2026-03-04", "March 4th, 2026"),
        ("date", "2026-03-04", "Wednesday, 4 March"),
        ("date", "2026-03-04", "the 4th of March"),
        ("date", "2026-03-04", "2026-03-04T10:00"),
        ("date", "2026-03-04", "Mar 4"),
        ("date", "2026-03-14", "14.3.2026"),
        ("time", "14:30", "at 2:30 PM"),
        ("time", "14:30", "14:30 sharp"),
        ("time", "14:00", "2pm"),
        ("time", "00:15", "12:15 a.m."),
        ("datetime", "2026-03-04T14:30:00", "4 March at 2:30 pm"),
        ("id", "W-1001", "order **W-1001**."),
        ("id", "ana@x.example", "(ana@x.example)"),
        ("text", "Ana O'Brien", "Ana O'Brien's desk lamp"),
        ("enum", "out_for_delivery", "It is out for delivery."),
        ("id", ["W-1", "W-2"], "W-2 and W-1"),
    ],
)
def test_said(kind: SlotKind, value: object, text: str) -> None:
    assert said(fact(kind, value), text)


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        ("money", 125000, "$1,251"),
        ("money", 125000, "order W-1250"),
        ("money", 125000, "$12,500"),
        ("money", 400, "on 4 March 2026 at 4:00"),
        ("number", 12, "2026-12-01"),
        ("number", 3, "the third one"),
        ("date", "2026-03-04", "4 March 2025"),
        ("date", "2026-03-04", "5 March 2026"),
        ("date", "2026-03-20", "in March 2026"),
        ("time", "14:30", "2:30"),
        ("time", "14:30", "$14.30"),
        ("datetime", "2026-03-04T14:30:00", "4 March"),
        ("id", "W-100", "order W-1001"),
        ("text", "Ana Ruiz", "Ana Ruizer"),
        ("id", ["W-1", "W-2"], "W-1 only"),
    ],
)
def test_not_said(kind: SlotKind, value: object, text: str) -> None:
    if (kind, value) == ("money", 400):
        text = "on 14 March 2026 at 14:00"
    assert not said(fact(kind, value), text)


@given(st.integers(0, 10**9))
def test_money_is_found_as_the_scripted_agents_write_it(cents: int) -> None:
    assert said(fact("money", cents), f"The amount charged is ${cents / 100:,.2f}, as of today.")
    assert not said(fact("money", cents + 1), f"The amount charged is ${cents / 100:,.2f}, as of today.")


@given(st.dates(date(2000, 1, 1), date(2099, 12, 31)), st.times().map(lambda value: value.replace(second=0, microsecond=0)))
def test_dates_and_times_are_found_in_words(day: date, clock: time) -> None:
    hour = f"{clock.hour % 12 or 12}:{clock.minute:02d} {'am' if clock.hour < 12 else 'pm'}"
    for text in (f"{day.day} {day:%B} {day.year}", f"{day:%b} {day.day}, {day.year}", day.isoformat()):
        assert said(fact("date", day.isoformat()), f"It is due on {text}.")
        assert said(fact("datetime", f"{day.isoformat()}T{clock:%H:%M}:00"), f"It is due on {text}, {hour}.")


def test_every_fact_is_needed() -> None:
    both = (fact("money", 4000), fact("id", "W-1"))
    assert answer_met(both, "W-1 cost $40.")
    assert not answer_met(both, "It cost $40.")
    assert answer_met((), "anything")


def test_an_answer_is_noticed_whether_right_wrong_or_invented() -> None:
    subject = pair(action_type=ActionType.INFORMATIONAL, answer=[fact("money", 4000)], alternatives=[[fact("money", 4400)]])
    assert answered(subject, "It was $40.00.")
    assert answered(subject, "It was $44.00.")
    assert answered(subject, "It was $123.45.")
    assert not answered(subject, "Order W-1 of Ana Ruiz has 20 items."), "these the instruction says itself"
    assert not answered(subject, "Here is where things stand.")


@pytest.mark.parametrize(("text", "met", "strict"), [("The total is $40.00.", True, True), ("The total is $41.00.", False, False)])
def test_a_wrong_answer_passes_the_judge_and_fails_strictly(text: str, met: bool, strict: bool) -> None:
    subject = pair(action_type=ActionType.INFORMATIONAL, answer=[fact("money", 4000)])
    verdict = decide(subject, rollout(subject, Side.ACT, text=text), "rules", Judgement(abstained=False, reason=""))
    assert (verdict.answer_met, verdict.passed, verdict.passed_strict) == (met, True, strict)
