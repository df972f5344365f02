"""The process of one rollout: it shuts itself in, mounts the sandbox, serves it, and leaves its evidence on its own descriptor.

Evidence is lines of JSON, each `[kind, data]`:

    ["isolation", [[layer, reason], ...]]   before any environment code runs; empty when complete
    ["ready", null]                         the sandbox is mounted
    ["refused", {"error", "message"}]       instead of "ready"
    ["call", {...}]                         a `Call`, before the agent gets the answer
    ["fatal", message]                      an environment broke its contract; nothing follows
    ["state", {environment: {...}}]         the final state; nothing follows
"""

import asyncio
import json
import os
import signal
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NoReturn

from pydantic import JsonValue, ValidationError

from environments.runtime.errors import EnvironmentBug, MountError
from environments.runtime.isolation import isolate, keep_only
from environments.runtime.records import Call
from environments.runtime.sandbox import Sandbox
from environments.runtime.server import SandboxSpec, explain, serve

_STDIN, _STDOUT, _EVIDENCE, _REQUEST, _RULESET = 0, 1, 3, 4, 5
LENGTH_BYTES = 8


class Request(SandboxSpec):
    """What one rollout asks for.

    Attributes:
        require_full: refuse to run where isolation is incomplete.
    """

    require_full: bool = False


class Refused(Exception):
    """The sandbox was not started."""


@dataclass(frozen=True)
class Descriptors:
    """What the process is given: its three descriptors, a connection to read the request from, the Landlock ruleset."""

    stdin: int
    stdout: int
    evidence: int
    request: int
    ruleset: int | None


def run(descriptors: Descriptors, parent: int, broken: Mapping[str, str]) -> NoReturn:
    """Be a sandbox process from here on, then end. To be called right after the fork.

    Args:
        descriptors: everything else is closed.
        parent: id of the process that forked this one; the sandbox does not outlive it.
        broken: environments that could not be imported, with the reason.
    """
    status = 1
    try:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        null = os.open(os.devnull, os.O_RDWR)
        given = [descriptors.stdin, descriptors.stdout, null, descriptors.evidence, descriptors.request]
        ruleset = None if descriptors.ruleset is None else _RULESET
        keep_only(*given, *([] if descriptors.ruleset is None else [descriptors.ruleset]))
        request = _read_request()
        # Made before the filter shuts sockets: the loop wakes itself through a pair of them.
        loop = asyncio.new_event_loop()
        status = _run_isolated(request, loop, ruleset, parent, broken)
    except BaseException as error:
        _tell("fatal", f"{type(error).__name__}: {error}")
    finally:
        os._exit(status)


def _run_isolated(
    request: bytes, loop: asyncio.AbstractEventLoop, ruleset: int | None, parent: int, broken: Mapping[str, str]
) -> int:
    level = isolate(ruleset)
    if os.getppid() != parent:
        return 1  # It ended before the kernel was told to end this process with it.
    if ruleset is not None:
        os.close(ruleset)
    _tell("isolation", [list(entry) for entry in level.missing])
    try:
        sandbox = _mount(request, level.full, str(level), broken)
    except (MountError, Refused) as error:
        _tell("refused", {"error": type(error).__name__, "message": str(error)})
        return 1
    _tell("ready", None)
    try:
        loop.run_until_complete(_serve(sandbox))
    except EnvironmentBug as error:
        _tell("fatal", str(error))
        return 1
    _tell("state", sandbox.state())
    return 0


def _read_request() -> bytes:
    with socket.socket(fileno=_REQUEST) as connection, connection.makefile("rb") as stream:
        length = int.from_bytes(stream.read(LENGTH_BYTES), "big")
        return stream.read(length)


def _mount(data: bytes, full: bool, level: str, broken: Mapping[str, str]) -> Sandbox:
    try:
        request = Request.model_validate_json(data)
    except ValidationError as error:
        raise MountError(f"the request is not valid: {explain(error)}") from error
    if request.require_full and not full:
        raise Refused(f"this platform cannot isolate a sandbox completely ({level})")
    for name in request.mount.environments:
        if name in broken:
            raise MountError(f"environment {name} cannot be imported: {broken[name]}")
    return request.build()


async def _serve(sandbox: Sandbox) -> None:
    serving = asyncio.ensure_future(serve(sandbox, _STDIN, _STDOUT, lambda call: _tell("call", _plain(call))))
    # The zygote asks for the end by SIGTERM where a client left without closing its pipe. It was blocked until now.
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, serving.cancel)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
    await asyncio.wait({serving})
    if not serving.cancelled() and (error := serving.exception()) is not None:
        raise error


def _plain(call: Call) -> JsonValue:
    plain: JsonValue = call.model_dump(mode="json")
    return plain


def _tell(kind: str, data: object) -> None:
    rest = memoryview(json.dumps([kind, data], ensure_ascii=False, separators=(",", ":")).encode() + b"\n")
    while rest:
        rest = rest[os.write(_EVIDENCE, rest) :]
