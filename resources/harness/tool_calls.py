"""Tool calls as models write them: arguments that travel as text, and what a call is answered with."""

import json
from collections.abc import Iterable, Set

from abstain_assets.records import ToolRequest
from environments.runtime.records import JsonObject
from environments.runtime.sandbox import compact
from resources.harness.base import ToolSession, Trace
from resources.harness.encoding import encodable


def read_arguments(text: str | JsonObject | None) -> JsonObject | str:
    """Arguments as an object, or the raw text where they are none. Some servers send the object itself."""
    if isinstance(text, dict):
        return text
    try:
        value = json.loads(text or "{}")
        json.dumps(value, allow_nan=False)
        value = encodable(value)
    except (ValueError, RecursionError):
        return text or ""
    return value if isinstance(value, dict) else text or ""


def used_ids(trace: Trace) -> set[str]:
    """Ids of all calls so far."""
    return {call.id for message in trace.messages for call in message.tool_calls}


def identities(given: Iterable[str | None], used: Set[str]) -> list[str]:
    """Ids of the calls of one reply, one for each, because the answers need them. Some servers give none, or the same again."""
    found: list[str] = []
    for identity in given:
        taken = used | set(found)
        names = (identity, *(f"call_{number}" for number in range(len(taken) + 1)))
        found.append(next(name for name in names if name and name not in taken))
    return found


def written_arguments(call: ToolRequest, text: str | JsonObject | None) -> str:
    """Arguments for the next request, as the model wrote them. What is no object becomes an empty one: some servers refuse their
    own output."""
    if isinstance(call.arguments, str):
        return "{}"
    # Not as it was where it held halves of surrogate pairs.
    return text if isinstance(text, str) and text and json.loads(text) == call.arguments else compact(call.arguments)


def complaint(arguments: str) -> str:
    """The answer to a call whose arguments are no JSON object."""
    message = f"The arguments are no JSON object: {arguments[:500]}"
    return compact({"error": {"code": "invalid_arguments", "message": message}})


async def answer(call: ToolRequest, session: ToolSession) -> str:
    """The text that answers a call."""
    if isinstance(call.arguments, str):
        return complaint(call.arguments)
    return (await session.call(call.name, call.arguments)).text
