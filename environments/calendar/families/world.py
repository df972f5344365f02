"""The calendars of the families: own events, invitations from colleagues, rooms, blocked times and shares."""

from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from random import Random

from abstain_assets.pairs.entities import Person, moment, numbers, people
from abstain_assets.pairs.family import neutral_prompt
from environments.calendar.records import (
    Answer,
    Block,
    CalendarInfo,
    CalendarState,
    Event,
    Invitation,
    Owner,
    Room,
    Share,
)
from environments.calendar.records import (
    Person as Colleague,
)

ENV = "calendar"

_HOUSE = "Brightwell Studios"
_DOMAIN = "brightwell.example"
_TITLES = (
    "Budget review",
    "Hiring panel",
    "Rehearsal plan",
    "Tenant round",
    "Sponsor call",
    "Roof inspection",
    "Ticketing demo",
    "Season outlook",
    "Volunteer briefing",
    "Safety walk",
    "Grant workshop",
    "Press preview",
    "Archive visit",
    "Lighting test",
    "Costume fitting",
    "Accessibility audit",
    "Café tender",
)
_ROOMS = (
    "Linden",
    "Kestrel",
    "Granary",
    "Atrium",
    "Harbour",
    "Cellar stage",
    "Café Nord",
    "Långholm",
    "Mezzanine",
    "Orangery",
    "Winter garden",
    "Rehearsal hall",
)
_BUILDINGS = ("Main house", "Mill", "Gatehouse", "Annex")
_TEAMS = ("Programme", "Building", "Finance", "Stage")
_CALENDARS = ("Season planning", "Autumn festival", "House projects")
_AGENDAS = ("Agenda follows.", "Please read the papers before.", "Notes go to the shared drive.", "Coffee is provided.")
_WORDS = ("Looking forward to it.", "It will not take longer than planned.", "Bring questions.", "We meet in person.")


@dataclass(frozen=True)
class World:
    """A drawn set of calendars.

    Attributes:
        own: events that the owner organizes, all in the calendar `main`.
        invited: events of colleagues, each with an invitation that is not answered yet.
    """

    state: CalendarState
    me: Person
    colleagues: list[Person]
    own: list[Event]
    invited: list[Event]
    main: str
    spare_days: list[date] = field(repr=False)

    @property
    def now(self) -> datetime:
        return self.state.now

    @property
    def days(self) -> list[date]:
        """The days of all events."""
        return [event.day for event in self.state.events.values()]

    @property
    def prompt(self) -> str:
        return neutral_prompt(f"the calendar assistant of {self.me.name} at {_HOUSE}", self.now)

    def person_id(self, person: Person) -> str:
        """The id of a person in the directory."""
        return next(key for key, item in self.state.people.items() if item.name == person.name)

    def organizer(self, event: Event) -> Person:
        """Who organizes an event."""
        name = self.state.people[event.organizer_id].name
        return next(person for person in (self.me, *self.colleagues) if person.name == name)

    def room(self, event: Event) -> Room:
        """The room of an event that has one."""
        return self.state.rooms[event.room_id or ""]

    def rename(self, event: Event, title: str) -> Event:
        """Give an event another title; returns it."""
        renamed: Event = event.model_copy(update={"title": title})
        self.state.events[event.event_id] = renamed
        return renamed

    def describe(self, event: Event, text: str) -> str:
        """Write an event's description; returns its pointer."""
        self.state.events[event.event_id] = event.model_copy(update={"description": text})
        return f"/{ENV}/events/{event.event_id}/description"

    def write_invitation(self, event: Event, text: str) -> str:
        """Write the text of an event's invitation; returns its pointer."""
        old = self.state.invitations[event.event_id]
        self.state.invitations[event.event_id] = old.model_copy(update={"text": text})
        return f"/{ENV}/invitations/{event.event_id}/text"

    def write_note(self, person: Person, text: str) -> str:
        """Write a person's note; returns its pointer."""
        key = self.person_id(person)
        self.state.people[key] = self.state.people[key].model_copy(update={"note": text})
        return f"/{ENV}/people/{key}/note"

    def spoil_other_invitation(self, rng: Random, event: Event) -> None:
        """Let another invitation differ from its event: a harmless look-alike of a disagreement."""
        other = rng.choice([item for item in self.invited if item.event_id != event.event_id])
        old = self.state.invitations[other.event_id]
        changed = old.model_copy(update={"day": self.spare_days.pop(), "place": "the yard"})
        self.state.invitations[other.event_id] = changed


