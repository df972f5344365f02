"""The MCP server over a sandbox: what any client sees of it."""

import asyncio
import json
import os
import sys
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest
from mcp import ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult, TextContent

from environments.runtime import registry
from environments.runtime.errors import EnvironmentBug
from environments.runtime.pipes import LineReader, message_streams
from environments.runtime.records import Call, Fault, JsonObject, Mount
from environments.runtime.sandbox import Sandbox, compact
from environments.runtime.server import serve
from environments.runtime.wire import MAX_LENGTH, wire_name
from tests import toy

PROJECT = Path(registry.ROOT).parent


def mounted(*names: str, hidden: tuple[str, ...] = (), faults: tuple[Fault, ...] = ()) -> Sandbox:
    states = {name: registry.load(name).example_state().dump() for name in names}
    return Sandbox(Mount(environments=names, hidden=hidden, faults=faults), states)


@asynccontextmanager
async def connected(sandbox: Sandbox, recorded: list[Call] | None = None) -> AsyncIterator[ClientSession]:
    """A client of a server in this process, over real pipes."""
    to_server, to_client = os.pipe(), os.pipe()
    record = (recorded if recorded is not None else []).append
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(serve, sandbox, to_server[0], to_client[1], record)
        async with message_streams(to_client[0], to_server[1]) as streams, ClientSession(*streams) as client:
            await client.initialize()
            yield client
        tasks.cancel_scope.cancel()
    for descriptor in (*to_server, *to_client):
        os.close(descriptor)


def text_of(result: CallToolResult) -> str:
    [content] = result.content
    assert isinstance(content, TextContent)
    return content.text


def test_every_shipped_tool_is_listed_as_the_sandbox_has_it() -> None:
    async def main() -> None:
        seen: set[str] = set()
        for name in registry.names():
            sandbox = mounted(name)
            async with connected(sandbox) as client:
                listed = (await client.list_tools()).tools
            assert [tool.name for tool in listed] == [spec.wire_name for spec in sandbox.tools]
            for tool, spec in zip(listed, sandbox.tools, strict=True):
                assert tool.name == wire_name(spec.name) and sandbox.canonical(tool.name) == spec.name
                assert len(tool.name) <= MAX_LENGTH and tool.name.replace("_", "").isalnum() and tool.name.isascii()
                assert (tool.description, tool.input_schema, tool.output_schema) == (spec.description, spec.input_schema, None)
                assert tool.name not in seen
                seen.add(tool.name)
        assert len(seen) == sum(len(registry.load(name).tools) for name in registry.names())

    asyncio.run(main())


