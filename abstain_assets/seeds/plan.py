"""Whether a request changes something: read off the tools of its plan, and off the request itself where there is no plan."""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

import yaml

from abstain_assets.seeds.records import RawSeed
from abstain_assets.taxonomy import ActionType

_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_CLAUSE = re.compile(
    r"(?:^|[.!?;:,]\s+|\b(?:and|then|also|please|kindly|to|just|you|help me|let's)\s+)(?=([a-z]+)\b)",
)


@dataclass(frozen=True)
class Request:
    """What a clause of a request asks for: its verb, the position of its first letter, and whether doing it changes something."""

    verb: str
    at: int
    changes: bool


@cache
def _verbs(kind: Literal["commit", "lookup", "endings", "request"]) -> frozenset[str]:
    return frozenset(yaml.safe_load(Path(__file__).with_name("verbs.yaml").read_text(encoding="utf-8"))[kind].split())


def words_of(tool: str) -> tuple[str, ...]:
    """The lower-case words of a tool's name, whether it is written with underscores, dots or capitals."""
    return tuple(part.lower() for part in _PARTS.findall(tool))


def commits(tool: str) -> bool:
    """Whether the first verb in a tool's name is one that changes something.

    The part after the last dot is read first: `orders.cancel` cancels. A name that ends like `order_status_check` only reads.
    """
    namespace, _, name = tool.rpartition(".")
    if words_of(name) and words_of(name)[-1] in _verbs("endings"):
        return False
    for word in (*words_of(name), *words_of(namespace)):
        if word in _verbs("commit"):
            return True
        if word in _verbs("lookup"):
            return False
    return False


def action_type(seed: RawSeed) -> ActionType:
    """Operational where a tool of the plan changes something; without a plan, where a clause of the request asks for it."""
    changes = any(map(commits, seed.tools)) if seed.tools else _asks_for_change(seed.instruction)
    return ActionType.OPERATIONAL if changes else ActionType.INFORMATIONAL


def _asks_for_change(instruction: str) -> bool:
    return any(item.changes for item in requests(instruction))


def requests(instruction: str) -> tuple[Request, ...]:
    """The known verbs at the start of clauses, in their order."""
    found = ((match[1], match.start(1)) for match in _CLAUSE.finditer(instruction.lower()))
    return tuple(
        Request(verb, at, changes=verb in _verbs("request"))
        for verb, at in found
        if verb in _verbs("request") or verb in _verbs("lookup")
    )
