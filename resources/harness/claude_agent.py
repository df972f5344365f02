"""Anthropic's Claude Agent SDK with the CLI it bundles, over the proxy.

By default the CLI adds working directory, platform, date and much else to the conversation, retries by itself, and asks its maker's
servers for this and that. All of it is switched off; its identity line cannot be and is recorded. It would prompt the model again
after an empty or a cut reply; the proxy ends the run there, as the plain loop does. The CLI gets an environment of its own, empty
folders, and of the endpoint only its lane through the proxy.
"""

import asyncio
import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import claude_agent_sdk
from claude_agent_sdk import ClaudeAgentOptions, ClaudeSDKError, ResultMessage, query

from abstain_assets.errors import BadInput
from abstain_assets.rollouts.errors import RunFailed
from environments.runtime.records import JsonObject
from resources.harness.anthropic_messages import settings_of
from resources.harness.anthropic_wire import MessagesWire
from resources.harness.base import ForeignRequest
from resources.harness.claude_cli import CliTransport
from resources.harness.proxy import Lane, Proxy
from resources.harness.retry import Retry
from resources.models import ModelSpec

SERVER = "s"
# Longer than any tool may take.
SILENCE_SECONDS = 120.0
_BUNDLED = Path(claude_agent_sdk.__file__).parent / "_bundled"
_PREFIX = f"mcp__{SERVER}__"
_NEVER_MS = "2147483647"
_ENV = {
    "PATH": "/usr/bin:/bin",
    "LANG": "C.UTF-8",
    # What it would add to the conversation or to the request.
    "CLAUDE_CODE_SIMPLE": "1",
    "CLAUDE_CODE_DISABLE_ATTACHMENTS": "1",
    "CLAUDE_CODE_ATTRIBUTION_HEADER": "0",
    "CLAUDE_CODE_DISABLE_EXPERIMENTAL_BETAS": "1",
    "CLAUDE_CODE_EFFORT_LEVEL": "unset",
    "DISABLE_INTERLEAVED_THINKING": "1",
    "DISABLE_PROMPT_CACHING": "1",
    "DISABLE_COMPACT": "1",
    # What it would do to tools and results.
    "ENABLE_TOOL_SEARCH": "false",
    "MAX_MCP_OUTPUT_TOKENS": "100000000",
    "CLAUDE_CODE_MAX_MCP_DESCRIPTION_LENGTH": "1000000",
    "CLAUDE_CODE_DISABLE_MCP_TASKS": "1",
    "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS": "1",
    "MCP_CONNECTION_NONBLOCKING": "0",
    # Who waits and tries again is the proxy.
    "CLAUDE_CODE_MAX_RETRIES": "0",
    "CLAUDE_CODE_DISABLE_NONSTREAMING_FALLBACK": "1",
    "CLAUDE_CODE_DISABLE_REFUSAL_RETRY": "1",
    "CLAUDE_CODE_DISABLE_REFUSAL_FALLBACK": "1",
    "CLAUDE_CODE_NO_MODEL_FALLBACK": "1",
    "API_TIMEOUT_MS": _NEVER_MS,
    "CLAUDE_STREAM_FIRST_BYTE_TIMEOUT_MS": _NEVER_MS,
    "CLAUDE_STREAM_IDLE_TIMEOUT_MS": _NEVER_MS,
    "CLAUDE_ENABLE_STREAM_WATCHDOG": "0",
    # Whom else it would ask.
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_TELEMETRY": "1",
    "DISABLE_ERROR_REPORTING": "1",
}


def cli_version() -> str:
    """Version of the bundled CLI, as the SDK's wheel says it."""
    return (_BUNDLED / "claude.version").read_text(encoding="utf-8").split()[0]


