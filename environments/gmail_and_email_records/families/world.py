"""The mailboxes of the families: suppliers with quotes and invoices, colleagues, newsletters, drafts and an address book."""

from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from random import Random

from abstain_assets.pairs.entities import Person, moment, numbers, people
from abstain_assets.pairs.family import neutral_prompt
from environments.gmail_and_email_records.records import (
    Account,
    Attachment,
    AttachmentKind,
    Contact,
    Draft,
    MailLabel,
    MailState,
    Message,
)

_OWN = ("Brightwell Studios", "brightwell.example")
_COMPANIES = (
    ("Nordholz AB", "nordholz.example"),
    ("Śliwa i Synowie", "sliwa.example"),
    ("Quiñones & Hijos", "quinones.example"),
    ("Tamarind Trading", "tamarind.example"),
    ("Ōtsuka Supplies", "otsuka.example"),
    ("Fairhaven Services", "fairhaven.example"),
    ("Brücke Handel", "bruecke.example"),
)
_TOPICS = (
    "oak flooring",
    "stage lighting",
    "printer lease",
    "window cleaning",
    "opening-night catering",
    "server rack",
    "brochure printing",
    "lift maintenance",
    "courier service",
    "acoustic panels",
    "office chairs",
    "solar inverter",
    "sound desk rental",
    "fire extinguishers",
)
_NEWSLETTERS = ("Timber Weekly", "Stagecraft Digest", "The Ledger Letter", "Grid & Power News")
_ISSUES = ("spring prices", "trade fair guide", "reader survey", "new standards", "job market", "product tests", "interviews")
_LABELS = (
    ("Suppliers", "Quotes, invoices and delivery notes."),
    ("Reading", "Mailing lists; nothing here needs an answer."),
    ("Building", "Everything about the house and its upkeep."),
    ("Year-end", "Papers for the annual accounts."),
    ("Press", "Requests from journalists."),
    ("Travel", "Tickets and hotel bookings."),
)
_CHAT = (
    ("Keys for the side entrance", "The new keys lie with the porter."),
    ("Parking on Thursday", "The yard is closed for the delivery until noon."),
    ("Team lunch", "We thought of the place by the canal."),
    ("Holiday list", "Please enter your days by the end of the month."),
    ("Printer on the second floor", "It works again after the new toner."),
)
_PAPER_TEXTS = ("Payable by bank transfer.", "Delivered as agreed.", "Terms as usual.", "Prices include delivery.")
_NOTES = ("", "", "Prefers e-mail.", "Met at the trade fair.", "Back from leave since spring.")


@dataclass(frozen=True)
class Deal:
    """One purchase: the message with the quote and the later message with the invoice, both from the same supplier."""

    supplier: Person
    company: str
    topic: str
    quote: Message
    invoice: Message