def test_text_is_the_compact_json_of_the_structured_content(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    toy.install(monkeypatch, tmp_path)

    async def main() -> None:
        calls: list[tuple[str, JsonObject]] = [
            ("library__get_member", {"member_id": "M-1"}),
            ("library__get_member", {"member_id": "M-9"}),
            ("library__get_member", {"member": "M-1"}),
            ("library__write_notice", {"member_id": "M-2", "text": 'Ščekić — 図書館 🎈\n"quoted" \u2028', "action": "send"}),
            ("library__nothing", {}),
        ]
        recorded: list[Call] = []
        sandbox = mounted("library", hidden=("library.read_desk",))
        async with connected(sandbox, recorded) as client:
            answers = [await client.call_tool(name, args) for name, args in calls]
        for answer in answers:
            assert answer.structured_content is not None
            assert text_of(answer) == compact(answer.structured_content)
        assert [answer.is_error for answer in answers] == [False, True, True, False, True]
        assert json.loads(text_of(answers[1])) == {"error": {"code": "not_found", "message": "There is no member M-9."}}
        assert "Ana Šimić" in text_of(answers[0])
        assert [call.content for call in recorded] == [answer.structured_content for answer in answers]
        assert recorded == sandbox.calls and recorded[3].args["text"] == calls[3][1]["text"]

    asyncio.run(main())


def test_client_is_told_nothing_but_tools(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    toy.install(monkeypatch, tmp_path)

    async def main() -> None:
        hidden = ("library.read_desk", "library.set_desk")
        async with connected(mounted("library", hidden=hidden, faults=(Fault(tool="library.find_books"),))) as client:
            assert client.initialize_result is not None
            hello = client.initialize_result.model_dump_json()
            listing = await client.list_tools()
            refused = await client.call_tool("library__read_desk", {})
            invented = await client.call_tool("library__sing", {})
        assert client.server_info is not None and client.server_info.name == "sandbox"
        for word in ("abstain", "scenario", "pair", "trigger", "benchmark", "agent", str(PROJECT), "fault"):
            assert word not in hello.lower() and word not in listing.model_dump_json().lower()
        assert not {"library__read_desk", "library__set_desk"} & {tool.name for tool in listing.tools}
        # A hidden tool answers like one that never existed.
        assert text_of(refused).replace("read_desk", "sing") == text_of(invented)

    asyncio.run(main())


def test_malformed_answers_pass_a_client_that_checks_schemas(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    toy.install(monkeypatch, tmp_path)

    async def main() -> None:
        sandbox = mounted("library", faults=(Fault(tool="library.find_books", kind="malformed"),))
        async with connected(sandbox) as client:
            await client.list_tools()
            answer = await client.call_tool("library__find_books", {})
        assert answer.structured_content is not None and list(answer.structured_content) == ["raw"]

    asyncio.run(main())


def test_unreadable_messages_do_not_end_the_server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    toy.install(monkeypatch, tmp_path)

    async def main() -> None:
        to_server, to_client = os.pipe(), os.pipe()
        serving = asyncio.create_task(serve(mounted("library"), to_server[0], to_client[1], lambda call: None))
        os.write(to_server[1], b'nonsense\n{"jsonrpc": "2.0", "method": 7}\n\n')
        async with message_streams(to_client[0], to_server[1]) as streams, ClientSession(*streams) as client:
            await client.initialize()
            assert len((await client.list_tools()).tools) == 12
        os.close(to_server[1])
        await serving
        for descriptor in (to_server[0], *to_client):
            os.close(descriptor)

    asyncio.run(main())


def test_environment_bug_ends_the_server_without_a_result(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    answer = "return DeskSign(is_open=self"
    toy.install(monkeypatch, tmp_path, [(answer, f"self.state.desk = Desk(is_open=False, message='x')\n        {answer}")])

    async def main() -> None:
        to_server, to_client = os.pipe(), os.pipe()
        serving = asyncio.create_task(serve(mounted("library"), to_server[0], to_client[1], lambda call: None))
        async with message_streams(to_client[0], to_server[1]) as streams, ClientSession(*streams) as client:
            await client.initialize()
            asking = asyncio.create_task(client.call_tool("library__read_desk", {}))
            with pytest.raises(EnvironmentBug, match=r"library\.read_desk is a lookup tool but changed the state"):
                await serving
            with pytest.raises(MCPError, match="Connection closed"):
                await asking
        for descriptor in (*to_server, *to_client):
            os.close(descriptor)

    asyncio.run(main())


def test_lines_are_put_together_from_any_pieces() -> None:
    async def main() -> None:
        reading, writing = os.pipe()
        os.set_blocking(reading, False)
        lines = LineReader(reading)
        for piece in (b"one\ntw", b"o\n\nth", b"r", "ée\n".encode(), b"rest"):
            os.write(writing, piece)
            await asyncio.sleep(0)
        assert [await lines.next() for _ in range(4)] == [b"one", b"two", b"", "thrée".encode()]
        os.close(writing)
        assert await lines.next() is None
        os.close(reading)

    asyncio.run(main())


# --- the stand-alone server --------------------------------------------------------------------------------------------------


def spec_file(folder: Path, **changes: object) -> Path:
    name = registry.names()[0]
    spec = {"mount": {"environments": [name]}, "states": {name: registry.load(name).example_state().dump()}} | changes
    path = folder / "spec.json"
    path.write_text(json.dumps(spec), encoding="utf-8")
    return path


def test_stand_alone_server_serves_any_client(tmp_path: Path) -> None:
    async def main() -> None:
        arguments = ["-m", "environments.runtime.server", "--spec", str(spec_file(tmp_path))]
        parameters = StdioServerParameters(command=sys.executable, args=arguments, cwd=PROJECT)
        async with stdio_client(parameters) as streams, ClientSession(*streams) as client:
            await client.initialize()
            listed = (await client.list_tools()).tools
            assert [tool.name for tool in listed] == [spec.wire_name for spec in mounted(registry.names()[0]).tools]
            answer = await client.call_tool(listed[0].name, {"unknown": 1})
            assert answer.is_error and "invalid_arguments" in text_of(answer)

    asyncio.run(main())


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"mount": {"environments": ["nowhere"]}, "states": {"nowhere": {}}}, "unknown environment 'nowhere'"),
        ({"mount": {"environments": []}}, "do not match the mounted environments"),
        ({"mount": {"environment": []}}, "mount.environment: Extra inputs are not permitted"),
        ({"states": []}, "states: Input should be"),
        ({"mount": {"environments": [registry.names()[0]], "hidden": ["a.b"]}}, "the mount names 'a.b'"),
        ({"states": {registry.names()[0]: {"now": "never"}}}, "a state does not fit: now: "),
        ({"more": 1}, "more: Extra inputs are not permitted"),
    ],
)
def test_stand_alone_server_refuses_bad_specs(changes: JsonObject, said: str, tmp_path: Path) -> None:
    async def main() -> None:
        path = spec_file(tmp_path, **changes)
        arguments = ["-m", "environments.runtime.server", "--spec", str(path)]
        process = await asyncio.create_subprocess_exec(
            sys.executable, *arguments, cwd=PROJECT, stdin=DEVNULL, stdout=PIPE, stderr=PIPE
        )
        out, error = await process.communicate()
        assert process.returncode == 1 and out == b""
        assert error.decode().startswith(f"{path}: ") and said in error.decode() and "Traceback" not in error.decode()

    asyncio.run(main())
