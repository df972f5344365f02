"""What an agent sees of a task: the only thing that leaves for a model."""

from collections.abc import Iterable

from abstain_assets.records import AgentView, Task, ToolView
from environments.runtime.sandbox import Sandbox
from resources.sandbox import WireTool


def agent_view(task: Task, tools: Iterable[WireTool]) -> AgentView:
    """The view of a task with the tools as its sandbox lists them."""
    return AgentView(
        system_prompt=task.system_prompt,
        instruction=task.instruction,
        tools=tuple(ToolView(name=tool.name, description=tool.description, input_schema=tool.input_schema) for tool in tools),
    )


def foreign_view(task: Task) -> AgentView:
    """The view of a task whose sandbox is started later, by a foreign harness. Only published pairs get here, whose environments
    have passed their gates, so mounting them in this process is safe.

    Raises:
        MountError: the mount is not valid.
    """
    tools = Sandbox(task.mount, task.states).tools
    return agent_view(task, (WireTool(tool.wire_name, tool.description, tool.input_schema) for tool in tools))
