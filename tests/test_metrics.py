"""Metrics against METHODS: identities, bounds, exclusions, epochs, and the published table."""

import csv
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from abstain_assets.metrics.accuracy import (
    by_paper,
    cell_rates,
    errors_fail,
    macro,
    macro_action_type,
    own_errors_fail,
    pooled,
    score_pairs,
)
from abstain_assets.metrics.leaderboard import leaderboard, metric_rows
from abstain_assets.metrics.uncertainty import family_weights, interval, rank_intervals, wilson
from abstain_assets.records import ErrorKind, Verdict
from abstain_assets.taxonomy import ActionType, Scenario, Side

TABLE = Path(__file__).parents[2] / "shared" / "paper_table1.csv"
SCENARIOS = list(Scenario)


def run(
    pair: int,
    side: Side,
    passed: bool | None,
    *,
    scenario: Scenario = Scenario.CONFLICTING_EVIDENCE,
    action_type: ActionType = ActionType.OPERATIONAL,
    model: str = "m",
    epoch: int = 0,
    error: ErrorKind | None = None,
    family: str | None = None,
) -> Verdict:
    """A verdict with only what metrics read."""
    return Verdict(
        fingerprint=f"{model}-{pair}-{side}-{epoch}",
        pair_id=f"p{pair:04d}",
        round="v1",
        scenario=scenario,
        action_type=action_type,
        side=side,
        family=family or f"f{pair % 7}",
        model=model,
        harness="h",
        epoch=epoch,
        judge="rules",
        usable=error is None,
        error_kind=error,
        abstained=None if error else side is Side.ABSTAIN,
        reason="",
        tool_called=True,
        tool=True,
        call=True,
        effect=True,
        attempted=False,
        collateral=False,
        unchanged=True,
        answer_met=None,
        grounded=None,
        outcome=None if passed is None else "completed" if side is Side.ACT else "successful",
        passed=passed,
        passed_strict=passed,
    )


def both(pair: int, act: bool | None, abstain: bool | None, **more: object) -> list[Verdict]:
    return [run(pair, Side.ACT, act, **more), run(pair, Side.ABSTAIN, abstain, **more)]  # type: ignore[arg-type]


def ones(count: int) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    return np.ones((1, count))


PAIRS = st.lists(
    st.tuples(
        st.sampled_from([True, False, None]),
        st.sampled_from([True, False, None]),
        st.sampled_from(SCENARIOS),
        st.sampled_from(list(ActionType)),
    ),
    min_size=1,
    max_size=40,
)


def verdicts_of(drawn: Sequence[tuple[bool | None, bool | None, Scenario, ActionType]], model: str = "m") -> list[Verdict]:
    runs: list[Verdict] = []
    for number, (act, abstain, scenario, action_type) in enumerate(drawn):
        for side, passed in ((Side.ACT, act), (Side.ABSTAIN, abstain)):
            error: ErrorKind | None = "api_error" if passed is None else None
            runs.append(run(number, side, passed, scenario=scenario, action_type=action_type, model=model, error=error))
    return runs


@given(PAIRS)
def test_paired_is_at_most_either_side_and_car_is_paired_over_act(
    drawn: list[tuple[bool | None, bool | None, Scenario, ActionType]],
) -> None:
    scores = score_pairs(verdicts_of(drawn))
    if not scores:
        return
    rates = pooled(scores, ones(len(scores)))
    assert rates.paired[0] <= min(rates.act[0], rates.abstain[0]) + 1e-12
    if rates.act[0] > 0:
        assert rates.car[0] == pytest.approx(rates.paired[0] / rates.act[0])
    else:
        assert np.isnan(rates.car[0])


@given(PAIRS, st.randoms(use_true_random=False))
@settings(max_examples=25, deadline=None)
def test_the_order_of_rows_changes_nothing(
    drawn: list[tuple[bool | None, bool | None, Scenario, ActionType]], random: object
) -> None:
    runs = verdicts_of(drawn)
    mixed = list(runs)
    random.shuffle(mixed)  # type: ignore[attr-defined]
    assert leaderboard(mixed) == leaderboard(runs)
    assert sorted(map(repr, metric_rows(mixed))) == sorted(map(repr, metric_rows(runs)))


