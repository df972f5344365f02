"""What an agent could still find out: a bounded search over the read tools, starting from what the instruction says.

Only values that were said or observed are used as arguments, so a search never knows what it is looking for.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice, product
from typing import Any

from abstain_assets.records import Slot, Task, canonical
from environments.runtime.records import JsonObject, ToolKind, ToolSpec
from environments.runtime.sandbox import Sandbox

Known = dict[str, dict[str, Any]]


@dataclass(frozen=True)
class Exploration:
    """Observations by call (canonical text of tool and arguments). `complete` is false when the bound was reached."""

    observations: dict[str, JsonObject]
    complete: bool


def explore(
    task: Task, slots: Mapping[str, Slot], *, without: str | None = None, limit: int = 400, per_tool: int = 60
) -> Exploration:
    """Call every visible lookup and verify tool with everything known, until nothing new is learnt or `limit` calls are made.

    Args:
        without: a tool that is not to be used (it is broken).
    """
    sandbox = Sandbox(task.mount, task.states)
    tools = [tool for tool in sandbox.tools if tool.kind is not ToolKind.COMMIT and tool.name != without]
    broken = {fault.tool for fault in task.mount.faults if fault.kind != "intermittent"}
    tools = [tool for tool in tools if tool.name not in broken]
    known: Known = {}
    for name, slot in slots.items():
        _learn(known, name, slot.value)
    observations: dict[str, JsonObject] = {}
    while True:
        before = len(observations)
        for tool in tools:
            for args in islice(known_arguments(tool, known), per_tool):
                key = canonical([tool.name, args])
                if key in observations:
                    continue
                if len(observations) >= limit:
                    return Exploration(observations, complete=False)
                call = sandbox.call(tool.name, args)
                if call.injected == "intermittent":
                    call = sandbox.call(tool.name, args)
                observations[key] = call.content
                harvest(known, call.content)
        if len(observations) == before:
            return Exploration(observations, complete=True)


def observe(task: Task, keys: Mapping[str, JsonObject]) -> Iterator[tuple[str, JsonObject, JsonObject]]:
    """Repeat explored calls on another state and yield those that answer differently: key, then, now."""
    sandbox = Sandbox(task.mount, task.states)
    for key, then in keys.items():
        tool, args = json.loads(key)
        call = sandbox.call(tool, args)
        if call.injected == "intermittent":
            call = sandbox.call(tool, args)
        if call.content != then:
            yield key, then, call.content


def known_arguments(tool: ToolSpec, known: Known) -> Iterator[JsonObject]:
    """Arguments for one tool from what is known: required parameters alone, then each optional one on top."""
    properties: Mapping[str, JsonObject] = tool.input_schema["properties"]
    required = list(tool.input_schema.get("required", []))
    optional = [name for name in properties if name not in required]
    for extra in ((), *((name,) for name in optional)):
        names = [*required, *extra]
        choices = [list(_values(name, properties[name], known)) for name in names]
        for row in product(*choices):
            yield dict(zip(names, row, strict=True))


def _values(name: str, schema: JsonObject, known: Known) -> Iterator[Any]:
    """Values a parameter could take: its enum, else known values of the same name first, then of the same type."""
    if "enum" in schema:
        yield from schema["enum"]
        return
    if schema["type"] == "boolean":
        yield from (True, False)
        return
    if schema["type"] == "array":
        for value in _values(name.removesuffix("s"), schema["items"], known):
            yield [value]
        return
    types = {"string": str, "integer": int, "number": (int, float)}
    expected: Any = types.get(schema["type"])
    if expected is None:
        return
    named = [pool for field, pool in known.items() if field == name or name.endswith(f"_{field}") or field.endswith(f"_{name}")]
    other = [pool for pool in known.values() if pool not in named] if not name.endswith("_id") or not named else []
    seen: set[str] = set()
    for pool in (*named, *other):
        for key, value in pool.items():
            if isinstance(value, expected) and not isinstance(value, bool) and key not in seen:
                seen.add(key)
                yield value


def _learn(known: Known, name: str, value: Any) -> None:
    known.setdefault(name, {}).setdefault(repr(value), value)


def harvest(known: Known, content: Any, name: str = "value") -> None:
    """Learn every value of an observation under its field name; long texts are left out."""
    if isinstance(content, Mapping):
        for field, value in content.items():
            if field != "error":
                harvest(known, value, field)
    elif isinstance(content, list):
        for value in content:
            harvest(known, value, name.removesuffix("s"))
    elif content is not None and not (isinstance(content, str) and len(content) > 80):
        _learn(known, name, content)
