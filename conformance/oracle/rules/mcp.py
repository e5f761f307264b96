"""MCP servers: their life cycle, the scheme of their channels, and challenges told by state alone."""

from __future__ import annotations

from typing import Any

from conformance.oracle.rule import Rule
from conformance.oracle.tracker import Envelope, Notification, Snapshot

from .tool_calls import servers_in

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
        self._resources: set[str] = set()
        self._stop_requested: set[Any] = set()

    def envelope(self, envelope: Envelope) -> None:
        if envelope.kind != "session" or not envelope.accepted:
            return
        if envelope.type == "session/mcpServerStopRequested":
            self._stop_requested.add(envelope.get("id"))
        if isinstance(envelope.after, dict):
            self._learn(envelope.after)
        if envelope.type != "session/mcpServerStateChanged" or not isinstance(envelope.before, dict):
            return
        channel = envelope.get("channel")
        if channel is not None:
            self._channel(channel, envelope.message, envelope.frame.n)
        known = next((s for s in servers_in(envelope.before) if s.get("id") == envelope.get("id")), None)
        old, new = _kind(known), _kind({"state": envelope.get("state")})
        if old not in LIFE or new not in LIFE:
            return
        self.watch("AHP-MCP-017")
        # A further starting on the way is no fault, and a stop may overtake a start.
        allowed = LIFE[old] | {old, "starting"}
        if envelope.get("id") in self._stop_requested:
            allowed |= {"stopped"}
        if new not in allowed:
            self.find(
                "AHP-MCP-017",
                f"a server went from {old} to {new}",
                expected=" or ".join(sorted(LIFE[old])),
                seen=envelope.message,
                frame=envelope.frame.n,
                once=(envelope.channel, envelope.seq),
            )

    def snapshot(self, snapshot: Snapshot) -> None:
        if snapshot.kind == "session" and isinstance(snapshot.state, dict):
            self._learn(snapshot.state)
            for server in servers_in(snapshot.state):
                if server.get("channel") is not None:
                    self._channel(server["channel"], server, snapshot.frame.n)

    def _channel(self, channel: Any, seen: Any, frame: int) -> None:
        self.watch("AHP-MCP-031")
        if not isinstance(channel, str) or not channel.startswith("mcp:"):
            self.find(
                "AHP-MCP-031", "the channel of a server is no mcp: URI", expected="mcp://…", seen=seen, frame=frame
            )

    def _learn(self, state: Any) -> None:
        for server in servers_in(state):
            status = server.get("state")
            if _kind(server) == "authRequired" and isinstance(status, dict):
                resource = status.get("resource")
                if isinstance(resource, dict) and isinstance(resource.get("resource"), str):
                    self._resources.add(resource["resource"])

    def notification(self, notification: Notification) -> None:
        if notification.method != "auth/required":
            return
        resource = notification.params.get("resource")
        named = resource.get("resource") if isinstance(resource, dict) else resource
        self.watch("AHP-MCP-049")
        if named in self._resources:
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


def _kind(server: Any) -> str | None:
    state = server.get("state") if isinstance(server, dict) else None
    kind = state.get("kind") if isinstance(state, dict) else None
    return kind if isinstance(kind, str) else None
