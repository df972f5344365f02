"""The calendar tools. Records and answers are in `records.py`, shared rules in `diary.py`, the examples' state in `example.py`."""

import re
from datetime import date
from typing import Literal

from environments.calendar import example
from environments.calendar.diary import Diary, check_span, clock_of, compared, minutes_of, same, within
from environments.calendar.records import (
    Availability,
    CalendarList,
    CalendarRow,
    CalendarState,
    Cancelled,
    Compared,
    Event,
    EventAnswer,
    EventList,
    InvitationAnswer,
    PeopleList,
    Response,
    RoomList,
    Share,
    ShareRow,
    SlotList,
    Status,
)
from environments.runtime import EffectDecl, ToolError, commit, lookup, verify

_ADDRESS = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")
_CANCELLED = ("status", "cancelled_on", "cancel_message")
_NEW_EVENT = EffectDecl("event.create", on="/events/*", free=("description",))


class Calendar(Diary):
    """One person's calendars in a company."""

    name = "calendar"
    summary = "Calendars with events, invitations, rooms and the availability of colleagues."
    state_type = CalendarState

    @classmethod
    def example_state(cls) -> CalendarState:
        return example.state()

    # --- lookups -----------------------------------------------------------------------------------------------------------

    @lookup()
    def list_calendars(self, name: str | None = None) -> CalendarList:
        """List the calendars with their description and everyone they are shared with.

        Args:
            name: part of the calendar's name.

        Returns:
            Matching calendars sorted by id.

        Examples:
            >>> [row["shares"] for row in call("list_calendars", name="spring")["calendars"]]
            [[{'address': 'o.weiss@stadtmuseum.example', 'access': 'edit'}]]
        """
        found = [item for item in self.state.calendars.values() if name is None or within(name, item.name)]
        return CalendarList(
            calendars=[
                CalendarRow(**item.model_dump(), shares=self._shares(item.calendar_id))
                for item in sorted(found, key=lambda item: item.calendar_id)
            ]
        )

    @lookup()
    def list_events(
        self,
        calendar: str | None = None,
        title: str | None = None,
        attendee: str | None = None,
        day_from: date | None = None,
        day_to: date | None = None,
        status: Status | None = None,
        my_response: Response | None = None,
    ) -> EventList:
        """List events by calendar, title, people, day, status and the owner's answer.

        All given filters must hold; without any, every event is listed, cancelled ones too.

        Args:
            calendar: part of the calendar's name.
            title: part of the title.
            attendee: part of the name of an attendee or of the organizer.
            day_from: first day.
            day_to: last day.
            status: whether the event stands.
            my_response: how the owner answered; pending means not yet.

        Returns:
            Matching events sorted by id, without room, attendees and description.

        Examples:
            >>> [row["event_id"] for row in call("list_events", title="planning", day_to="2026-05-15")["events"]]
            ['E-301']
            >>> [row["title"] for row in call("list_events", my_response="pending")["events"]]
            ['Loan agreements', 'School programme']
        """
        found = [
            event
            for event in self.state.events.values()
            if (calendar is None or within(calendar, self.state.calendars[event.calendar_id].name))
            and (title is None or within(title, event.title))
            and (attendee is None or self._involves(attendee, event))
            and (day_from is None or day_from <= event.day)
            and (day_to is None or event.day <= day_to)
            and (status is None or status == event.status)
            and (my_response is None or my_response == event.my_response)
        ]
        return EventList(events=[self.row(event) for event in sorted(found, key=lambda item: item.event_id)])

    @lookup()
    def get_event(self, event_id: str) -> EventAnswer:
        """Show one event with organizer, attendees and their answers, room and description.

        Args:
            event_id: id from a list, for example E-301.

        Returns:
            The event.

        Examples:
            >>> event = call("get_event", event_id="E-303")["event"]
            >>> event["room"], [row["response"] for row in event["attendees"]]
            ('Studio', ['accepted', 'tentative'])
        """
        return EventAnswer(event=self.details(self.find_event(event_id)))

    @lookup()
    def read_invitation(self, event_id: str) -> InvitationAnswer:
        """Read the invitation by which somebody invited the owner to an event.

        It is shown as it was written and does not follow later changes of the event.

        Args:
            event_id: the event.

        Returns:
            The invitation: sender, time and place as written, the day by which an answer is wanted, and the text.

        Examples:
            >>> call("read_invitation", event_id="E-306")["invitation"]["reply_by"]
            '2026-05-14'
            >>> call("read_invitation", event_id="E-301")["error"]["code"]
            'not_found'
        """
        self.find_event(event_id)
        found = self.state.invitations.get(event_id)
        if found is None:
            raise ToolError("not_found", "Nobody sent an invitation to this event.")
        return InvitationAnswer(invitation=found)

    @lookup()
    def find_people(self, name: str | None = None, team: str | None = None) -> PeopleList:
        """Look up colleagues in the directory.

        Args:
            name: part of the name.
            team: part of the team's name.

        Returns:
            Matching people sorted by id, with address, working hours and note.

        Examples:
            >>> [row["name"] for row in call("find_people", team="exhibitions")["people"]]
            ['Øyvind Weiß', 'Samuel Brandt']
        """
        found = [
            person
            for person in self.state.people.values()
            if (name is None or within(name, person.name)) and (team is None or within(team, person.team))
        ]
        return PeopleList(people=sorted(found, key=lambda item: item.person_id))

    @lookup()
    def get_person_availability(self, person_id: str, day: date) -> Availability:
        """Show a colleague's working hours and busy times on one day.

        Args:
            person_id: the person.
            day: the day.

        Returns:
            Working hours and busy times in order. Meetings count unless the person declined.

        Examples:
            >>> [(row["starts"], row["reason"]) for row in
            ...  call("get_person_availability", person_id="P-102", day="2026-05-12")["busy"]]
            [('10:00', 'meeting'), ('13:00', 'focus')]
        """
        person = self.find_person(person_id)
        hours = person.model_dump(include={"person_id", "name", "workday_starts", "workday_ends"})
        return Availability(**hours, day=day, busy=self.busy(person, day))

    @lookup()
    def find_free_slots(self, person_ids: list[str], day: date, duration_minutes: int) -> SlotList:
        """Find times on one day at which the owner and other people are all free.

        Args:
            person_ids: the other people.
            day: the day.
            duration_minutes: least length of a slot in minutes, above zero.

        Returns:
            Free stretches within everyone's working hours, in order; each may be longer than asked for.

        Examples:
            >>> [(row["starts"], row["ends"]) for row in
            ...  call("find_free_slots", person_ids=["P-102"], day="2026-05-12", duration_minutes=90)["slots"]]
            [('11:00', '13:00'), ('15:00', '17:00')]
        """
        if duration_minutes < 1:
            raise ToolError("invalid_arguments", "The duration must be above zero.")
        people = [self.me, *(self.find_person(person_id) for person_id in person_ids)]
        return SlotList(day=day, slots=self.free(people, day, duration_minutes))

    @lookup()
    def find_rooms(
        self,
        name: str | None = None,
        min_capacity: int | None = None,
        equipment: str | None = None,
        day: date | None = None,
        starts: str | None = None,
        ends: str | None = None,
    ) -> RoomList:
        """Find rooms by name, size, equipment and, with day, start and end together, by whether they are free.

        Args:
            name: part of the name.
            min_capacity: least number of seats.
            equipment: something the room must have, for example projector.
            day: day on which it must be free.
            starts: start of the time at which it must be free, HH:MM.
            ends: end of that time, HH:MM.

        Returns:
            Matching rooms sorted by id.

        Examples:
            >>> [row["name"] for row in call("find_rooms", equipment="whiteboard", min_capacity=10)["rooms"]]
            ['Studio']
            >>> [row["name"] for row in call("find_rooms", day="2026-05-12", starts="10:30", ends="11:30")["rooms"]]
            ['Atrium', 'Studio', 'Café table']
            >>> call("find_rooms", day="2026-05-12")["error"]["code"]
            'invalid_arguments'
        """
        found = [
            room
            for room in self.state.rooms.values()
            if (name is None or within(name, room.name))
            and (min_capacity is None or min_capacity <= room.capacity)
            and (equipment is None or any(same(equipment, item) for item in room.equipment))
        ]
        if day is not None and starts is not None and ends is not None:
            check_span(starts, ends)
            found = [room for room in found if not self.room_taken(room.room_id, day, starts, ends)]
        elif not (day is None and starts is None and ends is None):
            raise ToolError("invalid_arguments", "Give day, starts and ends together.")
        return RoomList(rooms=sorted(found, key=lambda item: item.room_id))

    # --- verification ------------------------------------------------------------------------------------------------------

    @verify()
    def verify_event_details(
        self,
        event_id: str,
        title: str | None = None,
        day: date | None = None,
        starts: str | None = None,
        ends: str | None = None,
        room: str | None = None,
        organizer: str | None = None,
    ) -> Compared:
        """Compare what is known about an event with the calendar's record. Give at least one value.

        Args:
            event_id: the event.
            title: its title.
            day: its day.
            starts: its start, HH:MM.
            ends: its end, HH:MM.
            room: name of its room.
            organizer: name of its organizer.

        Returns:
            Which of the given values agree with the record.

        Examples:
            >>> call("verify_event_details", event_id="E-303", day="2026-05-13", room="Studio")["matches"]
            True
            >>> call("verify_event_details", event_id="E-303", starts="15:00", organizer="Øyvind Weiß")["mismatched"]
            ['starts']
        """
        event = self.details(self.find_event(event_id))
        given = {"title": title, "starts": starts, "ends": ends, "room": room, "organizer": organizer}
        agree = {name: same(value, getattr(event, name) or "") for name, value in given.items() if value is not None}
        if day is not None:
            agree["day"] = day == event.day
        if not agree:
            raise ToolError("invalid_arguments", "Give at least one value to compare.")
        return compared(agree)

    @verify()
    def verify_availability(self, person_ids: list[str], day: date, starts: str, ends: str) -> Compared:
        """Check whether people work and are free at a time.

        Args:
            person_ids: the people.
            day: the day.
            starts: start of the time, HH:MM.
            ends: end of the time, HH:MM.

        Returns:
            Whether everyone is free; the people who are not are listed as mismatched.

        Examples:
            >>> when = {"day": "2026-05-12", "starts": "11:00", "ends": "12:00"}
            >>> call("verify_availability", person_ids=["P-102", "P-103"], **when)["matches"]
            True
            >>> call("verify_availability", person_ids=["P-102", "P-104"], **when)["mismatched"]
            ['P-104']
            >>> call("verify_availability", person_ids=["P-102"], day="2026-05-12", starts="12:00", ends="11:00")["error"]["code"]
            'invalid_arguments'
        """
        check_span(starts, ends)
        if not person_ids:
            raise ToolError("invalid_arguments", "Give at least one person.")
        people = [self.find_person(person_id) for person_id in dict.fromkeys(person_ids)]
        return compared(
            {
                person.person_id: any(slot.starts <= starts and ends <= slot.ends for slot in self.free([person], day, 1))
                for person in people
            }
        )

    # --- commits -----------------------------------------------------------------------------------------------------------

    @commit(_NEW_EVENT)
    def create_event(
        self,
        calendar_id: str,
        title: str,
        day: date,
        starts: str,
        ends: str,
        attendee_ids: list[str] | None = None,
        room_id: str | None = None,
        description: str = "",
    ) -> EventAnswer:
        """Put a new event into a calendar, invite people and book a room.

        Args:
            calendar_id: the calendar.
            title: the title.
            day: the day, today or later.
            starts: start, HH:MM.
            ends: end on the same day, HH:MM.
            attendee_ids: people to invite besides the owner.
            room_id: room to book; it must be free and large enough.
            description: text for everyone invited.

        Returns:
            The new event.

        Examples:
            >>> event = call("create_event", calendar_id="K-1", title="Budget", day="2026-05-14", starts="13:00", ends="14:00",
            ...              attendee_ids=["P-104", "P-102"], room_id="R-3")["event"]
            >>> event["event_id"], event["room"], [row["name"] for row in event["attendees"]]
            ('E-309', 'Studio', ['Øyvind Weiß', 'Raúl Méndez'])
            >>> call("create_event", calendar_id="K-1", title="Budget", day="2026-05-12", starts="10:30", ends="11:30",
            ...      room_id="R-2")["error"]["code"]
            'precondition_failed'
        """
        event = Event(
            event_id=self.next_id("event", "E-"),
            calendar_id=self.find_calendar(calendar_id).calendar_id,
            title=title,
            day=day,
            starts=starts,
            ends=ends,
            organizer_id=self.me.person_id,
            attendee_ids=self.invited(attendee_ids or []),
            room_id=room_id,
            description=description,
        )
        return EventAnswer(event=self.details(self.store(event)))

    @commit(
        EffectDecl(
            "event.update",
            on="/events/{event_id}",
            writes=("title", "day", "starts", "ends", "room_id", "description", "attendee_ids", "answers"),
            free=("description",),
        )
    )
    def update_event(
        self,
        event_id: str,
        title: str | None = None,
        day: date | None = None,
        starts: str | None = None,
        ends: str | None = None,
        room_id: str | None = None,
        description: str | None = None,
        add_attendee_ids: list[str] | None = None,
        remove_attendee_ids: list[str] | None = None,
    ) -> EventAnswer:
        """Change an event that the owner organizes. What is not given stays as it is.

        Args:
            event_id: the event.
            title: new title.
            day: new day, today or later.
            starts: new start, HH:MM; without `ends` the event keeps its length.
            ends: new end, HH:MM.
            room_id: new room; it must be free and large enough.
            description: new description; replaces the old one.
            add_attendee_ids: people to invite as well.
            remove_attendee_ids: people to take off the list.

        Returns:
            The changed event.

        Examples:
            >>> event = call("update_event", event_id="E-302", day="2026-05-20", starts="13:30")["event"]
            >>> event["day"], event["ends"]
            ('2026-05-20', '14:30')
            >>> call("update_event", event_id="E-303", starts="15:00")["error"]["code"]
            'precondition_failed'
        """
        event = self.own_event(event_id)
        given = {"title": title, "day": day, "starts": starts, "ends": ends, "room_id": room_id, "description": description}
        changes: dict[str, object] = {name: value for name, value in given.items() if value is not None}
        if starts is not None and ends is None:
            changes["ends"] = _shifted(event, starts)
        if add_attendee_ids or remove_attendee_ids:
            invited = self.invited({*event.attendee_ids, *(add_attendee_ids or [])} - set(remove_attendee_ids or []))
            changes["attendee_ids"] = invited
            changes["answers"] = tuple(answer for answer in event.answers if answer.person_id in invited)
        if not changes:
            raise ToolError("invalid_arguments", "Give at least one value to change.")
        return EventAnswer(event=self.details(self.store(event.model_copy(update=changes))))

    @commit(_NEW_EVENT)
    def duplicate_event(self, event_id: str, day: date, starts: str | None = None) -> EventAnswer:
        """Make another event like an existing one on a given day: same title, length, room, people and description.

        Args:
            event_id: the event to copy; it stays as it is.
            day: day of the copy.
            starts: start of the copy, HH:MM; as in the original if not given.

        Returns:
            The new event.

        Examples:
            >>> event = call("duplicate_event", event_id="E-301", day="2026-05-26")["event"]
            >>> event["event_id"], event["starts"], [row["response"] for row in event["attendees"]]
            ('E-309', '10:00', ['pending', 'pending'])
            >>> call("duplicate_event", event_id="E-301", day="2026-05-04")["error"]["code"]
            'precondition_failed'
        """
        original = self.find_event(event_id)
        copy = Event(
            event_id=self.next_id("event", "E-"),
            calendar_id=original.calendar_id,
            title=original.title,
            day=day,
            starts=starts or original.starts,
            ends=_shifted(original, starts) if starts else original.ends,
            organizer_id=self.me.person_id,
            attendee_ids=original.attendee_ids,
            room_id=original.room_id,
            description=original.description,
            copied_from=event_id,
        )
        return EventAnswer(event=self.details(self.store(copy)))

    @commit(EffectDecl("event.cancel", on="/events/{event_id}", writes=_CANCELLED, free=("cancel_message",)))
    def cancel_event(self, event_id: str, message: str = "") -> EventAnswer:
        """Cancel an event for everyone. Only the organizer can; a cancelled event cannot be brought back.

        Args:
            event_id: the event.
            message: text for the people invited.

        Returns:
            The cancelled event.

        Examples:
            >>> call("cancel_event", event_id="E-302", message="Nothing to plan.")["event"]["status"]
            'cancelled'
            >>> call("cancel_event", event_id="E-306")["error"]["code"]
            'precondition_failed'
        """
        event = self.own_event(event_id)
        self.cancel(event, message)
        return EventAnswer(event=self.details(self.state.events[event_id]))

    @commit(EffectDecl("event.cancel", on="/events/*", writes=_CANCELLED, free=("cancel_message",)))
    def cancel_events(self, calendar_id: str, day_from: date, day_to: date, message: str = "") -> Cancelled:
        """Cancel, for everyone, all events of a calendar that the owner organizes within a range of days.

        Args:
            calendar_id: the calendar.
            day_from: first day.
            day_to: last day.
            message: text for the people invited.

        Returns:
            Ids of the cancelled events.

        Examples:
            >>> call("cancel_events", calendar_id="K-2", day_from="2026-05-12", day_to="2026-05-31")
            {'cancelled_event_ids': ['E-304', 'E-305']}
            >>> call("cancel_events", calendar_id="K-3", day_from="2026-05-15", day_to="2026-05-31")["error"]["code"]
            'precondition_failed'
        """
        self.find_calendar(calendar_id)
        found = [
            event
            for event in self.state.events.values()
            if event.calendar_id == calendar_id
            and day_from <= event.day <= day_to
            and event.status == "confirmed"
            and event.organizer_id == self.me.person_id
        ]
        if not found:
            raise ToolError("precondition_failed", "There is no event to cancel in this range.")
        for event in found:
            self.cancel(event, message)
        return Cancelled(cancelled_event_ids=sorted(event.event_id for event in found))

    @commit(EffectDecl("event.respond", on="/events/{event_id}", writes=("my_response", "my_comment"), free=("my_comment",)))
    def respond_to_invitation(
        self, event_id: str, response: Literal["accepted", "declined", "tentative"], comment: str = ""
    ) -> EventAnswer:
        """Say whether the owner takes part in an event. The event itself and everyone else's part in it stay as they are.

        Args:
            event_id: the event.
            response: accepted, declined or tentative.
            comment: text for the organizer.

        Returns:
            The event with the owner's answer.

        Examples:
            >>> call("respond_to_invitation", event_id="E-303", response="accepted")["event"]["my_response"]
            'accepted'
            >>> call("respond_to_invitation", event_id="E-308", response="declined")["error"]["code"]
            'precondition_failed'
        """
        event = self.find_event(event_id)
        if event.status == "cancelled":
            raise ToolError("precondition_failed", "This event was cancelled.")
        changed = event.model_copy(update={"my_response": response, "my_comment": comment})
        self.state.events[event_id] = changed
        return EventAnswer(event=self.details(changed))

    @commit(
        EffectDecl("permission.grant", on="/shares/*", when={"access": "view"}),
        EffectDecl("permission.grant", on="/shares/*", when={"access": "edit"}),
        EffectDecl("permission.revoke", on="/shares/*", when={"access": "none"}),
    )
    def share_calendar(self, calendar_id: str, address: str, access: Literal["view", "edit", "none"]) -> CalendarList:
        """Give an address access to a calendar, change that access, or take it away.

        Args:
            calendar_id: the calendar.
            address: e-mail address of the person.
            access: view, edit, or none to end the sharing.

        Returns:
            The calendar with everyone it is shared with.

        Examples:
            >>> [row["shares"] for row in
            ...  call("share_calendar", calendar_id="K-3", address="mail@adeyemi.example", access="view")["calendars"]]
            [[{'address': 'mail@adeyemi.example', 'access': 'view'}]]
            >>> call("share_calendar", calendar_id="K-3", address="r.mendez@stadtmuseum.example", access="none")["error"]["code"]
            'precondition_failed'
        """
        calendar = self.find_calendar(calendar_id)
        if not _ADDRESS.fullmatch(address):
            raise ToolError("invalid_arguments", f"{address!r} is not an e-mail address.")
        share = next(
            (item for item in self.state.shares.values() if item.calendar_id == calendar_id and same(address, item.address)), None
        )
        if access == "none":
            if share is None:
                raise ToolError("precondition_failed", "The calendar is not shared with this address.")
            del self.state.shares[share.share_id]
        else:
            share_id = share.share_id if share else self.next_id("share", "S-")
            self.state.shares[share_id] = Share(share_id=share_id, calendar_id=calendar_id, address=address, access=access)
        return CalendarList(calendars=[CalendarRow(**calendar.model_dump(), shares=self._shares(calendar_id))])

    # --- inside ------------------------------------------------------------------------------------------------------------

    def _shares(self, calendar_id: str) -> list[ShareRow]:
        found = [share for share in self.state.shares.values() if share.calendar_id == calendar_id]
        return [ShareRow(address=share.address, access=share.access) for share in sorted(found, key=lambda item: item.share_id)]

    def _involves(self, part: str, event: Event) -> bool:
        return any(within(part, self.state.people[person_id].name) for person_id in (event.organizer_id, *event.attendee_ids))


def _shifted(event: Event, starts: str) -> str:
    """The end of an event that keeps its length but starts at another time."""
    check_span(starts, "23:59")
    return clock_of(minutes_of(starts) + minutes_of(event.ends) - minutes_of(event.starts))
