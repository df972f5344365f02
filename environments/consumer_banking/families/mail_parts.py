"""What the two families over mailbox and bank share."""

from datetime import timedelta
from random import Random

from abstain_assets.pairs.changes import Change, disagreement
from abstain_assets.records import Node, Ref, Said, Source
from environments.consumer_banking.families.parts import PAPERS
from environments.consumer_banking.families.world import World
from environments.consumer_banking.records import Paper

SEARCH = "gmail_and_email_records.search_messages"
READ = "gmail_and_email_records.read_message"
OPEN = "gmail_and_email_records.get_attachment"

PAPER = "attached.attachment"
COPY = "copy.papers[only]"

SUBJECTS = ("Invoice for our services", "Your invoice for last month", "Account for the completed work", "Our invoice, with thanks")
BODIES = (
    "Dear customer, enclosed is our invoice. An earlier one went out with an error in the address; that has been corrected. Kind "
    "regards.",
    "Dear customer, please find our invoice enclosed. Our bank account was blocked for two days in spring, all is well again. "
    "Kind regards.",
)

searched = Node(id="searched", tool=SEARCH, args={"subject": Said(said="subject")})
message = Node(id="message", tool=READ, args={"message_id": Ref(ref="searched.messages[only].message_id")})
attached = Node(id="attached", tool=OPEN, args={"attachment_id": Ref(ref="message.message.attachments[only].attachment_id")})
filed = Node(
    id="copy",
    tool=PAPERS,
    args={"issuer": Ref(ref=f"{PAPER}.issuer"), "number": Ref(ref=f"{PAPER}.document_number")},
)


def due_dates_differ(rng: Random, world: World, invoice: Paper) -> Change:
    """S7: the copy that the bank keeps gives another due date than the invoice in the e-mail."""
    taken = {payment.next_on for payment in world.state.scheduled.values()} | {
        paper.due_on for paper in world.state.papers.values() if paper.due_on
    }
    days = [day for ahead in range(3, 40) if (day := world.today + timedelta(days=ahead)) not in taken]
    return disagreement(
        f"/consumer_banking/papers/{invoice.paper_id}/due_on",
        rng.choice(days).isoformat(),
        Source(label="e-mail", value=Ref(ref=f"{PAPER}.due_on")),
        Source(label="papers", value=Ref(ref=f"{COPY}.due_on")),
        "The invoice in the e-mail and the copy at the bank are due on different days.",
        ("due date", "due on", "differ", "disagree", "mismatch"),
    )
