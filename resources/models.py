"""The models that can be evaluated: one YAML file each in `models/`, read into `ModelSpec`.

Files hold no secrets: a model names the variable that holds its key, and the key is read at the moment it is needed
(`resources/secrets.py`).
"""

import difflib
import re
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue, PrivateAttr, ValidationError, model_validator

from abstain_assets.errors import BadInput
from resources import secrets
from resources.endpoints import PROTOCOLS, endpoint_of, missing_address
from resources.endpoints import HarnessName as HarnessName
from resources.settings import PROJECT

FOLDER_VARIABLE = "ABSTAIN_MODELS"

_NAME = re.compile(r"[A-Za-z0-9]+([._+-][A-Za-z0-9]+)*([/:][A-Za-z0-9]+([._+-][A-Za-z0-9]+)*)+")
_VARIABLE = re.compile(r"[A-Z][A-Z0-9_]*")
_LONGEST_WORD = 15  # in the name of a variable; keys of capitals and digits are longer


class BadModel(BadInput):
    """A file that is no model. The message names the file, the field and the fix.

    Attributes:
        name: the model it would be, where it says so.
    """

    def __init__(self, message: str, name: object = None) -> None:
        super().__init__(message)
        self.name = name if isinstance(name, str) else None


class MissingKey(BadInput):
    """A model needs a key that is neither in the environment nor in `.env`."""


def slug(name: str) -> str:
    """The partition key and path part of a model name.

    >>> slug("ollama/llama3.2:3b")
    'ollama~llama3.2~~3b'
    """
    return _checked_name(name).replace(":", "~~").replace("/", "~")


def from_slug(key: str) -> str:
    """The model name of a partition key.

    >>> from_slug("ollama~llama3.2~~3b")
    'ollama/llama3.2:3b'
    """
    return _checked_name(key.replace("~~", ":").replace("~", "/"))


def _checked_name(name: str) -> str:
    if len(name) > 100 or not _NAME.fullmatch(name):
        raise ValueError(
            f"{name!r} is no model name; write `provider/model`: letters, digits, and single `.`, `_`, `-`, `+`, `:` or `/` between"
        )
    return name


def _checked_variable(name: str) -> str:
    if not _VARIABLE.fullmatch(name) or any(len(part) > _LONGEST_WORD for part in name.split("_")):
        raise ValueError("name the environment variable that holds the key (like OPENAI_API_KEY), never the key itself")
    return name


def _checked_url(url: str) -> str:
    if not re.fullmatch(r"https?://[^\s/@?#]+(/[^\s@?#]*)?", url):
        raise ValueError("write an address that starts with http:// or https:// and holds no user name, password or `?`")
    return url.rstrip("/")


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", coerce_numbers_to_str=True)


class Prices(_Strict):
    """US dollars per million tokens, and the day they were looked up."""

    input_per_million: float = Field(ge=0)
    output_per_million: float = Field(ge=0)
    date: date

    def cost(self, input_tokens: int, output_tokens: int) -> float:
        """Price of some tokens in US dollars."""
        return (input_tokens * self.input_per_million + output_tokens * self.output_per_million) / 1_000_000


class Settings(_Strict):
    """What is asked of the model beside the conversation. `None` leaves a setting to the provider.

    Attributes:
        max_tokens, max_completion_tokens: the two names that servers use for the length of one reply.
        extra_body: further fields of the request, sent as they are.
    """

    temperature: float | None = Field(default=0.0, ge=0, le=2)
    top_p: float | None = Field(default=None, gt=0, le=1)
    max_tokens: int | None = Field(default=None, gt=0)
    max_completion_tokens: int | None = Field(default=None, gt=0)
    reasoning_effort: str | None = None
    extra_body: dict[str, JsonValue] = {}


class ModelSpec(_Strict):
    """One model under one harness, as its file says it.

    Attributes:
        name: `provider/model`, the name everything is reported under.
        provider: whose limit on parallel requests applies.
        model: the id the provider knows the model by; for `scripted` the policy.
        base_url, api_key_env: filled in for known providers (`resources/endpoints.py`) where the file leaves the address out.
        protocol: which of its two `openai_agents` speaks; by default `responses` where the provider is `openai`, else `chat`.
        bearer: send the key as a bearer token, also where the protocol has a header of its own for it, as some gateways want.
        open: whether the weights can be had.
        evaluate: rounds that the sensor may run without being asked; none by default.
        max_cost_usd: what the sensor may spend on it.
        timeout_seconds: how long one reply may take.
    """

    name: Annotated[str, AfterValidator(_checked_name)]
    harness: HarnessName
    protocol: Literal["chat", "responses"] | None = None
    provider: str
    model: str
    base_url: Annotated[str, AfterValidator(_checked_url)] | None = None
    api_key_env: Annotated[str, AfterValidator(_checked_variable)] | None = None
    bearer: bool = False
    settings: Settings = Settings()
    prices: Prices | None = None
    open: bool | None = None
    family: str | None = None
    generation: str | None = None
    release_date: date | None = None
    max_turns: int = Field(default=30, ge=1)
    timeout_seconds: float = Field(default=300, gt=0)
    evaluate: tuple[str, ...] = ()
    max_cost_usd: float | None = Field(default=None, gt=0)
    _file: Path = PrivateAttr(default=Path("models"))

    @model_validator(mode="before")
    @classmethod
    def _known_address(cls, data: Any) -> Any:
        if not isinstance(data, dict) or data.get("base_url") is not None:
            return data
        found = endpoint_of(data.get("provider"), data.get("harness"))
        return {"api_key_env": found.key, "bearer": found.bearer, **data, "base_url": found.url} if found else data

    @model_validator(mode="after")
    def _needs_an_address(self) -> "ModelSpec":
        if self.harness in PROTOCOLS and self.base_url is None:
            raise ValueError(missing_address(self.provider, self.harness))
        if self.protocol and self.harness != "openai_agents":
            raise ValueError("protocol: only openai_agents speaks more than one; remove it")
        return self

    @property
    def slug(self) -> str:
        return slug(self.name)

    @property
    def file(self) -> Path:
        """The file it was read from."""
        return self._file


