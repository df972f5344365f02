"""The runtime core: contract, schemas, effects, transactions, wire names, mounts and faults."""

import json
from collections.abc import Iterator
from datetime import date, datetime
from enum import StrEnum
from random import Random
from typing import Any, Literal

import jsonpatch
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pydantic import BaseModel, ValidationError, create_model

from abstain_assets.environments.calls import corrupt_arguments, enumerate_calls, value_pools
from environments.runtime import (
    EffectDecl,
    Environment,
    EnvironmentBug,
    MountError,
    Record,
    Result,
    State,
    commit,
    lookup,
    registry,
)
from environments.runtime.effects import Change, effects, escape, intents, matches_pointer, unescape
from environments.runtime.records import Call, Fault, FaultKind, JsonObject, Mount, ToolKind
from environments.runtime.sandbox import Sandbox, compact
from environments.runtime.schemas import portable, read_signature
from environments.runtime.transaction import execute
from environments.runtime.wire import MAX_LENGTH, wire_name, wire_names
from tests.toy import install

SHIPPED = registry.names()
NAME = st.from_regex(r"[a-z][a-z0-9_]{0,40}", fullmatch=True)


@pytest.fixture(scope="module", autouse=True)
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Two mountable copies of the library: `library` and `annexe`."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        install(monkeypatch, tmp_path_factory.mktemp("toys"))
        install(monkeypatch, tmp_path_factory.mktemp("toys"), name="annexe")
        yield


def world(name: str = "library") -> JsonObject:
    return registry.load(name).example_state().dump()


def fresh(name: str = "library") -> Environment[Any]:
    return registry.load(name).load(world(name))


def mounted(*faults: Fault, hidden: tuple[str, ...] = (), names: tuple[str, ...] = ("library",)) -> Sandbox:
    return Sandbox(Mount(environments=names, hidden=hidden, faults=faults), {name: world(name) for name in names})


def text(value: Any) -> str:
    return json.dumps(value)


# --- transactions ---------------------------------------------------------------------------------------------------------

LENDING = {"book_id": "B-3", "member_id": "M-1", "due_on": "2026-04-01"}


@st.composite
def sequences(draw: st.DrawFn, sandbox: Sandbox) -> list[tuple[str, JsonObject]]:
    """Calls of any tools of a sandbox, plausible or with a mistake."""
    pools = value_pools(sandbox.state().values())
    calls = []
    for spec in draw(st.lists(st.sampled_from(sandbox.tools), min_size=1, max_size=12)):
        args = draw(st.sampled_from(enumerate_calls(spec, pools, 60)))
        if draw(st.integers(0, 3)) == 0:
            args = corrupt_arguments(spec, args, Random(draw(st.integers(0, 1000))))
        calls.append((spec.name, args))
    return calls


@pytest.mark.parametrize("names", [("library",), ("library", "annexe"), *((name,) for name in SHIPPED)], ids="+".join)
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_a_call_happens_whole_or_not_at_all(names: tuple[str, ...], data: st.DataObject) -> None:
    sandbox = mounted(names=names)
    for name, args in data.draw(sequences(sandbox)):
        before = sandbox.state()
        call = sandbox.call(name, args)
        after = sandbox.state()
        patched = jsonpatch.apply_patch(before, [op.model_dump() for op in call.patch])
        assert patched == after
        assert {op.op for op in call.patch} <= {"add", "remove", "replace"}
        if not call.ok or call.kind is not ToolKind.COMMIT:
            assert text(before) == text(after)
            assert call.patch == ()
        if not call.ok:
            assert call.effects == ()
            assert call.error is not None and call.result is None
        _check_effects(call, before, after)
        assert {name: registry.load(name).load(state).state.dump() for name, state in after.items()} == after


