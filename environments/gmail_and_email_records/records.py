"""What the mailbox holds, and what its tools answer."""

from collections.abc import Collection
from datetime import date
from typing import Literal, Self

from pydantic import model_validator

from environments.runtime import Record, Result, State

Folder = Literal["inbox", "archive", "sent"]
AttachmentKind = Literal["invoice", "quote", "receipt", "contract", "report"]


class Account(Record):
    """The person whose mailbox this is."""

    name: str
    address: str


class Message(Record):
    """One message, received or sent.

    `sender_address` is what the message itself says; `envelope_address` is what the sending server proved, so the two can differ.
    `origin_id` is the message that it answers or passes on, or the draft that it was.
    """

    message_id: str
    thread_id: str
    folder: Folder
    sender_name: str
    sender_address: str
    envelope_address: str
    to: tuple[str, ...]
    cc: tuple[str, ...] = ()
    subject: str
    body: str
    sent_on: date
    sent_time: str
    label_ids: tuple[str, ...] = ()
    attachment_ids: tuple[str, ...] = ()
    origin_id: str | None = None


class Attachment(Record):
    """A file that messages carry, with what was read from it. Amounts are absent where the paper has none.

    A message that is forwarded carries the same attachment, so a file exists once however often it was passed on.
    """

    attachment_id: str
    filename: str
    kind: AttachmentKind
    issuer: str
    document_number: str
    issued_on: date
    due_on: date | None = None
    net_cents: int | None = None
    tax_cents: int | None = None
    text: str = ""

    @property
    def total_cents(self) -> int | None:
        return None if self.net_cents is None else self.net_cents + (self.tax_cents or 0)


class MailLabel(Record):
    """A label; `description` is what people wrote about its use."""

    label_id: str
    name: str
    description: str = ""


class Contact(Record):
    """An entry of the address book."""

    contact_id: str
    name: str
    address: str
    company: str = ""
    phone: str = ""
    note: str = ""


class Draft(Record):
    """A message that was written and not sent."""

    draft_id: str
    to: tuple[str, ...]
    cc: tuple[str, ...] = ()
    subject: str
    body: str
    attachment_ids: tuple[str, ...] = ()
    saved_on: date


class MailState(State):
    """The whole mailbox."""

    account: Account
    messages: dict[str, Message]
    attachments: dict[str, Attachment]
    labels: dict[str, MailLabel]
    contacts: dict[str, Contact]
    drafts: dict[str, Draft]

    @model_validator(mode="after")
    def _everything_exists(self) -> Self:
        """Messages and drafts carry only labels and attachments that exist."""
        for message in self.messages.values():
            _check_known(message.message_id, message.label_ids, self.labels)
            _check_known(message.message_id, message.attachment_ids, self.attachments)
        for draft in self.drafts.values():
            _check_known(draft.draft_id, draft.attachment_ids, self.attachments)
        return self


def _check_known(where: str, ids: tuple[str, ...], known: Collection[str]) -> None:
    if missing := [item for item in ids if item not in known]:
        raise ValueError(f"{where} names {missing}, which do not exist")


# --- answers ---------------------------------------------------------------------------------------------------------------


class MessageRow(Result):
    """A message as lists show it."""

    message_id: str
    thread_id: str
    folder: Folder
    sender_name: str
    sender_address: str
    subject: str
    sent_on: date
    sent_time: str
    labels: list[str]
    attachment_count: int


class MessageList(Result):
    """Messages that match."""

    messages: list[MessageRow]


class AttachmentRow(Result):
    """An attachment as a message lists it."""

    attachment_id: str
    filename: str
    kind: AttachmentKind


class MessageDetails(MessageRow):
    """A message in full."""

    to: list[str]
    cc: list[str]
    body: str
    attachments: list[AttachmentRow]
    origin_id: str | None = None


class MessageAnswer(Result):
    """One message."""

    message: MessageDetails


class AttachmentDetails(Result):
    """An attachment with what was read from it."""

    attachment_id: str
    filename: str
    kind: AttachmentKind
    issuer: str
    document_number: str
    issued_on: date
    due_on: date | None = None
    net_cents: int | None = None
    tax_cents: int | None = None
    total_cents: int | None = None
    text: str


class AttachmentAnswer(Result):
    """One attachment."""

    attachment: AttachmentDetails


class ContactList(Result):
    """Contacts that match."""

    contacts: list[Contact]


class ContactAnswer(Result):
    """One contact."""

    contact: Contact


class LabelRow(Result):
    """A label with the number of messages that carry it."""

    label_id: str
    name: str
    description: str
    message_count: int


class LabelList(Result):
    """Labels that match."""

    labels: list[LabelRow]


class DraftList(Result):
    """Drafts that match."""

    drafts: list[Draft]


class Composed(Result):
    """What became of the text: a sent message or a saved draft."""

    message: MessageDetails | None = None
    draft: Draft | None = None


class Deleted(Result):
    """What was removed for good."""

    deleted_message_ids: list[str]
    deleted_attachment_ids: list[str]


class Compared(Result):
    """Which of the given values agree with the record."""

    matches: bool
    compared: list[str]
    mismatched: list[str]
