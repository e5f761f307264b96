"""MCP servers: their life cycle, the scheme of their channels, and challenges told by state alone."""

from __future__ import annotations

from typing import Any

from conformance.oracle.reading import dicts, member, server_status, servers_in, text
from conformance.oracle.rule import Rule
from conformance.oracle.tracker import Envelope, Notification, Snapshot

# From each state of a server to those that may follow (docs/guide/mcp.md, Runtime status). Saying the same state
# again, with other data, is no step.
LIFE: dict[str, frozenset[str]] = {
    "starting": frozenset({"ready", "authRequired", "error"}),
    "ready": frozenset({"authRequired", "error", "stopped"}),
    "authRequired": frozenset({"ready", "error", "stopped"}),
    "error": frozenset({"starting", "stopped"}),
    "stopped": frozenset({"starting"}),
}


class McpServers(Rule):
    """Servers move along their life cycle, and nobody is told of a challenge twice."""

    name = "mcp-servers"
    obligations = ("AHP-MCP-017", "AHP-MCP-031", "AHP-MCP-049")

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        # Resources that MCP servers are challenged for, and those that agents advertise themselves.
        self._resources: set[str] = set()
        self._of_agents: set[str] = set()
        self._stop_requested: set[tuple[str, str]] = set()

    def envelope(self, envelope: Envelope) -> None:
        if not envelope.accepted:
            return
        if envelope.kind == "root":
            self._learn_agents(envelope.get("agents"))
        if envelope.kind != "session":
            return
        place = (envelope.channel, repr(envelope.get("id")))
        if envelope.type == "session/mcpServerStopRequested":
            self._stop_requested.add(place)
        self._learn(envelope.after)
        if envelope.type != "session/mcpServerStateChanged" or not isinstance(envelope.before, dict):
            return
        channel = envelope.get("channel")
        if channel is not None:
            self._channel(channel, envelope.message, envelope.frame.n, (envelope.channel, repr(envelope.seq)))
        known = next((s for s in servers_in(envelope.before) if s.get("id") == envelope.get("id")), None)
        old, new = server_status(known), text(member(envelope.get("state"), "kind"))
        if old not in LIFE or new not in LIFE:
            return
        self.watch("AHP-MCP-017")
        # A further starting on the way is no fault, and a stop may overtake a start.
        allowed = LIFE[old] | {old, "starting"}
        if place in self._stop_requested:
            allowed |= {"stopped"}
        if new not in allowed:
            self.find(
                "AHP-MCP-017",
                f"a server went from {old} to {new}",
                expected=" or ".join(sorted(LIFE[old])),
                seen=envelope.message,
                frame=envelope.frame.n,
                once=(envelope.channel, repr(envelope.seq)),
            )

    def snapshot(self, snapshot: Snapshot) -> None:
        if snapshot.kind == "root":
            self._learn_agents(member(snapshot.state, "agents"))
        if snapshot.kind == "session":
            self._learn(snapshot.state)
            for server in servers_in(snapshot.state):
                if server.get("channel") is not None:
                    once = (snapshot.channel, repr(server.get("id")))
                    self._channel(server["channel"], server, snapshot.frame.n, once)

    def _channel(self, channel: Any, seen: Any, frame: int, once: Any) -> None:
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

    def _learn(self, session: Any) -> None:
        for server in servers_in(session):
            resource = text(member(member(server.get("state"), "resource"), "resource"))
            if server_status(server) == "authRequired" and resource is not None:
                self._resources.add(resource)

    def _learn_agents(self, agents: Any) -> None:
        for agent in dicts(agents):
            for resource in dicts(agent.get("protectedResources")):
                self._of_agents.add(text(resource.get("resource")) or "")

    def notification(self, notification: Notification) -> None:
        if notification.method != "auth/required":
            return
        resource = notification.params.get("resource")
        named = text(member(resource, "resource")) or text(resource)
        self.watch("AHP-MCP-049")
        if named in self._resources - self._of_agents:
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
