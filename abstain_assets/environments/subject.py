"""An environment under test: its example state, calls that are known to work on it, and a way to try calls without consequences."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from random import Random
from typing import Any, Self

from abstain_assets.environments.calls import Pools, candidate_arguments, corrupt_arguments, enumerate_calls, value_pools
from abstain_assets.environments.examples import ExampleRun, run_examples
from abstain_assets.environments.other_process import OtherProcess
from abstain_assets.environments.transcript import tool_specs
from environments.runtime.contract import Environment, Tool
from environments.runtime.errors import EnvironmentBug
from environments.runtime.records import JsonObject, ToolKind, ToolSpec
from environments.runtime.transaction import Outcome, execute, restore, snapshot

WALKS = 6
WALK_LENGTH = 80
DRAWS = 300


@dataclass(frozen=True)
class Checked:
    """What a gate found: nothing, or what is wrong. `summary` says what was looked at."""

    findings: tuple[str, ...]
    summary: str


@dataclass(frozen=True)
class Sample:
    """A call that succeeds on a state."""

    tool: str
    state: JsonObject
    args: JsonObject
    outcome: Outcome


@dataclass(frozen=True)
class Step:
    """One call of a random walk. `bug` is set when the environment broke its contract; then there is no outcome."""

    tool: str
    args: JsonObject
    before: JsonObject
    after: JsonObject
    outcome: Outcome | None
    bug: str
    leftover: tuple[str, ...]


class Trial:
    """An environment on which calls are tried and undone."""

    def __init__(self, env: Environment[Any]) -> None:
        self.env = env

    def call(self, tool: str, args: JsonObject) -> Outcome | None:
        """The outcome of a call, or `None` where the environment broke its contract (another gate reports that)."""
        before = snapshot(self.env.state)
        try:
            return execute(self.env, self.env.tools[tool], args)
        except EnvironmentBug:
            return None
        finally:
            restore(self.env.state, before)


class Subject:
    """An environment under test. As a context manager it ends the other process, if one was started."""

    def __init__(self, env_type: type[Environment[Any]], folder: Path) -> None:
        self.env_type = env_type
        self.name = env_type.name
        self.folder = folder
        self.state: JsonObject = env_type.example_state().dump()
        self.specs: dict[str, ToolSpec] = tool_specs(env_type)
        # By identity; the state is kept beside its trial so that the identity stays taken.
        self._trials: dict[int, tuple[JsonObject, Trial]] = {}

        self._other: OtherProcess | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        if self._other is not None:
            self._other.close()

    def start_other_process(self) -> OtherProcess:
        """The process that plays the transcript again. It is started the first time: early, if it shall not be waited for."""
        if self._other is None:
            self._other = OtherProcess(self.env_type)
        return self._other

    def tools(self, kind: ToolKind | None = None) -> list[Tool]:
        return [tool for tool in self.env_type.tools.values() if kind is None or tool.kind is kind]

    def trial(self, state: JsonObject) -> Trial:
        """A trial on a state. Trials undo everything, so one per state object is enough."""
        known = self._trials.get(id(state))
        if known is None:
            known = self._trials[id(state)] = (state, Trial(self.env_type.load(state)))
        return known[1]

    @cached_property
    def examples(self) -> dict[str, ExampleRun]:
        return run_examples(self.env_type, self.state)

    @cached_property
    def pools(self) -> Pools:
        """Values of the example state, of examples and of what lookups show."""
        documents: list[Any] = [self.state]
        for run in self.examples.values():
            documents += [{"call": {**made.args, **made.outcome.result}} for made in run.calls if made.outcome.result is not None]
        plain = value_pools(documents)
        trial = self.trial(self.state)
        for tool in self.tools(ToolKind.LOOKUP):
            for args in enumerate_calls(self.specs[tool.name], plain, 20):
                outcome = trial.call(tool.name, args)
                if outcome is not None and outcome.result is not None:
                    documents.append({"call": {**args, **outcome.result}})
        return value_pools(documents)

    @cached_property
    def samples(self) -> dict[str, tuple[Sample, ...]]:
        """Per tool, successful calls: those of the examples first, then the most plausible ones on the example state."""
        trial = self.trial(self.state)
        found: dict[str, list[Sample]] = {name: [] for name in self.env_type.tools}
        for run in self.examples.values():
            for made in run.calls:
                if made.outcome.error is None:
                    found[made.tool].append(Sample(made.tool, made.state, made.args, made.outcome))
        for name, samples in found.items():
            for args in enumerate_calls(self.specs[name], self.pools, 60):
                outcome = trial.call(name, args)
                if outcome is not None and outcome.error is None:
                    samples.append(Sample(name, self.state, args, outcome))
        return {name: tuple(samples) for name, samples in found.items()}

    def more_samples(self, tool: str) -> Iterator[Sample]:
        """Successful random calls on the example state, for what the plausible ones do not show."""
        rng = Random(tool)
        trial = self.trial(self.state)
        for _ in range(DRAWS):
            args = candidate_arguments(self.specs[tool], self.pools, rng)
            outcome = trial.call(tool, args)
            if outcome is not None and outcome.error is None:
                yield Sample(tool, self.state, args, outcome)

    @cached_property
    def walks(self) -> tuple[Step, ...]:
        """Seeded random sequences of calls, bad arguments among them, each on a fresh example state."""
        return tuple(step for seed in range(WALKS) for step in self._walk(seed))

    def _walk(self, seed: int) -> Iterator[Step]:
        env = self.env_type.load(self.state)
        rng = Random(seed)
        after = env.state.dump()
        for _ in range(WALK_LENGTH):
            name = rng.choice(sorted(self.specs))
            args = candidate_arguments(self.specs[name], self.pools, rng)
            if self.samples[name] and rng.random() < 0.3:
                args = rng.choice(self.samples[name]).args
            if rng.random() < 0.25:
                args = corrupt_arguments(self.specs[name], args, rng)
            before, outcome, bug = after, None, ""
            try:
                outcome = execute(env, env.tools[name], args)
            except EnvironmentBug as error:
                bug = str(error)
            after = env.state.dump()
            yield Step(name, args, before, after, outcome, bug, tuple(sorted(vars(env).keys() - {"state"})))


def shown(tool: str, args: JsonObject) -> str:
    """A call as people write it, shortened."""
    text = ", ".join(f"{name}={value!r}" for name, value in args.items())
    return f"{tool}({text[:157]}...)" if len(text) > 160 else f"{tool}({text})"
