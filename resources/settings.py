"""Where everything is written, and the secrets that come from outside.

`ABSTAIN_HOME` (or `--home`) moves all that is written.
"""

import os
import re
from dataclasses import dataclass
from pathlib import Path

from abstain_assets.errors import BadInput
from resources.secrets import variable

PROJECT = Path(__file__).resolve().parent.parent
V1 = "v1"
V1_SEED = 20260710
_ROUND = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")


class MissingSeed(BadInput):
    """A private round has no seed yet."""


@dataclass(frozen=True)
class Settings:
    """Paths below one home folder, and the seeds of rounds.

    Args:
        home: everything the project writes is below it.
    """

    home: Path

    @classmethod
    def resolve(cls, home: Path | None = None) -> "Settings":
        """The given home, else `ABSTAIN_HOME`, else `./data`."""
        chosen = home or Path(variable("ABSTAIN_HOME") or "data")
        return cls(chosen.expanduser().absolute())

    @property
    def dagster_home(self) -> Path:
        return self.home / "dagster"

    @property
    def journals(self) -> Path:
        return self.home / "journals"

    @property
    def judgements(self) -> Path:
        """What models answered as judges."""
        return self.home / "judgements"

    @property
    def report(self) -> Path:
        return self.home / "report"

    @property
    def cache(self) -> Path:
        """Downloads; `ABSTAIN_CACHE` shares one folder between homes."""
        shared = variable("ABSTAIN_CACHE")
        return Path(shared).expanduser().absolute() if shared else self.home / "cache"

    def seed_of(self, round_name: str) -> int:
        """The seed of a round.

        `v1` has a fixed one and `seed-<n>` says its own. Every other round is private: its seed comes from `ABSTAIN_SEED_<ROUND>`
        or from the file `rounds/<round>.seed` below the home, and is never written anywhere else.

        Raises:
            BadInput: the name is no round name, or its seed is no number.
            MissingSeed: the round has no seed.
        """
        check_round(round_name)
        if round_name == V1:
            return V1_SEED
        if round_name.startswith("seed-"):
            return _whole(round_name.removeprefix("seed-"), f"the round {round_name!r}")
        name = f"ABSTAIN_SEED_{round_name.upper().replace('-', '_')}"
        if value := variable(name):
            return _whole(value, name)
        file = self._seed_file(round_name)
        if file.is_file():
            return _whole(file.read_text(encoding="utf-8").strip(), str(file))
        raise MissingSeed(f"round {round_name!r} has no seed: set {name}, or put the seed into {file}")

    def keep_seed(self, round_name: str, seed: int) -> None:
        """Keep the seed of a fresh round in its file, readable by its owner only.

        Raises:
            BadInput: the round already has another seed, so its pairs would change under their names.
        """
        check_round(round_name)
        file = self._seed_file(round_name)
        if round_name == V1 or round_name.startswith("seed-") or file.is_file():
            if self.seed_of(round_name) != seed:
                raise BadInput(f"round {round_name!r} already has another seed: choose a new round name")
            return
        file.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            stream.write(f"{seed}\n")

    def _seed_file(self, round_name: str) -> Path:
        return self.home / "rounds" / f"{round_name}.seed"


def check_round(name: str) -> str:
    """The name, if it can be the name of a round.

    Raises:
        BadInput: it is not 1 to 40 lower-case letters, digits and hyphens.
    """
    if not _ROUND.fullmatch(name):
        raise BadInput(f"{name!r} is no round name: use up to 40 lower-case letters, digits and hyphens, for example v1 or r2")
    return name


def _whole(text: str, where: str) -> int:
    if not text.isdecimal():
        raise BadInput(f"{where} must give the seed as a whole number, 0 or more")
    return int(text)
