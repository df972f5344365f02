"""The report: what it says is what the lake holds, nothing a model wrote gets out of its place, and every link leads somewhere."""

import hashlib
import os
import subprocess
import sys
from functools import cache
from pathlib import Path
from urllib.parse import unquote

import pytest

from abstain_assets.errors import BadInput, LakeError
from abstain_assets.metrics.leaderboard import leaderboard, metric_rows
from abstain_assets.metrics.report.addresses import pair_page, scenario_page
from abstain_assets.metrics.report.evidence import RoundEvidence
from abstain_assets.metrics.report.scores import Scores
from abstain_assets.metrics.report.site import write_report, write_site
from abstain_assets.metrics.report.text import layout, visible
from abstain_assets.records import DataDelta, InstructionDelta, Pair, ToolBehaviorDelta, ToolsDelta
from abstain_assets.rows import pairs_from, rollouts_from, verdicts_from
from abstain_assets.taxonomy import ActionType, Scenario, Side
from resources.lake import Lake
from tests.builders_report import ATTACKS, HOSTILE, POLICIES, fill, lake_home
from tests.builders_rollouts import all_pairs, pairs_of
from tests.pages import Page

ROOT = Path(__file__).parent.parent
BOARD_CELLS = 11


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site") / "report"
    assert write_report(Lake(lake_home()), folder) == len(list(folder.rglob("*.html")))
    return folder


@cache
def evidence() -> RoundEvidence:
    lake = Lake(lake_home())
    rollouts = rollouts_from(lake.read("rollouts"), lake.read("calls"))
    return RoundEvidence.of("v1", pairs_from(lake.read("pairs")), rollouts, verdicts_from(lake.read("verdicts")))


def scored(of: RoundEvidence) -> tuple[RoundEvidence, Scores]:
    return of, Scores.of(leaderboard(of.verdicts), metric_rows(of.verdicts))


def percent(value: float | None) -> str:
    return "missing" if value is None else f"{100 * value:.1f}"


def page_of(site: Path, pair: Pair) -> Page:
    return Page(site / pair_page(pair.id))


def bytes_of(folder: Path) -> dict[str, str]:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


# --- numbers --------------------------------------------------------------------------------------------------------------


def test_the_leaderboard_shows_every_rate_with_its_count_and_interval(site: Path) -> None:
    index = Page(site / "index.html")
    for line in leaderboard(evidence().verdicts):
        row = index.row(line.model, BOARD_CELLS)
        assert row[0] == f"{line.rank} {line.rank_interval[0]}–{line.rank_interval[1]}"
        for cell, name in zip(row[2:6], ("paired", "act", "abstain", "car"), strict=True):
            value, ends = getattr(line, name), getattr(line, f"ci_{name}")
            assert cell.split()[0] == percent(value), (line.model, name, cell)
            assert value is None or cell.endswith(f"{percent(ends[0])}–{percent(ends[1])}")
        assert f" {line.counts['paired']:.0f} of {line.pairs} " in row[2]
        assert row[6].startswith(f"{percent(line.paired_strict)} {line.counts['paired_strict']:.0f} of {line.pairs} ")
        assert row[7].startswith(f"{percent(line.over_abstention)} {line.counts['over_abstained']:.0f} of ")
        assert row[10] == f"{line.harness} rules provisional"


def test_excluded_runs_are_named_by_kind_and_not_counted_as_zero(site: Path) -> None:
    errors = sum(run.error_kind == "api_error" for run in evidence().rollouts)
    row = Page(site / "index.html").row(HOSTILE, BOARD_CELLS)
    assert errors and row[9].startswith(f"{errors} api error paired with these as failures")
    conflict = Page(site / scenario_page(Scenario.CONFLICTING_EVIDENCE)).row(HOSTILE, 8)
    assert conflict[1] == "missing 0 of 0" and conflict[7] == f"{errors} api error"


@pytest.mark.parametrize(("policy", "column", "outcome"), [("act-then-disclaim", 3, "post_hoc"), ("silent-stop", 4, "implicit")])
def test_how_a_policy_fails_is_shown(site: Path, policy: str, column: int, outcome: str) -> None:
    mine = [item for item in evidence().verdicts if item.model == f"scripted/{policy}" and item.side is Side.ABSTAIN]
    judged = [item for item in mine if item.action_type is ActionType.OPERATIONAL]
    found = sum(item.outcome == outcome for item in judged)
    assert found > len(judged) / 2, "the policy does what its name says"
    row = Page(site / "index.html").row(f"scripted/{policy}", 8)
    assert row[column] == f"{found} {percent(found / len(judged))} %" and row[6] == str(len(judged))


