"""Progress of models over all their cells: one bar while a model runs and one line at its end."""

from abstain_assets.rollouts.errors import CellStopped
from abstain_assets.rollouts.progress import Shown


class ShownOverCells(Shown):
    """Shows the cells of a model as one, one model after the other.

    Args:
        planned: rollouts of all cells of a model together.
    """

    def __init__(self, planned: int) -> None:
        super().__init__()
        self._whole = planned
        self._model: str | None = None
        self._stopped: CellStopped | None = None

    def begin(self, title: str, planned: int, reused: int) -> None:
        """See `Progress`."""
        if title != self._model:
            self.close()
            super().begin(title, self._whole, 0)
            self._model, self._stopped = title, None
        self._tally.done += reused
        self._tally.reused += reused
        self._update()

    def end(self, stopped: CellStopped | None) -> None:
        """See `Progress`."""
        self._stopped = stopped or self._stopped

    def close(self) -> None:
        """All cells of the model are over."""
        if self._model is not None:
            super().end(self._stopped)
            self._model = None
