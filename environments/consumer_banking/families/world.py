"""The bank of the families: one customer with accounts, shops, suppliers, cards, scheduled payments and kept papers."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from random import Random

from abstain_assets.pairs.entities import Person, moment, numbers, people
from abstain_assets.pairs.family import neutral_prompt
from environments.consumer_banking.records import (
    Account,
    AccountKind,
    BankingState,
    Card,
    Entry,
    Paper,
    Payee,
    Profile,
    ScheduledPayment,
    Statement,
)

_SHOPS = ("Radhaus Peña", "Café Żuraw", "Foto Lindqvist", "Bookshop Orlando", "Garden Depot", "Tonstudio Æther", "Outdoor Kjær")
_SUPPLIERS = (
    "Malerbetrieb Şahin",
    "Hausverwaltung Krüger",
    "Fitnesswerk Süd",
    "Elektro Novák",
    "Piano School Moreau",
    "Brightwell Insurance",
    "Gärtnerei Holm",
    "Stairlift Service Abel",
    "Kindergarten Sonnenhof",
)
_SAVINGS = ("Rainy Day", "Holiday Fund", "Car Savings", "New Roof", "Anna's Studies")
_LABELS = ("blue debit card", "travel credit card", "household card")


@dataclass(frozen=True)
class World:
    """A drawn bank. `current` pays; `savings` are three accounts without bookings this month; `month` is the last full month.

    `suppliers` are saved payees with one active scheduled payment and one unpaid invoice each; `strangers` have only an invoice and
    one earlier debit; `shops` were paid by card and have a receipt for every payment.
    """

    state: BankingState
    me: Person
    current: Account
    savings: list[Account]
    suppliers: list[Payee]
    strangers: list[Paper]
    shops: list[str]
    first: date
    last: date

    @property
    def now(self) -> datetime:
        return self.state.now

    @property
    def today(self) -> date:
        return self.state.now.date()

    @property
    def month(self) -> str:
        return f"{self.first:%Y-%m}"

    @property
    def prompt(self) -> str:
        return neutral_prompt(f"the banking assistant of {self.me.name}", self.now)

    @property
    def cards(self) -> list[Card]:
        return list(self.state.cards.values())

    def payments(self, shop: str) -> list[Entry]:
        """Card payments to a shop."""
        return [entry for entry in self.state.entries.values() if entry.counterparty == shop]

    def receipt(self, entry: Entry) -> Paper:
        """The receipt of a card payment."""
        return next(
            paper
            for paper in self.state.papers.values()
            if (paper.issuer, paper.issued_on) == (entry.counterparty, entry.booked_on)
        )

    def invoice(self, issuer: str) -> Paper:
        """The invoice of a supplier."""
        return next(paper for paper in self.state.papers.values() if (paper.kind, paper.issuer) == ("invoice", issuer))

    def scheduled(self, payee: Payee) -> ScheduledPayment:
        """The scheduled payment to a supplier."""
        return next(item for item in self.state.scheduled.values() if item.payee_id == payee.payee_id)

    def statement(self, account: Account) -> Statement:
        """The statement of an account for the last full month."""
        return next(item for item in self.state.statements.values() if item.account_id == account.account_id)

    def note(self, collection: str, key: str, text: str) -> str:
        """Write a note on a record; returns the pointer of the note."""
        records = getattr(self.state, collection)
        records[key] = records[key].model_copy(update={"note": text})
        return f"/consumer_banking/{collection}/{key}/note"


def draw_world(rng: Random) -> World:
    """Draw a bank. All amounts, IBANs, numbers and booking days of one shop differ from each other."""
    now = moment(rng)
    me = people(rng, 1)[0]
    last = now.date().replace(day=1) - timedelta(days=1)
    draw = _Draw(rng, now.date(), last.replace(day=1), last)
    current = draw.account("Everyday", "current", rng.randrange(900_000, 1_200_000, 7))
    savings = [draw.account(name, "savings", rng.randrange(1_300_000, 2_400_000, 7)) for name in rng.sample(_SAVINGS, 3)]
    cards = [draw.card(current, label) for label in _LABELS]
    shops = rng.sample(_SHOPS, 4)
    names = rng.sample(_SUPPLIERS, 8)
    for shop, card in zip(shops, (*cards, cards[0]), strict=True):
        draw.card_payments(current, shop, card)
    suppliers = [draw.supplier(current, name) for name in names[:5]]
    strangers = [draw.stranger(current, name) for name in names[5:]]
    for account in savings:
        draw.interest(account)
    accounts = sorted([current, *savings], key=lambda item: item.account_id)
    state = BankingState(
        now=now,
        profile=Profile(customer_id=draw.key("C"), name=me.name, email=me.email, daily_transfer_limit_cents=1_000_000),
        accounts={item.account_id: item for item in accounts},
        entries=dict(sorted(draw.entries.items())),
        payees=dict(sorted(draw.payees.items())),
        cards=dict(sorted((card.card_id, card) for card in cards)),
        scheduled=dict(sorted(draw.scheduled.items())),
        statements={item.statement_id: item for item in map(draw.statement, accounts)},
        papers=dict(sorted(draw.papers.items())),
        disputes={},
    )
    return World(state, me, current, savings, suppliers, strangers, shops, last.replace(day=1), last)


def iban(rng: Random, country: str = "DE") -> str:
    """A new IBAN with right check digits."""
    account = f"{rng.randrange(10**17, 10**18)}"
    digits = "".join(str(int(sign, 36)) for sign in f"{account}{country}00")
    return f"{country}{98 - int(digits) % 97:02d}{account}"


class _Draw:
    """Values that are used up as they are drawn, and the records made so far."""

    def __init__(self, rng: Random, today: date, first: date, last: date) -> None:
        self.rng = rng
        self.today, self.first, self.last = today, first, last
        self.ids = iter(numbers(rng, 160, 1000, 9900))
        self.ahead = rng.sample(range(3, 40), 16)
        self.amounts = iter(numbers(rng, 60, 2_400, 38_000))
        self.entries: dict[str, Entry] = {}
        self.payees: dict[str, Payee] = {}
        self.scheduled: dict[str, ScheduledPayment] = {}
        self.papers: dict[str, Paper] = {}

    def key(self, prefix: str) -> str:
        return f"{prefix}-{next(self.ids)}"

    def account(self, name: str, kind: AccountKind, cents: int) -> Account:
        opened = self.today - timedelta(days=self.rng.randint(900, 4000))
        return Account(
            account_id=self.key("A"),
            name=name,
            kind=kind,
            iban=iban(self.rng),
            opened_on=opened,
            opening_cents=cents,
            overdraft_cents=50_100,
        )

    def card(self, account: Account, label: str) -> Card:
        return Card(
            card_id=self.key("K"),
            account_id=account.account_id,
            last4=str(next(self.ids)),
            label=label,
            kind="credit" if "credit" in label else "debit",
            status="active",
            expires_on=self.today + timedelta(days=self.rng.randint(300, 900)),
            monthly_limit_cents=self.rng.randrange(150_000, 400_000, 1_000),
        )

    def card_payments(self, account: Account, shop: str, card: Card) -> None:
        """Two payments in the last full month, one before; each with its receipt."""
        days = self.rng.sample(range((self.last - self.first).days), 2)
        for day in (
            *(self.first + timedelta(days=offset) for offset in days),
            self.first - timedelta(days=self.rng.randint(4, 30)),
        ):
            cents = next(self.amounts)
            self._book(account, day, "out", cents, shop, "card", card_last4=card.last4)
            number = f"{self.rng.choice('ABKR')}{next(self.ids)}"
            self._keep(
                Paper(
                    paper_id=self.key("D"),
                    kind="receipt",
                    issuer=shop,
                    number=number,
                    issued_on=day,
                    total_cents=cents,
                    card_last4=card.last4,
                )
            )

    def supplier(self, account: Account, name: str) -> Payee:
        added = self.today - timedelta(days=self.rng.randint(200, 900))
        payee = Payee(payee_id=self.key("P"), name=name, iban=iban(self.rng), added_on=added)
        payment = ScheduledPayment(
            scheduled_id=self.key("SP"),
            account_id=account.account_id,
            payee_id=payee.payee_id,
            amount_cents=next(self.amounts),
            next_on=self.today + timedelta(days=self.ahead.pop()),
            rhythm="monthly",
        )
        self.payees[payee.payee_id] = payee
        self.scheduled[payment.scheduled_id] = payment
        self._invoice(name, payee.iban)
        return payee

    def stranger(self, account: Account, name: str) -> Paper:
        number = iban(self.rng)
        day = self.first + timedelta(days=self.rng.randint(1, 25))
        self._book(account, day, "out", next(self.amounts), name, "direct_debit", iban=number)
        return self._invoice(name, number)

    def interest(self, account: Account) -> None:
        self._book(account, self.last, "in", next(self.amounts), "Interest", "interest")

    def statement(self, account: Account) -> Statement:
        booked = [
            entry for entry in self.entries.values() if entry.account_id == account.account_id and entry.booked_on <= self.last
        ]
        within = [entry for entry in booked if entry.booked_on >= self.first]
        before = sum(entry.amount_cents for entry in booked if entry.booked_on < self.first)
        received = sum(entry.amount_cents for entry in within if entry.direction == "in")
        spent = sum(entry.amount_cents for entry in within if entry.direction == "out")
        opening = account.opening_cents - before
        return Statement(
            statement_id=self.key("S"),
            account_id=account.account_id,
            month=f"{self.first:%Y-%m}",
            issued_on=self.last + timedelta(days=1),
            opening_cents=opening,
            total_in_cents=received,
            total_out_cents=spent,
            closing_cents=opening + received - spent,
        )

    def _invoice(self, issuer: str, number: str) -> Paper:
        issued = self.today - timedelta(days=self.rng.randint(3, 12))
        return self._keep(
            Paper(
                paper_id=self.key("D"),
                kind="invoice",
                issuer=issuer,
                number=f"R-{next(self.ids)}",
                issued_on=issued,
                total_cents=next(self.amounts) * 3,
                due_on=self.today + timedelta(days=self.ahead.pop()),
                iban=number,
            )
        )

    def _keep(self, paper: Paper) -> Paper:
        self.papers[paper.paper_id] = paper
        return paper

    def _book(self, account: Account, day: date, way: str, cents: int, other: str, kind: str, **more: str) -> None:
        data = {
            "entry_id": self.key("E"),
            "account_id": account.account_id,
            "booked_on": day,
            "direction": way,
            "amount_cents": cents,
        }
        entry = Entry.model_validate({**data, "counterparty": other, "kind": kind, **more})
        self.entries[entry.entry_id] = entry