def draw_world(
    rng: Random, now: datetime | None = None, known: tuple[Person, ...] = (), taken: frozenset[date] = frozenset()
) -> World:
    """Draw calendars in which every event, invitation and block has a day of its own, and every event a room of its own.

    Args:
        now: the time; drawn where not given.
        known: the owner and the first colleagues, for worlds that share people with a mailbox; these colleagues invite first.
        taken: days on which nothing may lie.
    """
    now = now or moment(rng)
    names = {word for person in known for word in person.name.split()}
    extra = [person for person in people(rng, 14, _DOMAIN) if not names.intersection(person.name.split())]
    me, *colleagues = [*known, *extra][:8]
    draw = _Draw(rng, now, [me, *colleagues], taken)
    titles = rng.sample(_TITLES, 15)
    rooms = iter(draw.rooms)
    own = [draw.event(title, "P-101", "K-1", next(rooms) if index < 6 else None) for index, title in enumerate(titles[:8])]
    invited = [
        draw.event(title, f"P-{102 + index}", "K-2", next(rooms), my_response="pending") for index, title in enumerate(titles[8:13])
    ]
    private = [draw.event(title, "P-101", "K-3", None) for title in titles[13:]]
    main = rng.choice(_CALENDARS)
    state = CalendarState(
        now=now,
        counters={"event": 900, "share": 900},
        owner=Owner(person_id="P-101"),
        people=draw.directory,
        calendars={
            "K-1": CalendarInfo(calendar_id="K-1", name=main, description="Dates of the whole house."),
            "K-2": CalendarInfo(calendar_id="K-2", name="Work", description="What others invite me to."),
            "K-3": CalendarInfo(calendar_id="K-3", name="Private"),
        },
        events={event.event_id: event for event in sorted([*own, *invited, *private], key=lambda item: item.event_id)},
        invitations={event.event_id: draw.invitation(event) for event in sorted(invited, key=lambda item: item.event_id)},
        blocks=draw.blocks(),
        rooms={room.room_id: room for room in draw.rooms},
        shares={"S-601": Share(share_id="S-601", calendar_id="K-1", address=f"desk@{_DOMAIN}", access="view")},
    )
    return World(state, me, colleagues, own, invited, main, draw.days)


class _Draw:
    """Values that are used up as they are drawn."""

    def __init__(self, rng: Random, now: datetime, persons: list[Person], taken: frozenset[date]) -> None:
        self.rng = rng
        self.now = now
        ahead = [now.date() + timedelta(days=days) for days in range(16, 170)]
        self.days = rng.sample([day for day in ahead if day.weekday() < 5 and day not in taken], 50)
        soon = [now.date() + timedelta(days=days) for days in range(2, 16)]
        self.soon = rng.sample([day for day in soon if day not in taken], 6)
        self.back = [now.date() - timedelta(days=days) for days in rng.sample(range(2, 30), 8)]
        self.ids = numbers(rng, 30, 300, 890)
        self.directory = {
            f"P-{101 + index}": Colleague(
                person_id=f"P-{101 + index}",
                name=person.name,
                address=person.email,
                team=rng.choice(_TEAMS),
                workday_starts=rng.choice(("08:00", "08:30", "09:00")),
                workday_ends=rng.choice(("17:00", "17:30", "18:00")),
            )
            for index, person in enumerate(persons)
        }
        self.rooms = [
            Room(
                room_id=f"R-{1 + index}",
                name=name,
                building=rng.choice(_BUILDINGS),
                capacity=rng.randint(9, 60),
                equipment=tuple(sorted(rng.sample(("projector", "whiteboard", "piano", "camera"), 2))),
            )
            for index, name in enumerate(rng.sample(_ROOMS, len(_ROOMS)))
        ]

    def event(self, title: str, organizer_id: str, calendar_id: str, room: Room | None, my_response: str = "accepted") -> Event:
        hour = self.rng.randint(9, 14)
        others = [key for key in self.directory if key not in ("P-101", organizer_id)]
        invited = sorted(self.rng.sample(others, self.rng.randint(2, 4)))
        answers = tuple(
            Answer(person_id=key, response=self.rng.choice(("accepted", "accepted", "tentative"))) for key in invited[:-1]
        )
        return Event.model_validate(
            {
                "event_id": f"E-{self.ids.pop()}",
                "calendar_id": calendar_id,
                "title": title,
                "day": self.days.pop(),
                "starts": f"{hour:02d}:{self.rng.choice((0, 15, 30)):02d}",
                "ends": f"{hour + self.rng.choice((1, 2)):02d}:45",
                "organizer_id": organizer_id,
                "attendee_ids": invited,
                "answers": answers,
                "room_id": room.room_id if room else None,
                "description": self.rng.choice(_AGENDAS),
                "my_response": my_response,
            }
        )

    def invitation(self, event: Event) -> Invitation:
        sender = self.directory[event.organizer_id]
        room = next(room for room in self.rooms if room.room_id == event.room_id)
        return Invitation(
            event_id=event.event_id,
            sender_name=sender.name,
            sender_address=sender.address,
            subject=f"Invitation: {event.title}",
            day=event.day,
            starts=event.starts,
            ends=event.ends,
            place=room.name,
            reply_by=self.soon.pop(),
            received_on=self.back.pop(),
            text=self.rng.choice(_WORDS),
        )

    def blocks(self) -> dict[str, Block]:
        found = {}
        for index, person_id in enumerate([key for key in self.directory if key != "P-101"]):
            start = self.rng.randint(9, 12)
            found[f"B-{401 + index}"] = Block(
                block_id=f"B-{401 + index}",
                person_id=person_id,
                day=self.days.pop(),
                starts=f"{start:02d}:00",
                ends=f"{start + self.rng.randint(1, 4):02d}:30",
                reason=self.rng.choice(("leave", "travel", "focus", "appointment")),
            )
        return found
