"""The world of the travel families: one traveller with three booked flights among other travellers' bookings.

Times, amounts and numbers are all different, so that two sources agree because they say the same thing and never by coincidence.
"""

from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from random import Random

from abstain_assets.pairs.entities import Person, moment, numbers, people
from environments.flight_and_travel_management.records import (
    Airport,
    Booking,
    Cabin,
    Document,
    Fare,
    Flight,
    Position,
    Seat,
    Ticket,
    Traveller,
    TravelState,
)

ENV = "flight_and_travel_management"
CABINS: tuple[Cabin, ...] = ("economy", "premium", "business")

_AIRPORTS = (
    ("Lisbon", "LIS"),
    ("Copenhagen", "CPH"),
    ("Zürich", "ZRH"),
    ("Málaga", "AGP"),
    ("Kraków", "KRK"),
    ("Reykjavík", "KEF"),
    ("Vienna", "VIE"),
    ("Toulouse", "TLS"),
    ("Bergen", "BGO"),
    ("Valencia", "VLC"),
    ("Gdańsk", "GDN"),
    ("Porto", "OPO"),
)
_AIRLINES = (("NX", "Nordvik Air"), ("TJ", "Tejo Air"), ("SH", "Shannon Airways"), ("AL", "Alpina"))
_AIRCRAFT = ("Airbus A320neo", "Airbus A220-300", "Embraer E195-E2", "Boeing 737-800", "ATR 72-600")
PLAIN_NOTES = (
    "Likes to board early.",
    "Travels with hand luggage as a rule.",
    "Invoice goes to the cost centre on file.",
    "Asked for a receipt by e-mail.",
    "Will collect the rental car on arrival.",
)


