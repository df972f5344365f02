"""The abstain side of a seed in one or two sentences, made of the seed's own objects and facts."""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import yaml

from abstain_assets.seeds.objects import vocabulary
from abstain_assets.seeds.records import SeedCapability
from abstain_assets.seeds.rewrite import facts
from abstain_assets.taxonomy import ActionType, Scenario

_LIMIT = re.compile(
    r"\b(?:under|below|above|over|within|at (?:least|most)|(?:no |not )?(?:more|less|fewer|cheaper|higher|later|earlier) than|"
    r"up to|before|after|between|without|only if|as long as|unless)\b (?!that\b|this\b|then\b)[^,.;:?!()]{2,40}(?<=[\w%])",
    re.IGNORECASE,
)
_READING = {"read": "reading", "search": "looking for", "verify": "checking"}


def primary(act: tuple[SeedCapability, ...]) -> SeedCapability:
    """What a seed is about: the first change it asks for, or the last thing it looks at, on which the answer rests."""
    return next((item for item in act if item.changes), act[-1])


def telling_fact(instruction: str) -> str | None:
    """A fact that is said exactly once, so that it can be left out; preferably no single digit."""
    once = [fact for fact in facts(instruction) if instruction.count(fact) == 1]
    return next((fact for fact in once if len(fact) > 1), once[0] if once else None)


def sketch(
    scenario: Scenario,
    action_type: ActionType,
    instruction: str,
    act: tuple[SeedCapability, ...],
    abstain: tuple[SeedCapability, ...],
) -> str:
    """What would be changed on the abstain side, and why acting would then be wrong.

    Args:
        instruction: the rewritten request.
    """
    templates = _templates()[scenario]
    main = primary(act)
    fact = telling_fact(instruction)
    limit = _LIMIT.search(instruction)
    template = templates.get("both") or templates[action_type]
    return template.format(
        object=main.object,
        objects=_plural(main.object),
        doing=_doing(main, f"the {main.object}"),
        doing_all=_doing(main, f"all {_plural(main.object)}"),
        other=_doing(abstain[0], f"the {abstain[0].object}") if abstain else f"doing the same to another {main.object}",
        fact=fact,
        limit=f'"{limit[0]}"' if limit else "the first one",
        what_else=f'"{fact}" in the request' if fact else "another one",
    )


def _doing(capability: SeedCapability, what: str) -> str:
    known = vocabulary().objects[capability.object]
    if capability.kind in ("write", "delete"):
        return f"{known.write if capability.kind == 'write' else known.delete} {what}"
    return f"{'working out' if known.computed else _READING[capability.kind]} {what}"


def _plural(name: str) -> str:
    if name.startswith("fact of "):
        return name.replace("fact", "facts", 1)
    if name.endswith("y") and name[-2] not in "aeiou":
        return f"{name[:-1]}ies"
    return f"{name}es" if name.endswith(("s", "ch", "sh", "x")) else f"{name}s"


@cache
def _templates() -> Mapping[Scenario, Mapping[str, str]]:
    loaded = yaml.safe_load(Path(__file__).with_name("sketch.yaml").read_text(encoding="utf-8"))
    return {Scenario(name): texts for name, texts in loaded.items()}