def _check_effects(call: Call, before: JsonObject, after: JsonObject) -> None:
    """The effects of a call are what a comparison of the two worlds shows, and its own acts are among its intents."""
    if call.kind is not ToolKind.COMMIT:
        assert all(effect.fields == () for effect in call.effects)
        return
    changed = {f"/{env}{pointer}" for env in before for pointer in _changed(before[env], after[env])}
    assert {effect.record for effect in call.effects} == changed
    for effect in call.effects:
        assert effect.before != effect.after
        if not effect.implied:
            assert any(intent.kind == effect.kind and matches_pointer(effect.record, intent.record) for intent in call.intents)


def _changed(before: JsonObject, after: JsonObject) -> Iterator[str]:
    for name in before.keys() - {"now", "counters"}:
        old, new = before[name], after[name]
        if old != new and all(isinstance(item, dict) for item in (*old.values(), *new.values())):
            yield from (f"/{name}/{escape(key)}" for key in old.keys() | new.keys() if old.get(key) != new.get(key))
        elif old != new:
            yield f"/{name}"


def test_a_refusal_after_writes_leaves_nothing_behind() -> None:
    env = fresh()
    # lend_book takes an id, stores the loan and touches the member before it looks at the date.
    outcome = execute(env, env.tools["lend_book"], {**LENDING, "due_on": "2026-03-04"})
    assert outcome.error is not None and outcome.error.code == "invalid_arguments"
    assert text(env.state.dump()) == text(world())
    assert [intent.record for intent in outcome.intents] == ["/library/loans/*"]
    assert execute(env, env.tools["lend_book"], LENDING).result == {"changed": "L-1001"}


def test_the_patch_has_the_counter_and_only_changed_fields() -> None:
    env = fresh()
    outcome = execute(env, env.tools["lend_book"], LENDING)
    assert [(op.op, op.path) for op in outcome.patch] == [
        ("replace", "/library/members/M-1/last_visit"),
        ("add", "/library/loans/L-1001"),
        ("add", "/library/counters/loan"),
    ]
    again = execute(env, env.tools["write_notice"], {"member_id": "M-1", "text": "Hello."})
    assert again.patch[-1].path == "/library/counters/notice"


def test_effects_carry_the_record_before_and_after() -> None:
    env = fresh()
    implied, created = execute(env, env.tools["lend_book"], LENDING).effects
    assert (created.kind, created.record, created.before, created.implied) == (
        "record.create",
        "/library/loans/L-1001",
        None,
        False,
    )
    assert created.after == {"loan_id": "L-1001", "returned": False, **LENDING}
    assert (implied.record, implied.fields, implied.implied) == ("/library/members/M-1", ("last_visit",), True)
    (moved,) = execute(env, env.tools["move_book"], {"book_id": "B-3", "shelf": "K1"}).effects
    assert moved.before is not None and moved.after is not None
    assert (moved.fields, moved.before["shelf"], moved.after["shelf"]) == (("shelf",), "S4", "K1")
    execute(env, env.tools["return_books"], {"loan_ids": ["L-1001"]})
    assert execute(env, env.tools["remove_book"], {"book_id": "B-3"}).error is not None


def test_a_list_argument_fans_out() -> None:
    env = fresh()
    outcome = execute(env, env.tools["return_books"], {"loan_ids": ["L-1", "L-2"]})
    assert [effect.record for effect in outcome.effects] == ["/library/loans/L-1", "/library/loans/L-2"]
    refused = execute(env, env.tools["return_books"], {"loan_ids": ["L-1", "L-7"]})
    assert [intent.record for intent in refused.intents] == ["/library/loans/L-1", "/library/loans/L-7"]


@pytest.mark.parametrize(("action", "kind"), [(None, "message.draft"), ("draft", "message.draft"), ("send", "message.send")])
def test_the_effect_depends_on_the_argument(action: str | None, kind: str) -> None:
    env = fresh()
    args = {"member_id": "M-1", "text": "Hello.", **({"action": action} if action else {})}
    outcome = execute(env, env.tools["write_notice"], args)
    assert [effect.kind for effect in outcome.effects] == [intent.kind for intent in outcome.intents] == [kind]


