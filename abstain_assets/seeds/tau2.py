"""tau2-bench: customer service in four domains (retail, airline, telecom, banking).

The instruction is what the user scenario says the customer wants and knows; the plan is the evaluation's list of actions.
"""

import re
from collections.abc import Iterator

from abstain_assets.seeds.archive import Archive, Node, tidy
from abstain_assets.seeds.records import RawSeed
from abstain_assets.taxonomy import Scenario

NAME = "tau2-bench"
_FOLDER = "inspect_evals/tau2/data/domains"
_DOMAINS = {
    "retail": ("retail/tasks.json", "retail/split_tasks.json"),
    "airline": ("airline/tasks.json", "airline/split_tasks.json"),
    "telecom": ("telecom/tasks.json.gz", "telecom/split_tasks.json"),
    "banking": ("banking_knowledge/tasks.json", None),
}
# The banking domain hides its tools behind a few that unlock, hand out and call them by name.
_CALLS = {"call_discoverable_agent_tool": "agent_tool_name", "call_discoverable_user_tool": "discoverable_tool_name"}
_SCAFFOLD = {"unlock_discoverable_agent_tool", "give_discoverable_user_tool", "log_verification"}
_HANDOVER = {"transfer_to_human_agents", "request_human_agent_transfer"}
_OPENING = re.compile(r'(?i)(?:opening|start|begin)[^\n"]*?"([^"]{20,})"')
_SERIAL = re.compile(r"_\d+$")


def parse(archive: Archive) -> Iterator[RawSeed]:
    """Every task of the benchmark's own base split.

    Raises:
        SourceError: a member is missing or has another shape.
    """
    for domain, (tasks, splits) in _DOMAINS.items():
        base = {item.name() for item in archive.json(f"{_FOLDER}/{splits}")["base"].items()} if splits else None
        for task in archive.json(f"{_FOLDER}/{tasks}").items():
            if base is None or task["id"].name() in base:
                yield _seed(domain, task)


def _seed(domain: str, task: Node) -> RawSeed:
    plan, handed_over = _plan(task)
    offered = task.get("user_tools")
    return RawSeed(
        id=f"{NAME}/{domain}/{task['id'].name()}",
        source=NAME,
        split=domain,
        instruction=_instruction(task["user_scenario"]["instructions"]),
        source_environment=domain,
        tools=plan,
        offered=tuple(item.text() for item in offered.items()) if offered else (),
        label=Scenario.INSUFFICIENT_TOOL_CAPABILITY if handed_over and not plan else None,
    )


def _instruction(said: Node) -> str:
    """What the customer wants and knows. Banking scripts a whole conversation, of which the opening is the request."""
    if said.is_text():
        opening = _OPENING.search(said.text())
        return tidy(opening[1] if opening else said.text())
    known = said.get("known_info")
    return tidy(f"{said['reason_for_call'].text()} {known.text() if known else ''}")


def _plan(task: Node) -> tuple[tuple[str, ...], bool]:
    """The tools the solution calls, and whether it hands the customer over to a person because no tool serves the request."""
    criteria = task["evaluation_criteria"].get("actions")
    names: list[str] = []
    for action in criteria.items() if criteria else ():
        name = action["name"].text()
        if name in _CALLS:
            name = _SERIAL.sub("", action["arguments"][_CALLS[name]].text())
        if name not in _SCAFFOLD:
            names.append(name)
    plan = tuple(name for name in names if name not in _HANDOVER)
    return plan, len(plan) < len(names)
