"""Which seeds a pair grounds: on pairs of the shipped families, and through assets, checks and commands on a real home."""

import shutil
from pathlib import Path

import pytest

from abstain_assets.catalog.capabilities import capabilities
from abstain_assets.errors import Incomplete
from abstain_assets.project import Project, groundings, routes
from abstain_assets.records import Pair
from abstain_assets.rows import capability_rows, pairs_from, sample_rows
from abstain_assets.seeds.grounding import ground
from abstain_assets.seeds.records import AugmentedSeed, CapabilityKind, Grounding, Route, SampledSeed, Seed, SeedCapability
from abstain_assets.taxonomy import ActionType, Scenario
from resources.lake import ALL, Lake
from resources.settings import Settings
from tests.command import abstain
from tests.drawn import pair_of
from tests.homes import SCENARIO, digests

RETAIL, BANK = "retail_orders", "consumer_banking"
ROWS = capabilities()


def can(kind: CapabilityKind, name: str) -> SeedCapability:
    return SeedCapability(kind=kind, object=name)


@pytest.fixture(scope="module")
def refund() -> Pair:
    """Compares two weights of a returned parcel, then refunds."""
    pair = pair_of("retail_orders.settle_return", Scenario.CONFLICTING_EVIDENCE)
    assert pair.environments == (RETAIL,)
    assert {node.tool for node in pair.dag.nodes} >= {"retail_orders.issue_refund", "retail_orders.get_warehouse_record"}
    return pair


def asking(
    *act: SeedCapability, scenario: Scenario = Scenario.CONFLICTING_EVIDENCE, action_type: ActionType = ActionType.OPERATIONAL
) -> AugmentedSeed:
    return AugmentedSeed(
        seed="test/a/1", scenario=scenario, action_type=action_type, instruction="Do it.", act=act, sketch="It differs."
    )


def found(pair: Pair, seed: AugmentedSeed, *environments: str) -> tuple[Grounding, ...]:
    return ground([pair], [seed], [Route(seed=seed.seed, environments=environments or (RETAIL,))], ROWS)


def test_a_pair_grounds_a_seed_of_its_shape(refund: Pair) -> None:
    seed = asking(can("read", "warehouse record"), can("read", "product"), can("write", "refund"))
    [item] = found(refund, seed)
    assert (item.pair_id, item.round, item.seed) == (refund.id, refund.round, seed.seed)
    assert item.shared == (can("read", "warehouse record"), can("write", "refund"))
    assert item.strength == pytest.approx(2 / 3)
    assert item.environments == (RETAIL,)
    [whole] = found(refund, asking(can("write", "refund")))
    assert whole.strength == 1


@pytest.mark.parametrize(
    "seed",
    [
        asking(can("write", "refund"), scenario=Scenario.HIGH_STAKES_ACTION),
        asking(can("read", "warehouse record"), action_type=ActionType.INFORMATIONAL),
        asking(can("write", "refund"), can("delete", "order")),
        asking(can("read", "warehouse record"), can("write", "exchange")),
    ],
    ids=["other scenario", "other action type", "one change is not made", "only a lookup is shared"],
)
def test_what_is_not_alike_is_not_grounded(refund: Pair, seed: AugmentedSeed) -> None:
    assert found(refund, seed) == ()


def test_every_environment_of_the_route_has_to_be_mounted(refund: Pair) -> None:
    seed = asking(can("write", "refund"))
    assert found(refund, seed, BANK) == ()
    assert found(refund, seed, RETAIL, BANK) == ()
    assert ground([refund], [seed], [Route(seed=seed.seed, unassigned=(can("read", "song"),))], ROWS) == ()
    assert ground([refund], [seed], [], ROWS) == ()


