"""Homes that several tests look at: made once by the real command, then only read."""

from pathlib import Path

import pytest

from tests.command import abstain


@pytest.fixture
def lake_home(tmp_path: Path) -> Path:
    """An empty home."""
    return tmp_path / "home"


@pytest.fixture(scope="session")
def demo_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home after `abstain demo`. Only read it."""
    home = tmp_path_factory.mktemp("demo")
    said = abstain("demo", "--json", home=home)
    assert said.code == 0, said.err
    (home / "said.json").write_text(said.out, encoding="utf-8")
    return home
