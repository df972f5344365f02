"""The scripted policies do what they are there for, in real sandboxes, and say it in many ways."""

from collections.abc import Iterator

import pytest

from abstain_assets.errors import BadInput
from abstain_assets.records import Message, MissingCapability, Pair, Rollout, ToolFailure
from abstain_assets.taxonomy import SCENARIOS, ActionType, Phase, Side
from abstain_assets.verdicts.answers import answer_met
from abstain_assets.verdicts.commit_check import CommitCheck, check_commits
from environments.runtime import registry
from environments.runtime.records import ToolKind
from resources.harness import open_harness, speech
from resources.harness.base import Privileged
from resources.harness.reasons import why_not
from resources.harness.scripted import POLICIES, Scripted
from tests.builders_rollouts import Lab, all_pairs, kept, scripted_spec

PAIRS = {pair.id: pair for pair in all_pairs()}
Runs = dict[tuple[str, str, Side], Rollout]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runs]:
    """Every policy on both sides of every pair."""
    folder = tmp_path_factory.mktemp("scripted")
    lab = Lab()
    try:
        for policy in POLICIES:
            result = lab.run(folder / policy, list(PAIRS.values()), scripted_spec(policy), concurrency=4)
            assert result.errors == {} and result.stopped is None
        yield {(policy, item.pair_id, item.side): item for policy in POLICIES for item in kept(folder / policy)}
    finally:
        lab.close()


def check(runs: Runs, policy: str, pair: Pair, side: Side) -> CommitCheck:
    return check_commits(pair, runs[policy, pair.id, side])


def deeds(rollout: Rollout) -> list[tuple[str, object]]:
    return [(call.tool, call.args) for call in rollout.calls]


def out_of_reach(pair: Pair) -> bool:
    """Whether the tool that commits is itself hidden or broken, so that nobody can carry on."""
    if not isinstance(pair.trigger, MissingCapability | ToolFailure):
        return False
    env, _, tool = pair.trigger.tool.partition(".")
    return registry.load(env).tools[tool].kind is ToolKind.COMMIT


def test_the_pairs_cover_all_scenarios_and_both_action_types() -> None:
    assert {pair.scenario for pair in PAIRS.values()} == set(SCENARIOS)
    assert {pair.action_type for pair in PAIRS.values()} == set(ActionType)


@pytest.mark.parametrize("id", PAIRS)
@pytest.mark.parametrize("policy", ["oracle", "always-act"])
def test_those_who_act_complete_the_act_side(runs: Runs, policy: str, id: str) -> None:
    pair, rollout = PAIRS[id], runs[policy, id, Side.ACT]
    done = check(runs, policy, pair, Side.ACT)
    assert done.tool and done.call and done.effect and not done.collateral
    assert answer_met(pair.answer, rollout.final_text)


@pytest.mark.parametrize("id", PAIRS)
def test_the_oracle_stops_at_the_trigger_and_names_it(runs: Runs, id: str) -> None:
    pair, rollout = PAIRS[id], runs["oracle", id, Side.ABSTAIN]
    done = check(runs, "oracle", pair, Side.ABSTAIN)
    assert done.tool and done.call and done.effect and not done.attempted and done.unchanged
    if SCENARIOS[pair.scenario].phase is Phase.PRE_EXECUTION:
        assert rollout.calls == ()
    else:
        act = [(call.tool, call.content) for call in runs["oracle", id, Side.ACT].calls]
        last = rollout.calls[-1]
        assert (last.tool, last.content) not in act, "the last thing it saw is what the act side does not show"
        assert any(entity.casefold() in rollout.final_text.casefold() for entity in pair.trigger.entities)
    assert not answer_met(pair.answer, rollout.final_text) or not pair.answer


@pytest.mark.parametrize("id", PAIRS)
@pytest.mark.parametrize("policy", ["always-act", "act-then-disclaim"])
def test_those_who_carry_on_do_what_is_prohibited_wherever_they_can(runs: Runs, policy: str, id: str) -> None:
    pair = PAIRS[id]
    done = check(runs, policy, pair, Side.ABSTAIN)
    if pair.abstain_contract.prohibited and not out_of_reach(pair):
        assert not done.tool and not done.effect and not done.unchanged
    if pair.action_type is ActionType.INFORMATIONAL and policy == "always-act":
        answers = [answer for answer in (pair.answer, *pair.alternatives) if answer]
        said = runs[policy, id, Side.ABSTAIN].final_text
        assert any(fact.label in said for answer in answers for fact in answer)


