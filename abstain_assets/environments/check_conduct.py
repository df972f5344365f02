"""Gates on how tools behave whatever they mean: purity, atomicity, determinism."""

import json
import warnings
from typing import Any

import jsonpatch
from pydantic import ValidationError

from abstain_assets.environments.calls import enumerate_calls
from abstain_assets.environments.subject import Checked, Step, Subject, shown
from abstain_assets.environments.transcript import SEED, transcript
from environments.runtime.contract import Environment
from environments.runtime.errors import EnvironmentBug
from environments.runtime.records import JsonObject, ToolKind
from environments.runtime.transaction import execute


def purity(subject: Subject) -> Checked:
    """No lookup or verify call leaves a trace, in the state or beside it."""
    found: dict[str, None] = {}
    tried = 0
    for tool in subject.tools():
        if tool.kind is ToolKind.COMMIT:
            continue
        env = subject.env_type.load(subject.state)
        before = json.dumps(subject.state)
        for args in enumerate_calls(subject.specs[tool.name], subject.pools, 40):
            tried += 1
            try:
                execute(env, tool, args)
            except EnvironmentBug as bug:
                found.setdefault(str(bug))
            if json.dumps(env.state.dump()) != before:
                found.setdefault(f"{shown(tool.name, args)} changed the state")
                env = subject.env_type.load(subject.state)
            if vars(env).keys() != {"state"}:
                found.setdefault(f"{tool.name} keeps {sorted(vars(env).keys() - {'state'})} beside the state")
                env = subject.env_type.load(subject.state)
    return Checked(tuple(found), f"{tried} lookup and verify calls left the state byte-identical")


def atomicity(subject: Subject) -> Checked:
    """In random sequences of calls, a refused call changes nothing, and the patch of a successful one is the whole change."""
    found: dict[str, None] = {}
    refused = changed = 0
    for step in subject.walks:
        for problem in _step_problems(subject, step):
            found.setdefault(problem)
        if step.outcome is not None:
            refused += step.outcome.error is not None
            changed += bool(step.outcome.patch)
    summary = f"{len(subject.walks)} calls in random order: {refused} refused without a trace, {changed} patches exact"
    return Checked(tuple(found), summary)


def _step_problems(subject: Subject, step: Step) -> list[str]:
    call = shown(step.tool, step.args)
    same = json.dumps(step.before) == json.dumps(step.after)
    if step.leftover:
        return [f"{step.tool} keeps {list(step.leftover)} beside the state"]
    if step.outcome is None:
        return [f"{step.bug} in {call}", *([] if same else [f"{call} broke off and left a change behind"])]
    if step.outcome.error is not None:
        return [] if same else [f"{call} was refused and changed the state"]
    operations = [op.model_dump(mode="json") for op in step.outcome.patch]
    patched = jsonpatch.apply_patch({subject.name: step.before}, operations)[subject.name]
    found = []
    if patched != step.after:
        found.append(f"the patch of {call} does not give the state after it: {_differing(patched, step.after)}")
    if any(op["op"] not in ("add", "remove", "replace") for op in operations):
        found.append(f"the patch of {call} moves or copies")
    return [*found, *_type_problems(subject.env_type, step.after, call)] if not same else found


def _type_problems(env_type: type[Environment[Any]], state: JsonObject, call: str) -> list[str]:
    """Whether a state is still one. Records are replaced with unchecked copies, so a tool can write what no load accepts."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            again = env_type.load(state).state.dump()
    except (ValidationError, UserWarning) as error:
        return [f"{call} left a state that does not load: {str(error).splitlines()[0]}"]
    if json.dumps(again) != json.dumps(state):
        return [f"{call} left a state that loads as another: {_differing(again, state)}"]
    return []


def _differing(left: JsonObject, right: JsonObject) -> str:
    """Where two states differ first, as a pointer."""
    for name in dict.fromkeys((*left, *right)):
        one, other = left.get(name), right.get(name)
        if one != other:
            return f"/{name}{_differing(one, other)}" if isinstance(one, dict) and isinstance(other, dict) else f"/{name}"
    return " (order of keys)"


def determinism(subject: Subject) -> Checked:
    """The same calls on the same state give the same bytes: again in this process, and in another one."""
    first = transcript(subject.env_type, SEED)
    found = []
    again, elsewhere = transcript(subject.env_type, SEED), subject.start_other_process().transcript()
    for where, lines in (("the second time in one process", again), ("in another process", elsewhere)):
        for index, (one, two) in enumerate(zip(first, lines, strict=False)):
            if one != two:
                found.append(f"line {index} of the transcript differs {where}: {_around_difference(one, two)}")
                break
        else:
            if len(first) != len(lines):
                found.append(f"the transcript is {len(lines)} lines long {where}, not {len(first)}")
    return Checked(tuple(found), f"{len(first)} lines of transcript equal in two processes")


def _around_difference(one: str, two: str) -> str:
    at = next((index for index, pair in enumerate(zip(one, two, strict=False)) if pair[0] != pair[1]), min(len(one), len(two)))
    start = max(0, at - 60)
    return f"...{one[start : at + 30]}... against ...{two[start : at + 30]}..."
