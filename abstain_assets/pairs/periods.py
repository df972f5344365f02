"""Periods between two days, and the contradiction of a period that ends before it begins."""

from collections.abc import Iterable
from datetime import date, timedelta
from random import Random

from abstain_assets.pairs.changes import Change, contradiction
from abstain_assets.pairs.slots import say_date
from abstain_assets.records import Atom, Domain, Ref, Slot

PERIOD = "no earlier than {low} and no later than {high}"


def period_around(rng: Random, day: date, others: Iterable[date]) -> tuple[date, date]:
    """First and last day of a period of at most 19 days that holds `day` and none of the other days."""
    known = list(others)
    before = min([rng.randint(2, 9), *((day - other).days - 1 for other in known if other < day)])
    after = min([rng.randint(2, 9), *((other - day).days - 1 for other in known if other > day)])
    return day - timedelta(days=before), day + timedelta(days=after)


def backward_period(rng: Random, slots: dict[str, Slot], day: date, others: Iterable[date], bind: Ref, what: str) -> Change:
    """S3: the period of `PERIOD`, which the template must contain, ends before it begins on the abstain side.

    Args:
        slots: get the slots `low` and `high`.
        day: the day that the act side finds; none of `others` lies in the period.
        bind: where the replay shows that day.
        what: what is looked for, with its article: "no message".
    """
    low, high = period_around(rng, day, others)
    before = low - timedelta(days=rng.randint(5, 16))
    slots |= {"low": say_date(rng, low), "high": say_date(rng, high)}
    clash = say_date(rng, before)
    floor = Atom(var="day", op=">=", rhs=low.isoformat(), text=f"no earlier than {slots['low'].text}")
    ceiling = Atom(var="day", op="<=", rhs=high.isoformat(), text=f"no later than {slots['high'].text}")
    lower = Atom(var="day", op="<=", rhs=before.isoformat(), text=f"no later than {clash.text}")
    return contradiction(
        slots,
        "no later than {high}",
        lower.text,
        {"day": Domain(kind="date")},
        {"day": bind},
        (floor,),
        ceiling,
        lower,
        f"The period ends before it begins, so {what} can lie in it.",
        (slots["low"].text, clash.text, "contradict", "period", "before it begins"),
    )
