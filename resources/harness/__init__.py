"""Harnesses by name."""

from pathlib import Path

from resources.harness.base import AnyHarness
from resources.harness.retry import Retry
from resources.harness.scripted import Scripted
from resources.models import ModelSpec, api_key


def open_harness(spec: ModelSpec, *, retry: Retry | None = None, env_file: Path | None = None) -> AnyHarness:
    """The harness of a model, ready to run. Close it when done.

    Raises:
        BadInput: a scripted policy does not exist.
        MissingKey: the model's key is set nowhere.
    """
    match spec.harness:
        case "scripted":
            return Scripted(spec)
        case "chat_completions":
            # Its SDK takes half a second to import, which scripted policies need not wait for.
            from resources.harness.chat_completions import ChatCompletions

            return ChatCompletions(spec, api_key(spec, env_file), retry)
