"""BFCL v4, the Berkeley function calling leaderboard, with its irrelevance, missing-function and missing-parameter splits.

Irrelevance splits offer tools that cannot serve the request, the two `miss` splits hold back a function or a parameter in one turn
of a conversation: these are labels. Of such a conversation the request is everything said up to that turn.
"""

import ast
from collections.abc import Iterator

from abstain_assets.seeds.archive import Archive, Node, SourceError, tidy
from abstain_assets.seeds.records import RawSeed
from abstain_assets.taxonomy import Scenario

NAME = "bfcl"
_DATA = "bfcl_eval/data"
_ANSWERED = (
    "simple_python",
    "simple_java",
    "simple_javascript",
    "multiple",
    "parallel",
    "parallel_multiple",
    "live_simple",
    "live_multiple",
    "live_parallel",
    "live_parallel_multiple",
)
_UNANSWERED = {
    "irrelevance": Scenario.INSUFFICIENT_TOOL_CAPABILITY,
    "live_irrelevance": Scenario.INSUFFICIENT_TOOL_CAPABILITY,
    "live_relevance": None,
    "web_search": None,
}
_CONVERSATIONS = {
    "multi_turn_base": None,
    "multi_turn_long_context": None,
    "multi_turn_miss_func": Scenario.INSUFFICIENT_TOOL_CAPABILITY,
    "multi_turn_miss_param": Scenario.MISSING_CRITICAL_PARAMETER,
}


def parse(archive: Archive) -> Iterator[RawSeed]:
    """Every task of the splits named above.

    Raises:
        SourceError: a member is missing or has another shape.
    """
    for split in _ANSWERED:
        answers = _answers(archive, split)
        for task in _tasks(archive, split):
            plan = tuple(call.keys()[0] for call in _answer(answers, task).items() if call.keys())
            yield _single(split, task, plan, None)
    for split, label in _UNANSWERED.items():
        for task in _tasks(archive, split):
            yield _single(split, task, (), label)
    for split, label in _CONVERSATIONS.items():
        answers = _answers(archive, split)
        for task in _tasks(archive, split):
            yield _conversation(split, task, _answer(answers, task), label)


def _tasks(archive: Archive, split: str) -> Iterator[Node]:
    return archive.json_lines(f"{_DATA}/BFCL_v4_{split}.json")


def _answers(archive: Archive, split: str) -> dict[str, Node]:
    return {row["id"].text(): row["ground_truth"] for row in archive.json_lines(f"{_DATA}/possible_answer/BFCL_v4_{split}.json")}


def _answer(answers: dict[str, Node], task: Node) -> Node:
    name = task["id"].text()
    if name not in answers:
        raise SourceError(f"{task.file}, field {task.field}.id: {name} has no possible answer")
    return answers[name]


def _single(split: str, task: Node, plan: tuple[str, ...], label: Scenario | None) -> RawSeed:
    functions, classes = task.get("function"), task.get("involved_classes")
    offered = tuple(item["name"].text() for item in functions.items()) if functions else ()
    named = (plan or offered)[0] if plan or offered else classes.items()[0].text() if classes else ""
    return RawSeed(
        id=f"{NAME}/{split}/{task['id'].text()}",
        source=NAME,
        split=split,
        instruction=tidy(" ".join(_said(turn) for turn in task["question"].items())),
        source_environment=_namespace(named),
        tools=plan,
        offered=offered,
        label=label,
    )


def _conversation(split: str, task: Node, answer: Node, label: Scenario | None) -> RawSeed:
    turns, calls = task["question"].items(), answer.items()
    last = len(turns)
    if label is not None:
        last = 1 + next((index for index, turn in enumerate(calls) if not turn.items()), last - 1)
    # What is held back arrives one turn later: the calls of that turn are the plan of the request.
    plan = tuple(_called(call) for turn in calls[: last + (label is not None)] for call in turn.items())
    classes = "+".join(item.text() for item in task["involved_classes"].items())
    said = [_said(turn) for turn in turns[:last]]
    return RawSeed(
        id=f"{NAME}/{split}/{task['id'].text()}",
        source=NAME,
        split=split,
        instruction=tidy(" ".join(said)),
        source_environment=classes,
        tools=plan,
        label=label,
    )


def _said(turn: Node) -> str:
    return " ".join(message["content"].text() for message in turn.items() if message["role"].text() == "user")


def _called(call: Node) -> str:
    """The function of a call written as Python, such as `mv(source='a')`."""
    try:
        parsed = ast.parse(call.text(), mode="eval").body
    except SyntaxError as error:
        raise SourceError(f"{call.file}, field {call.field}: {call.text()[:60]!r} is no call") from error
    if not (isinstance(parsed, ast.Call) and isinstance(parsed.func, (ast.Name, ast.Attribute))):
        raise SourceError(f"{call.file}, field {call.field}: {call.text()[:60]!r} is no call")
    return ast.unparse(parsed.func)


def _namespace(function: str) -> str:
    """What stands before the last dot of a function's name, or the name itself."""
    return function.rpartition(".")[0] or function
