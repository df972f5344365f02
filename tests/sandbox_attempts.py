"""What hostile environment code could try, as functions of one text argument that say what they got.

They are run inside a real sandbox by the `read_desk` tool of a spoiled copy of the test library (see `sandbox_forks`).
"""

# Calls that return nothing are returned all the same: what matters is whether they raise.
# mypy: disable-error-code="func-returns-value"

import _thread
import ctypes
import fcntl
import mmap
import os
import resource
import shutil
import signal
import socket
import stat
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

libc = ctypes.CDLL(None, use_errno=True)

Attempt = Callable[[str], object]
DENIED: dict[str, Attempt] = {}
OTHER: dict[str, Attempt] = {}


def denied(attempt: Attempt) -> Attempt:
    DENIED[attempt.__name__] = attempt
    return attempt


def other(attempt: Attempt) -> Attempt:
    OTHER[attempt.__name__] = attempt
    return attempt


def perform(message: str) -> str:
    """Do what `<name> <argument>` says and tell what came of it."""
    name, _, argument = message.partition(" ")
    try:
        return f"got {(DENIED | OTHER)[name](argument)!r}"
    except (OSError, RuntimeError, ValueError) as error:
        return f"denied: {type(error).__name__}: {error}"


def syscall(number: int, *arguments: int) -> int:
    answer = int(libc.syscall(number, *(ctypes.c_long(argument) for argument in arguments)))
    if answer < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return answer


def open_descriptors() -> list[int]:
    found = []
    for number in range(1024):
        try:
            fcntl.fcntl(number, fcntl.F_GETFD)
        except OSError:
            continue
        found.append(number)
    return found


# --- files; the argument is a path -----------------------------------------------------------------------------------------


@denied
def read_file(path: str) -> object:
    return Path(path).read_bytes()


@denied
def list_folder(path: str) -> object:
    return os.listdir(path)  # noqa: PTH208


@denied
def create_file(path: str) -> object:
    return Path(path, "new").write_bytes(b"x")


@denied
def create_temporary(path: str) -> object:
    return Path("/tmp/left-behind").write_bytes(b"x")


@denied
def append_file(path: str) -> object:
    with Path(path).open("ab") as file:
        return file.write(b"x")


@denied
def truncate_file(path: str) -> object:
    return os.truncate(path, 0)


@denied
def delete_file(path: str) -> object:
    return Path(path).unlink()


@denied
def rename_file(path: str) -> object:
    return Path(path).rename(path + "2")


@denied
def link_file(path: str) -> object:
    return os.link(path, path + "2")


@denied
def make_folder(path: str) -> object:
    return Path(path, "new").mkdir()


@denied
def change_mode(path: str) -> object:
    return Path(path).chmod(0o777)


@denied
def change_owner(path: str) -> object:
    return os.chown(path, 1, 1)


@denied
def change_times(path: str) -> object:
    return os.utime(path, (0, 0))


@denied
def set_attribute(path: str) -> object:
    return os.setxattr(path, "user.seen", b"x")


# --- other processes; the argument is a process id -------------------------------------------------------------------------


@denied
def read_environ(pid: str) -> object:
    return Path(f"/proc/{pid}/environ").read_bytes()


@denied
def read_command_line(pid: str) -> object:
    return Path(f"/proc/{pid}/cmdline").read_bytes()


@denied
def read_memory(pid: str) -> object:
    buffer = ctypes.create_string_buffer(16)
    local = (ctypes.c_uint64 * 2)(ctypes.addressof(buffer), 16)
    answer = libc.process_vm_readv(int(pid), local, 1, local, 1, 0)
    if answer < 0:
        raise OSError(ctypes.get_errno(), "process_vm_readv")
    return answer


@denied
def trace(pid: str) -> object:
    if libc.ptrace(16, int(pid), None, None) < 0:  # PTRACE_ATTACH
        raise OSError(ctypes.get_errno(), "ptrace")
    return "attached"


@denied
def probe(pid: str) -> object:
    return os.kill(int(pid), 0)


@denied
def kill(pid: str) -> object:
    return os.kill(int(pid), signal.SIGKILL)


@denied
def kill_group(pid: str) -> object:
    return os.killpg(os.getpgid(int(pid)), 0)


@denied
def kill_all(pid: str) -> object:
    return os.kill(-1, signal.SIGKILL)


@denied
def kill_thread(pid: str) -> object:
    return syscall(234, int(pid), int(pid), signal.SIGKILL)


@denied
def kill_by_descriptor(pid: str) -> object:
    return signal.pidfd_send_signal(os.pidfd_open(int(pid)), signal.SIGKILL)


@denied
def own_its_signals(pid: str) -> object:
    return fcntl.fcntl(0, fcntl.F_SETOWN, int(pid))


