"""What the mailbox tools share: finding things, sending, deleting, and how messages are shown."""

import re
from collections.abc import Iterable

from environments.gmail_and_email_records.records import (
    AttachmentRow,
    Compared,
    Deleted,
    MailLabel,
    MailState,
    Message,
    MessageDetails,
    MessageList,
    MessageRow,
)
from environments.runtime import Environment, ToolError

_ADDRESS = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")


class Mailbox(Environment[MailState]):
    """A mailbox without tools."""

    def find_message(self, message_id: str) -> Message:
        """The message of an id. Raises ToolError `not_found`."""
        found = self.state.messages.get(message_id)
        if found is None:
            raise ToolError("not_found", f"There is no message {message_id}.")
        return found

    def find_messages(self, message_ids: list[str]) -> list[Message]:
        """The messages of some ids, each once. Raises ToolError `not_found`, or `invalid_arguments` for an empty list."""
        if not message_ids:
            raise ToolError("invalid_arguments", "Give at least one message.")
        return [self.find_message(message_id) for message_id in dict.fromkeys(message_ids)]

    def find_label(self, name: str) -> MailLabel:
        """The label of a name, whatever its case. Raises ToolError `not_found`."""
        for label in self.state.labels.values():
            if same(name, label.name):
                return label
        raise ToolError("not_found", f"There is no label {name!r}.")

    def labelled(self, label: MailLabel) -> list[Message]:
        """Messages that carry a label."""
        return [message for message in self.state.messages.values() if label.label_id in message.label_ids]

    def find_files(self, attachment_ids: list[str]) -> tuple[str, ...]:
        """The ids, each once. Raises ToolError `not_found` for an unknown attachment."""
        for attachment_id in attachment_ids:
            if attachment_id not in self.state.attachments:
                raise ToolError("not_found", f"There is no attachment {attachment_id}.")
        return tuple(dict.fromkeys(attachment_ids))

    def put(self, message: Message) -> None:
        """Store a message in place of the one with its id."""
        self.state.messages[message.message_id] = message

    def send(
        self,
        to: Iterable[str],
        cc: Iterable[str],
        subject: str,
        body: str,
        files: tuple[str, ...] = (),
        *,
        origin_id: str | None = None,
        thread_id: str | None = None,
    ) -> Message:
        """Store a new sent message, in a new conversation unless one is given. Raises ToolError without recipients."""
        if not tuple(to):
            raise ToolError("precondition_failed", "A message needs at least one recipient.")
        message = Message(
            message_id=self.next_id("message", "M-"),
            thread_id=thread_id or self.next_id("thread", "T-"),
            folder="sent",
            sender_name=self.state.account.name,
            sender_address=self.state.account.address,
            envelope_address=self.state.account.address,
            to=tuple(dict.fromkeys(to)),
            cc=tuple(dict.fromkeys(cc)),
            subject=subject,
            body=body,
            sent_on=self.today,
            sent_time=f"{self.state.now:%H:%M}",
            attachment_ids=files,
            origin_id=origin_id,
        )
        self.put(message)
        return message

    def delete(self, messages: list[Message]) -> Deleted:
        """Remove messages, and attachments that nothing carries any more."""
        for message in messages:
            del self.state.messages[message.message_id]
        carried = {item for message in self.state.messages.values() for item in message.attachment_ids}
        carried |= {item for draft in self.state.drafts.values() for item in draft.attachment_ids}
        orphans = sorted({item for message in messages for item in message.attachment_ids} - carried)
        for attachment_id in orphans:
            del self.state.attachments[attachment_id]
        return Deleted(deleted_message_ids=sorted(message.message_id for message in messages), deleted_attachment_ids=orphans)

    def row(self, message: Message) -> dict[str, object]:
        """The fields of a message that lists show."""
        labels = sorted(self.state.labels[label_id].name for label_id in message.label_ids)
        shown = message.model_dump(include=set(MessageRow.model_fields))
        return {**shown, "labels": labels, "attachment_count": len(message.attachment_ids)}

    def details(self, message: Message) -> MessageDetails:
        """A message in full."""
        files = [self.state.attachments[item] for item in message.attachment_ids]
        return MessageDetails(
            **self.row(message),
            to=list(message.to),
            cc=list(message.cc),
            body=message.body,
            origin_id=message.origin_id,
            attachments=[AttachmentRow(**file.model_dump(include=set(AttachmentRow.model_fields))) for file in files],
        )

    def rows(self, message_ids: list[str]) -> MessageList:
        """Messages as a list shows them, sorted by id."""
        found = [self.state.messages[message_id] for message_id in sorted(set(message_ids))]
        return MessageList(messages=[MessageRow(**self.row(message)) for message in found])


def within(part: str, *texts: str) -> bool:
    """Whether any text contains the part, whatever the case."""
    return any(part.casefold() in text.casefold() for text in texts)


def same(one: str, other: str) -> bool:
    """Whether two names or addresses are the same but for case and outer spaces."""
    return one.strip().casefold() == other.casefold()


def compared(agree: dict[str, bool]) -> Compared:
    """The answer of a verification, from what agrees."""
    wrong = [name for name, value in agree.items() if not value]
    return Compared(matches=not wrong, compared=list(agree), mismatched=wrong)


def check_addresses(addresses: list[str]) -> None:
    """Raise ToolError `invalid_arguments` unless all look like e-mail addresses."""
    for address in addresses:
        if not _ADDRESS.fullmatch(address):
            raise ToolError("invalid_arguments", f"{address!r} is not an e-mail address.")
