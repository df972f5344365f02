"""The warm process that every sandbox is forked from.

It imports the runtime and the shipped environments once, then waits on a Unix socket. A request starts with one small message
(an operation, a token and descriptors); what follows on the connection, the mount and its states, is read by the fork only, so a
slow or broken client can hold up nobody. It never has a second thread and never runs environment code beyond importing it.

    run      stdin, stdout, evidence   fork a sandbox now
    offer    evidence                  keep a sandbox ready for whoever brings the token
    claim    stdin, stdout             fork the offered sandbox on these; the token is used up
    stop     (none)                    ask the sandbox under this token to end and tell its state

A sandbox lives no longer than the connection that ran or offered it: when that is closed it is killed. The zygote ends, and every
sandbox with it, when its standard input (a socket its owner holds) is closed.
"""

import asyncio
import gc
import json
import os
import select
import signal
import socket
import struct
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from environments.runtime import child, registry
from environments.runtime.isolation import library_files, prepare
from environments.runtime.records import Mount
from environments.runtime.sandbox import Sandbox
from environments.runtime.server import serve

TOKEN_BYTES = 32
HEADER_BYTES = 1 + TOKEN_BYTES
RUN, OFFER, CLAIM, STOP = b"R", b"O", b"C", b"S"
READY = b"ready\n"

_DESCRIPTORS = {RUN: 3, OFFER: 1, CLAIM: 2, STOP: 0}
_OWNER = 0


@dataclass
class _Peer:
    """One connection. `pid` is set once a sandbox runs for it, `evidence` while it only offers one."""

    connection: socket.socket
    token: bytes = b""
    evidence: int | None = None
    pid: int | None = None
    owns: bool = True

    def tell(self, **message: object) -> None:
        # A peer that left or does not read must not stop the others.
        with suppress(OSError):
            self.connection.send(json.dumps(message).encode() + b"\n", socket.MSG_DONTWAIT)


@dataclass
class Zygote:
    """The loop over connections, children and the owner."""

    listener: socket.socket
    broken: dict[str, str]
    ruleset: int | None
    peers: dict[int, _Peer] = field(default_factory=dict)

    def run(self) -> None:
        """Serve until the owner is gone, then kill what is left."""
        wake, notify = socket.socketpair()
        wake.setblocking(False)
        notify.setblocking(False)
        signal.set_wakeup_fd(notify.fileno())
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        self._poll = select.poll()
        self._poll.register(_OWNER, 0)
        self._poll.register(wake, select.POLLIN)
        self._poll.register(self.listener, select.POLLIN)
        while True:
            ready = {descriptor for descriptor, _ in self._poll.poll()}
            if _OWNER in ready:
                break
            if wake.fileno() in ready:
                wake.recv(4096)
                self._reap()
            for descriptor in ready & self.peers.keys():
                self._serve(self.peers[descriptor])
            # Last, so that a new connection cannot take the number of one that this round still has to look at.
            if self.listener.fileno() in ready:
                self._accept()
        signal.set_wakeup_fd(-1)  # children that end from here on must not write to sockets that are going away
        for pid in {peer.pid for peer in self.peers.values() if peer.pid is not None}:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)

    def _accept(self) -> None:
        connection, _ = self.listener.accept()
        if _peer_uid(connection) != os.getuid():
            connection.close()
            return
        self.peers[connection.fileno()] = _Peer(connection)
        self._poll.register(connection, select.POLLIN)

    def _serve(self, peer: _Peer) -> None:
        """A connection brought its request, or was closed by the other side."""
        if peer.token:
            self._hung_up(peer)
            return
        try:
            header, received, _, _ = socket.recv_fds(peer.connection, HEADER_BYTES, 3, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return
        except OSError:
            self._drop(peer)
            return
        operation, peer.token = header[:1], header[1:]
        if len(header) != HEADER_BYTES or len(received) != _DESCRIPTORS.get(operation, -1):
            error = "the request is malformed"
        elif operation == RUN:
            error = self._fork(peer, peer, *received)
        elif operation == OFFER:
            error = self._offer(peer, received.pop())
        elif operation == CLAIM:
            error = self._claim(peer, *received)
        else:
            error = self._stop(peer)
        for descriptor in received:
            os.close(descriptor)
        if error:
            peer.tell(error=error)
        if error or operation == STOP:
            self._drop(peer)
        else:
            # From now on only its closing matters; what it still has to say is for the child.
            self._poll.modify(peer.connection, 0)

    def _offer(self, peer: _Peer, evidence: int) -> str:
        peer.evidence = evidence
        peer.tell(offered=True)
        return ""

    def _claim(self, guest: _Peer, stdin: int, stdout: int) -> str:
        owner = self._holder(guest)
        if owner is None or owner.evidence is None:
            return "nothing is offered under this token"
        evidence, owner.evidence = owner.evidence, None
        error = self._fork(owner, guest, stdin, stdout, evidence)
        os.close(evidence)
        return error

    def _stop(self, peer: _Peer) -> str:
        owner = self._holder(peer)
        if owner is None or owner.pid is None:
            return "nothing runs under this token"
        os.kill(owner.pid, signal.SIGTERM)
        peer.tell(stopped=True)
        return ""

    def _holder(self, other: _Peer) -> _Peer | None:
        return next((peer for peer in self.peers.values() if peer.token == other.token and peer.owns and peer is not other), None)

    def _fork(self, owner: _Peer, guest: _Peer, stdin: int, stdout: int, evidence: int) -> str:
        parent = os.getpid()
        # The child unblocks it once it can end in order.
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
        try:
            pid = os.fork()
        except OSError as error:
            return f"cannot fork: {error}"
        finally:
            if os.getpid() == parent:
                signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGTERM})
        if pid == 0:
            child.run(child.Descriptors(stdin, stdout, evidence, owner.connection.fileno(), self.ruleset), parent, self.broken)
        guest.owns = guest is owner
        for peer in {id(owner): owner, id(guest): guest}.values():
            peer.pid = pid
            peer.tell(pid=pid)
        return ""

    def _hung_up(self, peer: _Peer) -> None:
        if peer.pid is not None:
            os.kill(peer.pid, signal.SIGKILL if peer.owns else signal.SIGTERM)
        self._drop(peer)

    def _reap(self) -> None:
        with suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0] != 0:
                pid, status = ended
                for peer in [peer for peer in self.peers.values() if peer.pid == pid]:
                    peer.tell(exit=os.waitstatus_to_exitcode(status))
                    self._drop(peer)

    def _drop(self, peer: _Peer) -> None:
        self._poll.unregister(peer.connection)
        del self.peers[peer.connection.fileno()]
        peer.connection.close()
        if peer.evidence is not None:
            os.close(peer.evidence)


