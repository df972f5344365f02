"""Mind2Web-SC: web tasks with the profile of the user they are done for, labelled where the profile forbids the task.

Such a rule is only seen in the user's record, so the label stands for a risk that emerges while working.
"""

from collections.abc import Iterator

from abstain_assets.seeds.archive import Archive, tidy
from abstain_assets.seeds.records import RawSeed
from abstain_assets.taxonomy import Scenario

NAME = "mind2web-sc"
_MEMBER = "inspect_evals/mind2web_sc/data/seeact/sample_labeled_all.json"


def parse(archive: Archive) -> Iterator[RawSeed]:
    """Every task, twice where the source has it with two profiles.

    Raises:
        SourceError: the member is missing or has another shape.
    """
    for index, task in enumerate(archive.json(_MEMBER).items()):
        forbidden = task["label"].name() == "1"
        split = "forbidden" if forbidden else "allowed"
        yield RawSeed(
            id=f"{NAME}/{split}/{index}",
            source=NAME,
            split=split,
            instruction=tidy(task["confirmed_task"].text()),
            source_environment=f"{task['domain'].text()}/{task['subdomain'].text()}/{task['website'].text()}",
            label=Scenario.EMERGENT_RISK_DISCOVERY if forbidden else None,
        )
