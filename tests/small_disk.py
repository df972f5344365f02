"""A file system of its own for a home, which can be made full or read-only. Whoever may make namespaces may mount it."""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.warm import Warm


@dataclass(frozen=True)
class SmallDisk:
    """A mounted file system. Only processes of its namespace see it.

    Attributes:
        warm: starts commands that see it.
        folder: where it is for them.
    """

    warm: Warm
    folder: Path

    @property
    def outside(self) -> Path:
        """Where it is for everybody else."""
        return Path(f"/proc/{self.warm.pid}/root{self.folder}")

    def remount(self, options: str) -> None:
        """Change its options."""
        enter = ["nsenter", f"--target={self.warm.pid}", "--user", "--mount", "--preserve-credentials"]
        subprocess.run([*enter, "mount", "-o", f"remount,{options}", str(self.folder)], check=True)

    def fill(self, left: int) -> None:
        """Leave so many bytes free."""
        free = shutil.disk_usage(self.outside).free
        (self.outside / "filler").write_bytes(b"x" * (free - left))

    def free(self) -> None:
        """Take back what `fill` took."""
        (self.outside / "filler").unlink()


@contextmanager
def small_disk(folder: Path, megabytes: int) -> Iterator[SmallDisk]:
    """Mount one on an empty folder; skip the test where that is not allowed."""
    script = f'mount -t tmpfs -o size={megabytes}m tmpfs "$0" && exec "$@"'
    prefix = ["unshare", "--map-root-user", "--mount", "sh", "-c", script, str(folder)]
    tried = subprocess.run([*prefix, "true"], capture_output=True, text=True)
    if tried.returncode:
        pytest.skip(f"no file system can be mounted here: {tried.stderr.strip()}")
    with Warm(prefix) as warm:
        yield SmallDisk(warm, folder)
