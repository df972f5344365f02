"""What the shop keeps: its own order system, the carrier's scans, the warehouse's log and the payment processor's ledger.

Order, carrier, warehouse and processor are separate systems. They usually agree, and nothing keeps them in step.
"""

from collections.abc import Mapping
from datetime import date, datetime
from typing import Literal, Self

from pydantic import Field, model_validator

from environments.runtime import Record, State

StoredStatus = Literal["pending", "processing", "shipped", "cancelled"]
OrderStatus = Literal["pending", "processing", "shipped", "delivered", "cancelled"]
LineStatus = Literal["ordered", "return_requested", "exchange_requested"]
RefundTarget = Literal["original_payment", "store_credit"]
Direction = Literal["outbound", "return"]
ScanEvent = Literal["collected", "in_transit", "out_for_delivery", "delivery_attempted", "delivered"]
MethodKind = Literal["card", "paypal", "bank_account"]


class Address(Record):
    """A postal address. `country` is a two-letter code."""

    recipient: str
    street: str
    city: str
    postcode: str
    country: str


class Customer(Record):
    """A customer account."""

    customer_id: str
    name: str
    email: str
    address: Address
    store_credit_cents: int
    note: str = ""


class PaymentMethod(Record):
    """A payment method saved in a customer account."""

    payment_method_id: str
    customer_id: str
    kind: MethodKind
    label: str
    last_digits: str


class Product(Record):
    """A product variant. Variants of one `model` can be exchanged for each other."""

    sku: str
    name: str
    model: str
    category: str
    colour: str
    size: str
    price_cents: int
    stock: int
    return_days: int
    note: str = ""


class Line(Record):
    """One product in an order. `line_id` is the order id, a colon and the SKU."""

    line_id: str
    order_id: str
    sku: str
    quantity: int
    unit_price_cents: int
    status: LineStatus = "ordered"
    refund_to: RefundTarget | None = None
    exchange_sku: str | None = None
    reason: str = ""


class Order(Record):
    """An order. That it was delivered is known from the carrier's scans, not from here."""

    order_id: str
    customer_id: str
    placed_on: date
    status: StoredStatus
    shipping_address: Address
    payment_method_id: str
    shipping_cents: int
    discount_cents: int
    note: str = ""
    cancel_reason: str = ""


class Scan(Record):
    """One event in the carrier's tracking."""

    at: datetime
    place: str
    event: ScanEvent


class Shipment(Record):
    """A parcel movement in the carrier's system. Scans are in order of time."""

    tracking_number: str
    order_id: str
    direction: Direction
    carrier: str
    parcels: int
    weight_grams: int
    scans: tuple[Scan, ...]
    note: str = ""


class WarehouseRecord(Record):
    """What the warehouse logged by hand for an order."""

    order_id: str
    dispatched_on: date | None = None
    parcels: int
    weight_grams: int
    returned_on: date | None = None
    returned_units: int = 0
    note: str = ""


class Charge(Record):
    """What the payment processor took for an order."""

    order_id: str
    reference: str
    amount_cents: int
    charged_on: date


class Refund(Record):
    """Money given back for an order."""

    refund_id: str
    order_id: str
    amount_cents: int
    to: RefundTarget
    issued_on: date
    reason: str = ""


class PostalArea(Record):
    """An entry of the carrier's postal directory. `area_id` is the country code, a hyphen and the postcode."""

    area_id: str
    postcode: str
    country: str
    city: str
    streets: tuple[str, ...]


class RetailState(State):
    """Everything the shop's tools can see."""

    customers: dict[str, Customer] = Field(default_factory=dict)
    payment_methods: dict[str, PaymentMethod] = Field(default_factory=dict)
    products: dict[str, Product] = Field(default_factory=dict)
    orders: dict[str, Order] = Field(default_factory=dict)
    lines: dict[str, Line] = Field(default_factory=dict)
    shipments: dict[str, Shipment] = Field(default_factory=dict)
    warehouse: dict[str, WarehouseRecord] = Field(default_factory=dict)
    charges: dict[str, Charge] = Field(default_factory=dict)
    refunds: dict[str, Refund] = Field(default_factory=dict)
    postal_areas: dict[str, PostalArea] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _references_hold(self) -> Self:
        """Refuse a state in which a record refers to another that does not exist."""
        _refer(self.payment_methods, "customer_id", self.customers)
        _refer(self.orders, "customer_id", self.customers)
        _refer(self.lines, "order_id", self.orders)
        _refer(self.lines, "sku", self.products)
        _refer(self.shipments, "order_id", self.orders)
        _refer(self.warehouse, "order_id", self.orders)
        _refer(self.charges, "order_id", self.orders)
        _refer(self.refunds, "order_id", self.orders)
        return self


def _refer(records: Mapping[str, Record], field: str, targets: Mapping[str, Record]) -> None:
    for key, record in records.items():
        if (target := getattr(record, field)) not in targets:
            raise ValueError(f"{key}: {field} {target} does not exist")
