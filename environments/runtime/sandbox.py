"""A mounted world: up to four environments behind one tool list, with hidden tools and faults applied.

This is the in-process core: `server.py` speaks MCP over it, `zygote.py` isolates it in a process, and replay uses it directly.
"""

import json
from collections.abc import Mapping
from typing import Any

from environments.runtime import registry
from environments.runtime.contract import Environment, Tool
from environments.runtime.errors import MountError
from environments.runtime.records import Call, CallError, Fault, JsonObject, Mount, ToolSpec
from environments.runtime.transaction import Outcome, execute
from environments.runtime.wire import wire_names


class Sandbox:
    """One mounted world and the calls made in it.

    Args:
        mount: what to expose.
        states: JSON state per environment.

    Raises:
        MountError: a name in the mount does not exist, or a state is missing or superfluous.
        pydantic.ValidationError: a state does not fit its environment.
    """

    def __init__(self, mount: Mount, states: Mapping[str, JsonObject]) -> None:
        if set(states) != set(mount.environments) or len(set(mount.environments)) != len(mount.environments):
            raise MountError(f"states {sorted(states)} do not match the mounted environments {sorted(mount.environments)}")
        self.mount = mount
        self.calls: list[Call] = []
        self._initial = states
        self._environments: dict[str, Environment[Any]] = {}
        self._tools: dict[str, tuple[Environment[Any], Tool]] = {}
        for name in mount.environments:
            env = registry.load(name).load(states[name])
            self._environments[name] = env
            self._tools |= {f"{name}.{tool.name}": (env, tool) for tool in env.tools.values()}
        for name in (*mount.hidden, *(fault.tool for fault in mount.faults)):
            if name not in self._tools:
                raise MountError(f"the mount names {name!r}, which no mounted environment has")
        self._visible = {name: entry for name, entry in self._tools.items() if name not in mount.hidden}
        self._faults = {fault.tool: fault for fault in mount.faults}
        self._tries: dict[str, int] = {}
        self._wire = wire_names(list(self._visible))
        self.tools: tuple[ToolSpec, ...] = tuple(
            ToolSpec(
                name=self._wire[wire],
                wire_name=wire,
                kind=tool.kind,
                description=tool.signature.description,
                input_schema=tool.signature.input_schema,
                output_schema=tool.signature.output_schema,
            )
            for wire, (_, tool) in zip(self._wire, self._visible.values(), strict=True)
        )

    def canonical(self, name: str) -> str:
        """The canonical name of a wire name; other names are returned as they are."""
        return self._wire.get(name, name)

    def call(self, name: str, args: JsonObject) -> Call:
        """Call a tool by canonical or wire name and record it. Unknown and hidden tools give an error, like any refused call.

        Raises:
            EnvironmentBug: the environment broke its contract.
        """
        name = self.canonical(name)
        index = len(self.calls)
        if name not in self._visible:
            error = CallError(code="unknown_tool", message=f"There is no tool {name}.")
            call = Call(index=index, tool=name, kind=None, args=args, ok=False, error=error)
        else:
            env, tool = self._visible[name]
            fault = self._active_fault(name)
            outcome = execute(env, tool, args) if fault is None else self._answer_fault(env, tool, args, fault)
            call = Call(
                index=index,
                tool=name,
                kind=tool.kind,
                args=args,
                ok=outcome.error is None,
                result=outcome.result,
                error=outcome.error,
                injected=fault.kind if fault else None,
                patch=outcome.patch,
                intents=outcome.intents,
                effects=outcome.effects,
            )
        self.calls.append(call)
        return call

    def state(self) -> dict[str, JsonObject]:
        """The current state of every environment as JSON."""
        return {name: env.state.dump() for name, env in self._environments.items()}

    def _active_fault(self, name: str) -> Fault | None:
        fault = self._faults.get(name)
        if fault is None:
            return None
        self._tries[name] = self._tries.get(name, 0) + 1
        return None if fault.kind == "intermittent" and self._tries[name] > fault.count else fault

    def _answer_fault(self, env: Environment[Any], tool: Tool, args: JsonObject, fault: Fault) -> Outcome:
        """Answer in place of the tool. Intents are read from a dry run on a copy, so the fault never touches the state."""
        copy = registry.load(env.name).load(self._initial[env.name] if fault.kind == "stale" else env.state.dump())
        dry = execute(copy, tool, args)
        if fault.kind == "stale":
            return Outcome(dry.result, dry.error, (), dry.intents, ())
        if fault.kind == "malformed":
            text = compact(dry.result or {})
            return Outcome({"raw": text[: max(1, len(text) // 3)]}, None, (), dry.intents, ())
        code = "timeout" if fault.kind == "timeout" else "tool_failure"
        message = "The service did not respond in time." if fault.kind == "timeout" else fault.message
        return Outcome(None, CallError(code=code, message=message), (), dry.intents, ())


def compact(content: JsonObject) -> str:
    """The text of a tool result: compact JSON of its structured content, the same for every harness."""
    return json.dumps(content, ensure_ascii=False, separators=(",", ":"))