def test_an_answer_rests_on_the_last_lookup() -> None:
    pair = pair_of("consumer_banking.statement_report", Scenario.INSUFFICIENT_TOOL_CAPABILITY)
    assert pair.action_type is ActionType.INFORMATIONAL
    options = {"scenario": pair.scenario, "action_type": pair.action_type}
    read, other = can("read", "bank statement"), can("read", "payee")
    assert len(found(pair, asking(other, read, **options), BANK)) == 1  # type: ignore[arg-type]
    assert found(pair, asking(read, other, **options), BANK) == ()  # type: ignore[arg-type]


def test_the_order_of_pairs_and_seeds_does_not_matter(refund: Pair) -> None:
    seeds = [asking(can("write", "refund")).model_copy(update={"seed": f"test/a/{index}"}) for index in range(3)]
    pairs = [refund, pair_of("retail_orders.settle_return", Scenario.CONFLICTING_EVIDENCE, 2).model_copy(update={"id": "a/S7/1"})]
    ways = [Route(seed=seed.seed, environments=(RETAIL,)) for seed in seeds]
    assert len(ground(pairs, seeds, ways, ROWS)) == 6
    assert ground(pairs[::-1], seeds[::-1], ways[::-1], ROWS[::-1]) == ground(pairs, seeds, ways, ROWS)


# --- in a home ------------------------------------------------------------------------------------------------------------


def drawn(name: str, instruction: str, *tools: str, environment: str = "retail orders") -> Seed:
    operational = any(word in tool for tool in tools for word in ("cancel", "create", "transfer", "send", "update"))
    return Seed(
        id=f"test/a/{name}",
        source="test",
        split="a",
        instruction=instruction,
        environment=environment,
        source_environment="x",
        tools=tools,
        scenario=Scenario(SCENARIO),
        scenario_by="label",
        action_type=ActionType.OPERATIONAL if operational else ActionType.INFORMATIONAL,
    )


SEEDS = (
    drawn("event", "You want an event with Ann before May 3. You are Bo.", "create_calendar_event", environment="calendar"),
    drawn("song", "Find a song under 3 minutes.", "find_song", environment="music"),
    drawn("tea", "I like green tea very much."),
)


