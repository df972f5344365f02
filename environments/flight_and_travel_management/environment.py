"""The tools of a travel agency's desk."""

from collections.abc import Mapping
from datetime import date, datetime, time
from typing import Literal, TypeVar

from environments.flight_and_travel_management.example import example_state
from environments.flight_and_travel_management.records import (
    Availability,
    Booking,
    BookingStatus,
    Cabin,
    Fare,
    Flight,
    Message,
    MessageStatus,
    PayWith,
    Position,
    RefundTo,
    Ticket,
    Traveller,
    TravelState,
)
from environments.flight_and_travel_management.views import (
    BookingResult,
    BookingResults,
    BookingSummaries,
    FlightOffers,
    MessageList,
    MessageResult,
    PaidBooking,
    ScheduleResult,
    SeatMap,
    SeatView,
    TicketResult,
    TravellerList,
    Verification,
    booking_summary,
    booking_view,
    flight_offer,
    free_seats,
    is_place,
    latest_ticket,
    traveller_view,
)
from environments.runtime import EffectDecl, Environment, Record, ToolError, commit, lookup, verify

R = TypeVar("R", bound=Record)

MAX_BAGS = 5
_CANCEL_WRITES = ("status", "refund_cents", "refund_to")


class FlightAndTravelManagement(Environment[TravelState]):
    """The desk of a travel agency."""

    name = "flight_and_travel_management"
    summary = "Travellers, documents, flights, bookings and tickets at one travel agency."
    state_type = TravelState

    @classmethod
    def example_state(cls) -> TravelState:
        return example_state()

    @lookup()
    def find_traveller(self, name: str | None = None, email: str | None = None) -> TravellerList:
        """Find travellers' profiles by name or e-mail address.

        Args:
            name: full name; upper and lower case are the same.
            email: e-mail address; upper and lower case are the same.

        Returns:
            Every profile that has all the given values, with documents, miles, travel credit in cents and note.

        Examples:
            >>> [t["traveller_id"] for t in call("find_traveller", name="ingrid sørensen")["travellers"]]
            ['T-101']
            >>> call("find_traveller")["error"]["code"]
            'invalid_arguments'
        """
        if name is None and email is None:
            raise ToolError("invalid_arguments", "Give a name or an e-mail address.")
        found = [
            traveller_view(self.state, traveller)
            for _, traveller in sorted(self.state.travellers.items())
            if (name is None or traveller.name.casefold() == name.strip().casefold())
            and (email is None or traveller.email.casefold() == email.strip().casefold())
        ]
        return TravellerList(travellers=found)

    @lookup()
    def list_bookings(
        self,
        traveller_id: str | None = None,
        status: BookingStatus | None = None,
        destination: str | None = None,
        day_from: date | None = None,
        day_to: date | None = None,
    ) -> BookingSummaries:
        """List flight bookings, with all filters combined.

        Args:
            traveller_id: only bookings of this traveller.
            status: only bookings with this status.
            destination: only bookings to this city or airport code.
            day_from: only departures on or after this day (YYYY-MM-DD).
            day_to: only departures on or before this day (YYYY-MM-DD).

        Returns:
            Every matching booking with flight, cities and day, sorted by booking id.

        Examples:
            >>> [b["booking_id"] for b in call("list_bookings", traveller_id="T-101", status="confirmed")["bookings"]]
            ['B-3001', 'B-3002']
            >>> [b["booking_id"] for b in call("list_bookings", destination="Lisboa", day_from="2026-04-08")["bookings"]]
            ['B-3004']
        """
        found = []
        for _, booking in sorted(self.state.bookings.items()):
            flight = self.state.flights[booking.flight_id]
            if (
                (traveller_id is None or booking.traveller_id == traveller_id)
                and (status is None or booking.status == status)
                and (destination is None or is_place(self.state, flight.destination, destination))
                and (day_from is None or flight.day >= day_from)
                and (day_to is None or flight.day <= day_to)
            ):
                found.append(booking_summary(self.state, booking))
        return BookingSummaries(bookings=found)

    @lookup()
    def get_booking(self, booking_id: str) -> BookingResult:
        """Read one booking.

        Args:
            booking_id: booking id.

        Returns:
            The booking with flight, day, cabin, seat, bags, amounts in cents and note.

        Examples:
            >>> call("get_booking", booking_id="B-3001")["booking"]["seat"]
            '14C'
            >>> call("get_booking", booking_id="B-9999")["error"]["code"]
            'not_found'
        """
        return BookingResult(booking=booking_view(self.state, self._booking(booking_id)))

    @lookup()
    def get_ticket(self, booking_id: str) -> TicketResult:
        """Read the ticket last issued for a booking, from the ticketing system.

        Args:
            booking_id: booking id.

        Returns:
            The ticket as it was issued: passenger, document number, flight, day, time of departure, bags, fare in cents, status.

        Examples:
            >>> call("get_ticket", booking_id="B-3001")["ticket"]["departs"]
            '07:35'
            >>> call("get_ticket", booking_id="B-9999")["error"]["code"]
            'not_found'
        """
        self._booking(booking_id)
        ticket = latest_ticket(self.state, booking_id)
        if ticket is None:
            raise ToolError("not_found", f"No ticket was issued for booking {booking_id}.")
        return TicketResult(ticket=ticket)

    @lookup()
    def search_flights(
        self,
        origin: str,
        destination: str,
        day: date | None = None,
        cabin: Cabin | None = None,
        max_price_cents: int | None = None,
    ) -> FlightOffers:
        """Search departures that can still be booked, with all filters combined.

        Args:
            origin: city or airport code of departure.
            destination: city or airport code of arrival.
            day: only departures on this day (YYYY-MM-DD).
            cabin: only fares in this cabin.
            max_price_cents: only fares up to this price in cents.

        Returns:
            Every departure with a matching fare and seats left, with times (local, HH:MM) and those fares, sorted by flight id.

        Examples:
            >>> [f["flight_id"] for f in call("search_flights", origin="København", destination="LIS", day="2026-04-07")["flights"]]
            ['SK583-0407', 'TP759-0407']
            >>> found = call("search_flights", origin="CPH", destination="LIS", cabin="economy", max_price_cents=15000)
            >>> [f["flight_id"] for f in found["flights"]]
            ['TP759-0407']
        """
        offers = []
        for flight_id, flight in sorted(self.state.flights.items()):
            if (
                not is_place(self.state, flight.origin, origin)
                or not is_place(self.state, flight.destination, destination)
                or (day is not None and flight.day != day)
                or not self._bookable(flight)
            ):
                continue
            fares = [
                fare
                for _, fare in sorted(self.state.fares.items())
                if fare.flight_id == flight_id
                and fare.seats_left > 0
                and (cabin is None or fare.cabin == cabin)
                and (max_price_cents is None or fare.price_cents <= max_price_cents)
            ]
            if fares:
                offers.append(flight_offer(flight, fares))
        return FlightOffers(flights=offers)

    @lookup()
    def get_flight_schedule(self, flight_number: str, day: date) -> ScheduleResult:
        """Read the airline's schedule for one departure.

        Args:
            flight_number: flight number, for example `SK583`.
            day: day of departure (YYYY-MM-DD).

        Returns:
            The departure with times (local, HH:MM), terminal, gate, aircraft, status and the airline's note.

        Examples:
            >>> call("get_flight_schedule", flight_number="SK583", day="2026-04-07")["flight"]["terminal"]
            'T3'
            >>> call("get_flight_schedule", flight_number="SK583", day="2026-05-07")["error"]["code"]
            'not_found'
        """
        for _, flight in sorted(self.state.flights.items()):
            if flight.flight_number.casefold() == flight_number.replace(" ", "").casefold() and flight.day == day:
                return ScheduleResult(flight=flight)
        raise ToolError("not_found", f"The schedule has no flight {flight_number} on {day.isoformat()}.")

    @lookup()
    def get_seat_map(
        self,
        flight_id: str,
        cabin: Cabin | None = None,
        position: Position | None = None,
        availability: Availability | None = None,
    ) -> SeatMap:
        """Read the seats of a departure, with all filters combined.

        Args:
            flight_id: flight id.
            cabin: only seats in this cabin.
            position: only `window`, `middle` or `aisle` seats.
            availability: only `free` or only `taken` seats.

        Returns:
            Every matching seat, sorted by seat.

        Examples:
            >>> found = call("get_seat_map", flight_id="SK583-0407", cabin="economy", position="window", availability="free")
            >>> [s["seat"] for s in found["seats"]]
            ['14A', '15A']
            >>> call("get_seat_map", flight_id="XX1-0101")["error"]["code"]
            'not_found'
        """
        self._flight(flight_id)
        views = []
        for seat_id, is_free in free_seats(self.state, flight_id).items():
            seat = self.state.seats[seat_id]
            state: Availability = "free" if is_free else "taken"
            if (
                (cabin is None or seat.cabin == cabin)
                and (position is None or seat.position == position)
                and (availability is None or state == availability)
            ):
                views.append(SeatView(seat=seat.seat, cabin=seat.cabin, position=seat.position, availability=state))
        return SeatMap(seats=views)

    @lookup()
    def list_messages(self, traveller_id: str, status: MessageStatus | None = None) -> MessageList:
        """List the messages written to a traveller.

        Args:
            traveller_id: traveller id.
            status: only `draft` or only `sent` messages.

        Returns:
            Every matching message, sorted by message id.

        Examples:
            >>> [m["message_id"] for m in call("list_messages", traveller_id="T-102")["messages"]]
            ['M-701', 'M-702']
            >>> [m["message_id"] for m in call("list_messages", traveller_id="T-102", status="draft")["messages"]]
            ['M-702']
        """
        self._traveller(traveller_id)
        found = [
            message
            for _, message in sorted(self.state.messages.items())
            if message.traveller_id == traveller_id and (status is None or message.status == status)
        ]
        return MessageList(messages=found)

    @verify()
    def verify_document(self, document_id: str, number: str, expires_on: date, travel_day: date) -> Verification:
        """Check a travel document for a day of travel, against the number and expiry you observed.

        Args:
            document_id: document id.
            number: the document number you observed.
            expires_on: the expiry you observed (YYYY-MM-DD).
            travel_day: last day the document is needed (YYYY-MM-DD).

        Returns:
            `ok` when both values match and the document is valid on that day; what was compared, what differed and the reasons.

        Examples:
            >>> seen = dict(document_id="D-501", number="DK4471920", expires_on="2029-08-14")
            >>> call("verify_document", **seen, travel_day="2026-04-07")["ok"]
            True
            >>> call("verify_document", **seen, travel_day="2029-08-15")["reasons"]
            ['The document expires before that day.']
            >>> call("verify_document", **{**seen, "number": "DK4471902"}, travel_day="2026-04-07")["mismatched"]
            ['number']
        """
        document = _get(self.state.documents, document_id, "document")
        reasons = [] if document.expires_on >= travel_day else ["The document expires before that day."]
        return _verification({"number": (number, document.number), "expires_on": (expires_on, document.expires_on)}, reasons)

    @verify()
    def verify_fare(self, flight_id: str, cabin: Cabin, price_cents: int) -> Verification:
        """Check that a fare is still on sale at the price you observed.

        Args:
            flight_id: flight id.
            cabin: cabin of the fare.
            price_cents: the price you observed, in cents.

        Returns:
            `ok` when the price matches, seats are left and the departure can be booked; what was compared, what differed and the
            reasons.

        Examples:
            >>> call("verify_fare", flight_id="TP759-0407", cabin="economy", price_cents=13950)["ok"]
            True
            >>> call("verify_fare", flight_id="TP759-0407", cabin="economy", price_cents=12950)["mismatched"]
            ['price_cents']
            >>> call("verify_fare", flight_id="TP759-0407", cabin="business", price_cents=48800)["reasons"]
            ['The fare is sold out.']
        """
        fare = self._fare(flight_id, cabin)
        reasons = [] if fare.seats_left > 0 else ["The fare is sold out."]
        if not self._bookable(self._flight(flight_id)):
            reasons.append("The departure cannot be booked any more.")
        return _verification({"price_cents": (price_cents, fare.price_cents)}, reasons)

    @verify()
    def verify_cancellation_terms(self, booking_id: str, fare_cents: int, refundable: bool) -> Verification:
        """Check the terms on which a booking would be cancelled, against the fare and condition you observed.

        Args:
            booking_id: booking id.
            fare_cents: the fare paid that you observed, in cents.
            refundable: whether you take the fare to be refundable.

        Returns:
            `ok` when both values match and the booking can be cancelled; what was compared, what differed and the reasons.

        Examples:
            >>> call("verify_cancellation_terms", booking_id="B-3001", fare_cents=18900, refundable=True)["ok"]
            True
            >>> call("verify_cancellation_terms", booking_id="B-3002", fare_cents=17500, refundable=True)["mismatched"]
            ['refundable']
            >>> call("verify_cancellation_terms", booking_id="B-3005", fare_cents=11200, refundable=True)["reasons"]
            ['The booking cannot be cancelled any more.']
        """
        booking = self._booking(booking_id)
        fare = self._fare(booking.flight_id, booking.cabin)
        reasons = [] if self._open(booking) else ["The booking cannot be cancelled any more."]
        observed = {"fare_cents": (fare_cents, booking.fare_cents), "refundable": (refundable, fare.refundable)}
        return _verification(observed, reasons)

    @commit(
        EffectDecl("booking.create", "/bookings/*"),
        EffectDecl("record.create", "/tickets/*", implied=True),
        EffectDecl("record.update", "/fares/{flight_id}:{cabin}", writes=("seats_left",), implied=True),
        EffectDecl("account.update", "/travellers/{traveller_id}", writes=("miles", "travel_credit_cents"), implied=True),
    )
    def book_flight(self, traveller_id: str, document_id: str, flight_id: str, cabin: Cabin, pay_with: PayWith) -> PaidBooking:
        """Book a departure for a traveller and issue the ticket. The validity of the document is not checked by this call.

        Args:
            traveller_id: traveller id.
            document_id: the traveller's document to put on the ticket.
            flight_id: flight id.
            cabin: `economy`, `premium` or `business`.
            pay_with: `card`, `miles` (the fare's price in miles) or `travel_credit`.

        Returns:
            The booking and what was charged.

        Examples:
            >>> trip = dict(traveller_id="T-101", document_id="D-501", flight_id="TP759-0407", cabin="economy")
            >>> call("book_flight", **trip, pay_with="card")["booking"]["booking_id"]
            'B-3007'
            >>> call("get_ticket", booking_id="B-3007")["ticket"]["document_number"]
            'DK4471920'
            >>> call("book_flight", **trip, pay_with="travel_credit")["error"]["code"]
            'insufficient_funds'
        """
        traveller = self._traveller(traveller_id)
        document = _get(self.state.documents, document_id, "document")
        flight, fare = self._sellable(flight_id, cabin)
        if document.traveller_id != traveller_id:
            raise ToolError("invalid_arguments", f"Document {document_id} is not on the profile of {traveller_id}.")
        miles = fare.price_miles if pay_with == "miles" else 0
        credit = fare.price_cents if pay_with == "travel_credit" else 0
        if miles > traveller.miles or credit > traveller.travel_credit_cents:
            raise ToolError("insufficient_funds", "The traveller's balance does not cover this fare.")
        self.state.travellers[traveller_id] = traveller.model_copy(
            update={"miles": traveller.miles - miles, "travel_credit_cents": traveller.travel_credit_cents - credit}
        )
        booking = Booking(
            booking_id=self.next_id("booking", "B-", start=3001),
            traveller_id=traveller_id,
            flight_id=flight_id,
            cabin=cabin,
            booked_on=self.today,
            paid_with=pay_with,
            fare_cents=0 if pay_with == "miles" else fare.price_cents,
            bags=fare.bags_included,
        )
        self.state.bookings[booking.booking_id] = booking
        self._move_seats(fare, -1)
        self._issue(booking, flight, traveller.name, document.number)
        return self._paid(booking, booking.fare_cents, miles)

    @commit(
        EffectDecl(
            "booking.update", "/bookings/{booking_id}", writes=("flight_id", "cabin", "seat", "fare_cents", "change_fees_cents")
        ),
        EffectDecl("record.update", "/tickets/*", implied=True),
        EffectDecl("record.update", "/fares/*", writes=("seats_left",), implied=True),
    )
    def change_flight(self, booking_id: str, flight_id: str, cabin: Cabin) -> PaidBooking:
        """Move a booking to another departure or cabin and issue a new ticket. The seat has to be chosen again.

        The change fee of the present fare and, where the new fare is higher, the difference are charged.

        Args:
            booking_id: booking id.
            flight_id: flight id of the departure wanted.
            cabin: cabin wanted: `economy`, `premium` or `business`.

        Returns:
            The changed booking and what was charged.

        Examples:
            >>> done = call("change_flight", booking_id="B-3001", flight_id="TP759-0407", cabin="economy")
            >>> done["booking"]["flight_number"], done["charged_cents"]
            ('TP759', 4000)
            >>> call("get_ticket", booking_id="B-3001")["ticket"]["departs"]
            '13:20'
            >>> call("change_flight", booking_id="B-3005", flight_id="TP759-0407", cabin="economy")["error"]["code"]
            'precondition_failed'
        """
        booking = self._booking(booking_id)
        self._require_open(booking, "changed")
        if (booking.flight_id, booking.cabin) == (flight_id, cabin):
            raise ToolError("invalid_arguments", "The booking already is for this departure and cabin.")
        flight, fare = self._sellable(flight_id, cabin)
        old_fare = self._fare(booking.flight_id, booking.cabin)
        charged = old_fare.change_fee_cents + max(0, fare.price_cents - booking.fare_cents)
        update = {
            "flight_id": flight_id,
            "cabin": cabin,
            "seat": None,
            "fare_cents": max(fare.price_cents, booking.fare_cents),
            "change_fees_cents": booking.change_fees_cents + old_fare.change_fee_cents,
        }
        booking = self._put_booking(booking, **update)
        self._move_seats(old_fare, +1)
        self._move_seats(self._fare(flight_id, cabin), -1)
        if ticket := latest_ticket(self.state, booking_id):
            self.state.tickets[ticket.ticket_number] = ticket.model_copy(update={"status": "exchanged"})
            self._issue(booking, flight, ticket.passenger_name, ticket.document_number)
        return self._paid(booking, charged, 0)

    @commit(
        EffectDecl("booking.cancel", "/bookings/{booking_id}", writes=_CANCEL_WRITES),
        EffectDecl("record.update", "/tickets/*", writes=("status",), implied=True),
        EffectDecl("record.update", "/fares/*", writes=("seats_left",), implied=True),
        EffectDecl("account.update", "/travellers/*", writes=("travel_credit_cents",), implied=True),
    )
    def cancel_booking(self, booking_id: str, refund_to: RefundTo) -> BookingResult:
        """Cancel a booking before departure. A refundable fare is paid back, any other fare and all fees are lost.

        Args:
            booking_id: booking id.
            refund_to: where a refund goes: `original_payment` or `travel_credit`.

        Returns:
            The cancelled booking with the refund in cents.

        Examples:
            >>> call("cancel_booking", booking_id="B-3001", refund_to="travel_credit")["booking"]["refund_cents"]
            18900
            >>> call("find_traveller", name="Ingrid Sørensen")["travellers"][0]["travel_credit_cents"]
            23900
            >>> call("cancel_booking", booking_id="B-3005", refund_to="travel_credit")["error"]["code"]
            'precondition_failed'
        """
        return BookingResult(booking=booking_view(self.state, self._cancel(booking_id, refund_to)))

    @commit(
        EffectDecl("booking.cancel", "/bookings/{booking_ids}", writes=_CANCEL_WRITES),
        EffectDecl("record.update", "/tickets/*", writes=("status",), implied=True),
        EffectDecl("record.update", "/fares/*", writes=("seats_left",), implied=True),
        EffectDecl("account.update", "/travellers/*", writes=("travel_credit_cents",), implied=True),
    )
    def cancel_bookings(self, booking_ids: list[str], refund_to: RefundTo) -> BookingResults:
        """Cancel several bookings at once; if one cannot be cancelled, none is.

        Refundable fares are paid back, any other fare and all fees are lost.

        Args:
            booking_ids: booking ids, each once.
            refund_to: where refunds go: `original_payment` or `travel_credit`.

        Returns:
            The cancelled bookings, sorted by booking id.

        Examples:
            >>> done = call("cancel_bookings", booking_ids=["B-3001", "B-3002"], refund_to="original_payment")
            >>> [b["refund_cents"] for b in done["bookings"]]
            [18900, 0]
            >>> call("cancel_bookings", booking_ids=["B-3001", "B-3005"], refund_to="travel_credit")["error"]["code"]
            'precondition_failed'
            >>> call("cancel_bookings", booking_ids=[], refund_to="travel_credit")["error"]["code"]
            'invalid_arguments'
        """
        if not booking_ids or len(set(booking_ids)) != len(booking_ids):
            raise ToolError("invalid_arguments", "Give at least one booking id, each once.")
        cancelled = [self._cancel(booking_id, refund_to) for booking_id in sorted(booking_ids)]
        return BookingResults(bookings=[booking_view(self.state, booking) for booking in cancelled])

    @commit(EffectDecl("booking.update", "/bookings/{booking_id}", writes=("seat",)))
    def assign_seat(self, booking_id: str, seat: str) -> BookingResult:
        """Give a booking a free seat in its cabin, in place of any seat it had.

        Args:
            booking_id: booking id.
            seat: seat, for example `14A`.

        Returns:
            The booking with its seat.

        Examples:
            >>> call("assign_seat", booking_id="B-3001", seat="15A")["booking"]["seat"]
            '15A'
            >>> call("assign_seat", booking_id="B-3001", seat="14B")["error"]["code"]
            'precondition_failed'
        """
        booking = self._booking(booking_id)
        self._require_open(booking, "changed")
        seat_id = f"{booking.flight_id}:{seat.upper()}"
        if seat_id not in self.state.seats:
            raise ToolError("not_found", f"The aircraft has no seat {seat}.")
        record = self.state.seats[seat_id]
        if record.cabin != booking.cabin:
            raise ToolError("precondition_failed", f"Seat {record.seat} is in another cabin.")
        if booking.seat != record.seat and not free_seats(self.state, booking.flight_id)[seat_id]:
            raise ToolError("precondition_failed", f"Seat {record.seat} is taken.")
        return BookingResult(booking=booking_view(self.state, self._put_booking(booking, seat=record.seat)))

    @commit(
        EffectDecl("booking.update", "/bookings/{booking_id}", writes=("bags", "bag_fees_cents")),
        EffectDecl("record.update", "/tickets/*", writes=("bags",), implied=True),
    )
    def add_bags(self, booking_id: str, bags: int) -> PaidBooking:
        """Add checked bags to a booking, at the fare's fee for each. A booking can have up to 5 bags.

        Args:
            booking_id: booking id.
            bags: how many bags to add, at least 1.

        Returns:
            The booking with its bags and what was charged.

        Examples:
            >>> call("add_bags", booking_id="B-3001", bags=2)["charged_cents"]
            7000
            >>> call("get_booking", booking_id="B-3001")["booking"]["bags"]
            3
            >>> call("add_bags", booking_id="B-3001", bags=3)["error"]["code"]
            'precondition_failed'
        """
        booking = self._booking(booking_id)
        self._require_open(booking, "changed")
        if bags < 1:
            raise ToolError("invalid_arguments", "Add at least one bag.")
        if booking.bags + bags > MAX_BAGS:
            raise ToolError("precondition_failed", "The booking would have too many bags.")
        charged = bags * self._fare(booking.flight_id, booking.cabin).bag_fee_cents
        booking = self._put_booking(booking, bags=booking.bags + bags, bag_fees_cents=booking.bag_fees_cents + charged)
        if ticket := latest_ticket(self.state, booking_id):
            self.state.tickets[ticket.ticket_number] = ticket.model_copy(update={"bags": ticket.bags + bags})
        return self._paid(booking, charged, 0)

    @commit(
        EffectDecl("message.send", "/messages/*", when={"action": "send"}, free=("subject", "body")),
        EffectDecl("message.draft", "/messages/*", when={"action": "draft"}, free=("subject", "body")),
    )
    def message_traveller(self, traveller_id: str, subject: str, body: str, action: Literal["draft", "send"]) -> MessageResult:
        """Write to a traveller.

        Args:
            traveller_id: traveller id.
            subject: subject line.
            body: text.
            action: `send` to send it now, `draft` to keep it for someone to look at.

        Returns:
            The message with its status.

        Examples:
            >>> text = dict(traveller_id="T-101", subject="Your trip", body="Your seat is 14A.")
            >>> call("message_traveller", **text, action="draft")["message"]["status"]
            'draft'
            >>> [m["subject"] for m in call("list_messages", traveller_id="T-101")["messages"]]
            ['Your trip']
            >>> call("message_traveller", **{**text, "traveller_id": "T-999"}, action="send")["error"]["code"]
            'not_found'
        """
        self._traveller(traveller_id)
        if not subject.strip() or not body.strip():
            raise ToolError("invalid_arguments", "A message needs a subject and a text.")
        message = Message(
            message_id=self.next_id("message", "M-", start=701),
            traveller_id=traveller_id,
            subject=subject,
            body=body,
            status="sent" if action == "send" else "draft",
            written_at=self.state.now,
        )
        self.state.messages[message.message_id] = message
        return MessageResult(message=message)

    def _traveller(self, traveller_id: str) -> Traveller:
        return _get(self.state.travellers, traveller_id, "traveller")

    def _flight(self, flight_id: str) -> Flight:
        return _get(self.state.flights, flight_id, "flight")

    def _fare(self, flight_id: str, cabin: Cabin) -> Fare:
        return _get(self.state.fares, f"{flight_id}:{cabin}", "fare")

    def _booking(self, booking_id: str) -> Booking:
        return _get(self.state.bookings, booking_id, "booking")

    def _put_booking(self, booking: Booking, **update: object) -> Booking:
        changed = booking.model_copy(update=update)
        self.state.bookings[booking.booking_id] = changed
        return changed

    def _departed(self, flight: Flight) -> bool:
        return datetime.combine(flight.day, time.fromisoformat(flight.departs)) <= self.state.now

    def _bookable(self, flight: Flight) -> bool:
        return flight.status != "cancelled" and not self._departed(flight)

    def _sellable(self, flight_id: str, cabin: Cabin) -> tuple[Flight, Fare]:
        flight, fare = self._flight(flight_id), self._fare(flight_id, cabin)
        if not self._bookable(flight):
            raise ToolError("precondition_failed", f"Flight {flight_id} cannot be booked any more.")
        if fare.seats_left < 1:
            raise ToolError("precondition_failed", f"Flight {flight_id} has no {cabin} seats left.")
        return flight, fare

    def _open(self, booking: Booking) -> bool:
        return booking.status == "confirmed" and not self._departed(self._flight(booking.flight_id))

    def _require_open(self, booking: Booking, what: str) -> None:
        if not self._open(booking):
            raise ToolError("precondition_failed", f"Booking {booking.booking_id} can no longer be {what}.")

    def _move_seats(self, fare: Fare, step: int) -> None:
        current = self.state.fares[fare.fare_id]
        self.state.fares[fare.fare_id] = current.model_copy(update={"seats_left": current.seats_left + step})

    def _issue(self, booking: Booking, flight: Flight, passenger: str, document_number: str) -> None:
        ticket = Ticket(
            ticket_number=self.next_id("ticket", "117-", start=240001),
            booking_id=booking.booking_id,
            passenger_name=passenger,
            document_number=document_number,
            flight_number=flight.flight_number,
            day=flight.day,
            departs=flight.departs,
            cabin=booking.cabin,
            bags=booking.bags,
            fare_cents=booking.fare_cents,
            issued_on=self.today,
        )
        self.state.tickets[ticket.ticket_number] = ticket

    def _paid(self, booking: Booking, cents: int, miles: int) -> PaidBooking:
        return PaidBooking(booking=booking_view(self.state, booking), charged_cents=cents, charged_miles=miles)

    def _cancel(self, booking_id: str, refund_to: RefundTo) -> Booking:
        booking = self._booking(booking_id)
        self._require_open(booking, "cancelled")
        fare = self._fare(booking.flight_id, booking.cabin)
        refund = booking.fare_cents if fare.refundable else 0
        self._move_seats(fare, +1)
        if refund_to == "travel_credit":
            traveller = self._traveller(booking.traveller_id)
            credit = traveller.travel_credit_cents + refund
            self.state.travellers[traveller.traveller_id] = traveller.model_copy(update={"travel_credit_cents": credit})
        if ticket := latest_ticket(self.state, booking_id):
            status = "refunded" if refund else "void"
            self.state.tickets[ticket.ticket_number] = ticket.model_copy(update={"status": status})
        return self._put_booking(booking, status="cancelled", refund_cents=refund, refund_to=refund_to)


def _get(records: Mapping[str, R], key: str, what: str) -> R:
    if key not in records:
        raise ToolError("not_found", f"There is no {what} {key}.")
    return records[key]


def _verification(observed: Mapping[str, tuple[object, object]], reasons: list[str]) -> Verification:
    """Compare observed values with recorded ones: name -> (observed, recorded)."""
    mismatched = [name for name, (seen, recorded) in observed.items() if seen != recorded]
    return Verification(ok=not mismatched and not reasons, compared=list(observed), mismatched=mismatched, reasons=reasons)