@dataclass(frozen=True)
class World:
    """A drawn mailbox.

    Attributes:
        suppliers: people of other companies, with two deals each.
        colleagues: people of the owner's company; all are contacts, as the suppliers are. The last one never wrote.
        issues: newsletter issues per sender, oldest first.
    """

    state: MailState
    me: Person
    suppliers: list[Person]
    colleagues: list[Person]
    deals: list[Deal]
    issues: dict[str, list[Message]]
    spare_days: list[date] = field(repr=False)
    spare_cents: list[int] = field(repr=False)

    @property
    def now(self) -> datetime:
        return self.state.now

    @property
    def prompt(self) -> str:
        return neutral_prompt(f"the mailbox assistant of {self.me.name} at {_OWN[0]}", self.now)

    def of(self, supplier: Person) -> list[Deal]:
        """The deals of one supplier."""
        return [deal for deal in self.deals if deal.supplier == supplier]

    def paper(self, message: Message) -> Attachment:
        """The single attachment of a message."""
        return self.state.attachments[message.attachment_ids[0]]

    def contact(self, person: Person) -> Contact:
        """A person's entry in the address book."""
        return next(item for item in self.state.contacts.values() if item.name == person.name)

    def write_note(self, person: Person, note: str) -> str:
        """Write a note into a contact; returns the pointer of the note."""
        contact = self.contact(person)
        self.state.contacts[contact.contact_id] = contact.model_copy(update={"note": note})
        return f"/gmail_and_email_records/contacts/{contact.contact_id}/note"

    def write_body(self, message: Message, more: str) -> tuple[str, str]:
        """Add a sentence to a message's text; returns the pointer of the text and the text without the sentence."""
        plain = self.state.messages[message.message_id].body
        self.state.messages[message.message_id] = message.model_copy(update={"body": f"{plain} {more}"})
        return f"/gmail_and_email_records/messages/{message.message_id}/body", plain

    def write_text(self, paper: Attachment, text: str) -> str:
        """Put a text on a paper; returns the pointer of the text."""
        self.state.attachments[paper.attachment_id] = paper.model_copy(update={"text": text})
        return f"/gmail_and_email_records/attachments/{paper.attachment_id}/text"

    def describe_label(self, name: str, text: str) -> str:
        """Describe a label; returns the pointer of the description."""
        label = next(item for item in self.state.labels.values() if item.name == name)
        self.state.labels[label.label_id] = label.model_copy(update={"description": text})
        return f"/gmail_and_email_records/labels/{label.label_id}/description"

    def spoil_other_quote(self, rng: Random, deal: Deal) -> None:
        """Let another deal's quote and invoice differ: a harmless look-alike of a disagreement."""
        other = self.paper(rng.choice([item for item in self.deals if item.supplier != deal.supplier]).quote)
        changed = other.model_copy(update={"net_cents": self.spare_cents.pop()})
        self.state.attachments[other.attachment_id] = changed


def draw_world(rng: Random) -> World:
    """Draw a mailbox. Days on papers, net amounts and numbers all differ, but a quote and its invoice agree on the net."""
    now = moment(rng)
    persons = people(rng, 8)
    homes = [_OWN] * 4 + rng.sample(_COMPANIES, 4)
    persons = [Person(item.name, f"{item.email.split('@')[0]}@{home[1]}") for item, home in zip(persons, homes, strict=True)]
    me, *colleagues = persons[:4]
    suppliers = persons[4:]
    draw = _Draw(rng, now, me)
    topics = iter(rng.sample(_TOPICS, 2 * len(suppliers)))
    deals = [
        draw.deal(supplier, home[0], next(topics)) for supplier, home in zip(suppliers, homes[4:], strict=True) for _ in range(2)
    ]
    issues = {name: [draw.issue(name, topic) for topic in rng.sample(_ISSUES, 5)] for name in rng.sample(_NEWSLETTERS, 2)}
    for person, (subject, body) in zip(colleagues[:2] * 2, rng.sample(_CHAT, 4), strict=True):
        draw.received(person.name, person.email, subject, body)
    contacts = [
        Contact(
            contact_id=f"C-{number}",
            name=person.name,
            address=person.email,
            company=home[0],
            phone=f"+44 20 {5550 + index} {rng.randint(1000, 9899)}",
            note=rng.choice(_NOTES),
        )
        for index, (person, home, number) in enumerate(zip(persons[1:], homes[1:], numbers(rng, 7, 100, 900), strict=True))
    ]
    state = MailState(
        now=now,
        counters={"message": 9000, "thread": 9000, "draft": 900},
        account=Account(name=me.name, address=me.email),
        messages={item.message_id: item for item in sorted(draw.messages, key=lambda item: item.message_id)},
        attachments={item.attachment_id: item for item in sorted(draw.attachments, key=lambda item: item.attachment_id)},
        labels=draw.labels,
        contacts={item.contact_id: item for item in sorted(contacts, key=lambda item: item.contact_id)},
        drafts=draw.drafts(deals),
    )
    issues = {name: sorted(found, key=lambda item: item.sent_on) for name, found in issues.items()}
    return World(state, me, suppliers, colleagues, deals, issues, draw.future, draw.cents)


