"""What replies of both OpenAI protocols have in common: how they are read, from the bytes as they came, and what they come to."""

import json
from collections.abc import Mapping
from typing import Any, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from abstain_assets.records import ToolRequest
from abstain_assets.rollouts.errors import RunFailed
from environments.runtime.records import JsonObject
from resources.harness.encoding import encodable
from resources.harness.openai_errors import MalformedReply
from resources.secrets import redact


class OpenAIReply(Protocol):
    """One reply of the model.

    Attributes:
        asked: its tool calls; arguments that are no JSON object stay text.
        failure: set where the reply is no answer: a refusal, or nothing at all.
    """

    text: str
    asked: tuple[ToolRequest, ...]
    input_tokens: int
    output_tokens: int
    failure: RunFailed | None

    def tidy(self) -> JsonObject:
        """The whole reply with every field in its place, for SDKs that stumble over what servers leave out or add."""
        ...


class Lenient(BaseModel):
    """The parts of a reply that are needed; servers add others."""

    model_config = ConfigDict(extra="ignore")


M = TypeVar("M", bound=Lenient)


def parse(content: bytes, shape: type[M]) -> tuple[JsonObject, M]:
    """A reply as it came, with `?` for lone surrogates, and its parts.

    Raises:
        MalformedReply: it has another shape.
    """
    try:
        raw = encodable(json.loads(content))
        return raw, shape.model_validate(raw)
    except ValidationError as error:
        problem = error.errors(include_url=False, include_input=False)[0]
        raise MalformedReply(f"{'.'.join(map(str, problem['loc'])) or 'reply'}: {problem['msg']}{hint(raw)}") from error
    except (ValueError, RecursionError) as error:
        raise MalformedReply(f"the reply is not JSON: {error}") from error


def hint(raw: Any) -> str:
    """Some gateways answer 200 with an error inside."""
    error = raw.get("error") if isinstance(raw, Mapping) else None
    return f" ({redact(json.dumps(error, ensure_ascii=False))[:300]})" if error else ""
