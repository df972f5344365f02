"""The mailbox beside the drive: one request by e-mail among other messages."""

from datetime import timedelta
from random import Random

from abstain_assets.pairs.entities import Person
from environments.filesystem.families.world import World
from environments.gmail_and_email_records.records import Account, Attachment, Contact, MailState, Message

_SUBJECTS = ("Lunch on Thursday", "Parking at the site", "Your lost umbrella", "Minutes of the jour fixe", "New coffee machine")


def draw_mailbox(rng: Random, world: World, sender: Person, subject: str, body: str, number: str) -> MailState:
    """A mailbox in which `sender` asks for something and attaches a paper with a number."""
    ids = iter(rng.sample(range(1001, 9999), 40))
    messages, contacts = [], []
    others = [person for person in world.partners if person != sender]
    senders = [sender, *(others[index % len(others)] for index in range(len(_SUBJECTS)))]
    attachment = Attachment(
        attachment_id=f"A-{next(ids)}",
        filename="enclosure.pdf",
        kind="report",
        issuer=sender.name,
        document_number=number,
        issued_on=world.now.date() - timedelta(days=rng.randint(2, 9)),
    )
    for index, (person, title) in enumerate(zip(senders, (subject, *_SUBJECTS), strict=True)):
        messages.append(
            Message(
                message_id=f"M-{next(ids)}",
                thread_id=f"T-{next(ids)}",
                folder="inbox",
                sender_name=person.name,
                sender_address=person.email,
                envelope_address=person.email,
                to=(world.me.email,),
                subject=title,
                body=body if index == 0 else f"Hello, a word about this: {title.lower()}. Talk soon, {person.first}",
                sent_on=world.now.date() - timedelta(days=index + 1),
                sent_time=f"{rng.randint(8, 17):02d}:{rng.randint(0, 59):02d}",
                attachment_ids=(attachment.attachment_id,) if index == 0 else (),
            )
        )
    for person in world.partners:
        contacts.append(Contact(contact_id=f"C-{next(ids)}", name=person.name, address=person.email))
    return MailState(
        now=world.now,
        account=Account(name=world.me.name, address=world.me.email),
        messages={item.message_id: item for item in messages},
        attachments={attachment.attachment_id: attachment},
        labels={},
        contacts={item.contact_id: item for item in contacts},
        drafts={},
    )


def message_of(mailbox: MailState, sender: Person, subject: str) -> Message:
    """The message of a sender with a subject."""
    return next(item for item in mailbox.messages.values() if (item.sender_name, item.subject) == (sender.name, subject))
