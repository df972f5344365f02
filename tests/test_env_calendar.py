"""The behaviours of the calendar that tasks rely on."""

from collections.abc import Callable

import pytest
from pydantic import ValidationError

from environments.calendar.environment import Calendar
from environments.runtime.records import Call, Mount
from environments.runtime.sandbox import Sandbox

NAME = "calendar"


@pytest.fixture
def diary() -> Sandbox:
    return Sandbox(Mount(environments=(NAME,)), {NAME: Calendar.example_state().dump()})


@pytest.fixture
def call(diary: Sandbox) -> Callable[..., Call]:
    return lambda tool, **args: diary.call(f"{NAME}.{tool}", args)


def _kinds(done: Call) -> list[tuple[str, str]]:
    return [(effect.kind, effect.record.removeprefix(f"/{NAME}")) for effect in done.effects]


def _code(done: Call) -> str:
    return str(done.content["error"]["code"])


def _events(done: Call) -> list[str]:
    return [row["event_id"] for row in done.content["events"]]


def test_every_filter_narrows_the_list(call: Callable[..., Call]) -> None:
    assert len(_events(call("list_events"))) == 8
    assert _events(call("list_events", calendar="Private")) == ["E-307"]
    assert _events(call("list_events", attendee="kateřina")) == ["E-305", "E-306"]
    assert _events(call("list_events", day_from="2026-05-13", day_to="2026-05-14")) == ["E-303", "E-307"]
    assert _events(call("list_events", status="cancelled")) == ["E-308"]
    assert _events(call("list_events", my_response="pending", title="loan")) == ["E-303"]


def test_a_meeting_takes_the_time_of_all_who_did_not_decline(call: Callable[..., Call]) -> None:
    def busy(person_id: str, day: str) -> list[str]:
        rows = call("get_person_availability", person_id=person_id, day=day).content["busy"]
        return [row["starts"] for row in rows]

    assert busy("P-104", "2026-05-13") == ["14:00"]
    assert busy("P-101", "2026-05-13") == ["09:00", "14:00"]
    call("respond_to_invitation", event_id="E-303", response="declined")
    assert busy("P-101", "2026-05-13") == ["09:00"]
    # The cancelled briefing of 12 May takes nobody's time.
    assert busy("P-106", "2026-05-12") == []


def test_free_slots_respect_everyones_hours_and_grow_when_an_event_goes(call: Callable[..., Call]) -> None:
    def slots() -> list[tuple[str, str]]:
        found = call("find_free_slots", person_ids=["P-103"], day="2026-05-12", duration_minutes=60).content["slots"]
        return [(slot["starts"], slot["ends"]) for slot in found]

    assert slots() == [("08:30", "10:00"), ("11:00", "14:00")]
    call("cancel_event", event_id="E-301")
    assert slots() == [("08:30", "14:00")]


@pytest.mark.parametrize(
    ("starts", "ends", "mismatched"),
    [
        ("12:00", "13:00", []),
        ("12:30", "13:30", ["P-102"]),  # runs into focus time
        ("08:30", "09:00", ["P-102", "P-104"]),  # before one's hours, and while the other travels
        ("16:30", "17:15", ["P-104"]),  # after hours
    ],
)
def test_the_availability_check_names_who_is_not_free(
    call: Callable[..., Call], starts: str, ends: str, mismatched: list[str]
) -> None:
    answer = call("verify_availability", person_ids=["P-102", "P-104"], day="2026-05-12", starts=starts, ends=ends).content
    assert answer == {"matches": not mismatched, "compared": ["P-102", "P-104"], "mismatched": mismatched}


def test_the_event_check_compares_each_value(call: Callable[..., Call]) -> None:
    right = {"title": "loan agreements", "starts": "14:00", "ends": "15:30", "room": "Studio", "organizer": "Øyvind Weiß"}
    assert call("verify_event_details", event_id="E-303", day="2026-05-13", **right).content["matches"] is True
    for name, value in right.items():
        wrong = {**right, name: "18:45" if name in ("starts", "ends") else f"{value} II"}
        assert call("verify_event_details", event_id="E-303", **wrong).content["mismatched"] == [name]
    assert call("verify_event_details", event_id="E-304", room="Studio").content["mismatched"] == ["room"]


