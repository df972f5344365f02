"""AgentDojo: office, chat, banking and travel tasks, and the attacks that are injected into their data.

Its tasks are Python classes. They are read as syntax trees, never imported: the prompt from the class's constants, the plan from
the calls its reference solution names. What an attack wants done is harmful only in view of where it stands, so attacks are
labelled as emergent risks.
"""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from abstain_assets.seeds.archive import Archive, SourceError, tidy
from abstain_assets.seeds.records import RawSeed
from abstain_assets.taxonomy import Scenario

NAME = "agentdojo"
SUITES = ("banking", "slack", "travel", "workspace", "workspace_plus")
_FOLDER = "inspect_evals/agentdojo/task_suites"


@dataclass(frozen=True)
class _Kind:
    """One file of a suite: the prefix of its classes, the constant with the text, and the label."""

    file: str
    prefix: str
    text: str
    label: Scenario | None


_KINDS = (
    _Kind("user_tasks", "UserTask", "PROMPT", None),
    _Kind("injection_tasks", "InjectionTask", "GOAL", Scenario.EMERGENT_RISK_DISCOVERY),
)


def parse(archive: Archive) -> Iterator[RawSeed]:
    """Every task written out in the suites; tasks that only combine others are left out.

    Raises:
        SourceError: a member is missing or has another shape.
    """
    for suite in SUITES:
        offered = _offered(archive, suite)
        for kind in _KINDS:
            yield from _tasks(archive, suite, kind, offered)


def _tasks(archive: Archive, suite: str, kind: _Kind, offered: tuple[str, ...]) -> Iterator[RawSeed]:
    member = f"{_FOLDER}/{suite}/{kind.file}.py"
    module = _module(archive, member)
    constants = _constants(module.body, {})
    for task in module.body:
        if not (isinstance(task, ast.ClassDef) and task.name.startswith(kind.prefix)):
            continue
        where = f"{archive.name}: {member}, field {task.name}.{kind.text}"
        found = _constants(task.body, constants).get(kind.text)
        if not isinstance(found, str):
            raise SourceError(f"{where}: expected a constant text")
        solution = next((item for item in task.body if isinstance(item, ast.FunctionDef) and item.name == "ground_truth"), None)
        if solution is None:
            raise SourceError(f"{archive.name}: {member}, field {task.name}.ground_truth: expected a method, found nothing")
        split = f"{suite}-{kind.file.removesuffix('_tasks')}"
        yield RawSeed(
            id=f"{NAME}/{split}/{task.name}",
            source=NAME,
            split=split,
            instruction=tidy(found),
            source_environment=suite,
            tools=_plan(solution),
            offered=offered,
            label=kind.label,
        )


def _module(archive: Archive, member: str) -> ast.Module:
    try:
        return ast.parse(archive.text(member))
    except (SyntaxError, ValueError) as error:
        raise SourceError(f"{archive.name}: {member} is no Python: {error}") from error


def _constants(body: list[ast.stmt], known: Mapping[str, object]) -> dict[str, object]:
    """Names a module or class body binds to values that can be told without running it, and those known before."""
    found = dict(known)
    for statement in body:
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            target, value = statement.targets[0], statement.value
        elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
            target, value = statement.target, statement.value
        else:
            continue
        if isinstance(target, ast.Name):
            try:
                found[target.id] = _value(value, found)
            except (ValueError, TypeError):
                found.pop(target.id, None)
    return found


def _value(node: ast.expr, known: Mapping[str, object]) -> object:
    """The value of an expression made of literals, known names, f-strings, sums of texts and `separator.join`.

    Raises:
        ValueError, TypeError: it is made of anything else.
    """
    match node:
        case ast.Name(id=name) if name in known:
            return known[name]
        case ast.JoinedStr(values=parts):
            return "".join(str(_value(part, known)) for part in parts)
        case ast.FormattedValue(value=inner, conversion=-1, format_spec=None):
            return _value(inner, known)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            first, second = _value(left, known), _value(right, known)
            if isinstance(first, str) and isinstance(second, str):
                return first + second
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return [_value(item, known) for item in items]
        case ast.Call(func=ast.Attribute(value=separator, attr="join"), args=[items], keywords=[]):
            between, texts = _value(separator, known), _value(items, known)
            if isinstance(between, str) and isinstance(texts, list):
                return between.join(str(text) for text in texts)
        case _:
            return ast.literal_eval(node)
    raise ValueError("not a constant")


def _plan(solution: ast.FunctionDef) -> tuple[str, ...]:
    """Names of the tools a reference solution calls, in the order in which they are written."""
    calls = [node for node in ast.walk(solution) if isinstance(node, ast.Call) and _is_named(node.func, "ToolCall")]
    calls.sort(key=lambda node: (node.lineno, node.col_offset))
    named = (keyword.value for call in calls for keyword in call.keywords if keyword.arg == "function")
    return tuple(value.value for value in named if isinstance(value, ast.Constant) and isinstance(value.value, str))


def _offered(archive: Archive, suite: str) -> tuple[str, ...]:
    """The tools of a suite; empty where it borrows those of another."""
    for statement in _module(archive, f"{_FOLDER}/{suite}/task_suite.py").body:
        if isinstance(statement, ast.Assign) and any(_is_named(target, "TOOLS") for target in statement.targets):
            tools = statement.value.elts if isinstance(statement.value, ast.List) else []
            return tuple(tool.func.id for tool in tools if isinstance(tool, ast.Call) and isinstance(tool.func, ast.Name))
    raise SourceError(f"{archive.name}: {_FOLDER}/{suite}/task_suite.py, field TOOLS: expected a list, found nothing")


def _is_named(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name
