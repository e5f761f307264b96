"""The wire of the played MCP servers: challenges and records in front, the official MCP SDK behind. Needs `mcp`."""

from __future__ import annotations

import hashlib
import logging
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import orjson
from mcp.server.transport_security import DEFAULT_MAX_REQUEST_BODY_SIZE
from starlette.responses import JSONResponse, Response
from starlette.types import Message, Receive, Scope, Send

from .challenges import JSON, issuer_document
from .endpoint import Endpoint
from .server import McpServer

if TYPE_CHECKING:
    from .servers import McpServers

# What clients do to a server that challenges and breaks is no news; standard error belongs to the suite.
for _name in ("mcp", "sse_starlette"):
    logging.getLogger(_name).addHandler(logging.NullHandler())


class Application:
    """The ASGI application of one `McpServers`; `forget` may be called from any thread, the rest is the loop's."""

    def __init__(self, servers: McpServers) -> None:
        self._servers = servers
        self._endpoints: dict[McpServer, Endpoint] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await _lifespan(receive, send)
            return
        if scope["type"] != "http":
            return
        path: str = scope["path"]
        server = self._servers.at(path)
        if server is not None:
            await self._serve(server, scope, receive, send)
            return
        await self._publish(path, scope)(scope, receive, send)

    def forget(self, server: McpServer) -> None:
        endpoint = self._endpoints.pop(server, None)
        if endpoint is not None:
            endpoint.end()

    # -- requests to a server -----------------------------------------------------------------------------

    async def _serve(self, server: McpServer, scope: Scope, receive: Receive, send: Send) -> None:
        body = await _body(receive)
        if body is None:
            return  # whoever asked has gone before the question was complete
        rpc, tool = _called(body)
        token = _token(scope)
        place = server.record.arrived(scope["method"], rpc=rpc, tool=tool, token=token)

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                server.record.answered(place, int(message["status"]))
            await send(message)

        refusal = self._refusal(server, rpc, tool, token)
        if refusal is not None:
            await refusal(scope, receive, answer)
            return
        endpoint = self._endpoints.get(server)
        if endpoint is None:
            endpoint = self._endpoints[server] = Endpoint(server)
        if self._servers.at(scope["path"]) is None:
            # Closed while this request came in; nobody else would end the endpoint.
            self.forget(server)
            await _nothing_here()(scope, receive, answer)
            return
        await endpoint.handle(scope, body, receive, answer, call=rpc == "tools/call")

    def _refusal(self, server: McpServer, rpc: str | None, tool: str | None, token: str | None) -> Response | None:
        if server.broken is not None:
            error = {"jsonrpc": "2.0", "id": None, "error": {"code": -32603, "message": server.broken}}
            return JSONResponse(error, 500)
        challenge = server.unmet(rpc, tool, token)
        if challenge is None:
            return None
        presented = token is not None
        told = {"error": challenge.error(presented) or "unauthorized", "error_description": challenge.error_description}
        where = self._servers.base + self._servers.metadata_path(server)
        headers = {"WWW-Authenticate": challenge.header(where, presented), "Cache-Control": "no-store"}
        return JSONResponse({k: v for k, v in told.items() if v is not None}, challenge.status, headers)

    # -- documents ----------------------------------------------------------------------------------------

    def _publish(self, path: str, scope: Scope) -> Response:
        """The document at a path: metadata of a resource, or what belongs to the authorization server."""
        method: str = scope["method"]
        described = self._servers.described_at(path)
        if described:
            token = _token(scope)
            reply = _document(self._servers.document(described), method)
            for server in described:
                place = server.record.arrived(method, token=token, metadata=True)
                server.record.answered(place, reply.status_code)
            return reply
        issuer = self._servers.issuer
        name = issuer.removeprefix(self._servers.base)
        if path in (
            f"/.well-known/oauth-authorization-server{name}",
            f"/.well-known/openid-configuration{name}",
            f"{name}/.well-known/openid-configuration",
        ):
            return _document(issuer_document(issuer), method)
        if path == f"{name}/keys":
            return _document({"keys": []}, method)
        if path in (f"{name}/authorize", f"{name}/token"):
            why = "nobody signs in here: tokens come from the clients of the host"
            return JSONResponse({"error": "access_denied", "error_description": why}, 403)
        return _nothing_here()


def _document(content: JSON, method: str) -> Response:
    if method not in ("GET", "HEAD"):
        return JSONResponse({"error": "method not allowed"}, 405, {"Allow": "GET, HEAD"})
    return JSONResponse(content, headers={"Cache-Control": "no-store"})


def _nothing_here() -> Response:
    return JSONResponse({"error": "not found"}, 404)


def _token(scope: Scope) -> str | None:
    """The SHA-256 of the bearer token; the scheme is case-insensitive, and other schemes carry none."""
    for name, value in scope["headers"]:
        if name == b"authorization":
            scheme, _, token = value.strip().partition(b" ")
            token = token.strip()
            if scheme.lower() == b"bearer" and token:
                return hashlib.sha256(token).hexdigest()
    return None


def _called(body: bytes) -> tuple[str | None, str | None]:
    """Method and tool of a JSON-RPC message; (None, None) for what is none."""
    message: Any = None
    with suppress(orjson.JSONDecodeError):
        message = orjson.loads(body)
    if not isinstance(message, dict) or not isinstance(message.get("method"), str):
        return None, None
    params = message.get("params")
    tool = params.get("name") if message["method"] == "tools/call" and isinstance(params, dict) else None
    return message["method"], tool if isinstance(tool, str) else None


async def _body(receive: Receive) -> bytes | None:
    """The body of a request, cut just above the limit of the SDK, which refuses it; None when it breaks off."""
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return None
        if len(body) <= DEFAULT_MAX_REQUEST_BODY_SIZE:
            body += message.get("body", b"")
        if not message.get("more_body", False):
            return bytes(body)


async def _lifespan(receive: Receive, send: Send) -> None:
    while True:
        message = await receive()
        await send({"type": f"{message['type']}.complete"})
        if message["type"] == "lifespan.shutdown":
            return
