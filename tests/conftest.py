"""Homes that several tests look at: made once by the real command, then only read."""

import fcntl
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.command import abstain
from tests.homes import SCENARIO
from tests.toy import install

# Downloads are shared by all homes of all test runs: they are checked by hash whenever they are used.
os.environ.setdefault("ABSTAIN_CACHE", str(Path(tempfile.gettempdir()) / f"abstain-test-cache-{os.getuid()}"))

# These take minutes and mostly wait. They begin first, so that the others run beside them and not after them.
LONGEST = ["test_backfill", "test_faults", "test_concurrency", "test_automation", "test_cli_runs"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    order = {name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: order.get(item.path.stem, len(order)))


@pytest.fixture
def lake_home(tmp_path: Path) -> Path:
    """An empty home."""
    return tmp_path / "home"


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Two mountable copies of the small test environment: `library` and `annexe`."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        install(monkeypatch, tmp_path_factory.mktemp("toys"))
        install(monkeypatch, tmp_path_factory.mktemp("toys"), name="annexe")
        yield


@pytest.fixture(scope="session")
def built_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with one built scenario, `SCENARIO`. Copy it before writing to it."""

    def make(home: Path) -> None:
        said = abstain("build", "--scenario", SCENARIO, "--json", home=home)
        assert said.code == 0, said.err
        assert set(said.document) == {"round", "pairs", "quarantined", "seconds"}

    return _made_once(tmp_path_factory, "built", make)


@pytest.fixture(scope="session")
def demo_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home after `abstain demo`. Only read it."""

    def make(home: Path) -> None:
        said = abstain("demo", "--json", home=home)
        assert said.code == 0, said.err
        (home / "said.json").write_text(said.out, encoding="utf-8")

    return _made_once(tmp_path_factory, "demo", make)


def _made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], None]) -> Path:
    """A home that the first worker to need it makes for all; the others wait."""
    base = factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / f"{name}-home"
    with folder.with_suffix(".lock").open("w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = folder.with_suffix(".done")
        if not done.exists():
            make(folder)
            done.touch()
    return folder
