"""Clients of played MCP servers: the official one, and a small one on plain HTTP that sees status and headers."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Literal, Self

import httpx
import httpx2
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client

from conformance.backend.mcp_servers import McpServer

PATIENCE = 20.0
"""Seconds, as an upper bound of what must come."""

VERSION = "2025-06-18"
ACCEPT = {"Accept": "application/json, text/event-stream"}
Mode = Literal["legacy", "auto"]


@asynccontextmanager
async def connected(server: McpServer, mode: Mode, token: str | None = None, **options: Any) -> AsyncIterator[Client]:
    """The official client, of the handshake's era (legacy) or the one after it (auto)."""
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    async with httpx2.AsyncClient(headers=headers, timeout=PATIENCE) as web:
        transport = streamable_http_client(server.url, http_client=web)
        async with Client(transport, mode=mode, **options) as client:
            yield client


def texts(result: Any) -> list[str]:
    """The text parts of a tool's result."""
    return [part.text for part in result.content if part.type == "text"]


def web() -> httpx.Client:
    """A client of its own; certificates are not loaded, which would take longer than most tests."""
    return httpx.Client(timeout=PATIENCE, trust_env=False, verify=False)


def send(method: str, url: str, **options: Any) -> httpx.Response:
    """One request on a connection of its own."""
    with web() as client:
        return client.request(method, url, **options)


class Plain:
    """Speaks to one server over plain HTTP. `token` may change between requests."""

    def __init__(self, server: McpServer, token: str | None = None) -> None:
        self.server = server
        self.token = token
        self.session: str | None = None
        self.web = web()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.web.close()

    @property
    def headers(self) -> dict[str, str]:
        headers = dict(ACCEPT)
        if self.token is not None:
            headers["Authorization"] = f"Bearer {self.token}"
        if self.session is not None:
            headers |= {"Mcp-Session-Id": self.session, "Mcp-Protocol-Version": VERSION}
        return headers

    def ask(self, method: str, params: Mapping[str, Any] | None = None, *, number: int = 1) -> httpx.Response:
        return self.web.post(self.server.url, json=request(method, params, number), headers=self.headers)

    def initialize(self) -> httpx.Response:
        """The handshake; its first answer is returned, the second message follows only if that was a success."""
        reply = self.ask("initialize", HELLO)
        if reply.is_success:
            self.session = reply.headers["mcp-session-id"]
            told = self.web.post(
                self.server.url, json={"jsonrpc": "2.0", "method": "notifications/initialized"}, headers=self.headers
            )
            assert told.status_code == 202
        return reply

    def call(self, tool: str, **arguments: Any) -> httpx.Response:
        return self.ask("tools/call", {"name": tool, "arguments": arguments})


HELLO = {"protocolVersion": VERSION, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}


def request(method: str, params: Mapping[str, Any] | None = None, number: int = 1) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": dict(params or {})}
