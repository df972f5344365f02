"""Gates on whether tools do what their names and parameters say: writes can be read, filters filter, verify tools verify.

They try calls on copies of the example state. What they cannot try (no second value, no successful call) they report as such,
because then nobody knows either.
"""

import json
import re
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

from abstain_assets.environments.calls import enumerate_calls, neighbours, value_pools
from abstain_assets.environments.subject import Checked, Sample, Subject, Trial, shown
from environments.runtime.contract import Tool
from environments.runtime.records import CallError, JsonObject, ToolKind
from environments.runtime.transaction import Outcome, execute

SAMPLES = 10
NEIGHBOURS = 16

_CODE = re.compile(r"[a-z][a-z_]*$")
_MAX_MESSAGE = 300
# Words with a digit or an at sign: ids, dates, amounts, addresses. Other words of a state are too common to tell.
_DATA_WORD = re.compile(r"[\w@+:/-]*[\d@][\w@+:./-]*")
_UNKNOWN = "no-such-record"


def read_after_write(subject: Subject) -> Checked:
    """After every successful commit some lookup shows something else than before."""
    found = []
    read = 0
    for tool in subject.tools(ToolKind.COMMIT):
        changing = [sample for sample in subject.samples[tool.name] if sample.outcome.patch]
        if not changing:
            found.append(f"{tool.name}: no call was found that changes anything")
        for sample in changing[:SAMPLES]:
            read += 1
            if not _is_readable(subject, tool, sample):
                found.append(f"no lookup shows what {shown(tool.name, sample.args)} changed")
                break
    return Checked(tuple(found), f"{read} commits read back by a lookup")


def filters(subject: Subject) -> Checked:
    """Every parameter of every lookup changes some result."""
    found = []
    tried = 0
    for tool in subject.tools(ToolKind.LOOKUP):
        samples = subject.samples[tool.name]
        if not any(any(sample.outcome.result.values()) for sample in samples if sample.outcome.result):
            found.append(f"{tool.name}: {len(samples)} successful calls, and none finds anything")
            continue
        tried += len(tool.signature.parameters)
        problems = (_ignored_in_lookup(subject, tool, name) for name in tool.signature.parameters)
        found += [f"{tool.name}: {problem}" for problem in problems if problem]
    return Checked(tuple(found), f"{tried} lookup parameters change a result")


def stored_arguments(subject: Subject) -> Checked:
    """Every argument of a commit makes a difference: another value is stored, or aims at another record, or is refused."""
    found = []
    tried = 0
    for tool in subject.tools(ToolKind.COMMIT):
        tried += len(tool.signature.parameters)
        problems = (_lost_by_commit(subject, tool, name) for name in tool.signature.parameters)
        found += [f"{tool.name}: {problem}" for problem in problems if problem]
    return Checked(tuple(found), f"{tried} commit parameters make a difference to the state")


def verify_verifies(subject: Subject) -> Checked:
    """Every verify tool says yes and no, and every value it is given can turn the answer."""
    found = []
    tools = subject.tools(ToolKind.VERIFY)
    for tool in tools:
        answer = _answer_field(tool)
        if answer is None:
            found.append(f"{tool.name}: the result has no single boolean field that is the answer (call it matches)")
            continue
        found += [f"{tool.name}: {problem}" for problem in _verify_problems(subject, tool, answer)]
    return Checked(tuple(found), f"{len(tools)} verify tools give both answers and compare every value")


def refusals(subject: Subject) -> Checked:
    """Commits aimed at unknown records are refused, with an error that has a code and leaks nothing a lookup would give."""
    found: dict[str, None] = {}
    errors: list[tuple[str, JsonObject, CallError]] = []
    for tool in subject.tools(ToolKind.COMMIT):
        for name, sample in _aims(subject, tool):
            unknown = [_UNKNOWN] if isinstance(sample.args[name], list) else _UNKNOWN
            args = {**sample.args, name: unknown}
            outcome = subject.trial(sample.state).call(tool.name, args)
            if outcome is not None and outcome.error is None:
                found.setdefault(f"{shown(tool.name, args)} succeeds although there is no such record")
            elif outcome is not None and outcome.error is not None:
                errors.append((tool.name, args, outcome.error))
    for run in subject.examples.values():
        errors += [(made.tool, made.args, made.outcome.error) for made in run.calls if made.outcome.error]
    for step in subject.walks:
        if step.outcome is not None and step.outcome.error is not None:
            errors.append((step.tool, step.args, step.outcome.error))
    words = _data_words(subject.state)
    for name, args, error in errors:
        for problem in _error_problems(error, args, words):
            found.setdefault(f"{name}: {problem}")
    return Checked(tuple(found), f"{len(errors)} refused calls with a code and without a leak")


# --- reading back ---------------------------------------------------------------------------------------------------------


def _is_readable(subject: Subject, tool: Tool, sample: Sample) -> bool:
    before = subject.trial(sample.state)
    changed = subject.env_type.load(sample.state)
    execute(changed, tool, sample.args)
    after = Trial(changed)
    records = [record for effect in sample.outcome.effects for record in (effect.after, effect.before) if record]
    near = value_pools([{"call": {**sample.args, **(sample.outcome.result or {})}}, *({"record": record} for record in records)])
    wide = subject.pools if sample.state is subject.state else value_pools([sample.state])
    for pools, limit in ((near, 20), (wide, 40)):
        for lookup in subject.tools(ToolKind.LOOKUP):
            for args in enumerate_calls(subject.specs[lookup.name], pools, limit):
                if _answer(before.call(lookup.name, args)) != _answer(after.call(lookup.name, args)):
                    return True
    return False


def _answer(outcome: Outcome | None) -> Any:
    return None if outcome is None else outcome.result


