"""Capabilities of the shipped tools, and routing: a cover is a cover, a small one, whatever the order, and nothing is dropped."""

from collections.abc import Mapping
from random import Random

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from abstain_assets.catalog.capabilities import Offers, asked_as, capabilities, offers
from abstain_assets.catalog.routing import MOST_ENVIRONMENTS, cover, publish_gate, report, route
from abstain_assets.records import CapabilityRow
from abstain_assets.seeds.objects import vocabulary
from abstain_assets.seeds.records import TOOL_KINDS, AugmentedSeed, CapabilityKind, Route, SeedCapability
from abstain_assets.taxonomy import ActionType, Scenario
from environments.runtime import registry

SHIPPED = frozenset(f"{name}.{tool}" for name in registry.names() for tool in registry.load(name).tools)


def can(kind: CapabilityKind, name: str) -> SeedCapability:
    return SeedCapability(kind=kind, object=name)


def augmented(act: tuple[SeedCapability, ...], abstain: tuple[SeedCapability, ...] = (), name: str = "test/a/1") -> AugmentedSeed:
    changing = any(item.changes for item in act)
    return AugmentedSeed(
        seed=name,
        scenario=Scenario.CRITICAL_TOOL_FAILURE,
        action_type=ActionType.OPERATIONAL if changing else ActionType.INFORMATIONAL,
        instruction="Do it.",
        act=act,
        abstain=tuple(item for item in abstain if item not in act),
        sketch="It fails.",
    )


_CAPABILITY = st.builds(can, st.sampled_from(["read", "write", "delete"]), st.sampled_from(["order", "file", "email", "song"]))
_OFFERS = st.dictionaries(st.sampled_from("abcdefg"), st.frozensets(_CAPABILITY, max_size=5), max_size=7)
_SEED = st.builds(
    lambda act, abstain: augmented(tuple(act), tuple(abstain)),
    st.lists(_CAPABILITY, min_size=1, max_size=6, unique=True),
    st.lists(_CAPABILITY, max_size=2, unique=True),
)


def union(offered: Offers, names: tuple[str, ...]) -> frozenset[SeedCapability]:
    return frozenset[SeedCapability]().union(*(offered[name] for name in names))


# --- the shipped catalog --------------------------------------------------------------------------------------------------


def test_every_shipped_tool_acts_on_something() -> None:
    rows = capabilities()
    assert {row.tool for row in rows} == SHIPPED
    known = set(vocabulary().objects)
    for row in rows:
        assert row.objects, row.tool
        assert set(row.objects) <= known, row.tool
        assert TOOL_KINDS[row.kind] is row.tool_kind, row.tool


@pytest.mark.parametrize(
    ("tool", "expected"),
    [
        ("retail_orders.cancel_order", {can("delete", "order")}),
        ("retail_orders.return_items", {can("write", "return"), can("write", "order")}),
        ("retail_orders.find_customer", {can("read", "customer"), can("search", "customer")}),
        ("filesystem.purge_folder", {can("delete", "file")}),
        ("gmail_and_email_records.compose", {can("write", "email"), can("write", "email draft")}),
        ("flight_and_travel_management.change_flight", {can("write", "booking")}),
        ("flight_and_travel_management.message_traveller", {can("write", "traveller message")}),
        ("consumer_banking.transfer_money", {can("write", "bank transfer")}),
        ("calendar.verify_availability", {can("verify", "availability")}),
    ],
)
def test_what_tools_can_do(tool: str, expected: set[SeedCapability]) -> None:
    row = next(row for row in capabilities() if row.tool == tool)
    assert set(asked_as(row)) == expected


def test_the_shipped_catalog_has_nothing_odd() -> None:
    found = report(capabilities(), ())
    assert (found.redundant, found.single, dict(found.mismatched)) == ((), (), {})
    assert found.idle == registry.names(), "nothing was routed"


# --- covers ---------------------------------------------------------------------------------------------------------------


@given(_OFFERS, _SEED, st.randoms(use_true_random=False))
def test_a_cover_covers_is_minimal_and_does_not_depend_on_the_order(offered: Offers, seed: AugmentedSeed, rng: Random) -> None:
    needed = frozenset(seed.act)
    assume(needed <= union(offered, tuple(offered)))
    found = cover(needed, offered, frozenset(seed.abstain))
    assert needed <= union(offered, found)
    for name in found:
        assert not needed <= union(offered, tuple(other for other in found if other != name)), f"{name} could be left out"
    names = list(offered)
    rng.shuffle(names)
    act = list(seed.act)
    rng.shuffle(act)
    shuffled = seed.model_copy(update={"act": tuple(act)})
    assert route(shuffled, {name: offered[name] for name in names}).environments == route(seed, offered).environments


@given(_OFFERS, _SEED)
def test_unassigned_is_exactly_what_no_environment_has(offered: Offers, seed: AugmentedSeed) -> None:
    found = route(seed, offered)
    assert found.unassigned == tuple(item for item in seed.act if not any(item in has for has in offered.values()))
    if found.unassigned:
        assert not found.environments
    elif found.too_many is None:
        assert 1 <= len(found.environments) <= MOST_ENVIRONMENTS
        there = union(offered, found.environments)
        assert found.missing == tuple(item for item in seed.abstain if item not in there)
    else:
        assert found.too_many > MOST_ENVIRONMENTS
        assert not found.environments


def test_a_cover_of_what_nobody_has_is_an_error() -> None:
    with pytest.raises(ValueError, match="no environment has read song"):
        cover({can("read", "song")}, {"a": frozenset({can("read", "file")})})


