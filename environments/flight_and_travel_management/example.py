"""The small world of the docstring examples."""

from datetime import date, datetime, timedelta

from environments.flight_and_travel_management.records import (
    Airport,
    Booking,
    BookingStatus,
    Cabin,
    Document,
    Fare,
    Flight,
    Message,
    MessageStatus,
    Position,
    Seat,
    Ticket,
    Traveller,
    TravelState,
)


def example_state() -> TravelState:
    """Four travellers, six departures and six bookings, one of them flown and one cancelled."""
    travellers = (
        Traveller(
            traveller_id="T-101", name="Ingrid Sørensen", email="ingrid@soerensen.example", miles=41200, travel_credit_cents=5000
        ),
        Traveller(
            traveller_id="T-102",
            name="Tomás Oliveira",
            email="tomas.oliveira@correio.example",
            miles=8300,
            travel_credit_cents=22000,
            note="Aisle seats only, please.",
        ),
        Traveller(traveller_id="T-103", name="Aoife Ní Bhriain", email="aoife@nibhriain.example", miles=0, travel_credit_cents=0),
        Traveller(traveller_id="T-104", name="Kenji Watanabe", email="k.watanabe@tabi.example", miles=96500, travel_credit_cents=0),
    )
    documents = (
        _document("D-501", "T-101", "DK", "DK4471920", date(2029, 8, 14)),
        _document("D-502", "T-102", "PT", "PT9038114", date(2027, 1, 30)),
        _document("D-503", "T-103", "IE", "IE2207745", date(2031, 5, 2)),
        _document("D-504", "T-103", "GB", "GB6619083", date(2026, 6, 21)),
        _document("D-505", "T-104", "JP", "JP1150286", date(2028, 11, 9)),
    )
    airports = (
        Airport(code="CPH", city="København", country="DK"),
        Airport(code="LIS", city="Lisboa", country="PT"),
        Airport(code="DUB", city="Dublin", country="IE"),
        Airport(code="HND", city="Tokyo", country="JP"),
    )
    flights = (
        _flight("SK583-0407", "Nordair", "CPH", "LIS", date(2026, 4, 7), "07:35", "10:20"),
        _flight("TP759-0407", "Tejo Air", "CPH", "LIS", date(2026, 4, 7), "13:20", "16:05"),
        _flight("SK584-0412", "Nordair", "LIS", "CPH", date(2026, 4, 12), "18:10", "22:45"),
        _flight("EI322-0415", "Shannon Airways", "DUB", "LIS", date(2026, 4, 15), "09:50", "12:40"),
        _flight("NH222-0420", "Sakura Air", "LIS", "HND", date(2026, 4, 20), "19:30", "18:15", nights=1),
        _flight("SK583-0303", "Nordair", "CPH", "LIS", date(2026, 3, 3), "07:35", "10:20"),
    )
    fares = (
        _fare("SK583-0407", "economy", 18900, 6, refundable=True),
        _fare("SK583-0407", "business", 52400, 2, refundable=True),
        _fare("TP759-0407", "economy", 13950, 9, refundable=False),
        _fare("TP759-0407", "business", 48800, 0, refundable=True),
        _fare("SK584-0412", "economy", 17500, 4, refundable=False),
        _fare("EI322-0415", "economy", 14400, 12, refundable=False),
        _fare("NH222-0420", "premium", 121000, 3, refundable=True),
        _fare("SK583-0303", "economy", 11200, 0, refundable=True),
    )
    seats = (
        *(_seat("SK583-0407", seat, "economy") for seat in ("14A", "14B", "14C", "15A", "15B", "15C")),
        *(_seat("SK583-0407", seat, "business") for seat in ("2A", "2C")),
        *(_seat("TP759-0407", seat, "economy") for seat in ("21A", "21B", "21C")),
        *(_seat("EI322-0415", seat, "economy") for seat in ("8A", "8C")),
    )
    bookings = (
        _booking(
            "B-3001", "T-101", "SK583-0407", "economy", date(2026, 2, 24), 18900, seat="14C", note="Meets the client at noon."
        ),
        _booking("B-3002", "T-101", "SK584-0412", "economy", date(2026, 2, 24), 17500),
        _booking("B-3003", "T-102", "SK583-0407", "economy", date(2026, 3, 2), 18900, seat="14B"),
        _booking("B-3004", "T-103", "EI322-0415", "economy", date(2026, 3, 9), 14400),
        _booking("B-3005", "T-102", "SK583-0303", "economy", date(2026, 1, 15), 11200),
        _booking("B-3006", "T-104", "NH222-0420", "premium", date(2026, 3, 11), 121000, status="cancelled"),
    )
    names = {item.traveller_id: item.name for item in travellers}
    numbers = {item.traveller_id: item.number for item in reversed(documents)}
    by_id = {item.flight_id: item for item in flights}
    tickets = (
        Ticket(
            ticket_number=f"117-24000{index}",
            booking_id=booking.booking_id,
            passenger_name=names[booking.traveller_id],
            document_number=numbers[booking.traveller_id],
            flight_number=by_id[booking.flight_id].flight_number,
            day=by_id[booking.flight_id].day,
            departs=by_id[booking.flight_id].departs,
            cabin=booking.cabin,
            bags=booking.bags,
            fare_cents=booking.fare_cents,
            issued_on=booking.booked_on,
            status="open" if booking.status == "confirmed" else "refunded",
        )
        for index, booking in enumerate(bookings, start=1)
    )
    messages = (
        _message("M-701", "Your booking to Lisboa", "Your flight on 7 April is confirmed.", "sent", datetime(2026, 3, 2, 15, 0)),
        _message("M-702", "Seat", "We can offer you an aisle seat in row 15.", "draft", datetime(2026, 3, 17, 16, 30)),
    )
    return TravelState(
        now=datetime(2026, 3, 18, 9, 0),
        counters={"booking": 3006, "ticket": 240006, "message": 702},
        travellers={item.traveller_id: item for item in travellers},
        documents={item.document_id: item for item in documents},
        airports={item.code: item for item in airports},
        flights=by_id,
        fares={item.fare_id: item for item in fares},
        seats={item.seat_id: item for item in seats},
        bookings={item.booking_id: item for item in bookings},
        tickets={item.ticket_number: item for item in tickets},
        messages={item.message_id: item for item in messages},
    )


