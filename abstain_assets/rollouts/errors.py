"""Errors of the rollouts stage.

AbstainError
├── CellBusy       another process works on the same cell
├── CellStopped    going on with a cell makes no sense; what is finished is kept
└── ModelsStopped  some models of a run could not be finished; the others were
Exception
└── RunFailed      one run has no verdict; it becomes evidence with an error kind

What stopped a cell or a run is often told in a provider's words, which may quote the key; it is redacted here for every harness.
"""

from collections.abc import Mapping
from typing import Literal

from abstain_assets.errors import AbstainError, Incomplete
from abstain_assets.records import ErrorKind
from resources.secrets import redact

StopReason = Literal["auth", "quota", "configuration", "unreachable", "sandbox", "budget", "interrupted"]


class CellBusy(AbstainError):
    """Another process holds the lock of a cell."""


class CellStopped(AbstainError):
    """Every further run of a cell would fail in the same way: a wrong key, no money, no endpoint."""

    def __init__(self, reason: StopReason, message: str) -> None:
        super().__init__(redact(message))
        self.reason = reason


class ModelsStopped(Incomplete):
    """Models that could not be finished, each with its reason."""

    def __init__(self, reasons: Mapping[str, AbstainError]) -> None:
        super().__init__("; ".join(f"{model}: {reason}" for model, reason in reasons.items()))


class RunFailed(Exception):
    """One run ended without a verdict. Raised where the failure happens, so its kind is never guessed from a text."""

    def __init__(self, kind: ErrorKind, message: str) -> None:
        super().__init__(redact(message))
        self.kind = kind
