"""Filters, duplicates, consolidation, classification and sampling: examples, and what holds for any seeds."""

from collections import Counter
from itertools import product
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from abstain_assets.seeds.classify import classify
from abstain_assets.seeds.consolidate import consolidate, place, rules
from abstain_assets.seeds.duplicates import FEWEST_CONTAINED, exact_key, find_duplicates, fingerprint, is_near, outline, shingles
from abstain_assets.seeds.filters import FILTERS, objection
from abstain_assets.seeds.plan import action_type, commits
from abstain_assets.seeds.pool import make_pool, seed_of
from abstain_assets.seeds.records import RawSeed, Seed
from abstain_assets.seeds.sampling import HALF, QUOTA, sample, shortfall
from abstain_assets.taxonomy import ActionType, Scenario

S = Scenario
HEAVY = S.HIGH_STAKES_ACTION


def raw(text: str, name: str = "a", label: Scenario | None = None, tools: tuple[str, ...] = (), place: str = "x") -> RawSeed:
    return RawSeed(id=f"s/p/{name}", source="s", split="p", instruction=text, source_environment=place, tools=tools, label=label)


# --- filters --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reason", "text"),
    [
        ("empty", " 9:45 / "),
        ("too_short", "What can you do?"),
        ("too_long", "Please book a flight. " * 80),
        ("not_english", "Quiero saber el clima de la ciudad para mañana por favor"),
        ("not_english", "请问北京的当前天气状况如何 还有 上海的天气情况 是怎样的呢"),
        ("placeholder", "Please send the report to {recipient_name} before noon."),
        ("placeholder", "Call the customer [REDACTED] about the late parcel."),
        ("link_only", "https://example.com/a/b/c?d=e please read now"),
        ("role_play", "You are playing the role of a customer who lost a card."),
        ("role_play", "You are a helpful assistant with access to many tools."),
        ("source_remark", "The user did not provide a query for this task."),
        ("program_text", "Help me run `mainLoop` with the options of `argsArray` today."),
        ("program_text", "Explain what def main(args) does in this program please."),
        ("carries_key", "Fetch the reports of the domain, my API key is XYZ789."),
        ("carries_key", "Use a1b2c3d4e5f6a7b8c9d0e1f2a3b4 to open the vault for me."),
        ("chit_chat", "Hello there, how are you doing today?"),
        ("chit_chat", "Write me a poem on kites and the wind."),
    ],
)
def test_every_filter_names_its_reason(reason: str, text: str) -> None:
    assert objection(text) == reason


@pytest.mark.parametrize(
    "text",
    [
        "Restock the maroon cloth.",
        "Can you translate 'How are you?' into Italian for me?",
        "Hey, do you think you could find a nice place to eat in Rome?",
        "Please move final_report.pdf into the folder 'Archive 2024'.",
        "Find me a table at Café São Bento for two on Friday evening.",
        "Read https://example.com/news and send Bob a summary of it.",
    ],
)
def test_requests_pass(text: str) -> None:
    assert objection(text) is None


def test_reasons_are_distinct() -> None:
    assert len({item.reason for item in FILTERS}) == len(FILTERS)


@given(st.text(max_size=300))
def test_any_text_is_judged(text: str) -> None:
    assert objection(text) in {None, *(item.reason for item in FILTERS)}


# --- duplicates -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "other", "granularity"),
    [
        ("Delete the file.", "delete  the FILE.", "exact"),
        ("Delete notes.txt from my drive", "Delete a-b/plan_2.docx from my drive", "fingerprint"),
        ("Meet Ann on 2024-05-16 at 10:00", "Meet Ann on May 3rd, 2025 at 9:30 pm", "fingerprint"),
        ("Pay 12.50 to order W1234 today", "Pay $900 to order X99 tomorrow", "fingerprint"),
        ("Rename it to 'first draft' and close it", 'Rename it to "second draft" and close it', "fingerprint"),
        (
            "Could you please find me a cheap hotel near the station of Boston for the next weekend",
            "Could you please find me a cheap hotel near the station of New York for the next weekend",
            "near",
        ),
        (
            "I need a quiet room for two nights with a view of the sea and breakfast in the garden",
            "Good morning. I need a quiet room for two nights with a view of the sea and breakfast in the garden. Then call my "
            "brother and tell him that we arrive late in the evening by train",
            "near",
        ),
    ],
)
def test_three_granularities(one: str, other: str, granularity: str) -> None:
    for label in (None, S.MISSING_CRITICAL_PARAMETER):
        [(name, found)] = find_duplicates([raw(one, "a", label), raw(other, "b")]).items()
        assert found.granularity == granularity
        if label:
            assert (name, found.twin) == ("s/p/b", "s/p/a"), "the labelled one stays"


