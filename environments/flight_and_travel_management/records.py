"""What the agency sees: its own profiles and bookings, the airlines' schedule and fares, and the ticketing system.

The ticketing system keeps its own copy of what was true when a ticket was issued. It usually agrees with the booking, the
traveller's document and the schedule, and nothing but a new issue keeps it in step.
"""

from collections.abc import Mapping
from datetime import date, datetime
from typing import Annotated, Literal, Self

from pydantic import Field, StringConstraints, model_validator

from environments.runtime import Record, State

TimeOfDay = Annotated[str, StringConstraints(pattern=r"^([01]\d|2[0-3]):[0-5]\d$")]
Cabin = Literal["economy", "premium", "business"]
PayWith = Literal["card", "miles", "travel_credit"]
RefundTo = Literal["original_payment", "travel_credit"]
DocumentKind = Literal["passport", "identity_card", "visa"]
FlightStatus = Literal["scheduled", "delayed", "cancelled"]
BookingStatus = Literal["confirmed", "cancelled"]
TicketStatus = Literal["open", "exchanged", "refunded", "void"]
Position = Literal["window", "middle", "aisle"]
Availability = Literal["free", "taken"]
MessageStatus = Literal["draft", "sent"]


class Traveller(Record):
    """A traveller's profile with the agency."""

    traveller_id: str
    name: str
    email: str
    miles: int
    travel_credit_cents: int
    note: str = ""


class Document(Record):
    """A travel document on a traveller's profile. `country` is the issuer's two-letter code."""

    document_id: str
    traveller_id: str
    kind: DocumentKind
    country: str
    number: str
    expires_on: date
    note: str = ""


class Airport(Record):
    """An airport with its three-letter code."""

    code: str
    city: str
    country: str


class Flight(Record):
    """One departure in the airline's schedule. Times are local to the airport, as HH:MM."""

    flight_id: str
    flight_number: str
    airline: str
    origin: str
    destination: str
    day: date
    departs: TimeOfDay
    arrives: TimeOfDay
    arrival_day: date
    terminal: str
    gate: str
    aircraft: str
    status: FlightStatus = "scheduled"
    note: str = ""


class Fare(Record):
    """What a cabin of a departure costs. `fare_id` is the flight id, a colon and the cabin."""

    fare_id: str
    flight_id: str
    cabin: Cabin
    price_cents: int
    price_miles: int
    seats_left: int
    bags_included: int
    bag_fee_cents: int
    change_fee_cents: int
    refundable: bool


class Seat(Record):
    """A seat of a departure. `seat_id` is the flight id, a colon and the seat; `blocked` seats belong to others."""

    seat_id: str
    flight_id: str
    seat: str
    cabin: Cabin
    position: Position
    blocked: bool = False


class Booking(Record):
    """A reservation of one traveller on one departure."""

    booking_id: str
    traveller_id: str
    flight_id: str
    cabin: Cabin
    booked_on: date
    paid_with: PayWith
    fare_cents: int
    bag_fees_cents: int = 0
    change_fees_cents: int = 0
    bags: int = 0
    seat: str | None = None
    status: BookingStatus = "confirmed"
    refund_cents: int = 0
    refund_to: RefundTo | None = None
    note: str = ""


class Ticket(Record):
    """An electronic ticket as it was issued for a booking."""

    ticket_number: str
    booking_id: str
    passenger_name: str
    document_number: str
    flight_number: str
    day: date
    departs: TimeOfDay
    cabin: Cabin
    bags: int
    fare_cents: int
    issued_on: date
    status: TicketStatus = "open"


class Message(Record):
    """A message to a traveller, sent or kept as a draft."""

    message_id: str
    traveller_id: str
    subject: str
    body: str
    status: MessageStatus
    written_at: datetime


class TravelState(State):
    """Everything the agency's tools can see."""

    travellers: dict[str, Traveller] = Field(default_factory=dict)
    documents: dict[str, Document] = Field(default_factory=dict)
    airports: dict[str, Airport] = Field(default_factory=dict)
    flights: dict[str, Flight] = Field(default_factory=dict)
    fares: dict[str, Fare] = Field(default_factory=dict)
    seats: dict[str, Seat] = Field(default_factory=dict)
    bookings: dict[str, Booking] = Field(default_factory=dict)
    tickets: dict[str, Ticket] = Field(default_factory=dict)
    messages: dict[str, Message] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _references_hold(self) -> Self:
        """Refuse a state in which a record refers to another that does not exist."""
        _refer(self.documents, "traveller_id", self.travellers)
        _refer(self.flights, "origin", self.airports)
        _refer(self.flights, "destination", self.airports)
        _refer(self.fares, "flight_id", self.flights)
        _refer(self.seats, "flight_id", self.flights)
        _refer(self.bookings, "traveller_id", self.travellers)
        _refer(self.bookings, "flight_id", self.flights)
        _refer(self.tickets, "booking_id", self.bookings)
        _refer(self.messages, "traveller_id", self.travellers)
        for booking in self.bookings.values():
            if f"{booking.flight_id}:{booking.cabin}" not in self.fares:
                raise ValueError(f"{booking.booking_id}: flight {booking.flight_id} has no {booking.cabin} fare")
        return self


def _refer(records: Mapping[str, Record], field: str, targets: Mapping[str, Record]) -> None:
    for key, record in records.items():
        if (target := getattr(record, field)) not in targets:
            raise ValueError(f"{key}: {field} {target} does not exist")
