"""Docstring examples of tools: run as doctests, and kept as calls that are known to work."""

import doctest
import inspect
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from environments.runtime.contract import Environment
from environments.runtime.records import JsonObject
from environments.runtime.transaction import Outcome, execute


@dataclass(frozen=True)
class Example:
    """One call made by an example, and the state it was made on."""

    tool: str
    state: JsonObject
    args: JsonObject
    outcome: Outcome


@dataclass(frozen=True)
class ExampleRun:
    """All examples of one tool's docstring: the calls in order and what did not come out as written."""

    calls: tuple[Example, ...]
    failures: tuple[str, ...]


def run_examples(env_type: type[Environment[Any]], state: JsonObject) -> dict[str, ExampleRun]:
    """Run the examples of every tool. Each docstring starts on a fresh state, which its statements share."""
    return {name: _run(env_type, name, state) for name in env_type.tools}


def _run(env_type: type[Environment[Any]], name: str, state: JsonObject) -> ExampleRun:
    env = env_type.load(state)
    calls: list[Example] = []

    def call(tool: str, /, **args: Any) -> JsonObject:
        before = env.state.dump()
        outcome = execute(env, env.tools[tool], args)
        calls.append(Example(tool, before, args, outcome))
        if outcome.error is not None:
            return {"error": {"code": outcome.error.code, "message": outcome.error.message}}
        return outcome.result or {}

    text = inspect.getdoc(env.tools[name].function) or ""
    runner = _Runner()
    runner.run(doctest.DocTestParser().get_doctest(text, {"call": call}, name, None, None), out=lambda _: None)
    return ExampleRun(tuple(calls), tuple(runner.wrong))


class _Runner(doctest.DocTestRunner):
    """Keeps one line per failing example instead of printing a report."""

    def __init__(self) -> None:
        super().__init__(verbose=False)
        self.wrong: list[str] = []

    def report_failure(self, out: Any, test: doctest.DocTest, example: doctest.Example, got: str) -> None:
        self.wrong.append(f"{example.source.strip()} gave {got.strip()}, not {example.want.strip()}")

    def report_unexpected_exception(
        self,
        out: Any,
        test: doctest.DocTest,
        example: doctest.Example,
        exc_info: tuple[type[BaseException], BaseException, TracebackType | None],
    ) -> None:
        self.wrong.append(f"{example.source.strip()} raised {exc_info[0].__name__}: {exc_info[1]}")
