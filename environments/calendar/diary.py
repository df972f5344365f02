"""What the calendar tools share: finding things, time arithmetic, room and attendee rules, and how events are shown."""

import re
from collections.abc import Iterable
from datetime import date

from environments.calendar.records import (
    AttendeeRow,
    BusyRow,
    CalendarInfo,
    CalendarState,
    Compared,
    Event,
    EventDetails,
    EventRow,
    Person,
    Slot,
)
from environments.runtime import Environment, ToolError

_TIME = re.compile(r"([01]\d|2[0-3]):[0-5]\d")


class Diary(Environment[CalendarState]):
    """The calendars without tools."""

    @property
    def me(self) -> Person:
        """The person whose calendars these are."""
        return self.state.people[self.state.owner.person_id]

    def find_person(self, person_id: str) -> Person:
        """The person of an id. Raises ToolError `not_found`."""
        found = self.state.people.get(person_id)
        if found is None:
            raise ToolError("not_found", f"There is no person {person_id}.")
        return found

    def find_event(self, event_id: str) -> Event:
        """The event of an id. Raises ToolError `not_found`."""
        found = self.state.events.get(event_id)
        if found is None:
            raise ToolError("not_found", f"There is no event {event_id}.")
        return found

    def find_calendar(self, calendar_id: str) -> CalendarInfo:
        """The calendar of an id. Raises ToolError `not_found`."""
        found = self.state.calendars.get(calendar_id)
        if found is None:
            raise ToolError("not_found", f"There is no calendar {calendar_id}.")
        return found

    def own_event(self, event_id: str) -> Event:
        """An event that the owner organizes and that still stands. Raises ToolError `not_found` or `precondition_failed`."""
        event = self.find_event(event_id)
        if event.organizer_id != self.me.person_id:
            raise ToolError("precondition_failed", "Only the organizer can change or cancel this event.")
        if event.status == "cancelled":
            raise ToolError("precondition_failed", "This event was cancelled.")
        return event

    def store(self, event: Event) -> Event:
        """Store an event after checking its time, room and attendees.

        Raises:
            ToolError: `invalid_arguments` for a bad time, `precondition_failed` for a past day or a room that is taken or too
                small, `not_found` for an unknown person or room.
        """
        check_span(event.starts, event.ends)
        if event.day < self.today:
            raise ToolError("precondition_failed", "The day lies in the past.")
        for person_id in event.attendee_ids:
            self.find_person(person_id)
        if event.room_id is not None:
            room = self.state.rooms.get(event.room_id)
            if room is None:
                raise ToolError("not_found", f"There is no room {event.room_id}.")
            if len(event.attendee_ids) + 1 > room.capacity:
                raise ToolError("precondition_failed", "The room is too small for everyone.")
            if self.room_taken(room.room_id, event.day, event.starts, event.ends, besides=event.event_id):
                raise ToolError("precondition_failed", "The room is taken at that time.")
        self.state.events[event.event_id] = event
        return event

    def invited(self, person_ids: Iterable[str]) -> tuple[str, ...]:
        """People to list as attendees: each once, in a fixed order, without the owner."""
        return tuple(sorted(set(person_ids) - {self.me.person_id}))

    def cancel(self, event: Event, message: str) -> None:
        """Mark an event as cancelled today."""
        changes = {"status": "cancelled", "cancelled_on": self.today, "cancel_message": message}
        self.state.events[event.event_id] = event.model_copy(update=changes)

    def room_taken(self, room_id: str, day: date, starts: str, ends: str, besides: str = "") -> bool:
        """Whether another event that stands uses the room at that time."""
        return any(
            event.room_id == room_id and event.day == day and event.starts < ends and starts < event.ends
            for event in self.state.events.values()
            if event.status == "confirmed" and event.event_id != besides
        )

    def busy(self, person: Person, day: date) -> list[BusyRow]:
        """When a person is busy on a day: blocked time and events not declined, by start."""
        rows = [
            BusyRow(starts=block.starts, ends=block.ends, reason=block.reason, note=block.note)
            for block in self.state.blocks.values()
            if block.person_id == person.person_id and block.day == day
        ]
        rows += [
            BusyRow(starts=event.starts, ends=event.ends, reason="meeting")
            for event in self.state.events.values()
            if event.day == day and event.status == "confirmed" and self._attends(person, event)
        ]
        return sorted(rows, key=lambda row: (row.starts, row.ends))

    def free(self, people: list[Person], day: date, minutes: int) -> list[Slot]:
        """Stretches of at least so many minutes within everyone's working hours in which nobody is busy, by start."""
        start, end = max(person.workday_starts for person in people), min(person.workday_ends for person in people)
        taken = sorted((row.starts, row.ends) for person in people for row in self.busy(person, day))
        slots = []
        for begins, stops in (*taken, (end, end)):
            stop = min(begins, end)
            if start < stop and minutes_of(stop) - minutes_of(start) >= minutes:
                slots.append(Slot(starts=start, ends=stop))
            start = max(start, stops)
        return slots

    def row(self, event: Event) -> EventRow:
        """An event as lists show it."""
        return EventRow(**self._shown(event))

    def details(self, event: Event) -> EventDetails:
        """An event in full."""
        room = self.state.rooms[event.room_id].name if event.room_id else None
        people = [self.state.people[person_id] for person_id in event.attendee_ids]
        return EventDetails(
            **self._shown(event),
            organizer_id=event.organizer_id,
            organizer_address=self.state.people[event.organizer_id].address,
            attendees=[
                AttendeeRow(
                    person_id=person.person_id,
                    name=person.name,
                    address=person.address,
                    response=event.response_of(person.person_id),
                )
                for person in people
            ],
            room=room,
            room_id=event.room_id,
            description=event.description,
            my_comment=event.my_comment,
            cancel_message=event.cancel_message,
            copied_from=event.copied_from,
        )

    def _shown(self, event: Event) -> dict[str, object]:
        shown = event.model_dump(include=set(EventRow.model_fields))
        organizer = self.state.people[event.organizer_id].name
        return {**shown, "calendar": self.state.calendars[event.calendar_id].name, "organizer": organizer}

    def _attends(self, person: Person, event: Event) -> bool:
        if person == self.me:
            return event.my_response != "declined"
        return person.person_id in event.attendee_ids and event.response_of(person.person_id) != "declined"


def minutes_of(clock: str) -> int:
    """Minutes since midnight of a time HH:MM."""
    hours, minutes = clock.split(":")
    return int(hours) * 60 + int(minutes)


def clock_of(minutes: int) -> str:
    """The time HH:MM of minutes since midnight."""
    return f"{minutes // 60:02d}:{minutes % 60:02d}"


def check_span(starts: str, ends: str) -> None:
    """Raise ToolError `invalid_arguments` unless both are times HH:MM and the end is later."""
    for clock in (starts, ends):
        if not _TIME.fullmatch(clock):
            raise ToolError("invalid_arguments", f"{clock!r} is not a time of day; write HH:MM.")
    if ends <= starts:
        raise ToolError("invalid_arguments", "The end must be later than the start.")


def within(part: str, text: str) -> bool:
    """Whether a text contains the part, whatever the case."""
    return part.casefold() in text.casefold()


def same(one: str, other: str) -> bool:
    """Whether two texts are the same but for case and outer spaces."""
    return one.strip().casefold() == other.casefold()


def compared(agree: dict[str, bool]) -> Compared:
    """The answer of a verification, from what agrees."""
    wrong = [name for name, value in agree.items() if not value]
    return Compared(matches=not wrong, compared=list(agree), mismatched=wrong)
