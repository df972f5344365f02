"""What holds for every call and every environment: transactions, and the contract with those who break it."""

import json
from collections.abc import Iterator
from typing import Any

import jsonpatch
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from environments.runtime import (
    EffectDecl,
    Environment,
    EnvironmentBug,
    Record,
    Result,
    State,
    commit,
    lookup,
    registry,
)
from environments.runtime.effects import escape, matches_pointer
from environments.runtime.records import Call, JsonObject, ToolKind
from environments.runtime.transaction import execute
from tests.call_sequences import sequences
from tests.toy import LENDING, fresh, mounted, world

pytestmark = pytest.mark.usefixtures("library")

SHIPPED = registry.names()


def text(value: Any) -> str:
    return json.dumps(value)


# --- transactions ---------------------------------------------------------------------------------------------------------


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
