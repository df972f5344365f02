"""An MCP server over a mounted sandbox.

`python -m environments.runtime.server --spec FILE` serves one over stdio to any MCP client, in a plain process. FILE holds
`{"mount": {"environments": [...]}, "states": {<environment>: {...}}}`. Nothing a client sees says what the sandbox is used for.
"""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import mcp_types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from pydantic import BaseModel, ConfigDict, ValidationError

from environments.runtime import RUNTIME_VERSION
from environments.runtime.errors import EnvironmentBug, MountError
from environments.runtime.pipes import message_streams
from environments.runtime.records import Call, JsonObject, Mount
from environments.runtime.sandbox import Sandbox, compact

# Characters of a result that an agent gets to see, the same under every harness. The evidence has all of it.
RESULT_LIMIT = 100_000
# Claude's CLI cuts results a second time unless a tool asks it not to. Others ignore it, and no model sees it.
_META: dict[str, Any] = {"anthropic/maxResultSizeChars": 500_000}


class SandboxSpec(BaseModel):
    """What to serve: a mount and the JSON state of each mounted environment."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    mount: Mount
    states: dict[str, JsonObject]

    def build(self) -> Sandbox:
        """Mount it.

        Raises:
            MountError: a name does not exist, or a state does not fit its environment; the message names the field.
        """
        try:
            return Sandbox(self.mount, self.states)
        except ValidationError as error:
            raise MountError(f"a state does not fit: {explain(error)}") from error


async def serve(sandbox: Sandbox, incoming: int, outgoing: int, record: Callable[[Call], None]) -> None:
    """Serve MCP over two descriptors until the client leaves. `record` gets each call before the client gets its answer.

    Raises:
        EnvironmentBug: a call broke the contract. The connection ends without a result, because the rollout is invalid.
    """
    tools = _listing(sandbox)
    failure: list[EnvironmentBug] = []
    serving = anyio.CancelScope()

    async def list_tools(
        context: ServerRequestContext[Any], params: mcp_types.PaginatedRequestParams | None
    ) -> mcp_types.ListToolsResult:
        return tools

    async def call_tool(context: ServerRequestContext[Any], params: mcp_types.CallToolRequestParams) -> mcp_types.CallToolResult:
        try:
            call = sandbox.call(params.name, params.arguments or {})
            answer = _answer(call)
            record(call)
        except Exception as error:
            failure.append(error if isinstance(error, EnvironmentBug) else EnvironmentBug(f"{params.name}: {error!r}"))
            serving.cancel()
            await anyio.sleep_forever()
        return answer

    server: Server[Any] = Server("sandbox", version=RUNTIME_VERSION, on_list_tools=list_tools, on_call_tool=call_tool)
    async with message_streams(incoming, outgoing) as streams:
        with serving:
            await server.run(*streams, server.create_initialization_options())
    if failure:
        raise failure[0]


def explain(error: ValidationError) -> str:
    """The first problems of a validation error on one line, each with the path of its field."""
    problems = error.errors(include_url=False)
    shown = [f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}" for problem in problems[:5]]
    return "; ".join(shown) + (f"; and {len(problems) - 5} more" if len(problems) > 5 else "")


def _listing(sandbox: Sandbox) -> mcp_types.ListToolsResult:
    # Without output schemas: clients check answers against them and raise in the agent's place, but malformed and cut answers are
    # meant to reach the agent. No harness shows a model these schemas.
    listed = [
        mcp_types.Tool(name=spec.wire_name, description=spec.description, input_schema=spec.input_schema, _meta=_META)
        for spec in sandbox.tools
    ]
    return mcp_types.ListToolsResult(tools=listed)


def _answer(call: Call) -> mcp_types.CallToolResult:
    content = call.content
    text = compact(content)
    if len(text) > RESULT_LIMIT:
        note = f"The result was cut: it has {len(text)} characters, the first {RESULT_LIMIT} are shown."
        content = {"note": note, "cut": text[:RESULT_LIMIT]}
        text = compact(content)
    return mcp_types.CallToolResult(
        content=[mcp_types.TextContent(text=text)], structured_content=content, is_error=call.error is not None
    )


def main() -> int:
    """Serve the sandbox of a spec file over stdio. Returns 0, or 1 with a message on stderr."""
    parser = argparse.ArgumentParser(prog="environments.runtime.server", description="Serve a sandbox over MCP on stdio.")
    parser.add_argument("--spec", type=Path, required=True, help="JSON file with a mount and its states")
    path: Path = parser.parse_args().spec
    try:
        sandbox = SandboxSpec.model_validate_json(path.read_bytes()).build()
    except ValidationError as error:
        print(f"{path}: {explain(error)}", file=sys.stderr)
        return 1
    except (OSError, MountError) as error:
        print(f"{path}: {error}", file=sys.stderr)
        return 1
    try:
        anyio.run(serve, sandbox, 0, 1, lambda call: None)
    except EnvironmentBug as error:
        print(f"environment bug: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
