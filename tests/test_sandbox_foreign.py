"""Sandboxes that a foreign harness starts as its own stdio server."""

import asyncio
import json
import os
import signal
import sys
import time
from asyncio.subprocess import Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from mcp import Client, ClientSession
from mcp.client.stdio import StdioServerParameters, stdio_client

from environments.runtime.errors import EnvironmentBug, MountError
from environments.runtime.records import Mount
from resources.sandbox import ForeignSandbox, SandboxDied, SandboxPool, StdioCommand
from tests.sandbox_forks import MOUNT, READ_DESK, gone, hostile_pool, states, wait_until


def parameters(command: StdioCommand) -> StdioServerParameters:
    return StdioServerParameters(command=command.command, args=list(command.args), env=command.env)


@asynccontextmanager
async def harness(command: StdioCommand) -> AsyncIterator[ClientSession]:
    async with stdio_client(parameters(command)) as streams, ClientSession(*streams) as client:
        await client.initialize()
        yield client


async def start(command: StdioCommand) -> Process:
    """The command with open pipes, as a harness holds it."""
    pipe = asyncio.subprocess.PIPE
    return await asyncio.create_subprocess_exec(
        command.command, *command.args, env=command.env, stdin=pipe, stdout=pipe, stderr=pipe
    )


def sandbox_pid(foreign: ForeignSandbox) -> bool:
    return foreign._evidence.isolation is not None


async def until_started(foreign: ForeignSandbox) -> None:
    while not sandbox_pid(foreign):
        await asyncio.sleep(0.01)


