"""Shutting a process in before environment code runs in it.

Each layer is taken on its own; what the platform refuses is reported, never hidden. No layer can be left again, and none has a
switch to turn it off.
"""

import ctypes
import errno
import os
import resource
import sys
import sysconfig
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from signal import SIGKILL

from environments.runtime import landlock, seccomp

_OWN_PACKAGES = {"environments", "abstain_assets", "resources"}
_INSTALLED = {"site-packages", "dist-packages"}

_PR_SET_PDEATHSIG, _PR_SET_NO_NEW_PRIVS = 1, 38
_CLONE_NEWIPC, _CLONE_NEWUSER, _CLONE_NEWNET = 0x08000000, 0x10000000, 0x40000000
_CAPABILITY_VERSION_3 = 0x20080522

_libc = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True)
class Limits:
    """What one sandbox may use: processor time, address space and open descriptors. It may write no files and dump no core."""

    cpu_seconds: int = 60
    memory_bytes: int = 1 << 30
    open_files: int = 32


@dataclass(frozen=True)
class IsolationLevel:
    """Layers that did not take effect, as (layer, reason). Empty means complete isolation."""

    missing: tuple[tuple[str, str], ...] = ()

    @property
    def full(self) -> bool:
        return not self.missing

    def __str__(self) -> str:
        return "; ".join(f"{layer}: {reason}" for layer, reason in self.missing) or "full"


def library_files() -> tuple[Path, ...]:
    """Files and folders of the standard library and of the third-party packages imported so far, but not of this project.

    Python and pydantic import some modules only when they are first needed, so these must stay readable.
    """
    library = {Path(sysconfig.get_path(kind)) for kind in ("stdlib", "platstdlib")}
    standard = {path for folder in library if folder.is_dir() for path in folder.iterdir() if path.name not in _INSTALLED}
    packages = {
        Path(folder)
        for name, module in list(sys.modules.items())
        if "." not in name and name not in _OWN_PACKAGES
        for folder in getattr(module, "__path__", ())
        if Path(folder).parent.name in _INSTALLED
    }
    return tuple(sorted(standard | packages))


def prepare(readable: Iterable[Path]) -> int | None:
    """What `isolate` needs to shut the file system: a descriptor that can be made once and used in many processes.

    Returns `None` where the platform cannot shut it; `isolate` then reports that.
    """
    if sys.platform != "linux":
        return None
    try:
        return landlock.create(readable)
    except OSError:
        return None


def isolate(ruleset: int | None, limits: Limits | None = None) -> IsolationLevel:
    """Shut the calling process in, for good. It must be single-threaded.

    Afterwards it can read what the ruleset allows, use the descriptors it has, and end. It is killed when its parent ends.

    Args:
        ruleset: from `prepare`.
        limits: resource limits; the defaults if not given.
    """
    limits = limits or Limits()
    # The order matters: a change of user namespace or capabilities clears the parent-death signal, and the filter comes last
    # because it forbids the calls the other layers are made of.
    layers: list[tuple[str, Callable[[], None]]] = [
        ("no_new_privs", lambda: _prctl(_PR_SET_NO_NEW_PRIVS, 1)),
        # Its own user namespace keeps it from reading other processes of the same user through /proc, or tracing them.
        ("user_namespace", lambda: _unshare(_CLONE_NEWUSER)),
        ("network_namespace", lambda: _unshare(_CLONE_NEWNET)),
        ("ipc_namespace", lambda: _unshare(_CLONE_NEWIPC)),
        ("capabilities", _drop_capabilities),
        ("parent_death", lambda: _prctl(_PR_SET_PDEATHSIG, SIGKILL)),
        ("limits", lambda: _limit(limits)),
        ("landlock", lambda: _shut_files(ruleset)),
        ("seccomp", seccomp.restrict),
    ]
    missing = []
    for name, enter in layers:
        try:
            if sys.platform != "linux" and name != "limits":
                raise OSError(errno.ENOSYS, f"not available on {sys.platform}")
            enter()
        except (OSError, ValueError) as error:
            missing.append((name, str(error)))
    return IsolationLevel(tuple(missing))


def keep_only(*descriptors: int) -> None:
    """Move the given descriptors to 0, 1, 2, ... in this order and close all others."""
    # Copied upwards first, so that no move overwrites a descriptor that is still needed.
    floor = max(*descriptors, len(descriptors)) + 1
    for offset, descriptor in enumerate(descriptors):
        os.dup2(descriptor, floor + offset, inheritable=False)
    for target in range(len(descriptors)):
        os.dup2(floor + target, target)
    os.closerange(len(descriptors), os.sysconf("SC_OPEN_MAX"))


def _prctl(option: int, value: int) -> None:
    _check(_libc.prctl(option, value, 0, 0, 0))


def _unshare(flag: int) -> None:
    _check(_libc.unshare(flag))


def _drop_capabilities() -> None:
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    nothing = (ctypes.c_uint32 * 6)()
    _check(_libc.capset(header, nothing))


def _limit(limits: Limits) -> None:
    seconds = limits.cpu_seconds
    for kind, soft, hard in (
        # The soft limit ends the process with a signal that says why, the hard one if it ignores that.
        (resource.RLIMIT_CPU, seconds, seconds + 1),
        (resource.RLIMIT_AS, limits.memory_bytes, limits.memory_bytes),
        (resource.RLIMIT_NOFILE, limits.open_files, limits.open_files),
        (resource.RLIMIT_FSIZE, 0, 0),
        (resource.RLIMIT_CORE, 0, 0),
        (resource.RLIMIT_NPROC, 0, 0),
    ):
        _, ceiling = resource.getrlimit(kind)
        if ceiling != resource.RLIM_INFINITY:
            soft, hard = min(soft, ceiling), min(hard, ceiling)
        resource.setrlimit(kind, (soft, hard))


def _shut_files(ruleset: int | None) -> None:
    if ruleset is None:
        raise OSError(errno.ENOSYS, f"Landlock {landlock.MINIMUM_VERSION} is needed, the kernel has {landlock.version()}")
    landlock.restrict(ruleset)


def _check(answer: int) -> None:
    if answer != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
