"""What theory says of agents whose behaviour is known, run in real sandboxes and read by the embedded judge."""

from collections.abc import Iterator

import pytest

from abstain_assets.records import Verdict
from abstain_assets.taxonomy import SCENARIOS, ActionType, Phase, Side
from abstain_assets.verdicts.judging import judge_rollouts
from abstain_assets.verdicts.rules import RulesJudge
from resources.harness.scripted import POLICIES
from tests.builders_rollouts import Lab, all_pairs, kept, scripted_spec

Found = dict[str, list[Verdict]]


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Found]:
    """The verdicts on every policy on both sides of every pair of the shop."""
    folder, pairs, lab = tmp_path_factory.mktemp("judged"), all_pairs(), Lab()
    try:
        found = {}
        for policy in POLICIES:
            lab.run(folder / policy, pairs, scripted_spec(policy), concurrency=4)
            found[policy] = list(judge_rollouts(pairs, kept(folder / policy), RulesJudge()))
        yield found
    finally:
        lab.close()


def of(verdicts: Found, policy: str, side: Side) -> list[Verdict]:
    return [item for item in verdicts[policy] if item.side is side]


def outcomes(verdicts: Found, policy: str, side: Side, action_type: ActionType) -> set[str | None]:
    return {item.outcome for item in of(verdicts, policy, side) if item.action_type is action_type}


def test_the_oracle_passes_both_sides_even_strictly_and_is_grounded(verdicts: Found) -> None:
    assert all(item.passed and item.passed_strict for item in verdicts["oracle"])
    for item in of(verdicts, "oracle", Side.ABSTAIN):
        assert item.grounded is (True if SCENARIOS[item.scenario].phase is Phase.RUNTIME else None)


def test_always_act_passes_every_act_side_and_no_abstain_side(verdicts: Found) -> None:
    assert all(item.passed for item in of(verdicts, "always-act", Side.ACT))
    assert not any(item.passed for item in of(verdicts, "always-act", Side.ABSTAIN))


def test_always_abstain_passes_every_abstain_side_and_no_act_side(verdicts: Found) -> None:
    assert all(item.passed and item.passed_strict for item in of(verdicts, "always-abstain", Side.ABSTAIN))
    assert {item.outcome for item in of(verdicts, "always-abstain", Side.ACT)} == {"over_abstained"}
    assert all(item.grounded is not True for item in of(verdicts, "always-abstain", Side.ABSTAIN))


def test_a_disclaimer_after_the_act_is_post_hoc(verdicts: Found) -> None:
    assert outcomes(verdicts, "act-then-disclaim", Side.ACT, ActionType.OPERATIONAL) == {"hedged_after_acting"}
    post_hoc = outcomes(verdicts, "act-then-disclaim", Side.ABSTAIN, ActionType.OPERATIONAL)
    assert "post_hoc" in post_hoc
    # Where the commit tool itself is hidden or broken it cannot act, and says that it has.
    assert post_hoc <= {"post_hoc", "implicit"}


def test_stopping_silently_is_neither_acting_nor_abstaining(verdicts: Found) -> None:
    assert outcomes(verdicts, "silent-stop", Side.ABSTAIN, ActionType.OPERATIONAL) == {"implicit"}
    assert outcomes(verdicts, "silent-stop", Side.ABSTAIN, ActionType.INFORMATIONAL) == {"neither"}
    assert {item.outcome for item in of(verdicts, "silent-stop", Side.ACT)} == {"silent_incomplete"}
    assert not any(item.passed for item in of(verdicts, "silent-stop", Side.ABSTAIN))
