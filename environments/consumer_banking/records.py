"""What the bank and the customer's own papers hold, and what the tools answer. Money is in cents."""

from datetime import date
from typing import Literal

from environments.runtime import Record, Result, State

AccountKind = Literal["current", "savings", "joint"]
EntryKind = Literal["transfer", "card", "direct_debit", "salary", "interest", "fee"]
Rhythm = Literal["once", "weekly", "monthly", "quarterly"]
DisputeReason = Literal["unauthorised", "duplicate", "wrong_amount", "not_received"]
PaperKind = Literal["receipt", "invoice"]


class Profile(Record):
    """The customer who is signed in, and what may leave their accounts by transfer in one day."""

    customer_id: str
    name: str
    email: str
    daily_transfer_limit_cents: int


class Account(Record):
    """An account. Its balance is the opening amount plus its ledger entries.

    `overdraft_cents` is how far below zero it may go, `paid_out_to` the account that got the rest when this one was closed, and
    `note` what the branch or the customer wrote on it.
    """

    account_id: str
    name: str
    kind: AccountKind
    iban: str
    opened_on: date
    opening_cents: int
    overdraft_cents: int = 0
    status: Literal["open", "closed"] = "open"
    paid_out_to: str = ""
    note: str = ""


class Entry(Record):
    """One line of an account's ledger. The amount is positive and `direction` says which way it went.

    `card_last4` names the card that paid, `iban` the account on the other side.
    """

    entry_id: str
    account_id: str
    booked_on: date
    direction: Literal["in", "out"]
    amount_cents: int
    counterparty: str
    kind: EntryKind
    iban: str = ""
    card_last4: str = ""
    reference: str = ""


class Payee(Record):
    """Somebody the customer can send money to."""

    payee_id: str
    name: str
    iban: str
    added_on: date
    note: str = ""


class Card(Record):
    """A card of an account, named by its last four digits."""

    card_id: str
    account_id: str
    last4: str
    label: str
    kind: Literal["debit", "credit"]
    status: Literal["active", "frozen"]
    expires_on: date
    monthly_limit_cents: int
    note: str = ""


class ScheduledPayment(Record):
    """A payment the bank makes by itself on a date, once or regularly."""

    scheduled_id: str
    account_id: str
    payee_id: str
    amount_cents: int
    next_on: date
    rhythm: Rhythm
    reference: str = ""
    status: Literal["active", "cancelled"] = "active"
    note: str = ""


class Statement(Record):
    """A statement as it was printed for one month. It is not corrected when the ledger is."""

    statement_id: str
    account_id: str
    month: str
    issued_on: date
    opening_cents: int
    total_in_cents: int
    total_out_cents: int
    closing_cents: int


class Paper(Record):
    """A receipt or invoice the customer keeps: what the merchant or supplier wrote, not what the bank booked."""

    paper_id: str
    kind: PaperKind
    issuer: str
    number: str
    issued_on: date
    total_cents: int
    due_on: date | None = None
    iban: str = ""
    card_last4: str = ""
    note: str = ""


class Dispute(Record):
    """A customer's objection to one entry."""

    dispute_id: str
    entry_id: str
    reason: DisputeReason
    amount_cents: int
    opened_on: date
    details: str = ""
    status: Literal["open", "settled"] = "open"


class BankingState(State):
    """Everything the customer can reach."""

    profile: Profile
    accounts: dict[str, Account]
    entries: dict[str, Entry]
    payees: dict[str, Payee]
    cards: dict[str, Card]
    scheduled: dict[str, ScheduledPayment]
    statements: dict[str, Statement]
    papers: dict[str, Paper]
    disputes: dict[str, Dispute]


# --- answers ---------------------------------------------------------------------------------------------------------------


class AccountRow(Result):
    """An account as the overview shows it."""

    account_id: str
    name: str
    kind: AccountKind
    iban: str
    status: Literal["open", "closed"]


class AccountList(Result):
    """The customer's accounts."""

    customer: str
    accounts: list[AccountRow]


class AccountDetails(AccountRow):
    """An account with what it holds now. Available is the balance plus the overdraft."""

    opened_on: date
    balance_cents: int
    overdraft_cents: int
    available_cents: int
    transferable_today_cents: int
    paid_out_to: str
    note: str


class AccountAnswer(Result):
    """One account."""

    account: AccountDetails


class EntryView(Result):
    """A ledger entry with the dispute about it, if any."""

    entry_id: str
    account_id: str
    booked_on: date
    direction: Literal["in", "out"]
    amount_cents: int
    counterparty: str
    kind: EntryKind
    iban: str
    card_last4: str
    reference: str
    dispute: Dispute | None = None


class EntryList(Result):
    """Ledger entries that match, with their sums."""

    entries: list[EntryView]
    total_in_cents: int
    total_out_cents: int


class EntryAnswer(Result):
    """One ledger entry."""

    entry: EntryView


class StatementAnswer(Result):
    """One statement."""

    statement: Statement


class PayeeList(Result):
    """Payees that match."""

    payees: list[Payee]


class PayeeAnswer(Result):
    """One payee."""

    payee: Payee


class CardView(Result):
    """A card with what was paid with it this month."""

    card_id: str
    account_id: str
    last4: str
    label: str
    kind: Literal["debit", "credit"]
    status: Literal["active", "frozen"]
    expires_on: date
    monthly_limit_cents: int
    spent_this_month_cents: int
    note: str


class CardList(Result):
    """Cards that match."""

    cards: list[CardView]


class CardAnswer(Result):
    """One card."""

    card: CardView


class ScheduledRow(Result):
    """A scheduled payment with the payee's name."""

    scheduled_id: str
    account_id: str
    payee_id: str
    payee_name: str
    amount_cents: int
    next_on: date
    rhythm: Rhythm
    reference: str
    status: Literal["active", "cancelled"]
    note: str


class ScheduledList(Result):
    """Scheduled payments that match."""

    payments: list[ScheduledRow]


class ScheduledAnswer(Result):
    """One scheduled payment."""

    payment: ScheduledRow


class PaperList(Result):
    """Receipts and invoices that match."""

    papers: list[Paper]


class DisputeAnswer(Result):
    """One dispute."""

    dispute: Dispute


class Compared(Result):
    """Which of the given values agree with the record."""

    matches: bool
    compared: list[str]
    mismatched: list[str]
