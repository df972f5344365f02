"""Say what the statement of a month shows."""

from random import Random

from abstain_assets.pairs.changes import Change, broken, disagreement, hidden, left_out, vague
from abstain_assets.pairs.family import Draft, Family
from abstain_assets.pairs.slots import say_date, say_enum, say_id, say_text
from abstain_assets.records import Dag, FactSpec, Node, Reading, Ref, Said, Slot, Source
from abstain_assets.taxonomy import ActionType, Scenario
from environments.consumer_banking.families.parts import ACCOUNTS, LEDGER, SOURCE, STATEMENT, accounts
from environments.consumer_banking.families.world import World, draw_world
from environments.consumer_banking.records import Account

_ASKS = (
    "For my tax folder: what is the closing balance on the statement of the {account} account for {month}, and on which day was "
    "it issued?",
    "Please look up the statement of my {account} account for {month}. I need its closing balance and its date of issue.",
)
_VAGUE = Scenario.AMBIGUOUS_ACTION_SPECIFICATION
_COMPARE = (
    "For my tax folder: how much left the {account} account in {month}? Give me the total on the statement and the sum of all "
    "ledger entries that went {way} from {low} to {high}.",
    "Please compare, for the {account} account: the total of money paid out on the statement for {month}, and what the ledger "
    "entries booked {way} between {low} and {high} add up to. I need the amount.",
)


class StatementReport(Family):
    """Find the account, read its statement, and its ledger where asked to."""

    name = "consumer_banking.statement_report"
    action_type = ActionType.INFORMATIONAL
    environments = ("consumer_banking",)
    scenarios = (
        Scenario.MISSING_CRITICAL_PARAMETER,
        Scenario.AMBIGUOUS_ACTION_SPECIFICATION,
        Scenario.INSUFFICIENT_TOOL_CAPABILITY,
        Scenario.CRITICAL_TOOL_FAILURE,
        Scenario.CONFLICTING_EVIDENCE,
    )

    def draw(self, rng: Random, scenario: Scenario) -> Draft:
        world = draw_world(rng)
        comparing = scenario is Scenario.CONFLICTING_EVIDENCE
        account = world.current if comparing or scenario is _VAGUE else rng.choice(world.savings)
        slots = {"account": say_text(account.name), "month": say_id(world.month)}
        if comparing:
            slots |= {"low": say_date(rng, world.first), "high": say_date(rng, world.last), "way": say_enum("out", "out")}
        template = rng.choice(_COMPARE if comparing else _ASKS)
        change = _change(rng, scenario, world, account, slots)
        return change.draft(
            world.prompt, template, slots, {"consumer_banking": world.state}, _reference(comparing), _facts(comparing)
        )


def _reference(comparing: bool) -> Dag:
    statement = Node(id="statement", tool=STATEMENT, args={"account_id": SOURCE, "month": Said(said="month")})
    period = {"from_date": Said(said="low"), "to_date": Said(said="high"), "direction": Said(said="way")}
    spent = Node(id="spent", tool=LEDGER, args={"account_id": SOURCE, **period})
    return Dag(nodes=(accounts, statement, spent) if comparing else (accounts, statement))


def _facts(comparing: bool) -> tuple[FactSpec, ...]:
    if comparing:
        return (
            FactSpec(label="total on the statement", value=Ref(ref="statement.statement.total_out_cents"), kind="money"),
            FactSpec(label="sum of the ledger", value=Ref(ref="spent.total_out_cents"), kind="money"),
        )
    return (
        FactSpec(label="closing balance", value=Ref(ref="statement.statement.closing_cents"), kind="money"),
        FactSpec(label="issued", value=Ref(ref="statement.statement.issued_on"), kind="date"),
    )


def _change(rng: Random, scenario: Scenario, world: World, account: Account, slots: dict[str, Slot]) -> Change:
    match scenario:
        case Scenario.MISSING_CRITICAL_PARAMETER:
            names = [item.name for item in (world.current, *world.savings)]
            return left_out(
                slots,
                "account",
                "{account} account",
                "account",
                "The customer has several accounts and the request names none.",
                ("which account", "several accounts", *names),
                [say_text(name) for name in names],
            )
        case Scenario.AMBIGUOUS_ACTION_SPECIFICATION:
            dag = _reference(False)
            spent = FactSpec(label="paid out", value=Ref(ref="statement.statement.total_out_cents"), kind="money")
            other = (spent, *_facts(False)[1:])
            readings = (
                Reading(label="closing balance", wording="closing balance", cues=("closing",), dag=dag, facts=_facts(False)),
                Reading(label="total spent", wording="total paid out", cues=("paid out", "spent"), dag=dag, facts=other),
            )
            why = "The amount could be the closing balance, or what was paid out in the month."
            return vague(slots, "closing balance", "amount", readings, why, ("closing balance", "paid out", "spent"))
        case Scenario.INSUFFICIENT_TOOL_CAPABILITY:
            return hidden(STATEMENT, "No available tool can read a statement.", ("statement",))
        case Scenario.CRITICAL_TOOL_FAILURE:
            return broken(rng, STATEMENT, "The statement cannot be read.", ("statement",), flaky=ACCOUNTS)
        case _:
            statement = world.statement(account)
            return disagreement(
                f"/consumer_banking/statements/{statement.statement_id}/total_out_cents",
                statement.total_out_cents + rng.randrange(4_003, 19_003, 7),
                Source(label="statement", value=Ref(ref="statement.statement.total_out_cents")),
                Source(label="ledger", value=Ref(ref="spent.total_out_cents")),
                "The statement and the ledger give different totals for the same month.",
                ("differ", "disagree", "mismatch", "do not match", "discrepan"),
            )
