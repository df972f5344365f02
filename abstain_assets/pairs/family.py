"""Task families: the embedded proposer. From a random seed a family draws a complete act task and the one delta of a scenario.

A family lives in `environments/<name>/families.py` and is listed there in `FAMILIES`:

    class CancelOrder(Family):
        name = "retail_orders.cancel_order"
        action_type = ActionType.OPERATIONAL
        environments = ("retail_orders",)
        scenarios = (Scenario.MISSING_CRITICAL_PARAMETER, ...)

        def draw(self, rng: Random, scenario: Scenario) -> Draft: ...

A draft says nothing about outcomes: contracts, answer keys and prohibitions are computed by replaying it.
"""

import importlib
import importlib.util
import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from random import Random
from typing import ClassVar

from abstain_assets.errors import AbstainError
from abstain_assets.records import Dag, Delta, FactSpec, InstructionDelta, Pattern, Slot, Task, Trigger
from abstain_assets.taxonomy import ActionType, Scenario
from environments.runtime import registry
from environments.runtime.contract import State
from environments.runtime.records import Fault, Mount
from resources.secrets import variable


class FamilyError(AbstainError):
    """A family cannot be loaded or drew something impossible."""


@dataclass(frozen=True)
class Draft:
    """One drawn act task with its delta.

    Attributes:
        system_prompt: neutral, the same on both sides; see `neutral_prompt`.
        template: the instruction with `{slot}` where a slot's text goes.
        slots: every literal the DAG takes from the text.
        states: one state per environment; all with the same `now`.
        dag: the reference execution of the act side.
        delta, trigger: what makes the abstain side, and why acting there would be wrong.
        facts: what an informational answer must contain.
        hidden, faults: parts of the mount that both sides share (decoy faults among them).
        decoys: names of the look-alikes that both sides carry.
        may_ask: effects by which the agent may ask the person who gave the task.
    """

    system_prompt: str
    template: str
    slots: Mapping[str, Slot]
    states: Mapping[str, State]
    dag: Dag
    delta: Delta
    trigger: Trigger
    facts: tuple[FactSpec, ...] = ()
    hidden: tuple[str, ...] = ()
    faults: tuple[Fault, ...] = ()
    decoys: tuple[str, ...] = ()
    may_ask: tuple[Pattern, ...] = field(default=())

    @property
    def task(self) -> Task:
        """The act variant."""
        return Task(
            system_prompt=self.system_prompt,
            instruction=fill(self.template, self.slots),
            mount=Mount(environments=tuple(self.states), hidden=self.hidden, faults=self.faults),
            states={name: state.dump() for name, state in self.states.items()},
        )


class Family(ABC):
    """A parametric task family. `name` is `<environment>.<task>` and is the cluster for all statistics."""

    name: ClassVar[str]
    action_type: ClassVar[ActionType]
    environments: ClassVar[tuple[str, ...]]
    scenarios: ClassVar[tuple[Scenario, ...]]

    @abstractmethod
    def draw(self, rng: Random, scenario: Scenario) -> Draft:
        """Draw an instance for one of `scenarios`. The same generator state gives the same draft."""


def fill(template: str, slots: Mapping[str, Slot]) -> str:
    """A template with the slots' texts in place; its first letter is a capital.

    Raises:
        FamilyError: the template names a slot that does not exist.
    """
    try:
        text = template.format(**{name: slot.text for name, slot in slots.items()})
    except KeyError as error:
        raise FamilyError(f"the template names the unknown slot {error}") from error
    return text[:1].upper() + text[1:]


def cut(span: str, slots: Mapping[str, Slot], replace: str = "") -> InstructionDelta:
    """The delta that replaces a span, given with `{slot}` markers like the template."""
    find = span.format(**{name: slot.text for name, slot in slots.items()})
    return InstructionDelta(find=find, replace=replace.format(**{name: slot.text for name, slot in slots.items()}))


def neutral_prompt(role: str, now: datetime) -> str:
    """A system prompt that says who the agent serves and what day it is, and pushes in no direction."""
    return f"You are {role}. Today is {now:%A}, {now.day} {now:%B} {now.year}."


def families() -> tuple[Family, ...]:
    """All families: those of the shipped environments and of the folders in `ABSTAIN_FAMILIES`, sorted by name.

    Raises:
        FamilyError: a module cannot be loaded, lists no families, or repeats a name.
    """
    found: dict[str, Family] = {}
    for family in (*_shipped(), *_private()):
        if family.name in found:
            raise FamilyError(f"two families are named {family.name!r}")
        if unknown := set(family.environments) - set(registry.names()):
            raise FamilyError(f"family {family.name} uses unknown environments {sorted(unknown)}")
        found[family.name] = family
    return tuple(found[name] for name in sorted(found))


def _shipped() -> Iterator[Family]:
    for name in registry.names():
        if importlib.util.find_spec(f"environments.{name}.families") is not None:
            yield from _listed(importlib.import_module(f"environments.{name}.families"), name)


def _private() -> Iterator[Family]:
    for folder in filter(None, (variable("ABSTAIN_FAMILIES") or "").split(os.pathsep)):
        if not Path(folder).is_dir():
            raise FamilyError(f"ABSTAIN_FAMILIES names {folder}, which is not a folder")
        for path in sorted(Path(folder).glob("*.py")):
            spec = importlib.util.spec_from_file_location(f"private_families_{path.stem}", path)
            if spec is None or spec.loader is None:
                raise FamilyError(f"{path} cannot be loaded")
            module = importlib.util.module_from_spec(spec)
            try:
                spec.loader.exec_module(module)
            except Exception as error:
                raise FamilyError(f"{path} cannot be loaded: {type(error).__name__}: {error}") from error
            yield from _listed(module, str(path))


def _listed(module: object, where: str) -> tuple[Family, ...]:
    listed = getattr(module, "FAMILIES", None)
    if not isinstance(listed, tuple) or not all(isinstance(item, Family) for item in listed):
        raise FamilyError(f"{where}: families must be listed in a tuple FAMILIES")
    return listed
