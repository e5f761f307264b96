"""One MCP server on the official SDK: sessions, calls, notices of change. Needs `mcp`; lives on a web server's loop."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any, Final

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import NotificationOptions, Server
from mcp.server.models import InitializationOptions
from mcp.server.session import ServerSession
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged
from mcp.shared.exceptions import MCPError
from starlette.responses import JSONResponse
from starlette.types import Message, Receive, Scope, Send

from conformance import __version__

from .server import McpServer
from .tools import Call

_GONE: Final = "ahp-conformance.gone"
"""Key of the ASGI scope for a future that is done when the client has broken the request off."""

_Context = ServerRequestContext[Any, Any]


class _Server(Server[Any]):
    """Says in its handshake that it tells of changes to its tools, which the SDK would not by itself."""

    def create_initialization_options(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
        extensions: dict[str, dict[str, Any]] | None = None,
    ) -> InitializationOptions:
        options = notification_options or NotificationOptions(tools_changed=True)
        return super().create_initialization_options(options, experimental_capabilities, extensions)


class Endpoint:
    """Serves one server from its first request on. `end` may be called from any thread, the rest is the loop's."""

    def __init__(self, server: McpServer) -> None:
        self._server = server
        self._loop = asyncio.get_running_loop()
        self._over = asyncio.Event()
        self._serving = asyncio.Event()
        self._bus = InMemorySubscriptionBus()
        self._listeners: dict[str, ServerSession] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        sdk: Server[Any] = _Server(
            server.name,
            version=__version__,
            on_list_tools=self._list,
            on_call_tool=self._call,
            on_subscriptions_listen=ListenHandler(self._bus),
        )
        sdk.add_notification_handler("notifications/initialized", types.NotificationParams, self._initialized)
        self._manager = StreamableHTTPSessionManager(sdk, json_response=server.json_responses)
        self._spawn(self._live())
        server.on_change(self._changed)

    async def handle(self, scope: Scope, body: bytes, receive: Receive, send: Send, *, call: bool) -> None:
        """Serve one request that has met its challenges. body: what has been read of it; call: of a tool."""
        await self._serving.wait()
        if self._over.is_set():
            await JSONResponse({"error": "not found"}, 404)(scope, receive, send)
            return
        if call:
            await self._handle_call(scope, body, receive, send)
            return
        await self._manager.handle_request(scope, _replayed(body, receive), send)
        if scope["method"] == "DELETE":
            self._listeners.pop(_session(scope["headers"]), None)

    async def _handle_call(self, scope: Scope, body: bytes, receive: Receive, send: Send) -> None:
        """Serve a call of a tool, and see when the client breaks it off: the SDK leaves the tool running then."""
        gone = self._loop.create_future()
        watch = self._spawn(_watch(receive, gone))
        try:
            await self._manager.handle_request({**scope, _GONE: gone}, _replayed(body, receive), send)
        finally:
            watch.cancel()
            if not gone.done():
                gone.set_result(None)

    def end(self) -> None:
        """End every session and stream of the server."""
        self._soon(self._over.set)

    async def _live(self) -> None:
        async with self._manager.run():
            self._serving.set()
            await self._over.wait()

    # -- what the SDK asks for ----------------------------------------------------------------------------

    async def _list(self, _context: _Context, _params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        offers = self._server.tools.values()
        return types.ListToolsResult(
            tools=[types.Tool(name=o.name, description=o.description, input_schema=dict(o.schema)) for o in offers]
        )

    async def _call(self, context: _Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        offer = self._server.tools.get(params.name)
        if offer is None:
            raise MCPError(types.INVALID_PARAMS, f"Unknown tool: {params.name}")
        held = self._server.hold_on(params.name)

        async def released() -> None:
            if held is not None:
                # `wait` leaves what it waits for alone when it is cancelled, so other calls stay held.
                waits = (asyncio.wrap_future(held, loop=self._loop), _scope(context)[_GONE])
                await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)

        result = await offer.behaviour.perform(Call(params.arguments or {}, context.session.report_progress, released))
        return types.CallToolResult.model_validate(result)

    async def _initialized(self, context: _Context, _params: types.NotificationParams | None) -> None:
        self._listeners[_session(_scope(context)["headers"])] = context.session

    # -- notices of change --------------------------------------------------------------------------------

    def _changed(self) -> None:
        self._soon(lambda: self._spawn(self._tell()))

    async def _tell(self) -> None:
        """Tell those who listen: the streams of the handshake's era, and the subscriptions of the one after it."""
        for session in list(self._listeners.values()):
            await session.send_tool_list_changed()
        await self._bus.publish(ToolsListChanged())

    # -- tasks --------------------------------------------------------------------------------------------

    def _soon(self, what: Any) -> None:
        with suppress(RuntimeError):  # the loop has ended, and everything with it
            self._loop.call_soon_threadsafe(what)

    def _spawn(self, work: Any) -> asyncio.Task[None]:
        task: asyncio.Task[None] = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task


async def _watch(receive: Receive, gone: asyncio.Future[None]) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    if not gone.done():
        gone.set_result(None)


def _replayed(body: bytes, receive: Receive) -> Receive:
    """Receive the body that was read already once more, and then whatever comes."""
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> Message:
        return messages.pop() if messages else await receive()

    return again


def _scope(context: _Context) -> Scope:
    """The ASGI scope of the HTTP request behind a message; on this transport there always is one."""
    assert context.request is not None
    scope: Scope = context.request.scope
    return scope


def _session(headers: Any) -> str:
    return next((value.decode("latin-1") for name, value in headers if name == b"mcp-session-id"), "")
