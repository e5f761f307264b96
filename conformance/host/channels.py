"""What the host holds: channels with their folds, sessions, chats, servers, and the log of envelopes.

A channel's state is never written directly. It is folded from actions with the same reducers that
clients use, once for each supported version, so that state and actions cannot drift apart. The only
members set beside the reducers are those that no action carries (the activity of a session).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from conformance.protocol.status import activity

if TYPE_CHECKING:
    from .agent import Turn
    from .peers import Peer

JSON = Any


@dataclass(slots=True, eq=False)
class Channel:
    """One channel with state. born: the number of the host's sequence at which it appeared."""

    uri: str
    kind: str
    born: int
    folds: dict[str, JSON]
    subscribers: dict[Peer, None] = field(default_factory=dict)

    @property
    def state(self) -> JSON:
        """The fold that the host itself reads: that of the oldest supported version."""
        return next(iter(self.folds.values()))


@dataclass(slots=True, eq=False)
class Chat(Channel):
    """A chat of a session, and the turn that its agent is at."""

    session: Session = field(kw_only=True)
    turn: Turn | None = None
    used_turns: set[str] = field(default_factory=set)

    @property
    def active(self) -> JSON | None:
        """The active turn in state, or None."""
        return self.state.get("activeTurn")

    def calls(self, version: str | None = None) -> Iterator[JSON]:
        """The tool calls of the active turn, in order."""
        state = self.state if version is None else self.folds[version]
        active = state.get("activeTurn")
        for part in active["responseParts"] if active else ():
            if part["kind"] == "toolCall":
                yield part["toolCall"]

    def call(self, turn_id: str, call_id: str) -> JSON | None:
        """A tool call of the active turn by its id; None when the turn or the call is another."""
        active = self.active
        if active is None or active["id"] != turn_id:
            return None
        return next((call for call in self.calls() if call["toolCallId"] == call_id), None)

    def questions(self, version: str | None = None) -> Iterator[JSON]:
        """The open input requests of the active turn."""
        state = self.state if version is None else self.folds[version]
        active = state.get("activeTurn")
        for part in active["responseParts"] if active else ():
            if part["kind"] == "inputRequest" and "response" not in part:
                yield part["request"]


@dataclass(slots=True, eq=False)
class Server:
    """What the host knows of an MCP server beyond its entry: how the simulated one behaves.

    turn_id: the turn whose request raised its challenge; a challenge of a start that a client asked
    for belongs to no turn.
    """

    id: str
    name: str
    resource: str | None = None
    challenge: JSON | None = None
    fails: str | None = None
    chat: Chat | None = None
    turn_id: str | None = None


@dataclass(slots=True, eq=False)
class Session(Channel):
    """A session with its chats and servers. entries: key of an open request -> id of its entry."""

    created: str = ""
    chats: dict[str, Chat] = field(default_factory=dict)
    servers: dict[str, Server] = field(default_factory=dict)
    entries: dict[tuple[str, ...], str] = field(default_factory=dict)
    mirrored: dict[tuple[str, ...], JSON] = field(default_factory=dict)
    announced: dict[str, JSON] = field(default_factory=dict)
    disposed: bool = False

    def entry_of(self, server: Server) -> JSON | None:
        """The customization of a server in state, in a container or outside, None once it is gone."""
        listed = self.state.get("customizations", ())
        children = (child for container in listed for child in container.get("children", ()))
        return next((c for c in (*listed, *children) if c["id"] == server.id), None)

    def server_state(self, server: Server) -> str:
        """The kind of the state a server is in; `stopped` when it has no entry any more."""
        entry = self.entry_of(server)
        return str(entry["state"]["kind"]) if entry else "stopped"

    def server_by_id(self, identifier: str) -> Server | None:
        return next((server for server in self.servers.values() if server.id == identifier), None)

    def has_client(self, client_id: str) -> bool:
        return any(entry["clientId"] == client_id for entry in self.state["activeClients"])


@dataclass(frozen=True, slots=True)
class Logged:
    """One envelope as it was sent. only: the client that alone got it (a rejection), else None."""

    seq: int
    channel: str
    spoken: Mapping[str, JSON]
    origin: JSON | None = None
    rejection: str | None = None
    only: str | None = None

    def params(self, version: str) -> JSON | None:
        """The params of the notification for a version, None when the version has no such action."""
        action = self.spoken.get(version)
        if action is None:
            return None
        params = {"channel": self.channel, "action": action, "serverSeq": self.seq}
        if self.origin is not None:
            params["origin"] = self.origin
        if self.rejection is not None:
            params["rejectionReason"] = self.rejection
        return params


class Log:
    """The last envelopes, for clients that come back."""

    def __init__(self, limit: int) -> None:
        self._kept: deque[Logged] = deque(maxlen=limit)
        self._dropped = 0

    def add(self, entry: Logged) -> None:
        if len(self._kept) == self._kept.maxlen:
            self._dropped = self._kept[0].seq
        self._kept.append(entry)

    def reaches(self, seq: int) -> bool:
        """Whether everything behind this number is still here."""
        return seq >= self._dropped

    def after(self, seq: int) -> Iterator[Logged]:
        return (entry for entry in self._kept if entry.seq > seq)


def summary_of(session: Session, version: str) -> JSON:
    """The SessionSummary of a version, members without a value left out."""
    state = session.folds[version]
    chats = [chat.folds[version] for chat in session.chats.values()]
    summary = {
        "resource": session.uri,
        "createdAt": session.created,
        "modifiedAt": max((chat["modifiedAt"] for chat in chats), default=session.created),
    }
    for name in ("provider", "title", "status", "activity", "workingDirectory", "workingDirectories"):
        if name in state:
            summary[name] = state[name]
    return summary


def chat_activity(session: Session, version: str) -> int:
    """The activity of a session as its chats have it: input first, then errors, then the default chat."""
    found = {uri: activity(chat.folds[version]["status"]) for uri, chat in session.chats.items()}
    for urgent in (24, 2):
        if urgent in found.values():
            return urgent
    default = session.folds[version].get("defaultChat")
    return found.get(default, 1) if default is not None else 1
