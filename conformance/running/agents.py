"""How a scenario has the agent of a host do something.

Either the host plays playbooks itself, and the message is all that it needs; or a real agent works behind it, and the
suite plays the model service that the agent asks and the MCP servers that it calls. Scenarios do not know which.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol
from uuid import uuid4

import orjson

from conformance.backend.playbook import Move, compose
from conformance.client import Participant, Silent, Unreached
from conformance.oracle.tracker import Envelope
from conformance.protocol import ROOT_URI

if TYPE_CHECKING:
    from conformance.backend.mcp_servers import McpServer, Tool
    from conformance.drivers.scripted import Scripted
    from conformance.running.stage import Stage

JSON = Any

PUBLISHER = "publisher"
"""The client that brings the MCP servers along; it takes no other part."""

USHER = "usher"
"""The client that configures the host and signs in, once, before the first turn."""

PROBE_TOOL = "look_around"
"""A tool of every MCP server, for moves in which the agent needs the server and no particular tool."""

_PAUSE_KEY = "pause"


@dataclass(frozen=True, slots=True)
class ServedCall:
    """A tools/call that has reached an MCP server. digest: SHA-256 of its bearer token; passed: it was not refused."""

    tool: str
    digest: str | None
    passed: bool


class Agent(Protocol):
    """The agent, as the steps of one scenario see it."""

    def resource(self, server: str, beside: str | None = None) -> str:
        """The protected resource of the MCP server of that name; the one of ``beside``, if that is given."""

    def tell(self, session: str, chat: str, moves: Sequence[Move], text: str) -> str:
        """Prepare what the moves need and give the text of the message that makes the agent play them.

        Raises Unreached for moves that this agent cannot be made to play.
        """

    def go_on(self, client: Participant, chat: str, pause: str) -> None:
        """Let the agent go on from a pause of its playbook."""

    def requests(self, server: str) -> Sequence[ServedCall]:
        """The calls that have reached the MCP server. Raises Unreached where nobody can tell."""

    def await_token(self, server: str, digest: str) -> bool:
        """Whether a call with this token has reached the server, now or within the patience."""

    def excuse(self) -> Unreached | None:
        """Why nothing came, where that is not the host's doing: it never asked for the playbook."""

    def close(self) -> None:
        """Let go of everything that this scenario has held."""


