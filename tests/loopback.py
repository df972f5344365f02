"""A network that ends at this machine, in which harnesses run while every packet that would have left is written down.

`unshare -rn python -m tests.loopback watch <folder> <setup>...` makes all addresses local ones, answers all name lookups, and runs
`python -m tests.loopback run <folder> <setup>...` inside. It prints what each setup tried, as one JSON object.
"""

import contextlib
import ipaddress
import json
import os
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from queue import SimpleQueue
from typing import TextIO

UNAVAILABLE = 77  # exit code where the platform lacks something; stderr says what
CONTROL = "control"
AFTERWARDS = "afterwards"
_DNS = 53
_MARK = ("198.19.0.1", 9)
_PACKET_STATISTICS, _SOL_PACKET = 6, 263
_EVERY_PROTOCOL = 3
# With keys at hand, whatever reports to its maker would do so.
_KEYS = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY", "GEMINI_API_KEY")


@dataclass
class Outcome:
    """What became of one setup's rollouts.

    Attributes:
        attempts: everything that would have left, in words.
        problem: why a rollout did not succeed, if one did not.
    """

    attempts: list[str] = field(default_factory=list)
    problem: str | None = None


class Watch:
    """Sees every packet of the network, and answers name lookups with an address for each name, so that attempts have names."""

    def __init__(self) -> None:
        self._packets = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(_EVERY_PROTOCOL))
        self._names: dict[str, str] = {}
        self._seen: SimpleQueue[str | None] = SimpleQueue()
        threading.Thread(target=self._sniff, daemon=True).start()
        threading.Thread(target=self._answer, args=(_any_address(_DNS),), daemon=True).start()

    def attempts(self) -> list[str]:
        """What was tried since the last time, once each."""
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as mark:
            mark.sendto(b"", _MARK)
        found = list(dict.fromkeys(iter(lambda: self._seen.get(timeout=10), None)))
        _, dropped = struct.unpack("II", self._packets.getsockopt(_SOL_PACKET, _PACKET_STATISTICS, 8))
        return found + (["packets that were not seen"] if dropped else [])

    def _sniff(self) -> None:
        while True:
            data, sender = self._packets.recvfrom(1 << 16)
            if sender[2] != socket.PACKET_OUTGOING and (said := self._describe(data)) is not None:
                self._seen.put(said or None)

    def _describe(self, packet: bytes) -> str | None:
        """What a packet is after: `None` if that is nobody's business, empty for the mark."""
        if packet[0] >> 4 == 4:
            protocol, target, body = packet[9], ipaddress.ip_address(packet[16:20]), packet[4 * (packet[0] & 15) :]
        else:
            protocol, target, body = packet[6], ipaddress.ip_address(packet[24:40]), packet[40:]
        if protocol not in (socket.IPPROTO_TCP, socket.IPPROTO_UDP):
            return None
        sender, port = struct.unpack("!HH", body[:4])
        if protocol == socket.IPPROTO_UDP and port == _DNS:
            return f"looks up {_question(body[8:])}"
        if target.is_loopback or sender == _DNS or (protocol == socket.IPPROTO_TCP and body[13] & 0x12 != 0x02):
            return None
        if (str(target), port) == _MARK:
            return ""
        verb = "connects to" if protocol == socket.IPPROTO_TCP else "sends to"
        return f"{verb} {self._names.get(str(target), str(target))}:{port}"

    def _answer(self, server: socket.socket) -> None:
        while True:
            query, client = server.recvfrom(4096)
            name = _question(query)
            asked_for_address = query[12:].split(b"\0", 1)[1][:2] == b"\0\1"
            address = next((known for known, owner in self._names.items() if owner == name), f"198.18.0.{len(self._names) + 1}")
            self._names[address] = name
            question = query[12 : 12 + query[12:].index(0) + 5]
            record = b"\xc0\x0c\0\1\0\1\0\0\0\1\0\4" + socket.inet_aton(address)
            header = query[:2] + struct.pack("!5H", 0x8180, 1, int(asked_for_address), 0, 0)
            server.sendto(header + question + (record if asked_for_address else b""), client)


def _question(query: bytes) -> str:
    """The name that a lookup asks for."""
    labels, rest = [], query[12:]
    while rest and rest[0]:
        labels.append(rest[1 : 1 + rest[0]].decode(errors="replace"))
        rest = rest[1 + rest[0] :]
    return ".".join(labels)


def _any_address(port: int) -> socket.socket:
    try:
        server = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
        server.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        server.bind(("::", port))
    except OSError:  # no IPv6 here
        server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        server.bind(("0.0.0.0", port))
    return server


def watch(folder: Path, setups: list[str]) -> dict[str, Outcome]:
    """Run the setups one after another and keep what each tried, what the control tried, and what came after the last one."""
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    subprocess.run(["ip", "route", "add", "local", "0.0.0.0/0", "dev", "lo"], check=True)
    subprocess.run(["ip", "-6", "route", "add", "local", "::/0", "dev", "lo"], check=False, stderr=subprocess.DEVNULL)
    seen = Watch()
    command = [sys.executable, "-m", "tests.loopback", "run", str(folder), *setups]
    environment = {name: os.environ[name] for name in ("PATH", "LANG", "ABSTAIN_OPENCLAW") if name in os.environ}
    environment |= {"HOME": str(folder), **dict.fromkeys(_KEYS, "sk-not-a-key")}
    outcomes: dict[str, Outcome] = {}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        for line in running.stdout:
            name, problem = json.loads(line)
            outcomes[name] = Outcome(seen.attempts(), problem)
    outcomes[AFTERWARDS] = Outcome(seen.attempts(), f"it ended with {running.returncode}" if running.returncode else None)
    return outcomes


def run(folder: Path, setups: list[str]) -> Iterator[tuple[str, str | None]]:
    """Try to leave as a control, then run one pair under each setup: its name, and what went wrong."""
    for address in (("somewhere.example", 443), ("192.0.2.1", 4317)):
        with contextlib.suppress(OSError):
            socket.create_connection(address, timeout=5).close()
    yield CONTROL, None

    from abstain_assets.taxonomy import Scenario
    from tests import harnesses
    from tests.builders_rollouts import Lab, pairs_of
    from tests.servers.dialects import FINE, Says, in_turn

    pair = pairs_of(Scenario.CRITICAL_TOOL_FAILURE)[0]
    lab = Lab()
    for setup in (item for item in harnesses.SETUPS + harnesses.OPTIONAL_SETUPS if item.id in setups):
        call = (setup.shown("retail_orders__find_customer"), {"name": "Nobody"})
        ran = harnesses.run(setup, lab, folder / setup.id, [pair], in_turn(Says(calls=(call,)), FINE))
        failed = [item.error_message for item in ran.rollouts if not item.usable or len(item.calls) != 1]
        yield setup.id, str(ran.result.stopped or "; ".join(failed)) if ran.result.stopped or failed else None
    lab.close()


def main(mode: str, folder: Path, setups: list[str], out: TextIO) -> int:
    """Watch or run; see the module."""
    if mode == "run":
        for outcome in run(folder, setups):
            print(json.dumps(outcome), file=out, flush=True)
        return 0
    try:
        outcomes = watch(folder, setups)
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"no network of its own can be had here: {error}", file=sys.stderr)
        return UNAVAILABLE
    print(json.dumps({name: asdict(outcome) for name, outcome in outcomes.items()}), file=out)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2]), sys.argv[3:], sys.stdout))
