"""The same transcript in another process."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import abstain_assets
import environments
from abstain_assets.environments.transcript import SEED
from environments.runtime.contract import Environment
from environments.runtime.errors import EnvironmentBug

_TIMEOUT = 60


class OtherProcess:
    """A fresh Python process with another hash seed and time zone that plays the same transcript, started early and read late."""

    def __init__(self, env_type: type[Environment[Any]]) -> None:
        roots = [str(Path(package.__path__[0]).parent) for package in (abstain_assets, environments)]
        variables = {
            "PYTHONPATH": os.pathsep.join(dict.fromkeys(roots)),
            "PYTHONHASHSEED": "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1",
            "TZ": "Pacific/Kiritimati",
        }
        module = "abstain_assets.environments.transcript"
        self._process = subprocess.Popen(
            [sys.executable, "-m", module, env_type.__module__, env_type.__name__, str(SEED), *environments.__path__],
            env=variables,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )

    def transcript(self) -> list[str]:
        """What the process printed.

        Raises:
            EnvironmentBug: it failed or did not end.
        """
        try:
            output, errors = self._process.communicate(timeout=_TIMEOUT)
        except subprocess.TimeoutExpired as error:
            raise EnvironmentBug(f"a fresh process did not finish within {_TIMEOUT} s") from error
        finally:
            self.close()
        if self._process.returncode:
            last = errors.strip().splitlines()[-1:] or ["no message"]
            raise EnvironmentBug(f"a fresh process failed: {last[0]}")
        return output.rstrip("\n").split("\n")

    def close(self) -> None:
        """End the process if it still runs."""
        self._process.kill()
        self._process.communicate()