class HostPlays:
    """The host reads the playbook off the message and simulates the MCP servers."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._resources: dict[str, str] = {}
        self._told: list[str] = []

    def resource(self, server: str, beside: str | None = None) -> str:
        new = f"https://{server}-{uuid4().hex[:12]}.example/mcp" if beside is None else self.resource(beside)
        return self._resources.setdefault(server, new)

    def tell(self, session: str, chat: str, moves: Sequence[Move], text: str) -> str:
        told = compose(text, moves)
        if any("call" in move or "ask" in move for move in moves[:1]):
            self._told.append(told)
        return told

    def go_on(self, client: Participant, chat: str, pause: str) -> None:
        action = {
            "type": "chat/pendingMessageSet",
            "kind": "steering",
            "id": f"steer-{uuid4()}",
            "message": {"text": f"continue {pause}", "origin": {"kind": "user"}},
        }
        client.dispatch(chat, action)

    def requests(self, server: str) -> Sequence[ServedCall]:
        witness = getattr(self._stage.theatre.driver, "upstream", None)
        if witness is None:
            raise Unreached("backend-missing", "nobody tells what has reached the MCP server")
        return [ServedCall(call.tool, call.digest, call.passed) for call in witness(self.resource(server))]

    def await_token(self, server: str, digest: str) -> bool:
        def served() -> bool | None:
            return any(call.digest == digest for call in self.requests(server)) or None

        return self._stage.pump.wait(served, self._stage.theatre.patience) is True

    def excuse(self) -> Unreached | None:
        for client in self._stage.clients.values():
            for view in client.view.channels.values():
                turns = view.state.get("turns") if isinstance(view.state, dict) else None
                if any(self._ignored(turn) for turn in turns or ()):
                    return Unreached("backend-ignored", "the agent has ended its turn without playing the playbook")
        return None

    def _ignored(self, turn: JSON) -> bool:
        """Whether a turn that began with a call or a question has completed without either."""
        if not isinstance(turn, dict) or turn.get("state") != "complete":
            return False
        message, parts = turn.get("message"), turn.get("responseParts")
        if not isinstance(message, dict) or message.get("text") not in self._told or not isinstance(parts, list):
            return False
        return all(isinstance(p, dict) and p.get("kind") not in ("toolCall", "inputRequest") for p in parts)

    def close(self) -> None:
        """Nothing is held."""


class ModelPlays:
    """A real agent, driven by the scripted model service and by MCP servers of the suite."""

    def __init__(self, stage: Stage, scripted: Scripted) -> None:
        self._stage = stage
        self._scripted = scripted
        self._servers: dict[str, McpServer] = {}
        self._published: dict[str, frozenset[str]] = {}
        self._approvals: dict[str, str] = {}
        self._clients: dict[str, JSON] = {}
        self._held: list[tuple[str, str, str]] = []
        self._told: list[tuple[str, list[str]]] = []

    # -- what scenarios ask for -------------------------------------------------------------------------

    def resource(self, server: str, beside: str | None = None) -> str:
        if server not in self._servers and beside is not None:
            self._servers[server] = self._scripted.mcp.open(server, resource=self.resource(beside))
            self._servers[server].tool(PROBE_TOOL)
        return self._server(server).resource

    def tell(self, session: str, chat: str, moves: Sequence[Move], text: str) -> str:
        self._refuse_unplayable(moves)
        self._scripted.sign_in(lambda: self._stage.join(USHER, [ROOT_URI]))
        # Which servers are at work is decided before a host can have contacted those that are new to it.
        requests = [self._as_request(move) for move in moves]
        names = list(dict.fromkeys(self._set_servers_up(moves)))
        if names:
            self._publish(session, names)
        self._settle_approvals(session, requests)
        mark = uuid4().hex[:12]
        self._told.append((mark, names))
        return compose(f"{text} (scene {mark})", [self._own_pause(chat, move) for move in requests])

    def go_on(self, client: Participant, chat: str, pause: str) -> None:
        for where, name, own in self._held:
            if where == chat and name == pause:
                self._scripted.models.release(own)

    def requests(self, server: str) -> Sequence[ServedCall]:
        return [
            ServedCall(seen.tool or "", seen.token, seen.status is not None and seen.status < 400)
            for seen in self._server(server).seen
            if seen.rpc == "tools/call"
        ]

    def await_token(self, server: str, digest: str) -> bool:
        served = self._server(server).await_seen(
            lambda seen: seen.rpc == "tools/call" and seen.token == digest, self._stage.theatre.patience
        )
        return served is not None

    def excuse(self) -> Unreached | None:
        asked = {message for request in self._scripted.models.requests if (message := request.message)}
        for mark, names in self._told:
            if not any(mark in message for message in asked):
                return Unreached(
                    "backend-ignored",
                    "the agent did not bring the playbook to the model service of the suite, so it was never told"
                    + self._last_error(),
                )
            for name in names:
                if not self._server(name).contacted:
                    return Unreached("backend-ignored", f"the MCP server {name!r} was never contacted by the host")
        return None

    def _last_error(self) -> str:
        """What the host itself says to it, if it does."""
        said = [
            envelope.action
            for client in self._stage.clients.values()
            for envelope in client.mailbox.envelopes
            if envelope.type in ("chat/error", "session/creationFailed")
        ]
        return f"; the host says: {said[-1]!r:.300}" if said else ""

    def close(self) -> None:
        for _, _, own in self._held:
            self._scripted.models.release(own)
        for server in self._servers.values():
            self._scripted.mcp.close(server)
        self._servers.clear()
        if any(self._is_push(frame.msg) for frame in self._stage.frames if frame.dir == "out"):
            self._scripted.sign_in_again()

    def _is_push(self, message: JSON) -> bool:
        """Whether a step has pushed a token for what the agent itself demands; the host may have taken a bad one."""
        if not isinstance(message, dict) or message.get("method") != "authenticate":
            return False
        params = message.get("params")
        return isinstance(params, dict) and params.get("resource") in self._scripted.knowledge.tokens

    # -- how it is done ---------------------------------------------------------------------------------

    def _refuse_unplayable(self, moves: Sequence[Move]) -> None:
        missing = self._scripted.unplayable(moves)
        if missing:
            raise Unreached("backend-missing", f"the agent of this host cannot be made to do this: {missing}")

    def _server(self, name: str) -> McpServer:
        if name not in self._servers:
            self._servers[name] = self._scripted.mcp.open(name)
            self._servers[name].tool(PROBE_TOOL)
        return self._servers[name]

    def _set_servers_up(self, moves: Sequence[Move]) -> Iterator[str]:
        """Have each server answer as the moves say; the names of the servers that the session needs."""
        from conformance.backend.mcp_servers import ALL_TOOLS

        queues: dict[tuple[str, str], list[JSON]] = {}
        called = {call.get("server") for move in moves for call in _calls(move)}
        for move in moves:
            for call in _calls(move):
                if "server" in call:
                    queues.setdefault((call["server"], call["tool"]), []).append(call)
                    yield call["server"]
            if "mcp" in move:
                body = move["mcp"]
                server = self._server(body["server"])
                # A server whose tools are called must have told them before, so it is challenged at the calls.
                at_work = body["server"] in called or server.contacted
                wanted = ALL_TOOLS if at_work else None
                server.challenge(_for_server([body["challenge"]] if body.get("challenge") else ()), tool=wanted)
                server.breaks(body.get("fails"))
                self._note_client(body["server"], [body.get("challenge") or {}])
                yield body["server"]
        for (name, tool), calls in queues.items():
            server = self._server(name)
            server.tool(tool, _behaviour(calls[0]))
            server.challenge(_for_server(calls[0].get("challenges", ())), tool=tool)
            self._note_client(name, calls[0].get("challenges", ()))

    def _as_request(self, move: Move) -> Move:
        """A server that is at work gets a request of this turn by a call of a tool that every server has."""
        body = move.get("mcp")
        if body is None or not body.get("challenge") or not self._server(body["server"]).contacted:
            return move
        return {"call": {"tool": PROBE_TOOL, "server": body["server"]}}

    def _note_client(self, server: str, challenges: Sequence[JSON]) -> None:
        """Keep the OAuth client that the host shall have for a server: it is part of the server's configuration."""
        for challenge in challenges:
            if "oauth_client" in challenge:
                self._clients[server] = challenge["oauth_client"]

    def _own_pause(self, chat: str, move: Move) -> Move:
        if _PAUSE_KEY not in move:
            return move
        own = f"{move[_PAUSE_KEY]}-{uuid4().hex[:12]}"
        self._held.append((chat, move[_PAUSE_KEY], own))
        return {_PAUSE_KEY: own}

    def _publisher(self) -> Participant:
        known = self._stage.clients.get(PUBLISHER)
        return known if known is not None else self._stage.join(PUBLISHER)

    def _publish(self, session: str, names: Sequence[str]) -> None:
        """Bring the servers into the session, and await that the host has taken them up."""
        known = self._published.get(session, frozenset())
        wanted = known | set(names)
        if wanted == known:
            return
        publisher = self._publisher()
        urls = {name: self._server(name).url for name in sorted(wanted)}
        if self._scripted.knowledge.route == "root-config":
            if ROOT_URI not in publisher.view.channels:
                publisher.subscribe(ROOT_URI)
            publisher.act(ROOT_URI, {"type": "root/configChanged", "config": self._scripted.root_config(urls)})
        else:
            self._publish_plugin(publisher, session, urls)
        self._published[session] = frozenset(wanted)

    def _follower(self, session: str) -> Participant:
        """A client that sees what becomes of the session; the publisher follows it only when nobody else does."""
        for client in self._stage.clients.values():
            view = client.view.channels.get(session)
            if view is not None and view.live and client.connection.closed is None:
                return client
        publisher = self._publisher()
        publisher.subscribe(session)
        return publisher

    def _act(self, session: str, action: dict[str, JSON]) -> None:
        """Have the publisher dispatch, and await that the session has it."""
        follower, publisher = self._follower(session), self._publisher()
        origin = {"clientId": publisher.client_id, "clientSeq": publisher.dispatch(session, action)}

        def echo() -> Envelope | None:
            return next((e for e in follower.mailbox.envelopes if e.origin == origin), None)

        told = follower.wait(f"{action['type']} of the client that brings the MCP servers", echo)
        if not told.accepted:
            raise Unreached("backend-missing", f"the host has rejected {action['type']}: {told.rejection!r}")

    def _publish_plugin(self, publisher: Participant, session: str, urls: Mapping[str, str]) -> None:
        uri = f"conformance-plugin:/{uuid4()}"
        servers: JSON = {name: {"type": "http", "url": url} for name, url in urls.items()}
        for name, client in self._clients.items():
            servers[name]["oauth"] = client
        publisher.library.put(f"{uri}/.plugin/plugin.json", _json({"name": "ahp-conformance", "version": "1.0.0"}))
        publisher.library.put(f"{uri}/.mcp.json", _json({"mcpServers": servers}))
        plugin = {"type": "plugin", "id": uri, "uri": uri, "name": "ahp-conformance", "enabled": True}
        client = {
            "clientId": publisher.client_id,
            "displayName": "Publisher",
            "tools": [],
            "customizations": [{**plugin, "nonce": uuid4().hex[:8]}],
        }
        self._act(session, {"type": "session/activeClientSet", "activeClient": client})

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
            self._follower(session).await_state(
                session, "the MCP servers of a plugin that a client has published", taken_up
            )
        except Silent as silent:
            raise Unreached(
                "backend-missing", f"the host did not take up the plugin that a client has published: {silent}"
            ) from silent

    def _settle_approvals(self, session: str, moves: Sequence[Move]) -> None:
        """Tell the session whether tools are asked for, where its configuration decides that."""
        calls = [call for move in moves for call in _calls(move)]
        if not calls:
            return
        wanted = "asked" if any(call.get("confirm") for call in calls) else "unasked"
        config = self._scripted.knowledge.approvals.get(wanted)
        known = getattr(self._stage.theatre.driver, "session_config", None) or {}
        if config is None or self._approvals.get(session) == wanted:
            return
        if session not in self._approvals and config.items() <= known.items():
            return  # it was created like that
        self._act(session, {"type": "session/configChanged", "config": dict(config)})
        self._approvals[session] = wanted


def _for_server(challenges: Sequence[JSON]) -> list[JSON]:
    """The challenges without what is not the server's affair."""
    return [{n: v for n, v in challenge.items() if n != "oauth_client"} for challenge in challenges]


def _behaviour(call: JSON) -> Tool:
    from conformance.backend.mcp_servers import Echo, Fail, Text

    if "fails" in call:
        return Fail(call["fails"])
    return Text(call["result"]) if "result" in call else Echo()


def _calls(move: Move) -> list[JSON]:
    call = move.get("call")
    return [] if call is None else [call, *call.get("with", ())]


def _json(value: JSON) -> str:
    return orjson.dumps(value).decode()
