"""The mailbox on which the tools' examples hold: a small joinery firm in the week before a delivery."""

from datetime import date, datetime

from environments.gmail_and_email_records.records import Account, Attachment, Contact, Draft, MailLabel, MailState, Message

_ME = "ines.okafor@brightwell.example"


def state() -> MailState:
    """Ten messages of four correspondents, five attachments, three labels, five contacts, two drafts."""
    return MailState(
        now=datetime(2026, 3, 16, 9, 30),
        counters={"message": 1010, "thread": 305, "draft": 502},
        account=Account(name="Ines Okafor", address=_ME),
        messages={message.message_id: message for message in _MESSAGES},
        attachments={attachment.attachment_id: attachment for attachment in _ATTACHMENTS},
        labels={
            "L-11": MailLabel(label_id="L-11", name="Suppliers", description="Quotes, invoices and delivery notes."),
            "L-12": MailLabel(label_id="L-12", name="Newsletters", description="Mailing lists; nothing here needs an answer."),
            "L-13": MailLabel(label_id="L-13", name="Workshop rebuild", description="Everything about the rebuild in Hall 2."),
        },
        contacts={contact.contact_id: contact for contact in _CONTACTS},
        drafts={
            "D-501": Draft(
                draft_id="D-501",
                to=("zoe.lindqvist@nordholz.example",),
                subject="Oak boards for April",
                body="Dear Zoë, we would like 40 boards of the same grade in April. Best wishes, Ines",
                saved_on=date(2026, 3, 13),
            ),
            "D-502": Draft(draft_id="D-502", to=(), subject="Notes for the workshop meeting", body="", saved_on=date(2026, 3, 14)),
        },
    )


def _message(
    number: int, thread: int, sender: tuple[str, str], subject: str, body: str, when: tuple[int, str], **more: tuple[str, ...]
) -> Message:
    mine = sender[1] == _ME
    return Message(
        message_id=f"M-{number}",
        thread_id=f"T-{thread}",
        folder="sent" if mine else "inbox",
        sender_name=sender[0],
        sender_address=sender[1],
        envelope_address=sender[1],
        to=more.get("to", (_ME,)),
        cc=more.get("cc", ()),
        subject=subject,
        body=body,
        sent_on=date(2026, 3, when[0]),
        sent_time=when[1],
        label_ids=more.get("labels", ()),
        attachment_ids=more.get("files", ()),
    )


_ZOE = ("Zoë Lindqvist", "zoe.lindqvist@nordholz.example")
_PIOTR = ("Piotr Śliwa", "p.sliwa@sliwa-transport.example")
_NEWS = ("Timber Weekly", "news@timberweekly.example")
_DARIA = ("Daria Renard", "daria.renard@brightwell.example")
_INES = ("Ines Okafor", _ME)

_MESSAGES = (
    _message(
        1001,
        301,
        _ZOE,
        "Quote for oak boards",
        "Dear Ines, attached is our quote. It is good for thirty days. Zoë",
        (2, "08:12"),
        labels=("L-11",),
        files=("A-201",),
    ),
    _message(
        1002,
        301,
        _INES,
        "Re: Quote for oak boards",
        "Dear Zoë, please go ahead as quoted. Ines",
        (3, "10:40"),
        to=(_ZOE[1],),
        labels=("L-11",),
    ),
    _message(
        1003,
        301,
        _ZOE,
        "Invoice for oak boards",
        "Dear Ines, here is the invoice for the boards. Zoë",
        (12, "07:55"),
        labels=("L-11",),
        files=("A-202",),
    ),
    _message(
        1004,
        302,
        _PIOTR,
        "Delivery on Thursday",
        "Good morning, the lorry comes on Thursday. Please keep the yard gate open. Piotr",
        (13, "06:31"),
        cc=(_DARIA[1],),
        files=("A-203",),
    ),
    _message(1005, 303, _NEWS, "Prices in February", "This week: softwood is up, plywood is down.", (4, "05:00"), labels=("L-12",)),
    _message(1006, 303, _NEWS, "Prices in March", "This week: oak is scarce again.", (11, "05:00"), labels=("L-12",)),
    _message(
        1007,
        304,
        _DARIA,
        "Floor plan of Hall 2",
        "Hi Ines, the plan is attached. The dust extraction moves to the north wall. Daria",
        (9, "16:20"),
        labels=("L-13",),
        files=("A-204",),
    ),
    _message(
        1008,
        304,
        _DARIA,
        "Electrician for Hall 2",
        "Hi Ines, the electrician can start on 30 March. Daria",
        (10, "11:05"),
        labels=("L-13",),
    ),
    _message(
        1009,
        305,
        _PIOTR,
        "Receipt for February",
        "Thank you for the payment; the receipt is attached. Piotr",
        (5, "09:00"),
        files=("A-205",),
    ),
    _message(1010, 305, _INES, "Re: Receipt for February", "Thank you. Ines", (5, "09:42"), to=(_PIOTR[1],), files=("A-205",)),
)

_ATTACHMENTS = (
    Attachment(
        attachment_id="A-201",
        filename="quote_oak.pdf",
        kind="quote",
        issuer="Nordholz AB",
        document_number="Q-7741",
        issued_on=date(2026, 3, 2),
        net_cents=184_000,
        tax_cents=46_000,
        text="40 oak boards, grade A, delivered.",
    ),
    Attachment(
        attachment_id="A-202",
        filename="invoice_oak.pdf",
        kind="invoice",
        issuer="Nordholz AB",
        document_number="NH-2093",
        issued_on=date(2026, 3, 12),
        due_on=date(2026, 4, 11),
        net_cents=184_000,
        tax_cents=46_000,
        text="40 oak boards, grade A, delivered. Refers to quote Q-7741.",
    ),
    Attachment(
        attachment_id="A-203",
        filename="transport_contract.pdf",
        kind="contract",
        issuer="Śliwa Transport",
        document_number="ST-118",
        issued_on=date(2026, 1, 8),
        text="Monthly deliveries until the end of the year.",
    ),
    Attachment(
        attachment_id="A-204",
        filename="hall2_plan.pdf",
        kind="report",
        issuer="Brightwell Joinery",
        document_number="BW-H2-4",
        issued_on=date(2026, 3, 9),
        text="Floor plan, scale 1:50.",
    ),
    Attachment(
        attachment_id="A-205",
        filename="receipt_feb.pdf",
        kind="receipt",
        issuer="Śliwa Transport",
        document_number="ST-R-61",
        issued_on=date(2026, 3, 5),
        net_cents=32_000,
        tax_cents=7_360,
        text="Two deliveries in February.",
    ),
)

_CONTACTS = (
    Contact(contact_id="C-101", name=_ZOE[0], address=_ZOE[1], company="Nordholz AB", phone="+46 8 555 010 20"),
    Contact(contact_id="C-102", name=_PIOTR[0], address=_PIOTR[1], company="Śliwa Transport", note="Calls back after 14:00 only."),
    Contact(contact_id="C-103", name=_DARIA[0], address=_DARIA[1], company="Brightwell Joinery", phone="+44 20 5550 0182"),
    Contact(contact_id="C-104", name="Tomás Quiñones", address="tomas@quinones-books.example", company="Quiñones Bookkeeping"),
    Contact(contact_id="C-105", name="Zoë Hartmann", address="z.hartmann@lackwerk.example", company="Lackwerk GmbH"),
)
