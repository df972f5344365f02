"""Gates on tools as agents meet them: docstring examples, and every tool through a real MCP client and server."""

import asyncio
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
from jsonschema import Draft202012Validator
from mcp import Client
from mcp_types import CallToolResult, TextContent

from abstain_assets.environments.examples import Example
from abstain_assets.environments.subject import Checked, Subject, shown
from environments.runtime.pipes import Streams, message_streams
from environments.runtime.records import JsonObject, Mount, ToolKind
from environments.runtime.sandbox import Sandbox, compact
from environments.runtime.server import serve


def examples(subject: Subject) -> Checked:
    """Docstring examples come out as written; every tool has one that succeeds, every commit one that is refused."""
    found = []
    for tool in subject.tools():
        run = subject.examples[tool.name]
        own = [made for made in run.calls if made.tool == tool.name]
        found += [f"{tool.name}: {failure}" for failure in run.failures]
        if all(made.outcome.error for made in own):
            found.append(f"{tool.name}: no example of a successful call")
        elif not any(any(made.outcome.result.values()) for made in own if made.outcome.result):
            found.append(f"{tool.name}: no example finds anything")
        if tool.kind is ToolKind.COMMIT and not any(made.outcome.error for made in own):
            found.append(f"{tool.name}: no example of a refused call")
    calls = sum(len(run.calls) for run in subject.examples.values())
    return Checked(tuple(found), f"{calls} calls in docstrings come out as written")


def end_to_end(subject: Subject) -> Checked:
    """Every tool answers an MCP client as it does in process, with a result its output schema allows."""
    return asyncio.run(_end_to_end(subject))


async def _end_to_end(subject: Subject) -> Checked:
    found: list[str] = []
    reached: set[str] = set()
    calls = 0
    for name, run in subject.examples.items():
        sandbox = Sandbox(Mount(environments=(subject.name,)), {subject.name: subject.state})
        async with Client(_connection(sandbox)) as client:
            listed = {tool.name for tool in (await client.list_tools()).tools}
            if listed != {spec.wire_name for spec in subject.specs.values()}:
                found.append(f"the server lists {sorted(listed)}")
                break
            for made in run.calls:
                wire = subject.specs[made.tool].wire_name
                answer = await client.call_tool(wire, made.args)
                problems = list(_answer_problems(answer, made, subject.specs[made.tool].output_schema))
                found += [f"{name}: {shown(made.tool, made.args)} {problem}" for problem in problems]
                calls += 1
                if not answer.is_error:
                    reached.add(made.tool)
    found += [f"{name} was never called with success" for name in subject.specs if name not in reached]
    return Checked(tuple(found), f"{len(reached)} tools, {calls} calls through an MCP client, results valid by their schemas")


@asynccontextmanager
async def _connection(sandbox: Sandbox) -> AsyncIterator[Streams]:
    """A client's end of a connection to a server of the sandbox that runs in this process."""
    to_server, to_client = os.pipe(), os.pipe()
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(serve, sandbox, to_server[0], to_client[1], lambda call: None)
            async with message_streams(to_client[0], to_server[1]) as streams:
                yield streams
            tasks.cancel_scope.cancel()
    finally:
        for descriptor in (*to_server, *to_client):
            os.close(descriptor)


def _answer_problems(answer: CallToolResult, made: Example, schema: JsonObject) -> list[str]:
    error = made.outcome.error
    expected = made.outcome.result if error is None else {"error": {"code": error.code, "message": error.message}}
    found = []
    if answer.structured_content != expected:
        found.append("answers otherwise through MCP")
    texts = [part.text for part in answer.content if isinstance(part, TextContent)]
    if texts != [compact(answer.structured_content or {})]:
        found.append(f"has the text {json.dumps(texts)}, which is not its content")
    if answer.is_error != (error is not None):
        found.append("is marked as an error or a success wrongly")
    if error is None:
        errors = Draft202012Validator(schema).iter_errors(answer.structured_content)
        found += [f"breaks its output schema at {problem.json_path}: {problem.message}" for problem in errors]
    return found