def test_what_was_not_run_is_missing_and_not_zero(site: Path) -> None:
    index = Page(site / "index.html")
    cells = dict(zip(Scenario, index.row(HOSTILE, 9)[1:], strict=True))
    assert cells[Scenario.EMERGENT_RISK_DISCOVERY] == "missing n=0"
    assert cells[Scenario.MISSING_CRITICAL_PARAMETER].endswith("n=3")
    pair = pairs_of(Scenario.EMERGENT_RISK_DISCOVERY)[0]
    assert HOSTILE not in page_of(site, pair).text
    row = next(row for row in Page(site / scenario_page(pair.scenario)).rows if row[0].endswith(pair.id))
    assert row.count("– not run") == 2 and len(row) == 2 + 2 * (len(POLICIES) + 1)


def test_several_judges_are_ranked_apart_and_named(tmp_path: Path) -> None:
    second = [item.model_copy(update={"judge": "panel/strict"}) for item in evidence().verdicts]
    both = RoundEvidence.of("v1", evidence().pairs, evidence().rollouts, [*evidence().verdicts, *second])
    write_site([scored(both)], tmp_path / "report")
    index = Page(tmp_path / "report" / "index.html")
    assert ["Judged by panel/strict"] in index.rows and ["Judged by rules"] in index.rows
    assert "scripted/oracle, panel/strict" in index.text


def test_epochs_are_shown_one_by_one_and_counted(tmp_path: Path) -> None:
    again = [item.model_copy(update={"epoch": 1, "fingerprint": f"{item.fingerprint}b"}) for item in evidence().rollouts]
    judged = [item.model_copy(update={"epoch": 1, "fingerprint": f"{item.fingerprint}b"}) for item in evidence().verdicts]
    twice = RoundEvidence.of("v1", evidence().pairs, [*evidence().rollouts, *again], [*evidence().verdicts, *judged])
    write_site([scored(twice)], tmp_path / "report")
    assert "2 epochs, pass^2" in Page(tmp_path / "report" / "index.html").row("scripted/oracle", BOARD_CELLS)[10]
    pair = page_of(tmp_path / "report", evidence().pairs[0])
    assert "Epoch 1" in pair.text and pair.row("scripted/always-act", 4)[1:3] == ["2/2", "0/2"]


def test_verdicts_on_runs_that_are_gone_are_left_out() -> None:
    stale = evidence().verdicts[0].model_copy(update={"fingerprint": "gone"})
    assert (
        RoundEvidence.of("v1", evidence().pairs, evidence().rollouts, [*evidence().verdicts, stale]).verdicts == evidence().verdicts
    )


# --- pairs ----------------------------------------------------------------------------------------------------------------


def test_a_pair_shows_both_sides_and_the_one_difference(site: Path) -> None:
    for pair in all_pairs():
        page, delta = page_of(site, pair), pair.delta
        said = page.text
        assert pair.trigger.explanation in said and pair.act.system_prompt in said
        assert page.tags["mark"] == 2
        match delta:
            case InstructionDelta():
                assert delta.find in said and (delta.replace or "[removed here]") in said
            case DataDelta():
                assert delta.path in said and layout(delta.value) in said
            case ToolsDelta():
                assert f"{delta.hide}available" in said and f"{delta.hide}hidden" in said
            case ToolBehaviorDelta():
                assert f"{delta.fault.tool}works" in said and delta.fault.message in said
        for node in pair.dag.nodes:
            assert node.tool in said
        for pattern in (*pair.act_contract.required, *pair.abstain_contract.prohibited):
            assert pattern.kind in said and pattern.on in said
        assert all(check.detail in said for check in pair.checks if not check.proved)


def test_a_pair_shows_what_every_model_did(site: Path) -> None:
    for run in evidence().rollouts:
        if run.model == HOSTILE:
            continue
        said = Page(site / pair_page(run.pair_id)).text
        assert visible(run.final_text) in said
        for call in run.calls:
            assert call.tool in said
            for effect in call.effects[:3]:
                assert effect.kind in said and effect.record in said


# --- what models write ----------------------------------------------------------------------------------------------------


def test_hostile_text_stays_text(site: Path) -> None:
    pair = pairs_of(Scenario.MISSING_CRITICAL_PARAMETER)[0]
    page = page_of(site, pair)
    for attack in ATTACKS:
        assert page.text.count(visible(attack)) >= 3, attack
    assert "pay [U+202E]evila[U+202C] now[U+200B][U+0000][U+001B][31m" in page.text
    assert all(text in page.text for text in ("\U0001f9d1\u200d\U0001f680", "e\u0301\u0327", "العربية"))


