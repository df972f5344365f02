"""Records survive the way into the lake and back, and every environment and capability has its row."""

from pathlib import Path

import pytest

from abstain_assets.catalog.capabilities import capabilities
from abstain_assets.pairs.build import build_scenario
from abstain_assets.records import Message, Pair, Rollout, ToolRequest, Usage
from abstain_assets.rows import (
    call_rows,
    capability_rows,
    environment_row,
    frame,
    pair_rows,
    pairs_from,
    rollout_rows,
    rollouts_from,
    tool_rows,
    verdict_rows,
    verdicts_from,
)
from abstain_assets.taxonomy import Scenario, Side
from abstain_assets.verdicts.judges import named
from abstain_assets.verdicts.judging import judge_rollouts
from environments.runtime import registry
from environments.runtime.records import Call, CallError, Effect, Intent, PatchOp, ToolKind
from resources.lake import Lake


@pytest.fixture(scope="module")
def pairs() -> tuple[Pair, ...]:
    return build_scenario(Scenario.CONFLICTING_CONSTRAINTS, "seed-4", 4).pairs


def rollout(pair: Pair, side: Side) -> Rollout:
    cancelled = {"order_id": "W-1", "status": "cancelled"}
    calls = (
        Call(
            index=0,
            tool="retail_orders.cancel_order",
            kind=ToolKind.COMMIT,
            args={"order_id": "W-1"},
            ok=True,
            result={"cancelled": True},
            patch=(PatchOp(op="replace", path="/retail_orders/orders/W-1/status", value="cancelled"),),
            intents=(Intent(kind="order.cancel", record="/retail_orders/orders/W-1"),),
            effects=(
                Effect(kind="order.cancel", record="/retail_orders/orders/W-1", before={}, after=cancelled, fields=("status",)),
            ),
        ),
        Call(index=1, tool="nonsense", kind=None, args={}, ok=False, error=CallError(code="unknown_tool", message="None.")),
    )
    return Rollout(
        fingerprint=f"{side}-{pair.instance}-{pair.family}",
        pair_id=pair.id,
        round=pair.round,
        scenario=pair.scenario,
        action_type=pair.action_type,
        side=side,
        family=pair.family,
        model="scripted/oracle",
        harness="scripted",
        harness_version="1",
        epoch=0,
        final_text="Déjà vu, “quoted” and 漢字.",
        messages=(
            Message(role="user", content=pair.act.instruction),
            Message(role="assistant", content="", tool_calls=(ToolRequest(id="1", name="x", arguments="not {json"),)),
        ),
        calls=calls,
        usage=Usage(requests=2, input_tokens=10, output_tokens=3, cost_usd=0.25),
        turns=2,
        state_digest="d",
        isolation=("user_namespace",),
    )


def test_pairs_come_back_equal(lake_home: Path, pairs: tuple[Pair, ...]) -> None:
    lake = Lake(lake_home)
    lake.write("pairs", "p", pair_rows(pairs))
    assert list(pairs_from(lake.read("pairs"))) == sorted(pairs, key=lambda pair: pair.id)


def test_rollouts_come_back_equal_with_their_calls(lake_home: Path, pairs: tuple[Pair, ...]) -> None:
    lake = Lake(lake_home)
    runs = {run.fingerprint: run for pair in pairs for side in Side for run in [rollout(pair, side)]}
    lake.write("rollouts", "r", rollout_rows(runs.values(), {pair.id: "d" for pair in pairs}))
    lake.write("calls", "r", call_rows(runs.values()))
    assert {run.fingerprint: run for run in rollouts_from(lake.read("rollouts"), lake.read("calls"))} == runs


def test_verdicts_come_back_equal(pairs: tuple[Pair, ...]) -> None:
    verdicts = judge_rollouts(pairs, [rollout(pair, side) for pair in pairs for side in Side], named("rules"))
    table = frame("verdicts", verdict_rows(verdicts))
    assert set(verdicts_from(table)) == set(verdicts)


def test_every_environment_and_tool_has_its_row() -> None:
    for name in registry.names():
        row, tools = environment_row(name), tool_rows(name)
        assert row["tools"] == len(tools) == row["lookup"] + row["verify"] + row["commit"]
        frame("environments", [row])
        frame("tools", tools)


def test_capabilities_cover_every_tool_with_all_five_kinds() -> None:
    found = capabilities()
    frame("capabilities", capability_rows(found))
    assert len(found) == sum(len(registry.load(name).tools) for name in registry.names())
    assert {row.kind for row in found} == {"read", "search", "verify", "write", "delete"}
    by_tool = {row.tool: row.kind for row in found}
    assert by_tool["retail_orders.cancel_order"] == "delete"
    for row in found:
        assert (row.kind == "verify") == (row.tool_kind is ToolKind.VERIFY)
        assert (row.kind in ("write", "delete")) == (row.tool_kind is ToolKind.COMMIT)
