"""Running the command line as a person would."""

import atexit
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from tests.warm import ROOT as ROOT
from tests.warm import Said as Said
from tests.warm import Warm

MAIN = "from abstain_assets.cli import main; main()"


@cache
def warm() -> Warm:
    """The warm process of this test run."""
    server = Warm().__enter__()
    atexit.register(server.__exit__, None, None, None)
    return server


def abstain(*args: object, home: Path | None = None, cwd: Path = ROOT, variables: Mapping[str, str] | None = None) -> Said:
    """Run one command. Of the variables that steer it, only those given reach it."""
    return warm().start(*args, home=home, cwd=cwd, variables=variables).wait()
