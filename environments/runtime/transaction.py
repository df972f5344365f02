"""A tool call is a transaction: it happens whole and as declared, or the state stays byte-identical."""

from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ValidationError

from environments.runtime.contract import Environment, Record, State, Tool
from environments.runtime.effects import Change, effects, escape, intents, unescape
from environments.runtime.errors import EnvironmentBug, ToolError
from environments.runtime.records import CallError, Effect, Intent, JsonObject, PatchOp, ToolKind

Snapshot = dict[str, Any]


@dataclass(frozen=True)
class Outcome:
    """What one call did to one environment. Exactly one of `result` and `error` is set."""

    result: JsonObject | None
    error: CallError | None
    patch: tuple[PatchOp, ...]
    intents: tuple[Intent, ...]
    effects: tuple[Effect, ...]


def execute(env: Environment[Any], tool: Tool, args: JsonObject) -> Outcome:
    """Run one tool call on an environment.

    Raises:
        EnvironmentBug: a lookup or verify changed the state, an undeclared record changed, the result does not fit its schema, or
            the tool raised something other than ToolError. The state is restored first.
    """
    where = f"{env.name}.{tool.name}"
    try:
        model = tool.signature.arguments.model_validate(args)
    except ValidationError as error:
        return Outcome(None, CallError(code="invalid_arguments", message=_explain(error)), (), (), ())
    plain = model.model_dump(mode="json")
    wanted = intents(env.name, tool.effects, plain)
    before = snapshot(env.state)
    try:
        returned = tool.function(env, **{name: getattr(model, name) for name in tool.signature.parameters})
        if not isinstance(returned, tool.signature.returns):
            raise EnvironmentBug(f"{where} returned {type(returned).__name__}, not {tool.signature.returns.__name__}")
        result = returned.model_dump(mode="json", exclude_none=True, warnings="error")
        changes = changed_records(before, env.state)
        if tool.kind is ToolKind.COMMIT:
            happened = effects(env.name, tool.name, tool.effects, plain, changes)
        elif changes or before["counters"] != env.state.counters or before["now"] != env.state.now:
            raise EnvironmentBug(f"{where} is a {tool.kind} tool but changed the state")
        else:
            happened = _disclosures(env, tool, plain)
    except ToolError as error:
        restore(env.state, before)
        return Outcome(None, CallError(code=error.code, message=error.message), (), wanted, ())
    except EnvironmentBug:
        restore(env.state, before)
        raise
    except Exception as error:
        restore(env.state, before)
        raise EnvironmentBug(f"{where} raised {type(error).__name__}: {error}") from error
    return Outcome(result, None, _patch(env, before, changes), wanted, happened)


def snapshot(state: State) -> Snapshot:
    """References to everything in the state. Records are immutable, so this is enough to restore it exactly."""
    return {name: dict(value) if isinstance(value, dict) else value for name, value in _fields(state)}


def restore(state: State, before: Snapshot) -> None:
    """Put everything back as it was at the snapshot."""
    for name, value in before.items():
        setattr(state, name, value)


def changed_records(before: Snapshot, state: State) -> list[Change]:
    """Records that were replaced, added or removed, in a stable order. Only these are compared."""
    changes = []
    for name, value in _fields(state):
        old = before[name]
        if isinstance(value, dict) and name != "counters":
            if value == old:  # dicts compare by identity first, so an untouched collection costs next to nothing
                continue
            for key in sorted(value.keys() | old.keys()):
                if value.get(key) is not old.get(key):
                    changes.append(Change(f"/{name}/{escape(key)}", _dump(old.get(key)), _dump(value.get(key))))
        elif isinstance(value, Record) and value is not old:
            changes.append(Change(f"/{name}", _dump(old), _dump(value)))
    return [change for change in changes if change.before != change.after]


def _fields(state: State) -> list[tuple[str, Any]]:
    return [(name, getattr(state, name)) for name in type(state).model_fields]


def _dump(record: Any) -> JsonObject | None:
    # Unchecked copies can hold values of the wrong type; dumping them must not pass with a warning.
    return record.model_dump(mode="json", warnings="error") if isinstance(record, BaseModel) else None


def _disclosures(env: Environment[Any], tool: Tool, args: JsonObject) -> tuple[Effect, ...]:
    seen = []
    for intent in intents(env.name, tool.effects, args):
        collection, _, key = intent.record.removeprefix(f"/{env.name}/").partition("/")
        value = getattr(env.state, collection)
        record = _dump(value.get(unescape(key)) if isinstance(value, dict) else value)
        seen.append(Effect(kind=intent.kind, record=intent.record, before=record, after=record, fields=()))
    return tuple(seen)


def _patch(env: Environment[Any], before: Snapshot, changes: list[Change]) -> tuple[PatchOp, ...]:
    """Field-level operations. Both sides have the same type, so no diff algorithm (which may emit moves) is needed."""
    ops: list[PatchOp] = []
    for change in changes:
        path = f"/{env.name}{change.pointer}"
        if change.before is None:
            ops.append(PatchOp(op="add", path=path, value=change.after))
        elif change.after is None:
            ops.append(PatchOp(op="remove", path=path))
        else:
            ops += [PatchOp(op="replace", path=f"{path}/{escape(name)}", value=change.after[name]) for name in change.fields]
    for kind, number in env.state.counters.items():
        old = before["counters"].get(kind)
        if number != old:
            ops.append(PatchOp(op="add" if old is None else "replace", path=f"/{env.name}/counters/{escape(kind)}", value=number))
    return tuple(ops)


def _explain(error: ValidationError) -> str:
    problems = (f"{'.'.join(map(str, item['loc'])) or 'arguments'}: {item['msg']}" for item in error.errors(include_url=False))
    return "; ".join(problems)