def test_rooms_are_booked_once_and_hold_only_so_many(call: Callable[..., Call]) -> None:
    meeting = {"calendar_id": "K-1", "title": "Budget", "day": "2026-05-13", "starts": "15:00", "ends": "16:00"}
    assert _code(call("create_event", **meeting, room_id="R-3")) == "precondition_failed"
    everyone = ["P-102", "P-103", "P-104", "P-106"]
    assert _code(call("create_event", **meeting, room_id="R-4", attendee_ids=everyone)) == "precondition_failed"
    made = call("create_event", **meeting, room_id="R-4", attendee_ids=["P-104", "P-101", "P-102"])
    assert [row["person_id"] for row in made.content["event"]["attendees"]] == ["P-102", "P-104"]
    free = {"day": "2026-05-13", "starts": "15:30", "ends": "15:45"}
    assert [room["name"] for room in call("find_rooms", **free).content["rooms"]] == ["Atrium", "Library corner", "Studio"]


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"day": "2026-05-10"}, "precondition_failed"),
        ({"ends": "09:00"}, "invalid_arguments"),
        ({"starts": "9:00"}, "invalid_arguments"),
        ({"starts": "23:30"}, "invalid_arguments"),  # would end after midnight
        ({"room_id": "R-9"}, "not_found"),
        ({"add_attendee_ids": ["P-999"]}, "not_found"),
        ({}, "invalid_arguments"),
    ],
)
def test_a_bad_change_is_refused_and_leaves_no_trace(
    diary: Sandbox, call: Callable[..., Call], changes: dict[str, str], code: str
) -> None:
    before = diary.state()
    assert _code(call("update_event", event_id="E-302", **changes)) == code
    assert diary.state() == before


def test_taking_an_attendee_off_the_list_drops_the_answer(call: Callable[..., Call]) -> None:
    call("update_event", event_id="E-301", remove_attendee_ids=["P-102"])
    again = call("update_event", event_id="E-301", add_attendee_ids=["P-102"]).content["event"]["attendees"]
    assert [(row["person_id"], row["response"]) for row in again] == [("P-102", "pending"), ("P-103", "accepted")]


def test_the_invitation_does_not_follow_the_event(call: Callable[..., Call]) -> None:
    state = Calendar.example_state().dump()
    state["events"]["E-303"]["day"] = "2026-05-14"
    moved = Sandbox(Mount(environments=(NAME,)), {NAME: state})
    assert moved.call(f"{NAME}.get_event", {"event_id": "E-303"}).content["event"]["day"] == "2026-05-14"
    assert moved.call(f"{NAME}.read_invitation", {"event_id": "E-303"}).content["invitation"]["day"] == "2026-05-13"


def test_moving_copying_cancelling_and_declining_are_different_effects(call: Callable[..., Call]) -> None:
    assert _kinds(call("update_event", event_id="E-304", day="2026-05-21")) == [("event.update", "/events/E-304")]
    assert _kinds(call("duplicate_event", event_id="E-304", day="2026-05-22")) == [("event.create", "/events/E-309")]
    declined = call("respond_to_invitation", event_id="E-304", response="declined")
    assert _kinds(declined) == [("event.respond", "/events/E-304")]
    assert _kinds(call("cancel_event", event_id="E-304", message="Rain.")) == [("event.cancel", "/events/E-304")]
    event = call("get_event", event_id="E-304").content["event"]
    assert (event["status"], event["cancel_message"]) == ("cancelled", "Rain.")


def test_a_cancelled_event_stays_cancelled(call: Callable[..., Call]) -> None:
    for tool, args in (
        ("update_event", {"title": "Drill"}),
        ("cancel_event", {}),
        ("respond_to_invitation", {"response": "accepted"}),
    ):
        assert _code(call(tool, event_id="E-308", **args)) == "precondition_failed"


def test_bulk_cancelling_spares_other_peoples_events_and_other_calendars(call: Callable[..., Call]) -> None:
    done = call("cancel_events", calendar_id="K-2", day_from="2026-05-13", day_to="2026-05-20")
    assert _kinds(done) == [("event.cancel", "/events/E-304")]
    assert call("get_event", event_id="E-303").content["event"]["status"] == "confirmed"
    assert call("get_event", event_id="E-305").content["event"]["status"] == "confirmed"


def test_sharing_is_granted_changed_and_revoked(call: Callable[..., Call]) -> None:
    def share(access: str) -> Call:
        return call("share_calendar", calendar_id="K-1", address="h.tamura@stadtmuseum.example", access=access)

    assert _kinds(share("edit")) == [("permission.grant", "/shares/S-602")]
    assert call("list_calendars", name="work").content["calendars"][0]["shares"][0]["access"] == "edit"
    assert _kinds(share("none")) == [("permission.revoke", "/shares/S-602")]
    assert call("list_calendars", name="work").content["calendars"][0]["shares"] == []
    assert _kinds(share("view")) == [("permission.grant", "/shares/S-603")]


@pytest.mark.parametrize(
    "path",
    [
        ("events", "E-301", "room_id"),
        ("events", "E-301", "calendar_id"),
        ("blocks", "B-401", "person_id"),
        ("shares", "S-601", "calendar_id"),
    ],
)
def test_a_state_whose_records_name_nothing_is_refused(path: tuple[str, str, str]) -> None:
    state = Calendar.example_state().dump()
    collection, key, field = path
    state[collection][key][field] = "X-1"
    with pytest.raises(ValidationError, match="X-1"):
        Calendar.load(state)