# --- one argument at a time -----------------------------------------------------------------------------------------------


def _pairs(subject: Subject, samples: Iterable[Sample], name: str) -> Iterator[tuple[Sample, JsonObject, Outcome]]:
    """Each sample beside calls that differ from it in the one argument."""
    for sample in samples:
        trial = subject.trial(sample.state)
        for args in neighbours(subject.specs[sample.tool], sample.args, name, subject.pools, NEIGHBOURS):
            outcome = trial.call(sample.tool, args)
            if outcome is not None:
                yield sample, args, outcome


def _all_samples(subject: Subject, tool: Tool) -> Iterator[Sample]:
    return chain(subject.samples[tool.name], subject.more_samples(tool.name))


def _is_refusal(outcome: Outcome) -> bool:
    """Refused for what the value means, not because it has the wrong form."""
    return outcome.error is not None and outcome.error.code != "invalid_arguments"


def _ignored_in_lookup(subject: Subject, tool: Tool, name: str) -> str | None:
    """Why a lookup's parameter does not count as used, or `None`."""
    required = name in tool.signature.input_schema.get("required", ())
    tried = 0
    for sample, args, outcome in _pairs(subject, _all_samples(subject, tool), name):
        if outcome.result is None:
            if required and _is_refusal(outcome):
                return None
            continue
        tried += 1
        if _without_echo(sample.outcome.result, sample.args.get(name)) != _without_echo(outcome.result, args.get(name)):
            return None
    return f"{name} is ignored: {tried} pairs of calls gave the same result" if tried else f"{name}: no second value could be tried"


def _without_echo(result: JsonObject | None, value: Any) -> JsonObject:
    """A result without top-level fields that repeat the argument."""
    return {name: item for name, item in (result or {}).items() if item != value or isinstance(item, (list, dict))}


def _lost_by_commit(subject: Subject, tool: Tool, name: str) -> str | None:
    """Why an argument of a commit does not count as stored, aimed or checked, or `None`."""
    same, refused, call = 0, 0, ""
    for sample, args, outcome in _pairs(subject, _all_samples(subject, tool), name):
        if outcome.error is not None:
            refused += _is_refusal(outcome)
        elif outcome.patch != sample.outcome.patch:
            return None
        else:
            same += 1
            call = call or f"{shown(tool.name, args)} and {name}={sample.args.get(name)!r}"
    if same:
        return f"{name} is lost: {call} change the same"
    return None if refused else f"{name}: no second value could be tried"


# --- verify tools ---------------------------------------------------------------------------------------------------------


def _answer_field(tool: Tool) -> str | None:
    properties = tool.signature.output_schema["properties"]
    booleans = [name for name, schema in properties.items() if schema["type"] == "boolean"]
    named = [name for name in ("matches", "ok") if name in booleans]
    return named[0] if named else booleans[0] if len(booleans) == 1 else None


def _verify_problems(subject: Subject, tool: Tool, answer: str) -> Iterator[str]:
    samples = subject.samples[tool.name]
    positive = [sample for sample in samples if (sample.outcome.result or {}).get(answer) is True]
    negative = len(samples) - len(positive)
    if not positive:
        yield f"{answer} was never true in {len(samples)} successful calls"
    ignored = []
    for name in tool.signature.parameters:
        turned = False
        for _, _, outcome in _pairs(subject, positive, name):
            says_no = outcome.result is not None and outcome.result.get(answer) is False
            negative += says_no
            turned = turned or says_no or _is_refusal(outcome)
            if turned and negative:
                break
        if not turned:
            ignored.append(name)
    if not negative:
        yield f"{answer} was never false, whatever it was given"
    elif positive and ignored:
        yield f"{', '.join(ignored)} never turned the answer from yes to no"


# --- refusals -------------------------------------------------------------------------------------------------------------


def _aims(subject: Subject, tool: Tool) -> Iterator[tuple[str, Sample]]:
    """Arguments that name existing records the commit changes, each with a call that uses it so."""
    done = set()
    for sample in subject.samples[tool.name]:
        plain = tool.signature.arguments.model_validate(sample.args).model_dump(mode="json")
        for decl in tool.effects:
            changed = {effect.record for effect in sample.outcome.effects if effect.kind == decl.kind and effect.before is not None}
            targets = {f"/{subject.name}{pointer}" for pointer in decl.records(plain)}
            for name in decl.arguments if decl.applies(plain) and changed & targets else ():
                if name not in done and name in sample.args:
                    done.add(name)
                    yield name, sample


def _data_words(state: JsonObject) -> set[str]:
    """Words of a state that look like data. What day it is is no secret."""
    words: set[str] = set()

    def visit(node: Any) -> None:
        if isinstance(node, dict):
            for item in node.values():
                visit(item)
        elif isinstance(node, list):
            for item in node:
                visit(item)
        elif isinstance(node, (str, int)) and not isinstance(node, bool):
            words.update(_split(str(node)))

    visit({name: value for name, value in state.items() if name not in ("now", "counters")})
    return words - _split(str(state["now"])) - {str(state["now"])[:10]}


def _split(text: str) -> set[str]:
    return {word.rstrip(".:") for word in _DATA_WORD.findall(text) if len(word.rstrip(".:")) >= 4}


def _error_problems(error: CallError, args: JsonObject, words: set[str]) -> Iterator[str]:
    if not _CODE.match(error.code):
        yield f"error code {error.code!r} is not snake_case"
    if not error.message.strip() or len(error.message) > _MAX_MESSAGE:
        yield f"error message of {len(error.message)} characters"
    given = json.dumps(args, ensure_ascii=False)
    leaked = sorted(word for word in _split(error.message) & words if word not in given)
    if leaked:
        yield f"the error {error.message!r} leaks {', '.join(leaked)}"