@given(PAIRS)
def test_errors_are_left_out_and_counted_and_never_help_when_they_count_as_failures(
    drawn: list[tuple[bool | None, bool | None, Scenario, ActionType]],
) -> None:
    runs = verdicts_of(drawn)
    row = leaderboard(runs)[0]
    assert row.excluded == sum(verdict.passed is None for verdict in runs)
    assert row.pairs == sum(act is not None and abstain is not None for act, abstain, _, _ in drawn)
    assert row.assigned == len(drawn)
    usable, assigned = score_pairs(runs, by_paper), score_pairs(runs, errors_fail)
    assert sum(score.paired for score in assigned) == sum(score.paired for score in usable)
    assert len(score_pairs(runs, own_errors_fail)) == len(usable), "all errors here are infrastructure errors"


@pytest.mark.parametrize(("act", "abstain"), [(True, False), (False, True), (False, False)])
def test_constant_policies_score_nothing_in_pairs(act: bool, abstain: bool) -> None:
    runs = [item for number, scenario in enumerate(SCENARIOS) for item in both(number, act, abstain, scenario=scenario)]
    row = leaderboard(runs)[0]
    assert (row.act, row.abstain, row.paired) == (float(act), float(abstain), 0.0)
    assert row.car == (0.0 if act else None)
    assert leaderboard(runs, paper=True)[0].car == 0.0
    assert row.car_missing_cells == (0 if act else len(SCENARIOS))


def test_action_types_weigh_the_same_within_a_scenario() -> None:
    """Three operational pairs right, one informational wrong: type weighting gives 1/2, pooling 3/4."""
    runs = [item for number in range(3) for item in both(number, True, True)]
    runs += both(9, True, False, action_type=ActionType.INFORMATIONAL)
    scores = score_pairs(runs)
    assert macro_action_type(scores, ones(4)).paired[0] == pytest.approx(0.5)
    assert macro(scores, ones(4)).paired[0] == pytest.approx(0.75)


def test_car_is_averaged_over_cells_and_never_a_ratio_of_means() -> None:
    runs = both(1, True, True) + both(2, False, True)
    runs += both(3, True, False, action_type=ActionType.INFORMATIONAL) + both(4, True, True, action_type=ActionType.INFORMATIONAL)
    rates = macro_action_type(score_pairs(runs), ones(4))
    assert rates.car[0] == pytest.approx((1 / 1 + 1 / 2) / 2)
    assert rates.car[0] != pytest.approx(rates.paired[0] / rates.act[0])


def test_a_cell_without_an_act_pass_is_missing_from_car() -> None:
    runs = both(1, True, True) + both(2, False, True, action_type=ActionType.INFORMATIONAL)
    row = leaderboard(runs)[0]
    assert (row.car, row.car_missing_cells) == (1.0, 1)
    assert leaderboard(runs, paper=True)[0].car == 0.5


def test_epochs_multiply_and_pass_hat_k_falls() -> None:
    runs = [run(1, Side.ACT, passed, epoch=i) for i, passed in enumerate((True, True, False))]
    runs += [run(1, Side.ABSTAIN, passed, epoch=i) for i, passed in enumerate((True, False, False))]
    (score,) = score_pairs(runs)
    assert score.paired == pytest.approx(2 / 3 * 1 / 3)
    assert [score.pass_hat(k) for k in (1, 2, 3)] == [pytest.approx(2 / 9), 0.0, 0.0]
    assert score.pass_hat(4) is None
    rates = cell_rates([score], ones(1))
    assert rates.car[0] == pytest.approx(1 / 3), "sum of pa * pb over sum of pa"
    assert leaderboard(runs)[0].epochs == 3


