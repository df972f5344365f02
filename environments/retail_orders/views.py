"""What the tools answer, computed from the records."""

from datetime import date

from environments.retail_orders.records import (
    Address,
    Charge,
    Customer,
    Direction,
    LineStatus,
    Order,
    OrderStatus,
    PaymentMethod,
    Product,
    Refund,
    RefundTarget,
    RetailState,
    Scan,
    ScanEvent,
    Shipment,
    WarehouseRecord,
)
from environments.runtime import Result


class CustomerView(Result):
    """A customer account with its saved payment methods."""

    customer_id: str
    name: str
    email: str
    address: Address
    store_credit_cents: int
    payment_methods: list[PaymentMethod]
    note: str


class CustomerList(Result):
    """Customer accounts."""

    customers: list[CustomerView]


class LineView(Result):
    """One item of an order, with its product's name."""

    sku: str
    name: str
    quantity: int
    unit_price_cents: int
    line_total_cents: int
    status: LineStatus
    refund_to: RefundTarget | None = None
    exchange_sku: str | None = None
    reason: str


class OrderSummary(Result):
    """An order as lists show it."""

    order_id: str
    customer_id: str
    placed_on: date
    status: OrderStatus
    ship_to_city: str
    total_cents: int
    items: list[LineView]


class OrderSummaries(Result):
    """Orders as lists show them."""

    orders: list[OrderSummary]


class OrderView(OrderSummary):
    """A whole order."""

    shipping_address: Address
    payment_method_id: str
    shipping_cents: int
    discount_cents: int
    note: str
    cancel_reason: str


class OrderResult(Result):
    """One order."""

    order: OrderView


class OrderResults(Result):
    """Several orders."""

    orders: list[OrderView]


class ProductResult(Result):
    """One product variant."""

    product: Product


class ProductSummary(Result):
    """A product variant as searches show it."""

    sku: str
    name: str
    model: str
    category: str
    colour: str
    size: str
    price_cents: int
    in_stock: bool


class ProductSummaries(Result):
    """Product variants."""

    products: list[ProductSummary]


class ShipmentView(Result):
    """A shipment; dates are read off its scans."""

    tracking_number: str
    order_id: str
    direction: Direction
    carrier: str
    parcels: int
    weight_grams: int
    last_event: ScanEvent | None = None
    collected_on: date | None = None
    delivered_on: date | None = None
    scans: list[Scan]
    note: str


class ShipmentResult(Result):
    """One shipment."""

    shipment: ShipmentView


class WarehouseResult(Result):
    """One warehouse record."""

    warehouse_record: WarehouseRecord


class PaymentView(Result):
    """A charge and what was given back of it."""

    order_id: str
    reference: str
    charged_cents: int
    charged_on: date
    refunded_cents: int
    refundable_cents: int
    refunds: list[Refund]


class PaymentResult(Result):
    """One order's ledger."""

    payment: PaymentView


class Verification(Result):
    """What a check compared. `ok` needs every value to match and no reason against."""

    ok: bool
    compared: list[str]
    mismatched: list[str]
    reasons: list[str]


class ExchangeResult(Result):
    """An order after an exchange."""

    order: OrderView
    price_difference_cents: int


class RefundResult(Result):
    """One refund."""

    refund: Refund


class DeletedMethod(Result):
    """A payment method that is gone."""

    deleted: PaymentMethod


def customer_view(state: RetailState, customer: Customer) -> CustomerView:
    """An account with its payment methods, sorted by id."""
    methods = [method for _, method in sorted(state.payment_methods.items()) if method.customer_id == customer.customer_id]
    return CustomerView(**dict(customer), payment_methods=methods)


def line_views(state: RetailState, order_id: str) -> list[LineView]:
    """The items of an order, sorted by SKU."""
    return [
        LineView(
            sku=line.sku,
            name=state.products[line.sku].name,
            quantity=line.quantity,
            unit_price_cents=line.unit_price_cents,
            line_total_cents=line.quantity * line.unit_price_cents,
            status=line.status,
            refund_to=line.refund_to,
            exchange_sku=line.exchange_sku,
            reason=line.reason,
        )
        for _, line in sorted(state.lines.items())
        if line.order_id == order_id
    ]


def total_cents(state: RetailState, order: Order) -> int:
    """Goods plus shipping minus discount."""
    goods = sum(line.quantity * line.unit_price_cents for line in state.lines.values() if line.order_id == order.order_id)
    return goods + order.shipping_cents - order.discount_cents


def find_shipment(state: RetailState, order_id: str, direction: Direction) -> Shipment | None:
    """The shipment of an order in one direction, the one with the highest tracking number if there are several."""
    found = [item for _, item in sorted(state.shipments.items()) if item.order_id == order_id and item.direction == direction]
    return found[-1] if found else None


def scan_date(shipment: Shipment | None, event: ScanEvent) -> date | None:
    """The day of the last scan of a kind, if there is one."""
    days = [scan.at.date() for scan in shipment.scans if scan.event == event] if shipment else []
    return max(days, default=None)


def delivered_on(state: RetailState, order_id: str) -> date | None:
    """The day of the carrier's delivery scan, if there is one."""
    return scan_date(find_shipment(state, order_id, "outbound"), "delivered")


def order_status(state: RetailState, order: Order) -> OrderStatus:
    """The stored status, or `delivered` where a shipped order has a delivery scan."""
    return "delivered" if order.status == "shipped" and delivered_on(state, order.order_id) else order.status


def order_summary(state: RetailState, order: Order) -> OrderSummary:
    """An order as lists show it."""
    return OrderSummary(
        order_id=order.order_id,
        customer_id=order.customer_id,
        placed_on=order.placed_on,
        status=order_status(state, order),
        ship_to_city=order.shipping_address.city,
        total_cents=total_cents(state, order),
        items=line_views(state, order.order_id),
    )


def order_view(state: RetailState, order: Order) -> OrderView:
    """A whole order."""
    return OrderView(
        **dict(order_summary(state, order)),
        shipping_address=order.shipping_address,
        payment_method_id=order.payment_method_id,
        shipping_cents=order.shipping_cents,
        discount_cents=order.discount_cents,
        note=order.note,
        cancel_reason=order.cancel_reason,
    )


def product_summary(product: Product) -> ProductSummary:
    """A product variant as searches show it."""
    shown = {name: value for name, value in dict(product).items() if name in ProductSummary.model_fields}
    return ProductSummary(**shown, in_stock=product.stock > 0)


def shipment_view(shipment: Shipment) -> ShipmentView:
    """A shipment with the dates of its scans."""
    return ShipmentView(
        **dict(shipment) | {"scans": list(shipment.scans)},
        last_event=shipment.scans[-1].event if shipment.scans else None,
        collected_on=scan_date(shipment, "collected"),
        delivered_on=scan_date(shipment, "delivered"),
    )


def payment_view(state: RetailState, charge: Charge) -> PaymentView:
    """A charge with its refunds and what is left to refund."""
    refunds = [refund for _, refund in sorted(state.refunds.items()) if refund.order_id == charge.order_id]
    refunded = sum(refund.amount_cents for refund in refunds)
    return PaymentView(
        order_id=charge.order_id,
        reference=charge.reference,
        charged_cents=charge.amount_cents,
        charged_on=charge.charged_on,
        refunded_cents=refunded,
        refundable_cents=charge.amount_cents - refunded,
        refunds=refunds,
    )