def test_evidence_comes_back_from_a_foreign_client(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    async def main() -> None:
        async with hostile_pool(monkeypatch, tmp_path) as pool, pool.command(MOUNT, states()) as foreign:
            async with harness(foreign.command) as client:
                assert len((await client.list_tools()).tools) == 12
                answer = await client.call_tool("library__move_book", {"book_id": "B-3", "shelf": "S5"})
                assert answer.structured_content == {"changed": "B-3"}
            evidence = await foreign.finish()
            assert [call.tool for call in evidence.calls] == ["library.move_book"] and evidence.isolation == ()
            assert evidence.final_state["library"]["books"]["B-3"]["shelf"] == "S5"

    asyncio.run(main())


def test_the_modern_protocol_is_served_too(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    async def main() -> None:
        async with hostile_pool(monkeypatch, tmp_path) as pool, pool.command(MOUNT, states()) as foreign:
            async with Client(parameters(foreign.command)) as client:
                assert len((await client.list_tools()).tools) == 12
                await client.call_tool("library__find_books", {})
            assert len((await foreign.finish()).calls) == 1

    asyncio.run(main())


def test_several_foreign_sandboxes_at_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    async def main() -> None:
        async with hostile_pool(monkeypatch, tmp_path) as pool:

            async def run(number: int) -> None:
                async with pool.command(MOUNT, states()) as foreign:
                    async with harness(foreign.command) as client:
                        await client.call_tool("library__write_notice", {"member_id": "M-1", "text": f"Note {number}"})
                    evidence = await foreign.finish()
                    assert evidence.final_state["library"]["notices"]["N-1001"]["text"] == f"Note {number}"

            await asyncio.gather(*map(run, range(8)))

    asyncio.run(main())


def test_command_line_holds_no_secret_and_the_token_works_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    async def main() -> None:
        async with hostile_pool(monkeypatch, tmp_path) as pool, pool.command(MOUNT, states()) as foreign:
            command = foreign.command
            assert command.command == sys.executable and command.args[:2] == ("-I", "-S")
            assert not any(value in argument for value in command.env.values() for argument in command.args)
            first = await start(command)
            await until_started(foreign)
            second = await start(command)
            out, error = await second.communicate()
            assert (second.returncode, out, error) == (1, b"", b"nothing is offered under this token\n")
            assert first.stdin is not None
            first.stdin.close()
            assert await first.wait() == 0
            assert (await foreign.finish()).calls == ()

    asyncio.run(main())


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_harness_that_kills_its_server_still_leaves_the_state(
    number: signal.Signals, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    async def main() -> None:
        async with hostile_pool(monkeypatch, tmp_path) as pool, pool.command(MOUNT, states()) as foreign:
            process = await start(foreign.command)
            await until_started(foreign)
            process.send_signal(number)
            await process.wait()
            assert (await foreign.finish()).final_state == states()

    asyncio.run(main())


def test_harness_that_leaves_its_server_running_is_ended(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    async def main() -> None:
        async with hostile_pool(monkeypatch, tmp_path) as pool, pool.command(MOUNT, states()) as foreign:
            process = await start(foreign.command)
            await until_started(foreign)
            begin = time.monotonic()
            assert (await foreign.finish()).final_state == states()
            assert time.monotonic() - begin < 2
            await process.wait()
            assert process.returncode == 0
            assert process.stdout is not None and await process.stdout.read() == b""

    asyncio.run(main())


def test_sandbox_that_was_never_started(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    async def main() -> None:
        async with hostile_pool(monkeypatch, tmp_path) as pool:
            begin = time.monotonic()
            async with pool.command(MOUNT, states()) as foreign:
                with pytest.raises(SandboxDied, match="the harness never started it"):
                    await foreign.finish()
            assert time.monotonic() - begin < 2
            # The offer ended with the block.
            process = await start(foreign.command)
            _, error = await process.communicate()
            assert process.returncode == 1 and error == b"nothing is offered under this token\n"

    asyncio.run(main())


def test_refusals_and_bugs_come_back_from_finish(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    async def main() -> None:
        async with hostile_pool(monkeypatch, tmp_path) as pool:
            async with pool.command(Mount(environments=("nowhere",)), {"nowhere": {}}) as foreign:
                process = await start(foreign.command)
                await process.communicate()
                assert process.returncode == 1
                with pytest.raises(MountError, match="unknown environment 'nowhere'"):
                    await foreign.finish()
            async with pool.command(MOUNT, states("unheard-of")) as foreign:
                with pytest.raises(ExceptionGroup):
                    async with harness(foreign.command) as client:
                        await client.call_tool(READ_DESK, {})
                with pytest.raises(EnvironmentBug, match="unheard-of"):
                    await foreign.finish()

    asyncio.run(main())


def test_leaving_the_block_kills_a_deaf_sandbox(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    async def main() -> None:
        async with hostile_pool(monkeypatch, tmp_path, close_timeout=0.3) as pool:
            async with pool.command(MOUNT, states("sleep_deaf 60")) as foreign:
                process = await start(foreign.command)
                assert process.stdin is not None
                hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "h", "version": "0"}}
                for number, (method, params) in enumerate([("initialize", hello), ("tools/call", {"name": READ_DESK})]):
                    message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
                    process.stdin.write(json.dumps(message).encode() + b"\n")
                await process.stdin.drain()
                await until_started(foreign)
                await asyncio.sleep(0.2)
                with pytest.raises(SandboxDied, match=r"it did not end within 0\.3 s and was killed"):
                    await foreign.finish()
            await asyncio.wait_for(process.wait(), 5)

    asyncio.run(main())


def test_connector_without_a_zygote_says_so() -> None:
    async def main() -> None:
        async with SandboxPool() as pool:
            zygote = await pool.warm()
            async with pool.command(MOUNT, {}) as foreign:
                command = foreign.command
                os.kill(zygote.pid, signal.SIGKILL)
                assert wait_until(lambda: gone(zygote.pid))
                process = await start(command)
                _, error = await process.communicate()
                assert process.returncode == 1 and error.startswith(b"no sandbox to connect to: ")
                with pytest.raises(SandboxDied, match="the zygote ended"):
                    await foreign.finish()

    asyncio.run(main())


def test_a_large_state_waits_for_the_harness_without_holding_anybody_up(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """More than a socket buffers: an offered sandbox reads its state only once the harness starts it."""

    async def main() -> None:
        async with hostile_pool(monkeypatch, tmp_path) as pool, asyncio.timeout(30):
            large = states()
            large["library"]["books"]["B-3"]["title"] = "Grüße ✓ " * 200_000
            async with pool.command(MOUNT, large) as unused, pool.command(MOUNT, large) as foreign:
                async with harness(foreign.command) as client:
                    assert len((await client.list_tools()).tools) == 12
                assert (await foreign.finish()).final_state["library"]["books"]["B-3"] == large["library"]["books"]["B-3"]
                with pytest.raises(SandboxDied, match="never started"):
                    await unused.finish()

    asyncio.run(main())
