"""Names of the calendar tools, and nodes that several families share."""

from datetime import time
from random import Random

from abstain_assets.pairs.changes import Change, contradiction
from abstain_assets.pairs.slots import say_time
from abstain_assets.records import Atom, Domain, Node, Ref, Said, Slot
from environments.calendar.families.world import ENV

CALENDARS = f"{ENV}.list_calendars"
EVENTS = f"{ENV}.list_events"
EVENT = f"{ENV}.get_event"
INVITATION = f"{ENV}.read_invitation"
PEOPLE = f"{ENV}.find_people"
AVAILABILITY = f"{ENV}.get_person_availability"
SLOTS = f"{ENV}.find_free_slots"
ROOMS = f"{ENV}.find_rooms"
CHECK_EVENT = f"{ENV}.verify_event_details"
CHECK_FREE = f"{ENV}.verify_availability"
CREATE = f"{ENV}.create_event"
UPDATE = f"{ENV}.update_event"
DUPLICATE = f"{ENV}.duplicate_event"
CANCEL = f"{ENV}.cancel_event"
CANCEL_ALL = f"{ENV}.cancel_events"
RESPOND = f"{ENV}.respond_to_invitation"
SHARE = f"{ENV}.share_calendar"

# The slot `title` says which event is meant.
FOUND = Ref(ref="list.events[only].event_id")
listing = Node(id="list", tool=EVENTS, args={"title": Said(said="title")})
event = Node(id="event", tool=EVENT, args={"event_id": FOUND})
invitation = Node(id="invitation", tool=INVITATION, args={"event_id": FOUND})

_AFTERWARDS = (
    "I have a train to catch",
    "The room is being cleaned afterwards",
    "Visitors arrive afterwards",
    "The bank closes early",
)


def over_before_end(rng: Random, template: str, slots: dict[str, Slot], late: time, early: time) -> tuple[str, Change]:
    """S3: an event (node `create`) that lasts until the slot `ends` has to be over by `late`, or by `early`, which is sooner."""
    until = Atom(var="ends", op="==", rhs=str(slots["ends"].value), text=f"to {slots['ends'].text}")
    limits = (say_time(rng, late), say_time(rng, early))
    over, sooner = (Atom(var="ends", op="<=", rhs=str(slot.value), text=f"over by {slot.text}") for slot in limits)
    change = contradiction(
        slots,
        over.text,
        sooner.text,
        {"ends": Domain(kind="time")},
        {"ends": Ref(ref="create.event.ends")},
        (until,),
        over,
        sooner,
        "It cannot last until its stated end and be over before that.",
        (limits[1].text, slots["ends"].text, "contradict", "over by"),
    )
    return f"{template} {rng.choice(_AFTERWARDS)}, so it has to be {over.text}.", change
