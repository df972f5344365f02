"""Dagster's partitions: the scenarios of a round, the evaluated models, the environments.

Model keys never carry a round: a fresh round then leaves everything that belongs to another round alone. The keys of
(scenario, model) cells are `<model>|<scenario>`, in the alphabetical order of the dimension names.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import dagster as dg
from sqlalchemy.exc import SQLAlchemyError

from abstain_assets.errors import BadInput
from abstain_assets.instance import unusable
from abstain_assets.rounds import RoundScenario, scenarios_of
from environments.runtime import registry


class _Cells(dg.MultiPartitionsDefinition):
    """Cells, whose runs are tagged with the whole key alone.

    Dagster's backfill of a job tags a run over a range with the first partition as well. A tag per dimension would win over the
    range: the run would cover the first cell alone and succeed.
    """

    def get_tags_for_partition_key(self, partition_key: str) -> Mapping[str, str]:
        return {"dagster/partition": partition_key}


SCENARIO = "scenario"
MODEL = "model"

scenario_partitions = dg.DynamicPartitionsDefinition(name=SCENARIO)
model_partitions = dg.DynamicPartitionsDefinition(name=MODEL)
cell_partitions = _Cells({SCENARIO: scenario_partitions, MODEL: model_partitions})
environment_partitions = dg.StaticPartitionsDefinition(list(registry.names()))


@dataclass(frozen=True)
class Cell:
    """One model on one scenario of one round."""

    model: str
    scenario: RoundScenario

    @property
    def key(self) -> dg.MultiPartitionKey:
        return dg.MultiPartitionKey({SCENARIO: self.scenario.key, MODEL: self.model})

    @property
    def file(self) -> str:
        """The lake's name of this partition. Neither part can hold two underscores in a row."""
        return f"{self.model}__{self.scenario.key}"

    @classmethod
    def of_file(cls, name: str) -> "Cell":
        """The cell of a partition of the lake."""
        model, _, scenario = name.partition("__")
        return cls(model, RoundScenario.parse(scenario))

    @classmethod
    def parse(cls, key: str) -> "Cell":
        """Read a cell key.

        Raises:
            BadInput: it is not `<model>|<scenario>`.
        """
        model, bar, scenario = key.partition("|")
        if not (model and bar):
            raise BadInput(f"{key!r} is no partition: expected <model>|<scenario>")
        return cls(model, RoundScenario.parse(scenario))


def register(instance: dg.DagsterInstance, *, rounds: Iterable[str] = (), models: Iterable[str] = ()) -> None:
    """Add missing partitions. A round is added whole, so a run over all its scenarios is one contiguous range.

    Raises:
        AbstainError: the instance cannot be written.
    """
    try:
        for round_name in rounds:
            instance.add_dynamic_partitions(SCENARIO, [item.key for item in scenarios_of(round_name)])
        instance.add_dynamic_partitions(MODEL, list(models))
    except SQLAlchemyError as error:
        raise unusable(Path(instance.root_directory), error) from error
