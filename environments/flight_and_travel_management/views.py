"""What the tools answer, computed from the records."""

from datetime import date

from environments.flight_and_travel_management.records import (
    Availability,
    Booking,
    BookingStatus,
    Cabin,
    Document,
    Fare,
    Flight,
    Message,
    PayWith,
    Position,
    RefundTo,
    Ticket,
    Traveller,
    TravelState,
)
from environments.runtime import Result


class TravellerView(Result):
    """A traveller's profile with documents."""

    traveller_id: str
    name: str
    email: str
    miles: int
    travel_credit_cents: int
    documents: list[Document]
    note: str


class TravellerList(Result):
    """Travellers' profiles."""

    travellers: list[TravellerView]


class BookingSummary(Result):
    """A booking as lists show it."""

    booking_id: str
    traveller_id: str
    status: BookingStatus
    flight_id: str
    flight_number: str
    origin_city: str
    destination_city: str
    day: date


class BookingSummaries(Result):
    """Bookings as lists show them."""

    bookings: list[BookingSummary]


class BookingView(BookingSummary):
    """A whole booking."""

    cabin: Cabin
    refundable: bool
    booked_on: date
    paid_with: PayWith
    fare_cents: int
    bag_fees_cents: int
    change_fees_cents: int
    bags: int
    seat: str | None = None
    refund_cents: int
    refund_to: RefundTo | None = None
    note: str


class BookingResult(Result):
    """One booking."""

    booking: BookingView


class BookingResults(Result):
    """Several bookings."""

    bookings: list[BookingView]


class PaidBooking(Result):
    """A booking after a call that may cost something."""

    booking: BookingView
    charged_cents: int
    charged_miles: int


class TicketResult(Result):
    """One ticket."""

    ticket: Ticket


class FareView(Result):
    """What a cabin costs and includes."""

    cabin: Cabin
    price_cents: int
    price_miles: int
    seats_left: int
    bags_included: int
    bag_fee_cents: int
    change_fee_cents: int
    refundable: bool


class FlightOffer(Result):
    """A departure with its fares."""

    flight_id: str
    flight_number: str
    airline: str
    origin: str
    destination: str
    day: date
    departs: str
    arrives: str
    arrival_day: date
    fares: list[FareView]


class FlightOffers(Result):
    """Departures with their fares."""

    flights: list[FlightOffer]


class ScheduleResult(Result):
    """One entry of the airline's schedule."""

    flight: Flight


class SeatView(Result):
    """A seat of a departure."""

    seat: str
    cabin: Cabin
    position: Position
    availability: Availability


class SeatMap(Result):
    """Seats of a departure."""

    seats: list[SeatView]


class MessageList(Result):
    """Messages to a traveller."""

    messages: list[Message]


class MessageResult(Result):
    """One message."""

    message: Message


class Verification(Result):
    """What a check compared. `ok` needs every value to match and no reason against."""

    ok: bool
    compared: list[str]
    mismatched: list[str]
    reasons: list[str]


def traveller_view(state: TravelState, traveller: Traveller) -> TravellerView:
    """A profile with its documents, sorted by id."""
    documents = [item for _, item in sorted(state.documents.items()) if item.traveller_id == traveller.traveller_id]
    return TravellerView(**dict(traveller), documents=documents)


def booking_summary(state: TravelState, booking: Booking) -> BookingSummary:
    """A booking as lists show it: the day and the cities, but no time of day."""
    flight = state.flights[booking.flight_id]
    return BookingSummary(
        booking_id=booking.booking_id,
        traveller_id=booking.traveller_id,
        status=booking.status,
        flight_id=booking.flight_id,
        flight_number=flight.flight_number,
        origin_city=state.airports[flight.origin].city,
        destination_city=state.airports[flight.destination].city,
        day=flight.day,
    )


def booking_view(state: TravelState, booking: Booking) -> BookingView:
    """A whole booking. Whether it is refundable is a condition of its fare."""
    fare = state.fares[f"{booking.flight_id}:{booking.cabin}"]
    return BookingView(**dict(booking) | dict(booking_summary(state, booking)), refundable=fare.refundable)


def fare_view(fare: Fare) -> FareView:
    """What a cabin costs and includes."""
    return FareView(**{name: value for name, value in dict(fare).items() if name in FareView.model_fields})


def flight_offer(flight: Flight, fares: list[Fare]) -> FlightOffer:
    """A departure with the given fares."""
    shown = {name: value for name, value in dict(flight).items() if name in FlightOffer.model_fields}
    return FlightOffer(**shown, fares=[fare_view(fare) for fare in fares])


def is_place(state: TravelState, code: str, text: str) -> bool:
    """Whether a text names an airport, by code or city."""
    return text.strip().casefold() in (code.casefold(), state.airports[code].city.casefold())


def free_seats(state: TravelState, flight_id: str) -> dict[str, bool]:
    """Seat id -> whether it is free, for every seat of a departure."""
    taken = {
        f"{booking.flight_id}:{booking.seat}"
        for booking in state.bookings.values()
        if booking.flight_id == flight_id and booking.status == "confirmed" and booking.seat
    }
    return {
        seat_id: not seat.blocked and seat_id not in taken
        for seat_id, seat in sorted(state.seats.items())
        if seat.flight_id == flight_id
    }


def latest_ticket(state: TravelState, booking_id: str) -> Ticket | None:
    """The ticket last issued for a booking."""
    found = [ticket for _, ticket in sorted(state.tickets.items()) if ticket.booking_id == booking_id]
    return found[-1] if found else None
