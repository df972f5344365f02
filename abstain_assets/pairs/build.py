"""Building the pairs of a round: draw, replay, prove; what fails goes to quarantine with the reason."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import zip_longest
from random import Random

from abstain_assets.pairs.family import Draft, Family, FamilyError, families
from abstain_assets.pairs.replay import facts
from abstain_assets.pairs.scenarios import RULES
from abstain_assets.pairs.scenarios.base import Proof
from abstain_assets.pairs.verify import PROOF_ERRORS, contracts, verify_pair
from abstain_assets.records import Contract, Pair, Rejection, digest
from abstain_assets.taxonomy import SCENARIOS, ActionType, Scenario

PAIRS_PER_ACTION_TYPE = 16
REDRAWS = 8


@dataclass(frozen=True)
class Built:
    """The pairs of one scenario in one round, and everything that became none."""

    pairs: tuple[Pair, ...]
    rejections: tuple[Rejection, ...]


def build_scenario(scenario: Scenario, round_name: str, seed: int) -> Built:
    """Draw one pair from each of up to `PAIRS_PER_ACTION_TYPE` families per action type, all environments taking turns.

    A rejected draw is recorded and drawn again, up to `REDRAWS` times; coincidences in a world can spoil an instance.

    Raises:
        FamilyError: a family module is broken.
    """
    return merged(build_half(scenario, action_type, round_name, seed) for action_type in ActionType)


def build_half(scenario: Scenario, action_type: ActionType, round_name: str, seed: int) -> Built:
    """The pairs of one action type of a scenario. Halves do not depend on each other.

    Raises:
        FamilyError: a family module is broken.
    """
    pairs: list[Pair] = []
    rejections: list[Rejection] = []
    able = [family for family in families() if scenario in family.scenarios and family.action_type is action_type]
    for family in _in_turns(able, Random(digest([seed, scenario]))):
        if len(pairs) == PAIRS_PER_ACTION_TYPE:
            break
        for item in _draw(family, scenario, round_name, seed):
            if isinstance(item, Pair):
                pairs.append(item)
            else:
                rejections.append(item)
    return Built(tuple(pairs), tuple(rejections))


def merged(parts: Iterable[Built]) -> Built:
    """Several parts as one, in an order that does not depend on theirs."""
    everything = list(parts)
    pairs = sorted((pair for part in everything for pair in part.pairs), key=lambda pair: pair.id)
    return Built(tuple(pairs), tuple(rejection for part in everything for rejection in part.rejections))


def _in_turns(candidates: list[Family], rng: Random) -> Iterator[Family]:
    """Families in random order, the next always from an environment that has had the fewest turns."""
    by_environment: dict[str, list[Family]] = {}
    for family in rng.sample(candidates, len(candidates)):
        by_environment.setdefault(family.environments[0], []).append(family)
    for turn in zip_longest(*by_environment.values()):
        yield from (family for family in turn if family is not None)


def _draw(family: Family, scenario: Scenario, round_name: str, seed: int) -> Iterator[Pair | Rejection]:
    """Draws of one family until one is a pair."""
    for instance in range(REDRAWS):
        rng = Random(digest([seed, family.name, scenario, instance]))
        try:
            draft = family.draw(rng, scenario)
        except FamilyError:
            raise
        except Exception as error:  # a family may be anybody's code
            raise FamilyError(f"family {family.name} cannot draw {scenario}: {type(error).__name__}: {error}") from error
        item = propose(family, scenario, round_name, instance, draft)
        yield item
        if isinstance(item, Pair):
            return


def propose(family: Family, scenario: Scenario, round_name: str, instance: int, draft: Draft) -> Pair | Rejection:
    """Turn a draft into a proved pair, or say why it is none."""

    def reject(check: str, reason: str) -> Rejection:
        return Rejection(
            round=round_name,
            scenario=scenario,
            action_type=ActionType(family.action_type),
            family=family.name,
            instance=instance,
            check=check,
            reason=reason,
        )

    try:
        pair = Pair(
            id=f"{family.name}/{SCENARIOS[scenario].code}/{instance}",
            round=round_name,
            scenario=scenario,
            action_type=family.action_type,
            family=family.name,
            instance=instance,
            act=draft.task,
            delta=draft.delta,
            trigger=draft.trigger,
            slots=dict(draft.slots),
            dag=draft.dag,
            facts=draft.facts,
            act_contract=Contract(),
            abstain_contract=Contract(allowed=draft.may_ask),
            decoys=draft.decoys,
        )
        proof = Proof.of(pair)
        answer = facts(pair.facts, pair.slots, proof.replay.results)
        act, abstain = contracts(proof)
        alternatives = RULES[scenario].alternatives(proof) if pair.facts else ()
    except PROOF_ERRORS as error:
        return reject("replay", str(error))
    update = {"act_contract": act, "abstain_contract": abstain, "answer": answer, "alternatives": alternatives}
    pair = pair.model_copy(update=update)
    checks = verify_pair(pair)
    failed = next((check for check in checks if not check.ok), None)
    return reject(failed.name, failed.detail) if failed else pair.model_copy(update={"checks": checks})
