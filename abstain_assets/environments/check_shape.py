"""Gates on what an environment declares: state types, schemas, tools and effects. No tool needs to be understood for them."""

import json
import re
import types
from collections.abc import Iterator
from datetime import date, datetime, time
from enum import Enum
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError

from abstain_assets.environments.calls import enumerate_calls
from abstain_assets.environments.subject import Checked, Subject
from environments.runtime import registry
from environments.runtime.contract import Record, State, Tool
from environments.runtime.effects import EffectDecl, matches_pointer
from environments.runtime.records import Effect, JsonObject, ToolKind
from environments.runtime.transaction import Outcome
from environments.runtime.wire import MAX_LENGTH, wire_name

TOOL_COUNT = range(3, 30)
# The longest description that all providers accept.
MAX_DESCRIPTION = 1024
_SEARCH = 1500

# Said here again, apart from the code that makes schemas: this is what it is checked against.
_KEYWORDS = {"type", "properties", "required", "items", "enum", "description"}
_SCALARS = (str, int, float, bool, date, datetime, time, types.NoneType)
_TYPES = {"object", "array", "string", "integer", "number", "boolean"}
_NAME = re.compile(r"[a-z][a-z0-9_]*$")


def state_types(subject: Subject) -> Checked:
    """Records are immutable all the way down, and every record lies under its own id."""
    found = list(_state_problems(subject.env_type.state_type))
    records = 0
    for name, collection in _collections(subject.state):
        records += len(collection)
        same = [{field for field, value in record.items() if value == key} for key, record in collection.items()]
        if same and not set.intersection(*same):
            found.append(f"{name}: no field of the records equals the key they lie under")
    return Checked(tuple(found), f"{records} records in {len(list(_collections(subject.state)))} collections")


def round_trip(subject: Subject) -> Checked:
    """A state survives dump and load byte by byte; unknown keys and wrong types are refused with it."""
    found = []
    text = json.dumps(subject.state)
    if json.dumps(subject.env_type.load(json.loads(text)).state.dump()) != text:
        found.append("dump, load, dump gives other bytes")
    if json.dumps(subject.env_type.example_state().dump()) != text:
        found.append("example_state() gives another state the second time")
    tried = 0
    for path in _paths(subject.state):
        if _is_map(subject, path):
            continue
        record = isinstance(_at(subject.state, path), dict)
        where = [*path, "no_such_field"] if record else path
        tried += 1
        changed = json.loads(text)
        _at(changed, where[:-1])[where[-1]] = {"no_such_key": None}
        try:
            subject.env_type.load(changed)
        except ValidationError:
            continue
        found.append(f"/{'/'.join(map(str, where))}: {'an unknown key' if record else 'a value of the wrong type'} is accepted")
    return Checked(tuple(found), f"{len(text)} bytes, {tried} spoiled states refused")


def portable_schemas(subject: Subject) -> Checked:
    """Schemas use only what all providers accept; wire names are short and unique over all environments."""
    found = []
    for tool in subject.tools():
        spec = subject.specs[tool.name]
        for label, schema in (("input", spec.input_schema), ("output", spec.output_schema)):
            found += [f"{tool.name}: {label} schema {problem}" for problem in _schema_problems(schema, "$")]
            if schema.get("type") != "object":
                found.append(f"{tool.name}: {label} schema is no object")
        found += [
            f"{tool.name}: parameter {name} has no description"
            for name, child in spec.input_schema.get("properties", {}).items()
            if not child.get("description")
        ]
        if len(spec.description) > MAX_DESCRIPTION:
            found.append(f"{tool.name}: description of {len(spec.description)} characters, at most {MAX_DESCRIPTION}")
    known: dict[str, str] = {}
    for name in dict.fromkeys((subject.name, *_loadable(subject.name))):
        for tool_name in registry.load(name).tools:
            full = f"{name}.{tool_name}"
            wire = wire_name(full)
            if len(wire) > MAX_LENGTH or not re.fullmatch(r"[A-Za-z0-9_]+", wire):
                found.append(f"{full}: wire name {wire} is not portable")
            if known.setdefault(wire, full) != full:
                found.append(f"{full} and {known[wire]} share the wire name {wire}")
    return Checked(tuple(found), f"{2 * len(subject.specs)} schemas, {len(known)} wire names without collision")


