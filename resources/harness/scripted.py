"""Scripted policies: agents whose behaviour is known, run through the same sandbox as every model.

They alone receive the pair. Nothing after the rollout knows of them: their scores come out as they do because they were run.
"""

from collections.abc import Callable, Coroutine
from typing import Any, Literal

from abstain_assets.errors import BadInput
from abstain_assets.pairs.refs import RefError
from abstain_assets.pairs.replay import facts
from abstain_assets.taxonomy import SCENARIOS, Phase, Side
from resources.harness import speech
from resources.harness.acting import Actor, Done, Plan, carry_on, first_sign, plan_of, reads_only, until_trigger
from resources.harness.base import HarnessRequest, Privileged
from resources.harness.reasons import why_not
from resources.models import ModelSpec

Policy = Callable[[Actor, Privileged], Coroutine[Any, Any, str]]


async def oracle(actor: Actor, who: Privileged) -> str:
    """Completes the act side. On the abstain side it goes as far as the trigger, stops, and says why."""
    if who.side is Side.ACT:
        try:
            return await _complete(actor, who, strict=True)
        except RefError as error:
            return speech.say("oracle", "failed", who, error=str(error))
    pair = who.pair
    runtime = SCENARIOS[pair.scenario].phase is Phase.RUNTIME
    seen = await until_trigger(actor, pair) if runtime else {}
    situation, words = why_not(pair, seen)
    text = speech.say("oracle", situation, who, **words)
    grounded = not runtime or any(entity.casefold() in text.casefold() for entity in pair.trigger.entities)
    return text if grounded else f"{text} (This concerns: {pair.trigger.entities[0]}.)"


async def always_act(actor: Actor, who: Privileged) -> str:
    """Carries on whatever it finds, and reports completion."""
    return await _complete(actor, who, strict=False)


async def act_then_disclaim(actor: Actor, who: Privileged) -> str:
    """Acts like `always_act` and claims that it has not.

    Where the tools let it change nothing it has nothing to deny and claims completion, so that it never withholds by accident.
    """
    plan = plan_of(who.pair, who.side)
    done = await carry_on(actor, plan, strict=False)
    if done.deeds and not done.committed:
        return _report(who, plan, done)
    return speech.say("act-then-disclaim", "any", who)


async def always_abstain(actor: Actor, who: Privileged) -> str:
    """Calls nothing and asks or declines."""
    return speech.say("always-abstain", "any", who)


async def silent_stop(actor: Actor, who: Privileged) -> str:
    """Reads, changes nothing, and says nothing of either."""
    await reads_only(actor, plan_of(who.pair, who.side))
    return speech.say("silent-stop", "any", who)


async def probe_first(actor: Actor, who: Privileged) -> str:
    """Makes the first lookups; stops at anything that looks like an error or a warning, else acts."""
    sign = await first_sign(actor, plan_of(who.pair, who.side))
    if sign is not None:
        return speech.say("probe-first", "any", who, sign=f'"{sign.rstrip(".")}"')
    return await _complete(actor, who, strict=False)


POLICIES: dict[str, Policy] = {
    "oracle": oracle,
    "always-act": always_act,
    "always-abstain": always_abstain,
    "act-then-disclaim": act_then_disclaim,
    "silent-stop": silent_stop,
    "probe-first": probe_first,
}


class Scripted:
    """A scripted policy as a harness. `ModelSpec.model` names the policy.

    Raises:
        BadInput: there is no such policy.
    """

    name = "scripted"
    version = "1"
    evidence_version = version
    privileged = True
    foreign: Literal[False] = False

    def __init__(self, spec: ModelSpec) -> None:
        if spec.model not in POLICIES:
            raise BadInput(f"{spec.file}: model: there is no scripted policy {spec.model!r}; known: {', '.join(POLICIES)}")
        self._policy = POLICIES[spec.model]

    async def run(self, request: HarnessRequest) -> str:
        """Run the policy; see `Harness.run`."""
        assert request.privileged is not None, "scripted policies need the pair"
        trace = request.trace
        trace.say("system", request.view.system_prompt)
        trace.say("user", request.view.instruction)
        text = await self._policy(Actor(request), request.privileged)
        trace.turns += 1
        trace.say("assistant", text)
        return text

    async def close(self) -> None:
        """Nothing to close."""


async def _complete(actor: Actor, who: Privileged, *, strict: bool) -> str:
    """Carry the plan out and report it as completed, invented answers included."""
    plan = plan_of(who.pair, who.side)
    done = await carry_on(actor, plan, strict=strict)
    return _report(who, plan, done, strict=strict)


def _report(who: Privileged, plan: Plan, done: Done, *, strict: bool = False) -> str:
    try:
        answer = facts(plan.facts, plan.slots, done.results)
    except RefError:
        if strict:
            raise
        answer = who.pair.answer
    situation = "informational" if not done.deeds else "both" if plan.facts else "operational"
    deeds = speech.listed(done.deeds) if done.deeds else ""
    return speech.say("completed", situation, who, done=deeds, facts=speech.facts_text(answer))
