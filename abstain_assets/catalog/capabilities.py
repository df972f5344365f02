"""Capabilities of the shipped environments, of the five kinds seeds are described by: read, search, verify, write, delete."""

from collections import defaultdict
from collections.abc import Iterable, Mapping

from abstain_assets.records import CapabilityRow
from abstain_assets.seeds.objects import vocabulary, words_in
from abstain_assets.seeds.plan import words_of
from abstain_assets.seeds.records import CapabilityKind, SeedCapability
from environments.runtime import Tool, registry
from environments.runtime.records import ToolKind

Offers = Mapping[str, frozenset[SeedCapability]]

_SEARCHING = ("find_", "list_", "search_")
_REMOVING = frozenset({"cancel", "close", "delete", "revoke"})


def capabilities() -> tuple[CapabilityRow, ...]:
    """One row per tool of every shipped environment, sorted by environment and tool."""
    return tuple(
        CapabilityRow(
            environment=name,
            tool=f"{name}.{tool.name}",
            kind=capability_kind(tool),
            objects=objects_of(name, tool),
            tool_kind=tool.kind,
            effects=tuple(dict.fromkeys(decl.kind for decl in tool.effects)),
            description=tool.signature.description.split("\n", 1)[0],
        )
        for name in registry.names()
        for _, tool in sorted(registry.load(name).tools.items())
    )


def capability_kind(tool: Tool) -> CapabilityKind:
    """The kind of capability a tool is.

    A lookup that starts from criteria is a search, every other one a read. A commit whose acts only take something away is a
    delete.
    """
    if tool.kind is ToolKind.VERIFY:
        return "verify"
    if tool.kind is ToolKind.LOOKUP:
        return "search" if tool.name.startswith(_SEARCHING) else "read"
    verbs = {decl.kind.rpartition(".")[2] for decl in tool.effects if not decl.implied}
    return "delete" if verbs <= _REMOVING else "write"


def objects_of(environment: str, tool: Tool) -> tuple[str, ...]:
    """What a tool acts on, in the vocabulary seeds are described by: as its name and its own effects say, else its description."""
    known = vocabulary()
    if named := known.tools.get(tool.name):
        return (named,)
    effects = " ".join(decl.kind for decl in tool.effects if not decl.implied)
    for words in ((*words_of(tool.name), "/", *words_in(effects)), words_in(tool.signature.description.split("\n", 1)[0])):
        if found := known.mentions(words, (environment,)):
            return tuple(dict.fromkeys(item.object for item in found))
    return ()


def offers(rows: Iterable[CapabilityRow]) -> Offers:
    """What each environment can do, as seeds ask for it."""
    found: dict[str, set[SeedCapability]] = defaultdict(set)
    for row in rows:
        found[row.environment].update(asked_as(row))
    return {name: frozenset(capabilities) for name, capabilities in sorted(found.items())}


def asked_as(row: CapabilityRow) -> tuple[SeedCapability, ...]:
    """The capabilities a tool has. What can be read can be searched for and the other way round: both are lookup tools."""
    kinds: tuple[CapabilityKind, ...] = ("read", "search") if row.kind in ("read", "search") else (row.kind,)
    return tuple(SeedCapability(kind=kind, object=name) for kind in kinds for name in row.objects)
