"""Where OpenClaw is, which a script of the project installs and patches."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from resources import secrets
from resources.settings import PROJECT

FOLDER_VARIABLE = "ABSTAIN_OPENCLAW"

_PATCH = 1


@dataclass(frozen=True)
class OpenClawInstall:
    """An install, or the lack of one."""

    @property
    def folder(self) -> Path:
        """`ABSTAIN_OPENCLAW`, else `.openclaw` of the project."""
        return Path(secrets.variable(FOLDER_VARIABLE) or PROJECT / ".openclaw").absolute()

    @property
    def facts(self) -> Mapping[str, object] | None:
        """What the install script left behind when it was done; `None` where it was not, or was another one."""
        try:
            found = json.loads((self.folder / "patched.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return dict(found) if isinstance(found, dict) and found.get("patch") == _PATCH else None

    @property
    def installed(self) -> bool:
        return self.facts is not None

    @property
    def fix(self) -> str:
        return f"run `scripts/install-openclaw.sh`, or set {FOLDER_VARIABLE} to where it was installed"
