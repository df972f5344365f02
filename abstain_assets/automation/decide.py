"""Whether a model is to be evaluated without being asked: a pure decision on what is known of it.

Money is spent only where its file says so in three places: `evaluate` names the round, `max_cost_usd` says how much, and the key is
there. Work that ended without getting anywhere is repeated, but ever more rarely.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from abstain_assets.blocks import Block
from resources.models import ModelSpec

PAUSES = (timedelta(minutes=10), timedelta(hours=1), timedelta(hours=6), timedelta(days=1))  # the last one from then on


@dataclass(frozen=True)
class Attempt:
    """An earlier run that was launched for exactly the same work, and is over."""

    ended: datetime
    cancelled: bool


@dataclass(frozen=True)
class Work:
    """What one run would do for a model.

    Attributes:
        block: the cells.
        digest: of everything that is missing in them and of the model's file: equal work has equal digests.
        unpaid: whether it includes rollouts; otherwise everything is paid for and has only to be judged and measured.
    """

    block: Block
    digest: str
    unpaid: bool


@dataclass(frozen=True)
class Situation:
    """What is known of one model that asks to be evaluated.

    Attributes:
        free: whether running it costs nothing, so that it needs no prices.
        problem: why it cannot be run at all (a missing key), if so.
        unbuilt: what is wrong with the rounds it asks for.
        work: the next thing to do, if any.
        spent: on the model so far, in US dollars.
        busy: whether a run works on it now.
        attempts: at this work, oldest first.
    """

    spec: ModelSpec
    free: bool
    problem: str | None
    unbuilt: tuple[str, ...]
    work: Work | None
    spent: float
    busy: bool
    attempts: tuple[Attempt, ...]


def why_not(situation: Situation, now: datetime) -> str | None:
    """Why a model is not to be launched now, naming its file and what is missing; nothing where it is to be launched."""
    reason = _why_not(situation, now)
    return None if reason is None else f"{situation.spec.name} ({situation.spec.file}): {reason}"


def _why_not(situation: Situation, now: datetime) -> str | None:
    spec = situation.spec
    if gaps := _gaps(situation):
        return "; ".join(gaps)
    if situation.work is None:
        return "; ".join(situation.unbuilt) or f"nothing is missing on {', '.join(spec.evaluate)}"
    if situation.busy:
        return "a run is working on it"
    assert spec.max_cost_usd is not None
    if situation.work.unpaid and situation.spent >= spec.max_cost_usd:
        return f"${situation.spent:.2f} of max_cost_usd {spec.max_cost_usd:g} are spent; raise it to go on"
    return _pause(situation.attempts, now)


def _gaps(situation: Situation) -> list[str]:
    """What its file or its surroundings lack."""
    spec = situation.spec
    return [
        *(["max_cost_usd is missing; say what may be spent on it"] if spec.max_cost_usd is None else []),
        *(["prices are missing; without them max_cost_usd cannot be kept"] if spec.prices is None and not situation.free else []),
        *([situation.problem] if situation.problem else []),
    ]


def _pause(attempts: tuple[Attempt, ...], now: datetime) -> str | None:
    if not attempts:
        return None
    last = attempts[-1]
    if last.cancelled:
        return "its last run was cancelled; run it by hand, or change its file, to go on"
    pause = PAUSES[min(len(attempts), len(PAUSES)) - 1]
    if now < last.ended + pause:
        again = (last.ended + pause).strftime("%Y-%m-%d %H:%M UTC")
        return f"{len(attempts)} runs ended without getting any further; tried again after {again}"
    return None