def _peer_uid(connection: socket.socket) -> int:
    if not hasattr(socket, "SO_PEERCRED"):
        # The private directory of the socket is then the only guard.
        return os.getuid()
    _, uid, _ = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i")))
    return int(uid)


def _import_environments() -> dict[str, str]:
    """Import every shipped environment. Returns the ones that failed: only rollouts that mount them are refused."""
    broken = {}
    for name in registry.names():
        try:
            registry.load(name)
        except Exception as error:
            broken[name] = f"{type(error).__name__}: {error}"
    return broken


def _warm_up() -> None:
    """Serve one session on an empty mount, so that what is imported or built on first use is there before the first fork."""
    requests = (
        {
            "id": 0,
            "method": "initialize",
            "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "w", "version": "0"}},
        },
        {"method": "notifications/initialized"},
        {"id": 1, "method": "tools/list"},
        {"id": 2, "method": "tools/call", "params": {"name": "nothing", "arguments": {}}},
    )
    incoming, asking = os.pipe()
    answers, outgoing = os.pipe()
    os.write(asking, b"".join(json.dumps({"jsonrpc": "2.0", **request}).encode() + b"\n" for request in requests))
    os.close(asking)
    asyncio.run(serve(Sandbox(Mount(environments=()), {}), incoming, outgoing, lambda call: None))
    for descriptor in (incoming, answers, outgoing):
        os.close(descriptor)


def main(path: str) -> None:
    """Warm up, listen on a socket at `path`, and serve until the owner is gone. The folder of the socket is removed at the end."""
    owner = socket.socket(fileno=os.dup(_OWNER))
    try:
        broken = _import_environments()
        _warm_up()
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listener.bind(path)
        listener.listen(128)
        ruleset = prepare(library_files())
    except Exception as error:
        owner.send(f"{type(error).__name__}: {error}\n".encode())
        sys.exit(1)
    # Forks share these pages for as long as the collector leaves them alone.
    gc.collect()
    gc.freeze()
    try:
        with owner:
            owner.send(READY)
        Zygote(listener, broken, ruleset).run()
    except BrokenPipeError:
        return  # The owner did not wait.
    finally:
        Path(path).unlink(missing_ok=True)
        with suppress(OSError):
            Path(path).parent.rmdir()
