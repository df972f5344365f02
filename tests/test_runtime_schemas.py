"""What an agent reads of a tool: its schema and its description."""

import json
from collections.abc import Iterator
from datetime import date, datetime
from enum import StrEnum
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pydantic import BaseModel, create_model

from environments.runtime import (
    EnvironmentBug,
    Result,
    registry,
)
from environments.runtime.records import JsonObject
from environments.runtime.schemas import portable, read_signature

pytestmark = pytest.mark.usefixtures("library")

NAME = st.from_regex(r"[a-z][a-z0-9_]{0,40}", fullmatch=True)


class Answer(Result):
    n: int = 0


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


class Inner(BaseModel):
    a: int
    b: str | None = None


ITEMS: Any = st.sampled_from([str, int, bool, float, date, datetime, Literal["x", "y"], Colour, Inner, Literal[1]])
LISTS: Any = st.recursive(ITEMS, lambda inner: inner.flatmap(lambda t: st.sampled_from([list[t], tuple[t, ...]])), max_leaves=3)  # type: ignore[valid-type]
FIELDS: Any = LISTS.flatmap(lambda t: st.sampled_from([t, t | None]))


def _keys(schema: JsonObject) -> Iterator[str]:
    yield from schema.keys() - {"properties"}
    for child in (*schema.get("properties", {}).values(), *([schema["items"]] if "items" in schema else ())):
        yield from _keys(child)


@settings(deadline=None)
@given(st.dictionaries(NAME.filter(lambda name: not name.startswith("model_")), FIELDS, max_size=4), st.data())
def test_schemas_are_portable_and_true(fields: dict[str, Any], data: st.DataObject) -> None:
    definitions: Any = {name: (kind, ...) for name, kind in fields.items()}
    model = create_model("Made", **definitions)
    schema = portable(model.model_json_schema(mode="serialization"), "made")
    assert set(_keys(schema)) <= {"type", "properties", "required", "items", "enum", "description"}
    value = data.draw(st.builds(model))
    dumped = value.model_dump(mode="json", exclude_none=True)
    # JSON has no NaN; environments hold no such numbers.
    if "NaN" not in json.dumps(dumped) and "Infinity" not in json.dumps(dumped):
        Draft202012Validator(schema).validate(dumped)


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (int | str, "is a union of types"),
        (tuple[int, str], "is a fixed-length tuple"),
        (dict[str, int], "is a free-form object"),
        (Any, "has no type"),
        (list[int | None], "may hold None"),
    ],
)
def test_types_that_not_every_provider_accepts_are_refused(kind: Any, message: str) -> None:
    with pytest.raises(EnvironmentBug, match=message):
        portable(create_model("Made", field=(kind, ...)).model_json_schema(), "made")


def test_what_an_agent_reads_of_a_tool() -> None:
    tool = registry.load("library").tools["lend_book"]
    assert tool.signature.description == "Lend a book to a member.\nReturns: Id of the loan."
    assert tool.signature.input_schema == {
        "type": "object",
        "properties": {
            "book_id": {"type": "string", "description": "book id."},
            "member_id": {"type": "string", "description": "member id."},
            "due_on": {"type": "string", "description": "day on which it is due, YYYY-MM-DD."},
        },
        "required": ["book_id", "member_id", "due_on"],
    }
    assert registry.load("library").tools["find_books"].signature.input_schema["required"] == []
    assert ">>>" not in tool.signature.description and ">>>" in tool.signature.examples


def undocumented(self: Any) -> Answer:
    return Answer()


def unhinted(self: Any, box_id) -> Answer:  # type: ignore[no-untyped-def]
    """Do it.

    Args:
        box_id: box id.
    """
    return Answer()


def unsaid(self: Any, box_id: str) -> Answer:
    """Do it."""
    return Answer()


def oversaid(self: Any) -> Answer:
    """Do it.

    Args:
        box_id: box id.
    """
    return Answer()


def bare(self: Any) -> list[str]:
    """Do it."""
    return []


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (undocumented, "needs a docstring"),
        (unhinted, "parameter box_id needs a type hint"),
        (unsaid, "parameter box_id needs a line under Args"),
        (oversaid, r"describes unknown parameters \['box_id'\]"),
        (bare, "must return a Result"),
    ],
)
def test_a_tool_says_everything_about_itself(function: Any, message: str) -> None:
    with pytest.raises(EnvironmentBug, match=message):
        read_signature(function)
