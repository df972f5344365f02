"""Task families of the mailbox."""

from abstain_assets.pairs.family import Family
from environments.gmail_and_email_records.families.answer_quote import AnswerQuote
from environments.gmail_and_email_records.families.archive_issues import ArchiveIssues
from environments.gmail_and_email_records.families.delete_quote import DeleteQuote
from environments.gmail_and_email_records.families.forward_invoice import ForwardInvoice
from environments.gmail_and_email_records.families.invoice_terms import InvoiceTerms
from environments.gmail_and_email_records.families.label_paper import LabelPaper
from environments.gmail_and_email_records.families.message_of_period import MessageOfPeriod
from environments.gmail_and_email_records.families.send_draft import SendDraft
from environments.gmail_and_email_records.families.sender_contact import SenderContact
from environments.gmail_and_email_records.families.update_phone import UpdatePhone
from environments.gmail_and_email_records.families.write_note import WriteNote

FAMILIES: tuple[Family, ...] = (
    AnswerQuote(),
    ArchiveIssues(),
    DeleteQuote(),
    ForwardInvoice(),
    InvoiceTerms(),
    LabelPaper(),
    MessageOfPeriod(),
    SendDraft(),
    SenderContact(),
    UpdatePhone(),
    WriteNote(),
)