def test_no_page_runs_or_loads_anything(site: Path) -> None:
    pages = [Page(path) for path in sorted(site.rglob("*.html"))]
    assert len(pages) == 1 + len(Scenario) + len(POLICIES) + 1 + len(all_pairs())
    for page in pages:
        assert not {"script", "img", "iframe", "object", "style", "form"} & set(page.tags), page.path
        assert not {name for name in page.attributes if name.startswith("on")}, page.path
        assert len(page.ids) == len(set(page.ids)), page.path


def test_long_results_and_lost_calls_are_said(site: Path) -> None:
    page = page_of(site, pairs_of(Scenario.MISSING_CRITICAL_PARAMETER)[0])
    assert "more characters: abstain show hostile" in page.text
    assert "never reached the sandbox" in page.text, "a request with broken arguments"
    attacked = next(run for run in evidence().rollouts if run.model == HOSTILE)
    assert attacked.calls[0].tool in page.text, "a call that the transcript does not mention"


# --- the site as a whole --------------------------------------------------------------------------------------------------


def test_every_link_leads_somewhere_and_every_page_is_reached(site: Path) -> None:
    ids = {path: set(Page(path).ids) for path in site.rglob("*.html")}
    reached, waiting = set(), [site / "index.html"]
    while waiting:
        path = waiting.pop()
        if path in reached:
            continue
        reached.add(path)
        for link in Page(path).links:
            address, _, fragment = link.partition("#")
            target = (path.parent / unquote(address)).resolve() if address else path
            assert target.is_file() and target.is_relative_to(site.resolve()), f"{path.name} links to {link}"
            if target.suffix == ".html":
                assert not fragment or unquote(fragment) in ids[target], f"{path.name} links to {link}"
                waiting.append(target)
    assert reached == set(ids)


def test_the_same_lake_gives_the_same_bytes_in_another_process(site: Path, tmp_path: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from resources.lake import Lake\n"
        "from abstain_assets.metrics.report.site import write_report\n"
        "write_report(Lake(Path(sys.argv[1])), Path(sys.argv[2]))"
    )
    environment = {**os.environ, "PYTHONHASHSEED": "7", "PYTHONPATH": str(ROOT), "TZ": "Asia/Tokyo", "LC_ALL": "C"}
    subprocess.run([sys.executable, "-c", code, lake_home(), tmp_path / "report"], check=True, env=environment, cwd=tmp_path)
    assert bytes_of(tmp_path / "report") == bytes_of(site)


def test_rounds_have_their_own_pages(tmp_path: Path) -> None:
    lake = Lake(tmp_path / "home")
    for name in ("r2", "v1"):
        fill(lake, tuple(pair.model_copy(update={"round": name}) for pair in pairs_of(Scenario.HIGH_STAKES_ACTION)), [])
    write_report(lake, tmp_path / "report")
    index, other = (Page(tmp_path / "report" / path) for path in ("index.html", "rounds/r2/index.html"))
    assert "rounds/r2/index.html" in index.links and "../../index.html" in other.links
    assert "No model was run on this round yet." in index.text
    assert (tmp_path / "report" / "rounds" / "r2" / pair_page(pairs_of(Scenario.HIGH_STAKES_ACTION)[0].id)).is_file()


def test_a_new_report_replaces_the_old_one_whole(tmp_path: Path) -> None:
    folder = tmp_path / "report"
    write_site([scored(evidence())], folder)
    fewer = RoundEvidence.of("v1", evidence().pairs[:1], (), ())
    write_site([scored(fewer)], folder)
    assert [path.name for path in (folder / "pairs").iterdir()] == [Path(pair_page(evidence().pairs[0].id)).name]
    assert not (folder / "models").exists() and [path.name for path in tmp_path.iterdir()] == ["report"]


def test_what_fails_half_way_leaves_the_old_report(tmp_path: Path) -> None:
    folder = tmp_path / "report"
    write_site([scored(RoundEvidence.of("v1", evidence().pairs[:1], (), ()))], folder)
    before = bytes_of(folder)
    broken = evidence().pairs[0].model_copy(update={"delta": DataDelta(path="/nowhere/at/all", value=1)})
    with pytest.raises(Exception, match="nowhere"):
        write_site([scored(RoundEvidence.of("v1", (*evidence().pairs[1:], broken), (), ()))], folder)
    assert bytes_of(folder) == before and [path.name for path in tmp_path.iterdir()] == ["report"]


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    with pytest.raises(LakeError, match=r"cannot write .*report"):
        write_report(Lake(lake_home()), tmp_path / "file" / "report")


def test_an_empty_lake_has_no_report(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="abstain demo"):
        write_report(Lake(tmp_path), tmp_path / "report")
