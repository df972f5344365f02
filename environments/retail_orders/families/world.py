"""The world of the retail families: one customer with several orders among other customers' orders."""

from dataclasses import dataclass
from datetime import datetime, time, timedelta
from random import Random

from abstain_assets.pairs.entities import Person, days_before, moment, numbers, people, streets, towns
from environments.retail_orders.records import (
    Address,
    Charge,
    Customer,
    Line,
    Order,
    PaymentMethod,
    PostalArea,
    Product,
    RetailState,
    Scan,
    Shipment,
    StoredStatus,
    WarehouseRecord,
)

_GOODS = (
    ("Aria headphones", "audio", ("black", "white", "sand"), 12990),
    ("Fjäll trail jacket", "clothing", ("green", "blue", "rust"), 13900),
    ("Nordlys desk lamp", "lighting", ("brass", "chrome", "white"), 8450),
    ("Pocket speaker", "audio", ("grey", "red", "teal"), 7990),
    ("Gooseneck kettle", "kitchen", ("steel", "copper", "black"), 6495),
    ("Merino travel blanket", "home", ("charcoal", "oat", "moss"), 10250),
    ("Café grinder", "kitchen", ("black", "cream", "steel"), 15700),
)


@dataclass(frozen=True)
class World:
    """A drawn shop. `person` is the customer the task is about; `orders` are theirs, newest first."""

    state: RetailState
    person: Person
    customer: Customer
    orders: list[Order]

    @property
    def now(self) -> datetime:
        return self.state.now

    def line(self, order: Order) -> Line:
        """The single line of an order."""
        return next(line for line in self.state.lines.values() if line.order_id == order.order_id)

    def product(self, order: Order) -> Product:
        """The product of an order."""
        return self.state.products[self.line(order).sku]

    def shipment(self, order: Order, direction: str = "outbound") -> Shipment:
        """The shipment of an order in one direction."""
        found = (item for item in self.state.shipments.values() if item.order_id == order.order_id)
        return next(item for item in found if item.direction == direction)


def draw_world(rng: Random, status: StoredStatus, *, own_orders: int = 3) -> World:
    """Draw a shop in which the customer's orders are open (`processing`) or delivered (`shipped`)."""
    now = moment(rng)
    persons = people(rng, 4)
    places = list(zip(streets(rng, 4), towns(rng, 4), rng.sample(range(1100, 9800), 4), strict=True))
    ids = numbers(rng, 80, 1000, 9000)
    products = _products(rng)
    state = RetailState(now=now, products={item.sku: item for item in products})
    chosen = rng.sample(_GOODS, own_orders)
    own: list[Order] = []
    for index, (person, (street, town, code)) in enumerate(zip(persons, places, strict=True)):
        customer = _customer(
            f"C-{ids.pop()}", person, Address(recipient=person.name, street=street, city=town, postcode=str(code), country="GB")
        )
        state.customers[customer.customer_id] = customer
        state.postal_areas[f"GB-{code}"] = PostalArea(
            area_id=f"GB-{code}", postcode=str(code), country="GB", city=town, streets=(street.split(" ", 1)[1],)
        )
        methods = [
            PaymentMethod(
                payment_method_id=f"PM-{ids.pop()}",
                customer_id=customer.customer_id,
                kind="card",
                label=label,
                last_digits=str(ids.pop())[-4:],
            )
            for label in rng.sample(("Visa", "Mastercard", "Maestro", "Amex"), 3)
        ]
        state.payment_methods |= {method.payment_method_id: method for method in methods}
        count = own_orders if index == 0 else 2
        days = days_before(rng, now.date(), count, 8, 24) if status == "shipped" else days_before(rng, now.date(), count, 1, 6)
        names = [goods[0] for goods in chosen] if index == 0 else [goods[0] for goods in rng.sample(_GOODS, count)]
        for day, name in zip(days, names, strict=True):
            product = rng.choice([item for item in products if item.model == name])
            order = Order(
                order_id=f"W-{ids.pop()}",
                customer_id=customer.customer_id,
                placed_on=day,
                status=status,
                shipping_address=customer.address,
                payment_method_id=methods[0].payment_method_id,
                shipping_cents=rng.choice((390, 490, 590)),
                discount_cents=0,
            )
            _add_order(rng, state, order, product, str(ids.pop()))
            if index == 0:
                own.append(order)
    first = next(iter(state.customers.values()))
    return World(state, persons[0], first, own)


