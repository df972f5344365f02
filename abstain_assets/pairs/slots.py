"""Slots: the spans of an instruction that say its literals, and the proof that each span says its value.

A reference DAG may only use literals an agent can read. Families render spans from values with the `say_*` helpers; whatever made
the span, `misread` parses it back and must arrive at the value.
"""

import re
from collections.abc import Mapping
from datetime import date, datetime, time
from random import Random

from dateutil import parser as dates

from abstain_assets.records import Slot

_NUMERIC_DATE = re.compile(r"\b\d{1,2}[/.]\d{1,2}[/.]\d{2,4}\b")
_MONEY = re.compile(r"(?<![\d.,])\$?\s?(\d{1,3}(?:,\d{3})+|\d+)(\.\d{2})?(?![\d])")
_NUMBERS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]


def say_date(rng: Random, value: date) -> Slot:
    """A date in one of five unambiguous formats."""
    day, month, short = value.day, value.strftime("%B"), value.strftime("%b")
    text = rng.choice(
        [
            value.isoformat(),
            f"{day} {month} {value.year}",
            f"{month} {day}, {value.year}",
            f"{value.strftime('%A')}, {day} {month} {value.year}",
            f"{short} {day}, {value.year}",
        ]
    )
    return Slot(value=value.isoformat(), text=text, kind="date")


def say_time(rng: Random, value: time) -> Slot:
    """A time of day, 24-hour or with am/pm. The value is 'HH:MM'."""
    hour = value.hour % 12 or 12
    minutes = f":{value.minute:02d}" if value.minute else ""
    text = rng.choice([f"{value.hour:02d}:{value.minute:02d}", f"{hour}{minutes} {'am' if value.hour < 12 else 'pm'}"])
    return Slot(value=f"{value.hour:02d}:{value.minute:02d}", text=text, kind="time")


def say_datetime(rng: Random, value: datetime) -> Slot:
    """A date and a time of day. The value is ISO 8601 without seconds' fractions."""
    day = say_date(rng, value.date())
    clock = say_time(rng, value.time())
    return Slot(value=value.isoformat(), text=f"{day.text} at {clock.text}", kind="datetime")


def say_money(rng: Random, cents: int) -> Slot:
    """An amount in dollars; the value is in cents."""
    text = f"${cents / 100:,.2f}" if cents % 100 or rng.random() < 0.5 else f"${cents // 100:,}"
    return Slot(value=cents, text=text, kind="money")


def say_number(rng: Random, value: int) -> Slot:
    """A whole number, sometimes as a word up to twelve."""
    return Slot(value=value, text=_NUMBERS[value] if value < len(_NUMBERS) and rng.random() < 0.5 else str(value), kind="number")


def say_id(value: str) -> Slot:
    """An identifier, as it is."""
    return Slot(value=value, text=value, kind="id")


def say_text(value: str, text: str | None = None) -> Slot:
    """A name, title or phrase; `text` where the words around it need another form (a possessive, a capital)."""
    return Slot(value=value, text=text or value, kind="text")


def say_enum(value: str, text: str) -> Slot:
    """One of a tool's allowed values and the words that say it."""
    return Slot(value=value, text=text, kind="enum")


def misread(slot: Slot) -> str | None:
    """Why a span does not say its value; `None` when it does.

    >>> misread(Slot(value="2026-03-04", text="03/04/2026", kind="date"))
    'the numeric date 03/04/2026 is ambiguous'
    """
    try:
        got = _parse(slot)
    except ValueError as error:
        return str(error)
    return None if got == slot.value else f"{slot.text!r} reads as {got!r}, not {slot.value!r}"


def missing_spans(instruction: str, slots: Mapping[str, Slot]) -> list[str]:
    """Slots whose span the instruction does not contain."""
    return [name for name, slot in slots.items() if slot.text.casefold() not in instruction.casefold()]


def normal(text: str) -> str:
    """Words only, in lower case, without possessives: what two ways of writing a name have in common."""
    return " ".join(re.sub(r"[^\w]+", " ", re.sub(r"['’]s\b", "", text.casefold()).replace("_", " ")).split())


def _parse(slot: Slot) -> object:
    text = slot.text
    match slot.kind:
        case "id":
            return slot.value if str(slot.value) in text.split() or str(slot.value) == text else text
        case "text":
            return slot.value if normal(str(slot.value)) == normal(text) else text
        case "enum":
            wanted, said = normal(str(slot.value)).split(), normal(text).split()
            return slot.value if all(any(word.startswith(_stem(part)) for word in said) for part in wanted) else text
        case "number":
            return _NUMBERS.index(text.casefold()) if text.casefold() in _NUMBERS else int(text.replace(",", ""))
        case "money":
            found = _MONEY.findall(text)
            if len(found) != 1:
                raise ValueError(f"{text!r} does not hold exactly one amount")
            whole, cents = found[0]
            return int(whole.replace(",", "")) * 100 + int(cents[1:] or 0)
        case "date":
            return _date(text).date().isoformat()
        case "time":
            return _date(text).strftime("%H:%M")
        case "datetime":
            return _date(text.replace(" at ", " ")).isoformat()


def _stem(word: str) -> str:
    """Enough of a word to meet its other forms: `cancelled` and `cancel`, `electronics` and `electronic`."""
    return word[: max(4, len(word) - 3)]


def _date(text: str) -> datetime:
    if _NUMERIC_DATE.search(text):
        raise ValueError(f"the numeric date {text} is ambiguous")
    return dates.parse(text, default=datetime(2000, 1, 1))
