"""Capabilities of the shipped environments, of the five kinds seeds are described by: read, search, verify, write, delete."""

from typing import Literal

from abstain_assets.records import CapabilityRow
from environments.runtime import Tool, registry
from environments.runtime.records import ToolKind

CapabilityKind = Literal["read", "search", "verify", "write", "delete"]

_SEARCHING = ("find_", "list_", "search_")
_REMOVING = frozenset({"cancel", "close", "delete", "revoke"})


def capabilities() -> tuple[CapabilityRow, ...]:
    """One row per tool of every shipped environment, sorted by environment and tool."""
    return tuple(
        CapabilityRow(
            environment=name,
            tool=f"{name}.{tool.name}",
            kind=capability_kind(tool),
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
