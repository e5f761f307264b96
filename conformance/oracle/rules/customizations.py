"""The customizations of a session: ids, the tree, load states, where an entry comes from, decisions in order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.oracle.memory import Bounded, forget
from conformance.oracle.reading import dicts, member, text, texts
from conformance.oracle.rule import Rule
from conformance.oracle.tracker import Envelope, Snapshot
from conformance.protocol import compare

from .resources import is_clients_own, lies_in, plain

CONTAINERS = frozenset({"plugin", "directory"})
LEAVES = frozenset({"agent", "skill", "prompt", "rule", "hook"})
# From the most to the least specific decision.
SCOPES = {"session": 0, "workspace": 1, "global": 2}
# What a host keeps to itself of the way in which a server is launched.
_LAUNCH = frozenset({"command", "args", "arguments", "env", "environment", "headers"})


def tree(entries: Any) -> Iterator[tuple[dict[str, Any], dict[str, Any] | None]]:
    """Every entry of a list with the container that it is in, which the top level has none of."""
    for entry in dicts(entries):
        yield entry, None
        for child in dicts(entry.get("children")):
            yield child, entry


class Customizations(Rule):
    """What a list of customizations shows by itself, or next to the active clients of its session."""

    name = "customizations"
    obligations = (
        "AHP-CUST-006",
        "AHP-CUST-007",
        "AHP-CUST-010",
        "AHP-CUST-017",
        "AHP-CUST-022",
        "AHP-CUST-102",
        "AHP-CUST-103",
        "AHP-MCP-028",
        "AHP-MCP-029",
        "AHP-MCP-051",
        "AHP-MCPS-023",
    )
    hears = frozenset(
        {
            "session/customizationsChanged",
            "session/customizationUpdated",
            "session/customizationToggled",
            "session/mcpServerStateChanged",
            "session/activeClientRemoved",
            "session/workingDirectorySet",
            "session/workingDirectoryRemoved",
            "session/workingDirectoryReplaced",
            "root/agentsChanged",
        }
    )

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        # Entries whose decisions a client has put in another order, which the host keeps as they are.
        self._disordered: Bounded[tuple[str, str], None] = Bounded()
        # Sessions whose working directories have changed; their decisions may follow later.
        self._moved: Bounded[str, None] = Bounded()
        # The URIs of containers that agents bring along.
        self._of_agents: Bounded[str, None] = Bounded()
        # Sessions and who was an active client of them.
        self._active: Bounded[tuple[str, str], None] = Bounded()

    def gone(self, channel: str) -> None:
        self._moved.pop(channel, None)
        forget(self._disordered, channel)
        forget(self._active, channel)

    def snapshot(self, snapshot: Snapshot) -> None:
        version = self.version(snapshot.conn)
        if snapshot.kind == "root":
            self._learn(member(snapshot.state, "agents"))
            for agent in dicts(member(snapshot.state, "agents")):
                self._places(version, agent.get("customizations"), snapshot.channel, snapshot.frame.n)
        elif snapshot.kind == "session" and version is not None:
            self._know(snapshot.channel, snapshot.state)
            self._judge(version, snapshot.channel, snapshot.state, snapshot.frame.n)

    def envelope(self, envelope: Envelope) -> None:
        version = envelope.version
        if not envelope.accepted or version is None:
            return
        if envelope.type == "root/agentsChanged":
            self._learn(envelope.get("agents"))
        elif envelope.type.startswith("session/workingDirectory"):
            self._moved[envelope.channel] = None
        elif envelope.type == "session/customizationToggled":
            decisions = dicts(envelope.get("enablement"))
            if not _in_order(decisions) or _workspaces(decisions) != set():
                self._disordered[(envelope.channel, repr(envelope.get("id")))] = None
        elif envelope.type == "session/mcpServerStateChanged":
            if isinstance(envelope.after, dict) and envelope.get("channel") is not None:
                self._given_channel(envelope)
        elif envelope.type == "session/activeClientRemoved":
            self._know(envelope.channel, envelope.before)
        elif isinstance(envelope.after, dict):
            self._judge(version, envelope.channel, envelope.after, envelope.frame.n)

    def _given_channel(self, envelope: Envelope) -> None:
        entries = envelope.after.get("customizations")
        self._shared(envelope.channel, entries, envelope.frame.n)
        for entry, _ in tree(entries):
            if entry.get("type") == "mcpServer" and entry.get("id") == envelope.get("id"):
                self._server(entry, (envelope.channel, repr(entry.get("id"))), envelope.frame.n)

    def _know(self, session: str, state: Any) -> None:
        for client in dicts(member(state, "activeClients")):
            self._active[(session, text(client.get("clientId")) or "")] = None

    def _learn(self, agents: Any) -> None:
        for agent in dicts(agents):
            for entry in dicts(agent.get("customizations")):
                self._of_agents[text(entry.get("uri")) or ""] = None

    def _judge(self, version: str, session: str, state: Any, frame: int) -> None:
        entries = member(state, "customizations")
        if not dicts(entries):
            return
        self._ids(session, entries, frame)
        self._shared(session, entries, frame)
        self._places(version, entries, session, frame)
        self._published(session, state, entries, frame)
        directories = texts(member(state, "workingDirectories")) if session not in self._moved else []
        for entry, _ in tree(entries):
            if compare(version, "0.8.0") >= 0 and (session, repr(entry.get("id"))) not in self._disordered:
                self._decisions(session, entry, directories, frame)

    def _ids(self, session: str, entries: Any, frame: int) -> None:
        ids = [entry["id"] for entry, _ in tree(entries) if isinstance(entry.get("id"), str)]
        self.watch(*(["AHP-CUST-006"] if len(ids) > 1 else []))
        if len(set(ids)) < len(ids):
            twice = sorted({identity for identity in ids if ids.count(identity) > 1})
            self._find("AHP-CUST-006", "two customizations share an id", "unique ids", twice, frame, (session, *twice))

    def _shared(self, session: str, entries: Any, frame: int) -> None:
        channels = [entry["channel"] for entry, _ in tree(entries) if isinstance(entry.get("channel"), str)]
        self.watch(*(["AHP-MCP-051"] if len(channels) > 1 else []))
        if len(set(channels)) < len(channels):
            self._find("AHP-MCP-051", "two servers share a channel", "a channel each", channels, frame, session)

    def _places(self, version: str | None, entries: Any, channel: str, frame: int) -> None:
        for entry, container in tree(entries):
            self._entry(entry, container, (channel, repr(entry.get("id"))), frame)

    def _entry(self, entry: dict[str, Any], container: dict[str, Any] | None, once: Any, frame: int) -> None:
        kind, load = text(entry.get("type")), member(entry.get("load"), "kind")
        self.watch("AHP-CUST-022")
        if (container is None and kind in LEAVES) or (container is not None and kind in CONTAINERS):
            self._find("AHP-CUST-022", f"a {kind} at the wrong level", "containers with leaves", entry, frame, once)
        elif container is not None and {"children", "clientId"} & {k for k, v in entry.items() if v is not None}:
            self._find("AHP-CUST-022", "a child has what only containers have", "a leaf", entry, frame, once)
        if kind in CONTAINERS and load == "loaded":
            self.watch("AHP-CUST-007")
            if not isinstance(entry.get("children"), list):
                self._find("AHP-CUST-007", "a loaded container has no children", "an array", entry, frame, once)
        if kind == "agent" and "tools" in entry:
            self.watch("AHP-CUST-017")
            if entry["tools"] == []:
                self._find("AHP-CUST-017", "no restriction is told by an empty list", "no tools", entry, frame, once)
        if kind == "mcpServer":
            self._server(entry, once, frame)

    def _server(self, entry: dict[str, Any], once: Any, frame: int) -> None:
        self.watch("AHP-MCP-029")
        if _LAUNCH & entry.keys():
            self._find("AHP-MCP-029", "how a server is launched is told", "no launch details", entry, frame, once)
        if entry.get("channel") is not None:
            self.watch("AHP-MCPS-023")
            # A capability set of a later version is a member that is not known here.
            if not entry.keys() - _SERVER_MEMBERS:
                self._find("AHP-MCPS-023", "a channel, and nothing that needs one", "mcpApp", entry, frame, once)

    def _published(self, session: str, state: Any, entries: Any, frame: int) -> None:
        """Entries next to what the active clients of the session have published."""
        publishers: dict[str, set[str]] = {}
        clients = [text(client.get("clientId")) for client in dicts(member(state, "activeClients"))]
        for client in dicts(member(state, "activeClients")):
            for plugin in dicts(client.get("customizations")):
                if isinstance(plugin.get("uri"), str) and isinstance(client.get("clientId"), str):
                    publishers.setdefault(plugin["uri"], set()).add(client["clientId"])
        for entry, container in tree(entries if publishers else ()):
            uri, once = text(entry.get("uri")), (session, repr(entry.get("id")))
            owners = publishers.get(uri or "", set())
            if container is None and text(entry.get("type")) in CONTAINERS and owners and uri not in self._of_agents:
                self.watch("AHP-CUST-010")
                told = entry.get("clientId")
                # What anybody can read may be the host's own as well; and what a client that has left had goes later.
                left = told not in clients and (session, text(told) or "") in self._active
                if told not in list(owners) and not left and (told is not None or is_clients_own(uri or "")):
                    self._find("AHP-CUST-010", "a plugin has not its publisher", sorted(owners), entry, frame, once)
            if entry.get("type") == "mcpServer":
                of_client = [p for p in publishers if uri is not None and is_clients_own(p) and lies_in(uri, p)]
                self.watch(*(["AHP-MCP-028"] if of_client else []))
                if of_client and container is None:
                    self._find("AHP-MCP-028", "a server of a client at top level", "a child", entry, frame, once)

    def _decisions(self, session: str, entry: dict[str, Any], directories: list[str], frame: int) -> None:
        decisions, once = (
            dicts(entry.get("enablement")),
            (session, repr(entry.get("id")), repr(entry.get("enablement"))),
        )
        if len(decisions) > 1:
            self.watch("AHP-CUST-102")
        if not _in_order(decisions):
            self._find(
                "AHP-CUST-102",
                "decisions out of order",
                "session, workspace, global",
                entry["enablement"],
                frame,
                once,
            )
        workspaces = [text(d.get("uri")) or "" for d in decisions if d.get("kind") == "workspace"]
        self.watch(*(["AHP-CUST-103"] if workspaces else []))
        elsewhere = bool(directories) and any(plain(uri) != plain(directories[0]) for uri in workspaces)
        if len(workspaces) > 1 or elsewhere:
            expected = f"one decision, for {directories[0]}" if directories else "one decision"
            self._find("AHP-CUST-103", "a decision for another workspace", expected, entry["enablement"], frame, once)

    def _find(self, obligation: str, message: str, expected: Any, seen: Any, frame: int, once: Any) -> None:
        self.find(obligation, message, expected=expected, seen=seen, frame=frame, once=once)


_SERVER_MEMBERS = frozenset(
    {"type", "id", "uri", "name", "icons", "range", "_meta", "enabled", "enablement", "state", "channel"} | _LAUNCH
)


def _in_order(decisions: list[dict[str, Any]]) -> bool:
    """Whether decisions go from session to global; scopes of later versions may stand anywhere."""
    ranks = [SCOPES[d["kind"]] for d in decisions if isinstance(d.get("kind"), str) and d["kind"] in SCOPES]
    return ranks == sorted(ranks)


def _workspaces(decisions: list[dict[str, Any]]) -> set[str]:
    return {text(d.get("uri")) or "" for d in decisions if d.get("kind") == "workspace"}
