"""MCP servers: their life cycle, their challenges, what stays of an entry, and what a stop ends."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from conformance.oracle.memory import Bounded, forget
from conformance.oracle.reading import (
    active_turn,
    call_in,
    dicts,
    entries_in,
    member,
    server_status,
    servers_in,
    text,
    texts,
)
from conformance.oracle.rule import Rule
from conformance.oracle.tracker import Envelope, Notification, Reply, Request, Snapshot
from conformance.protocol import ROOT_URI

from .pushes import Pushes

# From each state of a server to those that may follow (docs/guide/mcp.md, Runtime status). Saying the same state
# again, with other data, is no step.
LIFE: dict[str, frozenset[str]] = {
    "starting": frozenset({"ready", "authRequired", "error"}),
    "ready": frozenset({"authRequired", "error", "stopped"}),
    "authRequired": frozenset({"ready", "error", "stopped"}),
    "error": frozenset({"starting", "stopped"}),
    "stopped": frozenset({"starting"}),
}
# The states in which a server keeps its channel; what a later version may add can be a way to another one.
_SERVING = ("ready", "authRequired")
_REQUESTS = ("session/mcpServerStopRequested", "session/mcpServerStartRequested")
_LISTS = ("session/customizationsChanged", "session/customizationUpdated")

Place = tuple[str, ...]


class McpServers(Rule):
    """Servers move along their life cycle, keep what is theirs, and nobody is told of a challenge twice."""

    name = "mcp-servers"
    obligations = (
        "AHP-MCP-007",
        "AHP-MCP-017",
        "AHP-MCP-019",
        "AHP-MCP-027",
        "AHP-MCP-031",
        "AHP-MCP-037",
        "AHP-MCP-044",
        "AHP-MCP-048",
        "AHP-MCP-049",
    )
    hears = frozenset(
        {
            *_REQUESTS,
            *_LISTS,
            "session/customizationToggled",
            "session/mcpServerStateChanged",
            "root/agentsChanged",
        }
    )

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        # Resources that MCP servers are challenged for, and those that agents advertise themselves.
        self._resources: Bounded[str, None] = Bounded()
        self._of_agents: Bounded[str, None] = Bounded()
        self._pushes = Pushes()
        # Accepted requests to start or stop, each with the number of the state by which the host has followed it; and
        # the last of them after which it has not yet said anything else about the entry.
        self._requested: Bounded[Place, Bounded[int, int | None]] = Bounded()
        self._intents: Bounded[Place, str] = Bounded()
        # Servers that were challenged at a request although they were ready: they are ready again without it.
        self._at_work: Bounded[Place, None] = Bounded()
        # The channel that a server had last on a connection, as long as it was not started again.
        self._channels: Bounded[Place, str] = Bounded()

    def request(self, request: Request) -> None:
        self._pushes.request(request)

    def reply(self, reply: Reply) -> None:
        self._pushes.reply(reply)

    def gone(self, channel: str) -> None:
        forget(self._requested, channel)
        forget(self._intents, channel)
        forget(self._channels, channel)
        forget(self._at_work, channel)

    def envelope(self, envelope: Envelope) -> None:
        if not envelope.accepted:
            return
        if envelope.type == "root/agentsChanged":
            self._learn_agents(envelope.get("agents"))
        elif envelope.kind != "session":
            return
        elif envelope.type in _LISTS:
            self._listed(envelope)
        elif envelope.type in _REQUESTS:
            place = (envelope.channel, repr(envelope.get("id")))
            if isinstance(envelope.seq, int):
                self._requested.setdefault(place, Bounded(32)).setdefault(envelope.seq, None)
            self._intents[place] = envelope.type
            self._channels.pop((*place, envelope.conn), None)
        elif envelope.type == "session/customizationToggled":
            self._toggled(envelope)
        elif isinstance(envelope.before, dict):
            self._changed(envelope)

    def _toggled(self, envelope: Envelope) -> None:
        """A server that is switched off, by itself or with its container, stops from whatever state it is in."""
        for entry in dicts(member(envelope.after, "customizations")):
            for server in [entry, *dicts(entry.get("children"))]:
                if envelope.get("id") in (entry.get("id"), server.get("id")) and isinstance(envelope.seq, int):
                    place = (envelope.channel, repr(server.get("id")))
                    self._requested.setdefault(place, Bounded(32)).setdefault(envelope.seq, None)

    def _changed(self, envelope: Envelope) -> None:
        place, once = (envelope.channel, repr(envelope.get("id"))), (envelope.channel, repr(envelope.seq))
        known = next((s for s in servers_in(envelope.before) if s.get("id") == envelope.get("id")), None)
        mine = (*place, envelope.conn)
        self._state(envelope.get("state"), envelope.get("channel"), mine, envelope.message, envelope.frame.n, once)
        # With its first word on a request it is answered; what the list says later has other reasons.
        self._intents.pop(place, None)
        old, new = server_status(known), text(member(envelope.get("state"), "kind"))
        view = self.tracker.connection(envelope.conn).channels.get(envelope.channel)
        # For who permits delays, states in between may be left out.
        if old not in LIFE or new not in LIFE or view is None or view.late:
            return
        self.watch("AHP-MCP-017")
        if new == "authRequired" and old == "ready":
            self._at_work[place] = None
        elif old not in _SERVING or new not in _SERVING:
            self._at_work.pop(place, None)
        if old == "authRequired" and new == "ready" and place not in self._at_work:
            self._let_in(known, envelope)
        # After a request of a client the fold is ahead of the host, which says how it came out in reality.
        if self._answers_request(place, envelope):
            return
        # A further starting on the way is no fault.
        if new not in LIFE[old] | {old, "starting"}:
            self.find(
                "AHP-MCP-017",
                f"a server went from {old} to {new}",
                expected=" or ".join(sorted(LIFE[old])),
                seen=envelope.message,
                frame=envelope.frame.n,
                once=once,
            )

    def _let_in(self, known: Any, envelope: Envelope) -> None:
        resource = text(member(member(member(known, "state"), "resource"), "resource"))
        self.watch(*(["AHP-MCP-048"] if self._pushes.refused(resource) else []))
        # In a log of one client it may be another one's token.
        if self.tracker.whole and self._pushes.only_refused(resource):
            self._find(
                "AHP-MCP-048",
                "a server is ready although every token for it was refused",
                "another state",
                envelope.message,
                envelope,
            )

    def _answers_request(self, place: Place, envelope: Envelope) -> bool:
        """Whether a state is the first that the host tells after a request; each request has one."""
        requests = self._requested.get(place)
        if not requests or not isinstance(envelope.seq, int):
            return False
        # Other connections hear of the same state under the same number.
        if envelope.seq in requests.values():
            return True
        open_one = next((n for n, answer in sorted(requests.items()) if answer is None and n < envelope.seq), None)
        if open_one is not None:
            requests[open_one] = envelope.seq
        return open_one is not None

    def _listed(self, envelope: Envelope) -> None:
        old, new = list(_placed(envelope.before)), list(_placed(envelope.after))
        ids = [server.get("id") for _, server in new]
        for where, server in new:
            place, once = (envelope.channel, repr(server.get("id"))), (envelope.channel, repr(envelope.seq))
            mine = (*place, envelope.conn)
            self._state(server.get("state"), server.get("channel"), mine, server, envelope.frame.n, once)
            for _, before in old:
                if before.get("id") == server.get("id") and place in self._intents:
                    self._intent(self._intents.pop(place), before, server, envelope)
            twins = [before for there, before in old if there == where]
            if len(twins) == 1 and [there for there, _ in new].count(where) == 1 and isinstance(server.get("id"), str):
                self.watch("AHP-MCP-027")
                if twins[0].get("id") != server["id"] and twins[0].get("id") not in ids:
                    self._find("AHP-MCP-027", "a server gets another id", twins[0].get("id"), server, envelope)

    def _intent(self, request: str, before: Any, after: Any, envelope: Envelope) -> None:
        """To start or stop a server is not to switch it on or off."""
        wanted = request == "session/mcpServerStartRequested"
        self.watch("AHP-MCP-019")
        if _enabled(before) is not _enabled(after) and _enabled(after) is wanted:
            self._find(
                "AHP-MCP-019", "a request to start or stop has changed the enablement", "as before", after, envelope
            )

    def _find(self, obligation: str, message: str, expected: Any, seen: Any, envelope: Envelope) -> None:
        once = (envelope.channel, repr(envelope.seq))
        self.find(obligation, message, expected=expected, seen=seen, frame=envelope.frame.n, once=once)

    def snapshot(self, snapshot: Snapshot) -> None:
        if snapshot.kind == "root":
            self._learn_agents(member(snapshot.state, "agents"))
        if snapshot.kind == "session":
            for server in servers_in(snapshot.state):
                once = (snapshot.channel, repr(server.get("id")))
                mine = (*once, snapshot.conn)
                if snapshot.folded is None:
                    # It may have been started again while nobody looked.
                    self._channels.pop(mine, None)
                self._state(server.get("state"), server.get("channel"), mine, server, snapshot.frame.n, once)

    def _state(self, state: Any, channel: Any, place: Place, seen: Any, frame: int, once: Any) -> None:
        """A state as it is told, with the channel that goes with it."""
        kind = text(member(state, "kind"))
        if kind == "authRequired":
            resource = text(member(member(state, "resource"), "resource"))
            if resource is not None:
                self._resources[resource] = None
            self.watch("AHP-MCP-044", "AHP-MCP-007")
            for obligation, message, expected in lacks_of(state, "AHP-MCP-044", "AHP-MCP-007"):
                self.find(obligation, message, expected=expected, seen=seen, frame=frame, once=once)
        if kind not in _SERVING:
            self._channels.pop(place, None)
        if channel is None:
            return
        self.watch("AHP-MCP-031")
        if not isinstance(channel, str) or not channel.startswith("mcp:"):
            self.find(
                "AHP-MCP-031",
                "the channel of a server is no mcp: URI",
                expected="mcp://…",
                seen=seen,
                frame=frame,
                once=once,
            )
        elif kind in _SERVING:
            if place in self._channels:
                self.watch("AHP-MCP-037")
            if self._channels.get(place, channel) != channel:
                self.find(
                    "AHP-MCP-037",
                    "a server has another channel although it was not started again",
                    expected=self._channels[place],
                    seen=seen,
                    frame=frame,
                    once=once,
                )
            self._channels[place] = channel

    def _learn_agents(self, agents: Any) -> None:
        for agent in dicts(agents):
            for resource in dicts(agent.get("protectedResources")):
                self._of_agents[text(resource.get("resource")) or ""] = None

    def notification(self, notification: Notification) -> None:
        if notification.method != "auth/required":
            return
        resource = notification.params.get("resource")
        named = text(member(resource, "resource")) or text(resource)
        self.watch("AHP-MCP-049")
        # Only who follows the root knows what the agents need themselves.
        root = self.tracker.connection(notification.conn).channels.get(ROOT_URI)
        if root is not None and root.live and named in self._resources and named not in self._of_agents:
            self.find(
                "AHP-MCP-049",
                "the challenge of a server is announced by auth/required as well",
                expected="its state alone",
                seen=notification.params,
                frame=notification.frame.n,
            )

    def end(self) -> None:
        if self._resources:
            self.watch("AHP-MCP-049")


class StoppedServers(Rule):
    """When the host has stopped a server, nothing goes on waiting for it."""

    name = "stopped-servers"
    obligations = ("AHP-MCP-014", "AHP-TOOLAUTH-066")
    hears = frozenset({"session/mcpServerStopRequested"})

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        # Session and server -> the position of the stop, and the entries that waited for the server at that time.
        self._stops: Bounded[tuple[str, str], tuple[int, list[Any]]] = Bounded()
        # The position of the last snapshot of a session or chat.
        self._shown: Bounded[str, int] = Bounded()

    def gone(self, channel: str) -> None:
        self._shown.pop(channel, None)
        forget(self._stops, channel)

    def envelope(self, envelope: Envelope) -> None:
        identity = text(envelope.get("id"))
        if not envelope.accepted or not isinstance(envelope.before, dict) or not isinstance(envelope.seq, int):
            return
        waiting = [entry for entry in entries_in(envelope.before) if _waits_for(entry) == identity]
        if identity is not None and waiting:
            self._stops[(envelope.channel, identity)] = (envelope.seq, waiting)

    def snapshot(self, snapshot: Snapshot) -> None:
        if snapshot.kind in ("session", "chat") and snapshot.from_seq is not None:
            self._shown[snapshot.channel] = snapshot.from_seq

    def end(self) -> None:
        for (session, identity), (seq, waiting) in self._stops.items() if self.tracker.settled else ():
            states = [v.state for c, v in self.tracker.views(session) if v.live and c.fed]
            stopped = [s for s in states if identity not in _going(s)]
            if not states or len(stopped) < len(states):
                # The host went on with the server, or somebody started it again.
                continue
            self.watch("AHP-MCP-014", "AHP-TOOLAUTH-066")
            for entry in waiting:
                listed = all(any(e.get("id") == entry.get("id") for e in entries_in(state)) for state in states)
                if listed and self._shown.get(session, -1) > seq:
                    self._find("AHP-MCP-014", "an entry for a server that was stopped is still listed", session, entry)
                if self._still_blocked(entry, seq):
                    self._find("AHP-TOOLAUTH-066", "a call of a stopped server still waits for a token", session, entry)

    def _still_blocked(self, entry: Any, seq: int) -> bool:
        chat = text(member(entry, "chat")) or ""
        calls = [
            call_in(active_turn(view.state), member(member(entry, "toolCall"), "toolCallId"))
            for connection, view in self.tracker.views(chat)
            if view.live and connection.fed
        ]
        blocked = bool(calls) and all(member(call, "status") == "auth-required" for call in calls)
        return blocked and self._shown.get(chat, -1) > seq

    def _find(self, obligation: str, message: str, session: str, entry: Any) -> None:
        once = (session, repr(entry.get("id")))
        self.find(obligation, message, expected="its end with the stop", seen=entry, frame=None, once=once)


def lacks_of(challenge: Any, servers: str, canonical: str) -> Iterator[tuple[str, str, str]]:
    """What a challenge leaves out that a client needs to get a token: obligation, what is wrong, what is expected.

    ``servers`` is the obligation about the authorization servers, ``canonical`` the one about the resource (RFC 8707
    and RFC 9728: an absolute URI without a fragment).
    """
    resource = member(challenge, "resource")
    if isinstance(resource, dict) and not texts(resource.get("authorization_servers")):
        yield servers, "a challenge names no authorization server", "authorization_servers with one at least"
    uri = text(member(resource, "resource"))
    if uri is not None and not _is_canonical(uri):
        yield canonical, "the resource of a challenge is no URI of a server", "an absolute URI without a fragment"


def _is_canonical(uri: str) -> bool:
    try:
        parts = urlsplit(uri)
    except ValueError:
        return False
    return bool(parts.scheme) and bool(parts.netloc or parts.path) and "#" not in uri


def _placed(session: Any) -> Iterator[tuple[tuple[str, ...], dict[str, Any]]]:
    """The servers of a session, each with its container, source and name, by which it is known besides its id."""
    for entry in dicts(member(session, "customizations")):
        for server in [entry, *dicts(entry.get("children"))]:
            if server.get("type") == "mcpServer":
                container = "" if server is entry else repr(entry.get("id"))
                yield (container, repr(server.get("uri")), repr(server.get("name"))), server


def _enabled(server: Any) -> bool:
    """Whether a server is switched on; from 0.8.0 the most specific decision says so."""
    decisions = dicts(member(server, "enablement"))
    value = decisions[0].get("enabled") if decisions else member(server, "enabled")
    return value is not False


def _waits_for(entry: Any) -> str | None:
    """The MCP server that the call of an entry is blocked by."""
    if member(entry, "kind") != "toolAuthentication":
        return None
    return text(member(member(member(entry, "toolCall"), "contributor"), "customizationId"))


def _going(session: Any) -> set[str | None]:
    return {text(server.get("id")) for server in servers_in(session) if server_status(server) != "stopped"}
