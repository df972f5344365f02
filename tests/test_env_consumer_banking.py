"""The behaviours of the bank that tasks rely on."""

from collections.abc import Callable
from typing import Any

import pytest

from environments.consumer_banking.environment import ConsumerBanking
from environments.runtime.records import Call, Mount
from environments.runtime.sandbox import Sandbox

NAME = "consumer_banking"
CallTool = Callable[..., Call]


@pytest.fixture
def bank() -> Sandbox:
    return Sandbox(Mount(environments=(NAME,)), {NAME: ConsumerBanking.example_state().dump()})


@pytest.fixture
def call(bank: Sandbox) -> CallTool:
    return lambda tool, **args: bank.call(f"{NAME}.{tool}", args)


def _effects(done: Call) -> set[tuple[str, str, bool]]:
    return {(effect.kind, effect.record.removeprefix(f"/{NAME}"), effect.implied) for effect in done.effects}


def _code(done: Call) -> str:
    assert done.error is not None
    return done.error.code


def _balance(call: CallTool, account_id: str) -> int:
    return int(call("get_account", account_id=account_id).content["account"]["balance_cents"])


def test_a_transfer_debits_once_and_is_stored_as_given(call: CallTool) -> None:
    before = _balance(call, "A-100")
    done = call("transfer_money", from_account_id="A-100", payee_id="P-13", amount_cents=12_345, reference="2025-0318")
    entry = done.content["entry"]
    assert _effects(done) == {("payment.transfer", f"/entries/{entry['entry_id']}", False)}
    assert (entry["counterparty"], entry["reference"], entry["booked_on"]) == ("Malerbetrieb Şahin", "2025-0318", "2025-05-05")
    assert _balance(call, "A-100") == before - 12_345
    listed = call("list_transactions", counterparty="şahin", from_date="2025-05-05").content
    assert [item["entry_id"] for item in listed["entries"]] == [entry["entry_id"]]


def test_money_between_own_accounts_is_neither_lost_nor_counted_as_spent_today(call: CallTool) -> None:
    total = _balance(call, "A-100") + _balance(call, "A-200")
    done = call("transfer_money", from_account_id="A-100", to_account_id="A-200", amount_cents=300_000)
    assert len(_effects(done)) == 2
    assert _balance(call, "A-100") + _balance(call, "A-200") == total
    assert call("transfer_money", from_account_id="A-200", payee_id="P-12", amount_cents=250_000).ok


def test_limits_count_everything_sent_today(call: CallTool) -> None:
    first = {"from_account_id": "A-200", "payee_id": "P-12", "amount_cents": 200_000}
    assert call("transfer_money", **first).ok
    assert _code(call("transfer_money", **{**first, "from_account_id": "A-100", "amount_cents": 50_001})) == "limit_exceeded"
    assert call("transfer_money", **{**first, "from_account_id": "A-100", "amount_cents": 50_000}).ok


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"amount_cents": 403_886}, "insufficient_funds"),
        ({"amount_cents": 0}, "invalid_arguments"),
        ({"payee_id": None}, "invalid_arguments"),
        ({"to_account_id": "A-200"}, "invalid_arguments"),
        ({"from_account_id": "A-400"}, "precondition_failed"),
        ({"payee_id": "P-99"}, "not_found"),
    ],
)
def test_transfers_that_cannot_be_made_leave_no_trace(bank: Sandbox, call: CallTool, change: dict[str, Any], code: str) -> None:
    before = bank.state()
    args = {"from_account_id": "A-100", "payee_id": "P-12", "amount_cents": 1_000, **change}
    assert _code(call("transfer_money", **args)) == code
    assert bank.state() == before


def test_closing_an_account_pays_out_and_ends_what_hangs_on_it(call: CallTool) -> None:
    left, before = _balance(call, "A-300"), _balance(call, "A-100")
    done = call("close_account", account_id="A-300", payout_account_id="A-100")
    explicit = {(kind, record) for kind, record, implied in _effects(done) if not implied}
    assert explicit == {("account.close", "/accounts/A-300")}
    assert {record for kind, record, implied in _effects(done) if implied and kind != "record.create"} == {
        "/scheduled/SP-2",
        "/cards/K-3",
    }
    assert (_balance(call, "A-300"), _balance(call, "A-100")) == (0, before + left)
    closed = call("get_account", account_id="A-300").content["account"]
    assert (closed["status"], closed["paid_out_to"], closed["available_cents"]) == ("closed", "A-100", 0)
    assert call("find_cards", last4="7703").content["cards"][0]["status"] == "frozen"
    assert _code(call("close_account", account_id="A-300")) == "precondition_failed"