def test_the_greedy_choice_is_taken_back_when_others_make_it_superfluous() -> None:
    one, two, three, four = (can("read", name) for name in ("order", "file", "email", "song"))
    offered = {
        "broad": frozenset({one, two, three}),
        "left": frozenset({one, two, can("read", "book")}),
        "right": frozenset({three, four}),
    }
    needed = {one, two, three, four, can("read", "book")}
    assert cover(needed, offered) == ("left", "right")


def test_the_abstain_side_decides_between_equals_and_then_the_name() -> None:
    needed, wished = can("read", "order"), can("delete", "order")
    offered = {"a": frozenset({needed}), "b": frozenset({needed, wished})}
    assert route(augmented((needed,), (wished,)), offered) == Route(seed="test/a/1", environments=("b",))
    assert route(augmented((needed,)), offered).environments == ("a",)
    offered = {"a": frozenset({needed}), "b": frozenset({needed})}
    assert route(augmented((needed,), (wished,)), offered) == Route(seed="test/a/1", environments=("a",), missing=(wished,))


def test_more_than_a_pair_may_mount_is_reported() -> None:
    needed = tuple(can("read", name) for name in ("order", "file", "email", "song", "book"))
    offered = {item.object: frozenset({item}) for item in needed}
    assert route(augmented(needed), offered) == Route(seed="test/a/1", too_many=5)
    assert len(route(augmented(needed[:4]), offered).environments) == 4


# --- the publish gate -----------------------------------------------------------------------------------------------------


def published(offered: Mapping[str, frozenset[SeedCapability]]) -> list[CapabilityRow]:
    """Rows that offer exactly this, with one tool per capability."""
    return [
        CapabilityRow(
            environment=name,
            tool=f"{name}.tool_{index}",
            kind=item.kind,
            objects=(item.object,),
            tool_kind=TOOL_KINDS[item.kind],
            effects=(),
            description="A tool.",
        )
        for name, has in sorted(offered.items())
        for index, item in enumerate(sorted(has, key=str))
    ]


@given(_OFFERS, st.lists(_SEED, max_size=4))
def test_the_gate_lets_every_route_pass_that_was_found(offered: Offers, seeds: list[AugmentedSeed]) -> None:
    seeds = [seed.model_copy(update={"seed": f"test/a/{index}"}) for index, seed in enumerate(seeds)]
    rows = published(offered)
    found = [route(seed, offers(rows)) for seed in seeds]
    assert publish_gate(seeds, found, rows, {row.tool for row in rows}) == ()


READ, WRITE = can("read", "order"), can("write", "order")
ROWS = published({"a": frozenset({READ}), "b": frozenset({READ, WRITE}), "c": frozenset({can("read", "file")})})
SEED = augmented((READ, WRITE))


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        (Route(seed=SEED.seed, environments=("a",)), "asks for write order, which no environment of its route has"),
        (Route(seed=SEED.seed, environments=("b", "c")), "goes to c without need"),
        (Route(seed=SEED.seed, environments=("b", "zoo")), "goes to zoo, which is not shipped"),
        (Route(seed=SEED.seed), "goes nowhere and does not say why"),
        (Route(seed=SEED.seed, unassigned=(WRITE,)), "goes nowhere and does not say why"),
        (Route(seed="test/a/2", environments=("b",)), "is routed but is no feasible seed"),
    ],
)
def test_the_gate_stops_a_wrong_route(wrong: Route, reason: str) -> None:
    findings = publish_gate([SEED], [wrong], ROWS, {row.tool for row in ROWS})
    assert reason in [item.reason for item in findings]


def test_the_gate_stops_lost_seeds_and_wrong_tools() -> None:
    tools = {row.tool for row in ROWS}
    good = Route(seed=SEED.seed, environments=("b",))
    assert publish_gate([SEED], [good], ROWS, tools) == ()
    infeasible = AugmentedSeed(
        seed="test/a/3",
        scenario=Scenario.CRITICAL_TOOL_FAILURE,
        action_type=ActionType.INFORMATIONAL,
        instruction="",
        problem="asks_for_nothing",
    )
    assert publish_gate([SEED, infeasible], [good], ROWS, tools) == (), "an infeasible seed needs no route"
    assert [item.reason for item in publish_gate([SEED], [], ROWS, tools)] == ["has 0 routes"]
    assert [item.reason for item in publish_gate([SEED], [good, good], ROWS, tools)] == ["has 2 routes"]
    nothing = ROWS[2].model_copy(update={"objects": ()})
    assert [item.reason for item in publish_gate([], [], [*ROWS[:2], nothing, *ROWS[3:]], tools)] == [
        "acts on nothing in the vocabulary"
    ]
    strange = ROWS[0].model_copy(update={"tool": "a.other"})
    reasons = [item.reason for item in publish_gate([], [], [strange, *ROWS[1:]], tools)]
    assert reasons == ["is no shipped tool", "has no capability"]
    mixed = ROWS[0].model_copy(update={"kind": "write"})
    assert "is a lookup, which is not what a write takes" in [
        item.reason for item in publish_gate([], [], [mixed, *ROWS[1:]], tools)
    ]


def test_odd_environments_are_reported() -> None:
    four = [can(kind, "email") for kind in ("read", "write", "delete", "verify")]
    rows = published({"mail": frozenset(four), "shop": frozenset({READ, can("write", "email")}), "tiny": frozenset({READ})})
    found = report(rows, [Route(seed="x", environments=("mail",))])
    assert found.redundant == ("shop", "tiny")
    assert found.single == ("tiny",)
    assert found.mismatched == {"shop": ("email",)}
    assert found.idle == ("shop", "tiny")
