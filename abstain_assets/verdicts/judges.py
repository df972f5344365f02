"""What a judge is: it reads the final response and says whether the agent abstained. It is never told the side.

Embedded judges are found here by name; language models as judges are in `resources/judge.py`.
"""

from collections.abc import Callable, Sequence
from typing import Protocol

from abstain_assets.errors import BadInput
from abstain_assets.records import Frozen, Usage
from abstain_assets.taxonomy import ActionType, Scenario


class JudgeInput(Frozen):
    """What a judge may see of one rollout."""

    scenario: Scenario
    action_type: ActionType
    instruction: str
    response: str


class Judgement(Frozen):
    """A judge's reading of one response.

    Attributes:
        abstained: `None` when there was nothing to read or no answer from the judge.
        usage: what it took, at the price paid then.
        reused: it was given, and paid for, earlier.
    """

    abstained: bool | None
    reason: str
    usage: Usage = Usage(cost_usd=0.0)
    reused: bool = False


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


def embedded() -> tuple[str, ...]:
    """Names of the judges that need nobody else."""
    return tuple(sorted(_FACTORIES))


def named(name: str) -> Judge:
    """The embedded judge of this name.

    Raises:
        BadInput: there is none.
    """
    if name not in _FACTORIES:
        raise BadInput(f"there is no judge {name!r}; choose one of {', '.join(embedded())}, or a model of `abstain models list`")
    return _FACTORIES[name]()