def test_a_disclosure_is_an_effect_without_a_change() -> None:
    env = fresh()
    outcome = execute(env, env.tools["export_notices"], {"member_id": "M-1"})
    (effect,) = outcome.effects
    assert (effect.kind, effect.record, effect.fields) == ("record.disclose", "/library/members/M-1", ())
    assert effect.before == effect.after == world()["members"]["M-1"]
    refused = execute(env, env.tools["export_notices"], {"member_id": "M-9"})
    assert refused.effects == () and len(refused.intents) == 1


@pytest.mark.parametrize("key", ["a/b", "a~1", "a[1]", "*", "a?", "{x}", "ä ö", ""])
def test_any_key_is_patched_and_matched_literally(key: str) -> None:
    state = world()
    state["books"][key] = {**state["books"]["B-3"], "book_id": key}
    env = registry.load("library").load(state)
    outcome = execute(env, env.tools["move_book"], {"book_id": key, "shelf": "S5"})
    patched = jsonpatch.apply_patch({"library": state}, [op.model_dump() for op in outcome.patch])
    assert patched == {"library": env.state.dump()}
    assert [effect.record for effect in outcome.effects] == [f"/library/books/{escape(key)}"]


def test_none_is_left_out_of_results() -> None:
    env = fresh()
    assert execute(env, env.tools["move_book"], {"book_id": "B-3", "shelf": "S5"}).result == {"changed": "B-3"}


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ({}, "book_id: Field required"),
        ({**LENDING, "extra": 1}, "extra: Extra inputs"),
        ({**LENDING, "due_on": "soon"}, "due_on: Input should be a valid date"),
        ({**LENDING, "book_id": None}, "book_id: Input should be a valid string"),
    ],
)
def test_arguments_of_the_wrong_form_are_refused(args: JsonObject, message: str) -> None:
    env = fresh()
    outcome = execute(env, env.tools["lend_book"], args)
    assert outcome.error is not None and outcome.error.code == "invalid_arguments"
    assert message in outcome.error.message
    assert outcome.intents == ()


# --- environments that break the contract ---------------------------------------------------------------------------------


class Box(Record):
    box_id: str
    size: int = 0


class BoxState(State):
    boxes: dict[str, Box]


class Answer(Result):
    n: int = 0


class Breaking(Environment[BoxState]):
    """Every tool breaks the contract in its own way."""

    name = "breaking"
    summary = "Breaks everything."
    state_type = BoxState

    @lookup()
    def impure(self) -> Answer:
        """Writes."""
        self.state.boxes["b"] = Box(box_id="b")
        return Answer()

    @lookup()
    def counting(self) -> Answer:
        """Counts."""
        self.next_id("box", "b")
        return Answer()

    @lookup()
    def hurrying(self) -> Answer:
        """Moves the clock."""
        self.state.now = self.state.now.replace(year=2030)
        return Answer()

    @commit(EffectDecl("record.update", "/boxes/{box_id}", writes=("size",)))
    def undeclared(self, box_id: str) -> Answer:
        """Creates what it may only update.

        Args:
            box_id: box id.
        """
        self.state.boxes[box_id] = Box(box_id=box_id)
        return Answer()

    @commit(EffectDecl("record.update", "/boxes/{box_id}", writes=("size",)))
    def elsewhere(self, box_id: str) -> Answer:
        """Changes another record than it was asked to.

        Args:
            box_id: box id.
        """
        self.state.boxes["a"] = Box(box_id="a", size=9)
        return Answer()

    @commit(EffectDecl("record.update", "/boxes/*"))
    def crashing(self) -> Answer:
        """Writes, then raises."""
        self.state.boxes["a"] = Box(box_id="a", size=3)
        raise KeyError("a")

    @commit(EffectDecl("record.update", "/boxes/*"))
    def mistyping(self) -> Answer:
        """Writes a value of the wrong type."""
        self.state.boxes["a"] = self.state.boxes["a"].model_copy(update={"size": "big"})
        return Answer()

    @lookup()
    def misreturning(self) -> Answer:
        """Returns another type."""
        return Other()  # type: ignore[return-value]

    @lookup()
    def malformed(self) -> Answer:
        """Returns a result that does not fit its schema."""
        return Answer.model_construct(n="three")  # type: ignore[arg-type]


