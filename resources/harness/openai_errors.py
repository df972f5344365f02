"""What an error of an OpenAI-compatible endpoint means, read from its type, status and code and never from its wording."""

import httpx2
import openai

from abstain_assets.rollouts.errors import CellStopped, RunFailed
from resources.harness.retry import asked_to_wait
from resources.models import ModelSpec
from resources.secrets import redact

_QUOTA = {"insufficient_quota", "billing_hard_limit_reached", "billing_not_active"}
FILTERED = {
    "content_filter",
    "content_policy_violation",
    "moderation_blocked",
    "invalid_prompt",  # flagged as against the usage policy
    "bio_policy",
    "misalignment_policy_violation",
}
_MISCONFIGURED = {"model_not_found", "unsupported_parameter", "unsupported_value", "unknown_parameter", "invalid_model"}


class MalformedReply(Exception):
    """The endpoint answered with success and something that is no reply."""


def transient(error: BaseException) -> bool:
    """Whether sending the same request again may succeed."""
    if isinstance(error, (openai.APIConnectionError, MalformedReply)):
        return True
    if not isinstance(error, openai.APIStatusError):
        return False
    status = error.status_code
    return status in (408, 409, 425) or status >= 500 or (status == 429 and error.code not in _QUOTA)


def wait_hint(error: BaseException) -> float | None:
    """Seconds the server asked to wait."""
    return asked_to_wait(error.response.headers) if isinstance(error, openai.APIStatusError) else None


def explain(error: openai.OpenAIError | MalformedReply, spec: ModelSpec, key: str | None, attempts: int) -> RunFailed | CellStopped:
    """The failure that an error amounts to once it was not, or not any more, worth another attempt."""
    text = redact(str(error), key)[:500]
    where = f"{spec.name} at {spec.base_url}"
    if isinstance(error, openai.APIStatusError):
        return _status(error, spec, where, text)
    if isinstance(error, openai.APIConnectionError) and isinstance(error.__cause__, (httpx2.ConnectError, httpx2.ConnectTimeout)):
        return CellStopped(
            "unreachable", f"{where} cannot be reached ({attempts} attempts): {error.__cause__}; check base_url in {spec.file}"
        )
    cause = error.__cause__ if isinstance(error, openai.APIConnectionError) else None
    if isinstance(cause, MalformedReply):  # read below the SDK
        text = redact(str(cause), key)[:500]
    return RunFailed("api_error", f"{type(cause or error).__name__}: {text}")


def _status(error: openai.APIStatusError, spec: ModelSpec, where: str, text: str) -> RunFailed | CellStopped:
    status, code = error.status_code, error.code
    if code in FILTERED or (status == 403 and _flagged(error.body)):
        return RunFailed("policy_refusal", f"the provider refused the request: {text}")
    if status in (401, 403):
        named = f"the key in {spec.api_key_env}" if spec.api_key_env else f"no key (set api_key_env in {spec.file})"
        return CellStopped("auth", f"{where} refused {named}: {text}")
    if status == 402 or code in _QUOTA:
        return CellStopped("quota", f"{where} has no quota left: {text}")
    if status == 429 and (hint := wait_hint(error)) is not None and hint > 0:
        return RunFailed("api_error", f"429, asked to wait {hint:g} s: {text}")
    if status in (404, 405) or code in _MISCONFIGURED:
        return CellStopped(
            "configuration", f"{where} does not serve this: {text}; check model, base_url and settings in {spec.file}"
        )
    return RunFailed("api_error", f"{status}: {text}")


def _flagged(body: object) -> bool:
    """A gateway's moderation answers 403 with the reasons; a refused key does not."""
    metadata = body.get("metadata") if isinstance(body, dict) else None
    return isinstance(metadata, dict) and bool(metadata.get("reasons"))
