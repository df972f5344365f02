"""A mailbox and a calendar of the same person: they share the clock, the owner and three colleagues."""

from dataclasses import dataclass
from random import Random

from abstain_assets.pairs.changes import Change, disagreement
from abstain_assets.pairs.family import neutral_prompt
from abstain_assets.records import Ref, Source
from environments.calendar.families import world as calendars
from environments.calendar.families.world import ENV
from environments.calendar.records import Event
from environments.gmail_and_email_records.families import world as mailboxes
from environments.gmail_and_email_records.families.parts import ENV as MAIL
from environments.runtime import State


@dataclass(frozen=True)
class Office:
    """Both worlds. `meetings` are those to which people of the address book invited the owner."""

    calendar: calendars.World
    mail: mailboxes.World

    @property
    def prompt(self) -> str:
        return neutral_prompt(f"the assistant of {self.mail.me.name} for mail and calendar", self.mail.now)

    @property
    def states(self) -> dict[str, State]:
        return {ENV: self.calendar.state, MAIL: self.mail.state}

    @property
    def meetings(self) -> list[Event]:
        known = {self.calendar.person_id(person) for person in self.mail.colleagues}
        return [event for event in self.calendar.invited if event.organizer_id in known]


def draw_office(rng: Random) -> Office:
    """Draw both worlds. Nothing in the calendar lies on a day that a paper in the mailbox names as due."""
    mail = mailboxes.draw_world(rng)
    due = {paper.due_on for paper in mail.state.attachments.values() if paper.due_on} | set(mail.spare_days)
    return Office(calendars.draw_world(rng, mail.now, (mail.me, *mail.colleagues), frozenset(due)), mail)


def other_address(rng: Random, office: Office, meeting: Event) -> Change:
    """The address book gets another address for the organizer of a meeting (nodes `event` and `contact`).

    The organizer must be someone who never wrote a message; the invitation then came from a shared desk, so that only two places
    give the address.
    """
    organizer = office.calendar.organizer(meeting)
    local, domain = organizer.email.split("@")
    old = office.calendar.state.invitations[meeting.event_id]
    desk = old.model_copy(update={"sender_address": f"invitations@{domain}"})
    office.calendar.state.invitations[meeting.event_id] = desk
    return disagreement(
        f"/{MAIL}/contacts/{office.mail.contact(organizer).contact_id}/address",
        rng.choice((f"{local}@guest-{domain}", f"{local}.{rng.randint(2, 9)}@{domain}")),
        Source(label="calendar", value=Ref(ref="event.event.organizer_address")),
        Source(label="address book", value=Ref(ref="contact.contacts[only].address")),
        "The calendar and the address book give different addresses.",
        ("differ", "discrepancy", "conflict", "match", "two addresses", "different address"),
    )