def _document(document_id: str, traveller_id: str, country: str, number: str, expires_on: date) -> Document:
    return Document(
        document_id=document_id, traveller_id=traveller_id, kind="passport", country=country, number=number, expires_on=expires_on
    )


def _flight(
    flight_id: str, airline: str, origin: str, destination: str, day: date, departs: str, arrives: str, nights: int = 0
) -> Flight:
    return Flight(
        flight_id=flight_id,
        flight_number=flight_id.split("-")[0],
        airline=airline,
        origin=origin,
        destination=destination,
        day=day,
        departs=departs,
        arrives=arrives,
        arrival_day=day + timedelta(days=nights),
        terminal="T3" if origin == "CPH" else "T1",
        gate=f"B{departs[:2]}",
        aircraft="A350" if nights else "A320",
    )


def _fare(flight_id: str, cabin: Cabin, price: int, seats_left: int, *, refundable: bool) -> Fare:
    return Fare(
        fare_id=f"{flight_id}:{cabin}",
        flight_id=flight_id,
        cabin=cabin,
        price_cents=price,
        price_miles=price * 2,
        seats_left=seats_left,
        bags_included=1,
        bag_fee_cents=3500,
        change_fee_cents=4000,
        refundable=refundable,
    )


def _seat(flight_id: str, seat: str, cabin: Cabin) -> Seat:
    positions: dict[str, Position] = {"A": "window", "B": "middle", "C": "aisle"}
    return Seat(seat_id=f"{flight_id}:{seat}", flight_id=flight_id, seat=seat, cabin=cabin, position=positions[seat[-1]])


def _booking(
    booking_id: str,
    traveller_id: str,
    flight_id: str,
    cabin: Cabin,
    booked_on: date,
    fare: int,
    *,
    seat: str | None = None,
    status: BookingStatus = "confirmed",
    note: str = "",
) -> Booking:
    return Booking(
        booking_id=booking_id,
        traveller_id=traveller_id,
        flight_id=flight_id,
        cabin=cabin,
        booked_on=booked_on,
        paid_with="card",
        fare_cents=fare,
        bags=1,
        seat=seat,
        status=status,
        refund_cents=fare if status == "cancelled" else 0,
        refund_to="original_payment" if status == "cancelled" else None,
        note=note,
    )


def _message(message_id: str, subject: str, body: str, status: MessageStatus, written_at: datetime) -> Message:
    return Message(message_id=message_id, traveller_id="T-102", subject=subject, body=body, status=status, written_at=written_at)
