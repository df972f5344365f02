"""Plausible calls from schemas and documents: valid, distinct, coherent, deterministic, exhaustive when asked to be."""

from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from abstain_assets.environments.calls import (
    candidate_arguments,
    corrupt_arguments,
    enumerate_calls,
    neighbours,
    value_pools,
)
from abstain_assets.environments.transcript import tool_specs
from environments.runtime import registry
from environments.runtime.records import JsonObject, ToolKind, ToolSpec

STATE = {
    "now": "2026-03-04T10:00:00",
    "counters": {"order": 7},
    "orders": {
        "W-1": {"order_id": "W-1", "customer_id": "C-1", "total_cents": 900, "placed_on": "2026-02-01", "labels": ["gift"]},
        "W-2": {"order_id": "W-2", "customer_id": "C-2", "total_cents": 1200, "placed_on": "2026-02-03", "labels": []},
    },
    "customers": {
        "C-1": {"customer_id": "C-1", "email": "ana@example.org", "home": {"street": "Ilica 3", "city": "Zagreb"}},
        "C-2": {"customer_id": "C-2", "email": "bo@example.org", "home": {"street": "Nygade 8", "city": "København"}},
    },
    "meetings": {
        "E-1": {"id": "E-1", "starts_at": "2026-03-09T14:30:00", "title": "Budget review", "attendees": ["ana@example.org"]}
    },
}


def spec(required: list[str], **properties: JsonObject) -> ToolSpec:
    schema = {"type": "object", "properties": properties, "required": required}
    return ToolSpec(
        name="shop.tool", wire_name="shop__tool", kind=ToolKind.LOOKUP, description="x", input_schema=schema, output_schema={}
    )


TEXT: JsonObject = {"type": "string", "description": ""}


def values(tool: ToolSpec, name: str, limit: int = 200) -> list[Any]:
    return list(dict.fromkeys(str(args[name]) for args in enumerate_calls(tool, value_pools([STATE]), limit) if name in args))


def test_ids_come_from_fields_of_the_same_name_only() -> None:
    assert values(spec(["order_id"], order_id=TEXT), "order_id") == ["W-1", "W-2"]


def test_an_id_that_the_record_calls_id_is_named_by_its_collection() -> None:
    assert values(spec(["meeting_id"], meeting_id=TEXT), "meeting_id") == ["E-1"]


def test_names_that_end_alike() -> None:
    assert values(spec(["recipient_email"], recipient_email=TEXT), "recipient_email")[:2] == ["ana@example.org", "bo@example.org"]


def test_a_field_that_the_description_names() -> None:
    tool = spec(["to"], to={"type": "string", "description": "E-mail address of whoever gets it."})
    assert values(tool, "to")[:2] == ["ana@example.org", "bo@example.org"]


def test_arguments_of_one_call_come_from_one_record_and_those_it_refers_to() -> None:
    tool = spec(["order_id", "email", "total_cents", "city"], order_id=TEXT, email=TEXT, total_cents={"type": "integer"}, city=TEXT)
    assert enumerate_calls(tool, value_pools([STATE]), 2) == [
        {"order_id": "W-1", "email": "ana@example.org", "total_cents": 900, "city": "Zagreb"},
        {"order_id": "W-2", "email": "bo@example.org", "total_cents": 1200, "city": "København"},
    ]


def test_objects_are_taken_whole() -> None:
    home = {"type": "object", "properties": {"street": TEXT, "city": TEXT}, "required": ["street", "city"]}
    calls = enumerate_calls(spec(["home"], home=home), value_pools([STATE]), 2)
    assert calls == [{"home": {"street": "Ilica 3", "city": "Zagreb"}}, {"home": {"street": "Nygade 8", "city": "København"}}]


def test_lists_are_made_of_single_values_and_of_lists_found() -> None:
    ids = {"type": "array", "items": {"type": "string"}}
    assert [args["order_ids"] for args in enumerate_calls(spec(["order_ids"], order_ids=ids), value_pools([STATE]), 3)] == [
        ["W-1"],
        ["W-2"],
        ["W-1", "W-2"],
    ]
    attendees = enumerate_calls(spec(["attendees"], attendees=ids), value_pools([STATE]), 1)
    assert attendees == [{"attendees": ["ana@example.org"]}]