@pytest.fixture(scope="module")
def project(built_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A built home whose sample is ours, with routes and groundings made of it."""
    home = tmp_path_factory.mktemp("grounded") / "home"
    shutil.copytree(built_home, home)
    opened = Project.open(Settings(home))
    opened.lake.write(
        "seed_samples", SCENARIO, sample_rows(SampledSeed(round="v1", position=index, seed=one) for index, one in enumerate(SEEDS))
    )
    before = digests(home, "lake/pairs")
    opened.materialize([routes, groundings], [SCENARIO])
    opened.lake.refresh()
    assert digests(home, "lake/pairs") == before, "seeds change no pair"
    return opened


def test_seeds_are_augmented_routed_and_grounded(project: Project) -> None:
    lake = project.lake
    rows = {row["seed"]: row for row in lake.read("augmented_seeds", [SCENARIO]).to_dicts()}
    assert {name: row["problem"] for name, row in rows.items()} == {
        "test/a/event": None,
        "test/a/song": None,
        "test/a/tea": "asks_for_nothing",
    }
    assert rows["test/a/event"]["instruction"] == "I want an event with Ann before May 3. I am Bo."
    went = {row["seed"]: row for row in lake.read("routes", [SCENARIO]).to_dicts()}
    assert went["test/a/event"]["environments"] == '["calendar"]'
    assert went["test/a/song"]["unassigned"] == '[{"kind":"search","object":"song"}]'
    assert set(went) == {"test/a/event", "test/a/song"}
    grounded = lake.read("groundings", [SCENARIO])
    assert set(grounded["seed"]) == {"test/a/event"}
    pairs = {pair.id: pair for pair in pairs_from(lake.read("pairs", [SCENARIO]))}
    for name in grounded["pair_id"]:
        assert "calendar" in pairs[name].environments
        assert pairs[name].action_type is ActionType.OPERATIONAL


def test_equal_seeds_give_equal_bytes(project: Project) -> None:
    home = project.settings.home
    before = digests(home, "lake/augmented_seeds", "lake/routes", "lake/groundings")
    assert before
    project.materialize([routes, groundings], [SCENARIO])
    assert digests(home, "lake/augmented_seeds", "lake/routes", "lake/groundings") == before


def test_the_command_shows_the_seeds_of_a_pair(project: Project) -> None:
    name = project.lake.read("groundings", [SCENARIO])["pair_id"][0]
    shown = abstain("show", name, "--json", home=project.settings.home).document
    [grounding] = shown["groundings"]
    assert grounding["seed"] == "test/a/event"
    assert grounding["instruction"] == "I want an event with Ann before May 3. I am Bo."
    assert grounding["shared"] == [{"kind": "write", "object": "calendar event"}]
    assert shown["id"] == name


def test_the_funnel_goes_on_to_the_pairs(project: Project) -> None:
    home = project.settings.home
    figures = abstain("stats", "--seeds", "--json", home=home).document["seeds"]
    assert figures["augmentation"]["augmented"] == 3
    assert figures["augmentation"]["feasible"] == 2
    assert {name: count for name, count in figures["augmentation"]["infeasible"].items() if count} == {"asks_for_nothing": 1}
    routing = figures["routing"]
    assert (routing["routed"], routing["unassigned"], routing["too_many"]) == (1, 1, 0)
    assert routing["by_size"] == {"1": 1, "2": 0, "3": 0, "4": 0}
    assert routing["by_environment"] == {"calendar": 1}
    assert routing["unassigned_capabilities"] == {"search song": 1}
    grounding = figures["grounding"]
    assert grounding["pairs"] == project.lake.read("pairs").height
    assert grounding["seeds_grounded"] == 1
    assert grounding["pairs_with_seeds"] == grounding["groundings"] == project.lake.read("groundings").height
    assert figures["catalog"]["redundant"] == []
    assert "3, of which 2 feasible" in abstain("stats", "--seeds", home=home).out


def test_the_share_of_unassigned_seeds_only_warns_and_the_gate_stops(project: Project, tmp_path: Path) -> None:
    shutil.copytree(project.settings.home, tmp_path / "home")
    copy = Project.open(Settings(tmp_path / "home"))
    broken = [row.model_copy(update={"objects": ()}) if row.tool == "calendar.get_event" else row for row in ROWS]
    copy.lake.write("capabilities", ALL, capability_rows(broken))
    copy.lake.write("groundings", SCENARIO, [])
    with pytest.raises(Incomplete, match=r"publish_gate failed: calendar\.get_event acts on nothing"):
        copy.materialize([routes, groundings], [SCENARIO])
    assert copy.lake.read("groundings", [SCENARIO]).is_empty(), "nothing is made of routes that may not be published"
    copy.lake.write("capabilities", ALL, capability_rows(ROWS))
    copy.lake.write("seed_samples", SCENARIO, sample_rows([SampledSeed(round="v1", position=0, seed=SEEDS[1])]))
    [result] = copy.materialize([routes], [SCENARIO])
    checks = {item.check_name: item for item in result.get_asset_check_evaluations()}
    assert checks["publish_gate"].passed
    assert not checks["unassigned_seeds"].passed
    assert checks["unassigned_seeds"].description == "1 of 1 feasible seeds are unassigned"


def test_without_seeds_everything_is_there_and_empty(project: Project, tmp_path: Path) -> None:
    shutil.copytree(project.settings.home, tmp_path / "home")
    copy = Project.open(Settings(tmp_path / "home"))
    copy.lake.write("seed_samples", SCENARIO, [])
    copy.materialize([routes, groundings], [SCENARIO])
    lake = Lake(tmp_path / "home")
    for table in ("augmented_seeds", "routes", "groundings"):
        assert lake.is_whole(table, SCENARIO)
        assert lake.read(table, [SCENARIO]).is_empty()
