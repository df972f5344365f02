"""OpenClaw, patched and over the proxy: a general agent program of which only its loop and its way with a model are left.

By default it tells the model about itself, the machine and the date, offers tools of its own, and goes on for as long as the model
calls any. Its system prompt can be replaced and its tools left out; the proxy counts turns and ends the run. It gets empty folders,
an environment of its own, and of the endpoint only its lane through the proxy. Its own errors say nothing a program could read:
where the proxy saw none, they are a `runtime_error`.
"""

import asyncio
import json
import os
import re
import signal
import sys
import tempfile
from asyncio.subprocess import DEVNULL, Process
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Literal

import httpx2

from abstain_assets.errors import BadInput
from abstain_assets.rollouts.errors import RunFailed
from environments.runtime.records import JsonObject
from resources.harness.base import ForeignRequest
from resources.harness.chat_wire import ChatWire
from resources.harness.proxy import Lane, Proxy
from resources.harness.retry import Retry
from resources.harness.wire import Said
from resources.models import ModelSpec
from resources.openclaw_install import OpenClawInstall

SERVER = "s"
# Longer than any tool and than its start may take.
SILENCE_SECONDS = 120.0
_PREFIX = f"{SERVER}__"
_LAUNCH = Path(__file__).with_name("launch.py")
_COMPLAINT = 500
_NEVER_SECONDS = 24 * 3600
# The longest tool result that it can be told to leave alone; the sandbox cuts them at less.
_RESULT_CHARACTERS = 250_000
_NEVER_TOKENS = 100_000_000
_PLACES = {"HOME": "home", "TMPDIR": "tmp", "OPENCLAW_STATE_DIR": "state", "PWD": "work"}


class OpenClaw:
    """One model under OpenClaw.

    Args:
        key: the endpoint's key. Only the proxy knows it.

    Raises:
        BadInput: it is not installed as it has to be.
    """

    name = "openclaw"
    version = "1"
    privileged = False
    foreign: Literal[True] = True

    def __init__(self, spec: ModelSpec, key: str | None, retry: Retry | None = None) -> None:
        install = OpenClawInstall()
        self._folder = install.folder
        installed = _facts(install, spec)
        versions = f"openclaw {installed['openclaw']} patched ({installed['patch']}), node {installed['node']}"
        self.evidence_version = f"{self.version} ({versions})"
        self._spec = spec
        self._proxy = Proxy(_OpenClawWire(), spec, key, retry or Retry())

    async def close(self) -> None:
        """Stop the proxy."""
        await self._proxy.close()

    async def run(self, request: ForeignRequest) -> str:
        """Run the agent; see `Harness.run`."""
        view, trace = request.view, request.trace
        if not view.system_prompt.strip():
            raise RunFailed("runtime_error", "OpenClaw would put its own system prompt where there is none")
        trace.say("system", view.system_prompt)
        trace.say("user", view.instruction)
        async with self._proxy.lane(view, trace, _wire_name) as lane:
            with _folder() as folder:
                (folder / "config.json").write_text(json.dumps(self._config(folder, lane, request)), encoding="utf-8")
                program = await _start(self._command(view.instruction), self._env(folder), folder)
                ended = asyncio.create_task(program.wait())
                over = asyncio.create_task(lane.over.wait())
                silent = asyncio.create_task(lane.silent(SILENCE_SECONDS))
                try:
                    await asyncio.wait({ended, over, silent}, return_when=asyncio.FIRST_COMPLETED)
                    if not lane.over.is_set():
                        raise RunFailed("runtime_error", _problem(folder, ended.done()))
                finally:
                    over.cancel()
                    silent.cancel()
                    await _kill(program, ended)
        return lane.text

    def _command(self, instruction: str) -> list[str]:
        package = self._folder / "node_modules" / "openclaw"
        options = ("--local", "--session-id", "run", "--thinking", "off")
        return [str(self._folder / "node"), str(package / "openclaw.mjs"), "agent", *options, f"--message={instruction}"]

    def _config(self, folder: Path, lane: Lane, request: ForeignRequest) -> JsonObject:
        """Its configuration. The model's id and settings go past it, so that it cannot adapt to what it takes the model for."""
        command = request.command
        settings = self._spec.settings.model_dump(exclude_none=True)
        extra = settings.pop("extra_body")
        body = {"model": self._spec.model, "stream_options": {"include_usage": True}, **settings, **extra}
        model: JsonObject = {"id": "model", "name": "model", "reasoning": False, "input": ["text"], "contextWindow": _NEVER_TOKENS}
        model["compat"] = {"requiresStringContent": True}
        provider: JsonObject = {"baseUrl": lane.url, "apiKey": lane.key, "api": "openai-completions", "models": [model]}
        provider["timeoutSeconds"] = _NEVER_SECONDS
        agent: JsonObject = {
            "model": {"primary": "m/model"},
            # Zero is the one value with which it leaves the length of replies to the provider.
            "models": {"m/model": {"params": {"maxTokens": 0, "extra_body": body}}},
            "systemPromptOverride": request.view.system_prompt,
            "skipBootstrap": True,
            "workspace": str(folder / "work"),
            "timeoutSeconds": _NEVER_SECONDS,
            "contextLimits": {"toolResultMaxChars": _RESULT_CHARACTERS},
        }
        return {
            "agents": {"defaults": agent},
            "models": {"mode": "replace", "providers": {"m": provider}},
            "mcp": {"servers": {SERVER: {"command": command.command, "args": list(command.args), "env": command.env}}},
            # The tools of the server above, and none of its own.
            "tools": {"allow": ["bundle-mcp"]},
            "plugins": {"enabled": False},
            "update": {"checkOnStart": False},
        }

    def _env(self, folder: Path) -> dict[str, str]:
        node = (self._folder / "node").resolve()
        return {
            **{name: str(folder / place) for name, place in _PLACES.items()},
            "PATH": f"{node.parent}:/usr/bin:/bin",
            "LANG": "C.UTF-8",
            "OPENCLAW_CONFIG_PATH": str(folder / "config.json"),
            "OPENCLAW_PLUGIN_STAGE_DIR": str(self._folder / "stage"),
            "OPENCLAW_NO_AUTO_UPDATE": "1",
            # It would start itself again, as a process that outlives a killed one.
            "OPENCLAW_NO_RESPAWN": "1",
            "OPENCLAW_PACKAGED_COMPILE_CACHE_RESPAWNED": "1",
            "NODE_COMPILE_CACHE": str(self._folder / "cache"),
        }