def test_intervals_hold_the_value_and_are_the_same_every_time() -> None:
    runs = [item for number in range(60) for item in both(number, number % 3 > 0, number % 2 == 0, family=f"f{number % 20}")]
    first, second = leaderboard(runs)[0], leaderboard(runs)[0]
    assert first == second
    assert first.ci_paired is not None and first.paired is not None
    assert first.ci_paired[0] < first.paired < first.ci_paired[1]


def test_one_family_gives_no_spread_and_many_give_some() -> None:
    values = np.array([0.0, 1.0, 1.0, 0.0])
    alone = family_weights(["f"])
    many = family_weights(["a", "b", "c", "d"])
    lumped = np.stack([alone["f"]] * 4, axis=1)
    apart = np.stack([many[name] for name in "abcd"], axis=1)
    assert interval((lumped @ values) / lumped.sum(axis=1)) == pytest.approx((0.5, 0.5))
    low, high = interval((apart @ values) / apart.sum(axis=1)) or (0.0, 0.0)
    assert low < 0.3 and high > 0.7


def test_ranks_share_ties_and_put_missing_last() -> None:
    draws = {"a": np.array([0.5, 0.5]), "b": np.array([0.5, 0.5]), "c": np.array([np.nan, np.nan])}
    assert rank_intervals(draws) == {"a": (1, 1), "b": (1, 1), "c": (3, 3)}


def test_wilson_is_the_textbook_interval() -> None:
    assert wilson(8, 10) == pytest.approx((0.4902, 0.9433), abs=1e-4)
    assert wilson(0, 0) is None


def test_models_under_different_harnesses_and_judges_are_rows_of_their_own() -> None:
    runs = both(1, True, True) + both(1, True, False, model="n")
    runs += [verdict.model_copy(update={"harness": "other"}) for verdict in both(1, False, False)]
    assert [(row.model, row.harness, row.rank) for row in leaderboard(runs)] == [("m", "h", 1), ("m", "other", 2), ("n", "h", 2)]


# --- the published table

published = pytest.mark.skipif(not TABLE.exists(), reason="the published table is not part of the project")


def _table() -> list[dict[str, str]]:
    with TABLE.open(encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


@published
def test_published_rows_are_means_of_their_scenarios() -> None:
    for row in _table():
        for metric in ("paired", "car"):
            mean = np.mean([float(row[f"S{number}_{metric}"]) for number in range(1, 9)])
            assert mean == pytest.approx(float(row[f"avg_{metric}"]), abs=0.1), row["model"]


@published
def test_published_scenario_means() -> None:
    table = _table()
    assert np.mean([float(row["S7_paired"]) for row in table]) == pytest.approx(27.6, abs=0.05)
    assert np.mean([float(row["S5_paired"]) for row in table]) == pytest.approx(67.1, abs=0.05)


@published
def test_published_cells_decode_to_whole_pairs_under_type_weighting() -> None:
    """For models with all 263 pairs, every cell is the mean of two shares with the published counts as denominators."""
    counts = [(19, 20), (15, 15), (17, 15), (16, 15), (15, 19), (19, 15), (15, 15), (16, 17)]
    complete = [row for row in _table() if row["n_complete_pairs"] == "263"]
    assert len(complete) == 8
    for row in complete:
        for number, (info, operational) in enumerate(counts, start=1):
            wanted = float(row[f"S{number}_paired"])
            weighted = {round(50 * (a / info + b / operational), 1) for a in range(info + 1) for b in range(operational + 1)}
            assert any(abs(wanted - value) < 0.06 for value in weighted), (row["model"], number)


def test_nine_thousand_verdicts_are_summarised_once_per_row() -> None:
    """A smoke test at size: the number of rows does not change the figures of a repeated pattern."""
    runs = [
        item
        for model in range(17)
        for number in range(263)
        for item in both(number, number % 2 == 0, number % 3 == 0, model=f"m{model:02d}", scenario=SCENARIOS[number % 8])
    ]
    started = time.process_time()
    rows = leaderboard(runs)
    assert len(rows) == 17 and len({row.paired for row in rows}) == 1
    assert {row.rank for row in rows} == {1}
    print(f"{len(runs)} verdicts in {time.process_time() - started:.2f} s")
