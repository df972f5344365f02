"""References, slots, deltas and contradictions: the pieces that pairs are made of."""

from datetime import date, datetime, time, timedelta
from itertools import product
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abstain_assets.pairs.atoms import holds, minimal_contradiction, satisfiable
from abstain_assets.pairs.deltas import DeltaError, apply
from abstain_assets.pairs.execute import DagError, graph, ordered, walk
from abstain_assets.pairs.refs import RefError, follow, resolve
from abstain_assets.pairs.slots import misread, say_date, say_datetime, say_money, say_number, say_time
from abstain_assets.records import Atom, Dag, DataDelta, Domain, InstructionDelta, Node, Op, Ref, Said, Slot, Task, ToolsDelta
from environments.runtime.records import Mount

RESULTS: dict[str, Any] = {
    "n": {
        "orders": [
            {"id": "A", "status": "open", "total": 30, "day": "2026-01-02"},
            {"id": "B", "status": "open", "total": 50, "day": "2026-02-02"},
            {"id": "C", "status": "sent", "total": 70, "day": "2026-02-02"},
        ],
        "one": [{"id": "X"}],
    }
}


@pytest.mark.parametrize(
    ("ref", "value"),
    [
        ("n.one[only].id", "X"),
        ("n.orders[status=sent].id", "C"),
        ("n.orders[min day].total", 30),
        ("n.orders[status=open][max total].id", "B"),
        ("n.orders[status=open][*].total", [30, 50]),
        ("n.orders[id={wanted}].total", 50),
        ("n.orders[id={n.one[only].id}][*].total", []),
    ],
)
def test_references_resolve_by_key(ref: str, value: object) -> None:
    assert follow(ref, {"wanted": Slot(value="B", text="B", kind="id")}, RESULTS) == value


@pytest.mark.parametrize(
    "ref", ["n.orders[only].id", "n.orders[max day].id", "n.orders[status=open].id", "n.orders[0].id", "n.gone", "m.x"]
)
def test_references_that_are_not_unique_or_missing_fail(ref: str) -> None:
    with pytest.raises(RefError):
        follow(ref, {}, RESULTS)


@given(st.permutations(RESULTS["n"]["orders"]))
def test_references_never_depend_on_the_order_of_a_list(orders: list[dict[str, object]]) -> None:
    assert follow("n.orders[status=open][max total].id", {}, {"n": {"orders": orders}}) == "B"


def test_arithmetic_over_earlier_values() -> None:
    total = Op(op="sum", args=(Ref(ref="n.orders[*].total"),))
    assert resolve(total, {}, RESULTS) == 150
    assert resolve(Op(op="sub", args=(total, Ref(ref="n.orders[status=sent].total"))), {}, RESULTS) == 80
    assert resolve(Op(op="count", args=(Ref(ref="n.orders[*].id"),)), {}, RESULTS) == 3


@given(st.integers(0, 10**6), st.dates(date(2020, 1, 1), date(2035, 12, 31)))
def test_dates_read_back(seed: int, day: date) -> None:
    assert misread(say_date(Random(seed), day)) is None


@given(st.integers(0, 10**6), st.integers(0, 10**9))
def test_money_reads_back_in_cents(seed: int, cents: int) -> None:
    assert misread(say_money(Random(seed), cents)) is None


@given(st.integers(0, 10**6), st.integers(0, 23), st.integers(0, 59))
def test_times_read_back(seed: int, hour: int, minute: int) -> None:
    assert misread(say_time(Random(seed), time(hour, minute))) is None


@given(st.integers(0, 10**6), st.integers(0, 500_000))
def test_datetimes_read_back(seed: int, minutes: int) -> None:
    assert misread(say_datetime(Random(seed), datetime(2026, 1, 1) + timedelta(minutes=minutes))) is None


@given(st.integers(0, 10**6), st.integers(0, 5000))
def test_numbers_read_back(seed: int, number: int) -> None:
    assert misread(say_number(Random(seed), number)) is None


@pytest.mark.parametrize(
    "slot",
    [
        Slot(value="2026-03-04", text="03/04/2026", kind="date"),
        Slot(value=1_790_250, text="$17,902", kind="money"),
        Slot(value="W-1", text="W-2", kind="id"),
        Slot(value="Zoë Lind", text="Zoe Lindt", kind="text"),
        Slot(value="store_credit", text="cash", kind="enum"),
    ],
)
def test_spans_that_say_something_else_are_found(slot: Slot) -> None:
    assert misread(slot) is not None


def test_possessives_and_accents_are_the_same_name() -> None:
    assert misread(Slot(value="Zoë O'Shea", text="Zoë O'Shea's", kind="text")) is None


