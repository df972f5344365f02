"""What an agent sees of a task: the only thing that leaves for a model."""

from collections.abc import Iterable

from abstain_assets.records import AgentView, Task, ToolView
from resources.sandbox import WireTool


def agent_view(task: Task, tools: Iterable[WireTool]) -> AgentView:
    """The view of a task with the tools as its sandbox lists them."""
    return AgentView(
        system_prompt=task.system_prompt,
        instruction=task.instruction,
        tools=tuple(ToolView(name=tool.name, description=tool.description, input_schema=tool.input_schema) for tool in tools),
    )
