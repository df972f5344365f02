"""What an error of an Anthropic-compatible endpoint means, read from its status and type and never from its wording."""

import anthropic
import httpx2

from abstain_assets.rollouts.errors import CellStopped, RunFailed
from resources.harness.anthropic_reply import MalformedReply
from resources.harness.retry import asked_to_wait
from resources.models import ModelSpec
from resources.secrets import redact

_SPENT = {"contract_spend_limit_reached", "enforced_spend_limit_reached"}
_NO_REPLY = (httpx2.ConnectError, httpx2.ConnectTimeout)


def transient(error: BaseException) -> bool:
    """Whether sending the same request again may succeed."""
    if isinstance(error, (anthropic.APIConnectionError, MalformedReply)):
        return True
    if not isinstance(error, anthropic.APIStatusError) or error.error_code in _SPENT:
        return False
    return error.status_code in (408, 409, 425, 429) or error.status_code >= 500


def wait_hint(error: BaseException) -> float | None:
    """Seconds the server asked to wait."""
    return asked_to_wait(error.response.headers) if isinstance(error, anthropic.APIStatusError) else None


def explain(error: Exception, spec: ModelSpec, key: str | None, attempts: int) -> RunFailed | CellStopped:
    """The failure that an error amounts to once it was not, or not any more, worth another attempt."""
    text = redact(str(error), key)[:500]
    where = f"{spec.name} at {spec.base_url}"
    if isinstance(error, anthropic.APIStatusError):
        return _status(error, spec, where, text)
    if isinstance(error, anthropic.APIConnectionError) and isinstance(error.__cause__, _NO_REPLY):
        return CellStopped(
            "unreachable", f"{where} cannot be reached ({attempts} attempts): {error.__cause__}; check base_url in {spec.file}"
        )
    return RunFailed("api_error", f"{type(error.__cause__ or error).__name__}: {text}")


def _status(error: anthropic.APIStatusError, spec: ModelSpec, where: str, text: str) -> RunFailed | CellStopped:
    status = error.status_code
    if status == 402 or error.type == "billing_error" or error.error_code in _SPENT:
        return CellStopped("quota", f"{where} has no quota left: {text}")
    if status in (401, 403):
        named = f"the key in {spec.api_key_env}" if spec.api_key_env else f"no key (set api_key_env in {spec.file})"
        return CellStopped("auth", f"{where} refused {named}: {text}")
    if status == 429 and (hint := wait_hint(error)) is not None and hint > 0:
        return RunFailed("api_error", f"429, asked to wait {hint:g} s: {text}")
    if status in (404, 405):
        return CellStopped(
            "configuration", f"{where} does not serve this: {text}; check model, base_url and settings in {spec.file}"
        )
    return RunFailed("api_error", f"{status}: {text}")
