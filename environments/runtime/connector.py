"""What a foreign harness starts as its stdio server: it hands its own stdin and stdout to the zygote and ends with the sandbox.

It imports nothing but the standard library's core, so that starting it costs next to nothing. The socket and the one-time token
come from the environment, because command lines are public.
"""

import array
import json
import os
import socket
import sys

SOCKET, TOKEN = "SANDBOX_SOCKET", "SANDBOX_TOKEN"


def main() -> int:
    """Connect and wait. Returns the exit code of the sandbox, or 1 with a message on stderr."""
    try:
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        connection.connect(os.environ[SOCKET])
        descriptors = array.array("i", (0, 1))
        header = b"C" + os.environ[TOKEN].encode()
        connection.sendmsg([header], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, descriptors)])
    except (KeyError, OSError) as error:
        print(f"no sandbox to connect to: {error!r}", file=sys.stderr)
        return 1
    # The sandbox has its own copies: the harness must see them close when the sandbox ends, not when this process does.
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    for line in connection.makefile("rb"):
        answer = json.loads(line)
        if "error" in answer:
            print(answer["error"], file=sys.stderr)
        if "exit" in answer:
            return min(abs(int(answer["exit"])), 255)
    return 1


if __name__ == "__main__":
    sys.exit(main())
