"""The page of one pair: the task, its one difference, the contract, and what every model did on both sides."""

from dataclasses import dataclass
from typing import Any

from abstain_assets.metrics.report.addresses import anchor, model_page, scenario_page
from abstain_assets.metrics.report.describe import difference, reference, shared_mount, trigger_facts
from abstain_assets.metrics.report.drawing import draw
from abstain_assets.metrics.report.evidence import Entry, RoundEvidence
from abstain_assets.metrics.report.text import SAID_LIMIT, clipped, words
from abstain_assets.metrics.report.trajectory import Step, steps
from abstain_assets.records import Pair, Rollout, Verdict
from abstain_assets.taxonomy import SCENARIOS, Side


@dataclass(frozen=True)
class RunView:
    """One run, ready to be shown."""

    steps: list[Step]
    final_text: str
    error: str
    error_message: str
    verdicts: tuple[Verdict, ...]


@dataclass(frozen=True)
class EpochView:
    """Both sides of one repetition; `None` where a side was not run."""

    number: int
    act: RunView | None
    abstain: RunView | None


def pair_context(evidence: RoundEvidence, pair: Pair) -> dict[str, Any]:
    """What `pair.html.j2` needs."""
    models = [model for model in evidence.models if any((pair.id, model, side) in evidence.runs for side in Side)]
    return {
        "pair": pair,
        "title": title_of(pair.family),
        "info": SCENARIOS[pair.scenario],
        "scenario_page": scenario_page(pair.scenario),
        "difference": difference(pair),
        "trigger": trigger_facts(pair),
        "mount": shared_mount(pair.act.mount),
        "reference": reference(pair),
        "drawing": draw(pair.dag),
        "proved": [check for check in pair.checks if check.proved],
        "open_checks": [check for check in pair.checks if not check.proved],
        "summary": [_summary(evidence, pair.id, entry) for entry in evidence.entries if entry.model in models],
        "models": [
            {"name": model, "anchor": anchor(model), "page": model_page(model), "epochs": _epochs(evidence, pair.id, model)}
            for model in models
        ],
    }


def title_of(family: str) -> str:
    """A family as a title.

    >>> title_of("retail_orders.cancel_order")
    'Cancel order (retail orders)'
    """
    environment, _, task = family.partition(".")
    return f"{words(task).capitalize()} ({words(environment)})" if task else words(family).capitalize()


def _summary(evidence: RoundEvidence, pair: str, entry: Entry) -> dict[str, Any]:
    outcomes = [
        verdict.outcome
        for rollout in evidence.runs.get((pair, entry.model, Side.ABSTAIN), ())
        for verdict in evidence.by_run.get(rollout.fingerprint, ())
        if Entry.of(verdict) == entry and verdict.outcome
    ]
    return {
        "label": evidence.label(entry),
        "anchor": anchor(entry.model),
        "act": evidence.mark(pair, entry, Side.ACT),
        "abstain": evidence.mark(pair, entry, Side.ABSTAIN),
        "outcomes": list(dict.fromkeys(outcomes)),
    }


def _epochs(evidence: RoundEvidence, pair: str, model: str) -> list[EpochView]:
    sides = {side: {run.epoch: run for run in evidence.runs.get((pair, model, side), ())} for side in Side}
    numbers = sorted(set(sides[Side.ACT]) | set(sides[Side.ABSTAIN]))
    return [
        EpochView(number, _view(evidence, sides[Side.ACT].get(number)), _view(evidence, sides[Side.ABSTAIN].get(number)))
        for number in numbers
    ]


def _view(evidence: RoundEvidence, rollout: Rollout | None) -> RunView | None:
    if rollout is None:
        return None
    return RunView(
        steps=steps(rollout),
        final_text=clipped(rollout.final_text, SAID_LIMIT, f"abstain show {rollout.fingerprint}"),
        error=words(rollout.error_kind) if rollout.error_kind else "",
        error_message=rollout.error_message,
        verdicts=evidence.by_run.get(rollout.fingerprint, ()),
    )
