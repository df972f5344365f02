"""What tools act on: one vocabulary for the names of foreign tools, the words of requests, and the tools that are shipped."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from abstain_assets.errors import BadInput

RULES = Path(__file__).with_name("objects.yaml")
_WORD = re.compile(r"[a-z]+")
_SAME_IN_PLURAL = ("ss", "us", "is", "news")


@dataclass(frozen=True)
class Object:
    """One object of the vocabulary.

    Attributes:
        act: it is done rather than kept: a refund, a transfer.
        computed: it follows from what is given; no record of it exists anywhere.
        changes: the object that is changed by whoever says to change this one.
        record: the object that is looked at before this act.
        write, delete: how one speaks of changing it, as a gerund.
    """

    name: str
    act: bool = False
    computed: bool = False
    changes: str | None = None
    record: str | None = None
    write: str = "changing"
    delete: str = "deleting"


@dataclass(frozen=True)
class Mention:
    """An object and the position of the word it starts with."""

    at: int
    object: str


@dataclass(frozen=True)
class Vocabulary:
    """The objects and the phrases that mean them.

    Attributes:
        phrases: by the words of a phrase, the kinds of environment in which it counts (`None`: in all) and the object it means.
        kinds: the object of what names none, by kind of environment.
        tools: the object of tools whose names name none; `None` for tools that act on nothing.
    """

    objects: dict[str, Object]
    phrases: dict[tuple[str, ...], tuple[tuple[frozenset[str] | None, str], ...]]
    kinds: dict[str, str]
    tools: dict[str, str | None]

    def mentions(self, words: Sequence[str], kinds: Iterable[str]) -> tuple[Mention, ...]:
        """The objects named in some words, in their order; a longer phrase leaves nothing for shorter ones inside it."""
        here = frozenset(kinds)
        stems = [singular(word) for word in words]
        found: list[Mention] = []
        at = 0
        while at < len(stems):
            for length in range(min(self._longest, len(stems) - at), 0, -1):
                meant = self._meaning(tuple(stems[at : at + length]), here)
                if meant:
                    found.append(Mention(at, meant))
                    at += length
                    break
            else:
                at += 1
        return tuple(found)

    def head(self, words: Sequence[str], kinds: Iterable[str]) -> str | None:
        """The one object a compound is about: an act if there is one, else the last object, as in `order address`."""
        named = [item.object for item in self.mentions(words, kinds)]
        acts = [name for name in named if self.objects[name].act]
        about = acts or named
        return about[-1] if about else None

    @property
    def _longest(self) -> int:
        return max(map(len, self.phrases))

    def _meaning(self, phrase: tuple[str, ...], here: frozenset[str]) -> str | None:
        """What a phrase means here; a meaning for these kinds goes before the general one."""
        meanings = self.phrases.get(phrase, ())
        special = (name for kinds, name in meanings if kinds is not None and kinds & here)
        general = (name for kinds, name in meanings if kinds is None)
        return next(special, None) or next(general, None)


@cache
def vocabulary() -> Vocabulary:
    """The shipped vocabulary.

    Raises:
        BadInput: the file names an object that it does not define, or gives a field that does not exist.
    """
    return read_vocabulary(yaml.safe_load(RULES.read_text(encoding="utf-8")))


def read_vocabulary(document: dict[str, Any]) -> Vocabulary:
    """A vocabulary of its YAML document.

    Raises:
        BadInput: as `vocabulary`.
    """
    phrases: dict[tuple[str, ...], list[tuple[frozenset[str] | None, str]]] = {}
    objects: dict[str, Object] = {}
    for name, entry in document["objects"].items():
        rest = {key: value for key, value in entry.items() if key not in ("said", "among")}
        if unknown := set(rest) - {"act", "changes", "computed", "record", "write", "delete"}:
            raise BadInput(f"{RULES.name}, objects.{name}: {', '.join(sorted(unknown))} is not known here")
        objects[name] = Object(name, **rest)
        among = entry.get("among", {"kinds": (), "said": ()})
        for kinds, said in ((None, entry.get("said", ())), (frozenset(among["kinds"]), among["said"])):
            for phrase in said:
                key = tuple(singular(word) for word in words_in(phrase))
                phrases.setdefault(key, []).append((kinds, name))
    defaults = dict(document["kinds"])
    for name in defaults.values():
        objects.setdefault(name, Object(name))
    tools = dict(document["tools"])
    named = {
        "tools": tools.values(),
        "changes": [item.changes for item in objects.values()],
        "record": [item.record for item in objects.values()],
    }
    for field, names in named.items():
        if strange := {name for name in names if name is not None} - set(objects):
            listed = ", ".join(sorted(strange))
            raise BadInput(f"{RULES.name}, {field}: {listed} is no object; add it to objects or name another one")
    return Vocabulary(objects, {key: tuple(meanings) for key, meanings in phrases.items()}, defaults, tools)


def words_in(text: str) -> list[str]:
    """The words of a text in lower case, letters only."""
    return _WORD.findall(text.lower())


@cache
def singular(word: str) -> str:
    """A word without its plural ending."""
    if len(word) < 4 or word.endswith(_SAME_IN_PLURAL) or not word.endswith("s"):
        return word
    if word.endswith("ies") and len(word) > 4:
        return f"{word[:-3]}y"
    if word.endswith(("ches", "shes", "sses", "xes")):
        return word[:-2]
    return word[:-1]
