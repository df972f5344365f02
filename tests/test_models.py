"""Model files: what is read, what is refused and in which words, and that keys stay where they are."""

import asyncio
import tomllib
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abstain_assets.errors import BadInput
from abstain_assets.rollouts.trial import try_model
from resources import models
from resources.endpoints import ENDPOINTS, PROTOCOLS, SDKS, HarnessName, Sdk
from resources.harness.scripted import POLICIES
from resources.models import MissingKey, ModelSpec, api_key, find_model, from_slug, load_models, read_model, slug
from resources.sandbox import SandboxPool
from resources.settings import PROJECT
from tests.servers.dialects import ModelServer, Says, in_turn
from tests.servers.messages import Messages

GOOD = """
name: openrouter/glm-5
harness: chat_completions
provider: openrouter
model: z-ai/glm-5
base_url: https://openrouter.ai/api/v1/
api_key_env: OPENROUTER_API_KEY
settings: {temperature: 0, max_tokens: 4096, extra_body: {reasoning: {effort: low}}}
prices: {input_per_million: 0.6, output_per_million: 2.2, date: 2026-11-01}
open: true
family: GLM
generation: 5
release_date: 2026-02-11
max_cost_usd: 5
evaluate: [v1]
"""


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_a_complete_file_is_read(tmp_path: Path) -> None:
    path = write(tmp_path, "glm.yaml", GOOD)
    spec = load_models(tmp_path)["openrouter/glm-5"]
    assert spec.base_url == "https://openrouter.ai/api/v1"
    assert spec.generation == "5"
    assert spec.max_turns == 30 and spec.settings.temperature == 0 and spec.evaluate == ("v1",)
    assert spec.prices is not None and spec.prices.cost(1_000_000, 500_000) == pytest.approx(1.7)
    assert spec.file == path and spec.slug == "openrouter~glm-5"


def test_nothing_is_evaluated_unasked(tmp_path: Path) -> None:
    write(tmp_path, "a.yaml", "{name: a/b, harness: scripted, provider: a, model: oracle}")
    spec = load_models(tmp_path)["a/b"]
    assert spec.evaluate == () and spec.max_cost_usd is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (GOOD.replace("harness:", "harnes:"), ["harness: missing", "harnes: unknown field; did you mean `harness`?"]),
        (GOOD.replace("temperature", "temprature"), ["settings.temprature: unknown field; did you mean `temperature`?"]),
        (GOOD.replace("chat_completions", "telepathy"), ["harness:", "'chat_completions'"]),
        (
            GOOD.replace("base_url: https://openrouter.ai/api/v1/", "").replace("provider: openrouter", "provider: elsewhere"),
            ["base_url is missing", "unless provider is one of openai, anthropic"],
        ),
        (GOOD.replace("https://", "ftp://"), ["base_url: write an address that starts with http"]),
        (GOOD.replace("name: openrouter/glm-5", "name: open|router/glm"), ["name: 'open|router/glm' is no model name"]),
        (
            GOOD.replace("input_per_million: 0.6", "input_per_million: -1"),
            ["prices.input_per_million:", "greater than or equal to 0"],
        ),
        (GOOD.replace("date: 2026-11-01", "date: soon"), ["prices.date:"]),
        ("name: [unclosed", ["not valid YAML at line 1"]),
        ("just words", ["a model file holds `field: value` lines"]),
        ("", ["a model file holds `field: value` lines"]),
    ],
)
def test_a_bad_file_gives_one_message_with_file_field_and_fix(tmp_path: Path, text: str, said: list[str]) -> None:
    path = write(tmp_path, "bad.yaml", text)
    write(tmp_path, "good.yaml", GOOD.replace("glm-5", "other"))
    models = load_models(tmp_path)
    assert list(models) == ["openrouter/other"], "the others can be used all the same"
    [error] = models.broken
    message = str(error)
    assert message.startswith(str(path)) and "\n" not in message
    for part in said:
        assert part in message


