"""The bank of one household: the state on which the tools' examples hold."""

from datetime import date, datetime

from environments.consumer_banking.records import (
    Account,
    BankingState,
    Card,
    Dispute,
    Entry,
    Paper,
    Payee,
    Profile,
    ScheduledPayment,
    Statement,
)

ACCOUNTS = [
    Account(
        account_id="A-100",
        name="Everyday",
        kind="current",
        iban="DE75512108001245126199",
        opened_on=date(2016, 9, 1),
        opening_cents=184_230,
        overdraft_cents=50_000,
    ),
    Account(
        account_id="A-200",
        name="Rainy Day",
        kind="savings",
        iban="DE03512108001245126234",
        opened_on=date(2018, 2, 12),
        opening_cents=640_000,
        note="Interest is paid on the last day of each quarter.",
    ),
    Account(
        account_id="A-300",
        name="House Share",
        kind="joint",
        iban="DE58512108001245126311",
        opened_on=date(2021, 5, 3),
        opening_cents=92_500,
        note="Held together with Björn Aasen.",
    ),
    Account(
        account_id="A-400",
        name="Old Travel",
        kind="savings",
        iban="DE42512108001245126405",
        opened_on=date(2012, 7, 20),
        opening_cents=0,
        status="closed",
    ),
]

ENTRIES = [
    Entry(
        entry_id="E-501",
        account_id="A-100",
        booked_on=date(2025, 4, 1),
        direction="in",
        amount_cents=318_400,
        counterparty="Werft Nordhafen",
        kind="salary",
        reference="Salary March",
    ),
    Entry(
        entry_id="E-502",
        account_id="A-100",
        booked_on=date(2025, 4, 3),
        direction="out",
        amount_cents=112_000,
        counterparty="Hausverwaltung Krüger",
        kind="direct_debit",
        iban="DE29512108009876543211",
        reference="Rent April",
    ),
    Entry(
        entry_id="E-503",
        account_id="A-100",
        booked_on=date(2025, 4, 11),
        direction="out",
        amount_cents=8_465,
        counterparty="Café Żuraw",
        kind="card",
        card_last4="4471",
    ),
    Entry(
        entry_id="E-504",
        account_id="A-100",
        booked_on=date(2025, 4, 22),
        direction="out",
        amount_cents=24_990,
        counterparty="Radhaus Peña",
        kind="card",
        card_last4="4471",
        reference="Order 77120",
    ),
    Entry(
        entry_id="E-505",
        account_id="A-300",
        booked_on=date(2025, 4, 24),
        direction="out",
        amount_cents=6_120,
        counterparty="Stadtwerke",
        kind="direct_debit",
    ),
    Entry(
        entry_id="E-506",
        account_id="A-100",
        booked_on=date(2025, 5, 2),
        direction="out",
        amount_cents=3_290,
        counterparty="Café Żuraw",
        kind="card",
        card_last4="4471",
    ),
]

PAYEES = [
    Payee(payee_id="P-11", name="Hausverwaltung Krüger", iban="DE29512108009876543211", added_on=date(2021, 5, 4)),
    Payee(
        payee_id="P-12", name="Siobhán O'Neill", iban="IE64IRCE92050112345678", added_on=date(2023, 8, 19), note="Choir treasurer"
    ),
    Payee(payee_id="P-13", name="Malerbetrieb Şahin", iban="DE54512108004455667788", added_on=date(2024, 11, 2)),
    Payee(payee_id="P-14", name="Fitnesswerk Süd", iban="DE98512108001122334455", added_on=date(2022, 1, 9)),
]

CARDS = [
    Card(
        card_id="K-1",
        account_id="A-100",
        last4="4471",
        label="blue debit card",
        kind="debit",
        status="active",
        expires_on=date(2027, 8, 31),
        monthly_limit_cents=300_000,
    ),
    Card(
        card_id="K-2",
        account_id="A-100",
        last4="0926",
        label="travel credit card",
        kind="credit",
        status="frozen",
        expires_on=date(2026, 1, 31),
        monthly_limit_cents=200_000,
        note="Frozen by the customer between journeys.",
    ),
    Card(
        card_id="K-3",
        account_id="A-300",
        last4="7703",
        label="household card",
        kind="debit",
        status="active",
        expires_on=date(2028, 3, 31),
        monthly_limit_cents=80_000,
    ),
]