class Models(dict[str, ModelSpec]):
    """Models by name.

    Attributes:
        broken: what is wrong with every file that holds none. They keep nobody from using the others.
    """

    broken: tuple[BadModel, ...] = ()


_PARTS: dict[str, type[BaseModel]] = {"settings": Settings, "prices": Prices}


def models_folder() -> Path:
    """Where model files are: `ABSTAIN_MODELS`, else `models/` of the project."""
    return Path(secrets.variable(FOLDER_VARIABLE) or PROJECT / "models")


def load_models(folder: Path | None = None) -> Models:
    """All models of a folder by name, sorted, and what is wrong with the files that are none.

    Raises:
        BadInput: the folder does not exist.
    """
    folder = folder or models_folder()
    if not folder.is_dir():
        raise BadInput(f"there is no folder {folder} with model files; create it or set {FOLDER_VARIABLE}")
    found: dict[str, ModelSpec] = {}
    broken: list[BadModel] = []
    twice: set[str] = set()  # which of the two is meant, nobody knows
    for path in sorted((*folder.glob("*.yaml"), *folder.glob("*.yml"))):
        try:
            spec = read_model(path)
        except BadModel as error:
            broken.append(error)
            continue
        first = found.setdefault(spec.name, spec)
        if first is not spec:
            message = f"{path}: name: {spec.name} is already the name of {first.file}; rename one of them"
            broken.append(BadModel(message, spec.name))
            twice.add(spec.name)
    models = Models(sorted((name, spec) for name, spec in found.items() if name not in twice))
    models.broken = tuple(broken)
    return models


def read_model(path: Path) -> ModelSpec:
    """One model file.

    Raises:
        BadModel: it is not readable, not YAML or not a model.
    """
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise BadModel(f"{path}: cannot be read: {error}") from error
    except yaml.YAMLError as error:
        raise BadModel(f"{path}: {_yaml_problem(error)}") from error
    if not isinstance(data, dict):
        raise BadModel(f"{path}: a model file holds `field: value` lines; see docs or another file in {path.parent}")
    try:
        spec = ModelSpec.model_validate(data)
    except ValidationError as error:
        raise BadModel(f"{path}: {'; '.join(_problems(error))}", data.get("name")) from error
    spec._file = path
    return spec


def find_model(name: str, models: Models) -> ModelSpec:
    """A model by name.

    Raises:
        BadInput: there is none; the message names the nearest ones, or says what is wrong with its file.
    """
    if name in models:
        return models[name]
    if own := [str(error) for error in models.broken if error.name == name]:
        raise BadInput("; ".join(own))
    near = difflib.get_close_matches(name, models, n=3, cutoff=0.5) or list(models)
    unread = "".join(f"; {error}" for error in models.broken if error.name is None)
    raise BadInput(f"unknown model {name!r}; did you mean {', '.join(near)}? `abstain models list` shows all{unread}")


def api_key(spec: ModelSpec, env_file: Path | None = None) -> str | None:
    """The key of a model, or `None` where its endpoint needs none.

    Args:
        env_file: where to look after the environment; `.env` by default.

    Raises:
        MissingKey: the variable is set nowhere.
        BadInput: its value cannot be a key.
    """
    if spec.api_key_env is None:
        return None
    key = secrets.secret(spec.api_key_env, env_file)
    if not key:
        where = env_file or secrets.env_file()
        raise MissingKey(f"{spec.name} needs a key: set {spec.api_key_env} in the environment or in {where} (named by {spec.file})")
    return key


def _yaml_problem(error: yaml.YAMLError) -> str:
    """What is wrong and where, without quoting the line: somebody may have put a key there."""
    mark = getattr(error, "problem_mark", None)
    where = f"line {mark.line + 1}, column {mark.column + 1}" if mark else "somewhere"
    return f"not valid YAML at {where}: {getattr(error, 'problem', None) or 'cannot be parsed'}; fix the line"


def _problems(error: ValidationError) -> list[str]:
    return [_problem(item) for item in error.errors(include_url=False, include_input=False)]


def _problem(item: Mapping[str, Any]) -> str:
    field = ".".join(map(str, item["loc"])) or "the file"
    if item["type"] == "missing":
        return f"{field}: missing; add a line `{field}: ...`"
    if item["type"] == "extra_forbidden":
        near = difflib.get_close_matches(str(item["loc"][-1]), _PARTS.get(str(item["loc"][0]), ModelSpec).model_fields, n=1)
        return f"{field}: unknown field; {f'did you mean `{near[0]}`?' if near else 'remove it'}"
    return f"{field}: {item['msg'].removeprefix('Value error, ')}"
