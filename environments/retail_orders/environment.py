"""The tools of an online shop's order desk."""

from collections.abc import Mapping
from datetime import date, timedelta
from typing import TypeVar

from environments.retail_orders.example import example_state
from environments.retail_orders.records import (
    Address,
    Direction,
    Line,
    Order,
    OrderStatus,
    PaymentMethod,
    Product,
    Refund,
    RefundTarget,
    RetailState,
)
from environments.retail_orders.views import (
    CustomerList,
    DeletedMethod,
    ExchangeResult,
    OrderResult,
    OrderResults,
    OrderSummaries,
    PaymentResult,
    ProductResult,
    ProductSummaries,
    RefundResult,
    ShipmentResult,
    Verification,
    WarehouseResult,
    customer_view,
    delivered_on,
    find_shipment,
    order_status,
    order_summary,
    order_view,
    payment_view,
    product_summary,
    shipment_view,
)
from environments.runtime import EffectDecl, Environment, Record, ToolError, commit, lookup, verify

R = TypeVar("R", bound=Record)


class RetailOrders(Environment[RetailState]):
    """The order desk of an online shop."""

    name = "retail_orders"
    summary = "Customers, orders, products, shipments, returns and refunds of one online shop."
    state_type = RetailState

    @classmethod
    def example_state(cls) -> RetailState:
        return example_state()

    @lookup()
    def find_customer(self, name: str | None = None, email: str | None = None) -> CustomerList:
        """Find customer accounts by name or e-mail address.

        Args:
            name: full name; upper and lower case are the same.
            email: e-mail address; upper and lower case are the same.

        Returns:
            Every account that has all the given values, with its address, saved payment methods, store credit in cents and note.

        Examples:
            >>> [c["customer_id"] for c in call("find_customer", name="zoë björklund")["customers"]]
            ['C-201']
            >>> call("find_customer")["error"]["code"]
            'invalid_arguments'
        """
        if name is None and email is None:
            raise ToolError("invalid_arguments", "Give a name or an e-mail address.")
        found = [
            customer_view(self.state, customer)
            for _, customer in sorted(self.state.customers.items())
            if (name is None or customer.name.casefold() == name.strip().casefold())
            and (email is None or customer.email.casefold() == email.strip().casefold())
        ]
        return CustomerList(customers=found)

    @lookup()
    def list_orders(
        self,
        customer_id: str | None = None,
        status: OrderStatus | None = None,
        placed_from: date | None = None,
        placed_to: date | None = None,
        product_name: str | None = None,
    ) -> OrderSummaries:
        """List orders, with all filters combined.

        Args:
            customer_id: only orders of this customer.
            status: only orders with this status.
            placed_from: only orders placed on or after this day (YYYY-MM-DD).
            placed_to: only orders placed on or before this day (YYYY-MM-DD).
            product_name: only orders with a product whose name contains this text; upper and lower case are the same.

        Returns:
            Every matching order with status, destination city, items and total in cents, sorted by order id.

        Examples:
            >>> [o["order_id"] for o in call("list_orders", customer_id="C-201", status="processing")["orders"]]
            ['W-1003']
            >>> [o["order_id"] for o in call("list_orders", placed_from="2026-03-12", placed_to="2026-03-16")["orders"]]
            ['W-1003', 'W-1004', 'W-1005']
            >>> [o["order_id"] for o in call("list_orders", product_name="lamp")["orders"]]
            ['W-1002', 'W-1005']
        """
        found = []
        for _, order in sorted(self.state.orders.items()):
            summary = order_summary(self.state, order)
            if (
                (customer_id is None or order.customer_id == customer_id)
                and (status is None or summary.status == status)
                and (placed_from is None or order.placed_on >= placed_from)
                and (placed_to is None or order.placed_on <= placed_to)
                and (product_name is None or any(product_name.casefold() in item.name.casefold() for item in summary.items))
            ):
                found.append(summary)
        return OrderSummaries(orders=found)

    @lookup()
    def get_order(self, order_id: str) -> OrderResult:
        """Read one order.

        Args:
            order_id: order id.

        Returns:
            The order with status, items, amounts in cents, shipping address, payment method and note.

        Examples:
            >>> call("get_order", order_id="W-1001")["order"]["status"]
            'delivered'
            >>> call("get_order", order_id="W-9999")["error"]["code"]
            'not_found'
        """
        return OrderResult(order=order_view(self.state, self._order(order_id)))

    @lookup()
    def search_products(
        self,
        name: str | None = None,
        category: str | None = None,
        colour: str | None = None,
        size: str | None = None,
        max_price_cents: int | None = None,
        in_stock: bool | None = None,
    ) -> ProductSummaries:
        """Search the product catalogue, with all filters combined.

        Args:
            name: text the product name contains; upper and lower case are the same.
            category: exact category, for example `lighting`; upper and lower case are the same.
            colour: exact colour; upper and lower case are the same.
            size: exact size; upper and lower case are the same.
            max_price_cents: highest price in cents.
            in_stock: true for products in stock, false for products sold out.

        Returns:
            Every matching product variant, sorted by SKU.

        Examples:
            >>> [p["sku"] for p in call("search_products", name="trail jacket", colour="green")["products"]]
            ['JK-310-GM']
            >>> [p["sku"] for p in call("search_products", category="audio", in_stock=False)["products"]]
            ['HP-220-WH']
        """
        exact = {"category": category, "colour": colour, "size": size}
        found = [
            product_summary(product)
            for _, product in sorted(self.state.products.items())
            if (name is None or name.casefold() in product.name.casefold())
            and all(text is None or getattr(product, field).casefold() == text.casefold() for field, text in exact.items())
            and (max_price_cents is None or product.price_cents <= max_price_cents)
            and (in_stock is None or (product.stock > 0) == in_stock)
        ]
        return ProductSummaries(products=found)

    @lookup()
    def get_product(self, sku: str) -> ProductResult:
        """Read one product variant.

        Args:
            sku: stock-keeping unit.

        Returns:
            The variant with price in cents, units in stock, return window in days and note.

        Examples:
            >>> call("get_product", sku="LM-400")["product"]["return_days"]
            30
            >>> call("get_product", sku="XX-000")["error"]["code"]
            'not_found'
        """
        return ProductResult(product=self._product(sku))

    @lookup()
    def get_shipment(self, order_id: str, direction: Direction = "outbound") -> ShipmentResult:
        """Read the carrier's tracking for an order.

        Args:
            order_id: order id.
            direction: `outbound` for the parcel to the customer, `return` for the parcel back.

        Returns:
            The latest shipment in that direction: tracking number, parcels, weight in grams, dates of collection and delivery and
            all scans.

        Examples:
            >>> call("get_shipment", order_id="W-1001")["shipment"]["delivered_on"]
            '2026-03-06'
            >>> call("get_shipment", order_id="W-1002", direction="return")["shipment"]["last_event"]
            'delivered'
            >>> call("get_shipment", order_id="W-1003")["error"]["code"]
            'not_found'
        """
        self._order(order_id)
        shipment = find_shipment(self.state, order_id, direction)
        if shipment is None:
            raise ToolError("not_found", f"The carrier has no {direction} shipment for order {order_id}.")
        return ShipmentResult(shipment=shipment_view(shipment))

    @lookup()
    def get_warehouse_record(self, order_id: str) -> WarehouseResult:
        """Read what the warehouse logged for an order.

        Args:
            order_id: order id.

        Returns:
            Day of dispatch, parcels, weight in grams, day and units of goods that came back, and note.

        Examples:
            >>> call("get_warehouse_record", order_id="W-1002")["warehouse_record"]["returned_units"]
            1
            >>> call("get_warehouse_record", order_id="W-1006")["error"]["code"]
            'not_found'
        """
        return WarehouseResult(warehouse_record=_get(self.state.warehouse, order_id, "a warehouse record for order"))

    @lookup()
    def get_payment(self, order_id: str) -> PaymentResult:
        """Read the payment processor's ledger for an order.

        Args:
            order_id: order id.

        Returns:
            The charge, the refunds so far, and what can still be refunded, all in cents.

        Examples:
            >>> call("get_payment", order_id="W-1001")["payment"]["charged_cents"]
            21480
            >>> call("get_payment", order_id="W-9999")["error"]["code"]
            'not_found'
        """
        return PaymentResult(payment=payment_view(self.state, _get(self.state.charges, order_id, "a charge for order")))

    @verify()
    def verify_cancellation(self, order_id: str, status: OrderStatus, total_cents: int) -> Verification:
        """Check whether an order can still be cancelled, against the status and total you observed.

        Args:
            order_id: order id.
            status: the status you observed.
            total_cents: the order total you observed, in cents.

        Returns:
            `ok` when both values match and the order has not left the warehouse; what was compared, what differed and the reasons.

        Examples:
            >>> call("verify_cancellation", order_id="W-1003", status="processing", total_cents=14390)["ok"]
            True
            >>> call("verify_cancellation", order_id="W-1003", status="pending", total_cents=14390)["mismatched"]
            ['status']
            >>> call("verify_cancellation", order_id="W-1001", status="delivered", total_cents=21480)["reasons"]
            ['The order is past cancellation.']
        """
        summary = order_summary(self.state, self._order(order_id))
        reasons = [] if summary.status in ("pending", "processing") else ["The order is past cancellation."]
        return _verification({"status": (status, summary.status), "total_cents": (total_cents, summary.total_cents)}, reasons)

    @verify()
    def verify_return_eligibility(self, order_id: str, sku: str, delivered_on: date) -> Verification:
        """Check whether an item can be returned, against the delivery day you observed.

        Args:
            order_id: order id.
            sku: the item's SKU.
            delivered_on: the delivery day you observed (YYYY-MM-DD).

        Returns:
            `ok` when the day matches the carrier's delivery scan, the return window is open and the item has no open return or
            exchange; what was compared, what differed and the reasons.

        Examples:
            >>> call("verify_return_eligibility", order_id="W-1001", sku="HP-220-BK", delivered_on="2026-03-06")["ok"]
            True
            >>> call("verify_return_eligibility", order_id="W-1001", sku="HP-220-BK", delivered_on="2026-03-05")["mismatched"]
            ['delivered_on']
            >>> call("verify_return_eligibility", order_id="W-1003", sku="JK-310-GM", delivered_on="2026-03-14")["ok"]
            False
        """
        order = self._order(order_id)
        line = self._line(order_id, sku)
        return _verification({"delivered_on": (delivered_on, self._delivered(order))}, self._return_obstacles(order, line))

    @verify()
    def verify_address(self, street: str, city: str, postcode: str, country: str) -> Verification:
        """Check an address against the carrier's postal directory.

        Args:
            street: street and house number.
            city: city.
            postcode: postcode.
            country: two-letter country code.

        Returns:
            `ok` when the directory lists the postcode with this city and street; what was compared, what differed and the reasons.

        Examples:
            >>> call("verify_address", street="Linnégatan 12", city="Göteborg", postcode="413 04", country="SE")["ok"]
            True
            >>> call("verify_address", street="Linnégatan 12", city="Malmö", postcode="413 04", country="SE")["mismatched"]
            ['city']
            >>> call("verify_address", street="Nowhere 1", city="Göteborg", postcode="000 00", country="SE")["ok"]
            False
        """
        area = self.state.postal_areas.get(f"{country.upper()}-{postcode.strip()}")
        if area is None:
            return Verification(
                ok=False, compared=["postcode"], mismatched=["postcode"], reasons=["The directory has no such postcode."]
            )
        known = any(name.casefold() in street.casefold() for name in area.streets)
        return _verification({"city": (city.casefold(), area.city.casefold()), "street": (True, known)}, [])

    @commit(
        EffectDecl("order.cancel", "/orders/{order_id}", writes=("status", "cancel_reason"), free=("cancel_reason",)),
        EffectDecl("order.refund", "/refunds/*", implied=True),
        EffectDecl("record.update", "/products/*", writes=("stock",), implied=True),
    )
    def cancel_order(self, order_id: str, reason: str = "") -> OrderResult:
        """Cancel an order that has not been shipped.

        The goods go back into stock and what is left of the charge is refunded to the original payment method.

        Args:
            order_id: order id.
            reason: why, in free text.

        Returns:
            The cancelled order.

        Examples:
            >>> call("cancel_order", order_id="W-1003")["order"]["status"]
            'cancelled'
            >>> call("get_payment", order_id="W-1003")["payment"]["refundable_cents"]
            0
            >>> call("cancel_order", order_id="W-1001")["error"]["code"]
            'precondition_failed'
        """
        return OrderResult(order=order_view(self.state, self._cancel(order_id, reason)))

    @commit(
        EffectDecl("order.cancel", "/orders/{order_ids}", writes=("status", "cancel_reason"), free=("cancel_reason",)),
        EffectDecl("order.refund", "/refunds/*", implied=True),
        EffectDecl("record.update", "/products/*", writes=("stock",), implied=True),
    )
    def cancel_orders(self, order_ids: list[str], reason: str = "") -> OrderResults:
        """Cancel several orders at once; if one cannot be cancelled, none is.

        Goods go back into stock and what is left of each charge is refunded to the original payment method.

        Args:
            order_ids: order ids, each once.
            reason: why, in free text.

        Returns:
            The cancelled orders, sorted by order id.

        Examples:
            >>> [o["status"] for o in call("cancel_orders", order_ids=["W-1003", "W-1005"])["orders"]]
            ['cancelled', 'cancelled']
            >>> call("cancel_orders", order_ids=["W-1003", "W-1001"])["error"]["code"]
            'precondition_failed'
            >>> call("cancel_orders", order_ids=[])["error"]["code"]
            'invalid_arguments'
        """
        _check_distinct(order_ids, "order ids")
        return OrderResults(orders=[order_view(self.state, self._cancel(order_id, reason)) for order_id in sorted(order_ids)])

    @commit(EffectDecl("order.return", "/lines/{order_id}:{skus}", writes=("status", "refund_to", "reason"), free=("reason",)))
    def return_items(self, order_id: str, skus: list[str], refund_to: RefundTarget, reason: str = "") -> OrderResult:
        """Register the return of delivered items, with all units of each.

        Args:
            order_id: order id.
            skus: SKUs of the items, each once.
            refund_to: where the money goes once the goods are back: `original_payment` or `store_credit`.
            reason: why, in free text.

        Returns:
            The order with the items marked as `return_requested`.

        Examples:
            >>> done = call("return_items", order_id="W-1001", skus=["HP-220-BK"], refund_to="store_credit")
            >>> [i["status"] for i in done["order"]["items"]]
            ['return_requested', 'ordered']
            >>> call("return_items", order_id="W-1003", skus=["JK-310-GM"], refund_to="store_credit")["error"]["code"]
            'precondition_failed'
        """
        _check_distinct(skus, "SKUs")
        order = self._order(order_id)
        for sku in skus:
            line = self._line(order_id, sku)
            self._require_returnable(order, line)
            update = {"status": "return_requested", "refund_to": refund_to, "reason": reason}
            self.state.lines[line.line_id] = line.model_copy(update=update)
        return OrderResult(order=order_view(self.state, order))

    @commit(
        EffectDecl("order.exchange", "/lines/{order_id}:{sku}", writes=("status", "exchange_sku", "reason"), free=("reason",)),
        EffectDecl("record.update", "/products/{new_sku}", writes=("stock",), implied=True),
    )
    def exchange_item(self, order_id: str, sku: str, new_sku: str, reason: str = "") -> ExchangeResult:
        """Exchange a delivered item for another variant of the same model, with all its units.

        Args:
            order_id: order id.
            sku: SKU of the delivered item.
            new_sku: SKU of the variant wanted instead.
            reason: why, in free text.

        Returns:
            The order with the item marked as `exchange_requested`, and the price difference in cents; positive when the new variant
            costs more.

        Examples:
            >>> call("exchange_item", order_id="W-1004", sku="JK-310-BL", new_sku="JK-310-GM")["price_difference_cents"]
            500
            >>> call("exchange_item", order_id="W-1001", sku="HP-220-BK", new_sku="HP-220-WH")["error"]["code"]
            'precondition_failed'
        """
        order = self._order(order_id)
        line = self._line(order_id, sku)
        self._require_returnable(order, line)
        new = self._product(new_sku)
        if new_sku == sku or new.model != self._product(sku).model:
            raise ToolError("invalid_arguments", "An item can only be exchanged for another variant of the same model.")
        if new.stock < line.quantity:
            raise ToolError("precondition_failed", "The wanted variant cannot be supplied in this quantity.")
        update = {"status": "exchange_requested", "exchange_sku": new_sku, "reason": reason}
        self.state.lines[line.line_id] = line.model_copy(update=update)
        self.state.products[new_sku] = new.model_copy(update={"stock": new.stock - line.quantity})
        difference = line.quantity * (new.price_cents - line.unit_price_cents)
        return ExchangeResult(order=order_view(self.state, order), price_difference_cents=difference)

    @commit(EffectDecl("order.update", "/orders/{order_id}", writes=("shipping_address",)))
    def change_address(
        self, order_id: str, street: str, city: str, postcode: str, country: str, recipient: str | None = None
    ) -> OrderResult:
        """Change where an order that has not been shipped goes.

        Args:
            order_id: order id.
            street: street and house number.
            city: city.
            postcode: postcode.
            country: two-letter country code.
            recipient: name on the parcel; the present recipient if left out.

        Returns:
            The order with the new shipping address.

        Examples:
            >>> moved = dict(street="Vesterbrogade 8", city="København", postcode="1620", country="DK")
            >>> call("change_address", order_id="W-1003", **moved)["order"]["ship_to_city"]
            'København'
            >>> call("change_address", order_id="W-1001", **moved)["error"]["code"]
            'precondition_failed'
        """
        order = self._order(order_id)
        if order.status not in ("pending", "processing"):
            raise ToolError("precondition_failed", f"The address of order {order_id} can no longer be changed.")
        given = {"street": street, "city": city, "postcode": postcode, "country": country, "recipient": recipient}
        if not all(value is None or value.strip() for value in given.values()):
            raise ToolError("invalid_arguments", "No part of an address may be empty.")
        address = Address(
            recipient=recipient or order.shipping_address.recipient,
            street=street,
            city=city,
            postcode=postcode,
            country=country.upper(),
        )
        return OrderResult(order=order_view(self.state, self._put_order(order, shipping_address=address)))

    @commit(
        EffectDecl("order.refund", "/refunds/*", free=("reason",)),
        EffectDecl("account.update", "/customers/*", writes=("store_credit_cents",), when={"to": "store_credit"}, implied=True),
    )
    def issue_refund(self, order_id: str, amount_cents: int, to: RefundTarget, reason: str = "") -> RefundResult:
        """Give money back for an order, up to what was charged and not yet refunded.

        Args:
            order_id: order id.
            amount_cents: amount in cents, at least 1.
            to: `original_payment`, or `store_credit` to add it to the customer's store credit.
            reason: why, in free text.

        Returns:
            The refund.

        Examples:
            >>> call("issue_refund", order_id="W-1002", amount_cents=1200, to="store_credit")["refund"]["refund_id"]
            'R-5002'
            >>> call("find_customer", name="Andrés Peña")["customers"][0]["store_credit_cents"]
            3700
            >>> call("issue_refund", order_id="W-1002", amount_cents=999999, to="store_credit")["error"]["code"]
            'precondition_failed'
        """
        order = self._order(order_id)
        payment = payment_view(self.state, _get(self.state.charges, order_id, "a charge for order"))
        if amount_cents < 1:
            raise ToolError("invalid_arguments", "A refund is at least 1 cent.")
        if amount_cents > payment.refundable_cents:
            raise ToolError("precondition_failed", "The amount is more than can be refunded for this order.")
        if to == "store_credit":
            customer = self.state.customers[order.customer_id]
            credit = customer.store_credit_cents + amount_cents
            self.state.customers[customer.customer_id] = customer.model_copy(update={"store_credit_cents": credit})
        return RefundResult(refund=self._add_refund(order_id, amount_cents, to, reason))

    @commit(EffectDecl("record.delete", "/payment_methods/{payment_method_id}"))
    def delete_saved_payment_method(self, payment_method_id: str) -> DeletedMethod:
        """Delete a payment method from a customer account. It must not be in use by an order that has not been shipped.

        Args:
            payment_method_id: payment method id.

        Returns:
            The deleted payment method.

        Examples:
            >>> call("delete_saved_payment_method", payment_method_id="PM-31")["deleted"]["label"]
            'PayPal'
            >>> call("delete_saved_payment_method", payment_method_id="PM-30")["error"]["code"]
            'precondition_failed'
        """
        method: PaymentMethod = _get(self.state.payment_methods, payment_method_id, "payment method")
        open_orders = [order for order in self.state.orders.values() if order.status in ("pending", "processing")]
        if any(order.payment_method_id == payment_method_id for order in open_orders):
            raise ToolError("precondition_failed", f"Payment method {payment_method_id} is in use by an open order.")
        del self.state.payment_methods[payment_method_id]
        return DeletedMethod(deleted=method)

    def _order(self, order_id: str) -> Order:
        return _get(self.state.orders, order_id, "order")

    def _product(self, sku: str) -> Product:
        return _get(self.state.products, sku, "product")

    def _line(self, order_id: str, sku: str) -> Line:
        return _get(self.state.lines, f"{order_id}:{sku}", "order item")

    def _put_order(self, order: Order, **update: object) -> Order:
        changed = order.model_copy(update=update)
        self.state.orders[order.order_id] = changed
        return changed

    def _delivered(self, order: Order) -> date | None:
        return delivered_on(self.state, order.order_id) if order_status(self.state, order) == "delivered" else None

    def _return_obstacles(self, order: Order, line: Line) -> list[str]:
        delivered = self._delivered(order)
        if delivered is None:
            return ["The item has not been delivered."]
        reasons = []
        if self.today > delivered + timedelta(days=self._product(line.sku).return_days):
            reasons.append("The return window has closed.")
        if line.status != "ordered":
            reasons.append("The item already has a return or exchange.")
        return reasons

    def _require_returnable(self, order: Order, line: Line) -> None:
        if obstacles := self._return_obstacles(order, line):
            raise ToolError("precondition_failed", f"{line.sku} in order {order.order_id}: {obstacles[0]}")

    def _cancel(self, order_id: str, reason: str) -> Order:
        order = self._order(order_id)
        if order.status not in ("pending", "processing"):
            raise ToolError("precondition_failed", f"Order {order_id} can no longer be cancelled.")
        for line in self.state.lines.values():
            if line.order_id == order_id:
                product = self.state.products[line.sku]
                self.state.products[line.sku] = product.model_copy(update={"stock": product.stock + line.quantity})
        if charge := self.state.charges.get(order_id):
            left = payment_view(self.state, charge).refundable_cents
            if left > 0:
                self._add_refund(order_id, left, "original_payment", "")
        return self._put_order(order, status="cancelled", cancel_reason=reason)

    def _add_refund(self, order_id: str, amount_cents: int, to: RefundTarget, reason: str) -> Refund:
        refund_id = self.next_id("refund", "R-", start=5001)
        refund = Refund(
            refund_id=refund_id, order_id=order_id, amount_cents=amount_cents, to=to, issued_on=self.today, reason=reason
        )
        self.state.refunds[refund_id] = refund
        return refund


def _get(records: Mapping[str, R], key: str, what: str) -> R:
    if key not in records:
        raise ToolError("not_found", f"There is no {what} {key}.")
    return records[key]


def _check_distinct(values: list[str], what: str) -> None:
    if not values or len(set(values)) != len(values):
        raise ToolError("invalid_arguments", f"Give at least one of the {what}, each once.")


def _verification(observed: Mapping[str, tuple[object, object]], reasons: list[str]) -> Verification:
    """Compare observed values with recorded ones: name -> (observed, recorded)."""
    mismatched = [name for name, (seen, recorded) in observed.items() if seen != recorded]
    return Verification(ok=not mismatched and not reasons, compared=list(observed), mismatched=mismatched, reasons=reasons)
