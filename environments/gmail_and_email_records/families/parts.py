"""Names of the mailbox tools, and nodes that several families share."""

from abstain_assets.records import Node, Ref, Said

ENV = "gmail_and_email_records"
SEARCH = f"{ENV}.search_messages"
READ = f"{ENV}.read_message"
OPEN = f"{ENV}.get_attachment"
CONTACTS = f"{ENV}.find_contacts"
LABELS = f"{ENV}.list_labels"
DRAFTS = f"{ENV}.list_drafts"
CHECK_SENDER = f"{ENV}.verify_sender"
CHECK_RECIPIENT = f"{ENV}.verify_recipient"
CHECK_PAPER = f"{ENV}.verify_attachment"
COMPOSE = f"{ENV}.compose"
SEND_DRAFT = f"{ENV}.send_draft"
REPLY = f"{ENV}.reply"
FORWARD = f"{ENV}.forward_message"
LABEL = f"{ENV}.label_messages"
ARCHIVE = f"{ENV}.archive_messages"
DELETE = f"{ENV}.delete_messages"
EMPTY = f"{ENV}.empty_label"
UPDATE = f"{ENV}.update_contact"

# The slots `supplier` and `topic` say which deal is meant.
INVOICE_ID = Ref(ref="find.messages[subject=Invoice: {topic}].message_id")
QUOTE_ID = Ref(ref="find.messages[subject=Quote: {topic}].message_id")
find = Node(id="find", tool=SEARCH, args={"sender": Said(said="supplier"), "subject": Said(said="topic")})
read = Node(id="read", tool=READ, args={"message_id": INVOICE_ID})
paper = Node(id="paper", tool=OPEN, args={"attachment_id": Ref(ref="read.message.attachments[only].attachment_id")})
read_quote = Node(id="read_quote", tool=READ, args={"message_id": QUOTE_ID})
quote = Node(id="quote", tool=OPEN, args={"attachment_id": Ref(ref="read_quote.message.attachments[only].attachment_id")})
person = Node(id="person", tool=CONTACTS, args={"name": Said(said="person")})
ADDRESS = Ref(ref="person.contacts[only].address")
