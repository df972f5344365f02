"""What all model protocols have in common, so that one suite can test every harness over the protocol it speaks.

A test says what the model does in neutral terms (`Says`, `Fails`, `Broken`), and reads what the model was sent in neutral terms
(`Seen`). A dialect turns both into the wire format of one protocol.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol

from tests.servers.stub import Body, Received, Reply, StubServer


@dataclass(frozen=True)
class Says:
    """A reply of the model: a text, tool calls, or both.

    Attributes:
        calls: name and arguments of each tool call, as an object or, where the protocol carries text, as raw text.
        ending: `filtered` and `refused` are the protocol's own ways to say so.
        usage: tokens in and out.
    """

    text: str | None = None
    calls: tuple[tuple[str, Any], ...] = ()
    ending: Literal["normal", "filtered", "refused"] = "normal"
    usage: tuple[int, int] = (100, 10)


@dataclass(frozen=True)
class Fails:
    """An error in the protocol's own shape."""

    status: int
    text: str = "the stub failed"
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Broken:
    """A good reply that does not arrive as one.

    Attributes:
        how: `reset` before anything, `reset_midway` in mid-stream, `truncated`, `not_json`, or `slow` (it comes after `seconds`).
    """

    how: Literal["reset", "reset_midway", "truncated", "not_json", "slow"]
    seconds: float = 0.0


Turn = Says | Fails | Broken


@dataclass(frozen=True)
class Seen:
    """One request in neutral terms.

    Attributes:
        system: every system text, in order.
        user: every user text, in order.
        tools: name, description and schema of every tool offered.
        replies: replies of the model that the conversation holds; tool calls asked for in one go are one reply.
        asked: ids, names and arguments of the tool calls the conversation holds.
        results: ids and texts of the tool results it holds, in order.
        settings: everything else in the body.
    """

    model: str
    system: tuple[str, ...]
    user: tuple[str, ...]
    tools: tuple[tuple[str, str, Body], ...]
    replies: int
    asked: tuple[tuple[str, str, Any], ...]
    results: tuple[tuple[str, str], ...]
    settings: Body


class Dialect(Protocol):
    """One protocol on the wire.

    Attributes:
        name: for test ids.
        base: what follows the server's origin in a model file's `base_url`.
        carries_text: whether arguments of tool calls travel as text, which need not be JSON.
    """

    name: str
    base: str
    carries_text: bool

    def serves(self, request: Received) -> bool:
        """Whether the request asks the model for a reply. Others get 404."""
        ...

    def key(self, request: Received) -> str | None:
        """The key it came with."""
        ...

    def seen(self, request: Received) -> Seen:
        """The request in neutral terms.

        Raises:
            AssertionError: it holds something these terms have no place for.
        """
        ...

    def says(self, said: Says, request: Received) -> Reply:
        """A reply of the model, streamed where the request asks for it. Ids of tool calls are unique within a conversation."""
        ...

    def fails(self, failure: Fails) -> Reply:
        """An error."""
        ...


Script = Callable[[Seen], Turn]
FINE = Says("Done.")


def in_turn(*turns: Turn) -> Script:
    """One reply after another within a conversation; the last one repeats. Failures do not count as replies, so they repeat."""
    return lambda seen: turns[min(seen.replies, len(turns) - 1)]


def in_order(*turns: Turn) -> Script:
    """One reply after another over all requests; the last one repeats."""
    rest = list(turns)
    return lambda seen: rest.pop(0) if len(rest) > 1 else rest[0]


class ModelServer(StubServer):
    """A server that speaks a dialect.

    Attributes:
        received: all requests; `asked` those that asked the model.

    Args:
        key: every other key is refused with 401, and quoted, as providers do.
    """

    def __init__(self, dialect: Dialect, script: Script, key: str | None = None) -> None:
        super().__init__(self._reply)
        self.dialect = dialect
        self.script = script
        self._key = key

    @property
    def url(self) -> str:
        return self.origin + self.dialect.base

    @property
    def asked(self) -> list[Received]:
        return [request for request in list(self.received) if self.dialect.serves(request)]

    def _reply(self, request: Received) -> Reply:
        dialect = self.dialect
        if not dialect.serves(request):
            return dialect.fails(Fails(404, f"unknown path {request.path}"))
        if self._key is not None and dialect.key(request) != self._key:
            return dialect.fails(Fails(401, f"this key is not valid: {dialect.key(request)}"))
        match self.script(dialect.seen(request)):
            case Says() as said:
                return dialect.says(said, request)
            case Fails() as failure:
                return dialect.fails(failure)
            case Broken(how="not_json"):
                return replace(dialect.says(FINE, request), payload=b"{nope", headers={})
            case Broken(how="slow", seconds=seconds):
                return replace(dialect.says(FINE, request), delay=seconds)
            case Broken(how=how):
                return replace(dialect.says(FINE, request), wire=how)
