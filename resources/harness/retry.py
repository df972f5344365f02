"""Sending a request again: bounded, counted, and not before the server's `Retry-After`."""

import random
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import TypeVar

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt

T = TypeVar("T")


@dataclass(frozen=True)
class Retry:
    """How often and how patiently a request is sent again.

    Attributes:
        attempts: requests in all, the first one included.
        base_seconds: the first wait; it doubles each time, with up to a quarter of jitter.
        max_seconds: the longest wait. A server that asks for a longer one is not asked again.
    """

    attempts: int = 6
    base_seconds: float = 1.0
    max_seconds: float = 60.0

    async def send(
        self,
        request: Callable[[], Awaitable[T]],
        *,
        transient: Callable[[BaseException], bool],
        wait_hint: Callable[[BaseException], float | None],
        on_retry: Callable[[], None],
    ) -> T:
        """The result of the first attempt that succeeds.

        Args:
            transient: whether an error may go away by itself.
            wait_hint: the seconds a server asked to wait, if it did.
            on_retry: called before each further attempt.

        Raises:
            Exception: the error of the last attempt.
        """

        def again(error: BaseException) -> bool:
            return transient(error) and (wait_hint(error) or 0) <= self.max_seconds

        def seconds(state: RetryCallState) -> float:
            error = state.outcome.exception() if state.outcome else None
            hint = wait_hint(error) if error else None
            patience = min(self.max_seconds, self.base_seconds * 2.0 ** (state.attempt_number - 1))
            return hint if hint is not None else patience * random.uniform(1.0, 1.25)

        async for attempt in AsyncRetrying(
            stop=stop_after_attempt(self.attempts),
            wait=seconds,
            retry=retry_if_exception(again),
            before_sleep=lambda _: on_retry(),
            reraise=True,
        ):
            with attempt:
                return await request()
        raise AssertionError("unreachable: the last attempt returns or raises")


def asked_to_wait(headers: Mapping[str, str]) -> float | None:
    """Seconds a server asked to wait, from `retry-after-ms` or `Retry-After` (seconds or a date).

    Args:
        headers: of its answer; names in any case must be found.
    """
    for name, divisor in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        value = headers.get(name)
        if value is None:
            continue
        try:
            return max(0.0, float(value) / divisor)
        except ValueError:
            pass
        try:
            return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
        except ValueError:
            pass
    return None