# --- contradictions


def _atoms() -> st.SearchStrategy[list[Atom]]:
    operators = st.sampled_from(["<", "<=", "==", "!=", ">=", ">"])
    right = st.one_of(st.integers(0, 6), st.sampled_from(["@x", "@y", "@z"]))
    atom = st.builds(lambda var, op, rhs: Atom(var=var, op=op, rhs=rhs, text="t"), st.sampled_from("xyz"), operators, right)
    return st.lists(atom, min_size=1, max_size=4)


@given(_atoms())
def test_the_finite_check_agrees_with_a_wide_search(atoms: list[Atom]) -> None:
    domains = {name: Domain(kind="integer") for name in "xyz"}
    wide = range(-5, 12)
    found = any(holds(atoms, dict(zip("xyz", row, strict=True)), domains) for row in product(wide, repeat=3))
    assert satisfiable(atoms, domains) == found


@given(_atoms())
def test_a_contradiction_is_minimal(atoms: list[Atom]) -> None:
    domains = {name: Domain(kind="integer") for name in "xyz"}
    core = minimal_contradiction(atoms, domains)
    if core is None:
        assert satisfiable(atoms, domains)
        return
    assert not satisfiable(core, domains)
    assert all(satisfiable([atom for atom in core if atom is not left], domains) for left in core)


def test_dates_and_times_have_their_own_order() -> None:
    days = {"d": Domain(kind="date")}
    before = Atom(var="d", op="<", rhs="2026-03-01", text="before March")
    assert minimal_contradiction([before, Atom(var="d", op=">=", rhs="2026-02-28", text="")], days) is None
    assert minimal_contradiction([before, Atom(var="d", op=">", rhs="2026-02-28", text="")], days) is not None
    night = [Atom(var="t", op=">", rhs="23:59", text="after midnight")]
    assert minimal_contradiction(night, {"t": Domain(kind="time")}) is not None


# --- deltas and DAGs

TASK = Task(
    system_prompt="p",
    instruction="pay the bill and the other bill",
    mount=Mount(environments=("retail_orders",), hidden=("retail_orders.get_order",)),
    states={"retail_orders": {"orders": {"W-1": {"note": "a", "tags": ["x"]}}}},
)


@pytest.mark.parametrize(
    "delta",
    [
        InstructionDelta(find="bill", replace="x"),
        InstructionDelta(find="rent", replace="x"),
        InstructionDelta(find="pay", replace="pay"),
        DataDelta(path="/retail_orders/orders/W-2/note", value="b"),
        DataDelta(path="/retail_orders/orders/W-1/new", value="b"),
        DataDelta(path="/retail_orders/orders/W-1", value="b"),
        DataDelta(path="/retail_orders/orders/W-1/tags", value="b"),
        DataDelta(path="/retail_orders/orders/W-1/note", value="a"),
        ToolsDelta(hide="retail_orders.get_order"),
        ToolsDelta(hide="calendar.get_event"),
    ],
)
def test_deltas_that_do_not_fit_are_refused(delta: InstructionDelta | DataDelta | ToolsDelta) -> None:
    with pytest.raises(DeltaError):
        apply(delta, TASK)


def test_a_data_delta_touches_one_leaf_and_not_the_original() -> None:
    changed = apply(DataDelta(path="/retail_orders/orders/W-1/note", value="b"), TASK)
    assert changed.states["retail_orders"]["orders"]["W-1"] == {"note": "b", "tags": ["x"]}
    assert TASK.states["retail_orders"]["orders"]["W-1"]["note"] == "a"


def test_cycles_and_unknown_nodes_are_refused() -> None:
    cycle = Dag(nodes=(Node(id="a", tool="t.t", args={"x": Ref(ref="b.x")}), Node(id="b", tool="t.t", after=("a",))))
    with pytest.raises(DagError, match="cycle"):
        graph(cycle)
    with pytest.raises(DagError, match="unknown"):
        graph(Dag(nodes=(Node(id="a", tool="t.t", after=("z",)),)))


def test_nodes_run_after_what_they_need() -> None:
    dag = Dag(nodes=(Node(id="b", tool="t.t", args={"x": Ref(ref="a.x")}), Node(id="a", tool="t.t", args={"y": Said(said="s")})))
    assert [node.id for node in ordered(dag)] == ["a", "b"]
    steps = walk(dag, {"s": Slot(value=1, text="1", kind="number")})
    assert next(steps).args == {"y": 1}
    assert steps.send({"x": "found"}).args == {"x": "found"}