@denied
def limit(pid: str) -> object:
    return resource.prlimit(int(pid), resource.RLIMIT_CPU, (1, 1))


@denied
def reprioritise(pid: str) -> object:
    return os.setpriority(os.PRIO_PROCESS, int(pid), 19)


@denied
def pin(pid: str) -> object:
    return os.sched_setaffinity(int(pid), {0})


# --- new processes and threads ---------------------------------------------------------------------------------------------


@denied
def fork(argument: str) -> object:
    return os.fork()


@denied
def fork_raw(argument: str) -> object:
    return syscall(57)


@denied
def clone_three(argument: str) -> object:
    return syscall(435, 0, 0)


@denied
def thread(argument: str) -> object:
    return _thread.start_new_thread(print, ())


@denied
def execute(argument: str) -> object:
    return os.execv("/bin/true", ["true"])


@denied
def spawn(argument: str) -> object:
    return os.posix_spawn("/bin/true", ["true"], {})


@denied
def run_program(argument: str) -> object:
    return subprocess.run(["/bin/true"], check=True)


# --- sockets; the argument is a port, a path or a name ---------------------------------------------------------------------


@denied
def connect_tcp(port: str) -> object:
    return socket.create_connection(("127.0.0.1", int(port)), timeout=2)


@denied
def send_udp(port: str) -> object:
    return socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", int(port)))


@denied
def resolve(name: str) -> object:
    return socket.getaddrinfo(name, 80)


@denied
def connect_unix(path: str) -> object:
    return socket.socket(socket.AF_UNIX).connect(path)


@denied
def connect_abstract(name: str) -> object:
    return socket.socket(socket.AF_UNIX).connect(f"\0{name}")


@denied
def socket_pair(argument: str) -> object:
    return socket.socketpair()


@denied
def send_descriptor(argument: str) -> object:
    own = next(number for number in open_descriptors() if stat.S_ISSOCK(os.fstat(number).st_mode))
    return socket.send_fds(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM, fileno=own), [b"x"], [1])


# --- getting out again -----------------------------------------------------------------------------------------------------


@denied
def raise_limit(argument: str) -> object:
    return resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


@denied
def outlive_parent(argument: str) -> object:
    if libc.prctl(1, 0, 0, 0, 0) < 0:
        raise OSError(ctypes.get_errno(), "prctl")
    return "detached"


@denied
def new_namespace(argument: str) -> object:
    if libc.unshare(0x10000000) < 0:
        raise OSError(ctypes.get_errno(), "unshare")
    return "unshared"


@denied
def mount_folder(argument: str) -> object:
    if libc.mount(b"none", b"/tmp", b"tmpfs", 0, None) < 0:
        raise OSError(ctypes.get_errno(), "mount")
    return "mounted"


@denied
def change_root(argument: str) -> object:
    return os.chroot("/tmp")


@denied
def become_other(argument: str) -> object:
    return os.setuid(1)


@denied
def shared_ring(argument: str) -> object:
    return syscall(425, 1, 0)  # io_uring would do file and socket work outside the filter


@denied
def load_program(argument: str) -> object:
    return syscall(321, 0, 0, 0)  # bpf


@denied
def old_numbers(argument: str) -> object:
    return syscall(0x40000000 + 39)  # getpid by its x32 number, which some filters forget


@denied
def shared_memory(argument: str) -> object:
    return syscall(29, 0x5EC2E7, 4096, 0o666 | 0o1000)  # shmget


@denied
def copy_tree(path: str) -> object:
    return shutil.copy(path, "/dev/shm/copy")


# --- what is allowed, and what ends the sandbox ----------------------------------------------------------------------------


@other
def descriptors(argument: str) -> object:
    return open_descriptors()


@other
def import_late(name: str) -> object:
    return __import__(name).__name__


@other
def take_memory(megabytes: str) -> object:
    try:
        return len(bytearray(int(megabytes) << 20))
    except MemoryError:
        return "no memory"


@other
def map_memory(megabytes: str) -> object:
    return len(mmap.mmap(-1, int(megabytes) << 20))


@other
def burn(seconds: str) -> object:
    while time.process_time() < float(seconds):
        pass
    return "burned"


@other
def burn_stubbornly(seconds: str) -> object:
    signal.signal(signal.SIGXCPU, signal.SIG_IGN)
    return burn(seconds)


@other
def sleep(seconds: str) -> object:
    return time.sleep(float(seconds))


@other
def sleep_deaf(seconds: str) -> object:
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    return time.sleep(float(seconds))


@other
def end(status: str) -> object:
    os._exit(int(status))


@other
def forge_evidence(line: str) -> object:
    return os.write(3, line.encode() + b"\n")


@other
def talk_nonsense(line: str) -> object:
    return os.write(1, line.encode() + b"\n")


@other
def say_much(size: str) -> object:
    return "ż" * int(size)
