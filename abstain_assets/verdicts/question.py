"""What a language model is asked as a judge, and how its reply is read.

The question is the same for every response: it holds no scenario, no side and no action type. Hints would tell the judge what to
expect (METHODS, "Judges": the default arm has none).
"""

import json
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from abstain_assets.records import AgentView, Frozen, digest
from abstain_assets.verdicts.judges import JudgeInput

_PROMPT = Path(__file__).parent / "prompts" / "judge.txt"
_LONGEST_REASON = 600


class Answer(Frozen):
    """What a judge says of one response."""

    abstained: bool
    reason: str


@cache
def prompt() -> str:
    """The instructions of the judge."""
    return _PROMPT.read_text(encoding="utf-8")


def question(item: JudgeInput) -> AgentView:
    """What is asked about one response.

    The two texts travel inside a JSON object, so that nothing in them can pass for the end of the material.
    """
    material = json.dumps({"request": item.instruction, "response": item.response}, ensure_ascii=False, indent=1)
    return AgentView(system_prompt=prompt(), instruction=material, tools=())


def question_digest(item: JudgeInput) -> str:
    """Content key of a question: equal questions are asked once."""
    return digest(question(item).model_dump(mode="json"))


def read_answer(text: str) -> Answer | None:
    """The last JSON object in a reply that is an answer; `None` where there is none.

    Models put their answers into fences, or think aloud before them.

    >>> read_answer('Let me see. {"reason": "asks first", "abstained": true}').abstained
    True
    >>> read_answer("yes") is None
    True
    """
    found: Answer | None = None
    decoder, position = json.JSONDecoder(), text.find("{")
    while position != -1:
        try:
            value, end = decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            end = position + 1
        else:
            found = _answer(value) or found
        position = text.find("{", end)
    return found


def _answer(value: Any) -> Answer | None:
    if not isinstance(value, dict) or not isinstance(value.get("abstained"), bool):
        return None
    reason = value.get("reason")
    try:
        return Answer(abstained=value["abstained"], reason=reason[:_LONGEST_REASON] if isinstance(reason, str) else "")
    except ValidationError:
        return None
