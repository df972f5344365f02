"""Run a program that must not outlive the process that started it, however that ends: `python -I -S launch.py <pid> <program> ...`.

Args of the command line: the pid of the starting process, then the program and its own arguments.
"""

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1


def main(parent: int, program: list[str]) -> None:
    """Become the program, to be killed by the kernel when the parent dies (on Linux; elsewhere it has to notice by itself)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() == parent:
        os.execv(program[0], program)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
