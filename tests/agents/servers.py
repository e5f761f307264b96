"""The MCP servers of a session: they come in plugins that clients publish, and are connected to and kept up."""

from __future__ import annotations

import asyncio
import base64
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from conformance.host import mirror
from conformance.host import servers as states
from conformance.host.channels import Server, Session

from .flaws import NO_PLUGINS, SKIPS_MCP
from .signing import Wait, requirement, stored
from .upstream import Challenge, Connection, UpstreamError

if TYPE_CHECKING:
    from .host import AgentHost

JSON = Any


@dataclass(slots=True, eq=False, kw_only=True)
class RealServer(Server):
    """A server of a plugin. oauth_client: the one that its configuration names; lock: one handshake at a time."""

    connection: Connection
    oauth_client: JSON = None
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


@dataclass(slots=True, eq=False)
class Plugin:
    """A plugin that is taken up. loading: its files are not there yet."""

    id: str
    uri: str
    client_id: str
    name: str
    servers: list[RealServer] = field(default_factory=list)
    loading: bool = True

    def entry(self, load: JSON) -> JSON:
        """The customization of the plugin, with its servers as children."""
        children = [
            {
                "type": "mcpServer",
                "id": server.id,
                "uri": f"{self.uri}/.mcp.json#{server.name}",
                "name": server.name,
                "state": {"kind": "starting"},
            }
            for server in self.servers
        ]
        own = {"type": "plugin", "id": self.id, "uri": self.uri, "name": self.name, "clientId": self.client_id}
        return {**own, "load": load, "children": children}


class Plugins:
    """The plugins of all sessions, as the active clients publish them."""

    def __init__(self, host: AgentHost) -> None:
        self._host = host
        self._taken: dict[Session, dict[str, Plugin]] = {}

    def loading(self, session: Session) -> bool:
        return any(plugin.loading for plugin in self._taken.get(session, {}).values())

    def follow(self, session: Session) -> None:
        """Take up what the active clients of the session publish now, and let go what they do not any more."""
        if self._host.flaw == NO_PLUGINS:
            return
        published = {
            custom["uri"]: (client["clientId"], custom)
            for client in session.state["activeClients"]
            for custom in client.get("customizations", ())
            if custom.get("type") == "plugin"
        }
        taken = self._taken.setdefault(session, {})
        for uri in [uri for uri in taken if uri not in published]:
            self._drop(session, taken.pop(uri))
        for uri, (client_id, custom) in published.items():
            if uri not in taken:
                taken[uri] = Plugin(self._host.mint("plugin"), uri, client_id, str(custom.get("name", uri)))
                self._publish(session, taken[uri], {"kind": "loading"})
                self._host.spawn(self._load(session, taken[uri]))

    def _drop(self, session: Session, plugin: Plugin) -> None:
        for server in plugin.servers:
            states.stopped(self._host, session, server)
            if session.servers.get(server.name) is server:
                del session.servers[server.name]
        self._host.act(session, {"type": "session/customizationRemoved", "id": plugin.id})

    def _publish(self, session: Session, plugin: Plugin, load: JSON) -> None:
        self._host.act(session, {"type": "session/customizationUpdated", "customization": plugin.entry(load)})

    async def _load(self, session: Session, plugin: Plugin) -> None:
        failed: JSON = None
        name, found = plugin.name, []
        try:
            name = (await self._read(plugin, ".plugin/plugin.json"))["name"]
            configured = (await self._read(plugin, ".mcp.json"))["mcpServers"].items()
            found = [self._server(server, config) for server, config in configured]
        except (LookupError, TypeError, ValueError) as error:
            failed = {"kind": "error", "message": f"the plugin cannot be read: {error!r}"}
        plugin.loading = False
        if plugin not in self._taken[session].values():
            return  # withdrawn while it was read
        plugin.name, plugin.servers = name, found
        session.servers.update((server.name, server) for server in found)
        self._publish(session, plugin, failed or {"kind": "loaded"})
        await asyncio.gather(*(connect(self._host, session, server) for server in found))

    async def _read(self, plugin: Plugin, path: str) -> JSON:
        """A JSON file of the plugin. Raises LookupError or ValueError where there is none."""
        answer = await self._host.ask_client(plugin.client_id, "resourceRead", {"uri": f"{plugin.uri}/{path}"})
        result = answer["result"]
        encoded = result["encoding"] == "base64"
        return json.loads(base64.b64decode(result["data"]) if encoded else result["data"])

    def _server(self, name: str, config: JSON) -> RealServer:
        connection = Connection(self._host.web, config["url"])
        return RealServer(self._host.mint("mcp"), name, connection=connection, oauth_client=config.get("oauth"))


def connect_if_starting(host: AgentHost, session: Session, server: Server | None) -> None:
    """Do what a client has asked for, where its request has left the server starting."""
    if isinstance(server, RealServer) and session.server_state(server) == "starting":
        host.spawn(connect(host, session, server))


async def connect(host: AgentHost, session: Session, server: RealServer) -> None:
    """Shake hands with the server if need be, list its tools, and show where that leaves it."""
    if host.flaw == SKIPS_MCP:
        states.set_state(host, session, server, {"kind": "ready"})
        return
    async with server.lock:
        try:
            refusal = await _renew(host, server)
        except UpstreamError as error:
            refusal = None
            state: JSON = {"kind": "error", "error": {"errorType": "mcp-server-failed", "message": str(error)}}
        else:
            state = {"kind": "ready"}
        if session.disposed or session.server_state(server) == "stopped":
            return
        if refusal is not None:
            state = {"kind": "authRequired", **requirement(refusal, server.oauth_client)}
            _await_token(host, session, server, refusal)
        show(host, session, server, state)


def show(host: AgentHost, session: Session, server: RealServer, state: JSON) -> None:
    """Tell of a state that is not told yet. The session may be in need of input by one that is."""
    entry = session.entry_of(server)
    if entry is not None and entry["state"] != state:
        states.set_state(host, session, server, state)
    else:
        mirror.refresh(host, session)


def release(host: AgentHost, session: Session, server: RealServer) -> None:
    """A call of the server waits for a token no longer; where it was the last one, the server does neither."""
    waiting = any(wait.behind is server for wait in host.waits(None))
    if not waiting and not session.disposed and session.server_state(server) == "authRequired":
        show(host, session, server, {"kind": "ready"})


def _await_token(host: AgentHost, session: Session, server: RealServer, told: Challenge) -> None:
    async def attempt(token: str) -> Challenge | None:
        async with server.lock:
            refusal = await server.connection.renew(token)
            if refusal is None:
                host.tokens[told.resource] = token  # for whoever comes next through the lock
            return refusal

    server.challenge = stored(told)
    wait = Wait(session, server.challenge, server=server, server_name=server.name, told=told, attempt=attempt)
    host.vault.wait(wait)


async def _renew(host: AgentHost, server: RealServer) -> Challenge | None:
    token = host.token_for(server)
    refusal = await server.connection.renew(token)
    if refusal is not None:
        server.resource = refusal.resource
        held = host.token_for(server)
        if held is not None and held != token:
            return await server.connection.renew(held)
    return refusal
