"""What the proxy has to know of a protocol: what requests show, what replies say, how the key travels, and what errors mean."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import httpx2

from abstain_assets.records import ToolRequest
from abstain_assets.rollouts.errors import CellStopped, RunFailed
from environments.runtime.records import JsonObject
from resources.models import ModelSpec


class NoRequest(Exception):
    """What a client sent is no request of the protocol."""


@dataclass(frozen=True)
class Shown:
    """What a request shows the model.

    Attributes:
        texts: of system and user messages, in order.
        tools: names of the tools offered.
        results: ids and texts of the tool results so far, in order.
    """

    texts: tuple[str, ...]
    tools: frozenset[str]
    results: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Said:
    """A reply of the model.

    Attributes:
        failure: set where the reply is no answer: a refusal, or nothing at all.
    """

    text: str
    asked: tuple[ToolRequest, ...]
    input_tokens: int
    output_tokens: int
    failure: RunFailed | None


class Wire(Protocol):
    """One protocol.

    Attributes:
        path: below the base address, where the model is asked.
        key_headers: names of all headers in which a client may send a key.
    """

    path: str
    key_headers: frozenset[str]

    def key_of(self, headers: Mapping[str, str]) -> str | None:
        """The key a client sent."""
        ...

    def with_key(self, key: str | None) -> dict[str, str]:
        """The headers that carry the key."""
        ...

    def shown(self, body: Any) -> Shown:
        """What a request shows.

        Raises:
            NoRequest: it is none.
        """
        ...

    def said(self, response: httpx2.Response) -> Said:
        """What a reply says, whole or streamed.

        Raises:
            Exception: it is no complete reply. The error is transient.
        """
        ...

    def error(self, message: str) -> JsonObject:
        """The body of a 400, which no client sends again."""
        ...

    def refused(self, response: httpx2.Response) -> Exception:
        """The error that an answer without success is."""
        ...

    def broken(self, request: httpx2.Request, error: Exception) -> Exception:
        """The error that a broken connection or a wait without end is, with its cause set."""
        ...

    def transient(self, error: BaseException) -> bool:
        """Whether sending the same request again may succeed."""
        ...

    def wait_hint(self, error: BaseException) -> float | None:
        """Seconds the server asked to wait."""
        ...

    def explain(self, error: Exception, spec: ModelSpec, key: str | None, attempts: int) -> RunFailed | CellStopped:
        """The failure that an error amounts to."""
        ...


def error_body(response: httpx2.Response) -> object:
    """The body of an answer without success: JSON where it is that, else the beginning of the text."""
    try:
        return response.json()
    except ValueError:
        return response.text[:500]
