"""Which rollouts and verdicts still speak about the pairs that are published.

A pair may be built again and differ. Its rollouts then wait for the next run, which keeps what is still true and repeats the
rest; until then they are neither judged nor counted.
"""

from collections.abc import Sequence

import polars as pl

from resources.lake import Lake

_KEYS = ("round", "pair_id", "pair_digest")


def current_rollouts(lake: Lake, cells: Sequence[str] | None = None) -> pl.DataFrame:
    """Fingerprints of the rollouts whose pair is as it was.

    Args:
        cells: partitions of `rollouts`; all by default.

    Raises:
        LakeError: a table cannot be read.
    """
    return _by_pair(lake, cells, "semi")


def stale_rollouts(lake: Lake, cells: Sequence[str] | None = None) -> pl.DataFrame:
    """Fingerprints of the rollouts whose pair has changed or is gone.

    Raises:
        LakeError: a table cannot be read.
    """
    return _by_pair(lake, cells, "anti")


def _by_pair(lake: Lake, cells: Sequence[str] | None, how: pl._typing.JoinStrategy) -> pl.DataFrame:
    scenarios = None if cells is None else sorted({cell.partition("__")[2] for cell in cells})
    pairs = lake.read("pairs", scenarios, columns=["round", "id", "digest"])
    runs = lake.read("rollouts", cells, columns=["fingerprint", *_KEYS])
    return runs.join(pairs, left_on=_KEYS, right_on=["round", "id", "digest"], how=how).select("fingerprint")


def current_verdicts(lake: Lake, cells: Sequence[str] | None = None) -> pl.DataFrame:
    """Rows of `verdicts`, of all judges, whose rollout is current.

    Raises:
        LakeError: a table cannot be read.
    """
    files = lake.partitions("verdicts")
    judged = None if cells is None else [file for file in files if any(file.startswith(f"{cell}__") for cell in cells)]
    return lake.read("verdicts", judged).join(current_rollouts(lake, cells), on="fingerprint", how="semi")