class Other(Result):
    pass


BROKEN = {
    "impure": "lookup tool but changed the state",
    "counting": "lookup tool but changed the state",
    "hurrying": "lookup tool but changed the state",
    "undeclared": r"changed /boxes/z \(box_id, size\) without declaring it",
    "elsewhere": r"changed /boxes/a \(size\) without declaring it",
    "crashing": "raised KeyError",
    "mistyping": "PydanticSerializationError",
    "misreturning": "returned Other, not Answer",
    "malformed": "PydanticSerializationError",
}


@pytest.mark.parametrize(("name", "message"), BROKEN.items())
def test_a_broken_contract_is_loud_and_undone(name: str, message: str) -> None:
    env = Breaking.load({"now": "2026-01-01T00:00:00", "boxes": {"a": {"box_id": "a"}}})
    before = text(env.state.dump())
    args = {"box_id": "z"} if env.tools[name].signature.parameters else {}
    with pytest.raises(EnvironmentBug, match=message):
        execute(env, env.tools[name], args)
    assert text(env.state.dump()) == before


# --- the contract ---------------------------------------------------------------------------------------------------------


def test_tools_are_found_with_their_kinds() -> None:
    kinds = {name: tool.kind for name, tool in registry.load("library").tools.items()}
    assert kinds["find_books"] is ToolKind.LOOKUP
    assert kinds["verify_loan"] is ToolKind.VERIFY
    assert kinds["lend_book"] is ToolKind.COMMIT
    assert "member" not in kinds


def test_a_state_is_typed_and_closed() -> None:
    with pytest.raises(ValidationError, match=r"books\.B-1\.pages"):
        registry.load("library").load({**world(), "books": {"B-1": {**world()["books"]["B-1"], "pages": 3}}})
    with pytest.raises(ValidationError, match="shelves"):
        registry.load("library").load({**world(), "shelves": {}})
    with pytest.raises(ValidationError, match="frozen"):
        fresh().state.books["B-1"].title = "Other"


@settings(deadline=None)
@given(st.lists(st.sampled_from(["loan", "notice"]), max_size=8))
def test_ids_come_from_counters_in_the_state(kinds: list[str]) -> None:
    env = fresh()
    ids = [env.next_id(kind, f"{kind}-") for kind in kinds]
    assert len(set(ids)) == len(ids)
    assert env.state.counters == {kind: 1000 + kinds.count(kind) for kind in set(kinds)}
    assert registry.load("library").load(env.state.dump()).next_id("loan", "loan-") == f"loan-{1001 + kinds.count('loan')}"


def _define(**members: Any) -> type[Environment[Any]]:
    return type("Made", (Environment,), {"name": "made", "summary": "s", "state_type": BoxState, **members})


def _documented(self: Any, box_id: str) -> Answer:
    """Do it.

    Args:
        box_id: box id.
    """
    return Answer()


@pytest.mark.parametrize(
    ("decorator", "message"),
    [
        (lambda: commit(), "commit tool without declared effects"),
        (lambda: commit(EffectDecl("record.update", "/boxes/{crate_id}")), r"unknown arguments \['crate_id'\]"),
        (lambda: commit(EffectDecl("record.update", "/boxes/*", when={"action": "x"})), r"unknown arguments \['action'\]"),
        (lambda: commit(EffectDecl("record.bake", "/boxes/*")), "not in the vocabulary"),
    ],
)
def test_a_wrong_declaration_is_refused_at_definition(decorator: Any, message: str) -> None:
    with pytest.raises(EnvironmentBug, match=message):
        _define(act=decorator()(_documented))


