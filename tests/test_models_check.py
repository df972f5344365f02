"""Trying a model before it is evaluated: what a good one costs, and that every fault is called by its name."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from abstain_assets.rollouts.trial import Tried, try_model
from resources.harness.scripted import POLICIES
from resources.models import ModelSpec, load_models
from resources.settings import PROJECT
from tests.builders_rollouts import FAST, KEY, Lab, chat_spec, scripted_spec
from tests.command import abstain
from tests.harnesses import KEY_VARIABLE, SETUPS, Setup
from tests.servers.chat_completions_stub import Body, ChatServer, Reply, data, error, message
from tests.servers.dialects import ModelServer, Says, Seen, Turn

PRICES = {"input_per_million": 1000, "output_per_million": 1000, "date": "2026-01-01"}


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    opened = Lab()
    yield opened
    opened.close()


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(KEY_VARIABLE, KEY)


def helpful(seen: Seen) -> Turn:
    """A model that answers, and calls the one tool it has first."""
    if not seen.tools:
        return Says("I am ready.")
    return Says("It was delivered.") if seen.results else Says(calls=((seen.tools[0][0], {"order_id": "W-1001"}),))


def good(body: Body) -> Reply:
    """The same for the Chat Completions stub."""
    tools = body.get("tools")
    if not tools or body["messages"][-1]["role"] == "tool":
        return message("Fine.")
    return message(calls=[(tools[0]["function"]["name"], {"order_id": "W-1001"})])


def tried(lab: Lab, spec: ModelSpec) -> Tried:
    return lab.do(try_model(spec, lab.pool, retry=FAST))


@pytest.mark.parametrize("setup", SETUPS, ids=lambda setup: str(setup.id))
def test_a_good_model_passes_under_every_harness(lab: Lab, setup: Setup) -> None:
    """Three requests: a question without tools, a tool call and its answer."""
    if not setup.installed:
        pytest.skip(f"{setup.needs} is not installed")
    with ModelServer(setup.dialect(), helpful, key=KEY) as server:
        result = tried(lab, setup.spec(server, prices=PRICES))
        asked = [server.dialect.seen(request) for request in server.asked]
    assert (result.part, result.problem) == (None, None)
    assert [len(seen.tools) for seen in asked] == [0, 1, 1]
    assert all(len(seen.user) == 1 for seen in asked)  # the second conversation knows nothing of the first
    assert result.usage.requests == 3 and result.usage.cost_usd == pytest.approx(0.33)


@pytest.mark.parametrize("setup", SETUPS, ids=lambda setup: str(setup.id))
def test_a_wrong_key_is_told_apart_under_every_harness(lab: Lab, setup: Setup) -> None:
    if not setup.installed:
        pytest.skip(f"{setup.needs} is not installed")
    with ModelServer(setup.dialect(), helpful, key="sk-another-key") as server:
        result = tried(lab, setup.spec(server))
    assert result.part == "key" and KEY_VARIABLE in (result.problem or "") and KEY not in (result.problem or "")


@pytest.mark.parametrize("setup", SETUPS, ids=lambda setup: str(setup.id))
def test_a_model_that_ignores_tools_is_told_apart_under_every_harness(lab: Lab, setup: Setup) -> None:
    if not setup.installed:
        pytest.skip(f"{setup.needs} is not installed")
    with ModelServer(setup.dialect(), lambda _: Says("It was delivered."), key=KEY) as server:
        result = tried(lab, setup.spec(server))
    assert result.part == "tools" and "without calling the tool" in (result.problem or "")


def _refuses_tools(body: Body) -> Reply:
    return error(400, "this model does not support tools", "invalid_request") if body.get("tools") else message("Fine.")


def _loops(body: Body) -> Reply:
    tools = body.get("tools")
    return message(calls=[(tools[0]["function"]["name"], {"order_id": "W-1001"})]) if tools else message("Fine.")


FAULTS: dict[str, tuple[Any, str, list[str]]] = {
    "unknown model": (lambda _: error(404, "no such model: m", "model_not_found"), "model", ["no such model", "check model"]),
    "no quota": (lambda _: error(429, "pay first", "insufficient_quota"), "quota", ["no quota left"]),
    "overloaded": (lambda _: error(503, "busy"), "endpoint", ["api_error", "503"]),
    "a page instead of an API": (lambda _: Reply(200, b"<html>hello</html>"), "endpoint", ["not JSON"]),
    "error inside a success": (lambda _: data({"error": {"message": "bad route"}}), "endpoint", ["bad route"]),
    "says nothing": (lambda _: message(""), "endpoint", ["empty_output"]),
    "refuses tools": (_refuses_tools, "tools", ["does not support tools", "a request with a tool failed", "supports tool calls"]),
    "invents a tool": (
        lambda body: message("Fine.") if body["messages"][-1]["role"] == "tool" else message(calls=[("lookup", {})]),
        "tools",
        ["it called lookup"],
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_called_by_its_name(lab: Lab, name: str) -> None:
    script, part, said = FAULTS[name]

    def first_fine(body: Body) -> Reply:
        return script(body) if name != "invents a tool" or body.get("tools") else message("Fine.")

    with ChatServer(first_fine, key=KEY) as server:
        result = tried(lab, chat_spec(server.url, api_key_env=KEY_VARIABLE))
    assert result.part == part
    assert all(words in (result.problem or "") for words in said), result.problem


def test_a_model_that_never_stops_calling_can_call(lab: Lab) -> None:
    with ChatServer(_loops, key=KEY) as server:
        result = tried(lab, chat_spec(server.url, api_key_env=KEY_VARIABLE))
    assert (result.part, result.problem, result.usage.requests) == (None, None, 5)


def test_a_wrong_path_and_a_dead_address(lab: Lab) -> None:
    with ChatServer(good, key=KEY) as server:
        path = tried(lab, chat_spec(f"{server.origin}/wrong/v1", api_key_env=KEY_VARIABLE))
    assert path.part == "model" and "check model, base_url" in (path.problem or "")
    dead = tried(lab, chat_spec("http://127.0.0.1:9/v1", api_key_env=KEY_VARIABLE))
    assert dead.part == "url" and "cannot be reached" in (dead.problem or "") and "check base_url" in (dead.problem or "")


def test_a_missing_key_sends_nothing(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(KEY_VARIABLE)
    with ChatServer(good) as server:
        result = tried(lab, chat_spec(server.url, api_key_env=KEY_VARIABLE))
        assert server.received == []
    assert result.part == "key" and f"set {KEY_VARIABLE}" in (result.problem or "")


@pytest.mark.parametrize("policy", POLICIES)
def test_scripted_policies_carry_out_a_pair(lab: Lab, policy: str) -> None:
    result = tried(lab, scripted_spec(policy))
    assert (result.part, result.problem, result.usage.cost_usd) == (None, None, 0)


def test_a_missing_sdk_comes_with_the_command_that_installs_it(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "google.adk", None)
    fields = {"name": "google/gemini-x", "harness": "google_adk", "provider": "google", "model": "gemini-x"}
    result = tried(lab, ModelSpec.model_validate(fields))
    assert result.part == "harness" and "make extras" in (result.problem or "") and "[google-adk]" in (result.problem or "")


# --- the command ------------------------------------------------------------------------------------------------------------


def registered(folder: Path, **fields: Any) -> None:
    spec = {"harness": "chat_completions", "provider": "stub", "model": "m", "api_key_env": KEY_VARIABLE, "prices": PRICES}
    path = folder / f"{fields['name'].replace('/', '-')}.yaml"
    path.write_text(yaml.safe_dump(spec | fields), encoding="utf-8")


def test_check_reports_each_model_and_what_it_cost(tmp_path: Path) -> None:
    variables = {"ABSTAIN_MODELS": str(tmp_path), KEY_VARIABLE: KEY}
    with ChatServer(good, key=KEY) as server:
        registered(tmp_path, name="stub/good", base_url=server.url)
        registered(tmp_path, name="stub/lost", base_url=f"{server.origin}/nowhere")
        registered(tmp_path, name="stub/keyless", base_url=server.url, api_key_env="UNSET_KEY")
        said = abstain("models", "check", "--json", variables=variables)
        assert len(server.received) == 4
        named = abstain("models", "check", "stub/good", variables=variables)
        missing = abstain("models", "check", "stub/keyless", "--json", variables=variables)
    good_one, keyless, lost = said.document
    assert (good_one["model"], good_one["ok"], good_one["problem"]) == ("stub/good", True, None)
    assert good_one["usage"]["requests"] == 3 and good_one["cost_usd"] == pytest.approx(0.33)
    assert (lost["ok"], lost["part"]) == (False, "model")
    assert (keyless["ok"], keyless["part"]) == (None, "key") and "set UNSET_KEY" in keyless["problem"]
    assert said.code == 1 and "stub/good: ok" in said.err
    assert named.code == 0 and "0.330" in named.out
    assert missing.code == 1 and missing.document[0]["ok"] is False
    assert KEY not in "".join(item.out + item.err for item in (said, named, missing))


def test_list_says_everything_but_the_key(tmp_path: Path) -> None:
    registered(tmp_path, name="stub/good", base_url="http://127.0.0.1:9/v1", family="Stub", settings={"temperature": None})
    registered(tmp_path, name="google/gemini-x", harness="google_adk", provider="google", api_key_env="UNSET_KEY")
    registered(tmp_path, name="bedrock/claw", harness="openclaw", provider="bedrock")
    (tmp_path / "claw").mkdir()
    variables = {"ABSTAIN_MODELS": str(tmp_path), KEY_VARIABLE: KEY, "ABSTAIN_OPENCLAW": str(tmp_path / "claw")}
    said = abstain("models", "list", "--json", variables=variables)
    claw, gemini, stub = said.document
    assert claw["sdk"] == "missing"
    (tmp_path / "claw" / "patched.json").write_text('{"patch": 1}', encoding="utf-8")
    assert abstain("models", "list", "--json", variables=variables).document[0]["sdk"] == "installed"
    assert set(stub) == (set(ModelSpec.model_fields) - {"name"}) | {"model_id", "sdk", "key", "file"}
    assert (stub["model"], stub["model_id"], stub["key"], stub["sdk"]) == ("stub/good", "m", "present", "not needed")
    assert (gemini["key"], gemini["sdk"]) == ("missing", "installed")
    assert gemini["base_url"] == "https://generativelanguage.googleapis.com"
    assert KEY not in said.out + said.err


def test_add_writes_what_it_was_told_and_nothing_else(tmp_path: Path) -> None:
    variables = {"ABSTAIN_MODELS": str(tmp_path)}
    options = ("--model", "z-ai/glm-5", "--prices", 0.6, 2.2, "--open", "--family", "GLM", "--generation", 5)
    more = ("--release-date", "2026-02-11", "--max-tokens", 8192, "--max-turns", 12)
    said = abstain("models", "add", "openrouter/glm-5", *options, *more, "--json", variables=variables)
    assert said.code == 0, said.err
    spec = load_models(tmp_path)["openrouter/glm-5"]
    assert (spec.base_url, spec.api_key_env) == ("https://openrouter.ai/api/v1", "OPENROUTER_API_KEY")
    assert spec.settings.temperature == 0 and spec.settings.max_tokens == 8192 and spec.max_turns == 12
    assert spec.prices is not None and (spec.prices.input_per_million, spec.prices.output_per_million) == (0.6, 2.2)
    assert (spec.open, spec.family, spec.generation, str(spec.release_date)) == (True, "GLM", "5", "2026-02-11")
    assert said.document["key"] == "missing"
    other = ("models", "add", "openrouter/glm-5", "--harness", "openai_agents")
    taken = abstain(*other, variables=variables)
    assert taken.code == 2 and "like openrouter/glm-5+openai" in taken.err
    beside = abstain("models", "add", "openrouter/glm-5+agents", *other[3:], "--default-sampling", "--json", variables=variables)
    assert beside.code == 0, beside.err
    assert (beside.document["model_id"], beside.document["settings"]["temperature"]) == ("glm-5", None)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("acme/x",), ["base_url is missing", "unless provider is one of"]),
        (("google/x", "--harness", "claude_agent"), ["google is not known to serve the claude_agent harness", "google_adk"]),
        (("acme/x", "--harness", "telepathy", "--base-url", "http://h/v1"), ["harness:", "'chat_completions'"]),
        (("openai/x", "--api-key-env", "sk-canary-in-argv"), ["api_key_env: name the environment variable"]),
        (("openai/x", "--api-key-env", "SKCANARYWITHOUTLOWERCASE1"), ["api_key_env: name the environment variable"]),
        (("openai/x", "--temperature", 1, "--default-sampling"), ["exclude each other"]),
        (("openai/x", "--temperature", 7), ["settings.temperature:", "less than or equal to 2"]),
        (("openai/x", "--release-date", "soon"), ["release_date:"]),
    ],
)
def test_add_refuses_what_is_no_model_and_writes_nothing(tmp_path: Path, options: tuple[object, ...], said: list[str]) -> None:
    done = abstain("models", "add", *options, variables={"ABSTAIN_MODELS": str(tmp_path)})
    assert done.code == 2 and done.out == ""
    assert all(words in done.err for words in said), done.err
    assert "canary" not in done.err.lower()
    assert list(tmp_path.iterdir()) == []


# --- the shipped files ------------------------------------------------------------------------------------------------------

PAPER = {
    "claude_agent": {"anthropic/claude-opus-4.7", "anthropic/claude-sonnet-4.6", "anthropic/claude-haiku-4.5"},
    "openai_agents": {f"openai/gpt-{version}" for version in ("5.5", "5.4", "5.2", "5.1", "5", "4o")},
    "google_adk": {"google/gemini-3.1-pro", "google/gemini-3-flash"},
    "openclaw": {f"bedrock/{name}" for name in ("deepseek-v3.2", "glm-5", "kimi-k2.5", "minimax-m2.5", "gpt-oss-120b")}
    | {"openrouter/deepseek-v4-pro"},
}


def test_the_models_of_the_paper_are_there_with_their_harnesses() -> None:
    shipped = load_models(PROJECT / "models")
    assert shipped.broken == ()
    for harness, names in PAPER.items():
        assert {name for name, spec in shipped.items() if spec.harness == harness and name in set().union(*PAPER.values())} == names
    assert sum(map(len, PAPER.values())) == 17


@pytest.mark.parametrize("name", sorted(set().union(*PAPER.values())))
def test_a_shipped_model_is_complete_and_spends_nothing_by_itself(name: str) -> None:
    spec = load_models(PROJECT / "models")[name]
    assert spec.prices is not None and spec.release_date is not None and spec.family and spec.generation and spec.api_key_env
    assert spec.open is (spec.provider in ("bedrock", "openrouter"))
    assert spec.evaluate == () and spec.max_cost_usd is None
    unsettable = name.startswith("openai/gpt-5") or name == "anthropic/claude-opus-4.7"
    assert spec.settings.temperature == (None if unsettable else 0)
    assert spec.base_url is not None and "base_url" not in json.dumps(yaml.safe_load(spec.file.read_text("utf-8")), default=str)
    assert spec.file.name == f"{name.replace('/', '-')}.yaml"
