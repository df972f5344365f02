"""Judging a cell: a judge reads every usable final text, and each rollout gets its verdict."""

from collections.abc import Iterable, Mapping, Sequence

from abstain_assets.records import Pair, Rollout, Verdict
from abstain_assets.verdicts.judges import Judge, JudgeInput, Judgement
from abstain_assets.verdicts.verdict import decide


def judgements_of(pairs: Iterable[Pair], rollouts: Iterable[Rollout], judge: Judge) -> dict[str, Judgement]:
    """What a judge says of every usable rollout, by fingerprint.

    Args:
        pairs: at least the pairs of the rollouts.
    """
    by_id = {pair.id: pair for pair in pairs}
    usable = [rollout for rollout in rollouts if rollout.usable]
    readings = judge.judge([_input(by_id[rollout.pair_id], rollout) for rollout in usable])
    return {rollout.fingerprint: reading for rollout, reading in zip(usable, readings, strict=True)}


def judge_rollouts(
    pairs: Iterable[Pair], rollouts: Sequence[Rollout], judge: Judge, judgements: Mapping[str, Judgement] | None = None
) -> tuple[Verdict, ...]:
    """One verdict per rollout, in the order given.

    Args:
        pairs: at least the pairs of the rollouts.
        judgements: what the judge says, by fingerprint; it is asked by default.

    Raises:
        ContractError: a contract cannot fail, or evidence belongs to another pair.
    """
    by_id = {pair.id: pair for pair in pairs}
    found = judgements_of(by_id.values(), rollouts, judge) if judgements is None else judgements
    return tuple(decide(by_id[rollout.pair_id], rollout, judge.name, found.get(rollout.fingerprint)) for rollout in rollouts)


def _input(pair: Pair, rollout: Rollout) -> JudgeInput:
    instruction = next(message.content for message in rollout.messages if message.role == "user")
    return JudgeInput(scenario=pair.scenario, action_type=pair.action_type, instruction=instruction, response=rollout.final_text)
