"""The behaviours of the shop that tasks rely on."""

from collections.abc import Callable
from typing import Any

import pytest
from pydantic import ValidationError

from environments.retail_orders.environment import RetailOrders
from environments.runtime.records import Call, Mount
from environments.runtime.sandbox import Sandbox

NAME = "retail_orders"


@pytest.fixture
def shop() -> Sandbox:
    return Sandbox(Mount(environments=(NAME,)), {NAME: RetailOrders.example_state().dump()})


@pytest.fixture
def call(shop: Sandbox) -> Callable[..., Call]:
    return lambda tool, **args: shop.call(f"{NAME}.{tool}", args)


def _effects(done: Call) -> set[tuple[str, str, bool]]:
    return {(effect.kind, effect.record.removeprefix(f"/{NAME}"), effect.implied) for effect in done.effects}


def test_cancelling_restocks_refunds_the_rest_and_cannot_be_repeated(call: Callable[..., Call]) -> None:
    call("issue_refund", order_id="W-1005", amount_cents=490, to="original_payment")
    done = call("cancel_order", order_id="W-1005", reason="ordered twice")
    assert _effects(done) == {
        ("order.cancel", "/orders/W-1005", False),
        ("order.refund", "/refunds/R-5003", True),
        ("record.update", "/products/LM-400", True),
    }
    payment = call("get_payment", order_id="W-1005").content["payment"]
    assert [refund["amount_cents"] for refund in payment["refunds"]] == [490, 16000]
    assert call("get_product", sku="LM-400").content["product"]["stock"] == 11
    assert call("get_order", order_id="W-1005").content["order"]["cancel_reason"] == "ordered twice"
    assert call("cancel_order", order_id="W-1005").content["error"]["code"] == "precondition_failed"


def test_bulk_cancellation_is_all_or_nothing(shop: Sandbox, call: Callable[..., Call]) -> None:
    before = shop.state()
    refused = call("cancel_orders", order_ids=["W-1003", "W-1004", "W-1005"])
    assert refused.error is not None and refused.error.code == "precondition_failed"
    assert {intent.record for intent in refused.intents} == {f"/{NAME}/orders/W-100{n}" for n in (3, 4, 5)}
    assert shop.state() == before
    done = call("cancel_orders", order_ids=["W-1005", "W-1003"])
    assert {record for kind, record, _ in _effects(done) if kind == "order.cancel"} == {"/orders/W-1003", "/orders/W-1005"}


def test_delivery_is_known_from_the_scan_alone(shop: Sandbox) -> None:
    state = RetailOrders.example_state().dump()
    state["shipments"]["NX-880121"]["scans"][1]["at"] = "2026-03-08T11:40:00"
    later = Sandbox(Mount(environments=(NAME,)), {NAME: state})
    shipment = later.call(f"{NAME}.get_shipment", {"order_id": "W-1001"}).content["shipment"]
    assert shipment["delivered_on"] == "2026-03-08"
    observed = {"order_id": "W-1001", "sku": "SP-115", "delivered_on": "2026-03-06"}
    assert later.call(f"{NAME}.verify_return_eligibility", observed).content["mismatched"] == ["delivered_on"]
    assert shop.call(f"{NAME}.verify_return_eligibility", observed).content["ok"] is True


def test_verification_compares_each_value_and_the_rule(call: Callable[..., Call]) -> None:
    seen = {"order_id": "W-1003", "status": "processing", "total_cents": 14390}
    assert call("verify_cancellation", **seen).content == {
        "ok": True,
        "compared": ["status", "total_cents"],
        "mismatched": [],
        "reasons": [],
    }
    assert call("verify_cancellation", **{**seen, "total_cents": 14391}).content["mismatched"] == ["total_cents"]
    assert call("verify_cancellation", order_id="W-1006", status="cancelled", total_cents=7085).content["ok"] is False
    address = {"street": "Park Row 14", "city": "Leeds", "postcode": "LS1 5HD", "country": "gb"}
    assert call("verify_address", **address).content["ok"] is True
    assert call("verify_address", **{**address, "street": "Long Row 14"}).content["mismatched"] == ["street"]


def test_a_return_needs_delivery_an_open_window_and_no_other_return(call: Callable[..., Call]) -> None:
    asked = {"order_id": "W-1001", "skus": ["SP-115", "HP-220-BK"], "refund_to": "original_payment", "reason": "too quiet"}
    done = call("return_items", **asked)
    assert _effects(done) == {("order.return", f"/lines/W-1001:{sku}", False) for sku in asked["skus"]}
    items = call("get_order", order_id="W-1001").content["order"]["items"]
    assert {(item["status"], item["refund_to"], item["reason"]) for item in items} == {
        ("return_requested", "original_payment", "too quiet")
    }
    assert call("return_items", **asked).content["error"]["code"] == "precondition_failed"
    state = RetailOrders.example_state().dump()
    state["now"] = "2026-04-06T10:00:00"
    late = Sandbox(Mount(environments=(NAME,)), {NAME: state})
    assert late.call(f"{NAME}.return_items", asked).content["error"]["code"] == "precondition_failed"


