"""Running the command line as a person would."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
MAIN = "from abstain_assets.cli import main; main()"


@dataclass(frozen=True)
class Said:
    """What one command did."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """Standard output as the one JSON document it must be."""
        return json.loads(self.out)


def abstain(*args: object, home: Path | None = None, cwd: Path = ROOT, variables: Mapping[str, str] | None = None) -> Said:
    """Run one command. Of the variables that steer it, only those given reach it."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("ABSTAIN_")}
    before = ["--home", str(home)] if home else []
    done = subprocess.run(
        [sys.executable, "-c", MAIN, *before, *map(str, args)],
        cwd=cwd,
        env={**inherited, "PYTHONPATH": str(ROOT), **(variables or {})},
        capture_output=True,
        text=True,
        timeout=240,
    )
    return Said(done.returncode, done.stdout, done.stderr)
