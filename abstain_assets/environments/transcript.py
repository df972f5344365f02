"""One long random run of an environment, as text: equal in every process, or something outside the state plays a part.

Run as `python -m abstain_assets.environments.transcript MODULE CLASS SEED [PATH ...]` it prints the transcript. Each PATH is a
folder in which the `environments` package looks for environments.
"""

import importlib
import json
import sys
from random import Random
from typing import Any

import environments
from abstain_assets.environments.calls import candidate_arguments, corrupt_arguments, value_pools
from environments.runtime.contract import Environment
from environments.runtime.errors import EnvironmentBug
from environments.runtime.records import ToolSpec
from environments.runtime.transaction import execute
from environments.runtime.wire import wire_name

LENGTH = 200
SEED = 11


def tool_specs(env_type: type[Environment[Any]]) -> dict[str, ToolSpec]:
    """The tools of an environment as a mount would expose them, by their bare names."""
    return {
        tool.name: ToolSpec(
            name=f"{env_type.name}.{tool.name}",
            wire_name=wire_name(f"{env_type.name}.{tool.name}"),
            kind=tool.kind,
            description=tool.signature.description,
            input_schema=tool.signature.input_schema,
            output_schema=tool.signature.output_schema,
        )
        for tool in env_type.tools.values()
    }


def transcript(env_type: type[Environment[Any]], seed: int) -> list[str]:
    """Calls, answers and patches of one random run on the example state, one line each, and the final state."""
    start = env_type.example_state().dump()
    env = env_type.load(start)
    specs = tool_specs(env_type)
    pools = value_pools([start])
    rng = Random(seed)
    lines = [_line(start)]
    for _ in range(LENGTH):
        name = rng.choice(sorted(specs))
        args = candidate_arguments(specs[name], pools, rng)
        if rng.random() < 0.2:
            args = corrupt_arguments(specs[name], args, rng)
        try:
            outcome = execute(env, env.tools[name], args)
            answer = outcome.result if outcome.error is None else outcome.error.model_dump()
            effects = [effect.model_dump(mode="json") for effect in outcome.effects]
            patch = [op.model_dump(mode="json") for op in outcome.patch]
        except EnvironmentBug as bug:
            answer, effects, patch = {"bug": str(bug)}, [], []
        lines.append(_line({"tool": name, "args": args, "answer": answer, "patch": patch, "effects": effects}))
    return [*lines, _line(env.state.dump())]


def _line(value: Any) -> str:
    # Keys stay in the order the environment gave them: an agent sees that order too.
    return json.dumps(value, ensure_ascii=True)


def main(module: str, name: str, seed: str, *paths: str) -> None:
    """Print the transcript of the environment class `name` in `module`."""
    environments.__path__.extend(path for path in paths if path not in environments.__path__)
    env_type = getattr(importlib.import_module(module), name)
    print("\n".join(transcript(env_type, int(seed))))


if __name__ == "__main__":
    main(*sys.argv[1:])
