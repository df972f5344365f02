"""A system-call filter: a sandbox may use memory, its open descriptors, read-only files, clocks and signals to itself.

Everything else answers `EPERM`. The list names what is allowed, so calls that future kernels add stay shut. There is no way in it
to make a process or thread, run a program, open a socket, trace, signal or reprioritise another process, or change the
metadata of a file (which Landlock does not cover).
"""

import ctypes
import errno
import os
import platform
import struct

_PR_SET_SECCOMP = 22
_MODE_FILTER = 2

_LOAD, _JUMP_EQUAL, _JUMP_AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_ALLOW = 0x7FFF0000
_DENY = 0x00050000 | errno.EPERM
_KILL = 0x80000000
_NUMBER_AT, _ARCH_AT, _ARGS_AT = 0, 4, 16
_X32_BIT = 0x40000000

_AUDIT_ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}

# name: (number on x86_64, number on aarch64); None where the architecture has no such call.
_ALLOWED: dict[str, tuple[int | None, int | None]] = {
    # open descriptors
    "read": (0, 63),
    "write": (1, 64),
    "readv": (19, 65),
    "writev": (20, 66),
    "pread64": (17, 67),
    "lseek": (8, 62),
    "close": (3, 57),
    "dup": (32, 23),
    "dup2": (33, None),
    "dup3": (292, 24),
    "sendto": (44, 206),
    "recvfrom": (45, 207),
    "shutdown": (48, 210),
    # looking at files (Landlock decides which can be opened)
    "open": (2, None),
    "openat": (257, 56),
    "stat": (4, None),
    "lstat": (6, None),
    "fstat": (5, 80),
    "newfstatat": (262, 79),
    "statx": (332, 291),
    "access": (21, None),
    "faccessat": (269, 48),
    "faccessat2": (439, 439),
    "getdents": (78, None),
    "getdents64": (217, 61),
    "readlink": (89, None),
    "readlinkat": (267, 78),
    "getcwd": (79, 17),
    # memory
    "brk": (12, 214),
    "mmap": (9, 222),
    "munmap": (11, 215),
    "mremap": (25, 216),
    "mprotect": (10, 226),
    "madvise": (28, 233),
    "membarrier": (324, 283),
    # waiting
    "poll": (7, None),
    "ppoll": (271, 73),
    "select": (23, None),
    "pselect6": (270, 72),
    "epoll_create": (213, None),
    "epoll_create1": (291, 20),
    "epoll_ctl": (233, 21),
    "epoll_wait": (232, None),
    "epoll_pwait": (281, 22),
    "epoll_pwait2": (441, 441),
    "futex": (202, 98),
    "nanosleep": (35, 101),
    "clock_nanosleep": (230, 115),
    "restart_syscall": (219, 128),
    "sched_yield": (24, 124),
    # clocks, randomness, facts about itself
    "clock_gettime": (228, 113),
    "clock_getres": (229, 114),
    "gettimeofday": (96, 169),
    "time": (201, None),
    "times": (100, 153),
    "getrandom": (318, 278),
    "getpid": (39, 172),
    "getppid": (110, 173),
    "gettid": (186, 178),
    "getuid": (102, 174),
    "geteuid": (107, 175),
    "getgid": (104, 176),
    "getegid": (108, 177),
    "uname": (63, 160),
    "sysinfo": (99, 179),
    "getrusage": (98, 165),
    "getrlimit": (97, 163),
    "sched_getaffinity": (204, 123),
    "getcpu": (309, 168),
    # its own signals and its end
    "rt_sigaction": (13, 134),
    "rt_sigprocmask": (14, 135),
    "rt_sigreturn": (15, 139),
    "sigaltstack": (131, 132),
    "set_robust_list": (273, 99),
    "set_tid_address": (218, 96),
    "rseq": (334, 293),
    "exit": (60, 93),
    "exit_group": (231, 94),
}

_TO_ITSELF = {"kill": (62, 129), "tkill": (200, 130), "tgkill": (234, 131)}
_PRLIMIT = (302, 261)

# Commands that could signal others (F_SETOWN, F_SETSIG) or change files (FS_IOC_SETFLAGS) are not among these.
_COMMANDS: dict[str, tuple[tuple[int, int], tuple[int, ...]]] = {
    "fcntl": ((72, 25), (0, 1, 2, 3, 4, 1030)),  # F_DUPFD, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_DUPFD_CLOEXEC
    "ioctl": ((16, 29), (0x5401, 0x541B, 0x5421, 0x5450, 0x5451)),  # TCGETS, FIONREAD, FIONBIO, FIONCLEX, FIOCLEX
}

_libc = ctypes.CDLL(None, use_errno=True)


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def _instruction(code: int, k: int, yes: int = 0, no: int = 0) -> bytes:
    return struct.pack("=HBBI", code, yes, no, k)


def _argument_in(number: int, argument: int, values: tuple[int, ...]) -> list[bytes]:
    """Allow call `number` when the low half of an argument is one of the values, deny it otherwise."""
    test = [_instruction(_JUMP_EQUAL, value, yes=len(values) - index) for index, value in enumerate(values)]
    body = [_instruction(_LOAD, _ARGS_AT + 8 * argument), *test, _instruction(_RETURN, _DENY), _instruction(_RETURN, _ALLOW)]
    return [_instruction(_JUMP_EQUAL, number, no=len(body)), *body]


def program(machine: str, pid: int) -> bytes:
    """The filter for a process as BPF instructions.

    Args:
        machine: `x86_64` or `aarch64`.
        pid: the one process the filter lets it signal: itself.

    Raises:
        OSError: the architecture is not supported.
    """
    if machine not in _AUDIT_ARCH:
        raise OSError(errno.ENOSYS, f"no system-call filter for {machine}")
    column = 0 if machine == "x86_64" else 1
    allowed = [numbers[column] for numbers in _ALLOWED.values()]
    code = [
        _instruction(_LOAD, _ARCH_AT),
        _instruction(_JUMP_EQUAL, _AUDIT_ARCH[machine], yes=1),
        _instruction(_RETURN, _KILL),
        _instruction(_LOAD, _NUMBER_AT),
        # The x32 numbers share the architecture of x86_64 and would be a second way in.
        _instruction(_JUMP_AT_LEAST, _X32_BIT, no=1),
        _instruction(_RETURN, _DENY),
    ]
    for number in allowed:
        if number is not None:
            code += [_instruction(_JUMP_EQUAL, number, no=1), _instruction(_RETURN, _ALLOW)]
    for numbers in _TO_ITSELF.values():
        code += _argument_in(numbers[column], 0, (pid,))
    code += _argument_in(_PRLIMIT[column], 0, (0, pid))
    for numbers, commands in _COMMANDS.values():
        code += _argument_in(numbers[column], 1, commands)
    code.append(_instruction(_RETURN, _DENY))
    return b"".join(code)


def restrict() -> None:
    """Put the filter on the calling process, for good. It must be single-threaded and have `no_new_privs` set.

    Raises:
        OSError: the platform has no filters, or none for this architecture.
    """
    code = program(platform.machine(), os.getpid())
    loaded = _Program(len(code) // 8, code)
    if _libc.prctl(_PR_SET_SECCOMP, _MODE_FILTER, ctypes.byref(loaded), 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "seccomp was refused")
