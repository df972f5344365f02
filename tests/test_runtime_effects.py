"""Effects: which records a call changed, and which it was about to change."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from environments.runtime import (
    EffectDecl,
    EnvironmentBug,
)
from environments.runtime.effects import Change, effects, escape, intents, matches_pointer, unescape
from environments.runtime.records import JsonObject

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
