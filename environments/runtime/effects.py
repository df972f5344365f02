"""Effects: what a tool declares it may change, and what a call did change."""

import glob
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from itertools import product
from string import Formatter
from typing import Any

from environments.runtime.errors import EnvironmentBug
from environments.runtime.records import Effect, Intent, JsonObject
from environments.runtime.vocabulary import EFFECT_CUES


@dataclass(frozen=True)
class EffectDecl:
    """What a tool may do to the records of one collection.

    Args:
        kind: a key of `EFFECT_CUES`.
        on: pointer template inside the environment: `/orders/{order_id}` (an argument; a list argument fans out), `/orders/*`
            for records the call creates or finds itself, `/profile` for a single record.
        writes: fields it may change; `("*",)` for records it creates or deletes.
        when: argument values under which it applies (a multiplexed `action`).
        free: written fields that hold free text, which is never compared.
        implied: the change follows from the act (restocking) and is not asked for by itself.
    """

    kind: str
    on: str
    writes: tuple[str, ...] = ("*",)
    when: Mapping[str, Any] = field(default_factory=dict)
    free: tuple[str, ...] = ()
    implied: bool = False

    def __post_init__(self) -> None:
        if self.kind not in EFFECT_CUES:
            raise EnvironmentBug(f"effect kind {self.kind!r} is not in the vocabulary (environments/runtime/vocabulary.py)")

    @property
    def arguments(self) -> tuple[str, ...]:
        """Names of the arguments the template mentions."""
        return tuple(name for _, name, _, _ in Formatter().parse(self.on) if name)

    def applies(self, args: Mapping[str, Any]) -> bool:
        return all(args.get(name) == value for name, value in self.when.items())

    def records(self, args: Mapping[str, Any]) -> tuple[str, ...]:
        """Pointers the call is aimed at, read off its arguments; `*` where the template has it."""
        return self._filled(args, escape)

    def patterns(self, args: Mapping[str, Any]) -> tuple[str, ...]:
        """The same as globs for `matches_pointer`: what looks like a glob in an argument stands for itself."""
        return self._filled(args, lambda value: glob.escape(escape(value)))

    def _filled(self, args: Mapping[str, Any], quote: Callable[[str], str]) -> tuple[str, ...]:
        choices = []
        for name in self.arguments:
            value = args.get(name)
            if value is None:
                return ()
            choices.append([quote(str(item)) for item in (value if isinstance(value, (list, tuple)) else [value])])
        return tuple(self.on.format(**dict(zip(self.arguments, combo, strict=True))) for combo in product(*choices))


@dataclass(frozen=True)
class Change:
    """One record that differs after a call. `pointer` is a JSON pointer relative to the environment."""

    pointer: str
    before: JsonObject | None
    after: JsonObject | None

    @property
    def fields(self) -> tuple[str, ...]:
        before, after = self.before or {}, self.after or {}
        return tuple(sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name)))


def escape(part: str) -> str:
    """Escape one segment of a JSON pointer."""
    return part.replace("~", "~0").replace("/", "~1")


def unescape(part: str) -> str:
    """Undo `escape`."""
    return part.replace("~1", "/").replace("~0", "~")


def matches_pointer(pointer: str, pattern: str) -> bool:
    """Whether a pointer matches a glob whose `*` stands for exactly one segment (or part of one)."""
    parts, globs = pointer.split("/"), pattern.split("/")
    return len(parts) == len(globs) and all(fnmatchcase(part, glob) for part, glob in zip(parts, globs, strict=True))


def intents(env: str, decls: Iterable[EffectDecl], args: Mapping[str, Any]) -> tuple[Intent, ...]:
    """What the arguments say a call would do, whether or not it is then refused."""
    return tuple(
        Intent(kind=decl.kind, record=f"/{env}{record}")
        for decl in decls
        if not decl.implied and decl.applies(args)
        for record in decl.records(args)
    )


def effects(
    env: str, tool: str, decls: Iterable[EffectDecl], args: Mapping[str, Any], changes: Iterable[Change]
) -> tuple[Effect, ...]:
    """Match changed records to declared effects.

    Raises:
        EnvironmentBug: a record or field changed that no declared effect covers.
    """
    active = [(decl, decl.patterns(args)) for decl in decls if decl.applies(args)]
    found: list[Effect] = []
    for change in changes:
        uncovered = set(change.fields)
        for decl, patterns in active:
            if not any(matches_pointer(change.pointer, pattern) for pattern in patterns):
                continue
            whole = "*" in decl.writes
            if (change.before is None or change.after is None) and not whole:
                continue
            written = tuple(name for name in change.fields if whole or name in decl.writes)
            if not written:
                continue
            uncovered -= set(written)
            found.append(
                Effect(
                    kind=decl.kind,
                    record=f"/{env}{change.pointer}",
                    before=change.before,
                    after=change.after,
                    fields=written,
                    implied=decl.implied,
                )
            )
        if uncovered:
            raise EnvironmentBug(f"{env}.{tool} changed {change.pointer} ({', '.join(sorted(uncovered))}) without declaring it")
    return tuple(found)
