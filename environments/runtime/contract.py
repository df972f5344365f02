"""The environment contract: typed state, typed tools, declared effects.

An environment is a class with a state type and methods marked `@lookup`, `@verify` or `@commit`:

    class Library(Environment[LibraryState]):
        name = "library"
        summary = "Books, members and loans of one library."
        state_type = LibraryState

        @lookup()
        def find_book(self, title: str) -> BookList: ...

Records are immutable values kept in maps by id. A tool changes the state only by putting a new record in place of an old one, so
taking a snapshot is copying references and a failed call can always be undone exactly.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, ClassVar, Generic, Self, TypeVar

from pydantic import BaseModel, ConfigDict

from environments.runtime.effects import EffectDecl
from environments.runtime.errors import EnvironmentBug
from environments.runtime.records import JsonObject, ToolKind
from environments.runtime.schemas import ToolSignature, read_signature

F = TypeVar("F", bound=Callable[..., Any])


class Record(BaseModel):
    """One thing in the state. Immutable: use scalars, `date`, `datetime`, tuples and other records as field types."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Result(BaseModel):
    """What a tool returns. `None` fields are left out of the answer."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class State(BaseModel):
    """Base of every environment's state: maps of records by id, single records, and the clock.

    Attributes:
        now: the environment's local time; the host clock is never read.
        counters: last number given out per kind of id.
    """

    model_config = ConfigDict(extra="forbid", validate_assignment=False)

    now: datetime
    counters: dict[str, int] = {}

    def dump(self) -> JsonObject:
        return self.model_dump(mode="json")


@dataclass(frozen=True)
class Tool:
    """A tool method and what was declared about it."""

    name: str
    kind: ToolKind
    function: Callable[..., Result]
    signature: ToolSignature
    effects: tuple[EffectDecl, ...]


_MARK = "__abstain_tool__"


def _mark(kind: ToolKind, effects: tuple[EffectDecl, ...]) -> Callable[[F], F]:
    def decorate(function: F) -> F:
        setattr(function, _MARK, (kind, effects))
        return function

    return decorate


def lookup(*discloses: EffectDecl) -> Callable[[F], F]:
    """Mark a tool that reads. Effects, if any, are disclosures: they happen without a change of state."""
    return _mark(ToolKind.LOOKUP, discloses)


def verify() -> Callable[[F], F]:
    """Mark a tool that compares the values it is given with the records and says what it compared."""
    return _mark(ToolKind.VERIFY, ())


def commit(*effects: EffectDecl) -> Callable[[F], F]:
    """Mark a tool that changes the state, with every effect it may have."""
    return _mark(ToolKind.COMMIT, effects)


S = TypeVar("S", bound=State)


class Environment(Generic[S]):
    """Base class of all environments. One instance serves one rollout."""

    name: ClassVar[str]
    summary: ClassVar[str]
    state_type: ClassVar[type[State]]
    tools: ClassVar[dict[str, Tool]]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        tools = {}
        for attribute, member in vars(cls).items():
            if mark := getattr(member, _MARK, None):
                kind, effects = mark
                signature = read_signature(member)
                tool = Tool(name=attribute, kind=kind, function=member, signature=signature, effects=effects)
                _check_declaration(cls, tool)
                tools[attribute] = tool
        cls.tools = tools

    def __init__(self, state: S) -> None:
        self.state = state

    @classmethod
    def load(cls, data: JsonObject) -> Self:
        """Build an instance from a JSON state. Raises pydantic's ValidationError with the path of a bad field."""
        return cls(cls.state_type.model_validate(data))  # type: ignore[arg-type]

    @classmethod
    def example_state(cls) -> State:
        """A small realistic state on which every docstring example holds."""
        raise EnvironmentBug(f"{cls.__name__} must define example_state()")

    @property
    def today(self) -> date:
        return self.state.now.date()

    def next_id(self, kind: str, prefix: str, start: int = 1001) -> str:
        """The next id of a kind: `prefix` plus a counter kept in the state."""
        number = self.state.counters.get(kind, start - 1) + 1
        self.state.counters[kind] = number
        return f"{prefix}{number}"


def _check_declaration(cls: type[Environment[Any]], tool: Tool) -> None:
    where = f"{cls.__name__}.{tool.name}"
    if tool.kind is ToolKind.COMMIT and not tool.effects:
        raise EnvironmentBug(f"{where} is a commit tool without declared effects")
    for decl in tool.effects:
        known = tool.signature.parameters
        unknown = [name for name in (*decl.arguments, *decl.when) if name not in known]
        if unknown:
            raise EnvironmentBug(f"{where}: effect {decl.kind} mentions unknown arguments {unknown}")