def test_other_requests_are_no_duplicates() -> None:
    texts = ("Delete the file", "Delete the folder", "Rename the file to 'a'", "Send the file to Ann at 10:00", "Find the file")
    assert find_duplicates(raw(text, str(index)) for index, text in enumerate(texts)) == {}


WORDS = "book a flight to the old town hotel and send it now please cancel order 12 7 Ann report.pdf 'x' for me".split()
requests = st.lists(st.sampled_from(WORDS), min_size=1, max_size=14).map(" ".join)
pools = st.lists(st.tuples(requests, st.sampled_from([None, None, S.MISSING_CRITICAL_PARAMETER])), max_size=24).map(
    lambda drawn: [raw(text, str(index), label) for index, (text, label) in enumerate(drawn)]
)


@given(pools, st.randoms(use_true_random=False))
def test_duplicates_do_not_depend_on_the_order(seeds: list[RawSeed], rng: Random) -> None:
    shuffled = rng.sample(seeds, len(seeds))
    assert find_duplicates(shuffled) == find_duplicates(seeds)


@given(pools)
def test_duplicates_have_kept_twins_and_kept_seeds_have_none(seeds: list[RawSeed]) -> None:
    found = find_duplicates(seeds)
    known = {seed.id: seed for seed in seeds}
    kept = [seed for seed in seeds if seed.id not in found]
    for name, duplicate in found.items():
        assert duplicate.twin in known and duplicate.twin not in found
        assert known[name].label is None or known[duplicate.twin].label is not None
        mine, twin = known[name].instruction, known[duplicate.twin].instruction
        assert (exact_key(mine) == exact_key(twin)) is (duplicate.granularity == "exact")
        if duplicate.granularity == "fingerprint":
            assert fingerprint(mine) == fingerprint(twin)
    for one, other in product(kept, kept):
        if one.id < other.id:
            first, second = shingles(outline(one.instruction)), shingles(outline(other.instruction))
            assert not is_near(len(first), len(second), len(first & second))
    assert find_duplicates(kept) == {}


@given(st.sets(st.integers(0, 30), min_size=1), st.sets(st.integers(0, 30), min_size=1))
def test_near_is_jaccard_or_containment(first: set[int], second: set[int]) -> None:
    common = len(first & second)
    jaccard = common / len(first | second) >= 0.7
    contained = min(len(first), len(second)) >= FEWEST_CONTAINED and common / min(len(first), len(second)) >= 0.9
    assert is_near(len(first), len(second), common) is (jaccard or contained)


@given(st.text(max_size=200))
def test_a_fingerprint_ignores_case_and_space(text: str) -> None:
    assert fingerprint(text) == fingerprint(f"  {text.lower()}\n")


# --- environments ---------------------------------------------------------------------------------------------------------


def test_a_named_label_decides() -> None:
    assert place(raw("I want to fly to Rome.", place="retail")) == "retail orders"
    assert place(raw("Add the numbers", place="GorillaFileSystem+MathAPI", tools=("add", "sum"))) == "arithmetic"
    assert place(raw("Put it there", place="GorillaFileSystem+MathAPI", tools=("mkdir",))) == "file system"


def test_tools_of_the_plan_count_more_than_words() -> None:
    assert place(raw("Find me a quiet hotel.", tools=("trains.find",))) == "trains"
    assert place(raw("Find me a quiet hotel.")) == "hotels"
    assert place(raw("Zyx wvu tsr.")) is None


def test_rules_are_consistent() -> None:
    known = rules()
    assert all(category in known.parents for found in known.words.values() for category in found)
    assert set(known.named.values()) <= set(known.parents)


def many(category_words: dict[str, int]) -> list[RawSeed]:
    named = [(word, index) for word, size in category_words.items() for index in range(size)]
    return [raw(f"Please look at the {word} number {index}", f"{word}{index}") for word, index in named]


