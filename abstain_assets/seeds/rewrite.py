"""A benchmark's request as somebody would make it in one turn: self-contained, in the first person, with every fact it had.

Benchmarks that simulate the user describe a role ("You are X. You want to ...") and direct it; others speak of "the user". Rules
turn that around. What only directs the simulation is dropped; a sentence with a fact in it never is.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml

from abstain_assets.seeds.archive import tidy
from abstain_assets.seeds.records import Problem

_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[\"'(A-Z0-9.$#-])")
_ROLE = re.compile(
    r"(?:^|[.!?:]\s+)\.?\s*(?:You(?:'re|’re| are| want| need| name| wish| would| received| just)|Your (?:name|user|phone))\b"
)
_FIRST_PERSON = re.compile(r"\bI\b(?!\.)|\b[Mm]y\b")
_USERS = re.compile(r"\busers\b", re.IGNORECASE)  # with several of them, "the user" is one of those
_QUOTED = re.compile(r"(?<![\w])'[^']{2,120}'(?!\w)|\"[^\"]{2,160}\"|“[^”]{2,160}”|‘[^’]{2,120}’")
_ADDRESS = re.compile(r"[\w.+-]+@[\w-]+(?:\.\w+)+|(?:https?://|www\.)[^\s,]+[^\s,.)]")
_NUMBER = re.compile(r"[#$€£]?\b\w*\d[\w-]*(?:[.,:/]\d+)*%?")
_NAME = re.compile(r"(?<=[\w,)] )[A-Z][\w'’-]*(?: [A-Z][\w'’-]*)*")
_NO_NAMES = frozenset({"I", "I'm", "I've", "I'd", "I'll", "You", "Your", "If", "Then", "OK"})

Rules = Sequence[tuple[re.Pattern[str], str]]


@dataclass(frozen=True)
class Rewritten:
    """A request that stands alone.

    Attributes:
        dropped: sentences that only directed the simulated person.
        problem: why it cannot stand alone.
    """

    text: str
    dropped: tuple[str, ...]
    problem: Problem | None


def rewrite(instruction: str) -> Rewritten:
    """The request of a benchmark in one paragraph, as its user would make it."""
    problem = next((name for name, pattern in _unusable().items() if pattern.search(instruction)), None)
    is_role = _ROLE.search(instruction) is not None and not _FIRST_PERSON.search(_QUOTED.sub(" ", instruction))
    kept: list[str] = []
    dropped: list[str] = []
    for sentence in _SENTENCE.split(instruction):
        plain = sentence.lstrip(". ")
        (dropped if _is_direction(plain) else kept).append(plain)
    rules = ["parts", *(["first_person"] if is_role else []), *(["the_user"] if not _USERS.search(instruction) else [])]
    for name in rules:
        kept = [_applied(name, sentence) for sentence in kept]
    text = _applied("courtesies", " ".join(map(_begun, kept)))
    return Rewritten(_finished(tidy(text)), tuple(dropped), problem)


def facts(text: str) -> tuple[str, ...]:
    """What a request states that nobody could guess, each once: quotations, then addresses, numbers and ids, names."""
    quoted = [match[0][1:-1] for match in _QUOTED.finditer(text)]
    rest = _QUOTED.sub(" … ", text)
    addresses = _ADDRESS.findall(rest)
    rest = _ADDRESS.sub(" … ", rest)
    numbers = _NUMBER.findall(rest)
    names = [name for name in _NAME.findall(_NUMBER.sub("…", rest)) if name not in _NO_NAMES]
    return tuple(dict.fromkeys([*quoted, *addresses, *numbers, *names]))


def _is_direction(sentence: str) -> bool:
    """Whether a sentence only directs the simulated person."""
    if any(pattern.search(sentence) for pattern in _patterns("persona")):
        return True
    return not facts(sentence) and any(pattern.search(sentence) for pattern in _patterns("remarks"))


def _begun(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]


def _finished(text: str) -> str:
    text = _begun(text)
    return text if not text or text[-1] in ".!?\"'”’" else f"{text}."


def _applied(name: str, text: str) -> str:
    for pattern, replacement in _replacements(name):
        text = pattern.sub(replacement, text)
    return text


@cache
def _document() -> Mapping[str, object]:
    loaded: dict[str, object] = yaml.safe_load(Path(__file__).with_name("rewrite.yaml").read_text(encoding="utf-8"))
    return loaded


@cache
def _replacements(name: str) -> Rules:
    listed = _document()[name]
    assert isinstance(listed, list)
    return tuple((re.compile(pattern, re.IGNORECASE), replacement) for pattern, replacement in listed)


@cache
def _patterns(name: str) -> tuple[re.Pattern[str], ...]:
    listed = _document()[name]
    assert isinstance(listed, list)
    return tuple(re.compile(pattern, re.IGNORECASE) for pattern in listed)


@cache
def _unusable() -> Mapping[Problem, re.Pattern[str]]:
    listed = _document()["unusable"]
    assert isinstance(listed, dict)
    return {name: re.compile(pattern.replace("| ", "|"), re.IGNORECASE) for name, pattern in listed.items()}
