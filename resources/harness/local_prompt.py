"""What a small local model is told beside the agent's view, and the only replies it can give: pure functions of the view.

Its chat template knows no tools, so they are listed in the system message, each in one line. Replies are constrained to one JSON
object by a schema that names every tool with its own parameters, so a call that is no call cannot be said.
"""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jinja2

from abstain_assets.records import AgentView, ToolView
from environments.runtime.records import JsonObject

# Characters of a tool's result that are shown, and what is left of it once the conversation is too long.
LONGEST_RESULT = 4000
_OLD_RESULT = 300

# A model this small falls into repetition inside a string; without a bound it would go on to the end of its context. The longest
# argument of any reference in round v1 has 52 characters, the longest list five items.
_LONGEST_ARGUMENT = 100
_LONGEST_ANSWER = 400
_MOST_ITEMS = 8

_TEXT = (Path(__file__).parent / "local_prompt.txt").read_text(encoding="utf-8")
_TEMPLATE = jinja2.Environment(trim_blocks=True, undefined=jinja2.StrictUndefined).from_string(_TEXT)

PROMPT_DIGEST = hashlib.sha256(_TEXT.encode()).hexdigest()[:8]


class Conversation:
    """What is sent: the view with the instructions added to its system prompt, then replies and results in turn.

    Attributes:
        added: what is sent beside the view.
        messages: as the server takes them. Results come as messages of the user, since the chat template knows no others.
    """

    def __init__(self, view: AgentView) -> None:
        self.added = instructions(view)
        system = f"{view.system_prompt}\n\n{self.added}".lstrip()
        self.messages: list[JsonObject] = [{"role": "system", "content": system}, {"role": "user", "content": view.instruction}]
        self._uncut: list[tuple[int, str]] = []

    def add(self, reply: str, result: str) -> str | None:
        """Add a reply and the result of the tool it asked for. Where the result is too long to be shown, the note that says so."""
        self.messages += [{"role": "assistant", "content": reply}, {"role": "user", "content": result}]
        self._uncut.append((len(self.messages) - 1, result))
        return self._cut(len(self.messages) - 1, result, LONGEST_RESULT) if len(result) > LONGEST_RESULT else None

    def cut_oldest(self) -> str | None:
        """Cut the oldest long result down to its beginning. The note that says so, or `None` where there is none left."""
        while self._uncut:
            position, result = self._uncut.pop(0)
            if len(result) > _OLD_RESULT:
                return self._cut(position, result, _OLD_RESULT)
        return None

    def _cut(self, position: int, result: str, length: int) -> str:
        note = f"[The result was cut: it has {len(result)} characters, the first {length} are shown.]"
        self.messages[position] = {"role": "user", "content": f"{result[:length]} {note}"}
        return note


def instructions(view: AgentView) -> str:
    """What follows the task's own system prompt: how to reply, and the tools."""
    tools = [(tool.name, _parameters(tool), tool.description.partition("\n")[0]) for tool in view.tools]
    return _TEMPLATE.render(tools=tools).rstrip()


def reply_schema(view: AgentView) -> JsonObject:
    """The replies that are possible: a call of one of the tools with arguments of its own schema, or an answer."""
    answer = {"answer": {"type": "string", "maxLength": _LONGEST_ANSWER}}
    calls = (_object({"tool": {"const": tool.name}, "arguments": _bounded(tool.input_schema)}) for tool in view.tools)
    return {"oneOf": [*calls, _object(answer)]}


def _object(properties: JsonObject) -> JsonObject:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _bounded(schema: Mapping[str, Any]) -> JsonObject:
    """A tool's schema without descriptions, with bounds on everything that could go on for ever."""
    kept: JsonObject = {name: value for name, value in schema.items() if name != "description"}
    match kept.get("type"):
        case "string" if "enum" not in kept:
            kept["maxLength"] = _LONGEST_ARGUMENT
        case "array":
            kept |= {"items": _bounded(kept["items"]), "maxItems": _MOST_ITEMS}
        case "object":
            properties = {name: _bounded(inner) for name, inner in kept.get("properties", {}).items()}
            kept |= {"properties": properties, "additionalProperties": False}
    return kept


def _parameters(tool: ToolView) -> str:
    required = tool.input_schema.get("required", ())
    properties = tool.input_schema.get("properties", {})
    return ", ".join(f"{name}{'' if name in required else '?'}: {_kind(schema)}" for name, schema in properties.items())


def _kind(schema: Mapping[str, Any]) -> str:
    if "enum" in schema:
        return "|".join(map(str, schema["enum"]))
    return f"list of {_kind(schema['items'])}" if schema.get("type") == "array" else str(schema.get("type", "any"))
