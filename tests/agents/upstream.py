"""MCP over Streamable HTTP, as far as an agent needs it: the handshake, the tools, calls, and challenges.

Sources: the transport and authorization chapters of the MCP specification; RFC 6750, section 3; RFC 9728.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx

JSON = Any

_VERSION = "2025-06-18"
_PAIR = re.compile(r'(\w+)="([^"]*)"')


class UpstreamError(Exception):
    """The server cannot be used; the message says why."""


@dataclass(frozen=True, slots=True)
class Challenge:
    """A refusal with 401 or 403. token: what the refused request carried; metadata: the resource's, as published."""

    status: int
    token: str | None
    metadata: JSON
    scopes: tuple[str, ...] = ()
    description: str | None = None
    error: str | None = None

    @property
    def resource(self) -> str:
        return str(self.metadata["resource"])

    @property
    def reason(self) -> str:
        if self.status == 403 or self.error == "insufficient_scope":
            return "insufficientScope"
        return "required" if self.token is None else "expired"


@dataclass(slots=True)
class Answer:
    """The answer to a request that was let in, as long as it has not been read."""

    id: int
    response: httpx.Response

    async def read(self) -> JSON:
        """The result. Raises UpstreamError for an error, or an answer that is none."""
        try:
            message = await self._message()
        except (httpx.HTTPError, ValueError) as error:
            raise UpstreamError(f"the MCP server gave no answer: {error!r}") from error
        finally:
            await self.response.aclose()
        if "error" in message:
            raise UpstreamError(str(message["error"].get("message")))
        return message["result"]

    async def _message(self) -> JSON:
        if not self.response.headers.get("content-type", "").startswith("text/event-stream"):
            return json.loads(await self.response.aread())
        async for line in self.response.aiter_lines():
            if line.startswith("data:") and line.removeprefix("data:").strip():
                message = json.loads(line.removeprefix("data:"))
                if message.get("id") == self.id:
                    return message
        raise ValueError("the stream has ended before")


@dataclass(slots=True)
class Connection:
    """The connection to one server, and the tools that it has told of."""

    web: httpx.AsyncClient
    url: str
    tools: list[JSON] = field(default_factory=list)
    _session: str | None = None
    _ids: itertools.count[int] = field(default_factory=lambda: itertools.count(1))

    async def renew(self, token: str | None) -> Challenge | None:
        """Shake hands where that has not been done, and list the tools; or the challenge that stands before it."""
        if self._session is None:
            hello = {
                "protocolVersion": _VERSION,
                "capabilities": {},
                "clientInfo": {"name": "small-agent", "version": "1"},
            }
            opened = await self.send("initialize", hello, token)
            if isinstance(opened, Challenge):
                return opened
            await opened.read()
            self._session = opened.response.headers.get("mcp-session-id")
            await self._initialized(token)
        listed = await self.send("tools/list", {}, token)
        if isinstance(listed, Challenge):
            return listed
        self.tools = (await listed.read())["tools"]
        return None

    async def call(self, tool: str, arguments: JSON, token: str | None) -> Answer | Challenge:
        return await self.send("tools/call", {"name": tool, "arguments": arguments}, token)

    async def send(self, method: str, params: JSON, token: str | None) -> Answer | Challenge:
        """Send a request; the answer comes when the server has let it in. Raises UpstreamError."""
        number = next(self._ids)
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        try:
            request = self.web.build_request("POST", self.url, json=message, headers=self._headers(token))
            response = await self.web.send(request, stream=True)
        except httpx.HTTPError as error:
            raise UpstreamError(f"the MCP server cannot be reached: {error!r}") from error
        if response.status_code == 200:
            return Answer(number, response)
        await response.aclose()
        if response.status_code in (401, 403):
            return await self._challenge(response, token)
        raise UpstreamError(f"the MCP server answered {method} with {response.status_code}")

    def forget(self) -> None:
        """Let the next request begin with a handshake."""
        self._session = None

    async def _initialized(self, token: str | None) -> None:
        message = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        try:
            await self.web.post(self.url, json=message, headers=self._headers(token))
        except httpx.HTTPError as error:
            raise UpstreamError(f"the MCP server cannot be reached: {error!r}") from error

    def _headers(self, token: str | None) -> Mapping[str, str]:
        headers = {"Accept": "application/json, text/event-stream"}
        if self._session is not None:
            headers |= {"Mcp-Session-Id": self._session, "MCP-Protocol-Version": _VERSION}
        return headers if token is None else headers | {"Authorization": f"Bearer {token}"}

    async def _challenge(self, response: httpx.Response, token: str | None) -> Challenge:
        told = dict(_PAIR.findall(response.headers.get("www-authenticate", "")))
        if "resource_metadata" not in told:
            raise UpstreamError(f"the MCP server answered {response.status_code} and does not say who issues tokens")
        try:
            metadata = (await self.web.get(told["resource_metadata"])).raise_for_status().json()
        except (httpx.HTTPError, ValueError) as error:
            raise UpstreamError(f"the metadata of the protected resource cannot be read: {error!r}") from error
        # Otherwise a server could have the tokens of another one sent to itself.
        if not self.url.startswith(str(metadata.get("resource"))):
            raise UpstreamError("the metadata are about another resource than the MCP server")
        return Challenge(
            response.status_code,
            token,
            metadata,
            tuple(told.get("scope", "").split()),
            told.get("error_description"),
            told.get("error"),
        )
