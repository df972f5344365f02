"""What a person sees while a cell runs: a live line on a terminal, a line at the end elsewhere. All of it goes to stderr."""

from datetime import timedelta
from time import perf_counter
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


class Tally:
    """What a running cell has come to so far.

    Args:
        title: names the cell.
        planned, reused: rollouts asked for, and found finished.
    """

    def __init__(self, title: str, planned: int, reused: int) -> None:
        self.title, self.planned, self.reused = title, planned, reused
        self.done, self.running, self.errors, self.tokens, self.cost = reused, 0, 0, 0, 0.0
        self._start = perf_counter()

    def started(self) -> None:
        """A rollout starts."""
        self.running += 1

    def dropped(self) -> None:
        """A rollout was broken off."""
        self.running -= 1

    def finished(self, rollout: Rollout) -> None:
        """A rollout is finished."""
        self.running -= 1
        self.done += 1
        self.errors += not rollout.usable
        self.tokens += rollout.usage.input_tokens + rollout.usage.output_tokens
        self.cost += rollout.usage.cost_usd or 0.0

    @property
    def facts(self) -> str:
        """Running, errors, tokens and cost."""
        running = f"{self.running} running, " if self.running else ""
        return f"{running}{self.errors} errors, {self.tokens:,} tokens, ${self.cost:.2f}"

    @property
    def line(self) -> str:
        """All of it."""
        return f"{self.title}: {self.done} of {self.planned} rollouts ({self.reused} reused), {self.facts}"

    @property
    def time_left(self) -> str:
        """How long the rest takes at the pace so far."""
        made = self.done - self.reused
        seconds = (perf_counter() - self._start) / max(1, made) * (self.planned - self.done)
        return f"about {timedelta(seconds=round(seconds))} left"


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
        self._tally = Tally(title, planned, reused)
        self._bar.start()
        self._task = self._bar.add_task(title, total=planned, completed=reused, facts=self._tally.facts)

    def started(self) -> None:
        """See `Progress`."""
        self._tally.started()
        self._update()

    def finished(self, rollout: Rollout) -> None:
        """See `Progress`."""
        self._tally.finished(rollout)
        self._update()

    def dropped(self) -> None:
        """See `Progress`."""
        self._tally.dropped()
        self._update()

    def end(self, stopped: CellStopped | None) -> None:
        """See `Progress`."""
        self._bar.remove_task(self._task)
        self._bar.stop()
        lines = [self._tally.line, *([f"{self._tally.title}: stopped: {stopped}"] if stopped else [])]
        self._console.print("\n".join(lines), markup=False, highlight=False, soft_wrap=True)

    def _update(self) -> None:
        self._bar.update(self._task, completed=self._tally.done, facts=self._tally.facts)
