"""The records of the metrics stage."""

from typing import Literal

from abstain_assets.records import Frozen

Aggregate = Literal["cell", "macro_action_type", "macro", "pooled"]


class MetricRow(Frozen):
    """One number, with what was counted for it.

    Attributes:
        scenario, action_type: what it covers; `all` where it pools.
        aggregate: how cells were put together; `cell` where there is only one.
        value: a rate between 0 and 1, or `None` where nothing was counted.
        numerator, denominator: what was counted; passes may be fractions when there are epochs.
        lo, hi: 95 % interval.
    """

    round: str
    model: str
    harness: str
    judge: str
    scenario: str
    action_type: str
    aggregate: Aggregate
    metric: str
    value: float | None
    numerator: float
    denominator: float
    lo: float | None = None
    hi: float | None = None


class LeaderboardRow(Frozen):
    """One model under one harness and judge in one round.

    Attributes:
        act, abstain, paired, car: by `macro_action_type`; `car` is `None` where no act side passed.
        pairs: pairs with both sides usable; the numbers rest on these.
        assigned: pairs of which both sides were run.
        excluded: runs without a verdict; `excluded_by_kind` says why.
        counts: passes behind the headline rates.
        car_missing_cells: cells without an act pass, left out of `car`.
        provisional: the judge was not calibrated on real responses.
        pass_hat_k: both sides right in k of k epochs, for every k up to the number of epochs.
    """

    model: str
    harness: str
    round: str
    judge: str
    epochs: int
    act: float | None
    abstain: float | None
    paired: float | None
    car: float | None
    macro_paired: float | None
    pooled_paired: float | None
    ite_paired: float | None
    paired_strict: float | None
    over_abstention: float | None
    pairs: int
    excluded: int
    ci_act: tuple[float, float] | None
    ci_abstain: tuple[float, float] | None
    ci_paired: tuple[float, float] | None
    ci_car: tuple[float, float] | None
    ci_over_abstention: tuple[float, float] | None
    rank: int
    rank_interval: tuple[int, int]
    assigned: int
    scenarios: int
    excluded_by_kind: dict[str, int]
    counts: dict[str, float]
    car_missing_cells: int
    ite_paired_without_infrastructure: float | None
    outcomes: dict[str, int]
    pass_hat_k: tuple[float, ...]
    provisional: bool