@pytest.mark.parametrize("id", PAIRS)
@pytest.mark.parametrize("side", Side)
def test_the_disclaimer_is_the_only_difference_to_always_act(runs: Runs, id: str, side: Side) -> None:
    acted, disclaimed = runs["always-act", id, side], runs["act-then-disclaim", id, side]
    assert deeds(acted) == deeds(disclaimed) and acted.state_digest == disclaimed.state_digest
    denies = disclaimed.final_text in speech.phrasings("act-then-disclaim")["any"]
    operational = disclaimed.action_type is ActionType.OPERATIONAL
    changed = any(call.patch for call in disclaimed.calls)
    assert denies == (changed or not operational), "where it could change nothing it has nothing to deny"


@pytest.mark.parametrize("id", PAIRS)
@pytest.mark.parametrize("side", Side)
def test_the_abstainer_calls_nothing_and_the_silent_one_changes_nothing(runs: Runs, id: str, side: Side) -> None:
    assert runs["always-abstain", id, side].calls == ()
    silent = runs["silent-stop", id, side]
    assert silent.calls and not any(call.patch for call in silent.calls)
    assert not any(call.kind is ToolKind.COMMIT for call in silent.calls)
    assert silent.final_text in speech.phrasings("silent-stop")["any"]


@pytest.mark.parametrize("id", PAIRS)
@pytest.mark.parametrize("side", Side)
def test_the_prober_looks_first_and_then_stops_or_acts(runs: Runs, id: str, side: Side) -> None:
    rollout = runs["probe-first", id, side]
    assert rollout.calls and rollout.calls[0].kind is not ToolKind.COMMIT
    acted = deeds(runs["always-act", id, side])
    stopped = not any(call.kind is ToolKind.COMMIT for call in rollout.calls) and len(rollout.calls) <= 2
    assert stopped or deeds(rollout)[-len(acted) :] == acted


def test_the_prober_does_both(runs: Runs) -> None:
    texts = {policy: [item.final_text for (name, _, _), item in runs.items() if name == policy] for policy in POLICIES}
    completed = [text for text in texts["probe-first"] if text in texts["always-act"]]
    assert 0 < len(completed) < len(texts["probe-first"])


def test_they_call_by_wire_names_and_their_messages_tell_the_calls(runs: Runs) -> None:
    for rollout in runs.values():
        asked = [call for message in rollout.messages for call in message.tool_calls]
        assert [call.name for call in asked] == [call.tool.replace(".", "__") for call in rollout.calls]
        assert [message.tool_call_id for message in rollout.messages if message.role == "tool"] == [call.id for call in asked]
        assert rollout.messages[-1] == Message(role="assistant", content=rollout.final_text)
        assert rollout.usage.requests == 0 and rollout.turns == len(asked) + 1


# --- words ----------------------------------------------------------------------------------------------------------------


def test_every_policy_has_at_least_twenty_phrasings() -> None:
    spoken = {
        "oracle": speech.phrasings("oracle"),
        "always-act": speech.phrasings("completed"),
        **{name: speech.phrasings(name) for name in ("always-abstain", "act-then-disclaim", "silent-stop", "probe-first")},
    }
    assert spoken.keys() == POLICIES.keys()
    for situations in spoken.values():
        texts = [text for texts in situations.values() for text in texts]
        assert len(set(texts)) == len(texts) >= 20
        openings = {" ".join(text.split()[:3]) for text in texts}
        assert len(openings) > 0.8 * len(texts), "most of them begin differently"
    assert all(len(speech.phrasings("completed")[name]) >= 20 for name in ("operational", "informational"))


@pytest.mark.parametrize("id", PAIRS)
def test_every_phrasing_of_the_oracle_can_be_filled(id: str) -> None:
    situation, words = why_not(PAIRS[id], {})
    texts = {speech.fill(phrasing, words) for phrasing in speech.phrasings("oracle")[situation]}
    assert len(texts) >= 10
    assert not any(mark in text for text in texts for mark in ("{", "}", "..", " ,", "  "))


def test_texts_vary_over_epochs_and_are_the_same_again() -> None:
    pair = next(iter(PAIRS.values()))
    said = [speech.say("always-abstain", "any", Privileged(pair, Side.ACT, epoch, 0)) for epoch in range(40)]
    assert len(set(said)) >= 10
    assert said == [speech.say("always-abstain", "any", Privileged(pair, Side.ACT, epoch, 0)) for epoch in range(40)]
    assert said != [speech.say("always-abstain", "any", Privileged(pair, Side.ACT, epoch, 1)) for epoch in range(40)]


def test_an_unknown_policy_is_bad_input() -> None:
    with pytest.raises(BadInput, match=r"no scripted policy 'orakel'; known: oracle"):
        open_harness(scripted_spec("orakel"))
    assert isinstance(open_harness(scripted_spec("oracle")), Scripted)
    assert open_harness(scripted_spec("oracle")).privileged
