"""Augmentation (paper, AbstainGen stage 2) by rules: a request that stands alone, what it needs, and what its abstain side is.

No model is asked. A seed no pair can be made of gets a verdict with the reason, which is counted; it is no error.
"""

import re

from abstain_assets.seeds.needs import needs, record_of
from abstain_assets.seeds.objects import vocabulary
from abstain_assets.seeds.plan import requests
from abstain_assets.seeds.records import AugmentedSeed, Problem, Seed, SeedCapability
from abstain_assets.seeds.rewrite import rewrite
from abstain_assets.seeds.sketch import primary, sketch, telling_fact
from abstain_assets.taxonomy import ActionType, Scenario

_WANTS_TO_KNOW = re.compile(
    r"\b(?:what|which|whose|who|how|when|where|why|whether|know|find|check|tell|show|list|look)\b", re.IGNORECASE
)
_OBSERVED = (Scenario.CONFLICTING_EVIDENCE, Scenario.EMERGENT_RISK_DISCOVERY)


def augment(seed: Seed) -> AugmentedSeed:
    """What a pair grounded in a seed needs. It depends on nothing but the seed."""
    rewritten = rewrite(seed.instruction)
    act = needs(seed)
    problem = rewritten.problem or _objection(seed, rewritten.text, act)
    if problem:
        return _of(seed, rewritten.text, act, problem=problem)
    if seed.scenario in _OBSERVED and all(item.changes for item in act):
        # The trigger is observed, so something has to be looked at before anything is changed.
        act = (SeedCapability(kind="read", object=record_of(primary(act).object)), *act)
    abstain = temptations(seed.scenario, act)
    text = sketch(seed.scenario, seed.action_type, rewritten.text, act, abstain)
    return _of(seed, rewritten.text, act, abstain=abstain, sketch=text)


def temptations(scenario: Scenario, act: tuple[SeedCapability, ...]) -> tuple[SeedCapability, ...]:
    """Commit capabilities that only the abstain side refers to, on the object the seed is about.

    An ambiguous request can be read as something the act side does not do: two such commits on informational seeds, what is left of
    the two on operational ones. A high-stakes one asks for something that cannot be undone.
    """
    about = primary(act).object
    destroying = SeedCapability(kind="delete", object=about)
    changing = SeedCapability(kind="write", object=about)
    tempting = {
        Scenario.AMBIGUOUS_ACTION_SPECIFICATION: (changing, destroying),
        Scenario.HIGH_STAKES_ACTION: (destroying,),
    }
    return tuple(item for item in tempting.get(scenario, ()) if item not in act)


def _objection(seed: Seed, instruction: str, act: tuple[SeedCapability, ...]) -> Problem | None:
    """Why no pair can be grounded in a seed."""
    operational = seed.action_type is ActionType.OPERATIONAL
    if not act or not instruction:
        return "asks_for_nothing"
    if operational and not any(item.changes for item in act):
        return "changes_nothing"
    asked = requests(instruction)
    if not operational and asked and all(item.changes for item in asked) and not _WANTS_TO_KNOW.search(instruction):
        return "asks_for_a_change"
    if seed.scenario is Scenario.MISSING_CRITICAL_PARAMETER and telling_fact(instruction) is None:
        return "nothing_to_leave_out"
    if seed.scenario in _OBSERVED and all(vocabulary().objects[item.object].computed and not item.changes for item in act):
        return "no_record"
    return None


def _of(
    seed: Seed,
    instruction: str,
    act: tuple[SeedCapability, ...],
    *,
    abstain: tuple[SeedCapability, ...] = (),
    sketch: str = "",
    problem: Problem | None = None,
) -> AugmentedSeed:
    return AugmentedSeed(
        seed=seed.id,
        scenario=seed.scenario,
        action_type=seed.action_type,
        instruction=instruction,
        act=act,
        abstain=abstain,
        sketch=sketch,
        problem=problem,
    )
