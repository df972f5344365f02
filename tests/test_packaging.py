"""What is installed works away from the repository: the built wheel holds the packages, and they import."""

import re
import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("abstain_assets", "environments", "resources")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy, so that neither does an old build leak in nor anything stay behind."""
    source = tmp_path_factory.mktemp("source")
    for package in PACKAGES:
        shutil.copytree(ROOT / package, source / package, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source / name)
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "."]
    subprocess.run([*command, "--wheel-dir", str(source / "dist")], cwd=source, check=True, capture_output=True, text=True)
    return next((source / "dist").glob("*.whl"))


def test_the_wheel_holds_every_module_and_data_file(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        held = {name for name in archive.namelist() if ".dist-info/" not in name}
    expected = {
        str(path.relative_to(ROOT))
        for package in PACKAGES
        for path in (ROOT / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert held == expected


def test_the_installed_wheel_imports_and_answers(wheel: Path, tmp_path: Path) -> None:
    """Dependencies are lent by this environment; the packages come from the wheel alone."""
    home = tmp_path / "venv"
    venv.create(home, with_pip=True)
    python = home / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", wheel], check=True, capture_output=True)
    site = next(home.glob("lib/python*/site-packages"))
    lent = [path for path in sys.path if path.endswith("site-packages")]
    (site / "lent.pth").write_text("".join(f"{path}\n" for path in lent), encoding="utf-8")
    code = "import abstain_assets.project, environments.runtime, resources.lake; print(abstain_assets.__file__)"
    done = subprocess.run([python, "-c", code], cwd=tmp_path, check=True, capture_output=True, text=True)
    assert str(site) in done.stdout
    answer = subprocess.run([home / "bin" / "abstain", "--help"], cwd=tmp_path, check=True, capture_output=True, text=True)
    assert "leaderboard" in answer.stdout


@pytest.mark.parametrize("name", ["requirements.lock", "requirements-extras.lock"])
def test_lock_files_pin_plain_names_with_hashes(name: str) -> None:
    """With an extra in it, a line would pin `name[extra]` alone for a pip older than 23.3, and serve as a constraint for none."""
    lines = re.sub(r" \\\n\s+", " ", (ROOT / name).read_text(encoding="utf-8")).splitlines()
    pinned = re.compile(r"[a-z0-9.-]+==[0-9a-z.]+( ; .+?)?( --hash=sha256:[0-9a-f]{64})+")
    assert len(lines) > 80
    assert [line for line in lines if not pinned.fullmatch(line)] == []
    assert (ROOT / "Makefile").read_text(encoding="utf-8").count(f"-r {name} -c {name}\n") == 1
