"""Sandboxes as the runner uses them: sessions, evidence, failures and ends."""

import asyncio
import os
import signal
import time
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from environments.runtime import landlock, registry
from environments.runtime.errors import EnvironmentBug, MountError
from environments.runtime.records import Fault, JsonObject, Mount
from environments.runtime.sandbox import Sandbox, compact
from resources.sandbox import IsolationIncomplete, SandboxDied, SandboxPool
from tests.sandbox_forks import MOUNT, READ_DESK, gone, hostile_pool, states, wait_until

TWO = registry.names()[:2]


def examples(*names: str) -> dict[str, JsonObject]:
    return {name: registry.load(name).example_state().dump() for name in names}


def test_a_session_leaves_the_evidence_of_an_in_process_sandbox() -> None:
    async def main() -> None:
        mount, start = Mount(environments=TWO), examples(*TWO)
        direct = Sandbox(mount, start)
        async with SandboxPool() as pool, pool.open(mount, start) as session:
            assert [tool.name for tool in session.tools] == [spec.wire_name for spec in direct.tools]
            assert [tool.input_schema for tool in session.tools] == [spec.input_schema for spec in direct.tools]
            assert [tool.description for tool in session.tools] == [spec.description for spec in direct.tools]
            for spec in direct.tools:
                reply = await session.call(spec.wire_name, {})
                call = direct.call(spec.name, {})
                assert (reply.structured, reply.is_error, reply.text) == (call.content, not call.ok, compact(call.content))
            evidence = await session.finish()
            assert list(evidence.calls) == direct.calls and any(call.ok for call in direct.calls)
            assert evidence.final_state == direct.state()
            assert evidence.isolation == ()
            assert await session.finish() == evidence
            with pytest.raises(SandboxDied, match="it ended with status 0"):
                await session.call(direct.tools[0].wire_name, {})

    asyncio.run(main())


def test_changes_and_faults_reach_the_evidence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    async def main() -> None:
        mount = Mount(environments=("library",), hidden=("library.remove_book",), faults=(Fault(tool="library.list_loans"),))
        async with hostile_pool(monkeypatch, tmp_path) as pool, pool.open(mount, states()) as session:
            assert "library__remove_book" not in [tool.name for tool in session.tools]
            await session.call("library__move_book", {"book_id": "B-3", "shelf": "S5", "note": "Çok güzel ✓"})
            refused = await session.call("library__list_loans", {})
            hidden = await session.call("library__remove_book", {"book_id": "B-3"})
            evidence = await session.finish()
        assert refused.is_error and refused.structured["error"]["code"] == "tool_failure"
        assert hidden.is_error and hidden.structured["error"]["code"] == "unknown_tool"
        moved, failed, unknown = evidence.calls
        assert [effect.record for effect in moved.effects] == ["/library/books/B-3"] and moved.patch
        assert failed.injected == "always" and unknown.kind is None
        assert evidence.final_state["library"]["books"]["B-3"]["note"] == "Çok güzel ✓"

    asyncio.run(main())


