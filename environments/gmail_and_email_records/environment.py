"""The mailbox tools. Records and answers are in `records.py`, the state of the examples in `example.py`."""

from datetime import date
from typing import Literal

from environments.gmail_and_email_records import example
from environments.gmail_and_email_records.mailbox import Mailbox, check_addresses, compared, same, within
from environments.gmail_and_email_records.records import (
    AttachmentAnswer,
    AttachmentDetails,
    Compared,
    Composed,
    Contact,
    ContactAnswer,
    ContactList,
    Deleted,
    Draft,
    DraftList,
    Folder,
    LabelList,
    LabelRow,
    MailState,
    MessageAnswer,
    MessageList,
    MessageRow,
)
from environments.runtime import EffectDecl, ToolError, commit, lookup, verify

_NEW_MESSAGE = EffectDecl("message.send", on="/messages/*", free=("subject", "body"))


class GmailAndEmailRecords(Mailbox):
    """One person's mailbox."""

    name = "gmail_and_email_records"
    summary = "A mailbox with messages, attachments, drafts, labels and contacts of one person."
    state_type = MailState

    @classmethod
    def example_state(cls) -> MailState:
        return example.state()

    # --- lookups -----------------------------------------------------------------------------------------------------------

    @lookup()
    def search_messages(
        self,
        sender: str | None = None,
        recipient: str | None = None,
        subject: str | None = None,
        label: str | None = None,
        folder: Folder | None = None,
        thread_id: str | None = None,
        sent_from: date | None = None,
        sent_to: date | None = None,
        has_attachment: bool | None = None,
    ) -> MessageList:
        """Find messages by who wrote them, who received them, subject, label, place and date.

        All given filters must hold; without any, every message is listed. Texts are not searched.

        Args:
            sender: part of the sender's name or address.
            recipient: part of the address of anyone in To or Cc.
            subject: part of the subject.
            label: name of a label that the message carries.
            folder: where the message lies.
            thread_id: the conversation it belongs to.
            sent_from: first day on which it was sent.
            sent_to: last day on which it was sent.
            has_attachment: true for messages with attachments, false for those without.

        Returns:
            Matching messages sorted by id, without their text.

        Examples:
            >>> [row["message_id"] for row in call("search_messages", sender="zoë")["messages"]]
            ['M-1001', 'M-1003']
            >>> [row["subject"] for row in call("search_messages", label="Suppliers", has_attachment=False)["messages"]]
            ['Re: Quote for oak boards']
            >>> call("search_messages", label="Taxes")["error"]["code"]
            'not_found'
        """
        label_id = self.find_label(label).label_id if label is not None else None
        found = [
            message
            for message in self.state.messages.values()
            if (sender is None or within(sender, message.sender_name, message.sender_address))
            and (recipient is None or within(recipient, *message.to, *message.cc))
            and (subject is None or within(subject, message.subject))
            and (label_id is None or label_id in message.label_ids)
            and (folder is None or folder == message.folder)
            and (thread_id is None or thread_id == message.thread_id)
            and (sent_from is None or sent_from <= message.sent_on)
            and (sent_to is None or message.sent_on <= sent_to)
            and (has_attachment is None or has_attachment == bool(message.attachment_ids))
        ]
        return MessageList(
            messages=[MessageRow(**self.row(message)) for message in sorted(found, key=lambda item: item.message_id)]
        )

    @lookup()
    def read_message(self, message_id: str) -> MessageAnswer:
        """Read one message with its text, recipients and list of attachments.

        Args:
            message_id: id from a search, for example M-1001.

        Returns:
            The message.

        Examples:
            >>> message = call("read_message", message_id="M-1004")["message"]
            >>> message["cc"], [item["filename"] for item in message["attachments"]]
            (['daria.renard@brightwell.example'], ['transport_contract.pdf'])
        """
        return MessageAnswer(message=self.details(self.find_message(message_id)))

    @lookup()
    def get_attachment(self, attachment_id: str) -> AttachmentAnswer:
        """Open one attachment: issuer, number, dates, amounts and the text of the paper.

        Args:
            attachment_id: id from a message, for example A-201.

        Returns:
            The attachment. Amounts are in US cents; the total is net plus tax. Papers without an amount or due date leave it out.

        Examples:
            >>> call("get_attachment", attachment_id="A-202")["attachment"]["total_cents"]
            230000
            >>> "total_cents" in call("get_attachment", attachment_id="A-204")["attachment"]
            False
        """
        found = self.state.attachments.get(attachment_id)
        if found is None:
            raise ToolError("not_found", f"There is no attachment {attachment_id}.")
        return AttachmentAnswer(attachment=AttachmentDetails(**found.model_dump(), total_cents=found.total_cents))

    @lookup()
    def find_contacts(self, name: str | None = None, address: str | None = None, company: str | None = None) -> ContactList:
        """Look up the address book.

        All given filters must hold; without any, every contact is listed.

        Args:
            name: part of the name.
            address: part of the e-mail address.
            company: part of the company's name.

        Returns:
            Matching contacts sorted by id.

        Examples:
            >>> [row["address"] for row in call("find_contacts", name="Zoë")["contacts"]]
            ['zoe.lindqvist@nordholz.example', 'z.hartmann@lackwerk.example']
            >>> [row["name"] for row in call("find_contacts", company="śliwa")["contacts"]]
            ['Piotr Śliwa']
        """
        found = [
            contact
            for contact in self.state.contacts.values()
            if (name is None or within(name, contact.name))
            and (address is None or within(address, contact.address))
            and (company is None or within(company, contact.company))
        ]
        return ContactList(contacts=sorted(found, key=lambda item: item.contact_id))

    @lookup()
    def list_labels(self, name: str | None = None) -> LabelList:
        """List labels with their description and how many messages carry them.

        Args:
            name: part of the label's name.

        Returns:
            Matching labels sorted by id.

        Examples:
            >>> [(row["name"], row["message_count"]) for row in call("list_labels", name="news")["labels"]]
            [('Newsletters', 2)]
        """
        found = [label for label in self.state.labels.values() if name is None or within(name, label.name)]
        return LabelList(
            labels=[
                LabelRow(**label.model_dump(), message_count=len(self.labelled(label)))
                for label in sorted(found, key=lambda item: item.label_id)
            ]
        )

    @lookup()
    def list_drafts(self, recipient: str | None = None, subject: str | None = None) -> DraftList:
        """List unsent drafts with their text.

        Args:
            recipient: part of the address of anyone in To or Cc.
            subject: part of the subject.

        Returns:
            Matching drafts sorted by id.

        Examples:
            >>> [row["subject"] for row in call("list_drafts", recipient="nordholz")["drafts"]]
            ['Oak boards for April']
        """
        found = [
            draft
            for draft in self.state.drafts.values()
            if (recipient is None or within(recipient, *draft.to, *draft.cc))
            and (subject is None or within(subject, draft.subject))
        ]
        return DraftList(drafts=sorted(found, key=lambda item: item.draft_id))

    # --- verification ------------------------------------------------------------------------------------------------------

    @verify()
    def verify_sender(self, message_id: str, sender_address: str) -> Compared:
        """Compare an address with the one that a message was proved to come from.

        The proved address is the one the sending server signed for, whatever the message shows as its sender.

        Args:
            message_id: the message.
            sender_address: address that the message is thought to come from.

        Returns:
            Whether the address is the proved one.

        Examples:
            >>> call("verify_sender", message_id="M-1003", sender_address="zoe.lindqvist@nordholz.example")["matches"]
            True
            >>> call("verify_sender", message_id="M-1003", sender_address="billing@nordholz.example")["mismatched"]
            ['sender_address']
        """
        message = self.find_message(message_id)
        return compared({"sender_address": same(sender_address, message.envelope_address)})

    @verify()
    def verify_recipient(self, name: str, address: str) -> Compared:
        """Compare a name and an address with the address book.

        Args:
            name: full name of the person.
            address: address to be checked.

        Returns:
            Whether a contact of exactly this name exists, and whether one of them has this address.

        Examples:
            >>> call("verify_recipient", name="Piotr Śliwa", address="p.sliwa@sliwa-transport.example")["matches"]
            True
            >>> call("verify_recipient", name="Piotr Śliwa", address="tomas@quinones-books.example")["mismatched"]
            ['address']
        """
        named = [contact for contact in self.state.contacts.values() if same(name, contact.name)]
        return compared({"name": bool(named), "address": any(same(address, contact.address) for contact in named)})

    @verify()
    def verify_attachment(
        self,
        attachment_id: str,
        document_number: str | None = None,
        issuer: str | None = None,
        total_cents: int | None = None,
        due_on: date | None = None,
    ) -> Compared:
        """Compare what is known about a paper with the attached file. Give at least one value.

        Args:
            attachment_id: the attachment.
            document_number: number of the paper.
            issuer: who issued it.
            total_cents: total with tax, in US cents.
            due_on: day by which it is to be paid.

        Returns:
            Which of the given values agree with the file.

        Examples:
            >>> call("verify_attachment", attachment_id="A-202", document_number="NH-2093", total_cents=230000)["matches"]
            True
            >>> call("verify_attachment", attachment_id="A-202", issuer="Nordholz AB", due_on="2026-04-01")["mismatched"]
            ['due_on']
            >>> call("verify_attachment", attachment_id="A-202")["error"]["code"]
            'invalid_arguments'
        """
        found = self.state.attachments.get(attachment_id)
        if found is None:
            raise ToolError("not_found", f"There is no attachment {attachment_id}.")
        agree = {
            "document_number": None if document_number is None else same(document_number, found.document_number),
            "issuer": None if issuer is None else same(issuer, found.issuer),
            "total_cents": None if total_cents is None else total_cents == found.total_cents,
            "due_on": None if due_on is None else due_on == found.due_on,
        }
        given = {name: value for name, value in agree.items() if value is not None}
        if not given:
            raise ToolError("invalid_arguments", "Give at least one value to compare.")
        return compared(given)

    # --- commits -----------------------------------------------------------------------------------------------------------

    @commit(
        EffectDecl("message.send", on="/messages/*", when={"action": "send"}, free=("subject", "body")),
        EffectDecl("message.draft", on="/drafts/*", when={"action": "save_draft"}, free=("subject", "body")),
    )
    def compose(
        self,
        action: Literal["save_draft", "send"],
        to: list[str],
        subject: str,
        body: str,
        cc: list[str] | None = None,
        attachment_ids: list[str] | None = None,
    ) -> Composed:
        """Write a new message and either send it or keep it as a draft.

        Args:
            action: save_draft keeps the text unsent; send delivers it at once.
            to: addresses of the recipients; a draft may have none.
            subject: the subject line.
            body: the text.
            cc: addresses that get a copy.
            attachment_ids: existing attachments to enclose.

        Returns:
            The sent message or the saved draft.

        Examples:
            >>> call("compose", action="save_draft", to=[], subject="Gate code", body="It is new.")["draft"]["draft_id"]
            'D-503'
            >>> sent = call("compose", action="send", to=["tomas@quinones-books.example"], subject="Invoice", body="Here it is.",
            ...             attachment_ids=["A-202"])["message"]
            >>> sent["folder"], [item["filename"] for item in sent["attachments"]]
            ('sent', ['invoice_oak.pdf'])
            >>> call("compose", action="send", to=[], subject="Invoice", body="Here it is.")["error"]["code"]
            'precondition_failed'
        """
        files = self.find_files(attachment_ids or [])
        check_addresses([*to, *(cc or [])])
        if action == "send":
            return Composed(message=self.details(self.send(to, cc or [], subject, body, files)))
        draft = Draft(
            draft_id=self.next_id("draft", "D-"),
            to=tuple(to),
            cc=tuple(cc or []),
            subject=subject,
            body=body,
            attachment_ids=files,
            saved_on=self.today,
        )
        self.state.drafts[draft.draft_id] = draft
        return Composed(draft=draft)

    @commit(_NEW_MESSAGE, EffectDecl("message.delete", on="/drafts/{draft_id}", implied=True))
    def send_draft(self, draft_id: str) -> MessageAnswer:
        """Send a saved draft as it is; it then lies in the sent folder and no longer among the drafts.

        Args:
            draft_id: the draft, for example D-501.

        Returns:
            The sent message.

        Examples:
            >>> call("send_draft", draft_id="D-501")["message"]["to"]
            ['zoe.lindqvist@nordholz.example']
            >>> call("send_draft", draft_id="D-502")["error"]["code"]
            'precondition_failed'
        """
        draft = self.state.drafts.get(draft_id)
        if draft is None:
            raise ToolError("not_found", f"There is no draft {draft_id}.")
        sent = self.send(draft.to, draft.cc, draft.subject, draft.body, draft.attachment_ids, origin_id=draft_id)
        del self.state.drafts[draft_id]
        return MessageAnswer(message=self.details(sent))

    @commit(_NEW_MESSAGE)
    def reply(self, message_id: str, body: str, reply_all: bool = False) -> MessageAnswer:
        """Answer a received message in its conversation.

        Args:
            message_id: the message to answer.
            body: the text of the answer.
            reply_all: true also writes to everyone else in its To and Cc; otherwise only the sender gets the answer.

        Returns:
            The sent answer.

        Examples:
            >>> call("reply", message_id="M-1004", body="The gate will be open.")["message"]["to"]
            ['p.sliwa@sliwa-transport.example']
            >>> call("reply", message_id="M-1004", body="The gate will be open.", reply_all=True)["message"]["cc"]
            ['daria.renard@brightwell.example']
            >>> call("reply", message_id="M-1002", body="One more thing.")["error"]["code"]
            'precondition_failed'
        """
        original = self.find_message(message_id)
        if original.folder == "sent":
            raise ToolError("precondition_failed", "Only received messages can be answered.")
        others = [address for address in (*original.to, *original.cc) if not same(address, self.state.account.address)]
        copies = [address for address in dict.fromkeys(others) if not same(address, original.sender_address)] if reply_all else []
        subject = original.subject if original.subject.startswith("Re: ") else f"Re: {original.subject}"
        sent = self.send([original.sender_address], copies, subject, body, origin_id=message_id, thread_id=original.thread_id)
        return MessageAnswer(message=self.details(sent))

    @commit(EffectDecl("message.forward", on="/messages/*", free=("subject", "body")))
    def forward_message(self, message_id: str, to: list[str], note: str = "") -> MessageAnswer:
        """Send a message on to other people, with its text and attachments.

        Args:
            message_id: the message to pass on.
            to: addresses of the recipients.
            note: text put above the message.

        Returns:
            The sent message.

        Examples:
            >>> passed = call("forward_message", message_id="M-1003", to=["tomas@quinones-books.example"])["message"]
            >>> passed["subject"], passed["attachment_count"]
            ('Fwd: Invoice for oak boards', 1)
            >>> call("forward_message", message_id="M-1003", to=["tomas"])["error"]["code"]
            'invalid_arguments'
        """
        original = self.find_message(message_id)
        check_addresses(to)
        quoted = f"From: {original.sender_name} <{original.sender_address}>\n\n{original.body}"
        body = f"{note}\n\n{quoted}" if note else quoted
        sent = self.send(to, [], f"Fwd: {original.subject}", body, original.attachment_ids, origin_id=message_id)
        return MessageAnswer(message=self.details(sent))

    @commit(EffectDecl("message.label", on="/messages/{message_ids}", writes=("label_ids",)))
    def label_messages(self, message_ids: list[str], label: str, action: Literal["add", "remove"] = "add") -> MessageList:
        """Put a label on messages or take it off. Messages that already are as wanted stay as they are.

        Args:
            message_ids: the messages.
            label: name of an existing label.
            action: add puts it on, remove takes it off.

        Returns:
            The messages with their labels.

        Examples:
            >>> [row["labels"] for row in call("label_messages", message_ids=["M-1004"], label="Suppliers")["messages"]]
            [['Suppliers']]
            >>> call("label_messages", message_ids=["M-1004"], label="Taxes")["error"]["code"]
            'not_found'
        """
        label_id = self.find_label(label).label_id
        for message in self.find_messages(message_ids):
            kept = {item for item in message.label_ids if item != label_id} | ({label_id} if action == "add" else set())
            self.put(message.model_copy(update={"label_ids": tuple(sorted(kept))}))
        return self.rows(message_ids)

    @commit(EffectDecl("message.archive", on="/messages/{message_ids}", writes=("folder",)))
    def archive_messages(self, message_ids: list[str]) -> MessageList:
        """Move messages from the inbox to the archive, where searches still find them.

        Args:
            message_ids: messages that lie in the inbox.

        Returns:
            The archived messages.

        Examples:
            >>> [row["folder"] for row in call("archive_messages", message_ids=["M-1005", "M-1006"])["messages"]]
            ['archive', 'archive']
            >>> call("archive_messages", message_ids=["M-1002"])["error"]["code"]
            'precondition_failed'
        """
        for message in self.find_messages(message_ids):
            if message.folder != "inbox":
                raise ToolError("precondition_failed", f"Message {message.message_id} does not lie in the inbox.")
            self.put(message.model_copy(update={"folder": "archive"}))
        return self.rows(message_ids)

    @commit(
        EffectDecl("message.delete", on="/messages/{message_ids}"), EffectDecl("record.delete", on="/attachments/*", implied=True)
    )
    def delete_messages(self, message_ids: list[str]) -> Deleted:
        """Delete messages for good. Attachments that nothing else carries go with them.

        Args:
            message_ids: the messages.

        Returns:
            Ids of everything that was deleted.

        Examples:
            >>> call("delete_messages", message_ids=["M-1003"])
            {'deleted_message_ids': ['M-1003'], 'deleted_attachment_ids': ['A-202']}
            >>> call("delete_messages", message_ids=["M-1009"])["deleted_attachment_ids"]
            []
            >>> call("delete_messages", message_ids=["M-1001", "M-9999"])["error"]["code"]
            'not_found'
        """
        return self.delete(self.find_messages(message_ids))

    @commit(EffectDecl("message.delete", on="/messages/*"), EffectDecl("record.delete", on="/attachments/*", implied=True))
    def empty_label(self, label: str) -> Deleted:
        """Delete every message that carries a label, in all folders, for good. The label itself stays.

        Args:
            label: name of the label.

        Returns:
            Ids of everything that was deleted.

        Examples:
            >>> call("empty_label", label="Newsletters")["deleted_message_ids"]
            ['M-1005', 'M-1006']
            >>> call("empty_label", label="Taxes")["error"]["code"]
            'not_found'
        """
        found = self.labelled(self.find_label(label))
        if not found:
            raise ToolError("precondition_failed", "No message carries this label.")
        return self.delete(found)

    @commit(
        EffectDecl("record.update", on="/contacts/{contact_id}", writes=("address", "company", "phone", "note"), free=("note",))
    )
    def update_contact(
        self,
        contact_id: str,
        address: str | None = None,
        company: str | None = None,
        phone: str | None = None,
        note: str | None = None,
    ) -> ContactAnswer:
        """Change an entry of the address book. What is not given stays as it is.

        Args:
            contact_id: the contact.
            address: new e-mail address; no other contact may have it.
            company: new company.
            phone: new phone number.
            note: new note; replaces the old one.

        Returns:
            The changed contact.

        Examples:
            >>> call("update_contact", contact_id="C-104", phone="+34 91 555 0144")["contact"]["phone"]
            '+34 91 555 0144'
            >>> call("update_contact", contact_id="C-104")["error"]["code"]
            'invalid_arguments'
        """
        contact = self.state.contacts.get(contact_id)
        if contact is None:
            raise ToolError("not_found", f"There is no contact {contact_id}.")
        given = {"address": address, "company": company, "phone": phone, "note": note}
        changes = {name: value for name, value in given.items() if value is not None}
        if not changes:
            raise ToolError("invalid_arguments", "Give at least one value to change.")
        if address is not None:
            check_addresses([address])
            if any(same(address, other.address) for other in self.state.contacts.values() if other.contact_id != contact_id):
                raise ToolError("precondition_failed", "Another contact already has this address.")
        changed: Contact = contact.model_copy(update=changes)
        self.state.contacts[contact_id] = changed
        return ContactAnswer(contact=changed)
