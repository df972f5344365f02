"""Errors a person can do something about. The command line prints their message and nothing else.

AbstainError       something errored or failed verification (exit code 1)
├── BadInput       usage, a name that does not exist, a file that cannot be read as what it should be (exit code 2)
├── LakeError      a table could not be written or read
├── Incomplete     some of what was asked for could not be finished; the rest was
└── Interrupted    somebody pressed Ctrl-C (exit code 130)
"""

from typing import ClassVar


class AbstainError(Exception):
    """Base of all errors with a message for the person who can fix them."""

    exit_code: ClassVar[int] = 1


class BadInput(AbstainError):
    """What was asked for does not exist or does not make sense. The message names the choices or the fix."""

    exit_code = 2


class LakeError(AbstainError):
    """A table could not be written or read. The message names the file and the fix; what was there before is still there."""


class Incomplete(AbstainError):
    """Some of what was asked for could not be finished; the rest was. The message says what and why."""


class Interrupted(AbstainError):
    """Somebody pressed Ctrl-C."""

    exit_code = 130

    def __init__(self) -> None:
        super().__init__("stopped; everything finished is kept, run the same command to go on")