def test_small_categories_join_their_most_similar_sibling() -> None:
    found = consolidate(many({"flight": 5, "hotel": 4, "railway": 2, "derivative": 3}))
    assert set(Counter(found.environments.values()).items()) == {("flights", 7), ("hotels", 4), ("calculus", 3)} or (
        set(Counter(found.environments.values()).items()) == {("flights", 5), ("hotels", 6), ("calculus", 3)}
    )
    assert set(found.joined) == {"trains"} and found.joined["trains"] in {"flights", "hotels"}
    assert found.dropped == {}


def test_what_resembles_nothing_is_dropped_with_a_reason() -> None:
    seeds = [*many({"flight": 3}), raw("Zyx wvu tsr qpo", "lost"), raw("Bohr planet orbit", "rare")]
    found = consolidate(seeds)
    assert found.dropped == {"s/p/lost": "no_environment", "s/p/rare": "rare_environment"}
    assert set(found.environments.values()) == {"flights"}


@settings(max_examples=40)
@given(
    st.lists(st.tuples(requests, st.sampled_from(["flight", "hotel", "sql", "planet", "chess", ""])), max_size=30),
    st.integers(1, 5),
    st.integers(1, 4),
    st.randoms(use_true_random=False),
)
def test_consolidation_keeps_its_limits(drawn: list[tuple[str, str]], most: int, fewest: int, rng: Random) -> None:
    seeds = [raw(f"{text} {word}", str(index)) for index, (text, word) in enumerate(drawn)]
    found = consolidate(seeds, most=most, fewest=fewest)
    sizes = Counter(found.environments.values())
    assert len(sizes) <= most
    assert all(size >= fewest for size in sizes.values())
    assert set(found.environments) | set(found.dropped) == {seed.id for seed in seeds}
    assert not set(found.environments) & set(found.dropped)
    assert consolidate(rng.sample(seeds, len(seeds)), most=most, fewest=fewest).environments == found.environments


# --- scenario and action type ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tool", "changes"),
    [
        ("cancel_pending_order", True),
        ("orders.cancel", True),
        ("Movies_1_BuyMovieTickets", True),
        ("lockDoors", True),
        ("get_order_details", False),
        ("order_status_check", False),
        ("calculate_final_price", False),
        ("HNA_NEWS.search", False),
        ("xyzzy", False),
    ],
)
def test_the_verb_of_a_tool_says_whether_it_changes_something(tool: str, changes: bool) -> None:
    assert commits(tool) is changes


def test_the_plan_decides_on_the_action_type_and_without_one_the_request() -> None:
    assert action_type(raw("Tell me the total.", tools=("get_order", "cancel_order"))) is ActionType.OPERATIONAL
    assert action_type(raw("Cancel my order.", tools=("get_order",))) is ActionType.INFORMATIONAL
    assert action_type(raw("Please cancel my order.")) is ActionType.OPERATIONAL
    assert action_type(raw("How many orders did I cancel?")) is ActionType.INFORMATIONAL


@pytest.mark.parametrize(
    ("text", "scenario"),
    [
        ("Fetch the record of the patient with the id 4711.", S.MISSING_CRITICAL_PARAMETER),
        ("Recommend something nice nearby, or pick any of the popular ones.", S.AMBIGUOUS_ACTION_SPECIFICATION),
        ("Find a room under $100 but with at least three beds within 5 miles.", S.CONFLICTING_CONSTRAINTS),
        ("Delete all of my files permanently.", S.HIGH_STAKES_ACTION),
        ("What is the weather in Oslo right now?", S.CRITICAL_TOOL_FAILURE),
        ("Compare the statement with the transaction history and verify the total.", S.CONFLICTING_EVIDENCE),
        ("Share the personal message of my doctor with everyone in the family and post it.", S.EMERGENT_RISK_DISCOVERY),
    ],
)
def test_keywords_give_a_scenario(text: str, scenario: Scenario) -> None:
    assert classify(raw(text)).scenario is scenario
    assert classify(raw(text)).by == "keyword"


def test_a_label_beats_every_keyword_and_there_is_a_default() -> None:
    labelled = classify(raw("Delete all of my files permanently.", label=S.INSUFFICIENT_TOOL_CAPABILITY))
    assert (labelled.scenario, labelled.by) == (S.INSUFFICIENT_TOOL_CAPABILITY, "label")
    default = classify(raw("Zyx wvu tsr."))
    assert (default.scenario, default.by) == (S.CRITICAL_TOOL_FAILURE, "default")


