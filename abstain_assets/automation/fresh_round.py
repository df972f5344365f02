"""Making a fresh round: private seed, pairs, models, leaderboard, report. It does what the commands do, one after the other."""

from collections.abc import Callable
from datetime import UTC, datetime

from abstain_assets.automation.decide import Situation, why_not
from abstain_assets.automation.rounds import FRESH, draw_seed, newest_fresh, unfinished
from abstain_assets.automation.survey import Surroundings, survey
from abstain_assets.commands.build import build_round
from abstain_assets.commands.evaluation import Plan, evaluate, rank
from abstain_assets.commands.run import write_report
from abstain_assets.commands.session import Session
from abstain_assets.errors import AbstainError, Incomplete
from abstain_assets.rounds import scenarios_of
from resources.lake import Lake
from resources.models import ModelSpec, load_models
from resources.settings import Settings


class _Logged(Session):
    """A session without a command: what would be said on standard error goes to the log of a run."""

    def __init__(self, settings: Settings, say: Callable[[str], None]) -> None:
        self.settings = settings
        self.as_json = False
        self._say = say

    def note(self, text: str) -> None:
        """Say something on the way."""
        self._say(text)


def make(settings: Settings, round_name: str, say: Callable[[str], None]) -> None:
    """Build and verify a round where that is not done, evaluate the models that ask for it, and rank everything.

    Raises:
        BadInput: it is no name of a round, or the seed it has is no number.
        AbstainError: something could not be built or written, or a blocking check failed; then nothing is run.
        Incomplete: some models could not be evaluated; the others were, and are ranked.
    """
    session = _Logged(settings, say)
    draw_seed(settings, round_name)
    if left := unfinished(session.lake, session.project.instance, round_name):
        build_round(session, tuple(left))
    models = load_models()
    for error in models.broken:
        say(str(error))
    problems: list[str] = []
    for spec in models.values():
        if asks_for(spec, round_name, session.lake):
            problems += _evaluate(session, spec, round_name)
    rank(session)
    page = write_report(session)
    session.project.lake.refresh()
    say(f"Report: {page}")
    if problems:
        raise Incomplete("; ".join(problems))


def asks_for(spec: ModelSpec, round_name: str, lake: Lake) -> bool:
    """Whether a model's file names a round, or asks for fresh ones and this is the newest."""
    return round_name in spec.evaluate or (FRESH in spec.evaluate and round_name == newest_fresh(lake))


def _evaluate(session: Session, spec: ModelSpec, round_name: str) -> list[str]:
    """Evaluate a model if that may be, and say what went wrong."""
    project = session.project
    where = Surroundings.look(session.settings, session.lake, project.instance, models=[spec.slug])
    try:
        situation = survey(spec, where, [round_name])
        if reason := why_not(situation, datetime.now(UTC)):
            session.note(reason)
            return []
        return evaluate(session, [spec], Plan(round_name, scenarios_of(round_name), max_cost_usd=_left(situation))).problems
    except AbstainError as error:
        return [f"{spec.name}: {error}"]


def _left(situation: Situation) -> float | None:
    """What may still be spent; nothing limits what is free."""
    limit = situation.spec.max_cost_usd
    return None if situation.free or limit is None else max(0.0, limit - situation.spent)
