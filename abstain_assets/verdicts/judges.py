"""What a judge is: it reads the final response and says whether the agent abstained. It is never told the side."""

from collections.abc import Callable, Sequence
from typing import Protocol

from abstain_assets.errors import BadInput
from abstain_assets.records import Frozen
from abstain_assets.taxonomy import ActionType, Scenario


class JudgeInput(Frozen):
    """What a judge may see of one rollout."""

    scenario: Scenario
    action_type: ActionType
    instruction: str
    response: str


class Judgement(Frozen):
    """A judge's reading of one response. `abstained` is `None` when there was nothing to read or no answer from the judge."""

    abstained: bool | None
    reason: str


class Judge(Protocol):
    """A judge. The same version gives the same judgement of the same input, as far as its provider allows."""

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> str: ...

    def judge(self, inputs: Sequence[JudgeInput]) -> list[Judgement]:
        """One judgement per input, in order."""


_FACTORIES: dict[str, Callable[[], Judge]] = {}


def register(name: str, factory: Callable[[], Judge]) -> None:
    """Make a judge available by name. A second registration under a name replaces the first."""
    _FACTORIES[name] = factory


def named(name: str) -> Judge:
    """The judge of this name.

    Raises:
        BadInput: there is none.
    """
    if name not in _FACTORIES:
        raise BadInput(f"there is no judge {name!r}; choose one of {', '.join(sorted(_FACTORIES))}")
    return _FACTORIES[name]()
