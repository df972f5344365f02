"""The small world of the docstring examples."""

from datetime import date, datetime

from environments.retail_orders.records import (
    Address,
    Charge,
    Customer,
    Direction,
    Line,
    Order,
    PaymentMethod,
    PostalArea,
    Product,
    Refund,
    RetailState,
    Scan,
    Shipment,
    StoredStatus,
    WarehouseRecord,
)

ZOE = Address(recipient="Zoë Björklund", street="Linnégatan 12", city="Göteborg", postcode="413 04", country="SE")
ANDRES = Address(recipient="Andrés Peña", street="Calle de Alcalá 88", city="Madrid", postcode="28009", country="ES")
LUKASZ = Address(recipient="Łukasz Wójcik", street="ul. Długa 5", city="Kraków", postcode="31-147", country="PL")
MEI = Address(recipient="Mei-Ling Chen", street="14 Park Row", city="Leeds", postcode="LS1 5HD", country="GB")


def example_state() -> RetailState:
    """Four customers, eight product variants and six orders in every status."""
    customers = (
        Customer(customer_id="C-201", name="Zoë Björklund", email="zoe@bjorklund.example", address=ZOE, store_credit_cents=0),
        Customer(
            customer_id="C-202",
            name="Andrés Peña",
            email="andres.pena@correo.example",
            address=ANDRES,
            store_credit_cents=2500,
            note="Prefers to be called in the afternoon.",
        ),
        Customer(customer_id="C-203", name="Łukasz Wójcik", email="lwojcik@poczta.example", address=LUKASZ, store_credit_cents=800),
        Customer(customer_id="C-204", name="Mei-Ling Chen", email="mlchen@mail.example", address=MEI, store_credit_cents=0),
    )
    methods = (
        PaymentMethod(payment_method_id="PM-30", customer_id="C-201", kind="card", label="Visa", last_digits="4417"),
        PaymentMethod(payment_method_id="PM-31", customer_id="C-201", kind="paypal", label="PayPal", last_digits="0093"),
        PaymentMethod(payment_method_id="PM-32", customer_id="C-202", kind="card", label="Mastercard", last_digits="7781"),
        PaymentMethod(payment_method_id="PM-33", customer_id="C-203", kind="bank_account", label="PKO", last_digits="5520"),
        PaymentMethod(payment_method_id="PM-34", customer_id="C-204", kind="card", label="Visa", last_digits="1206"),
    )
    products = (
        _product("HP-220-BK", "Aria headphones, black", "Aria headphones", "audio", "black", "one size", 12990, 14),
        _product("HP-220-WH", "Aria headphones, white", "Aria headphones", "audio", "white", "one size", 12990, 0),
        _product("SP-115", "Pocket speaker", "Pocket speaker", "audio", "grey", "one size", 7990, 22),
        _product("LM-400", "Nordlys desk lamp", "Nordlys desk lamp", "lighting", "brass", "one size", 8450, 9),
        _product("JK-310-BL", "Fjäll trail jacket, blue, M", "Fjäll trail jacket", "clothing", "blue", "M", 13400, 5),
        _product("JK-310-GM", "Fjäll trail jacket, green, M", "Fjäll trail jacket", "clothing", "green", "M", 13900, 7),
        _product("JK-310-BX", "Fjäll trail jacket, blue, XL", "Fjäll trail jacket", "clothing", "blue", "XL", 13400, 3),
        _product("KT-075", "Gooseneck kettle", "Gooseneck kettle", "kitchen", "steel", "1 l", 6495, 31),
    )
    orders = (
        _order("W-1001", "C-201", date(2026, 3, 2), "shipped", ZOE, "PM-30", 500, note="Left a spare key with the neighbour."),
        _order("W-1002", "C-202", date(2026, 2, 20), "shipped", ANDRES, "PM-32", 490),
        _order("W-1003", "C-201", date(2026, 3, 14), "processing", ZOE, "PM-30", 490),
        _order("W-1004", "C-203", date(2026, 3, 12), "shipped", LUKASZ, "PM-33", 490),
        _order(
            "W-1005", "C-204", date(2026, 3, 16), "pending", MEI, "PM-34", 590, discount=1000, note="Gift: no invoice in the box."
        ),
        _order("W-1006", "C-204", date(2026, 2, 11), "cancelled", MEI, "PM-34", 590),
    )
    lines = (
        _line("W-1001", "HP-220-BK", 1, 12990),
        _line("W-1001", "SP-115", 1, 7990),
        _line("W-1002", "LM-400", 1, 8450),
        _line("W-1003", "JK-310-GM", 1, 13900),
        _line("W-1004", "JK-310-BL", 1, 13400),
        _line("W-1004", "KT-075", 2, 6495),
        _line("W-1005", "LM-400", 2, 8450),
        _line("W-1006", "KT-075", 1, 6495),
    )
    shipments = (
        _shipment(
            "NX-880121", "W-1001", "outbound", 1, 1450, datetime(2026, 3, 3, 17, 5), datetime(2026, 3, 6, 11, 40), "Göteborg"
        ),
        _shipment(
            "NX-880077", "W-1002", "outbound", 1, 2100, datetime(2026, 2, 21, 16, 0), datetime(2026, 2, 25, 13, 15), "Madrid"
        ),
        _shipment("NX-880140", "W-1002", "return", 1, 2100, datetime(2026, 3, 9, 9, 30), datetime(2026, 3, 13, 8, 20), "Hub Nord"),
        _shipment(
            "NX-880166", "W-1004", "outbound", 2, 3380, datetime(2026, 3, 13, 15, 45), datetime(2026, 3, 16, 10, 5), "Kraków"
        ),
    )
    warehouse = (
        WarehouseRecord(order_id="W-1001", dispatched_on=date(2026, 3, 3), parcels=1, weight_grams=1450),
        WarehouseRecord(
            order_id="W-1002",
            dispatched_on=date(2026, 2, 21),
            parcels=1,
            weight_grams=2100,
            returned_on=date(2026, 3, 13),
            returned_units=1,
            note="Box opened, lamp complete.",
        ),
        WarehouseRecord(order_id="W-1003", parcels=1, weight_grams=980, note="Picked, waiting for collection."),
        WarehouseRecord(order_id="W-1004", dispatched_on=date(2026, 3, 13), parcels=2, weight_grams=3380),
    )
    charges = (
        Charge(order_id="W-1001", reference="ch_7Q1", amount_cents=21480, charged_on=date(2026, 3, 2)),
        Charge(order_id="W-1002", reference="ch_6B4", amount_cents=8940, charged_on=date(2026, 2, 20)),
        Charge(order_id="W-1003", reference="ch_7T9", amount_cents=14390, charged_on=date(2026, 3, 14)),
        Charge(order_id="W-1004", reference="ch_7S2", amount_cents=26880, charged_on=date(2026, 3, 12)),
        Charge(order_id="W-1005", reference="ch_7V5", amount_cents=16490, charged_on=date(2026, 3, 16)),
        Charge(order_id="W-1006", reference="ch_5K8", amount_cents=7085, charged_on=date(2026, 2, 11)),
    )
    refund = Refund(refund_id="R-5001", order_id="W-1006", amount_cents=7085, to="original_payment", issued_on=date(2026, 2, 12))
    areas = (
        PostalArea(area_id="SE-413 04", postcode="413 04", country="SE", city="Göteborg", streets=("Linnégatan", "Prinsgatan")),
        PostalArea(area_id="ES-28009", postcode="28009", country="ES", city="Madrid", streets=("Calle de Alcalá", "Calle Goya")),
        PostalArea(area_id="PL-31-147", postcode="31-147", country="PL", city="Kraków", streets=("Długa", "Basztowa")),
        PostalArea(area_id="GB-LS1 5HD", postcode="LS1 5HD", country="GB", city="Leeds", streets=("Park Row",)),
        PostalArea(area_id="DK-1620", postcode="1620", country="DK", city="København", streets=("Vesterbrogade",)),
    )
    return RetailState(
        now=datetime(2026, 3, 18, 10, 0),
        counters={"refund": 5001},
        customers={item.customer_id: item for item in customers},
        payment_methods={item.payment_method_id: item for item in methods},
        products={item.sku: item for item in products},
        orders={item.order_id: item for item in orders},
        lines={item.line_id: item for item in lines},
        shipments={item.tracking_number: item for item in shipments},
        warehouse={item.order_id: item for item in warehouse},
        charges={item.order_id: item for item in charges},
        refunds={refund.refund_id: refund},
        postal_areas={item.area_id: item for item in areas},
    )