def add_return(rng: Random, world: World, order: Order) -> None:
    """Send an order's goods back: the carrier and the warehouse both weigh the parcel that came back."""
    state = world.state
    grams = rng.randrange(1011, 3990)
    back = world.now.date() - timedelta(days=rng.randint(1, 3))
    collected = datetime.combine(back - timedelta(days=2), time(9, rng.randint(0, 59)))
    delivered = datetime.combine(back, time(8, rng.randint(0, 59)))
    number = f"NR-{rng.randint(100_000, 999_999)}"
    scans = (
        Scan(at=collected, place=order.shipping_address.city, event="collected"),
        Scan(at=delivered, place="Hub North", event="delivered"),
    )
    state.shipments[number] = Shipment(
        tracking_number=number,
        order_id=order.order_id,
        direction="return",
        carrier="Nordex",
        parcels=1,
        weight_grams=grams,
        scans=scans,
    )
    record = state.warehouse[order.order_id]
    note = rng.choice(("Box opened, goods complete.", "Seal intact, contents complete.", "Unpacked, nothing missing."))
    state.warehouse[order.order_id] = record.model_copy(
        update={"returned_on": back, "returned_units": 1, "weight_grams": grams, "note": note}
    )


def note_customer(world: World, note: str) -> None:
    """Write a note into the customer's account."""
    customer = world.state.customers[world.customer.customer_id]
    world.state.customers[customer.customer_id] = customer.model_copy(update={"note": note})


def _products(rng: Random) -> list[Product]:
    found = []
    for number, (name, category, colours, price) in enumerate(_GOODS):
        for colour in colours:
            sku = f"{name[:2].upper()}-{number + 1}{colours.index(colour) + 1}0-{colour[:2].upper()}"
            cents = price + 10 * rng.randint(-60, 60) + rng.choice((0, 5))
            found.append(
                Product(
                    sku=sku,
                    name=f"{name}, {colour}",
                    model=name,
                    category=category,
                    colour=colour,
                    size="one size",
                    price_cents=cents,
                    stock=rng.randint(21, 60),
                    return_days=30,
                )
            )
    return found


def _customer(customer_id: str, person: Person, address: Address) -> Customer:
    return Customer(customer_id=customer_id, name=person.name, email=person.email, address=address, store_credit_cents=0)


def _add_order(rng: Random, state: RetailState, order: Order, product: Product, tail: str) -> None:
    line = Line(
        line_id=f"{order.order_id}:{product.sku}",
        order_id=order.order_id,
        sku=product.sku,
        quantity=1,
        unit_price_cents=product.price_cents,
    )
    state.orders[order.order_id] = order
    state.lines[line.line_id] = line
    total = line.unit_price_cents + order.shipping_cents
    state.charges[order.order_id] = Charge(
        order_id=order.order_id, reference=f"ch_{tail}", amount_cents=total, charged_on=order.placed_on
    )
    grams = rng.randrange(4003, 7990)
    if order.status != "shipped":
        state.warehouse[order.order_id] = WarehouseRecord(order_id=order.order_id, parcels=1, weight_grams=grams, note="Picked.")
        return
    sent = order.placed_on + timedelta(days=1)
    arrived = sent + timedelta(days=rng.randint(2, 4))
    scans = (
        Scan(at=datetime.combine(sent, time(17, rng.randint(0, 59))), place="Hub North", event="collected"),
        Scan(at=datetime.combine(arrived, time(11, rng.randint(0, 59))), place=order.shipping_address.city, event="delivered"),
    )
    number = f"NX-{rng.randint(100_000, 999_999)}"
    state.shipments[number] = Shipment(
        tracking_number=number,
        order_id=order.order_id,
        direction="outbound",
        carrier="Nordex",
        parcels=1,
        weight_grams=grams,
        scans=scans,
    )
    state.warehouse[order.order_id] = WarehouseRecord(order_id=order.order_id, dispatched_on=sent, parcels=1, weight_grams=grams)