def test_twelve_sandboxes_at_once_do_not_see_each_other(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    async def main() -> None:
        async with hostile_pool(monkeypatch, tmp_path) as pool:
            together = asyncio.Barrier(12)

            async def run(number: int) -> None:
                async with pool.open(MOUNT, states()) as session:
                    await together.wait()
                    made = await session.call("library__write_notice", {"member_id": "M-1", "text": f"Note {number}"})
                    # The counter starts anew in each: ids come from the state, not from the process.
                    assert made.structured == {"changed": "N-1001"}
                    await together.wait()
                    notices = (await session.call("library__export_notices", {"member_id": "M-1"})).structured["notices"]
                    assert [notice["text"] for notice in notices] == ["Your book is due.", f"Note {number}"]
                    final = (await session.finish()).final_state["library"]["notices"]
                    assert final["N-1001"]["text"] == f"Note {number}"
                    pids.add(session.pid)

            pids: set[int] = set()
            await asyncio.gather(*map(run, range(12)))
            assert len(pids) == 12

    asyncio.run(main())


def test_parallel_calls_in_one_session_are_answered_each(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    async def main() -> None:
        async with hostile_pool(monkeypatch, tmp_path) as pool, pool.open(MOUNT, states()) as session:
            ids = [f"M-{number}" for number in range(30)]
            replies = await asyncio.gather(*(session.call("library__get_member", {"member_id": name}) for name in ids))
            assert [reply.is_error for reply in replies] == [name not in ("M-1", "M-2") for name in ids]
            assert [call.args["member_id"] for call in (await session.finish()).calls] == ids

    asyncio.run(main())


def test_half_surrogates_from_a_model_do_not_end_the_sandbox(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    async def main() -> None:
        async with hostile_pool(monkeypatch, tmp_path) as pool, pool.open(MOUNT, states()) as session:
            assert (await session.call("library__find_books", {"title": "\ud83d \U0001f388"})).structured == {"books": []}
            assert (await session.finish()).calls[0].args == {"title": "? \U0001f388"}

    asyncio.run(main())


def test_endless_evidence_is_cut_off(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("resources.evidence.MAX_BYTES", 2000)

    async def main() -> None:
        async with hostile_pool(monkeypatch, tmp_path) as pool:
            with pytest.raises(SandboxDied, match="its evidence cannot be read: it is longer than 2000 bytes"):
                async with pool.open(MOUNT, states()) as session:
                    for _ in range(20):
                        await session.call("library__find_books", {})
                    await session.finish()

    asyncio.run(main())


def test_large_answers_and_states_pass(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    async def main() -> None:
        async with hostile_pool(monkeypatch, tmp_path) as pool:
            start = states("say_much 1000000")
            start["library"]["books"]["B-1"]["note"] = "🎈" * 700_000
            async with pool.open(MOUNT, start) as session:
                reply = await session.call(READ_DESK, {})
                evidence = await session.finish()
            whole = f"got {'ż' * 1_000_000!r}"
            assert reply.structured["cut"].endswith("ż" * 99_000) and "the first 100000 are shown" in reply.structured["note"]
            assert evidence.final_state == start and evidence.calls[0].result is not None
            assert evidence.calls[0].result["message"] == whole

    asyncio.run(main())


@pytest.mark.parametrize(
    ("mount", "start", "said"),
    [
        (Mount(environments=("nowhere",)), {"nowhere": {}}, "unknown environment 'nowhere'"),
        (Mount(environments=TWO), {}, "do not match the mounted environments"),
        (Mount(environments=TWO[:1], hidden=("a.b",)), examples(*TWO[:1]), "the mount names 'a.b'"),
        (Mount(environments=TWO[:1], faults=(Fault(tool="a.b"),)), examples(*TWO[:1]), "the mount names 'a.b'"),
        (Mount(environments=TWO[:1]), {TWO[0]: {"now": "never"}}, "a state does not fit: now: "),
    ],
    ids=["environment", "states", "hidden", "fault", "field"],
)
def test_bad_mounts_are_refused_and_leave_nothing(mount: Mount, start: dict[str, JsonObject], said: str) -> None:
    async def main() -> None:
        async with SandboxPool() as pool:
            zygote = await pool.warm()
            with pytest.raises(MountError) as refused:
                async with pool.open(mount, start):
                    raise AssertionError("opened")
            assert said in str(refused.value) and "\n" not in str(refused.value)
            assert children(zygote.pid) == []

    asyncio.run(main())


def test_environment_bug_is_raised_and_ends_the_sandbox(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    async def main() -> None:
        async with hostile_pool(monkeypatch, tmp_path) as pool:
            with pytest.raises(EnvironmentBug, match=r"library\.read_desk raised KeyError: 'unheard-of'"):
                async with pool.open(MOUNT, states("unheard-of")) as session:
                    await session.call("library__find_books", {})
                    await session.call(READ_DESK, {})
            assert gone(session.pid)
            assert [call.tool for call in session.calls] == ["library.find_books"]

    asyncio.run(main())


def test_a_caught_environment_bug_comes_back_from_finish(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    async def main() -> None:
        async with hostile_pool(monkeypatch, tmp_path) as pool, pool.open(MOUNT, states("unheard-of")) as session:
            for _ in range(2):
                with pytest.raises(EnvironmentBug):
                    await session.call(READ_DESK, {})
            with pytest.raises(EnvironmentBug):
                await session.finish()

    asyncio.run(main())


def test_broken_environments_are_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("tests.sandbox_forks.BROKEN", {"library": "SyntaxError: invalid syntax"})

    async def main() -> None:
        async with hostile_pool(monkeypatch, tmp_path) as pool:
            with pytest.raises(MountError, match="environment library cannot be imported: SyntaxError: invalid syntax"):
                async with pool.open(MOUNT, states()):
                    raise AssertionError("opened")

    asyncio.run(main())


def test_full_isolation_can_be_required(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    # A platform without Landlock, as far as the zygote can tell.
    monkeypatch.setattr(landlock, "version", lambda: 0)

    async def main() -> None:
        async with hostile_pool(monkeypatch, tmp_path) as pool:
            async with pool.open(MOUNT, states()) as session:
                assert (await session.finish()).isolation == ("landlock",)
            with pytest.raises(IsolationIncomplete, match="Landlock 3 is needed, the kernel has 0"):
                async with pool.open(MOUNT, states(), require_full=True):
                    raise AssertionError("opened")

    asyncio.run(main())


# --- ends ------------------------------------------------------------------------------------------------------------------


def test_kill_in_mid_call_is_told_and_keeps_the_calls(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    async def main() -> None:
        async with hostile_pool(monkeypatch, tmp_path) as pool, pool.open(MOUNT, states("sleep 60")) as session:
            await session.call("library__move_book", {"book_id": "B-3", "shelf": "S5"})
            asking = asyncio.create_task(session.call(READ_DESK, {}))
            await asyncio.sleep(0.2)
            os.kill(session.pid, signal.SIGKILL)
            with pytest.raises(SandboxDied, match="it was killed by SIGKILL") as died:
                await asking
            assert [call.tool for call in died.value.calls] == ["library.move_book"]
            assert died.value.calls[0].effects and died.value.isolation == ()
            with pytest.raises(SandboxDied):
                await session.finish()

    asyncio.run(main())


@pytest.mark.parametrize("name", ["sleep", "sleep_deaf", "burn"])
def test_calls_that_take_too_long_are_ended(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    async def main() -> None:
        async with hostile_pool(monkeypatch, tmp_path, call_timeout=0.5) as pool:
            with pytest.raises(SandboxDied, match=r"library__read_desk gave no answer within 0\.5 s"):
                async with pool.open(MOUNT, states(f"{name} 60")) as session:
                    await session.call(READ_DESK, {})
            assert wait_until(lambda: gone(session.pid))

    asyncio.run(main())


def test_leaving_a_block_ends_a_busy_sandbox(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    async def main() -> None:
        async with hostile_pool(monkeypatch, tmp_path, close_timeout=0.3) as pool:
            start = time.monotonic()
            with pytest.raises(TimeoutError):
                async with pool.open(MOUNT, states("sleep 60")) as session, asyncio.timeout(0.2):
                    await session.call(READ_DESK, {})
            assert wait_until(lambda: gone(session.pid)) and time.monotonic() - start < 5

            async with pool.open(MOUNT, states("sleep 60")) as session:
                asking = asyncio.create_task(session.call(READ_DESK, {}))
                await asyncio.sleep(0.1)
                with pytest.raises(SandboxDied, match=r"it did not end within 0\.3 s and was killed"):
                    await session.finish()
                asking.cancel()

    asyncio.run(main())


def test_what_the_caller_raises_comes_out_as_it_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    async def main() -> None:
        async with hostile_pool(monkeypatch, tmp_path) as pool:
            with pytest.raises(ZeroDivisionError):
                async with pool.open(MOUNT, states()) as session:
                    raise ZeroDivisionError
            assert gone(session.pid)

    asyncio.run(main())


def test_nonsense_on_the_answer_pipe_does_not_hang_the_runner(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    async def main() -> None:
        async with hostile_pool(monkeypatch, tmp_path, call_timeout=5) as pool:
            for line in ("nonsense", '{"jsonrpc":"2.0","id":99,"result":{}}'):
                async with pool.open(MOUNT, states(f"talk_nonsense {line}")) as session:
                    assert (await session.call(READ_DESK, {})).structured["message"].startswith("got ")
            # The third request of a session is its first call (after the handshake and the listing).
            for result in ("{}", '{"content":[]}', '{"content":[{"type":"text","text":"x"}]}', '{"content":7}'):
                line = f'{{"jsonrpc":"2.0","id":3,"result":{result}}}'
                with pytest.raises(SandboxDied, match="cannot be read"):
                    async with pool.open(MOUNT, states(f"talk_nonsense {line}")) as session:
                        await session.call(READ_DESK, {})

    asyncio.run(main())


def test_nothing_is_left_when_the_pool_closes() -> None:
    before = set(os.listdir("/proc/self/fd"))  # noqa: PTH208

    async def main() -> list[int]:
        async with SandboxPool() as pool, AsyncExitStack() as stack:
            zygote = await pool.warm()
            mount, start = Mount(environments=TWO), examples(*TWO)
            sessions = [await stack.enter_async_context(pool.open(mount, start)) for _ in range(3)]
            assert sorted(children(zygote.pid)) == sorted(session.pid for session in sessions)
            for session in sessions[:2]:
                await session.finish()
            folder = zygote.path.parent
            pids = [zygote.pid, *(session.pid for session in sessions)]
        assert not folder.exists()
        return pids

    pids = asyncio.run(main())
    assert gone(*pids)
    assert set(os.listdir("/proc/self/fd")) == before  # noqa: PTH208


def test_pool_close_kills_what_still_runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    async def main() -> None:
        pool = hostile_pool(monkeypatch, tmp_path)
        zygote = await pool.warm()
        async with pool.open(MOUNT, states("sleep_deaf 60")) as session:
            asking = asyncio.create_task(session.call(READ_DESK, {}))
            await asyncio.sleep(0.1)
            await pool.__aexit__(None, None, None)
            assert wait_until(lambda: gone(session.pid, zygote.pid))
            with pytest.raises(SandboxDied):
                await asking

    asyncio.run(main())


def children(pid: int) -> list[int]:
    """Ids of the living children of a process."""
    return [
        int(child)
        for task in Path(f"/proc/{pid}/task").iterdir()
        for child in (task / "children").read_text(encoding="utf-8").split()
        if not gone(int(child))
    ]