def tool_list(subject: Subject) -> Checked:
    """3 to 29 tools of all three kinds, with names an agent can read."""
    tools = subject.tools()
    found = [f"no {kind} tool" for kind in ToolKind if not subject.tools(kind)]
    if len(tools) not in TOOL_COUNT:
        found.append(f"{len(tools)} tools, where {TOOL_COUNT.start} to {TOOL_COUNT.stop - 1} are allowed")
    found += [f"{name}: not a snake_case name" for name in (subject.name, *subject.specs) if not _NAME.match(name)]
    if not subject.env_type.summary.strip():
        found.append("the environment has no summary")
    counts = ", ".join(f"{len(subject.tools(kind))} {kind}" for kind in ToolKind)
    return Checked(tuple(found), f"{len(tools)} tools: {counts}")


def effects(subject: Subject) -> Checked:
    """Every declared effect names real records and fields, and happens as declared in some call."""
    found = []
    declared = 0
    for tool in subject.tools():
        declared += len(tool.effects)
        unseen: list[tuple[EffectDecl, str]] = []
        for decl in tool.effects:
            problems = list(_declaration_problems(subject.env_type.state_type, decl, subject.specs[tool.name].input_schema))
            found += [f"{_named(tool, decl)} {problem}" for problem in problems]
            if not problems:
                unseen.append((decl, ""))
        seen: list[Effect] = []
        for outcome in _outcomes(subject, tool):
            seen += outcome.effects
            unseen = [(decl, problem) for decl, _ in unseen if (problem := _unseen(subject.name, tool, decl, seen))]
            if not unseen:
                break
        found += [f"{_named(tool, decl)} {problem}" for decl, problem in unseen]
    return Checked(tuple(found), f"{declared} declared effects, all of them seen")


# --- state types ----------------------------------------------------------------------------------------------------------


def _state_problems(state_type: type[State]) -> Iterator[str]:
    if not issubclass(state_type, State) or state_type.model_config.get("extra") != "forbid":
        yield f"{state_type.__name__} must be a State that forbids unknown keys"
    if state_type.__private_attributes__:
        yield f"{state_type.__name__}: private attributes {sorted(state_type.__private_attributes__)} are not part of the state"
    seen: set[type] = set()
    for name, field in state_type.model_fields.items():
        if name in ("now", "counters"):
            continue
        record = _record_of(field.annotation)
        if record is None:
            yield f"{state_type.__name__}.{name}: {field.annotation} is neither dict[str, Record] nor a Record"
        else:
            yield from _record_problems(record, seen)


def _record_of(annotation: Any) -> type[Record] | None:
    if get_origin(annotation) is dict:
        key, annotation = get_args(annotation)
        if key is not str:
            return None
    return annotation if isinstance(annotation, type) and issubclass(annotation, Record) else None


def _record_problems(record: type[BaseModel], seen: set[type]) -> Iterator[str]:
    if record in seen:
        return
    seen.add(record)
    if not record.model_config.get("frozen") or record.model_config.get("extra") != "forbid":
        yield f"{record.__name__} must be frozen and forbid unknown keys"
    if record.__private_attributes__:
        yield f"{record.__name__}: private attributes {sorted(record.__private_attributes__)} are not part of the state"
    for name, field in record.model_fields.items():
        yield from _type_problems(field.annotation, f"{record.__name__}.{name}", seen)


def _type_problems(annotation: Any, where: str, seen: set[type]) -> Iterator[str]:
    origin, parts = get_origin(annotation), get_args(annotation)
    if annotation in _SCALARS or origin is Literal or (isinstance(annotation, type) and issubclass(annotation, Enum)):
        return
    if isinstance(annotation, type) and issubclass(annotation, Record):
        yield from _record_problems(annotation, seen)
    elif origin is Annotated:
        yield from _type_problems(parts[0], where, seen)
    elif origin in (Union, types.UnionType):
        for part in parts:
            yield from _type_problems(part, where, seen)
    elif origin is tuple and len(parts) == 2 and parts[1] is Ellipsis:
        yield from _type_problems(parts[0], where, seen)
    else:
        yield f"{where}: {annotation} is mutable or has no fixed JSON form; use scalars, dates, tuple[T, ...] and records"


def _collections(state: JsonObject) -> Iterator[tuple[str, JsonObject]]:
    for name, value in state.items():
        if name != "counters" and isinstance(value, dict) and all(isinstance(item, dict) for item in value.values()):
            yield name, value


# --- spoiling states ------------------------------------------------------------------------------------------------------


