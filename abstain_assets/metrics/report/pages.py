"""What the pages of a round show: its first page, and a page per scenario and per model."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from abstain_assets.metrics.report import explain
from abstain_assets.metrics.report.addresses import model_page, pair_page, scenario_page
from abstain_assets.metrics.report.evidence import Entry, RoundEvidence, Shares
from abstain_assets.metrics.report.figures import HeatCell, Point, heat_map, scatter
from abstain_assets.metrics.report.pair_page import title_of
from abstain_assets.metrics.report.scores import Score, Scores
from abstain_assets.metrics.report.text import counted
from abstain_assets.records import Outcome, Pair
from abstain_assets.rollouts.runner import total
from abstain_assets.taxonomy import SCENARIOS, ActionType, Scenario, Side

Context = dict[str, Any]

_ALL_SHARES: tuple[tuple[Side, ActionType, tuple[Outcome, ...]], ...] = (
    (Side.ABSTAIN, ActionType.OPERATIONAL, explain.ABSTAIN_OPERATIONAL),
    (Side.ABSTAIN, ActionType.INFORMATIONAL, explain.ABSTAIN_INFORMATIONAL),
    (Side.ACT, ActionType.OPERATIONAL, explain.ACT),
    (Side.ACT, ActionType.INFORMATIONAL, explain.ACT),
)


def index_context(evidence: RoundEvidence, scores: Scores) -> Context:
    """What `index.html.j2` needs."""
    entries = [row.entry for row in scores.board]
    by_scenario = {scenario: [pair for pair in evidence.pairs if pair.scenario is scenario] for scenario in Scenario}
    return {
        "numbers": _numbers(evidence),
        "board": scores.board,
        "outcomes": _outcomes_by_entry(evidence, entries),
        "heat": _heat(evidence, scores) if entries else None,
        "scatter": _scatter(evidence, scores) if entries else None,
        "scenarios": [
            {
                "page": scenario_page(scenario),
                "info": SCENARIOS[scenario],
                "text": explain.SCENARIO_TEXTS[scenario],
                "pairs": len(by_scenario[scenario]),
            }
            for scenario in Scenario
        ],
        "definitions": explain.COLUMNS,
    }


def scenario_context(evidence: RoundEvidence, scores: Scores, scenario: Scenario) -> Context:
    """What `scenario.html.j2` needs."""
    pairs = [pair for pair in evidence.pairs if pair.scenario is scenario]
    entries = [row.entry for row in scores.board]
    return {
        "info": SCENARIOS[scenario],
        "text": explain.SCENARIO_TEXTS[scenario],
        "scores": [
            {"label": evidence.label(entry), "page": model_page(entry.model), "score": scores.on(entry, scenario)}
            for entry in entries
        ],
        "families": _families(pairs),
        "entries": [evidence.label(entry) for entry in entries],
        "pairs": _pair_rows(evidence, pairs, entries),
    }


def model_context(evidence: RoundEvidence, scores: Scores, model: str) -> Context:
    """What `model.html.j2` needs."""
    entries = [row.entry for row in scores.board if row.entry.model == model]
    tried = {rollout.pair_id for rollout in evidence.rollouts if rollout.model == model}
    return {
        "model": model,
        "facts": _model_facts(evidence, model),
        "parts": [
            {
                "label": evidence.label(entry),
                "scores": [
                    {"label": _scenario_label(item), "page": scenario_page(item), "score": scores.on(entry, item)}
                    for item in Scenario
                ],
                "outcomes": _outcomes_by_scenario(evidence, entry),
            }
            for entry in entries
        ],
        "entries": [evidence.label(entry) for entry in entries],
        "pairs": _pair_rows(evidence, [pair for pair in evidence.pairs if pair.id in tried], entries),
    }


def _numbers(evidence: RoundEvidence) -> list[tuple[str, str]]:
    runs, errors = len(evidence.rollouts), sum(not rollout.usable for rollout in evidence.rollouts)
    return [
        (f"{len(evidence.pairs)}", "pairs"),
        (f"{len({pair.family for pair in evidence.pairs})}", "task families"),
        (f"{len({name for pair in evidence.pairs for name in pair.environments})}", "environments"),
        (f"{len(evidence.models)}", "models"),
        (f"{runs:,}", f"runs, {errors:,} without a verdict" if errors else "runs"),
        (f"{sum(len(rollout.calls) for rollout in evidence.rollouts):,}", "tool calls"),
    ]


def _outcomes_by_scenario(evidence: RoundEvidence, entry: Entry) -> list[Context]:
    return [
        {
            "title": f"What runs came to: {side} side, {action_type} tasks",
            "order": order,
            "rows": [_share_row(_scenario_label(item), "", evidence.shares(entry, side, action_type, item)) for item in Scenario],
        }
        for side, action_type, order in _ALL_SHARES
    ]


def _outcomes_by_entry(evidence: RoundEvidence, entries: Sequence[Entry]) -> list[Context]:
    return [
        {
            "title": f"{action_type.value.capitalize()} tasks",
            "order": order,
            "rows": [
                _share_row(evidence.label(entry), model_page(entry.model), evidence.shares(entry, side, action_type))
                for entry in entries
            ],
        }
        for side, action_type, order in _ALL_SHARES
        if side is Side.ABSTAIN
    ]


def _share_row(name: str, page: str, shares: Shares) -> Context:
    missing = {**({"unjudged": shares.unjudged} if shares.unjudged else {}), **shares.errors}
    return {"label": name, "page": page, "shares": shares, "missing": counted(missing)}


def _heat(evidence: RoundEvidence, scores: Scores) -> Context:
    columns = [SCENARIOS[scenario].code for scenario in Scenario]
    rows = [
        (evidence.label(row.entry), [_heat_cell(scores.on(row.entry, scenario)) for scenario in Scenario]) for row in scores.board
    ]
    said = "Paired accuracy by model and scenario; the table below has the same numbers."
    figure = heat_map([name for name, _ in rows], columns, [cells for _, cells in rows], said)
    return {"columns": [_scenario_label(scenario) for scenario in Scenario], "rows": rows, "figure": figure}


def _heat_cell(score: Score) -> HeatCell:
    return HeatCell(score.paired.value, score.pairs)


def _scatter(evidence: RoundEvidence, scores: Scores) -> Any:
    points = [
        Point(evidence.label(row.entry), row.score.act.value, row.score.abstain.value)
        for row in scores.board
        if row.score.act.value is not None and row.score.abstain.value is not None
    ]
    return scatter(points, "Act against abstain accuracy of every row; the leaderboard has the same numbers.")


def _families(pairs: Iterable[Pair]) -> list[Context]:
    found: dict[str, list[Pair]] = {}
    for pair in pairs:
        found.setdefault(pair.family, []).append(pair)
    return [
        {
            "name": name,
            "title": title_of(name),
            "environments": ", ".join(sorted({item for pair in members for item in pair.environments})),
            "action_type": members[0].action_type.value,
            "pairs": len(members),
        }
        for name, members in sorted(found.items())
    ]


def _pair_rows(evidence: RoundEvidence, pairs: Iterable[Pair], entries: Sequence[Entry]) -> list[Context]:
    return [
        {
            "id": pair.id,
            "title": title_of(pair.family),
            "page": pair_page(pair.id),
            "action_type": pair.action_type.value,
            "marks": [tuple(evidence.mark(pair.id, entry, side) for side in Side) for entry in entries],
        }
        for pair in pairs
    ]


def _model_facts(evidence: RoundEvidence, model: str) -> list[tuple[str, str]]:
    runs = [rollout for rollout in evidence.rollouts if rollout.model == model]
    usage = total(rollout.usage for rollout in runs)
    errors: Counter[str] = Counter(rollout.error_kind for rollout in runs if rollout.error_kind)
    missing = sorted({layer for rollout in runs for layer in rollout.isolation})
    facts = [
        ("Harness", ", ".join(sorted({f"{rollout.harness} {rollout.harness_version}" for rollout in runs}))),
        ("Judges", ", ".join(evidence.judges) or "none"),
        ("Runs", f"{len(runs):,}, {counted(errors) or 'none'} without a verdict"),
        ("Tool calls", f"{sum(len(rollout.calls) for rollout in runs):,}"),
        ("Tokens", f"{usage.input_tokens:,} in, {usage.output_tokens:,} out"),
        ("Cost", "no price known" if usage.cost_usd is None else f"${usage.cost_usd:,.2f}"),
    ]
    return [*facts, ("Isolation that was missing", ", ".join(missing))] if missing else facts


def _scenario_label(scenario: Scenario) -> str:
    return f"{SCENARIOS[scenario].code} {SCENARIOS[scenario].title}"
