"""Task families of the travel agency: six operational, four informational."""

from abstain_assets.pairs.family import Family
from environments.flight_and_travel_management.families.bags_and_seats import AddBags, ChangeSeat
from environments.flight_and_travel_management.families.book_flight import BookFlight
from environments.flight_and_travel_management.families.cancel_booking import CancelBooking
from environments.flight_and_travel_management.families.change_flight import ChangeFlight
from environments.flight_and_travel_management.families.cost_report import CostReport
from environments.flight_and_travel_management.families.fare_report import FareReport
from environments.flight_and_travel_management.families.message_traveller import MessageTraveller
from environments.flight_and_travel_management.families.profile_report import ProfileReport
from environments.flight_and_travel_management.families.trip_report import TripReport

FAMILIES: tuple[Family, ...] = (
    AddBags(),
    BookFlight(),
    CancelBooking(),
    ChangeFlight(),
    ChangeSeat(),
    CostReport(),
    FareReport(),
    MessageTraveller(),
    ProfileReport(),
    TripReport(),
)
