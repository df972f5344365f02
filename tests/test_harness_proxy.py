"""The proxy between somebody's agent program and the endpoint, used by a plain HTTP client as such a program would."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx2
import pytest

from abstain_assets.records import AgentView, ToolView
from abstain_assets.rollouts.errors import CellStopped, RunFailed
from resources.harness.anthropic_wire import MessagesWire
from resources.harness.base import Budget, Trace
from resources.harness.chat_wire import ChatWire
from resources.harness.proxy import Lane, Proxy
from resources.harness.wire import Wire
from resources.models import ModelSpec, Prices
from tests.builders_rollouts import FAST, KEY
from tests.servers.chat import Chat
from tests.servers.dialects import FINE, Broken, Dialect, Fails, ModelServer, Says, Script, in_order, in_turn
from tests.servers.messages import Messages
from tests.servers.stub import Body

TOOL = ToolView(name="look", description="Look.", input_schema={"type": "object", "properties": {}})
VIEW = AgentView(system_prompt="Be brief.", instruction="Look: 東京", tools=(TOOL,))
CALL = Says("Looking.", calls=(("x_look", {"a": "ü\u2028"}),))


@dataclass
class Program:
    """An agent program with a lane of its own.

    Attributes:
        lane, trace: of its run.
    """

    lane: Lane
    trace: Trace
    server: ModelServer
    chat: bool
    stream: bool

    def body(self, *more: Body, tools: tuple[str, ...] = ("x_look",)) -> Body:
        """A first request, or a later one with `more` of the conversation."""
        user: Body = {"role": "user", "content": VIEW.instruction}
        common = {"model": "m", "stream": self.stream}
        if self.chat:
            functions = [{"type": "function", "function": {"name": name, "parameters": TOOL.input_schema}} for name in tools]
            system: Body = {"role": "system", "content": "Be brief."}
            return {**common, "messages": [system, user, *more], "tools": functions, "stream_options": {"include_usage": True}}
        declared = [{"name": name, "input_schema": TOOL.input_schema} for name in tools]
        blocks = [{"type": "text", "text": "I am a program."}, {"type": "text", "text": "Be brief."}]
        return {**common, "max_tokens": 9, "messages": [user, *more], "system": blocks, "tools": declared}

    def results(self, text: str) -> list[Body]:
        """What follows the first call of a tool in the conversation."""
        if self.chat:
            call = {"id": "call_0", "type": "function", "function": {"name": "x_look", "arguments": "{}"}}
            return [
                {"role": "assistant", "content": None, "tool_calls": [call]},
                {"role": "tool", "tool_call_id": "call_0", "content": text},
            ]
        return [
            {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_0", "name": "x_look", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_0", "content": text}]},
        ]

    async def ask(self, body: Body, *, key: str | None = None, path: str | None = None, timeout: float = 20) -> httpx2.Response:
        """Send a request by the lane."""
        key = key or self.lane.key
        headers = {"authorization": f"Bearer {key}", "anthropic-version": "1"} if self.chat else {"x-api-key": key}
        path = path or ("/chat/completions" if self.chat else "/v1/messages?beta=true")
        async with httpx2.AsyncClient(timeout=timeout) as client:
            return await client.post(self.lane.url + path, json=body, headers={"anthropic-version": "1", **headers})


@asynccontextmanager
async def program(
    kind: str, script: Script, *, key: str = KEY, max_turns: int = 30, budget: Budget | None = None
) -> AsyncIterator[Program]:
    """A program before a proxy before a server."""
    protocol, _, stream = kind.partition(" ")
    chat = protocol == "chat"
    dialect: Dialect = Chat() if chat else Messages()
    with ModelServer(dialect, script, key=KEY) as server:
        fields = {"name": "stub/m", "harness": "claude_agent", "provider": "stub", "model": "m", "base_url": server.url}
        spec = ModelSpec.model_validate({**fields, "max_turns": max_turns, "timeout_seconds": 5, "api_key_env": "SOME_KEY"})
        wire: Wire = ChatWire() if chat else MessagesWire()
        proxy = Proxy(wire, spec, key, FAST)
        trace = Trace(budget or Budget(), Prices(input_per_million=1e4, output_per_million=0, date="2026-01-01"))
        try:
            async with proxy.lane(VIEW, trace, lambda name: name.removeprefix("x_")) as lane:
                yield Program(lane, trace, server, chat, bool(stream))
        finally:
            await proxy.close()


def do(work: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(work, 30))


@pytest.fixture(params=["messages", "messages streamed", "chat", "chat streamed"])
def kind(request: pytest.FixtureRequest) -> str:
    chosen: str = request.param
    return chosen


def test_a_run_is_passed_on_and_written_down(kind: str) -> None:
    async def main() -> None:
        async with program(kind, in_turn(CALL, Says("Done. ✓", usage=(50, 7)))) as agent:
            first = await agent.ask(agent.body())
            assert first.status_code == 200 and "x_look" in first.text and not agent.lane.over.is_set()
            second = await agent.ask(agent.body(*agent.results("saw ü")))
            assert second.status_code == 200 and agent.lane.over.is_set() and agent.lane.text == "Done. ✓"
            trace = agent.trace
            assert [(item.role, item.content) for item in trace.messages] == [
                ("assistant", "Looking."),
                ("tool", "saw ü"),
                ("assistant", "Done. ✓"),
            ]
            (call,) = trace.messages[0].tool_calls
            assert (call.name, call.arguments, call.id) == ("look", {"a": "ü\u2028"}, trace.messages[1].tool_call_id)
            assert trace.additions == ([] if agent.chat else ["I am a program."])
            assert (trace.requests, trace.retries, trace.turns, trace.input_tokens, trace.output_tokens) == (2, 0, 2, 150, 17)
            sent = agent.server.asked
            assert [request.body for request in sent] == [agent.body(), agent.body(*agent.results("saw ü"))]
            assert all(KEY in json.dumps(request.headers) for request in sent)
            assert not any(agent.lane.key in json.dumps(request.headers) for request in sent)
            again = await agent.ask(agent.body())
            assert again.status_code == 400 and "error" in again.json() and len(agent.server.asked) == 2

    do(main())


@pytest.mark.parametrize("how", ["reset", "reset_midway", "truncated", "not_json"])
def test_a_broken_reply_is_asked_for_again_and_the_program_sees_none_of_it(kind: str, how: Any) -> None:
    async def main() -> None:
        async with program(kind, in_order(Broken(how), CALL)) as agent:
            response = await agent.ask(agent.body())
            assert response.status_code == 200 and "x_look" in response.text
            assert (agent.trace.requests, agent.trace.retries, agent.trace.turns) == (2, 1, 1)

    do(main())


FAILURES: dict[str, tuple[Script, str, int]] = {
    "500": (in_turn(Fails(500)), "api_error", 3),
    "400": (in_turn(Fails(400)), "api_error", 1),
    "401": (in_turn(Fails(401)), "auth", 1),
    "402": (in_turn(Fails(402)), "quota", 1),
    "404": (in_turn(Fails(404)), "configuration", 1),
    "cut": (in_turn(Broken("truncated")), "api_error", 3),
    "refused": (in_turn(Says("No.", ending="refused")), "policy_refusal", 1),
    "filtered": (in_turn(Says("No.", ending="filtered")), "policy_refusal", 1),
    "empty": (in_turn(Says(" ")), "empty_output", 1),
}


@pytest.mark.parametrize("name", FAILURES)
def test_the_kind_of_a_failure_comes_from_what_the_proxy_saw(kind: str, name: str) -> None:
    script, expected, requests = FAILURES[name]

    async def main() -> None:
        async with program(kind, script) as agent:
            await agent.ask(agent.body())
            assert agent.lane.over.is_set()
            with pytest.raises((RunFailed, CellStopped)) as failed:
                _ = agent.lane.text
            found = getattr(failed.value, "kind", None) or getattr(failed.value, "reason", None)
            assert (found, agent.trace.requests) == (expected, requests) and KEY not in str(failed.value)
            assert (await agent.ask(agent.body())).status_code == 400 and agent.trace.requests == requests

    do(main())


def test_the_request_beyond_a_limit_is_never_passed_on(kind: str) -> None:
    async def main(expected: str, **limits: Any) -> None:
        async with program(kind, in_turn(CALL), **limits) as agent:
            for _ in range(2):
                assert (await agent.ask(agent.body())).status_code == 200
            assert (await agent.ask(agent.body())).status_code == 400
            with pytest.raises(RunFailed) as failed:
                _ = agent.lane.text
            assert failed.value.kind == expected and len(agent.server.received) == 2

    do(main("max_turns_exceeded", max_turns=2))
    do(main("budget_exceeded", budget=Budget(1.5)))  # a dollar for every reply


def test_only_the_right_key_on_the_right_path_gets_through(kind: str) -> None:
    async def main() -> None:
        async with program(kind, in_turn(FINE)) as agent, agent.lane._proxy.lane(VIEW, agent.trace, str) as other:
            assert (await agent.ask(agent.body(), key=other.key)).status_code == 401
            assert (await agent.ask(agent.body(), key=KEY)).status_code == 401
            assert (await agent.ask(agent.body(), path="/v1/messages/count_tokens")).status_code == 404
            async with httpx2.AsyncClient() as client:
                assert (await client.head(agent.lane.url)).status_code == 401
                origin = agent.lane.url.rpartition("/")[0]
                assert (await client.post(f"{origin}/v1/messages", json=agent.body())).status_code == 401
            assert not agent.server.received and agent.trace.requests == 0 and not agent.lane.over.is_set()
            assert (await agent.ask(agent.body())).status_code == 200

    do(main())


def test_other_tools_than_those_of_the_view_are_not_passed_on(kind: str) -> None:
    async def main() -> None:
        async with program(kind, in_turn(FINE)) as agent:
            await agent.ask(agent.body(tools=("x_look", "bash")))
            with pytest.raises(RunFailed, match="other tools than the view has: bash") as failed:
                _ = agent.lane.text
            assert failed.value.kind == "runtime_error" and not agent.server.received

    do(main())


@pytest.mark.parametrize("body", [{}, {"messages": 3}, {"messages": [{"role": "user"}]}, []])
@pytest.mark.parametrize("kind", ["messages", "chat"])
def test_what_is_no_request_ends_the_run(kind: str, body: Any) -> None:
    async def main() -> None:
        async with program(kind, in_turn(FINE)) as agent:
            await agent.ask(body)
            with pytest.raises(RunFailed) as failed:
                _ = agent.lane.text
            assert failed.value.kind == "runtime_error" and not agent.server.received

    do(main())


def test_a_program_that_hangs_up_and_a_lane_that_closes_abort_the_request() -> None:
    async def main() -> None:
        start = time.monotonic()
        async with program("messages", in_turn(Broken("slow", 4))) as agent:
            with pytest.raises(httpx2.ReadTimeout):
                await agent.ask(agent.body(), timeout=0.3)
            while agent.lane._asking:
                await asyncio.sleep(0.01)
            waiting = asyncio.create_task(agent.ask(agent.body()))
            while len(agent.server.received) < 2:
                await asyncio.sleep(0.01)
        assert (await waiting).status_code == 400
        assert time.monotonic() - start < 3 and agent.trace.turns == 0 and agent.trace.model_seconds < 3

    do(main())


def test_silence_is_counted_from_the_last_answer_only() -> None:
    async def main() -> None:
        async with program("chat", in_turn(Broken("slow", 0.6))) as agent:
            silent = asyncio.create_task(agent.lane.silent(0.3))
            await agent.ask(agent.body())
            assert not silent.done()
            await asyncio.wait_for(silent, 2)

    do(main())
