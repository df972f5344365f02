"""The report in a real browser, from the file system: it can be read without scripts, on a phone, in the dark and on paper."""

import base64
from collections.abc import Iterator
from pathlib import Path

import pytest

from abstain_assets.metrics.report.addresses import model_page, pair_page, scenario_page
from abstain_assets.metrics.report.site import write_report
from abstain_assets.metrics.report.text import visible
from abstain_assets.taxonomy import Scenario
from resources.lake import Lake
from tests.browser import CHROMIUM, Browser
from tests.builders_report import ATTACKS, HOSTILE, lake_home
from tests.builders_rollouts import pairs_of

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here: `apt-get install chromium` to run these tests")
PAIR = pairs_of(Scenario.MISSING_CRITICAL_PARAMETER)[0]
PAGES = ("index.html", scenario_page(PAIR.scenario), model_page("scripted/oracle"), pair_page(PAIR.id))
TEXT = "document.body.innerText"
LIGHTNESS = "Math.max(...getComputedStyle({}).{}.match(/\\d+/g).slice(0, 3).map(Number))"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site") / "report"
    write_report(Lake(lake_home()), folder)
    return folder


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    running = Browser(tmp_path_factory.mktemp("profile"))
    yield running
    running.close()


@pytest.mark.parametrize("page", PAGES)
def test_a_page_is_rendered_without_scripts_and_loads_only_its_style(site: Path, browser: Browser, page: str) -> None:
    browser.open(site / page, scripts=False)
    assert browser.requests == [(site / page).as_uri(), (site / "report.css").as_uri()] and browser.complaints == []
    assert "scripted/oracle" in browser.value(TEXT)
    assert browser.value("getComputedStyle(document.querySelector('.bar nav')).display") == "flex"


def test_the_first_page_says_who_leads_and_draws_its_figures(site: Path, browser: Browser) -> None:
    browser.open(site / "index.html", scripts=False)
    assert browser.value("document.querySelector('.board tbody tr').innerText").split("\n")[0].startswith("1")
    assert "scripted/oracle" in browser.value("document.querySelector('.board tbody tr').innerText")
    assert browser.value("[...document.querySelectorAll('figure svg')].map(item => item.getBoundingClientRect().height > 100)") == [
        True,
        True,
    ]
    texts = browser.value("[...document.querySelectorAll('figure svg text')].map(item => item.textContent)")
    assert {"S1", "S8", "scripted/always-act", "n=3"} <= set(texts) and "none" in texts


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("width", [320, 390, 1280])
def test_nothing_sticks_out_sideways(site: Path, browser: Browser, page: str, width: int) -> None:
    browser.open(site / page, width=width)
    assert browser.value("document.documentElement.scrollWidth") == width


def test_the_sides_stand_next_to_each_other_or_below_each_other(site: Path, browser: Browser) -> None:
    where = "[...document.querySelectorAll('.sides > .side')].slice(0, 2).map(item => item.getBoundingClientRect().top)"
    browser.open(site / pair_page(PAIR.id), width=1280)
    act, abstain = browser.value(where)
    assert act == abstain
    browser.open(site / pair_page(PAIR.id), width=390)
    act, abstain = browser.value(where)
    assert act < abstain


@pytest.mark.parametrize(("scheme", "dark"), [("light", False), ("dark", True)])
def test_the_theme_follows_the_reader(site: Path, browser: Browser, scheme: str, dark: bool) -> None:
    browser.open(site / "index.html", scheme=scheme)
    paper = browser.value(LIGHTNESS.format("document.body", "backgroundColor"))
    ink = browser.value(LIGHTNESS.format("document.querySelector('figure svg text')", "fill"))
    assert (paper < 60, ink > 200) == (dark, dark)


def test_hostile_text_does_nothing_where_scripts_are_on(site: Path, browser: Browser) -> None:
    browser.open(site / pair_page(PAIR.id), scripts=True)
    assert browser.value("window.owned") is None and "owned" not in browser.value("document.title")
    assert browser.requests == [(site / pair_page(PAIR.id)).as_uri(), (site / "report.css").as_uri()]
    shown = browser.value(TEXT)
    assert HOSTILE in shown and visible(ATTACKS[0]) in shown and visible(ATTACKS[1]) in shown


def test_links_work_from_the_file_system(site: Path, browser: Browser) -> None:
    browser.open(site / "index.html")
    target = browser.value(f"[...document.links].find(item => item.href.endsWith('{PAGES[1]}')).href")
    browser.open(Path(target.removeprefix("file://")))
    assert "Missing parameter" in browser.value("document.title")


def test_it_can_be_printed(site: Path, browser: Browser) -> None:
    browser.open(site / pair_page(PAIR.id))
    paper = base64.b64decode(browser.send("Page.printToPDF", paperWidth=8.27, paperHeight=11.69)["data"])
    assert paper.startswith(b"%PDF") and paper.count(b"/Type /Page\n") + paper.count(b"/Type /Page ") >= 1
    browser.send("Emulation.setEmulatedMedia", media="print")
    assert browser.value("getComputedStyle(document.querySelector('.bar')).display") == "none"
    browser.send("Emulation.setEmulatedMedia", media="")
