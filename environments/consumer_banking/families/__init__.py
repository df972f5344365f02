"""Task families of the bank, two of them together with a mailbox."""

from abstain_assets.pairs.family import Family
from environments.consumer_banking.families.balance_report import BalanceReport
from environments.consumer_banking.families.cancel_payment import CancelPayment
from environments.consumer_banking.families.close_account import CloseAccount
from environments.consumer_banking.families.dispute_charge import DisputeCharge
from environments.consumer_banking.families.freeze_card import FreezeCard
from environments.consumer_banking.families.largest_charge import LargestCharge
from environments.consumer_banking.families.largest_invoice import LargestInvoice
from environments.consumer_banking.families.mailed_invoice_report import MailedInvoiceReport
from environments.consumer_banking.families.move_savings import MoveSavings
from environments.consumer_banking.families.next_payment import NextPayment
from environments.consumer_banking.families.pay_invoice import PayInvoice
from environments.consumer_banking.families.pay_mailed_invoice import PayMailedInvoice
from environments.consumer_banking.families.payee_details import PayeeDetails
from environments.consumer_banking.families.receipt_report import ReceiptReport
from environments.consumer_banking.families.save_payee import SavePayee
from environments.consumer_banking.families.spending_report import SpendingReport
from environments.consumer_banking.families.standing_order import StandingOrder
from environments.consumer_banking.families.statement_report import StatementReport

FAMILIES: tuple[Family, ...] = (
    BalanceReport(),
    CancelPayment(),
    CloseAccount(),
    DisputeCharge(),
    FreezeCard(),
    LargestCharge(),
    LargestInvoice(),
    MailedInvoiceReport(),
    MoveSavings(),
    NextPayment(),
    PayInvoice(),
    PayMailedInvoice(),
    PayeeDetails(),
    ReceiptReport(),
    SavePayee(),
    SpendingReport(),
    StandingOrder(),
    StatementReport(),
)