def test_a_file_that_is_not_text_is_named(tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(BadInput, match=r"unknown model 'a/b'.*bad\.yaml: cannot be read"):
        find_model("a/b", load_models(tmp_path))


def test_two_files_cannot_share_a_name(tmp_path: Path) -> None:
    write(tmp_path, "a.yaml", GOOD)
    write(tmp_path, "b.yaml", GOOD)
    write(tmp_path, "c.yaml", GOOD.replace("glm-5", "other"))
    models = load_models(tmp_path)
    assert list(models) == ["openrouter/other"]
    with pytest.raises(BadInput, match=r"^\S*b\.yaml: name: openrouter/glm-5 is already the name of .*a\.yaml"):
        find_model("openrouter/glm-5", models)


def test_a_broken_file_is_said_to_whoever_asks_for_its_model(tmp_path: Path) -> None:
    write(tmp_path, "a.yaml", GOOD.replace("temperature", "temprature"))
    write(tmp_path, "b.yaml", GOOD.replace("glm-5", "other"))
    models = load_models(tmp_path)
    assert find_model("openrouter/other", models).name == "openrouter/other"
    with pytest.raises(BadInput, match=r"a\.yaml: settings\.temprature: unknown field"):
        find_model("openrouter/glm-5", models)


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="ABSTAIN_MODELS"):
        load_models(tmp_path / "none")


def test_the_folder_comes_from_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, "glm.yaml", GOOD)
    monkeypatch.setenv(models.FOLDER_VARIABLE, str(tmp_path))
    assert list(load_models()) == ["openrouter/glm-5"]


def test_an_unknown_model_names_the_nearest(tmp_path: Path) -> None:
    write(tmp_path, "glm.yaml", GOOD)
    with pytest.raises(BadInput, match="did you mean openrouter/glm-5"):
        find_model("openrouter/glm5", load_models(tmp_path))


def test_the_shipped_models_are_the_scripted_policies() -> None:
    shipped = load_models(PROJECT / "models")
    assert {spec.model for spec in shipped.values() if spec.harness == "scripted"} == set(POLICIES)
    assert all(name == f"scripted/{spec.model}" for name, spec in shipped.items() if spec.harness == "scripted")


# --- keys -----------------------------------------------------------------------------------------------------------------


@pytest.fixture
def keyed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModelSpec:
    monkeypatch.delenv("OPENROUTER_API_KEY", raising=False)
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "models"
    folder.mkdir()
    write(folder, "glm.yaml", GOOD)
    return load_models(folder)["openrouter/glm-5"]


def test_a_missing_key_names_variable_and_file(keyed: ModelSpec) -> None:
    with pytest.raises(MissingKey, match=r"OPENROUTER_API_KEY.*\.env.*glm\.yaml") as caught:
        api_key(keyed)
    assert caught.value.exit_code == 2


def test_the_key_comes_from_dotenv_and_the_shell_wins(keyed: ModelSpec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, ".env", "OPENROUTER_API_KEY=from-file\n")
    assert api_key(keyed) == "from-file"
    monkeypatch.setenv("OPENROUTER_API_KEY", "from-shell")
    assert api_key(keyed) == "from-shell"


def test_an_endpoint_without_a_key_needs_none(tmp_path: Path) -> None:
    write(tmp_path, "a.yaml", GOOD.replace("api_key_env: OPENROUTER_API_KEY", ""))
    assert api_key(load_models(tmp_path)["openrouter/glm-5"]) is None


@pytest.mark.parametrize(
    "line", ["api_key_env: sk-or-v1-canary", "api_key: sk-or-v1-canary", "base_url: https://u:sk-or-v1-canary@h/v1"]
)
def test_a_key_pasted_into_a_file_is_refused_and_not_repeated(tmp_path: Path, line: str) -> None:
    kept = [text for text in GOOD.splitlines() if not text.startswith(line.split(":")[0])]
    path = write(tmp_path, "a.yaml", "\n".join([*kept, line]))
    with pytest.raises(BadInput) as caught:
        read_model(path)
    assert "canary" not in str(caught.value)


def test_broken_yaml_is_not_quoted(tmp_path: Path) -> None:
    path = write(tmp_path, "a.yaml", 'api_key: "sk-canary\nname: x')
    with pytest.raises(BadInput) as caught:
        read_model(path)
    assert "canary" not in str(caught.value)


# --- known providers ------------------------------------------------------------------------------------------------------


def spec_of(**fields: Any) -> ModelSpec:
    return ModelSpec.model_validate({"name": "a/b", "model": "m"} | fields)