@pytest.mark.parametrize(
    ("name", "description", "expected"),
    [
        ("placed_on", "", "2026-02-01"),
        ("deliver_by", "Day, YYYY-MM-DD.", "2026-03-04"),
        ("moment", "YYYY-MM-DDTHH:MM", "2026-03-09T14:30:00"),
        ("alarm", "HH:MM", "14:30"),
    ],
)
def test_dates_and_times(name: str, description: str, expected: str) -> None:
    tool = spec([name], **{name: {"type": "string", "description": description}})
    assert expected in values(tool, name)[:4]


def test_enums_booleans_and_what_may_be_left_out() -> None:
    tool = spec(["action"], action={"type": "string", "enum": ["draft", "send"]}, urgent={"type": "boolean"})
    calls = enumerate_calls(tool, value_pools([STATE]), 100)
    assert calls[0] == {"action": "draft"}
    assert len(calls) == 2 * 3
    assert {"action": "send", "urgent": False} in calls


def test_with_a_large_limit_every_combination_comes_up() -> None:
    tool = spec(
        ["order_id", "customer_id", "action"], order_id=TEXT, customer_id=TEXT, action={"type": "string", "enum": ["a", "b", "c"]}
    )
    calls = enumerate_calls(tool, value_pools([STATE]), 1000)
    assert len(calls) == 2 * 2 * 3
    assert len({tuple(args.items()) for args in calls}) == len(calls)


def test_a_tool_without_parameters_has_one_call() -> None:
    assert enumerate_calls(spec([]), value_pools([STATE]), 10) == [{}]


def test_neighbours_differ_in_one_argument() -> None:
    tool = spec(["order_id"], order_id=TEXT, placed_on={"type": "string", "description": "YYYY-MM-DD"})
    args = {"order_id": "W-1", "placed_on": "2026-02-01"}
    found = neighbours(tool, args, "placed_on", value_pools([STATE]), 20)
    assert {"order_id": "W-1"} in found
    assert {"order_id": "W-1", "placed_on": "2026-02-02"} in found
    assert all(other != args and other["order_id"] == "W-1" for other in found)
    assert len(neighbours(tool, args, "placed_on", value_pools([STATE]), 3)) == 3


def test_odd_values_do_no_harm() -> None:
    state = {"now": STATE["now"], "notes": {"N-1": {"note_id": "N-1", "text": "- -", "ends_on": "9999-12-31", "day": "2026-02-31"}}}
    pools = value_pools([state])
    search = spec(["query"], query=TEXT)
    assert {"query": "- -"} in enumerate_calls(search, pools, 20)
    ends = spec(["ends_on", "day"], ends_on=TEXT, day=TEXT)
    args = {"ends_on": "9999-12-31", "day": "2026-02-31"}
    assert all(other["ends_on"] != "9999-12-31" for other in neighbours(ends, args, "ends_on", pools, 20))
    assert neighbours(ends, args, "day", pools, 20)


SPECS = {
    full.name: (full, registry.load(name).example_state().dump())
    for name in registry.names()
    for full in tool_specs(registry.load(name)).values()
}


@pytest.mark.parametrize("name", SPECS)
def test_every_call_for_a_shipped_tool_fits_its_schema_and_comes_up_once(name: str) -> None:
    tool, state = SPECS[name]
    calls = enumerate_calls(tool, value_pools([state]), 150)
    validator = Draft202012Validator({**tool.input_schema, "additionalProperties": False})
    assert calls
    assert [error.message for args in calls for error in validator.iter_errors(args)] == []
    assert len({repr(sorted(args.items())) for args in calls}) == len(calls)
    assert enumerate_calls(tool, value_pools([state]), 150) == calls
    assert enumerate_calls(tool, value_pools([state]), 40) == calls[:40]


@settings(deadline=None)
@given(st.sampled_from(sorted(SPECS)), st.integers(0, 2**32))
def test_random_calls_fit_and_corrupt_ones_differ(name: str, seed: int) -> None:
    tool, state = SPECS[name]
    pools = value_pools([state])
    args = candidate_arguments(tool, pools, Random(seed))
    Draft202012Validator(tool.input_schema).validate(args)
    assert args == candidate_arguments(tool, value_pools([state]), Random(seed))
    broken = corrupt_arguments(tool, args, Random(seed))
    assert broken == corrupt_arguments(tool, args, Random(seed))
    assert args == candidate_arguments(tool, pools, Random(seed)), "the arguments given were changed"
