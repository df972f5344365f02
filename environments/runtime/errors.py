"""Errors of the environment runtime.

Exception
├── ToolError        a call was refused; the agent sees it; the state is untouched
├── EnvironmentBug   the environment broke its contract; the rollout is invalid and fails loudly
└── MountError       a mount names something that does not exist
"""


class ToolError(Exception):
    """A tool refused a call. The message is shown to the agent, so it must not leak facts a lookup would give.

    Args:
        code: short machine-readable reason, for example `not_found`, `precondition_failed`, `invalid_arguments`.
        message: one sentence for the agent.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class EnvironmentBug(Exception):
    """An environment broke the contract: an impure lookup, an undeclared change, an unexpected exception."""


class MountError(Exception):
    """A mount, fault or hidden tool names an environment or tool that does not exist."""
