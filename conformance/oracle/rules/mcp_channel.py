"""The mcp:// side channel: what is advertised is served, everything else is refused."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from conformance.oracle.memory import Bounded
from conformance.oracle.reading import JSON, member, server_status, servers_in, text, whole
from conformance.oracle.rule import Rule
from conformance.oracle.tracker import Reply, Request
from conformance.protocol import METHODS
from conformance.protocol.errors import AUTH_REQUIRED, METHOD_NOT_FOUND, PERMISSION_DENIED

# What each capability promises (docs/specification/mcp-channel.md, Negotiating the served surface).
SERVED: dict[str, frozenset[str]] = {
    "serverTools": frozenset({"tools/list", "tools/call"}),
    "serverResources": frozenset({"resources/list", "resources/templates/list", "resources/read"}),
    "logging": frozenset({"logging/setLevel"}),
    "sampling": frozenset({"sampling/createMessage"}),
}
# A server with resources may lack this itself, and the host passes its answer on.
_OPTIONAL = frozenset({"resources/templates/list"})
_LATER = frozenset().union(SERVED["logging"], SERVED["sampling"])


@dataclass(frozen=True, slots=True)
class Asked:
    """A request on the side channel: its method, and what the entry advertised when it was made."""

    channel: str
    method: str
    served: frozenset[str]


class McpChannel(Rule):
    """Answers on the channel of a server, by what its entry advertises."""

    name = "mcp-channel"
    obligations = ("AHP-MCP-032", "AHP-MCP-033", "AHP-MCP-034", "AHP-MCPS-032")

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._asked: Bounded[tuple[str, str], Asked] = Bounded()

    def request(self, request: Request) -> None:
        # In the params like everywhere, even where the channel stands beside the method as well (ambiguity A-37).
        channel = text(member(request.params, "channel"))
        own = request.method in METHODS and request.method != "initialize"
        if channel is None or not channel.startswith("mcp:") or own:
            return
        served = self._served(request.conn, channel)
        if served is not None:
            self._asked[(request.conn, repr(request.id))] = Asked(channel, request.method, served)

    def reply(self, reply: Reply) -> None:
        if reply.request is None:
            return
        asked = self._asked.pop((reply.conn, repr(reply.request.id)), None)
        # What the entry said at the beginning and says at the end it has said all along.
        if asked is None or self._served(reply.conn, asked.channel) != asked.served:
            return
        code = whole(member(reply.error, "code"))
        if asked.method in asked.served:
            obligation = "AHP-MCPS-032" if asked.method in _LATER else "AHP-MCP-034"
            if code == METHOD_NOT_FOUND and asked.method in _OPTIONAL:
                return
            self.watch(obligation)
            if code == METHOD_NOT_FOUND:
                self._find(obligation, f"{asked.method} is advertised and not served", "another answer", reply)
        elif asked.method == "initialize":
            self.watch("AHP-MCP-033")
            if not reply.failed:
                self._find("AHP-MCP-033", "the handshake is served on the side channel", "an error", reply)
        elif code not in (AUTH_REQUIRED, PERMISSION_DENIED):
            # Who has no right to the channel need not be told what it serves.
            self.watch("AHP-MCP-032")
            if code != METHOD_NOT_FOUND:
                self._find("AHP-MCP-032", f"{asked.method} is not advertised", "the error -32601", reply)

    def _served(self, conn: str, channel: str) -> frozenset[str] | None:
        """The methods that the entry with this channel advertises, as this connection has it; None without an entry."""
        entries = [
            server
            for view in self.tracker.connection(conn).channels.values()
            if view.kind == "session" and view.live
            for server in servers_in(view.state)
            if server.get("channel") == channel
        ]
        # Entries that share a channel, or may not be served at the moment, tell nothing.
        if len(entries) != 1 or server_status(entries[0]) != "ready":
            return None
        capabilities: JSON = member(member(entries[0], "mcpApp"), "capabilities") or {}
        if not isinstance(capabilities, dict) or capabilities.keys() - SERVED.keys():
            # A capability of a later version may serve anything.
            return None
        promised = [SERVED[name] for name in SERVED if isinstance(member(capabilities, name), dict)]
        return frozenset().union(*promised)

    def _find(self, obligation: str, message: str, expected: str, reply: Reply) -> None:
        assert reply.request is not None
        seen = {"request": reply.request.frame.msg, "answer": reply.frame.msg}
        self.find(obligation, message, expected=expected, seen=seen, frame=reply.frame.n)
