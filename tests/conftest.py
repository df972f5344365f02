"""Homes that several tests look at: made once by the real command, then only read."""

import os
import tempfile
from pathlib import Path

import pytest

from tests.command import abstain
from tests.homes import SCENARIO

# Downloads are shared by all homes of all test runs: they are checked by hash whenever they are used.
os.environ.setdefault("ABSTAIN_CACHE", str(Path(tempfile.gettempdir()) / f"abstain-test-cache-{os.getuid()}"))


@pytest.fixture
def lake_home(tmp_path: Path) -> Path:
    """An empty home."""
    return tmp_path / "home"


@pytest.fixture(scope="session")
def built_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with one built scenario, `SCENARIO`. Copy it before writing to it."""
    home = tmp_path_factory.mktemp("built")
    said = abstain("build", "--scenario", SCENARIO, "--json", home=home)
    assert said.code == 0, said.err
    assert set(said.document) == {"round", "pairs", "quarantined", "seconds"}
    return home


@pytest.fixture(scope="session")
def demo_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home after `abstain demo`. Only read it."""
    home = tmp_path_factory.mktemp("demo")
    said = abstain("demo", "--json", home=home)
    assert said.code == 0, said.err
    (home / "said.json").write_text(said.out, encoding="utf-8")
    return home
