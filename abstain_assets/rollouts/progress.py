"""What a person sees while a cell runs: a live line on a terminal, a line at the end elsewhere. All of it goes to stderr."""

from typing import Protocol

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

from abstain_assets.records import Rollout
from abstain_assets.rollouts.errors import CellStopped


class Progress(Protocol):
    """Listener of a running cell."""

    def begin(self, title: str, planned: int, reused: int) -> None:
        """The cell starts; `reused` of its rollouts are there already."""

    def started(self) -> None:
        """A rollout starts."""

    def finished(self, rollout: Rollout) -> None:
        """A rollout is finished and kept."""

    def dropped(self) -> None:
        """A rollout was broken off."""

    def end(self, stopped: CellStopped | None) -> None:
        """The cell is over."""


class Silent:
    """Shows nothing."""

    def begin(self, title: str, planned: int, reused: int) -> None: ...
    def started(self) -> None: ...
    def finished(self, rollout: Rollout) -> None: ...
    def dropped(self) -> None: ...
    def end(self, stopped: CellStopped | None) -> None: ...


class Shown:
    """Shows done, running, errors, tokens, cost and the time left.

    Args:
        console: where to; stderr by default.
    """

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or Console(stderr=True)
        self._bar = Bar(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[facts]}"),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=self._console,
            transient=True,
            disable=not self._console.is_terminal,
        )

    def begin(self, title: str, planned: int, reused: int) -> None:
        """See `Progress`."""
        self._title = title
        self._planned, self._done = planned, reused
        self._reused = reused
        self._running = self._errors = self._tokens = 0
        self._cost = 0.0
        self._bar.start()
        self._task = self._bar.add_task(title, total=planned, completed=reused, facts=self._facts())

    def started(self) -> None:
        """See `Progress`."""
        self._running += 1
        self._update()

    def finished(self, rollout: Rollout) -> None:
        """See `Progress`."""
        self._running -= 1
        self._done += 1
        self._errors += not rollout.usable
        self._tokens += rollout.usage.input_tokens + rollout.usage.output_tokens
        self._cost += rollout.usage.cost_usd or 0.0
        self._update()

    def dropped(self) -> None:
        """See `Progress`."""
        self._running -= 1
        self._update()

    def end(self, stopped: CellStopped | None) -> None:
        """See `Progress`."""
        self._bar.remove_task(self._task)
        self._bar.stop()
        lines = [f"{self._title}: {self._done} of {self._planned} rollouts ({self._reused} reused), {self._facts()}"]
        lines += [f"{self._title}: stopped: {stopped}"] if stopped else []
        self._console.print("\n".join(lines), markup=False, highlight=False, soft_wrap=True)

    def _update(self) -> None:
        self._bar.update(self._task, completed=self._done, facts=self._facts())

    def _facts(self) -> str:
        running = f"{self._running} running, " if self._running else ""
        return f"{running}{self._errors} errors, {self._tokens:,} tokens, ${self._cost:.2f}"
