"""What the calendar system holds, and what its tools answer. Times of day are local, written HH:MM."""

from datetime import date
from typing import Literal, Self

from pydantic import model_validator

from environments.runtime import Record, Result, State

Response = Literal["accepted", "declined", "tentative", "pending"]
Status = Literal["confirmed", "cancelled"]
BusyReason = Literal["meeting", "leave", "travel", "focus", "appointment"]
Access = Literal["view", "edit"]


class Owner(Record):
    """Whose calendars these are: one of the people."""

    person_id: str


class Person(Record):
    """Someone in the company's directory."""

    person_id: str
    name: str
    address: str
    team: str
    workday_starts: str
    workday_ends: str
    note: str = ""


class Block(Record):
    """Time that a person keeps blocked; meetings are events instead."""

    block_id: str
    person_id: str
    day: date
    starts: str
    ends: str
    reason: Literal["leave", "travel", "focus", "appointment"]
    note: str = ""


class Room(Record):
    """A bookable room."""

    room_id: str
    name: str
    building: str
    capacity: int
    equipment: tuple[str, ...] = ()
    note: str = ""


class CalendarInfo(Record):
    """One of the owner's calendars."""

    calendar_id: str
    name: str
    description: str = ""


class Share(Record):
    """Access of an address to a calendar."""

    share_id: str
    calendar_id: str
    address: str
    access: Access


class Answer(Record):
    """What someone invited answered."""

    person_id: str
    response: Literal["accepted", "declined", "tentative"]


class Event(Record):
    """An event in one of the owner's calendars. The organizer is the owner or somebody who invited the owner.

    `attendee_ids` are the people invited besides the owner; those not in `answers` have not answered yet.
    """

    event_id: str
    calendar_id: str
    title: str
    day: date
    starts: str
    ends: str
    organizer_id: str
    attendee_ids: tuple[str, ...] = ()
    answers: tuple[Answer, ...] = ()
    room_id: str | None = None
    description: str = ""
    status: Status = "confirmed"
    my_response: Response = "accepted"
    my_comment: str = ""
    cancelled_on: date | None = None
    cancel_message: str = ""
    copied_from: str | None = None

    def response_of(self, person_id: str) -> Response:
        """How an attendee answered; `pending` when not yet."""
        return next((answer.response for answer in self.answers if answer.person_id == person_id), "pending")


class Invitation(Record):
    """The message by which the organizer invited the owner. It was written by hand and does not follow changes of the event."""

    event_id: str
    sender_name: str
    sender_address: str
    subject: str
    day: date
    starts: str
    ends: str
    place: str
    reply_by: date
    received_on: date
    text: str = ""


class CalendarState(State):
    """All calendars of one person, and the people and rooms of the company."""

    owner: Owner
    people: dict[str, Person]
    calendars: dict[str, CalendarInfo]
    events: dict[str, Event]
    invitations: dict[str, Invitation]
    blocks: dict[str, Block]
    rooms: dict[str, Room]
    shares: dict[str, Share]

    @model_validator(mode="after")
    def _everything_exists(self) -> Self:
        """Records name only people, calendars, rooms and events that exist."""
        people = [self.owner.person_id, *(block.person_id for block in self.blocks.values())]
        calendars = [share.calendar_id for share in self.shares.values()]
        rooms = []
        for event in self.events.values():
            people += [event.organizer_id, *event.attendee_ids, *(answer.person_id for answer in event.answers)]
            calendars.append(event.calendar_id)
            rooms += [event.room_id] if event.room_id else []
        missing = [*set(people) - set(self.people), *set(calendars) - set(self.calendars), *set(rooms) - set(self.rooms)]
        missing += set(self.invitations) - set(self.events)
        if missing:
            raise ValueError(f"records name {sorted(missing)}, which do not exist")
        return self


# --- answers ---------------------------------------------------------------------------------------------------------------


class ShareRow(Result):
    """Who may see or edit a calendar."""

    address: str
    access: Access


class CalendarRow(Result):
    """A calendar with everyone it is shared with."""

    calendar_id: str
    name: str
    description: str
    shares: list[ShareRow]


class CalendarList(Result):
    """Calendars that match."""

    calendars: list[CalendarRow]


class EventRow(Result):
    """An event as lists show it."""

    event_id: str
    calendar: str
    title: str
    day: date
    starts: str
    ends: str
    organizer: str
    status: Status
    my_response: Response


class EventList(Result):
    """Events that match."""

    events: list[EventRow]


class AttendeeRow(Result):
    """An attendee with name and address."""

    person_id: str
    name: str
    address: str
    response: Response


class EventDetails(EventRow):
    """An event in full."""

    organizer_id: str
    organizer_address: str
    attendees: list[AttendeeRow]
    room: str | None = None
    room_id: str | None = None
    description: str
    my_comment: str
    cancel_message: str
    copied_from: str | None = None


class EventAnswer(Result):
    """One event."""

    event: EventDetails


class InvitationAnswer(Result):
    """One invitation."""

    invitation: Invitation


class PeopleList(Result):
    """People that match."""

    people: list[Person]


class BusyRow(Result):
    """A stretch of time in which a person is busy."""

    starts: str
    ends: str
    reason: BusyReason
    note: str = ""


class Availability(Result):
    """Working hours and busy times of one person on one day."""

    person_id: str
    name: str
    day: date
    workday_starts: str
    workday_ends: str
    busy: list[BusyRow]


class Slot(Result):
    """A stretch of time in which everyone is free."""

    starts: str
    ends: str


class SlotList(Result):
    """Free stretches of one day."""

    day: date
    slots: list[Slot]


class RoomList(Result):
    """Rooms that match."""

    rooms: list[Room]


class Compared(Result):
    """Which of the given values agree with the record."""

    matches: bool
    compared: list[str]
    mismatched: list[str]


class Cancelled(Result):
    """Which events were cancelled."""

    cancelled_event_ids: list[str]
