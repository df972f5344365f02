"""Writing the site: every page is rendered into a new folder, which then takes the place of the old one."""

import contextlib
import shutil
from collections.abc import Iterator, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from abstain_assets.errors import BadInput, LakeError
from abstain_assets.metrics.leaderboard import leaderboard, metric_rows
from abstain_assets.metrics.report import explain, text
from abstain_assets.metrics.report.addresses import model_page, pair_page, place, scenario_page
from abstain_assets.metrics.report.describe import contract_lines
from abstain_assets.metrics.report.evidence import RoundEvidence
from abstain_assets.metrics.report.pages import index_context, model_context, scenario_context
from abstain_assets.metrics.report.pair_page import pair_context
from abstain_assets.metrics.report.scores import Scores
from abstain_assets.rows import pairs_from, rollouts_from, verdicts_from
from abstain_assets.taxonomy import Scenario
from abstain_assets.verdicts.current import current_rollouts, current_verdicts
from resources.lake import Lake
from resources.settings import V1

_PACKAGE = "abstain_assets.metrics.report"
Page = tuple[str, str, dict[str, Any]]


def write_report(lake: Lake, folder: Path) -> int:
    """Write the report of everything in the lake and return the number of pages.

    Raises:
        BadInput: there are no pairs yet.
        LakeError: a table cannot be read, or the folder cannot be written; the report that was there is still there.
    """
    pairs = pairs_from(lake.read("pairs"))
    runs = lake.read("rollouts").join(current_rollouts(lake), on="fingerprint", how="semi", maintain_order="left")
    rollouts = rollouts_from(runs, lake.read("calls"))
    verdicts = verdicts_from(current_verdicts(lake))
    names = sorted({pair.round for pair in pairs}, key=lambda name: (name != V1, name))
    if not names:
        raise BadInput("there is nothing to report yet: run `abstain demo`, or `abstain build` and `abstain run`")
    rounds = [RoundEvidence.of(name, pairs, rollouts, verdicts) for name in names]
    scored = [(item, Scores.of(leaderboard(item.verdicts), metric_rows(item.verdicts))) for item in rounds]
    with lake.lock("report"):
        return write_site(scored, folder)


def write_site(rounds: Sequence[tuple[RoundEvidence, Scores]], folder: Path) -> int:
    """Write the report of some rounds and return the number of pages. The first round is the site's first page.

    Raises:
        LakeError: the folder cannot be written; the report that was there is still there.
    """
    names = [{"name": evidence.round, "path": _path(evidence, rounds)} for evidence, _ in rounds]
    env, pages = templates(), 0
    with _replacing(folder) as fresh:
        style = resources.files(_PACKAGE).joinpath("templates", "report.css").read_text(encoding="utf-8")
        (fresh / "report.css").write_text(style, encoding="utf-8")
        for evidence, scores in rounds:
            base = _path(evidence, rounds)
            for path, template, context in _pages(evidence, scores):
                target = fresh / base / path
                target.parent.mkdir(parents=True, exist_ok=True)
                shared = {"page": place(base, path), "rounds": names, "round": evidence.round}
                target.write_text(env.get_template(template).render(**shared, **context), encoding="utf-8")
                pages += 1
    return pages


def _path(evidence: RoundEvidence, rounds: Sequence[tuple[RoundEvidence, Scores]]) -> str:
    return "" if evidence is rounds[0][0] else f"rounds/{evidence.round}/"


def _pages(evidence: RoundEvidence, scores: Scores) -> Iterator[Page]:
    """Path, template and context of every page of a round."""
    yield "index.html", "index.html.j2", index_context(evidence, scores)
    for scenario in Scenario:
        yield scenario_page(scenario), "scenario.html.j2", scenario_context(evidence, scores, scenario)
    for model in evidence.models:
        yield model_page(model), "model.html.j2", model_context(evidence, scores, model)
    for pair in evidence.pairs:
        yield pair_page(pair.id), "pair.html.j2", pair_context(evidence, pair)


def templates() -> Environment:
    """The templates. Whatever they print is escaped, and every character of it can be seen."""
    env = Environment(
        loader=PackageLoader(_PACKAGE),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finalize,
    )
    env.filters.update(
        words=text.words,
        layout=text.layout,
        rate=text.rate,
        count=text.count,
        outcome=text.outcome_words,
        explained=explain.OUTCOME_TEXTS.__getitem__,
        contract_lines=contract_lines,
        model_page=model_page,
    )
    return env


def _finalize(value: Any) -> Any:
    return text.visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


@contextlib.contextmanager
def _replacing(folder: Path) -> Iterator[Path]:
    """A new folder that takes the place of `folder` at the end, or goes away where something fails. One writer at a time."""
    fresh, old = (folder.with_name(f".{folder.name}-{name}") for name in ("new", "old"))
    try:
        if old.exists() and not folder.exists():  # a process was killed between the two moves
            old.replace(folder)
        for leftover in (fresh, old):
            shutil.rmtree(leftover, ignore_errors=True)
        fresh.mkdir(parents=True)
        yield fresh
        if folder.exists():
            folder.replace(old)
        fresh.replace(folder)
    except OSError as error:
        if old.exists() and not folder.exists():
            old.replace(folder)
        raise LakeError(f"cannot write {folder}: {error.strerror or error}. The report that was there is still there.") from error
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)