def _product(sku: str, name: str, model: str, category: str, colour: str, size: str, price: int, stock: int) -> Product:
    return Product(
        sku=sku,
        name=name,
        model=model,
        category=category,
        colour=colour,
        size=size,
        price_cents=price,
        stock=stock,
        return_days=30,
    )


def _order(
    order_id: str,
    customer_id: str,
    placed_on: date,
    status: StoredStatus,
    address: Address,
    method: str,
    shipping: int,
    discount: int = 0,
    note: str = "",
) -> Order:
    return Order(
        order_id=order_id,
        customer_id=customer_id,
        placed_on=placed_on,
        status=status,
        shipping_address=address,
        payment_method_id=method,
        shipping_cents=shipping,
        discount_cents=discount,
        note=note,
    )


def _line(order_id: str, sku: str, quantity: int, price: int) -> Line:
    return Line(line_id=f"{order_id}:{sku}", order_id=order_id, sku=sku, quantity=quantity, unit_price_cents=price)


def _shipment(
    tracking: str,
    order_id: str,
    direction: Direction,
    parcels: int,
    grams: int,
    collected: datetime,
    delivered: datetime,
    place: str,
) -> Shipment:
    return Shipment(
        tracking_number=tracking,
        order_id=order_id,
        direction=direction,
        carrier="Nordex",
        parcels=parcels,
        weight_grams=grams,
        scans=(Scan(at=collected, place="Hub Nord", event="collected"), Scan(at=delivered, place=place, event="delivered")),
    )