@pytest.mark.parametrize(("provider", "protocol"), ENDPOINTS)
def test_a_known_provider_needs_no_address(provider: str, protocol: str) -> None:
    endpoint = ENDPOINTS[provider, protocol]  # type: ignore[index]
    for harness in (name for name, spoken in PROTOCOLS.items() if spoken == protocol):
        spec = spec_of(provider=provider, harness=harness)
        assert (spec.base_url, spec.api_key_env, spec.bearer) == (endpoint.url, endpoint.key, endpoint.bearer)


def test_every_harness_has_a_place_and_every_sdk_an_extra() -> None:
    extras = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert set(PROTOCOLS) | {"scripted", "local"} == set(get_args(HarnessName))
    assert set(SDKS) <= set(get_args(HarnessName)) and {sdk.extra for sdk in SDKS.values() if isinstance(sdk, Sdk)} <= set(extras)


def test_what_the_file_says_wins() -> None:
    own = spec_of(provider="bedrock", harness="anthropic_messages", api_key_env="MY_KEY", bearer=False)
    assert (own.api_key_env, own.bearer) == ("MY_KEY", False) and "bedrock" in (own.base_url or "")
    elsewhere = spec_of(provider="openai", harness="chat_completions", base_url="http://127.0.0.1:1/v1")
    assert elsewhere.api_key_env is None  # a key must not go to an address that it was not meant for
    assert spec_of(provider="openai", harness="chat_completions", api_key_env=None).api_key_env is None


def test_a_protocol_that_a_provider_lacks_names_the_harnesses_that_fit() -> None:
    with pytest.raises(ValueError, match=r"openai is not known to serve the google_adk harness.* use chat_completions, openai_"):
        spec_of(provider="openai", harness="google_adk")


@pytest.mark.parametrize(("bearer", "header"), [(False, "x-api-key"), (True, "authorization")])
@pytest.mark.parametrize("harness", ["anthropic_messages", "claude_agent"])
def test_a_gateway_gets_the_key_as_it_wants_it(harness: str, bearer: bool, header: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_KEY", "sk-canary-gateway")

    async def first_question(spec: ModelSpec) -> None:
        async with SandboxPool() as pool:
            await try_model(spec, pool)

    with ModelServer(Messages(), in_turn(Says("Fine."))) as server:
        spec = spec_of(provider="x", harness=harness, base_url=server.url, api_key_env="SOME_KEY", bearer=bearer)
        asyncio.run(first_question(spec))
        headers = server.asked[0].headers
    assert "sk-canary-gateway" in headers[header]
    assert [name for name, value in headers.items() if "sk-canary-gateway" in value] == [header]


# --- names and partition keys ---------------------------------------------------------------------------------------------

_part = st.from_regex(r"[A-Za-z0-9]+([._+-][A-Za-z0-9]+){0,2}", fullmatch=True).filter(lambda text: len(text) < 20)
_names = st.lists(_part, min_size=2, max_size=4).flatmap(
    lambda parts: st.lists(st.sampled_from("/:"), min_size=len(parts) - 1, max_size=len(parts) - 1).map(
        lambda marks: parts[0] + "".join(mark + part for mark, part in zip(marks, parts[1:], strict=True))
    )
)


@given(_names)
def test_slugs_are_reversible_and_safe_in_paths(name: str) -> None:
    key = slug(name)
    assert from_slug(key) == name
    assert not set(key) & set('/\\:|,*?"<>% \n') and not key.startswith(("~", ".")) and ".." not in key


@given(_names, _names)
def test_different_names_have_different_slugs(one: str, other: str) -> None:
    assert (slug(one) == slug(other)) == (one == other)


@pytest.mark.parametrize(
    "name", ["", "plain", "a|b/c", "a/b@v2", "a//b", "/a", "a/", "a/../b", "a/b c", "a/é", "a/b\n", "a~b/c", "x/" + "y" * 100]
)
def test_names_that_are_no_names(name: str) -> None:
    with pytest.raises(ValueError, match="no model name"):
        slug(name)


def test_the_shipped_example_is_a_model(tmp_path: Path) -> None:
    example = PROJECT / "models" / "chat-completions.yaml.example"
    write(tmp_path, "copy.yaml", example.read_text(encoding="utf-8"))
    (spec,) = load_models(tmp_path).values()
    assert spec.harness == "chat_completions" and spec.evaluate == ()