def test_cancelling_is_all_or_nothing(bank: Sandbox, call: CallTool) -> None:
    before = bank.state()
    assert _code(call("cancel_scheduled_payments", scheduled_ids=["SP-1", "SP-9"])) == "not_found"
    assert bank.state() == before
    done = call("cancel_scheduled_payments", scheduled_ids=["SP-1", "SP-3"])
    assert {record for _, record, _ in _effects(done)} == {"/scheduled/SP-1", "/scheduled/SP-3"}
    active = call("list_scheduled_payments", status="active").content["payments"]
    assert [payment["scheduled_id"] for payment in active] == ["SP-2"]


def test_freezing_and_unfreezing_are_different_effects(call: CallTool) -> None:
    assert _effects(call("freeze_card", card_id="K-1", action="freeze")) == {("card.freeze", "/cards/K-1", False)}
    assert _code(call("freeze_card", card_id="K-1", action="freeze")) == "precondition_failed"
    assert _effects(call("freeze_card", card_id="K-1", action="unfreeze")) == {("card.unfreeze", "/cards/K-1", False)}


def test_an_iban_needs_right_check_digits_and_is_saved_once(call: CallTool) -> None:
    good = "gb82 west 1234 5698 7654 32"
    assert call("add_payee", name="Zoë Brandt", iban=good).content["payee"]["iban"] == "GB82WEST12345698765432"
    assert _code(call("add_payee", name="Zoë Brandt", iban=good)) == "already_exists"
    for bad in ("GB28WEST12345698765432", "GB82WEST123456987654", "8200WEST12345698765432", "GB82WÉST12345698765432"):
        assert _code(call("add_payee", name="Zoë Brandt", iban=bad)) == "invalid_arguments"


def test_a_dispute_keeps_its_bounds_and_shows_with_the_entry(call: CallTool) -> None:
    assert _code(call("open_dispute", entry_id="E-504", reason="wrong_amount", amount_cents=24_991)) == "invalid_arguments"
    assert call("open_dispute", entry_id="E-504", reason="wrong_amount", amount_cents=990, details="Charged for delivery.").ok
    shown = call("list_transactions", counterparty="Peña").content["entries"][0]["dispute"]
    assert (shown["amount_cents"], shown["reason"], shown["details"]) == (990, "wrong_amount", "Charged for delivery.")


def test_a_dispute_comes_too_late_after_120_days(bank: Sandbox) -> None:
    state = bank.state()[NAME]
    codes = []
    for day in ("2025-01-05", "2025-01-04"):
        state["entries"]["E-504"]["booked_on"] = day
        later = Sandbox(Mount(environments=(NAME,)), {NAME: state})
        codes.append(later.call(f"{NAME}.open_dispute", {"entry_id": "E-504", "reason": "duplicate"}).ok)
    assert codes == [True, False]


def test_statement_and_ledger_agree_until_one_of_them_changes(call: CallTool) -> None:
    statement = call("get_statement", account_id="A-100", month="2025-04").content["statement"]
    april = call("list_transactions", account_id="A-100", from_date="2025-04-01", to_date="2025-04-30").content
    assert (statement["total_in_cents"], statement["total_out_cents"]) == (april["total_in_cents"], april["total_out_cents"])
    assert statement["closing_cents"] == statement["opening_cents"] + april["total_in_cents"] - april["total_out_cents"]


def test_verifying_compares_each_given_value(call: CallTool) -> None:
    exact = _balance(call, "A-100")
    assert call("verify_balance", account_id="A-100", balance_cents=exact, covers_cents=exact + 50_000).content["matches"] is True
    assert call("verify_balance", account_id="A-100", covers_cents=exact + 50_001).content["mismatched"] == ["covers_cents"]
    assert _code(call("verify_balance", account_id="A-100")) == "invalid_arguments"
    saved = call("find_payees", name="Krüger").content["payees"][0]
    spaced = " ".join(saved["iban"][at : at + 4] for at in range(0, len(saved["iban"]), 4)).lower()
    assert call("verify_payee", payee_id=saved["payee_id"], name="hausverwaltung krüger", iban=spaced).content["matches"] is True
    assert call("verify_payee", payee_id="P-12", name=saved["name"], iban=saved["iban"]).content["mismatched"] == ["name", "iban"]


def test_every_filter_narrows_the_ledger(call: CallTool) -> None:
    filters: list[tuple[dict[str, Any], list[str]]] = [
        ({"account_id": "A-300"}, ["E-505"]),
        ({"from_date": "2025-04-24"}, ["E-505", "E-506"]),
        ({"to_date": "2025-04-01"}, ["E-501"]),
        ({"counterparty": "stadt"}, ["E-505"]),
        ({"kind": "direct_debit"}, ["E-502", "E-505"]),
        ({"direction": "in"}, ["E-501"]),
        ({"min_cents": 112_000}, ["E-501", "E-502"]),
        ({"card_last4": "4471", "to_date": "2025-04-30"}, ["E-503", "E-504"]),
    ]
    for given, expected in filters:
        assert [entry["entry_id"] for entry in call("list_transactions", **given).content["entries"]] == expected
