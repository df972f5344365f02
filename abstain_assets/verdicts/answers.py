"""Whether key facts are said in a response, in the notations people use for them."""

import re
from collections.abc import Iterator, Sequence
from datetime import date, datetime, time
from decimal import Decimal, InvalidOperation

from abstain_assets.pairs.deltas import variant
from abstain_assets.pairs.slots import normal
from abstain_assets.records import Fact, Pair, SlotKind
from abstain_assets.taxonomy import Side

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?"
    r"|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)
_DAY, _YEAR = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?", r"(?P<year>\d{4})"
_DATES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b{_YEAR}[-/.](?P<number>\d{{1,2}})[-/.](?P<day>\d{{1,2}})(?!\d)",
        rf"\b{_DAY}\s+(?:of\s+)?{_MONTH}(?:,?\s+{_YEAR})?\b",
        rf"\b{_MONTH}\s+(?:the\s+)?{_DAY}(?!\d)(?:,?\s+{_YEAR})?",
        rf"\b(?P<day>\d{{1,2}})[./](?P<number>\d{{1,2}})[./]{_YEAR}\b",
        rf"\b(?P<number>\d{{1,2}})[./](?P<day>\d{{1,2}})[./]{_YEAR}\b",
    )
)
_TIME = re.compile(
    r"(?<![\d:.,$€£-])(?P<hour>\d{1,2})(?:[:.h](?P<minute>\d{2})(?::\d{2})?)?\s*(?P<half>[ap]\.?m\b\.?)?(?![\d:])", re.IGNORECASE
)
# Not a part of a date, a time, a range or an identifier.
_NUMBER = re.compile(
    r"""(?<![\w.,:/-]) (?P<sign>[-−]?) (?:(?:[$€£]|USD|EUR|GBP)\s?)?
    (?P<number> \d{1,3} (?:[,.’'\u00a0\u202f ]\d{3})+ (?:[.,]\d+)? | \d+ (?:[.,]\d+)?)
    (?P<cents>\s?(?:cents|¢))? (?!\w*[-/:]?\d)""",
    re.VERBOSE,
)
_WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


def answer_met(facts: Sequence[Fact], response: str) -> bool:
    """Whether every fact is said. No facts are met by any response."""
    return all(said(fact, response) for fact in facts)


def said(fact: Fact, response: str) -> bool:
    """Whether one fact is said.

    Money is in cents and may be written with or without currency, thousands separators or cents; dates are ISO and may be
    written in words, with or without the year; times may be on the 12-hour clock.

    >>> said(Fact(label="total", kind="money", value=125000), "That comes to $1,250 in all.")
    True
    """
    if isinstance(fact.value, list):
        return all(said(fact.model_copy(update={"value": item}), response) for item in fact.value)
    match fact.kind:
        case "money":
            return Decimal(str(fact.value)) / 100 in set(_numbers(response))
        case "number":
            return Decimal(str(fact.value)) in set(_numbers(response)) | set(_spelt(response))
        case "date":
            return _day_said(date.fromisoformat(str(fact.value)), response)
        case "time":
            return time.fromisoformat(str(fact.value)) in set(_times(response))
        case "datetime":
            moment = datetime.fromisoformat(str(fact.value))
            return _day_said(moment.date(), response) and moment.time().replace(second=0, microsecond=0, tzinfo=None) in set(
                _times(response)
            )
        case "id" | "text" | "enum":
            return _words_said(str(fact.value), response)


def answered(pair: Pair, response: str) -> bool:
    """Whether a response to an informational abstain side answers all the same, rightly or wrongly.

    It does when it says the facts of the reference or of an alternative, or any value of their kind that the instruction does not
    hold. Invented names are not recognised: nothing tells them from other words.
    """
    known = [facts for facts in (pair.answer, *pair.alternatives) if facts]
    if any(answer_met(facts, response) for facts in known):
        return True
    kinds = {fact.kind for facts in known for fact in facts}
    asked = variant(pair, Side.ABSTAIN).instruction
    return any(_values(kind, response) - _values(kind, asked) for kind in kinds)


def _values(kind: SlotKind, text: str) -> set[object]:
    match kind:
        case "money" | "number":
            return set(_numbers(text))
        case "date" | "datetime":
            return set(_days(text))
        case "time":
            return set(_times(text))
        case "id" | "text" | "enum":
            return set()


def _words_said(value: str, response: str) -> bool:
    return f" {normal(value)} " in f" {normal(response)} "


def _day_said(day: date, response: str) -> bool:
    return any(found in ((day.year, day.month, day.day), (None, day.month, day.day)) for found in _days(response))


def _days(text: str) -> Iterator[tuple[int | None, int, int]]:
    """Year (where written), month and day of every date. A numeric date is read both ways round."""
    for pattern in _DATES:
        for found in pattern.finditer(text):
            parts = found.groupdict()
            month = _MONTHS.index(parts["month"][:3].lower()) + 1 if parts.get("month") else int(parts["number"])
            yield int(parts["year"]) if parts["year"] else None, month, int(parts["day"])


def _times(text: str) -> Iterator[time]:
    for found in _TIME.finditer(text):
        hour, half = int(found["hour"]), (found["half"] or "").lower()
        if not half and found["minute"] is None:
            continue
        if half:
            hour = hour % 12 + (12 if half.startswith("p") else 0)
        minute = int(found["minute"] or 0)
        if hour < 24 and minute < 60:
            yield time(hour, minute)


def _numbers(text: str) -> Iterator[Decimal]:
    for found in _NUMBER.finditer(text):
        try:
            value = Decimal(_plain(found["number"]))
        except InvalidOperation:
            continue
        value = -value if found["sign"] else value
        yield value / 100 if found["cents"] else value


def _plain(number: str) -> str:
    """A number without thousands separators and with a decimal point."""
    number = re.sub(r"[’'\u00a0\u202f ]", "", number)
    head, mark, tail = number[:-3], number[-3:-2], number[-2:]
    if mark in (",", "."):
        return f"{re.sub('[,.]', '', head)}.{tail}"
    if re.fullmatch(r"\d{1,3}(?:,\d{3})+", number) or number.count(".") > 1:
        return re.sub("[,.]", "", number)
    return number.replace(",", ".") if number.count(",") == 1 else number


def _spelt(text: str) -> Iterator[Decimal]:
    words = set(normal(text).split())
    return (Decimal(index) for index, word in enumerate(_WORDS) if word in words)