def test_exchange_takes_stock_and_stays_within_the_model(call: Callable[..., Call]) -> None:
    asked = {"order_id": "W-1004", "sku": "JK-310-BL"}
    assert call("exchange_item", **asked, new_sku="KT-075").content["error"]["code"] == "invalid_arguments"
    assert call("exchange_item", **asked, new_sku="JK-310-BX").content["price_difference_cents"] == 0
    assert call("get_product", sku="JK-310-BX").content["product"]["stock"] == 2
    assert call("exchange_item", **asked, new_sku="JK-310-GM").content["error"]["code"] == "precondition_failed"


def test_store_credit_is_credited_and_refunds_are_capped(call: Callable[..., Call]) -> None:
    done = call("issue_refund", order_id="W-1004", amount_cents=26880, to="store_credit")
    assert ("account.update", "/customers/C-203", True) in _effects(done)
    customer = call("find_customer", email="LWOJCIK@poczta.example").content["customers"][0]
    assert customer["store_credit_cents"] == 27680
    assert (
        call("issue_refund", order_id="W-1004", amount_cents=1, to="store_credit").content["error"]["code"] == "precondition_failed"
    )
    plain = call("issue_refund", order_id="W-1001", amount_cents=100, to="original_payment")
    assert _effects(plain) == {("order.refund", "/refunds/R-5003", False)}


def test_an_address_changes_only_before_dispatch_and_only_on_that_order(shop: Sandbox, call: Callable[..., Call]) -> None:
    new = {"street": "Prinsgatan 3", "city": "Göteborg", "postcode": "413 05", "country": "se"}
    order = call("change_address", order_id="W-1003", **new).content["order"]
    assert order["shipping_address"] == {**new, "country": "SE", "recipient": "Zoë Björklund"}
    assert shop.state()[NAME]["customers"]["C-201"]["address"]["street"] == "Linnégatan 12"
    assert call("change_address", order_id="W-1005", **{**new, "city": " "}).content["error"]["code"] == "invalid_arguments"
    assert call("change_address", order_id="W-1004", **new).content["error"]["code"] == "precondition_failed"


def test_a_payment_method_in_use_stays(call: Callable[..., Call]) -> None:
    assert call("delete_saved_payment_method", payment_method_id="PM-30").content["error"]["code"] == "precondition_failed"
    call("cancel_order", order_id="W-1003")
    done = call("delete_saved_payment_method", payment_method_id="PM-30")
    assert _effects(done) == {("record.delete", "/payment_methods/PM-30", False)}
    left = call("find_customer", name="Zoë Björklund").content["customers"][0]["payment_methods"]
    assert [method["payment_method_id"] for method in left] == ["PM-31"]


@pytest.mark.parametrize(
    ("collection", "key", "field"),
    [("lines", "W-1001:SP-115", "sku"), ("orders", "W-1001", "customer_id"), ("shipments", "NX-880121", "order_id")],
)
def test_states_with_dangling_references_are_refused(collection: str, key: str, field: str) -> None:
    state = RetailOrders.example_state().dump()
    state[collection][key][field] = "gone"
    with pytest.raises(ValidationError):
        Sandbox(Mount(environments=(NAME,)), {NAME: state})


@pytest.mark.parametrize(
    ("tool", "filters", "expected"),
    [
        ("list_orders", {}, ["W-1001", "W-1002", "W-1003", "W-1004", "W-1005", "W-1006"]),
        ("list_orders", {"customer_id": "C-204"}, ["W-1005", "W-1006"]),
        ("list_orders", {"status": "delivered"}, ["W-1001", "W-1002", "W-1004"]),
        ("list_orders", {"status": "shipped"}, []),
        ("list_orders", {"placed_from": "2026-03-14"}, ["W-1003", "W-1005"]),
        ("list_orders", {"placed_to": "2026-02-20"}, ["W-1002", "W-1006"]),
        ("list_orders", {"product_name": "FJÄLL"}, ["W-1003", "W-1004"]),
        ("list_orders", {"product_name": "kettle", "customer_id": "C-203"}, ["W-1004"]),
        ("search_products", {"category": "Clothing", "size": "xl"}, ["JK-310-BX"]),
        ("search_products", {"colour": "black"}, ["HP-220-BK"]),
        ("search_products", {"max_price_cents": 7990}, ["KT-075", "SP-115"]),
        ("search_products", {"name": "aria", "in_stock": True}, ["HP-220-BK"]),
    ],
)
def test_filters_filter(call: Callable[..., Call], tool: str, filters: dict[str, Any], expected: list[str]) -> None:
    items = next(iter(call(tool, **filters).content.values()))
    assert [item.get("order_id") or item["sku"] for item in items] == expected
