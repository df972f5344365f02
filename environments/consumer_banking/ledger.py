"""What follows from the bank's records: balances, limits, sums, and lookups by id."""

from collections.abc import Iterable
from datetime import date

from environments.consumer_banking.records import (
    Account,
    AccountDetails,
    AccountRow,
    BankingState,
    Card,
    CardView,
    Dispute,
    Entry,
    EntryView,
    Payee,
    ScheduledPayment,
    ScheduledRow,
)
from environments.runtime import ToolError

IBAN_LENGTHS = range(15, 35)


def plain_iban(text: str) -> str:
    """An IBAN in capitals without spaces.

    Raises:
        ToolError: its shape or its check digits are wrong.
    """
    iban = "".join(text.split()).upper()
    shape = len(iban) in IBAN_LENGTHS and iban.isascii() and iban.isalnum() and iban[:2].isalpha() and iban[2:4].isdigit()
    if not shape or int("".join(str(int(sign, 36)) for sign in iban[4:] + iban[:4])) % 97 != 1:
        raise ToolError("invalid_arguments", "This is not a valid IBAN.")
    return iban


def account(state: BankingState, account_id: str) -> Account:
    """The account of an id. Raises ToolError if there is none."""
    if account_id not in state.accounts:
        raise ToolError("not_found", f"There is no account {account_id}.")
    return state.accounts[account_id]


def open_account(state: BankingState, account_id: str) -> Account:
    """The open account of an id. Raises ToolError if there is none or it is closed."""
    found = account(state, account_id)
    if found.status != "open":
        raise ToolError("precondition_failed", "The account is closed.")
    return found


def payee(state: BankingState, payee_id: str) -> Payee:
    """The payee of an id. Raises ToolError if there is none."""
    if payee_id not in state.payees:
        raise ToolError("not_found", f"There is no payee {payee_id}.")
    return state.payees[payee_id]


def entry(state: BankingState, entry_id: str) -> Entry:
    """The ledger entry of an id. Raises ToolError if there is none."""
    if entry_id not in state.entries:
        raise ToolError("not_found", f"There is no ledger entry {entry_id}.")
    return state.entries[entry_id]


def card(state: BankingState, card_id: str) -> Card:
    """The card of an id. Raises ToolError if there is none."""
    if card_id not in state.cards:
        raise ToolError("not_found", f"There is no card {card_id}.")
    return state.cards[card_id]


def total(entries: Iterable[Entry], direction: str) -> int:
    """Sum of the entries that went one way."""
    return sum(item.amount_cents for item in entries if item.direction == direction)


def balance(state: BankingState, item: Account) -> int:
    """What is on an account now."""
    booked = [entry for entry in state.entries.values() if entry.account_id == item.account_id]
    return item.opening_cents + total(booked, "in") - total(booked, "out")


def transferred_today(state: BankingState, today: date) -> int:
    """What left by transfer to others today."""
    own = {item.iban for item in state.accounts.values()}
    return sum(
        item.amount_cents
        for item in state.entries.values()
        if (item.booked_on, item.kind, item.direction) == (today, "transfer", "out") and item.iban not in own
    )


def account_row(item: Account) -> AccountRow:
    """An account as the overview shows it."""
    return AccountRow(account_id=item.account_id, name=item.name, kind=item.kind, iban=item.iban, status=item.status)


def account_details(state: BankingState, item: Account, today: date) -> AccountDetails:
    """An account with its balance and what it can still pay."""
    held = balance(state, item)
    left = state.profile.daily_transfer_limit_cents - transferred_today(state, today)
    available = held + item.overdraft_cents if item.status == "open" else 0
    return AccountDetails(
        **account_row(item).model_dump(),
        opened_on=item.opened_on,
        balance_cents=held,
        overdraft_cents=item.overdraft_cents,
        available_cents=available,
        transferable_today_cents=max(0, min(left, available)),
        paid_out_to=item.paid_out_to,
        note=item.note,
    )


def dispute_about(state: BankingState, entry_id: str) -> Dispute | None:
    """The dispute about an entry, if there is one."""
    return next((item for _, item in sorted(state.disputes.items()) if item.entry_id == entry_id), None)


def entry_view(state: BankingState, item: Entry) -> EntryView:
    """A ledger entry with the dispute about it."""
    return EntryView(**item.model_dump(), dispute=dispute_about(state, item.entry_id))


def card_view(state: BankingState, item: Card, today: date) -> CardView:
    """A card with what was paid with it this month."""
    month = (today.year, today.month)
    paid = [
        entry
        for entry in state.entries.values()
        if entry.card_last4 == item.last4 and (entry.booked_on.year, entry.booked_on.month) == month
    ]
    return CardView(**item.model_dump(), spent_this_month_cents=total(paid, "out"))


def scheduled_row(state: BankingState, item: ScheduledPayment) -> ScheduledRow:
    """A scheduled payment with the payee's name."""
    return ScheduledRow(**item.model_dump(), payee_name=payee(state, item.payee_id).name)
