"""What a sandbox process leaves on its evidence descriptor, collected as it is written."""

import asyncio
import os
from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter, ValidationError
from pydantic_core import from_json

from environments.runtime.errors import EnvironmentBug, MountError
from environments.runtime.pipes import LineReader
from environments.runtime.records import Call, JsonObject

# Far more than a rollout leaves, and little enough for the memory of the runner.
MAX_BYTES = 256 << 20

_STATES = TypeAdapter(dict[str, JsonObject])


class SandboxDied(Exception):
    """A sandbox ended before it told its final state.

    Attributes:
        calls: the calls it had made by then.
        isolation: layers of isolation that were missing.
    """

    def __init__(self, reason: str, calls: tuple[Call, ...], isolation: tuple[str, ...]) -> None:
        super().__init__(reason)
        self.calls = calls
        self.isolation = isolation


class IsolationIncomplete(Exception):
    """The sandbox was asked for with `require_full`, and the platform lacks a layer of isolation."""


@dataclass(frozen=True)
class SandboxEvidence:
    """What happened in one sandbox.

    Attributes:
        final_state: JSON state per environment.
        isolation: layers of isolation that were missing; empty when it was complete.
    """

    calls: tuple[Call, ...]
    final_state: dict[str, JsonObject]
    isolation: tuple[str, ...]


class EvidenceReader:
    """Reads the evidence of one sandbox in the background, so that the sandbox never waits for it.

    Attributes:
        calls: what was called so far.
        final_state: set when the sandbox ended in order.
        over: set when nothing more can come.
    """

    def __init__(self, descriptor: int) -> None:
        os.set_blocking(descriptor, False)
        self.calls: list[Call] = []
        self.isolation: tuple[str, ...] | None = None
        self.final_state: dict[str, JsonObject] | None = None
        self.over = asyncio.Event()
        self._problem: Exception | None = None
        self._task = asyncio.create_task(self._read(descriptor))

    async def _read(self, descriptor: int) -> None:
        lines = LineReader(descriptor)
        left = MAX_BYTES
        try:
            while (line := await lines.next()) is not None:
                left -= len(line)
                if left < 0:
                    raise ValueError(f"it is longer than {MAX_BYTES} bytes")
                self._take(line)
        except (ValueError, TypeError, KeyError, ValidationError) as error:
            # What it says is not trusted further: the code that wrote it may be broken or hostile.
            self.final_state = None
            self._problem = self._died(f"its evidence cannot be read: {error}")
        finally:
            os.close(descriptor)
            self.over.set()

    def _take(self, line: bytes) -> None:
        kind, data = from_json(line)
        if self.final_state is not None:
            raise ValueError(f"{kind!r} after the final state")
        match kind:
            case "call":
                self.calls.append(Call.model_validate(data))
            # The first was written before environment code ran; that code cannot take it back.
            case "isolation" if self.isolation is None:
                self.isolation = tuple(str(layer) for layer, _ in data)
            case "state":
                self.final_state = _STATES.validate_python(data)
            case "fatal":
                self._problem = EnvironmentBug(data)
            case "refused":
                self._problem = _refusal(data)
            case _ if kind != "ready":
                raise ValueError(f"unexpected {kind!r}")

    async def over_within(self, seconds: float) -> bool:
        """Wait until nothing more can come; whether that happened in time."""
        try:
            async with asyncio.timeout(seconds):
                await self.over.wait()
        except TimeoutError:
            return False
        return True

    def problem(self, reason: str) -> Exception:
        """Why there is no final state: what the sandbox said itself, else that it died for `reason`."""
        return self._problem or self._died(reason)

    def _died(self, reason: str) -> SandboxDied:
        return SandboxDied(reason, tuple(self.calls), self.isolation or ())

    def abandon(self) -> None:
        """Stop reading."""
        self._task.cancel()


def _refusal(data: dict[str, Any]) -> Exception:
    kinds: dict[str, type[Exception]] = {"MountError": MountError, "Refused": IsolationIncomplete}
    return kinds[data["error"]](data["message"])