class _OpenClawWire(ChatWire):
    """Chat Completions as OpenClaw speaks it: the ids of tool calls come back to the model without all but letters and digits."""

    def said(self, response: httpx2.Response) -> Said:
        """What a reply says, with the ids under which the model will see the results."""
        said = super().said(response)
        return replace(said, asked=tuple(call.model_copy(update={"id": _shown_id(call.id)}) for call in said.asked))


def _facts(install: OpenClawInstall, spec: ModelSpec) -> Mapping[str, object]:
    """What is known of the install.

    Raises:
        BadInput: there is none, or it is not as it has to be.
    """
    facts = install.facts
    if facts is None:
        missing = f"{spec.file}: harness: openclaw needs a patched OpenClaw, which {install.folder} does not hold"
        raise BadInput(f"{missing}: {install.fix}")
    return facts


def _wire_name(shown: str) -> str:
    return shown.removeprefix(_PREFIX)


def _shown_id(identity: str) -> str:
    return re.sub("[^A-Za-z0-9]", "", identity)


@contextmanager
def _folder() -> Iterator[Path]:
    """An empty home, state, place for temporary files and working directory, gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="agent-", ignore_cleanup_errors=True) as name:
        folder = Path(os.path.realpath(name))
        for place in _PLACES.values():
            (folder / place).mkdir()
        yield folder


async def _start(command: Sequence[str], env: Mapping[str, str], folder: Path) -> Process:
    """Start the program in a process group of its own, to be killed when this process dies.

    Raises:
        RunFailed: it cannot be started.
    """
    launch = (sys.executable, "-I", "-S", str(_LAUNCH), str(os.getpid()), *command)
    with (folder / "said").open("wb") as said:
        starting = asyncio.ensure_future(
            asyncio.create_subprocess_exec(
                *launch, stdin=DEVNULL, stdout=said, stderr=said, cwd=folder / "work", env=dict(env), start_new_session=True
            )
        )
        try:
            return await asyncio.shield(starting)
        except asyncio.CancelledError:
            # It is being started already and has to be known to be killed.
            with suppress(OSError):
                await _kill(await starting)
            raise
        except OSError as error:
            raise RunFailed("runtime_error", f"OpenClaw cannot be started: {error}") from error


async def _kill(program: Process, ended: "asyncio.Task[int] | None" = None) -> None:
    """Kill the program's process group and wait until it is gone. A cancellation waits for that."""
    with suppress(ProcessLookupError):
        os.killpg(program.pid, signal.SIGKILL)
    waiting = ended or asyncio.ensure_future(program.wait())
    try:
        await asyncio.shield(waiting)
    except asyncio.CancelledError:
        await waiting
        raise


def _problem(folder: Path, ended: bool) -> str:
    """Why a run came to no end that the proxy knows of."""
    if not ended:
        return f"OpenClaw did nothing for {SILENCE_SECONDS:g} s"
    said = (folder / "said").read_text(encoding="utf-8", errors="replace").strip()[-_COMPLAINT:]
    return f"OpenClaw ended by itself: {said}" if said else "OpenClaw ended without a word"
