"""Report when a colleague is free."""

from datetime import time
from random import Random

from abstain_assets.pairs.changes import Change, contradiction, left_out, vague
from abstain_assets.pairs.family import Draft, Family
from abstain_assets.pairs.slots import say_date, say_number, say_text, say_time
from abstain_assets.records import Atom, Dag, Domain, FactSpec, Items, Node, Reading, Ref, Said, Slot
from abstain_assets.taxonomy import ActionType, Scenario
from environments.calendar.families.parts import AVAILABILITY, PEOPLE, SLOTS
from environments.calendar.families.world import ENV, World, draw_world
from environments.calendar.records import Block

_ASKS = (
    "I would like to talk to {person} on {day} for {minutes} minutes. When does the first slot begin at which both of us are free, "
    "and when does it end?",
    "Find the first time on {day} at which {person} and I are both free for {minutes} minutes; tell me when that stretch begins "
    "and ends.",
)
_BOUNDED = " The slot has to begin {floor} and {ceiling}."
_UNTIL = (
    "I want to catch {person} on {day}. Tell me {what}, and the team and the address of the person.",
    "For a visit to {person} on {day} I need to know {what}, together with the person's team and address.",
)
_CLEAR = ("when the working day ends", "at what time the working day ends")
_VAGUE = ("until when there is time", "how long there is time")
_PERSON = Node(id="person", tool=PEOPLE, args={"name": Said(said="person")})
_WHO = Ref(ref="person.people[only].person_id")


class FreeSlot(Family):
    """Look up a colleague and the time of one day."""

    name = f"{ENV}.free_slot"
    action_type = ActionType.INFORMATIONAL
    environments = (ENV,)
    scenarios = (
        Scenario.MISSING_CRITICAL_PARAMETER,
        Scenario.AMBIGUOUS_ACTION_SPECIFICATION,
        Scenario.CONFLICTING_CONSTRAINTS,
    )

    def draw(self, rng: Random, scenario: Scenario) -> Draft:
        world = draw_world(rng)
        # The day of one of the colleague's blocks, which starts after the working day does.
        block = rng.choice(list(world.state.blocks.values()))
        slots = {
            "person": say_text(world.state.people[block.person_id].name),
            "day": say_date(rng, block.day),
        }
        if scenario is Scenario.AMBIGUOUS_ACTION_SPECIFICATION:
            return _until_when(rng, world, slots)
        start = _first_free(world, block)
        slots["minutes"] = say_number(rng, rng.choice((20, 25, 30)))
        template = rng.choice(_ASKS)
        if scenario is Scenario.CONFLICTING_CONSTRAINTS:
            template, change = _clash(rng, template, start)
        else:
            change = _when(slots)
        free = Node(
            id="free",
            tool=SLOTS,
            args={"person_ids": Items(items=(_WHO,)), "day": Said(said="day"), "duration_minutes": Said(said="minutes")},
        )
        facts = (
            FactSpec(label="begins", value=Ref(ref="free.slots[min starts].starts"), kind="time"),
            FactSpec(label="ends", value=Ref(ref="free.slots[min starts].ends"), kind="time"),
        )
        return change.draft(world.prompt, template, slots, {ENV: world.state}, Dag(nodes=(_PERSON, free)), facts)


def _first_free(world: World, block: Block) -> time:
    """The start of the colleague's and the owner's common working day; make the block leave room at its beginning."""
    mine, theirs = world.state.people["P-101"], world.state.people[block.person_id]
    start = max(mine.workday_starts, theirs.workday_starts)
    world.state.blocks[block.block_id] = block.model_copy(update={"starts": "11:15", "ends": "15:45"})
    return time.fromisoformat(start)


def _when(slots: dict[str, Slot]) -> Change:
    why = "The request does not say for which day."
    return left_out(slots, "day", " on {day}", "", why, ("which day", "what day", "date", "when"))


def _clash(rng: Random, template: str, start: time) -> tuple[str, Change]:
    def at(hours: float) -> Slot:
        minutes = start.hour * 60 + start.minute + int(60 * hours)
        return say_time(rng, time(minutes // 60, minutes % 60))

    low, high, early = at(-rng.choice((0.5, 1))), at(rng.choice((1, 1.5))), at(-rng.choice((1.5, 2)))
    floor = Atom(var="starts", op=">=", rhs=str(low.value), text=f"no earlier than {low.text}")
    ceiling = Atom(var="starts", op="<=", rhs=str(high.value), text=f"no later than {high.text}")
    lower = Atom(var="starts", op="<=", rhs=str(early.value), text=f"no later than {early.text}")
    change = contradiction(
        {},
        ceiling.text,
        lower.text,
        {"starts": Domain(kind="time")},
        {"starts": Ref(ref="free.slots[min starts].starts")},
        (floor,),
        ceiling,
        lower,
        "No time is both after the first and before the second, which is the earlier one.",
        (low.text, early.text, "contradict", "no earlier", "no later"),
    )
    return template + _BOUNDED.replace("{floor}", floor.text).replace("{ceiling}", ceiling.text), change


def _until_when(rng: Random, world: World, slots: dict[str, Slot]) -> Draft:
    """The end of the working day, or the begin of what the day holds: both are `until when`."""
    hours = Node(id="hours", tool=AVAILABILITY, args={"person_id": _WHO, "day": Said(said="day")})
    dag = Dag(nodes=(_PERSON, hours))
    team = FactSpec(label="team", value=Ref(ref="person.people[only].team"), kind="text")
    address = FactSpec(label="address", value=Ref(ref="person.people[only].address"), kind="text")
    end = FactSpec(label="end of the working day", value=Ref(ref="hours.workday_ends"), kind="time")
    busy = FactSpec(label="busy from", value=Ref(ref="hours.busy[min starts].starts"), kind="time")
    clear = rng.choice(_CLEAR)
    readings = (
        Reading(label="working day", wording=clear, cues=("working day", "work ends"), dag=dag, facts=(team, address, end)),
        Reading(
            label="first appointment",
            wording="when the first blocked time begins",
            cues=("blocked", "busy", "appointment"),
            dag=dag,
            facts=(team, address, busy),
        ),
    )
    why = "The time could be the end of the working day or the begin of the first blocked time."
    change = vague(slots, clear, rng.choice(_VAGUE), readings, why, ("working day", "busy", "blocked", "appointment"))
    template = rng.choice(_UNTIL).replace("{what}", clear)
    return change.draft(world.prompt, template, slots, {ENV: world.state}, dag, (team, address, end))
