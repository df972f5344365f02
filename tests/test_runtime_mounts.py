"""Several environments behind one tool list: wire names, mounts, faults and the registry."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from environments.runtime import (
    MountError,
    registry,
)
from environments.runtime.records import Call, Fault, FaultKind, Mount
from environments.runtime.sandbox import Sandbox, compact
from environments.runtime.wire import MAX_LENGTH, wire_name, wire_names
from tests.call_sequences import sequences
from tests.toy import LENDING, mounted, world

pytestmark = pytest.mark.usefixtures("library")

SHIPPED = registry.names()
NAME = st.from_regex(r"[a-z][a-z0-9_]{0,40}", fullmatch=True)


# --- wire names -----------------------------------------------------------------------------------------------------------


@settings(deadline=None)
@given(st.lists(st.tuples(NAME, NAME).map(".".join), unique=True, max_size=10))
def test_wire_names_are_short_plain_and_reversible(names: list[str]) -> None:
    wires = [wire_name(name) for name in names]
    assert all(len(wire) <= MAX_LENGTH and wire.isascii() and wire.replace("_", "a").isalnum() for wire in wires)
    if len(set(wires)) == len(wires):
        assert [wire_names(names)[wire] for wire in wires] == names
    else:
        with pytest.raises(ValueError, match="share the wire name"):
            wire_names(names)


def test_long_names_keep_their_beginning_and_differ() -> None:
    first, second = (f"flight_and_travel_management.{verb}_frequent_flyer_upgrade" for verb in ("request", "requests"))
    assert wire_name(first) != wire_name(second)
    assert wire_name(first).startswith("flight_and_travel_management__request")
    assert len(wire_name(first)) == MAX_LENGTH


def test_two_tools_with_one_wire_name() -> None:
    with pytest.raises(ValueError, match=r"a\.b__c and a__b\.c share the wire name a__b__c"):
        wire_names(["a.b__c", "a__b.c"])


def test_the_wire_names_of_all_shipped_environments_are_distinct() -> None:
    names = [f"{name}.{tool}" for name in SHIPPED for tool in registry.load(name).tools]
    assert len(wire_names(names)) == len(names)


# --- mounts ---------------------------------------------------------------------------------------------------------------


def test_two_environments_behind_one_tool_list() -> None:
    sandbox = mounted(names=("library", "annexe"))
    assert {spec.name.split(".")[0] for spec in sandbox.tools} == {"library", "annexe"}
    call = sandbox.call("annexe__remove_book", {"book_id": "B-3"})
    assert (call.tool, call.ok, call.patch[0].path) == ("annexe.remove_book", True, "/annexe/books/B-3")
    assert sandbox.state()["library"] == world()
    assert sandbox.call("library.find_books", {"title": "Solaris"}).content["books"]


def test_calls_are_recorded_in_order_whatever_became_of_them() -> None:
    sandbox = mounted()
    sandbox.call("library__get_member", {"member_id": "M-1"})
    sandbox.call("library__get_member", {"member_id": "M-9"})
    sandbox.call("no_such_tool", {"a": 1})
    assert [(call.index, call.tool, call.ok) for call in sandbox.calls] == [
        (0, "library.get_member", True),
        (1, "library.get_member", False),
        (2, "no_such_tool", False),
    ]
    assert sandbox.calls[2].kind is None
    assert sandbox.calls[2].content == {"error": {"code": "unknown_tool", "message": "There is no tool no_such_tool."}}
    assert Call.model_validate_json(sandbox.calls[0].model_dump_json()) == sandbox.calls[0]


def test_a_hidden_tool_is_gone() -> None:
    sandbox = mounted(hidden=("library.lend_book",))
    assert "library.lend_book" not in {spec.name for spec in sandbox.tools}
    for name in ("library.lend_book", "library__lend_book"):
        call = sandbox.call(name, LENDING)
        assert call.error is not None and call.error.code == "unknown_tool"
    assert sandbox.state() == {"library": world()}


@pytest.mark.parametrize(
    ("mount", "states", "message"),
    [
        (Mount(environments=("nowhere",)), ["nowhere"], "unknown environment 'nowhere'"),
        (Mount(environments=("library",)), [], "do not match the mounted environments"),
        (Mount(environments=("library",)), ["library", "annexe"], "do not match the mounted environments"),
        (Mount(environments=("library", "library")), ["library"], "do not match the mounted environments"),
        (Mount(environments=("library",), hidden=("library.fly",)), ["library"], "names 'library.fly'"),
        (Mount(environments=("library",), hidden=("library__lend_book",)), ["library"], "names 'library__lend_book'"),
        (Mount(environments=("library",), faults=(Fault(tool="annexe.lend_book"),)), ["library"], "names 'annexe.lend_book'"),
    ],
)
def test_a_mount_that_names_what_is_not_there(mount: Mount, states: list[str], message: str) -> None:
    with pytest.raises(MountError, match=message):
        Sandbox(mount, {name: world() for name in states})


def test_a_state_that_does_not_fit_is_named_by_its_field() -> None:
    with pytest.raises(ValidationError, match=r"desk\.is_open"):
        Sandbox(Mount(environments=("library",)), {"library": {**world(), "desk": {"is_open": "perhaps", "message": ""}}})


@settings(deadline=None)
@given(st.dictionaries(st.text(max_size=5), st.text(max_size=5), max_size=4))
def test_compact_text_is_json_without_spaces(content: dict[str, str]) -> None:
    assert json.loads(compact(content)) == content
    assert compact({"a": [1, "ü"]}) == '{"a":[1,"ü"]}'


# --- faults ---------------------------------------------------------------------------------------------------------------

KINDS: list[FaultKind] = ["always", "intermittent", "timeout", "malformed", "stale"]


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_a_faulty_tool_never_touches_the_state(kind: FaultKind, data: st.DataObject) -> None:
    tool = data.draw(st.sampled_from([spec.name for spec in mounted().tools]))
    faulty = mounted(Fault(tool=tool, kind=kind, count=100))
    sound = mounted()
    for name, args in data.draw(sequences(sound)):
        before = json.dumps(faulty.state())
        call = faulty.call(name, args)
        if name == tool:
            assert call.injected == kind
            assert json.dumps(faulty.state()) == before
            assert call.patch == () and call.effects == ()
            assert call.intents == mounted().call(name, args).intents
        else:
            assert call.injected is None


@pytest.mark.parametrize("count", [1, 2, 3])
def test_an_intermittent_fault_fails_the_first_calls_only(count: int) -> None:
    sandbox = mounted(Fault(tool="library.lend_book", kind="intermittent", count=count, message="Try again."))
    for _ in range(count):
        call = sandbox.call("library.lend_book", LENDING)
        assert call.content == {"error": {"code": "tool_failure", "message": "Try again."}}
        assert [intent.kind for intent in call.intents] == ["record.create"]
    # Calls of other tools do not use up the failures.
    assert sandbox.call("library.get_member", {"member_id": "M-1"}).ok
    call = sandbox.call("library.lend_book", LENDING)
    assert (call.ok, call.injected, call.content) == (True, None, {"changed": "L-1001"})


@pytest.mark.parametrize(
    ("kind", "code", "message"),
    [
        ("always", "tool_failure", "Internal server error"),
        ("timeout", "timeout", "The service did not respond in time."),
    ],
)
def test_a_failing_tool_fails_every_time(kind: FaultKind, code: str, message: str) -> None:
    sandbox = mounted(Fault(tool="library.find_books", kind=kind))
    for _ in range(3):
        assert sandbox.call("library.find_books", {}).content == {"error": {"code": code, "message": message}}


def test_a_malformed_answer_is_a_success_that_cannot_be_read() -> None:
    sandbox = mounted(Fault(tool="library.find_books", kind="malformed"))
    call = sandbox.call("library.find_books", {})
    whole = compact(mounted().call("library.find_books", {}).content)
    assert call.ok
    assert list(call.content) == ["raw"]
    assert call.content["raw"] and whole.startswith(call.content["raw"]) and call.content["raw"] != whole


def test_a_stale_tool_answers_from_the_initial_state() -> None:
    sandbox = mounted(Fault(tool="library.list_loans", kind="stale"))
    assert sandbox.call("library.return_books", {"loan_ids": ["L-1"]}).ok
    assert [loan["returned"] for loan in sandbox.call("library.list_loans", {}).content["loans"]] == [False, False]
    assert sandbox.state()["library"]["loans"]["L-1"]["returned"] is True


# --- the registry ---------------------------------------------------------------------------------------------------------


def test_shipped_environments_are_found_and_digested() -> None:
    digests = {registry.digest(name) for name in SHIPPED}
    assert len(digests) == len(SHIPPED)
    assert all(registry.load(name).name == name for name in SHIPPED)