SCHEDULED = [
    ScheduledPayment(
        scheduled_id="SP-1",
        account_id="A-100",
        payee_id="P-14",
        amount_cents=3_990,
        next_on=date(2025, 5, 15),
        rhythm="monthly",
        reference="Membership 20418",
    ),
    ScheduledPayment(
        scheduled_id="SP-2",
        account_id="A-300",
        payee_id="P-11",
        amount_cents=112_000,
        next_on=date(2025, 6, 3),
        rhythm="monthly",
        reference="Rent",
    ),
    ScheduledPayment(
        scheduled_id="SP-3",
        account_id="A-100",
        payee_id="P-12",
        amount_cents=4_500,
        next_on=date(2025, 7, 1),
        rhythm="quarterly",
        reference="Choir fee",
        note="Björn pays the other half.",
    ),
    ScheduledPayment(
        scheduled_id="SP-4",
        account_id="A-100",
        payee_id="P-13",
        amount_cents=60_000,
        next_on=date(2025, 1, 10),
        rhythm="once",
        status="cancelled",
    ),
]

STATEMENTS = [
    Statement(
        statement_id="S-100-2025-03",
        account_id="A-100",
        month="2025-03",
        issued_on=date(2025, 4, 1),
        opening_cents=171_905,
        total_in_cents=318_400,
        total_out_cents=306_075,
        closing_cents=184_230,
    ),
    Statement(
        statement_id="S-100-2025-04",
        account_id="A-100",
        month="2025-04",
        issued_on=date(2025, 5, 1),
        opening_cents=184_230,
        total_in_cents=318_400,
        total_out_cents=145_455,
        closing_cents=357_175,
    ),
]

PAPERS = [
    Paper(
        paper_id="D-71",
        kind="receipt",
        issuer="Radhaus Peña",
        number="77120",
        issued_on=date(2025, 4, 21),
        total_cents=24_990,
        card_last4="4471",
    ),
    Paper(
        paper_id="D-72",
        kind="invoice",
        issuer="Malerbetrieb Şahin",
        number="2025-0318",
        issued_on=date(2025, 4, 28),
        total_cents=87_450,
        due_on=date(2025, 5, 19),
        iban="DE54512108004455667788",
        note="Hallway and two doors.",
    ),
    Paper(
        paper_id="D-73",
        kind="receipt",
        issuer="Café Żuraw",
        number="A-5512",
        issued_on=date(2025, 4, 11),
        total_cents=8_465,
        card_last4="4471",
        note="Birthday of Jiří",
    ),
]


DISPUTES = [
    Dispute(
        dispute_id="DS-1",
        entry_id="E-503",
        reason="wrong_amount",
        amount_cents=1_200,
        opened_on=date(2025, 4, 14),
        details="A bottle was charged twice.",
    )
]


def example() -> BankingState:
    """The example household on 5 May 2025."""
    return BankingState(
        now=datetime(2025, 5, 5, 10, 15),
        profile=Profile(
            customer_id="C-20418",
            name="Maren Jørgensen",
            email="maren@jorgensen.example",
            daily_transfer_limit_cents=250_000,
        ),
        accounts={item.account_id: item for item in ACCOUNTS},
        entries={item.entry_id: item for item in ENTRIES},
        payees={item.payee_id: item for item in PAYEES},
        cards={item.card_id: item for item in CARDS},
        scheduled={item.scheduled_id: item for item in SCHEDULED},
        statements={item.statement_id: item for item in STATEMENTS},
        papers={item.paper_id: item for item in PAPERS},
        disputes={item.dispute_id: item for item in DISPUTES},
    )