def test_an_environment_without_an_example_state_says_so() -> None:
    with pytest.raises(EnvironmentBug, match=r"Made must define example_state\(\)"):
        _define(act=lookup()(_documented)).example_state()


# --- schemas --------------------------------------------------------------------------------------------------------------


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


# --- effects --------------------------------------------------------------------------------------------------------------

SEGMENT = st.text(min_size=1, max_size=6)


@settings(deadline=None)
@given(SEGMENT)
def test_pointer_segments_survive_escaping(part: str) -> None:
    assert "/" not in escape(part)
    assert unescape(escape(part)) == part


@settings(deadline=None)
@given(SEGMENT, SEGMENT)
def test_an_argument_matches_itself_and_nothing_else(given_id: str, other: str) -> None:
    decl = EffectDecl("record.update", "/boxes/{box_id}", writes=("size",))
    change = Change(f"/boxes/{escape(other)}", {"size": 1}, {"size": 2})
    if given_id == other:
        (effect,) = effects("made", "act", [decl], {"box_id": given_id}, [change])
        assert effect.record == f"/made/boxes/{escape(other)}"
    else:
        with pytest.raises(EnvironmentBug, match="without declaring it"):
            effects("made", "act", [decl], {"box_id": given_id}, [change])


@pytest.mark.parametrize(
    ("pointer", "pattern", "expected"),
    [
        ("/boxes/a", "/boxes/*", True),
        ("/boxes/a", "/boxes/a", True),
        ("/boxes/a:b", "/boxes/a:*", True),
        ("/boxes/a", "/boxes/b", False),
        ("/boxes/a/size", "/boxes/*", False),
        ("/boxes", "/boxes/*", False),
        ("/boxes/A", "/boxes/a", False),
    ],
)
def test_a_star_is_one_segment(pointer: str, pattern: str, expected: bool) -> None:
    assert matches_pointer(pointer, pattern) is expected


def test_effects_of_one_record_by_several_declarations() -> None:
    size = EffectDecl("record.update", "/boxes/*", writes=("size",))
    colour = EffectDecl("account.update", "/boxes/{box_id}", writes=("colour",), implied=True)
    change = Change("/boxes/a", {"size": 1, "colour": "red"}, {"size": 2, "colour": "blue"})
    found = effects("made", "act", [size, colour], {"box_id": "a"}, [change])
    assert [(effect.kind, effect.fields, effect.implied) for effect in found] == [
        ("record.update", ("size",), False),
        ("account.update", ("colour",), True),
    ]
    with pytest.raises(EnvironmentBug, match=r"\(colour\)"):
        effects("made", "act", [size], {"box_id": "a"}, [change])


@pytest.mark.parametrize(("before", "after"), [(None, {"size": 1}), ({"size": 1}, None)])
def test_creating_and_deleting_need_the_whole_record(before: JsonObject | None, after: JsonObject | None) -> None:
    change = Change("/boxes/a", before, after)
    with pytest.raises(EnvironmentBug):
        effects("made", "act", [EffectDecl("record.update", "/boxes/*", writes=("size",))], {}, [change])
    assert len(effects("made", "act", [EffectDecl("record.create", "/boxes/*")], {}, [change])) == 1


def test_intents_leave_out_what_is_implied_or_does_not_apply_or_has_no_target() -> None:
    decls = [
        EffectDecl("record.update", "/boxes/{box_ids}"),
        EffectDecl("record.create", "/boxes/*", implied=True),
        EffectDecl("record.delete", "/boxes/{box_ids}", when={"action": "delete"}),
    ]
    found = intents("made", decls, {"box_ids": ["a", "b"], "action": "keep"})
    assert [(intent.kind, intent.record) for intent in found] == [
        ("record.update", "/made/boxes/a"),
        ("record.update", "/made/boxes/b"),
    ]
    assert intents("made", decls, {"box_ids": None}) == ()


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
        before = text(faulty.state())
        call = faulty.call(name, args)
        if name == tool:
            assert call.injected == kind
            assert text(faulty.state()) == before
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
