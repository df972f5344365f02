"""What an environment must be able to do for a seed: read off the tools of its plan, or off its words where there is no plan."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Literal

import yaml

from abstain_assets.seeds.objects import Mention, Vocabulary, vocabulary, words_in
from abstain_assets.seeds.plan import commits, requests, words_of
from abstain_assets.seeds.records import CapabilityKind, Seed, SeedCapability
from abstain_assets.taxonomy import ActionType

_ASKING = frozenset("what which who whom whose when where why how is are was were do does did can could browse give tell".split())

_NEGATED = re.compile(r"\b(?:don['’]t|do not|never|not)(?: want)?(?: to)?\s*$", re.IGNORECASE)


@cache
def _verbs(kind: Literal["delete", "verify", "search"]) -> frozenset[str]:
    return frozenset(yaml.safe_load(Path(__file__).with_name("needs.yaml").read_text(encoding="utf-8"))[kind].split())


def needs(seed: Seed) -> tuple[SeedCapability, ...]:
    """The capabilities a seed asks for, each once, in the order in which it asks for them. Empty where it asks for nothing."""
    found = _of_plan(seed) if seed.tools else _of_words(seed)
    return tuple(dict.fromkeys(map(_as_meant, found)))


def kinds_of(seed: Seed) -> tuple[str, ...]:
    """The kinds of environment in which the words of a seed are to be understood."""
    return (seed.environment, seed.source_environment, *(name.partition(".")[0] for name in seed.tools if "." in name))


def _as_meant(capability: SeedCapability) -> SeedCapability:
    changed = vocabulary().objects[capability.object].changes
    return SeedCapability(kind=capability.kind, object=changed) if changed and capability.changes else capability


def _of_plan(seed: Seed) -> Iterator[SeedCapability]:
    """One capability per tool. Tools that only think, talk or hand over are none."""
    known = vocabulary()
    for tool in seed.tools:
        if tool in known.tools:
            named = known.tools[tool]
        else:
            words = words_of(tool)
            about = words[: words.index("by")] if "by" in words else words  # the rest says what it is found by
            named = known.head(about, kinds_of(seed)) or known.kinds[seed.environment]
        if named:
            yield SeedCapability(kind=_kind_of_tool(tool), object=named)


def _kind_of_tool(tool: str) -> CapabilityKind:
    words = words_of(tool)
    if commits(tool):
        return "delete" if any(word in _verbs("delete") for word in words) else "write"
    return next((kind for word in words if (kind := _lookup(word)) != "read"), "read")


def _lookup(verb: str) -> CapabilityKind:
    if verb in _verbs("verify"):
        return "verify"
    return "search" if verb in _verbs("search") else "read"


def _of_words(seed: Seed) -> Iterator[SeedCapability]:
    """One capability per verb at the start of a clause, done to the next object named, or to the last one where none follows."""
    known = vocabulary()
    words = words_in(seed.instruction)
    named = known.mentions(words, kinds_of(seed))
    operational = seed.action_type is ActionType.OPERATIONAL
    asked = [
        item
        for item in requests(seed.instruction)
        if (operational or not item.changes) and not _NEGATED.search(seed.instruction[: item.at])
    ]
    for request in asked:
        position = len(words_in(seed.instruction[: request.at]))
        kind: CapabilityKind = _lookup(request.verb)
        if request.changes:
            kind = "delete" if request.verb in _verbs("delete") else "write"
        yield _looked_up(SeedCapability(kind=kind, object=_object_of(position, named, known, seed)))
    if not asked and ("?" in seed.instruction or _ASKING.intersection(words[:3])):
        yield _looked_up(SeedCapability(kind="read", object=_object_of(0, named, known, seed)))


def _looked_up(capability: SeedCapability) -> SeedCapability:
    """A lookup of an act is one of the record behind it."""
    return capability if capability.changes else SeedCapability(kind=capability.kind, object=record_of(capability.object))


def record_of(name: str) -> str:
    """What one looks at to know about an object."""
    return vocabulary().objects[name].record or name


def _object_of(position: int, named: tuple[Mention, ...], known: Vocabulary, seed: Seed) -> str:
    following = next((item.object for item in named if item.at >= position), None)
    return following or (named[-1].object if named else known.kinds[seed.environment])
