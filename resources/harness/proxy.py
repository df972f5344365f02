"""A reverse proxy on loopback, between somebody's agent program and the real endpoint.

The program gets the address and the key of its own lane, never the real ones. What it sends is passed on byte for byte, with the
real key put in. The proxy counts, retries, bills and writes the transcript, because it sees what the model saw. It decides how a
run ends: at the first reply without tool calls, at the first failure that is not worth another attempt, and before the request that
is one too many. From then on nothing of this lane is passed on, whatever the program tries.
"""

import asyncio
import json
import secrets
import socket
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass

import httpx2
import uvicorn
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from abstain_assets.records import AgentView, ToolRequest
from abstain_assets.rollouts.errors import CellStopped, RunFailed
from resources.harness.base import Trace
from resources.harness.retry import Retry
from resources.harness.wire import NoRequest, Said, Shown, Wire
from resources.models import ModelSpec

# Of the connection between program and proxy, not of the request.
_OWN_HEADERS = frozenset({"host", "content-length", "connection", "accept-encoding", "transfer-encoding", "expect"})
_LONG = 24 * 3600


@dataclass(frozen=True)
class _Incoming:
    """What the program sent."""

    raw: bytes
    headers: Mapping[str, str]
    query: str


class Lane:
    """One run's way through the proxy.

    Attributes:
        url: the base address for the program.
        key: its key. Without it the address is of no use.
        over: set when the run has come to its end.
    """

    def __init__(self, proxy: "Proxy", origin: str, view: AgentView, trace: Trace, wire_name: Callable[[str], str]) -> None:
        self.key = secrets.token_urlsafe(24)
        self.url = f"{origin}/{secrets.token_urlsafe(24)}"
        self.over = asyncio.Event()
        self._proxy = proxy
        self._trace = trace
        self._wire_name = wire_name
        self._view = {view.system_prompt, view.instruction}
        self._tools = {tool.name for tool in view.tools}
        self._results = 0
        self._text = ""
        self._failure: RunFailed | CellStopped | None = None
        self._turn = asyncio.Lock()
        self._asking: set[asyncio.Task[Response]] = set()
        self._last = asyncio.get_running_loop().time()

    @property
    def text(self) -> str:
        """The final text, once it is over.

        Raises:
            RunFailed, CellStopped: how it ended instead.
        """
        if self._failure is not None:
            raise self._failure
        return self._text

    async def silent(self, seconds: float) -> None:
        """Return when the program has let some time pass since the last answer without asking anything."""
        while self._asking or (left := self._last + seconds - asyncio.get_running_loop().time()) > 0:
            await asyncio.sleep(1.0 if self._asking else left)

    async def close(self) -> None:
        """Abort what is under way."""
        for task in self._asking:
            task.cancel()
        if self._asking:
            await asyncio.wait(self._asking)

    async def answer(self, request: Request) -> Response:
        """The answer to a request of the program. It is aborted when the program hangs up or the lane is closed."""
        incoming = _Incoming(await request.body(), dict(request.headers), request.url.query)
        asking = asyncio.create_task(self._answer(incoming))
        self._asking.add(asking)
        hung_up = asyncio.create_task(_hung_up(request))
        try:
            await asyncio.wait({asking, hung_up}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            hung_up.cancel()
            asking.cancel()
            await asyncio.wait({asking})
            self._asking.discard(asking)
            self._last = asyncio.get_running_loop().time()
        return self._refusal() if asking.cancelled() else asking.result()

    async def _answer(self, incoming: _Incoming) -> Response:
        async with self._turn:
            if self.over.is_set():
                return self._refusal()
            try:
                said, response = await self._forward(incoming)
            except (RunFailed, CellStopped) as failure:
                self._end("", failure)
                return self._refusal()
        if said.failure is not None or not said.asked:
            self._end(said.text, said.failure)
        return Response(response.content, media_type=response.headers.get("content-type"))

    def _end(self, text: str, failure: RunFailed | CellStopped | None) -> None:
        self._text, self._failure = text, failure
        self.over.set()

    def _refusal(self) -> Response:
        """A terminal error for the program. The reason is for the runner alone."""
        return JSONResponse(self._proxy.wire.error("this run is over"), 400)

    async def _forward(self, incoming: _Incoming) -> tuple[Said, httpx2.Response]:
        trace, proxy = self._trace, self._proxy
        self._note(incoming.raw)
        if trace.turns >= proxy.spec.max_turns:
            raise RunFailed("max_turns_exceeded", f"still calling tools after {trace.turns} turns")
        if trace.budget.exhausted:
            raise RunFailed("budget_exceeded", f"the budget of ${trace.budget.limit:g} is spent")
        with trace.waiting():
            said, response = await proxy.ask(incoming, trace)
        trace.turns += 1
        trace.bill(said.input_tokens, said.output_tokens)
        calls = [ToolRequest(id=call.id, name=self._wire_name(call.name), arguments=call.arguments) for call in said.asked]
        trace.say("assistant", said.text, tool_calls=tuple(calls))
        return said, response

    def _note(self, raw: bytes) -> None:
        """Write down what a request shows the model for the first time."""
        try:
            shown: Shown = self._proxy.wire.shown(json.loads(raw))
        except (ValueError, RecursionError, NoRequest) as error:
            raise RunFailed("runtime_error", f"the harness sent what is no request: {error}") from error
        trace = self._trace
        for text in shown.texts:
            if text not in self._view and text not in trace.additions:
                trace.additions.append(text)
        for identity, text in shown.results[self._results :]:
            trace.say("tool", text, answers=identity)
        self._results = max(self._results, len(shown.results))
        names = {self._wire_name(name) for name in shown.tools}
        if names != self._tools:
            different = ", ".join(sorted(names ^ self._tools)[:5])
            raise RunFailed("runtime_error", f"the harness offers other tools than the view has: {different}")


class Proxy:
    """The proxy of one model under one harness. It is started by its first lane and serves many at once, in one event loop.

    Args:
        key: the real key.
    """

    def __init__(self, wire: Wire, spec: ModelSpec, key: str | None, retry: Retry) -> None:
        self.wire = wire
        self.spec = spec
        self._key = key
        self._retry = retry
        self._lanes: dict[str, Lane] = {}
        self._starting = asyncio.Lock()
        self._served: asyncio.Task[None] | None = None
        self._server: _Server | None = None
        self._origin = ""
        self._client = httpx2.AsyncClient(timeout=httpx2.Timeout(spec.timeout_seconds, connect=min(10.0, spec.timeout_seconds)))

    @asynccontextmanager
    async def lane(self, view: AgentView, trace: Trace, wire_name: Callable[[str], str]) -> AsyncIterator[Lane]:
        """A lane for one run.

        Args:
            wire_name: the name in the view of a tool's name as the program shows it.
        """
        async with self._starting:
            if self._served is None:
                await self._start()
        lane = Lane(self, self._origin, view, trace, wire_name)
        token = lane.url.rpartition("/")[2]
        self._lanes[token] = lane
        try:
            yield lane
        finally:
            del self._lanes[token]
            await lane.close()

    async def close(self) -> None:
        """Stop serving and close the connections."""
        if self._server is not None and self._served is not None:
            self._server.should_exit = self._server.force_exit = True
            await asyncio.wait({self._served})
        await self._client.aclose()

    async def ask(self, incoming: _Incoming, trace: Trace) -> tuple[Said, httpx2.Response]:
        """Send a request to the real endpoint, again where that may help.

        Raises:
            RunFailed, CellStopped: what the last error amounts to.
        """
        dropped = _OWN_HEADERS | self.wire.key_headers
        headers = {name: value for name, value in incoming.headers.items() if name not in dropped} | self.wire.with_key(self._key)
        url = f"{self.spec.base_url}/{self.wire.path}" + (f"?{incoming.query}" if incoming.query else "")
        request = self._client.build_request("POST", url, content=incoming.raw, headers=headers)

        async def send() -> tuple[Said, httpx2.Response]:
            trace.requests += 1
            try:
                async with asyncio.timeout(self.spec.timeout_seconds):
                    response = await self._client.send(request)
            except (httpx2.HTTPError, TimeoutError) as error:
                raise self.wire.broken(request, error) from error
            if not response.is_success:
                raise self.wire.refused(response)
            return self.wire.said(response), response

        def again() -> None:
            trace.retries += 1

        before = trace.requests
        try:
            return await self._retry.send(send, transient=self.wire.transient, wait_hint=self.wire.wait_hint, on_retry=again)
        except Exception as error:
            raise self.wire.explain(error, self.spec, self._key, trace.requests - before) from error

    async def _start(self) -> None:
        listening = socket.create_server(("127.0.0.1", 0))
        self._origin = f"http://127.0.0.1:{listening.getsockname()[1]}"
        config = uvicorn.Config(
            self._app,
            interface="asgi3",
            http="h11",
            ws="none",
            lifespan="off",
            proxy_headers=False,
            access_log=False,
            log_config=None,
            # Programs keep connections open while tools run, and do not expect them to be closed meanwhile.
            timeout_keep_alive=_LONG,
        )
        self._server = _Server(config)
        self._served = asyncio.create_task(self._server.serve(sockets=[listening]))
        while not self._server.started:
            await asyncio.sleep(0.005)

    async def _app(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        await (await self._answer(request))(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        token, _, path = request.url.path.removeprefix("/").partition("/")
        lane = self._lanes.get(token)
        if lane is None or self.wire.key_of(request.headers) != lane.key:
            return JSONResponse(self.wire.error("there is no such run"), 401)
        if request.method != "POST" or path != self.wire.path:
            return JSONResponse(self.wire.error("only the model is served here"), 404)
        return await lane.answer(request)


class _Server(uvicorn.Server):
    """A server that leaves signals to the program it runs in."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


async def _hung_up(request: Request) -> None:
    """Return when the client is gone. The body must have been read."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
