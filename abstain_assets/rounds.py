"""Rounds and their scenarios, by name.

A scenario key is `<scenario>` for round v1 and `<scenario>@<round>` for every other round. It names a partition in Dagster and
a file in the lake.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from abstain_assets.errors import BadInput
from abstain_assets.taxonomy import SCENARIOS, Scenario
from resources.settings import V1, check_round


@dataclass(frozen=True)
class RoundScenario:
    """One scenario of one round."""

    scenario: Scenario
    round: str

    @property
    def key(self) -> str:
        return self.scenario.value if self.round == V1 else f"{self.scenario.value}@{self.round}"

    @classmethod
    def parse(cls, key: str) -> "RoundScenario":
        """Read a scenario key.

        Raises:
            BadInput: there is no such scenario, or the round's name is not one.
        """
        name, _, round_name = key.partition("@")
        return cls(scenario_named(name), check_round(round_name) if "@" in key else V1)


def scenario_named(name: str) -> Scenario:
    """A scenario by its name or its code (S1 to S8).

    Raises:
        BadInput: there is no such scenario.
    """
    for scenario, info in SCENARIOS.items():
        if name in (scenario.value, info.code, info.code.lower()):
            return scenario
    raise BadInput(f"unknown scenario {name!r}; known: {', '.join(item.value for item in Scenario)}")


def scenarios_of(round_name: str, only: Iterable[Scenario] = ()) -> tuple[RoundScenario, ...]:
    """The scenarios of a round in the order of the taxonomy; all of them, or only some."""
    wanted = set(only) or set(Scenario)
    return tuple(RoundScenario(scenario, check_round(round_name)) for scenario in Scenario if scenario in wanted)
