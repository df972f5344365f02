"""The behaviours of the travel agency that tasks rely on."""

from collections.abc import Callable
from typing import Any

import pytest
from pydantic import ValidationError

from environments.flight_and_travel_management.environment import FlightAndTravelManagement
from environments.runtime.records import Call, JsonObject, Mount
from environments.runtime.sandbox import Sandbox

NAME = "flight_and_travel_management"


def _agency(change: Callable[[JsonObject], None] = lambda state: None) -> Sandbox:
    state = FlightAndTravelManagement.example_state().dump()
    change(state)
    return Sandbox(Mount(environments=(NAME,)), {NAME: state})


@pytest.fixture
def agency() -> Sandbox:
    return _agency()


@pytest.fixture
def call(agency: Sandbox) -> Callable[..., Call]:
    return lambda tool, **args: agency.call(f"{NAME}.{tool}", args)


def _effects(done: Call, *, implied: bool = False) -> set[tuple[str, str]]:
    return {(effect.kind, effect.record.removeprefix(f"/{NAME}")) for effect in done.effects if effect.implied == implied}


def test_booking_issues_a_ticket_takes_a_seat_and_charges_the_balance(call: Callable[..., Call]) -> None:
    asked = {"traveller_id": "T-101", "document_id": "D-501", "flight_id": "SK583-0407", "cabin": "economy", "pay_with": "miles"}
    done = call("book_flight", **asked)
    assert done.content["charged_miles"] == 37800 and done.content["charged_cents"] == 0
    assert _effects(done) == {("booking.create", "/bookings/B-3007")}
    assert _effects(done, implied=True) == {
        ("record.create", "/tickets/117-240007"),
        ("record.update", "/fares/SK583-0407:economy"),
        ("account.update", "/travellers/T-101"),
    }
    ticket = call("get_ticket", booking_id="B-3007").content["ticket"]
    assert (ticket["passenger_name"], ticket["document_number"], ticket["departs"]) == ("Ingrid Sørensen", "DK4471920", "07:35")
    assert call("find_traveller", name="Ingrid Sørensen").content["travellers"][0]["miles"] == 3400
    assert call("book_flight", **asked).content["error"]["code"] == "insufficient_funds"
    assert call("book_flight", **{**asked, "document_id": "D-502"}).content["error"]["code"] == "invalid_arguments"


@pytest.mark.parametrize(("flight_id", "cabin"), [("SK583-0303", "economy"), ("TP759-0407", "business")])
def test_departed_and_sold_out_flights_cannot_be_booked(call: Callable[..., Call], flight_id: str, cabin: str) -> None:
    asked = {"traveller_id": "T-101", "document_id": "D-501", "flight_id": flight_id, "cabin": cabin, "pay_with": "card"}
    assert call("book_flight", **asked).content["error"]["code"] == "precondition_failed"


def test_a_cancelled_departure_is_not_offered(agency: Sandbox) -> None:
    grounded = _agency(lambda state: state["flights"]["TP759-0407"].update(status="cancelled"))
    route = {"origin": "CPH", "destination": "Lisboa"}
    found = [world.call(f"{NAME}.search_flights", route).content["flights"] for world in (agency, grounded)]
    assert [[flight["flight_id"] for flight in flights] for flights in found] == [["SK583-0407", "TP759-0407"], ["SK583-0407"]]


def test_changing_a_flight_reissues_the_ticket_and_frees_the_old_seat(call: Callable[..., Call]) -> None:
    done = call("change_flight", booking_id="B-3001", flight_id="SK583-0407", cabin="business")
    booking = done.content["booking"]
    assert done.content["charged_cents"] == 4000 + 52400 - 18900
    assert (booking["fare_cents"], booking["change_fees_cents"], "seat" in booking) == (52400, 4000, False)
    assert _effects(done) == {("booking.update", "/bookings/B-3001")}
    assert call("get_ticket", booking_id="B-3001").content["ticket"]["cabin"] == "business"
    seats = call("get_seat_map", flight_id="SK583-0407", cabin="economy", availability="free").content["seats"]
    assert "14C" in [seat["seat"] for seat in seats]
    fares = call("search_flights", origin="CPH", destination="LIS", day="2026-04-07").content["flights"][0]["fares"]
    assert {fare["cabin"]: fare["seats_left"] for fare in fares} == {"economy": 7, "business": 1}


def test_a_refundable_fare_comes_back_and_another_is_lost(call: Callable[..., Call]) -> None:
    done = call("cancel_bookings", booking_ids=["B-3002", "B-3001"], refund_to="travel_credit")
    assert [(item["booking_id"], item["refund_cents"]) for item in done.content["bookings"]] == [("B-3001", 18900), ("B-3002", 0)]
    assert _effects(done) == {("booking.cancel", "/bookings/B-3001"), ("booking.cancel", "/bookings/B-3002")}
    assert call("find_traveller", name="Ingrid Sørensen").content["travellers"][0]["travel_credit_cents"] == 23900
    assert [call("get_ticket", booking_id=item).content["ticket"]["status"] for item in ("B-3001", "B-3002")] == [
        "refunded",
        "void",
    ]
    again = call("cancel_booking", booking_id="B-3001", refund_to="travel_credit")
    assert again.content["error"]["code"] == "precondition_failed"


def test_bulk_cancellation_is_all_or_nothing(agency: Sandbox, call: Callable[..., Call]) -> None:
    before = agency.state()
    refused = call("cancel_bookings", booking_ids=["B-3001", "B-3006"], refund_to="original_payment")
    assert refused.error is not None and refused.error.code == "precondition_failed"
    assert len(refused.intents) == 2 and agency.state() == before


