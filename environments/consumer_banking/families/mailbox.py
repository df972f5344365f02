"""The mailbox beside the bank: one supplier's message with an invoice among other messages."""

from datetime import timedelta
from random import Random

from abstain_assets.pairs.entities import people
from environments.consumer_banking.families.world import World
from environments.consumer_banking.records import Paper
from environments.gmail_and_email_records.records import Account, Attachment, Contact, MailState, Message

_SUBJECTS = (
    "School fair on Saturday",
    "Your parcel is on its way",
    "Choir rehearsal moved",
    "Garden waste dates",
    "Photos from Sunday",
)


def draw_mailbox(rng: Random, world: World, invoice: Paper, subject: str, body: str) -> tuple[MailState, Message]:
    """A mailbox in which the issuer of an invoice has sent it as an attachment; and that message."""
    ids = iter(rng.sample(range(10_001, 19_999), 40))
    office, *friends = people(rng, len(_SUBJECTS) + 1, "mail.example")
    tax = invoice.total_cents // 6
    attachment = Attachment(
        attachment_id=f"A-{next(ids)}",
        filename="invoice.pdf",
        kind="invoice",
        issuer=invoice.issuer,
        document_number=invoice.number,
        issued_on=invoice.issued_on,
        due_on=invoice.due_on,
        net_cents=invoice.total_cents - tax,
        tax_cents=tax,
    )
    messages = []
    for back, (person, title) in enumerate(zip((office, *friends), (subject, *_SUBJECTS), strict=True), start=1):
        text = body if person == office else f"Hello {world.me.first}, about this: {title.lower()}. See you, {person.first}"
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
                body=text,
                sent_on=world.today - timedelta(days=back),
                sent_time=f"{rng.randint(8, 17):02d}:{rng.randint(0, 59):02d}",
                attachment_ids=(attachment.attachment_id,) if person == office else (),
            )
        )
    contacts = [Contact(contact_id=f"C-{next(ids)}", name=person.name, address=person.email) for person in (office, *friends)]
    state = MailState(
        now=world.now,
        account=Account(name=world.me.name, address=world.me.email),
        messages={item.message_id: item for item in messages},
        attachments={attachment.attachment_id: attachment},
        labels={},
        contacts={item.contact_id: item for item in contacts},
        drafts={},
    )
    return state, messages[0]
