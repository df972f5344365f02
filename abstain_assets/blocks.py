"""Blocks of cells: what one run can cover.

Dagster reads a range over two dimensions as a block: every model between the ends on every scenario between the ends, in the order
in which the instance keeps their keys.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import dagster as dg

from abstain_assets.partitions import Cell

T = TypeVar("T")
_KEY = "dagster/partition"
_START, _END = "dagster/asset_partition_range_start", "dagster/asset_partition_range_end"


@dataclass(frozen=True)
class Block:
    """Models side by side that share an unbroken line of scenarios."""

    first: Cell
    last: Cell

    @property
    def key(self) -> dg.MultiPartitionKey | None:
        """The partition of a run over a single cell."""
        return self.first.key if self.first == self.last else None

    @property
    def tags(self) -> dict[str, str]:
        """What makes a run cover several cells."""
        return {} if self.first == self.last else {_START: self.first.key, _END: self.last.key}


def blocks(cells: Sequence[Cell], scenarios: Sequence[str], models: Sequence[str]) -> Iterator[Block]:
    """The fewest blocks that hold these cells and no others, for blocks that are whole lines of scenarios.

    Args:
        scenarios, models: all keys of the two dimensions in the instance's order.
    """
    places = {key: index for index, key in enumerate(scenarios)}
    rows = {key: index for index, key in enumerate(models)}
    lines: dict[tuple[int, int], list[Cell]] = {}
    for model in sorted({cell.model for cell in cells}, key=rows.__getitem__):
        mine = sorted((cell for cell in cells if cell.model == model), key=lambda cell: places[cell.scenario.key])
        for line in _unbroken(mine, lambda cell: places[cell.scenario.key]):
            lines.setdefault((places[line[0].scenario.key], len(line)), []).extend((line[0], line[-1]))
    for ends in lines.values():
        for block in _unbroken(list(zip(ends[::2], ends[1::2], strict=True)), lambda pair: rows[pair[0].model]):
            yield Block(block[0][0], block[-1][1])


def models_of(run: dg.DagsterRun, models: Sequence[str]) -> set[str]:
    """The models whose cells a run covers; none where its partitions are no cells.

    Args:
        models: all model keys in the instance's order.
    """
    ends = [run.tags.get(name, "").partition("|") for name in (_START, _END)]
    if all(bar for _, bar, _ in ends):
        first, last = (models.index(model) for model, _, _ in ends)
        return set(models[first : last + 1])
    model, bar, _ = run.tags.get(_KEY, "").partition("|")
    return {model} if bar else set()


def _unbroken(items: Sequence[T], position: Callable[[T], int]) -> list[list[T]]:
    """Sorted items cut wherever their positions do not follow each other."""
    runs: list[list[T]] = []
    for item in items:
        if runs and position(item) == position(runs[-1][-1]) + 1:
            runs[-1].append(item)
        else:
            runs.append([item])
    return runs