def test_seats_are_given_once_and_in_the_right_cabin(call: Callable[..., Call]) -> None:
    assert call("assign_seat", booking_id="B-3003", seat="14c").content["error"]["code"] == "precondition_failed"
    assert call("assign_seat", booking_id="B-3003", seat="2A").content["error"]["code"] == "precondition_failed"
    call("assign_seat", booking_id="B-3001", seat="15A")
    assert call("assign_seat", booking_id="B-3003", seat="14c").content["booking"]["seat"] == "14C"


def test_bags_are_charged_each_and_reach_the_ticket(call: Callable[..., Call]) -> None:
    assert call("add_bags", booking_id="B-3004", bags=4).content["charged_cents"] == 14000
    assert call("get_ticket", booking_id="B-3004").content["ticket"]["bags"] == 5
    assert call("get_booking", booking_id="B-3004").content["booking"]["bag_fees_cents"] == 14000
    assert call("add_bags", booking_id="B-3004", bags=1).content["error"]["code"] == "precondition_failed"


def test_a_draft_is_not_a_sent_message(call: Callable[..., Call]) -> None:
    text = {"traveller_id": "T-103", "subject": "Gate", "body": "Please be early."}
    draft, sent = (call("message_traveller", **text, action=action) for action in ("draft", "send"))
    assert _effects(draft) == {("message.draft", "/messages/M-703")}
    assert _effects(sent) == {("message.send", "/messages/M-704")}
    stored = call("list_messages", traveller_id="T-103").content["messages"]
    assert [(item["status"], item["body"]) for item in stored] == [("draft", "Please be early."), ("sent", "Please be early.")]
    refused = call("message_traveller", **{**text, "body": " "}, action="send")
    assert refused.content["error"]["code"] == "invalid_arguments"


def test_ticket_and_schedule_are_separate_sources(agency: Sandbox) -> None:
    moved = _agency(lambda state: state["flights"]["SK583-0407"].update(departs="08:20"))
    tickets = [world.call(f"{NAME}.get_ticket", {"booking_id": "B-3001"}).content["ticket"]["departs"] for world in (agency, moved)]
    asked = {"flight_number": "sk 583", "day": "2026-04-07"}
    schedule = moved.call(f"{NAME}.get_flight_schedule", asked).content["flight"]["departs"]
    assert (tickets, schedule) == (["07:35", "07:35"], "08:20")


def test_verification_compares_what_it_is_given(call: Callable[..., Call]) -> None:
    seen = {"document_id": "D-504", "number": "GB6619083", "expires_on": "2026-06-21"}
    assert call("verify_document", **seen, travel_day="2026-06-21").content["ok"] is True
    assert call("verify_document", **seen, travel_day="2026-06-22").content["ok"] is False
    wrong = call("verify_document", **{**seen, "expires_on": "2027-06-21"}, travel_day="2026-04-15").content
    assert wrong["mismatched"] == ["expires_on"] and wrong["ok"] is False
    terms = {"booking_id": "B-3001", "fare_cents": 18900, "refundable": True}
    assert call("verify_cancellation_terms", **terms).content["ok"] is True
    assert call("verify_cancellation_terms", **{**terms, "fare_cents": 52400}).content["mismatched"] == ["fare_cents"]
    fare = {"flight_id": "SK583-0303", "cabin": "economy", "price_cents": 11200}
    assert len(call("verify_fare", **fare).content["reasons"]) == 2


@pytest.mark.parametrize(
    ("collection", "key", "field", "value"),
    [
        ("bookings", "B-3001", "traveller_id", "T-999"),
        ("bookings", "B-3001", "cabin", "premium"),
        ("tickets", "117-240001", "booking_id", "B-9"),
        ("flights", "SK583-0407", "destination", "ZZZ"),
        ("flights", "SK583-0407", "departs", "7.35"),
    ],
)
def test_inconsistent_states_are_refused(collection: str, key: str, field: str, value: str) -> None:
    with pytest.raises(ValidationError):
        _agency(lambda state: state[collection][key].update({field: value}))


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({}, ["B-3001", "B-3002", "B-3003", "B-3004", "B-3005", "B-3006"]),
        ({"traveller_id": "T-102"}, ["B-3003", "B-3005"]),
        ({"status": "cancelled"}, ["B-3006"]),
        ({"destination": "lis"}, ["B-3001", "B-3003", "B-3004", "B-3005"]),
        ({"destination": "Lisboa", "day_to": "2026-04-01"}, ["B-3005"]),
        ({"day_from": "2026-04-15"}, ["B-3004", "B-3006"]),
    ],
)
def test_booking_filters_filter(call: Callable[..., Call], filters: dict[str, Any], expected: list[str]) -> None:
    assert [item["booking_id"] for item in call("list_bookings", **filters).content["bookings"]] == expected


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"cabin": "business"}, [("SK583-0407", ["business"])]),
        ({"max_price_cents": 18900}, [("SK583-0407", ["economy"]), ("TP759-0407", ["economy"])]),
        ({"day": "2026-04-08"}, []),
    ],
)
def test_flight_filters_filter(call: Callable[..., Call], filters: dict[str, Any], expected: list[tuple[str, list[str]]]) -> None:
    found = call("search_flights", origin="københavn", destination="Lisboa", **filters).content["flights"]
    assert [(flight["flight_id"], [fare["cabin"] for fare in flight["fares"]]) for flight in found] == expected
