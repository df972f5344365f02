"""What to say when the Dagster instance cannot be used.

The instance holds what the UI shows: history, partitions, which schedules are on. Results are in the lake, so losing it loses none.
"""

import shlex
from pathlib import Path

from abstain_assets.errors import AbstainError

_NO_PLACE = ("readonly", "is full", "unable to open", "disk I/O")  # what SQLite says about places rather than files


def unusable(home: Path, error: Exception) -> AbstainError:
    """The error for a person: what is wrong with the instance in a folder, and what to do."""
    reason = brief(error).split(". ")[0]  # what Dagster advises after that is no command of this project
    if isinstance(error, OSError) or any(words in reason for words in _NO_PLACE):
        fix = "make room, make it writable, or use another home with --home"
    else:
        move = f"mv {shlex.quote(str(home))} {shlex.quote(f'{home}.broken')}"
        fix = f"move it away with `{move}` and run the command again; the UI's history starts anew, all results are kept"
    return AbstainError(f"the Dagster instance in {home} cannot be used ({reason}): {fix}")


def brief(error: Exception) -> str:
    """The first line of an error, without its class: what follows is a statement or a trace."""
    return str(getattr(error, "orig", None) or getattr(error, "strerror", None) or error).strip().split("\n", 1)[0]
