"""Landlock: a process under a ruleset can read some files and folders and reach nothing else in the file system."""

import ctypes
import errno
import os
from collections.abc import Iterable
from pathlib import Path

# The numbers are the same on every architecture.
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_ASK_VERSION = 1
_PATH_BENEATH = 1

_READ_FILE, _READ_DIR = 1 << 2, 1 << 3
# Version -> rights it brought. Version 3 (truncate) is the first that covers every way to change a file's content.
_FILE_RIGHTS = {1: (1 << 13) - 1, 2: 1 << 13, 3: 1 << 14, 5: 1 << 15}
_TCP_RIGHTS = {4: 0b11}
_SCOPES = {6: 0b11}
MINIMUM_VERSION = 3

_libc = ctypes.CDLL(None, use_errno=True)


class _Ruleset(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("tcp", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32))


def version() -> int:
    """Version of the kernel's Landlock interface; 0 where there is none."""
    return max(0, int(_libc.syscall(_CREATE_RULESET, None, 0, _ASK_VERSION)))


def create(readable: Iterable[Path]) -> int:
    """Make a ruleset that allows reading the given files and folders (with all below) and no other file access.

    Where the kernel can, it also denies TCP and keeps signals and abstract sockets inside: a second lock on doors that the
    namespaces and the system-call filter shut. Paths that do not exist are skipped.

    Returns:
        A descriptor, which `restrict` takes any number of times.

    Raises:
        OSError: the kernel has no Landlock, or one too old to cover truncation.
    """
    abi = version()
    if abi < MINIMUM_VERSION:
        raise OSError(errno.ENOSYS, f"Landlock version {abi} is older than {MINIMUM_VERSION}")
    rights = [sum(bits for since, bits in table.items() if since <= abi) for table in (_FILE_RIGHTS, _TCP_RIGHTS, _SCOPES)]
    wanted = _Ruleset(*rights)
    # Fields a kernel does not know must be zero, which makes the long form valid on old ones.
    ruleset = _checked(_libc.syscall(_CREATE_RULESET, ctypes.byref(wanted), ctypes.sizeof(wanted), 0))
    for path in readable:
        try:
            beneath = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            continue
        try:
            rule = _PathBeneath(_READ_FILE | (_READ_DIR if path.is_dir() else 0), beneath)
            _checked(_libc.syscall(_ADD_RULE, ruleset, _PATH_BENEATH, ctypes.byref(rule), 0))
        finally:
            os.close(beneath)
    return ruleset


def restrict(ruleset: int) -> None:
    """Put a ruleset on the calling process, for good. It needs `no_new_privs`. Raises OSError when the kernel refuses."""
    _checked(_libc.syscall(_RESTRICT_SELF, ruleset, 0))


def _checked(answer: int) -> int:
    if answer < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return answer