@dataclass
class World:
    """A drawn agency. `traveller` is the one the task is about; `bookings` are theirs, in order of departure.

    Attributes:
        clock: times of day not used yet; amounts: amounts in cents not used yet; ids: numbers not used yet.
    """

    rng: Random
    state: TravelState
    person: Person
    home: str
    others: list[str]
    bookings: list[Booking] = field(default_factory=list)
    clock: list[int] = field(default_factory=list)
    amounts: list[int] = field(default_factory=list)
    ids: list[int] = field(default_factory=list)

    @property
    def now(self) -> datetime:
        return self.state.now

    @property
    def traveller(self) -> Traveller:
        return next(item for item in self.state.travellers.values() if item.email == self.person.email)

    def flight(self, booking: Booking) -> Flight:
        """The departure of a booking."""
        return self.state.flights[booking.flight_id]

    def city(self, booking: Booking) -> str:
        """Where a booking goes."""
        return self.state.airports[self.flight(booking).destination].city

    def ticket(self, booking: Booking) -> Ticket:
        """The ticket of a booking."""
        return next(item for item in self.state.tickets.values() if item.booking_id == booking.booking_id)

    def passport(self) -> Document:
        """The traveller's passport."""
        mine = (item for item in self.state.documents.values() if item.traveller_id == self.traveller.traveller_id)
        return next(item for item in mine if item.kind == "passport")

    def departures(self, count: int, origin: str, destination: str, day: date) -> list[Flight]:
        """Add departures of one day on a route, with fares in every cabin; earliest first."""
        width = 12 * 60 // count
        spans = [(7 * 60 + index * width, 7 * 60 + (index + 1) * width - 45) for index in range(count)]
        return [self._flight(origin, destination, day, low, high) for low, high in spans]

    def spare_time(self, low: int, high: int) -> str:
        """A time of day between two minutes of the day that stands nowhere yet."""
        chosen = self.rng.choice([minute for minute in self.clock if low <= minute < high])
        self.clock.remove(chosen)
        return f"{chosen // 60:02d}:{chosen % 60:02d}"

    def annotate_traveller(self, note: str) -> None:
        """Write a note into the traveller's profile."""
        traveller = self.traveller
        self.state.travellers[traveller.traveller_id] = traveller.model_copy(update={"note": note})

    def annotate_documents(self, note: str) -> None:
        """Write a note beside each of the traveller's documents."""
        for key, document in self.state.documents.items():
            if document.traveller_id == self.traveller.traveller_id:
                self.state.documents[key] = document.model_copy(update={"note": note})

    def add_traveller(self, person: Person) -> Traveller:
        """Add a profile with a passport and an identity card."""
        number = self.ids.pop()
        traveller = Traveller(
            traveller_id=f"T-{number}",
            name=person.name,
            email=person.email,
            miles=self.rng.randrange(190_001, 390_000, 7),
            travel_credit_cents=self.rng.randrange(90_003, 160_000, 11),
            note=self.rng.choice(PLAIN_NOTES),
        )
        self.state.travellers[traveller.traveller_id] = traveller
        country = self.rng.choice(("IE", "DE", "PL", "PT", "SE"))
        for kind in ("passport", "identity_card"):
            document = Document(
                document_id=f"D-{self.ids.pop()}",
                traveller_id=traveller.traveller_id,
                kind="passport" if kind == "passport" else "identity_card",
                country=country,
                number=f"{country}{self.rng.randint(2_000_000, 9_999_999)}",
                expires_on=self.now.date() + timedelta(days=self.rng.randint(500, 2900)),
            )
            self.state.documents[document.document_id] = document
        return traveller

    def book(self, traveller: Traveller, flight: Flight, cabin: Cabin) -> Booking:
        """Add a booking with its ticket. The fare paid is not today's price."""
        paid = self.amounts.pop()
        passport = next(
            item
            for item in self.state.documents.values()
            if item.traveller_id == traveller.traveller_id and item.kind == "passport"
        )
        booked_on = self.now.date() - timedelta(days=self.rng.randint(3, 40))
        booking = Booking(
            booking_id=f"B-{self.ids.pop()}",
            traveller_id=traveller.traveller_id,
            flight_id=flight.flight_id,
            cabin=cabin,
            booked_on=booked_on,
            paid_with="card",
            fare_cents=paid,
            bag_fees_cents=self.amounts.pop(),
            bags=1,
            note=self.rng.choice(PLAIN_NOTES),
        )
        ticket = Ticket(
            ticket_number=f"117-{240_000 + self.ids.pop()}",
            booking_id=booking.booking_id,
            passenger_name=traveller.name,
            document_number=passport.number,
            flight_number=flight.flight_number,
            day=flight.day,
            departs=flight.departs,
            cabin=cabin,
            bags=1,
            fare_cents=paid,
            issued_on=booked_on,
        )
        self.state.bookings[booking.booking_id] = booking
        self.state.tickets[ticket.ticket_number] = ticket
        return booking

    def add_seats(self, booking: Booking) -> None:
        """Add two rows of seats in the booking's cabin, with exactly one free seat of each position."""
        row = self.rng.randint(12, 27)
        positions: tuple[Position, ...] = ("window", "middle", "aisle")
        for letter, position in zip("ABC", positions, strict=True):
            free_row = self.rng.choice((row, row + 1))
            for number in (row, row + 1):
                seat_id = f"{booking.flight_id}:{number}{letter}"
                self.state.seats[seat_id] = Seat(
                    seat_id=seat_id,
                    flight_id=booking.flight_id,
                    seat=f"{number}{letter}",
                    cabin=booking.cabin,
                    position=position,
                    blocked=number != free_row,
                )

    def _flight(self, origin: str, destination: str, day: date, low: int, high: int) -> Flight:
        prefix, airline = self.rng.choice(_AIRLINES)
        number = f"{prefix}{self.ids.pop()}"
        departs = self.spare_time(low, high)
        start = int(departs[:2]) * 60 + int(departs[3:])
        flight = Flight(
            flight_id=f"{number}-{day:%m%d}",
            flight_number=number,
            airline=airline,
            origin=origin,
            destination=destination,
            day=day,
            departs=departs,
            arrives=self.spare_time(start + 95, start + 200),
            arrival_day=day,
            terminal=f"T{self.rng.randint(1, 4)}",
            gate=f"{self.rng.choice('ABCDEF')}{self.rng.randint(21, 79)}",
            aircraft=self.rng.choice(_AIRCRAFT),
            note=self.rng.choice(("Operates as planned.", "Boarding closes 20 minutes before departure.", "Catering on sale.")),
        )
        self.state.flights[flight.flight_id] = flight
        price = 0
        for cabin in CABINS:
            price += self.amounts.pop()
            fare = Fare(
                fare_id=f"{flight.flight_id}:{cabin}",
                flight_id=flight.flight_id,
                cabin=cabin,
                price_cents=price,
                price_miles=price * 2 + 1,
                seats_left=self.rng.randint(21, 60),
                bags_included=1,
                bag_fee_cents=3500,
                change_fee_cents=4000,
                refundable=True,
            )
            self.state.fares[fare.fare_id] = fare
        return flight


def draw_world(rng: Random) -> World:
    """Draw four travellers from one home town; the first has three booked flights, the others two each."""
    now = moment(rng)
    airports = rng.sample(_AIRPORTS, 5)
    persons = people(rng, 4)
    state = TravelState(now=now, counters={"booking": 9800, "ticket": 900_000, "message": 900})
    state.airports |= {code: Airport(code=code, city=city, country="EU") for city, code in airports}
    home, *others = [code for _, code in airports]
    world = World(
        rng=rng,
        state=state,
        person=persons[0],
        home=home,
        others=others,
        clock=list(range(6 * 60, 23 * 60 + 55, 5)),
        amounts=[5 * number for number in numbers(rng, 140, 2400, 5600)],
        ids=numbers(rng, 120, 1000, 9000),
    )
    rng.shuffle(world.amounts)
    offsets = rng.sample(range(12, 70), 9)
    for index, person in enumerate(persons):
        traveller = world.add_traveller(person)
        count = 3 if index == 0 else 2
        days = sorted(now.date() + timedelta(days=offsets.pop()) for _ in range(count))
        for day, code in zip(days, rng.sample(others, count), strict=True):
            flight = world.departures(1, home, code, day)[0]
            booking = world.book(traveller, flight, rng.choice(("economy", "premium")))
            if index == 0:
                world.bookings.append(booking)
    return world


def clock_time(text: str) -> time:
    """`HH:MM` as a time of day."""
    return time.fromisoformat(text)