# --- the pool -------------------------------------------------------------------------------------------------------------


@settings(max_examples=40)
@given(pools, st.randoms(use_true_random=False))
def test_every_request_has_exactly_one_fate(seeds: list[RawSeed], rng: Random) -> None:
    pool = make_pool(seeds)
    assert [item.raw for item in pool] == sorted(seeds, key=lambda seed: seed.id)
    assert make_pool(rng.sample(seeds, len(seeds))) == pool
    for item in pool:
        assert bool(item.reason) is (item.fate != "kept")
        assert (item.twin is not None) is (item.fate == "duplicate")
        if item.fate == "kept":
            assert seed_of(item).id == item.raw.id
        else:
            with pytest.raises(ValueError, match="was not kept"):
                seed_of(item)


# --- sampling -------------------------------------------------------------------------------------------------------------


def kept(name: str, source: str, environment: str, action: ActionType, *, scenario: Scenario = HEAVY, by: str = "keyword") -> Seed:
    return Seed.model_validate(
        {
            "id": name,
            "source": source,
            "split": "p",
            "instruction": "x",
            "environment": environment,
            "source_environment": "x",
            "scenario": scenario,
            "scenario_by": by,
            "action_type": action,
        }
    )


supplies = st.lists(
    st.tuples(st.sampled_from("abc"), st.sampled_from("uvwxyz"), st.sampled_from(ActionType), st.sampled_from(list(Scenario)[:2])),
    max_size=60,
).map(lambda drawn: [kept(f"{item[0]}/{index}", *item[:3], scenario=item[3]) for index, item in enumerate(drawn)])


@given(supplies, st.integers(0, 2**40), st.integers(1, 12), st.randoms(use_true_random=False))
def test_a_draw_keeps_its_quota_and_takes_what_there_is(pool: list[Seed], seed: int, half: int, rng: Random) -> None:
    scenario = next(iter(Scenario))
    drawn = sample(pool, scenario, "v1", seed, half=half)
    assert sample(rng.sample(pool, len(pool)), scenario, "v1", seed, half=half) == drawn
    assert len({item.seed.id for item in drawn}) == len(drawn)
    for kind in ActionType:
        supply = [item for item in pool if item.scenario is scenario and item.action_type is kind]
        mine = [item for item in drawn if item.seed.action_type is kind]
        assert len(mine) == min(half, len(supply))
        assert {item.seed.id for item in mine} <= {item.id for item in supply}
        assert [item.position for item in mine] == list(range(len(mine)))
        assert shortfall(drawn, half=half)[kind] == half - len(mine)
        by_source, supplied = Counter(item.seed.source for item in mine), Counter(item.source for item in supply)
        most = max(by_source.values(), default=0)
        for source, count in supplied.items():
            assert by_source[source] >= min(count, most - 1), "sources take turns until they have no more"


def test_environments_take_turns_and_the_rare_ones_go_first() -> None:
    info = ActionType.INFORMATIONAL
    pool = [kept(f"a/{index}", "a", "common", info) for index in range(9)]
    pool += [kept("a/r", "a", "rare", info), kept("a/s1", "a", "some", info), kept("a/s2", "a", "some", info)]
    drawn = sample(pool, S.HIGH_STAKES_ACTION, "v1", 1, half=5)
    assert [item.seed.environment for item in drawn] == ["rare", "some", "common", "some", "common"]


def test_labels_go_before_keywords() -> None:
    pool = [kept(by, "a", "x", ActionType.INFORMATIONAL, by=by) for by in ("default", "keyword", "label")]
    assert [item.seed.scenario_by for item in sample(pool, S.HIGH_STAKES_ACTION, "v1", 1)] == ["label", "keyword", "default"]


def test_rounds_draw_differently_and_the_quota_is_the_papers() -> None:
    pool = [kept(f"a/{index}", "a", "x", ActionType.OPERATIONAL) for index in range(90)]
    first, second = (tuple(item.seed.id for item in sample(pool, S.HIGH_STAKES_ACTION, "r", seed)) for seed in (1, 2))
    assert first != second
    assert len(first) == HALF == 50
    assert QUOTA == 100