class ClaudeAgent:
    """One model under the Claude Agent SDK.

    Args:
        key: the endpoint's key. Only the proxy knows it.

    Raises:
        BadInput: the model file sets something the protocol lacks, or the SDK came without its CLI.
    """

    name = "claude_agent"
    version = "1"
    privileged = False
    foreign: Literal[True] = True

    def __init__(self, spec: ModelSpec, key: str | None, retry: Retry | None = None) -> None:
        self._cli = _BUNDLED / "claude"
        if not self._cli.is_file():
            raise BadInput(f"claude_agent: {self._cli} is missing; install a wheel of claude-agent-sdk that bundles its CLI")
        self.evidence_version = f"{self.version} (claude-agent-sdk {claude_agent_sdk.__version__}, claude {cli_version()})"
        self._spec = spec
        self._settings = settings_of(spec)
        self._proxy = Proxy(MessagesWire(spec.bearer), spec, key, retry or Retry())

    async def close(self) -> None:
        """Stop the proxy."""
        await self._proxy.close()

    async def run(self, request: ForeignRequest) -> str:
        """Run the agent; see `Harness.run`."""
        view, trace = request.view, request.trace
        if view.system_prompt:
            trace.say("system", view.system_prompt)
        trace.say("user", view.instruction)
        async with self._proxy.lane(view, trace, _wire_name) as lane:
            with _folder() as folder:
                cli = CliTransport(self._command(folder, request), self._env(folder, lane), folder / "work", folder / "complaints")
                talking = asyncio.create_task(_talk(cli, view.instruction))
                over = asyncio.create_task(lane.over.wait())
                silent = asyncio.create_task(lane.silent(SILENCE_SECONDS))
                try:
                    await asyncio.wait({talking, over, silent}, return_when=asyncio.FIRST_COMPLETED)
                    if not lane.over.is_set():
                        raise RunFailed("runtime_error", _problem(cli, talking))
                finally:
                    over.cancel()
                    silent.cancel()
                    await _end(cli, talking)
        return lane.text

    def _command(self, folder: Path, request: ForeignRequest) -> list[str]:
        """The command line. What may be long or must not be seen in it goes into files."""
        (folder / "prompt").write_text(request.view.system_prompt, encoding="utf-8")
        command = request.command
        server = {"type": "stdio", "command": command.command, "args": list(command.args), "env": command.env}
        (folder / "servers.json").write_text(json.dumps({"mcpServers": {SERVER: server}}), encoding="utf-8")
        return [
            str(self._cli),
            *("--input-format", "stream-json", "--output-format", "stream-json", "--verbose"),
            *("--model", self._spec.model),
            *("--system-prompt-file", str(folder / "prompt")),
            *("--tools", ""),
            *("--mcp-config", str(folder / "servers.json"), "--strict-mcp-config"),
            *("--allowedTools", f"mcp__{SERVER}", "--permission-mode", "dontAsk"),
            *("--thinking", "disabled"),
            "--setting-sources=",
            "--no-session-persistence",
            # One more than the proxy lets through: the last results shall come back to it.
            *("--max-turns", str(self._spec.max_turns + 1)),
        ]

    def _env(self, folder: Path, lane: Lane) -> dict[str, str]:
        # The user id that the CLI would send is a random one, but nothing the view has.
        extra: JsonObject = {"metadata": {}, **self._settings}
        places = {name: str(folder / place) for name, place in _PLACES.items()}
        return {
            **_ENV,
            **places,
            "PWD": str(folder / "work"),
            "CLAUDE_CODE_EXTRA_BODY": json.dumps(extra),
            "CLAUDE_CODE_ENTRYPOINT": "sdk-py",
            "CLAUDE_AGENT_SDK_VERSION": claude_agent_sdk.__version__,
            "ANTHROPIC_BASE_URL": lane.url,
            "ANTHROPIC_API_KEY": lane.key,
        }


_PLACES = {"HOME": "home", "CLAUDE_CONFIG_DIR": "config", "TMPDIR": "tmp"}


@contextmanager
def _folder() -> Iterator[Path]:
    """An empty home, configuration, place for temporary files and working directory, gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="agent-", ignore_cleanup_errors=True) as name:
        folder = Path(os.path.realpath(name))
        for place in (*_PLACES.values(), "work"):
            (folder / place).mkdir()
        yield folder


async def _talk(cli: CliTransport, instruction: str) -> str:
    """Let the SDK run the conversation; what it says went wrong, or nothing."""
    problem = ""
    try:
        async for message in query(prompt=instruction, options=ClaudeAgentOptions(verbatim_prompts=True), transport=cli):
            if isinstance(message, ResultMessage):
                problem = f"the CLI ended the run with {message.subtype}: {message.result or ''}"
    except ClaudeSDKError as error:
        problem = problem or f"{type(error).__name__}: {error}"
    return problem


def _problem(cli: CliTransport, talking: asyncio.Task[str]) -> str:
    """Why a run came to no end that the proxy knows of."""
    if not talking.done():
        return f"the CLI did nothing for {SILENCE_SECONDS:g} s"
    return talking.result() or cli.complaint or "the CLI ended without a word"


async def _end(cli: CliTransport, talking: asyncio.Task[str]) -> None:
    """Kill the CLI, then end the conversation of the SDK, which has nobody left to wait for. A cancellation waits for both."""

    async def end() -> None:
        await cli.close()
        talking.cancel()
        await asyncio.wait({talking})
        await cli.close()

    ending = asyncio.ensure_future(end())
    try:
        await asyncio.shield(ending)
    except asyncio.CancelledError:
        await ending
        raise


def _wire_name(shown: str) -> str:
    return shown.removeprefix(_PREFIX)