def _paths(node: Any, path: tuple[Any, ...] = ()) -> Iterator[list[Any]]:
    """Paths of everything in a state, but of only one record per collection and one item per list."""
    yield list(path)
    if isinstance(node, dict):
        alike = path and node and all(isinstance(item, dict) for item in node.values())
        for key in list(node)[:1] if alike else node:
            yield from _paths(node[key], (*path, key))
    elif isinstance(node, list) and node:
        yield from _paths(node[0], (*path, 0))


def _at(node: Any, path: list[Any]) -> Any:
    for key in path:
        node = node[key]
    return node


def _is_map(subject: Subject, path: list[Any]) -> bool:
    """Whether the path is a map by id or the counters, where any key is right."""
    field = subject.env_type.state_type.model_fields.get(path[0]) if len(path) == 1 else None
    return path[:1] == ["counters"] or (field is not None and get_origin(field.annotation) is dict)


# --- schemas --------------------------------------------------------------------------------------------------------------


def _schema_problems(schema: JsonObject, path: str) -> Iterator[str]:
    extra = schema.keys() - _KEYWORDS
    if extra:
        yield f"{path} uses {sorted(extra)}"
    if schema.get("type") not in _TYPES:
        yield f"{path} has type {schema.get('type')!r}"
    if "enum" in schema and len({type(value) for value in schema["enum"]}) != 1:
        yield f"{path} mixes types in its enum"
    missing = set(schema.get("required", ())) - schema.get("properties", {}).keys()
    if missing:
        yield f"{path} requires unknown {sorted(missing)}"
    for name, child in schema.get("properties", {}).items():
        if not _NAME.match(name) or len(name) > MAX_LENGTH:
            yield f"{path}.{name} is not a portable name"
        yield from _schema_problems(child, f"{path}.{name}")
    if schema.get("type") == "array":
        if "items" in schema:
            yield from _schema_problems(schema["items"], f"{path}[]")
        else:
            yield f"{path} does not say what its items are"


def _loadable(name: str) -> Iterator[str]:
    """Other environments that can be loaded. One that cannot has its own failing gate."""
    for other in registry.names():
        try:
            registry.load(other)
        except Exception:
            if other == name:
                raise
            continue
        yield other


# --- effects --------------------------------------------------------------------------------------------------------------


def _declaration_problems(state_type: type[State], decl: EffectDecl, input_schema: JsonObject) -> Iterator[str]:
    parts = decl.on.split("/")
    field = state_type.model_fields.get(parts[1]) if len(parts) > 1 else None
    record = _record_of(field.annotation) if field is not None else None
    if record is None or field is None or parts[0]:
        yield "names no records of the state"
        return
    if (len(parts) == 3) != (get_origin(field.annotation) is dict):
        yield "must be /collection/{id} for records in a map and /record for a single one"
    for name in (*decl.writes, *decl.free):
        if name != "*" and name not in record.model_fields:
            yield f"names the field {name}, which {record.__name__} does not have"
    if "*" not in decl.writes and set(decl.free) - set(decl.writes):
        yield f"calls {sorted(set(decl.free) - set(decl.writes))} free text without writing it"
    for name, value in decl.when.items():
        options = input_schema["properties"][name].get("enum")
        if options is not None and value not in options:
            yield f"applies when {name} is {value!r}, which is never the case"


def _outcomes(subject: Subject, tool: Tool) -> Iterator[Outcome]:
    """Successful outcomes of a tool: samples, random walks and, if that was not enough, many more calls."""
    yield from (sample.outcome for sample in subject.samples[tool.name])
    yield from (step.outcome for step in subject.walks if step.tool == tool.name and step.outcome is not None)
    trial = subject.trial(subject.state)
    for args in enumerate_calls(subject.specs[tool.name], subject.pools, _SEARCH):
        outcome = trial.call(tool.name, args)
        if outcome is not None:
            yield outcome


def _unseen(env: str, tool: Tool, decl: EffectDecl, seen: list[Effect]) -> str:
    pattern = f"/{env}/" + "/".join("*" if "{" in part else part for part in decl.on.split("/")[1:])
    happened = [
        effect
        for effect in seen
        if effect.kind == decl.kind and effect.implied == decl.implied and matches_pointer(effect.record, pattern)
    ]
    if not happened:
        return "never happened in any example or tried call"
    never = set(decl.writes) - {"*"} - {name for effect in happened for name in effect.fields}
    return f"never wrote {', '.join(sorted(never))}" if never and tool.kind is ToolKind.COMMIT else ""


def _named(tool: Tool, decl: EffectDecl) -> str:
    return f"{tool.name}: effect {decl.kind} on {decl.on}"