class _Draw:
    """Values that are used up as they are drawn."""

    def __init__(self, rng: Random, now: datetime, me: Person) -> None:
        self.rng = rng
        self.me = me
        self.now = now
        self.messages: list[Message] = []
        self.attachments: list[Attachment] = []
        self.ids = numbers(rng, 60, 1000, 8900)
        self.paper_ids = numbers(rng, 24, 200, 990)
        self.document_ids = numbers(rng, 24, 2000, 9900)
        self.cents = [100 * number + rng.randrange(1, 100) for number in numbers(rng, 24, 300, 6000)]
        back = rng.sample(range(2, 160), 90)
        self.past = sorted(now.date() - timedelta(days=days) for days in back[:40])
        self.issued = [now.date() - timedelta(days=days) for days in back[40:]]
        self.future = [now.date() + timedelta(days=days) for days in rng.sample(range(12, 160), 40)]
        labels = [MailLabel(label_id=f"L-{number}", name=name, description=text) for number, (name, text) in enumerate(_LABELS, 11)]
        self.labels = {label.label_id: label for label in labels}
        rng.shuffle(self.past)

    def deal(self, supplier: Person, company: str, topic: str) -> Deal:
        net = self.cents.pop()
        first, second = sorted((self.past.pop(), self.past.pop()))
        quote = self._paper("quote", company, topic, net)
        invoice = self._paper("invoice", company, topic, net)
        words = self.rng.choice(("as discussed", "as promised", "as we agreed on the phone"))
        sent = []
        for day, title, attached in ((first, "Quote", quote), (second, "Invoice", invoice)):
            body = f"Hello, {words}, our {title.lower()} is attached."
            sent.append(self.received(supplier.name, supplier.email, f"{title}: {topic}", body, day, (attached,), "L-11"))
        return Deal(supplier, company, topic, *sent)

    def issue(self, name: str, topic: str) -> Message:
        address = f"news@{''.join(char for char in name.lower() if char.isalpha())}.example"
        return self.received(name, address, f"{name}: {topic}", "Read this issue online.", None, (), "L-12")

    def received(
        self,
        name: str,
        address: str,
        subject: str,
        body: str,
        day: date | None = None,
        papers: tuple[Attachment, ...] = (),
        *labels: str,
    ) -> Message:
        number = self.ids.pop()
        message = Message(
            message_id=f"M-{number}",
            thread_id=f"T-{number}",
            folder="inbox",
            sender_name=name,
            sender_address=address,
            envelope_address=address,
            to=(self.me.email,),
            subject=subject,
            body=body,
            sent_on=day or self.past.pop(),
            sent_time=f"{self.rng.randint(7, 18):02d}:{self.rng.randint(0, 59):02d}",
            label_ids=labels,
            attachment_ids=tuple(paper.attachment_id for paper in papers),
        )
        self.messages.append(message)
        return message

    def _paper(self, kind: AttachmentKind, company: str, topic: str, net: int) -> Attachment:
        number = self.document_ids.pop()
        paper = Attachment(
            attachment_id=f"A-{self.paper_ids.pop()}",
            filename=f"{kind}_{number}.pdf",
            kind=kind,
            issuer=company,
            document_number=f"{company[0]}{kind[0].upper()}-{number}",
            issued_on=self.issued.pop(),
            due_on=self.future.pop() if kind == "invoice" else None,
            net_cents=net,
            tax_cents=net // 5,
            text=self.rng.choice(_PAPER_TEXTS),
        )
        self.attachments.append(paper)
        return paper

    def drafts(self, deals: list[Deal]) -> dict[str, Draft]:
        chosen = {deal.supplier.email: deal for deal in deals}.values()
        found = {}
        for number, deal in zip(self.rng.sample(range(501, 560), len(chosen)), chosen, strict=True):
            found[f"D-{number}"] = Draft(
                draft_id=f"D-{number}",
                to=(deal.supplier.email,),
                subject=f"Question about {deal.topic}",
                body="Could you tell us when you can start? Kind regards",
                saved_on=self.now.date() - timedelta(days=1),
            )
        return dict(sorted(found.items()))
