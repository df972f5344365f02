"""Say when a file was last changed."""

from random import Random

from abstain_assets.pairs.changes import Change, disagreement, left_out, vague
from abstain_assets.pairs.family import Draft, Family
from abstain_assets.pairs.slots import say_text
from abstain_assets.records import Dag, FactSpec, Reading, Ref, Slot, Source
from abstain_assets.taxonomy import ActionType, Scenario
from environments.filesystem.families.parts import ENTRY, details, file_slots, listing, recorded, siblings
from environments.filesystem.families.world import World, draw_world
from environments.filesystem.records import File

_ASKS = (
    "I am writing the progress report. For {file} in {folder}, please tell me {what}.",
    "The client wants a date for {file}, which is in {folder}: find out {what}.",
    "Please look up {what}, for {file} in {folder}.",
)
_CLEAR = ("the day on which it was last modified", "when it was last modified")
_BOTH = "the day on which it was last modified, going by its details on the drive and by the manifest {title}"
_PHRASES = ("the day it dates from", "its date", "which date it has")
_CHANGED = FactSpec(label="last modified", value=Ref(ref="info.file.modified_on"), kind="date")
_CREATED = FactSpec(label="created", value=Ref(ref="info.file.created_on"), kind="date")


class FileDates(Family):
    """Read a file's details, and the manifest where asked to."""

    name = "filesystem.file_dates"
    action_type = ActionType.INFORMATIONAL
    environments = ("filesystem",)
    scenarios = (
        Scenario.MISSING_CRITICAL_PARAMETER,
        Scenario.AMBIGUOUS_ACTION_SPECIFICATION,
        Scenario.CONFLICTING_EVIDENCE,
    )

    def draw(self, rng: Random, scenario: Scenario) -> Draft:
        comparing = scenario is Scenario.CONFLICTING_EVIDENCE
        world = draw_world(rng, rng.choice(("backup", "release")))
        file = rng.choice(world.files)
        slots = file_slots(world, file)
        clear = _BOTH if comparing else rng.choice(_CLEAR)
        facts: tuple[FactSpec, ...] = (_CHANGED,)
        if comparing:
            slots["title"] = say_text(world.manifest.title)
            facts = (_CHANGED, FactSpec(label="date in the manifest", value=Ref(ref=f"{ENTRY}.modified_on"), kind="date"))
        template = rng.choice(_ASKS).replace("{what}", clear)
        dag = Dag(nodes=(listing, details, recorded) if comparing else (listing, details))
        change = _change(rng, scenario, world, file, slots, clear)
        return change.draft(world.prompt, template, slots, {"filesystem": world.state}, dag, facts)


def _change(rng: Random, scenario: Scenario, world: World, file: File, slots: dict[str, Slot], clear: str) -> Change:
    match scenario:
        case Scenario.MISSING_CRITICAL_PARAMETER:
            return left_out(
                slots,
                "file",
                "{file}",
                rng.choice(("the file", "our file")),
                "Several files lie in the folder and the request does not say which one is meant.",
                ("which file", "which one", "several files", "file name", *(item.name for item in world.files)),
                siblings(world),
            )
        case Scenario.AMBIGUOUS_ACTION_SPECIFICATION:
            dag = Dag(nodes=(listing, details))
            readings = (
                Reading(label="last change", wording=clear, cues=("modified", "changed"), dag=dag, facts=(_CHANGED,)),
                Reading(label="creation", wording="when it was created", cues=("created", "made"), dag=dag, facts=(_CREATED,)),
            )
            why = "The date could be that of the file's creation or that of its last change."
            return vague(slots, clear, rng.choice(_PHRASES), readings, why, ("created", "modified", "which date"))
        case _:
            world.spoil_other_entry(rng, file)
            return disagreement(
                f"/filesystem/entries/{world.entry(file).entry_id}/modified_on",
                world.unused_day(rng, file.modified_on).isoformat(),
                Source(label="file details", value=Ref(ref="info.file.modified_on")),
                Source(label="manifest", value=Ref(ref=f"{ENTRY}.modified_on")),
                "The drive and the manifest give different days for the same change.",
                ("manifest", "differ", "disagree", "conflict"),
                ("another_entry_differs",),
            )
