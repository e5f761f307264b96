"""The MCP servers of a scenario: played by the suite, and brought to a host whose agent really speaks MCP."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import orjson

from conformance.backend.playbook import Move
from conformance.client import HostClosed, Participant, Rejected, Silent, Unreached
from conformance.oracle.reading import dicts
from conformance.oracle.tracker import Envelope
from conformance.protocol import ROOT_URI, compare

if TYPE_CHECKING:
    from conformance.backend.mcp_servers import McpServer, Tool
    from conformance.drivers.scripted import Scripted
    from conformance.running.stage import Stage

JSON = Any

PUBLISHER = "publisher"
"""The client that brings the MCP servers along; it takes no other part."""

MCP_FILE = ".mcp.json"

PROBE_TOOL = "look_around"
"""A tool of every MCP server, for moves in which the agent needs the server and no particular tool."""


class Supply:
    """Opens the servers, lets each answer as the moves say, and sees to it that a session has them."""

    def __init__(self, stage: Stage, scripted: Scripted) -> None:
        self._stage = stage
        self._scripted = scripted
        self._servers: dict[str, McpServer] = {}
        self._brought: dict[str, frozenset[str]] = {}
        self._clients: dict[str, JSON] = {}
        self._folders: dict[str, Path] = {}
        self._guarded: set[str] = set()

    def server(self, name: str, beside: str | None = None) -> McpServer:
        """The server of that name, opened when it is new; on the resource of ``beside``, if that is given."""
        if name not in self._servers:
            resource = None if beside is None else self.server(beside).resource
            self._servers[name] = self._scripted.mcp.open(name, resource=resource)
            self._servers[name].tool(PROBE_TOOL)
        return self._servers[name]

    def members(self, session: str) -> dict[str, JSON]:
        """What createSession has to say for it: the working folder, where the servers are brought in a file."""
        if self._scripted.knowledge.route != "workspace":
            return {}
        folder = self._folders[session] = Path(tempfile.mkdtemp(prefix="conformance-workspace-"))
        uri = folder.as_uri()
        one = compare(self._stage.theatre.version, "0.7.0") < 0
        return {"workingDirectory": uri} if one else {"workingDirectories": [uri]}

    def set_up(self, moves: Sequence[Move]) -> Iterator[str]:
        """Have each server answer as the moves say; the names of the servers that the session needs."""
        from conformance.backend.mcp_servers import ALL_TOOLS

        queues: dict[tuple[str, str], list[JSON]] = {}
        called = {call.get("server") for move in moves for call in calls_of(move)}
        for move in moves:
            for call in calls_of(move):
                if "server" in call:
                    queues.setdefault((call["server"], call["tool"]), []).append(call)
                    yield call["server"]
            if "mcp" in move:
                body = move["mcp"]
                server = self.server(body["server"])
                # A server whose tools are called must have told them before, so it is challenged at the calls.
                at_work = body["server"] in called or server.contacted
                wanted = ALL_TOOLS if at_work else None
                told = _for_server([body["challenge"]] if body.get("challenge") else ())
                server.challenge(told, tool=wanted)
                if wanted is None and told:
                    self._guarded.add(body["server"])
                elif told and body["server"] in self._guarded:
                    # The token that it took before is worth nothing any more, whatever the request.
                    server.challenge(told)
                server.breaks(body.get("fails"))
                self._note_client(body["server"], [body.get("challenge") or {}])
                yield body["server"]
        for (name, tool), calls in queues.items():
            server = self.server(name)
            server.tool(tool, _behaviour(calls[0]))
            server.challenge(_for_server(calls[0].get("challenges", ())), tool=tool)
            self._note_client(name, calls[0].get("challenges", ()))

    def as_request(self, move: Move) -> Move:
        """A server that is at work gets a request of this turn by a call of a tool that every server has."""
        body = move.get("mcp")
        if body is None or not body.get("challenge") or not self.server(body["server"]).contacted:
            return move
        return {"call": {"tool": PROBE_TOOL, "server": body["server"]}}

    def _note_client(self, server: str, challenges: Sequence[JSON]) -> None:
        """Keep the OAuth client that the host shall have for a server: it is part of the server's configuration."""
        for challenge in challenges:
            if "oauth_client" in challenge:
                self._clients[server] = challenge["oauth_client"]

    def bring(self, session: str, names: Sequence[str]) -> None:
        """Bring the servers into the session, and await that the host has taken them up."""
        known = self._brought.get(session, frozenset())
        wanted = known | set(names)
        if wanted == known:
            return
        urls = {name: self.server(name).url for name in sorted(wanted)}
        route = self._scripted.knowledge.route
        if route == "workspace":
            self._write(session, urls, late=session in self._brought)
            self._brought[session] = frozenset(wanted)
            return
        publisher = self.publisher()
        if route == "root-config":
            if ROOT_URI not in publisher.view.channels:
                publisher.subscribe(ROOT_URI)
            # There is one configuration for all sessions.
            urls = {name: server.url for name, server in sorted(self._servers.items())}
            action = {"type": "root/configChanged", "config": self._scripted.root_config(urls)}
            try:
                publisher.act(ROOT_URI, action)
            except (Rejected, Silent) as refused:
                raise Unreached(
                    "backend-missing", f"the host does not take MCP servers in its configuration: {refused}"
                ) from refused
        else:
            self._publish_plugin(publisher, session, urls)
        self._brought[session] = frozenset(wanted)

    def _publish_plugin(self, publisher: Participant, session: str, urls: Mapping[str, str]) -> None:
        uri = f"conformance-plugin:/{uuid4()}"
        publisher.library.put(f"{uri}/.plugin/plugin.json", _json({"name": "ahp-conformance", "version": "1.0.0"}))
        publisher.library.put(f"{uri}/{MCP_FILE}", self._mcp_file(urls))
        plugin = {"type": "plugin", "id": uri, "uri": uri, "name": "ahp-conformance", "enabled": True}
        client = {
            "clientId": publisher.client_id,
            "displayName": "Publisher",
            "tools": [],
            "customizations": [{**plugin, "nonce": uuid4().hex[:8]}],
        }
        self.act(session, {"type": "session/activeClientSet", "activeClient": client})

        def taken_up(state: JSON) -> JSON:
            listed = state.get("customizations") or []
            entry: JSON = next((c for c in listed if c.get("uri") == uri), {})
            kind = (entry.get("load") or {}).get("kind")
            if kind == "error":
                raise Unreached(
                    "backend-missing", f"the host could not load the plugin with MCP servers: {entry!r:.300}"
                )
            children = {child.get("name") for child in entry.get("children") or []}
            return entry if children >= set(urls) else None

        try:
            self.follower(session).await_state(
                session, "the MCP servers of a plugin that a client has published", taken_up
            )
        except Silent as silent:
            raise Unreached(
                "backend-missing", f"the host did not take up the plugin that a client has published: {silent}"
            ) from silent

    def _mcp_file(self, urls: Mapping[str, str]) -> str:
        """What stands in an `.mcp.json`, in a plugin or in a folder."""
        servers: JSON = {name: {"type": "http", "url": url} for name, url in urls.items()}
        for name, client in self._clients.items():
            servers[name]["oauth"] = client
        return _json({"mcpServers": servers})

    def _write(self, session: str, urls: Mapping[str, str], *, late: bool) -> None:
        """Put the servers into the working folder of the session, where the host looks for them at its first turn.

        ``late``: it has had one, so that the host has to notice the change, and shows by their entries that it has.
        """
        folder = self._folders.get(session)
        if folder is None:
            raise Unreached("backend-missing", "the session was created without a folder for its MCP servers")
        fresh = folder / f"{MCP_FILE}.new"
        fresh.write_text(self._mcp_file(urls), "utf-8")
        fresh.replace(folder / MCP_FILE)
        if not late:
            return
        try:
            self.follower(session).await_state(
                session,
                f"the MCP servers of {MCP_FILE} in the working folder",
                lambda state: True if {s.get("name") for s in servers_in(state)} >= set(urls) else None,
            )
        except Silent as silent:
            raise Unreached("backend-missing", f"the host did not take up the changed {MCP_FILE}: {silent}") from silent

    def publisher(self) -> Participant:
        known = self._stage.clients.get(PUBLISHER)
        return known if known is not None else self._stage.join(PUBLISHER)

    def follower(self, session: str) -> Participant:
        """A client that sees what becomes of the session; the publisher follows it only when nobody else does."""
        for client in self._stage.clients.values():
            view = client.view.channels.get(session)
            if view is not None and view.live and client.connection.closed is None:
                return client
        publisher = self.publisher()
        publisher.subscribe(session)
        return publisher

    def act(self, session: str, action: dict[str, JSON]) -> None:
        """Have the publisher dispatch, and await that the session has it."""
        follower, publisher = self.follower(session), self.publisher()
        origin = {"clientId": publisher.client_id, "clientSeq": publisher.dispatch(session, action)}

        def echo() -> Envelope | None:
            return next((e for e in follower.mailbox.envelopes if e.origin == origin), None)

        told = follower.wait(f"{action['type']} of the client that brings the MCP servers", echo)
        if not told.accepted:
            raise Unreached("backend-missing", f"the host has rejected {action['type']}: {told.rejection!r}")

    def leave(self) -> None:
        """Take the servers out of the host's configuration, where they would be in the way of later sessions."""
        known = self._stage.clients.get(PUBLISHER)
        if self._scripted.knowledge.route != "root-config" or known is None or not self._brought:
            return
        with suppress(HostClosed):
            known.dispatch(ROOT_URI, {"type": "root/configChanged", "config": self._scripted.root_config({})})

    def close(self) -> None:
        for folder in self._folders.values():
            shutil.rmtree(folder, ignore_errors=True)
        for server in self._servers.values():
            self._scripted.mcp.close(server)
        self._servers.clear()


def servers_in(state: JSON) -> Iterator[JSON]:
    """The entries of MCP servers in a session state, at top level and in containers."""
    for entry in dicts(state.get("customizations")):
        yield from (e for e in (entry, *dicts(entry.get("children"))) if e.get("type") == "mcpServer")


def _for_server(challenges: Sequence[JSON]) -> list[JSON]:
    """The challenges without what is not the server's affair."""
    return [{n: v for n, v in challenge.items() if n != "oauth_client"} for challenge in challenges]


def _behaviour(call: JSON) -> Tool:
    from conformance.backend.mcp_servers import Echo, Fail, Text

    if "fails" in call:
        return Fail(call["fails"])
    return Text(call["result"]) if "result" in call else Echo()


def calls_of(move: Move) -> list[JSON]:
    call = move.get("call")
    return [] if call is None else [call, *call.get("with", ())]


def _json(value: JSON) -> str:
    return orjson.dumps(value).decode()
