"""What an error of the Gemini API means, read from its type, code and status and never from its wording."""

import httpx
import httpx2
from google.genai.errors import APIError
from pydantic import ValidationError

from abstain_assets.rollouts.errors import CellStopped, RunFailed
from resources.harness.retry import asked_to_wait
from resources.models import ModelSpec
from resources.secrets import redact

_TRANSPORT = (httpx.TransportError, httpx2.TransportError)
_NO_CONNECTION = (httpx.ConnectError, httpx.ConnectTimeout, httpx2.ConnectError, httpx2.ConnectTimeout)

# What sending a request can raise. Replies that are no JSON, or JSON of another shape, come as the last two.
ERRORS = (APIError, *_TRANSPORT, ValueError, ValidationError)


def transient(error: BaseException) -> bool:
    """Whether sending the same request again may succeed."""
    if isinstance(error, APIError):
        return error.code in (408, 409, 425, 429) or error.code >= 500
    return isinstance(error, ERRORS)


def wait_hint(error: BaseException) -> float | None:
    """Seconds the server asked to wait."""
    return asked_to_wait(error.response.headers) if isinstance(error, APIError) and error.response is not None else None


def explain(error: Exception, spec: ModelSpec, key: str | None, attempts: int) -> RunFailed | CellStopped:
    """The failure that an error amounts to once it was not, or not any more, worth another attempt."""
    text = " ".join(redact(str(error), key).split())[:500]
    where = f"{spec.name} at {spec.base_url}"
    if isinstance(error, APIError):
        return _status(error, spec, where, text)
    if isinstance(error, _NO_CONNECTION):
        return CellStopped("unreachable", f"{where} cannot be reached ({attempts} attempts): {text}; check base_url in {spec.file}")
    return RunFailed("api_error", f"{type(error).__name__}: {text}")


def _status(error: APIError, spec: ModelSpec, where: str, text: str) -> RunFailed | CellStopped:
    if error.code in (401, 403) or _reason(error) == "API_KEY_INVALID":
        named = f"the key in {spec.api_key_env}" if spec.api_key_env else f"no key (set api_key_env in {spec.file})"
        return CellStopped("auth", f"{where} refused {named}: {text}")
    if error.code == 402:
        return CellStopped("quota", f"{where} has no quota left: {text}")
    if error.code in (404, 405):
        return CellStopped(
            "configuration", f"{where} does not serve this: {text}; check model, base_url and settings in {spec.file}"
        )
    if error.code == 429 and (hint := wait_hint(error)):
        return RunFailed("api_error", f"429, asked to wait {hint:g} s: {text}")
    return RunFailed("api_error", f"{error.code}: {text}")


def _reason(error: APIError) -> str | None:
    """The machine-readable reason in the details of an error: a wrong key is a 400 with one."""
    body = error.details.get("error", {}) if isinstance(error.details, dict) else {}
    details = body.get("details") if isinstance(body, dict) else None
    reasons = [item.get("reason") for item in details or [] if isinstance(item, dict)]
    return next(filter(None, reasons), None)
