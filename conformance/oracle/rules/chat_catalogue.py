"""The chats of a session: their catalogue, its default, its order, and that it agrees with the chats themselves."""

from __future__ import annotations

from typing import Any

from conformance.oracle.memory import Bounded
from conformance.oracle.reading import JSON, active_turn, chats_in, dicts, member, text, texts, whole
from conformance.oracle.rule import Rule
from conformance.oracle.tracker import ChannelView, Envelope, Reply, Request, Snapshot
from conformance.protocol import kind_of
from conformance.protocol.status import ACTIVITY_MASK

from .existence import Departed

_MIRRORED = ("title", "activity", "origin")
_CLOSED = frozenset({"read-only", "hidden"})
AUTH_REQUIRED = -32007
_MESSAGES = frozenset({"chat/turnStarted", "chat/pendingMessageSet"})


class ChatCatalogue(Rule):
    """Every chat is listed by its session, once, and its entry says what the chat says."""

    name = "chat-catalogue"
    hears = frozenset(
        {
            "session/ready",
            "session/chatAdded",
            "session/chatRemoved",
            "session/chatUpdated",
            "session/chatsReordered",
            "session/defaultChatChanged",
            *_MESSAGES,
            "chat/toolCallComplete",
            "chat/toolCallContentChanged",
        }
    )
    obligations = (
        "AHP-CHAT-002",
        "AHP-CHAT-003",
        "AHP-CHAT-004",
        "AHP-CHAT-006",
        "AHP-CHAT-017",
        "AHP-CHAT-018",
        "AHP-CHAT-019",
        "AHP-CHAT-034",
        "AHP-CHAT-042",
        "AHP-CHAT-050",
        "AHP-CHAT-051",
        "AHP-CHAT-119",
        "AHP-CHAT-140",
        "AHP-CHAT-142",
    )

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._departed = Departed(self.tracker)
        # The last snapshot of each chat and session of a connection, with its position.
        self._chats: Bounded[str, tuple[str, int, dict[str, JSON]]] = Bounded(256)
        self._sessions: Bounded[str, tuple[str, int, dict[str, JSON]]] = Bounded(256)
        # Chats that were disposed of with a result; what worker chats were named, where, and when.
        self._disposed: Bounded[str, int] = Bounded(1024)
        self._workers: Bounded[str, tuple[str, int, int]] = Bounded(1024)
        # Chats that were taken out of their session, and when each was last asked for.
        self._removed: Bounded[str, None] = Bounded(1024)
        self._wanted: Bounded[str, int] = Bounded(1024)
        self._moved: Bounded[str, tuple[str, int]] = Bounded(256)
        # Listed chats that could not be subscribed to, unless their removal is on its way.
        self._refused: Bounded[str, tuple[Any, int]] = Bounded(256)
        # Entries that did not agree with their chat, by chat and member, until the session says more of the chat.
        self._doubts: Bounded[tuple[str, str], tuple[Any, Any, int]] = Bounded(256)
        # When the snapshot of a session was asked for.
        self._since: Bounded[tuple[str, str], int] = Bounded(1024)

    # -- requests -------------------------------------------------------------------------------------

    def request(self, request: Request) -> None:
        self._departed.asked(request)
        channel = text(request.params.get("channel"))
        if request.method == "subscribe" and channel is not None:
            self._since[(request.conn, channel)] = request.frame.n
        elif request.method == "createChat":
            chat = text(request.params.get("chat")) or ""
            self._disposed.pop(chat, None)
            self._wanted[chat] = request.frame.n

    def reply(self, reply: Reply) -> None:
        self._departed.answered(reply)
        request = reply.request
        channel = text(request.params.get("channel")) if request is not None else None
        if request is None or channel is None:
            return
        if request.method == "disposeChat" and not reply.failed and self._departed.since(channel, reply.frame.n + 1):
            if self._wanted.get(channel, -1) < request.frame.n:
                self._disposed[channel] = reply.frame.n
        elif request.method == "moveChat" and not reply.failed:
            session = text(member(reply.result, "session"))
            if session is not None:
                self._moved[channel] = (session, reply.frame.n)
        elif request.method == "subscribe" and self._is_listed(reply.conn, channel):
            self.watch("AHP-CHAT-002")
            sound = not self.malformed(reply.conn, "subscribe", request.params)
            if reply.failed and sound and whole(member(reply.error, "code")) != AUTH_REQUIRED:
                self._refused[channel] = (reply.error, reply.frame.n)

    def _is_listed(self, conn: str, chat: str) -> bool:
        """Whether the session that this connection follows lists the chat."""
        views = self.tracker.connection(conn).channels.values()
        return any(view.kind == "session" and view.live and chat in chats_in(view.state) for view in views)

    # -- snapshots ------------------------------------------------------------------------------------

    def snapshot(self, snapshot: Snapshot) -> None:
        if not isinstance(snapshot.state, dict) or snapshot.from_seq is None:
            return
        if snapshot.kind == "session":
            self._session(snapshot, snapshot.state)
        elif snapshot.kind == "chat":
            self._chats[snapshot.channel] = (snapshot.conn, snapshot.from_seq, snapshot.state)

    def _session(self, snapshot: Snapshot, state: dict[str, JSON]) -> None:
        frame = snapshot.frame.n
        self._ready(state, frame)
        self._schemes(chats_in(state), frame)
        self._movable(state, frame, snapshot.conn)
        asked = self._since.get((snapshot.conn, snapshot.channel), -1)
        for chat in [chat for chat, gone in self._disposed.items() if gone < asked]:
            self.watch("AHP-CHAT-019")
            if chat in chats_in(state):
                self._wrong("AHP-CHAT-019", "a chat that was disposed of is listed", "not in it", chat, frame)
        self._owners(snapshot)
        self._sessions[snapshot.channel] = (snapshot.conn, snapshot.from_seq or 0, state)
        for chat in chats_in(state):
            known = self._chats.get(chat)
            if known is not None:
                self._agrees(self._sessions[snapshot.channel], chat, known, frame)

    def _ready(self, state: JSON, frame: int, once: Any = None) -> None:
        if member(state, "lifecycle") != "ready" or not isinstance(member(state, "chats"), list):
            return
        chats, default = chats_in(state), member(state, "defaultChat")
        self.watch("AHP-CHAT-003", "AHP-CHAT-050")
        if member(state, "chats") == []:
            self._wrong("AHP-CHAT-003", "a ready session has no chat", "at least one", "none", frame, once)
        elif once is None and default not in chats:
            message = "a ready session names no chat of its own as the default"
            self._wrong("AHP-CHAT-050", message, chats, default or "absent", frame)

    def _schemes(self, chats: list[str], frame: int, once: Any = None) -> None:
        if chats:
            self.watch("AHP-CHAT-002")
        foreign = [chat for chat in chats if kind_of(chat) != "chat"]
        if foreign:
            self._wrong("AHP-CHAT-002", "a listed chat has no ahp-chat: URI", "ahp-chat:", foreign, frame, once)

    def _movable(self, state: JSON, frame: int, conn: str, once: Any = None) -> None:
        version, default = self.version(conn), text(member(state, "defaultChat"))
        if version is None or version < "1.0.0" or default is None:
            return
        self.watch("AHP-CHAT-119")
        entry = next((e for e in dicts(member(state, "chats")) if e.get("resource") == default), None)
        if member(entry, "movable") is True:
            self._wrong("AHP-CHAT-119", "the default chat says that it can be moved", "not movable", entry, frame, once)

    def _owners(self, snapshot: Snapshot) -> None:
        """From 1.0.0 on chats may move between sessions; before that two owners are one too many."""
        version = self.version(snapshot.conn)
        if version is None or version >= "1.0.0":
            return
        for chat in chats_in(snapshot.state):
            self.watch("AHP-CHAT-051")
            for connection in self.tracker.connections.values():
                for view in connection.channels.values() if connection.fed else ():
                    other = view.kind == "session" and view.live and view.channel != snapshot.channel
                    if other and chat in chats_in(view.state):
                        seen = [snapshot.channel, view.channel]
                        self.find(
                            "AHP-CHAT-051",
                            f"two sessions list the chat {chat}",
                            expected="one",
                            seen=seen,
                            frame=snapshot.frame.n,
                            once=chat,
                        )

    def _agrees(
        self,
        session: tuple[str, int, dict[str, JSON]],
        chat: str,
        known: tuple[str, int, dict[str, JSON]],
        frame: int,
    ) -> None:
        """A catalogue entry against the state of the chat, taken before it at the same position, at rest.

        The other way round a title or an origin may have changed in between, as no action of the chat carries them.
        """
        conn, position, state = session
        if (known[0], known[1]) != (conn, position) or active_turn(known[2]) is not None:
            return
        entry = next((e for e in dicts(state.get("chats")) if e.get("resource") == chat), None)
        if entry is None:
            return
        self.watch("AHP-CHAT-004")
        pairs: list[tuple[Any, ...]] = [(name, entry.get(name), known[2].get(name)) for name in _MIRRORED]
        pairs.append(("interactivity", *(one.get("interactivity") or "full" for one in (entry, known[2]))))
        status = [whole(one.get("status")) for one in (entry, known[2])]
        if None not in status:
            pairs.append(("status", *((one or 0) & ACTIVITY_MASK for one in status)))
        for name, listed, own in pairs:
            if listed != own:
                self._doubts[(chat, name)] = (own, listed, frame)

    # -- actions --------------------------------------------------------------------------------------

    def envelope(self, envelope: Envelope) -> None:
        if not envelope.accepted:
            if envelope.type in _MESSAGES and self._interactivity(envelope) in _CLOSED:
                self.watch("AHP-CHAT-034")
            return
        self._departed.heard(envelope)
        frame, once = envelope.frame.n, (envelope.channel, repr(envelope.seq))
        match envelope.type:
            case "session/chatUpdated":
                self._updated(envelope, once)
            case "session/ready":
                self._ready(envelope.after, frame, once)
            case "session/chatAdded":
                chat = text(member(envelope.get("summary"), "resource"))
                self._schemes([chat] if chat is not None else [], frame, once)
                self._removed.pop(chat or "", None)
            case "session/chatRemoved":
                self._taken_out(envelope.channel, text(envelope.get("chat")) or "")
            case "session/chatsReordered":
                self._reordered(envelope, once)
            case "session/defaultChatChanged":
                self._movable(envelope.after, frame, envelope.conn, once)
            case "chat/turnStarted" | "chat/pendingMessageSet":
                self._message(envelope, once)
            case _:
                self._worker(envelope, once)

    def _taken_out(self, session: str, chat: str) -> None:
        self._refused.pop(chat, None)
        self._removed[chat] = None
        if self._moved.get(chat, ("", 0))[0] == session:
            del self._moved[chat]
        if chat in self._disposed:
            self.watch("AHP-CHAT-018")

    def _updated(self, envelope: Envelope, once: Any) -> None:
        changes = envelope.get("changes")
        for doubt in [doubt for doubt in self._doubts if doubt[0] == envelope.get("chat")]:
            del self._doubts[doubt]
        if isinstance(changes, dict):
            self.watch("AHP-CHAT-006")
            if changes.get("resource") is not None:
                message = "a change of a chat names its resource"
                self._wrong("AHP-CHAT-006", message, "no resource", changes, envelope.frame.n, once)
        self._movable(envelope.after, envelope.frame.n, envelope.conn, once)

    def _reordered(self, envelope: Envelope, once: Any) -> None:
        if envelope.before is None:
            return
        self.watch("AHP-CHAT-142")
        before, order = sorted(chats_in(envelope.before)), sorted(texts(envelope.get("chats")))
        if before != order:
            message = "a new order of the chats is not one of all chats"
            self._wrong("AHP-CHAT-142", message, before, order, envelope.frame.n, once)

    def _message(self, envelope: Envelope, once: Any) -> None:
        interactivity = self._interactivity(envelope)
        if envelope.by is None or interactivity not in _CLOSED:
            return
        message = f"a chat that is {interactivity} took a message of a client"
        self._wrong("AHP-CHAT-034", message, "a rejection", envelope.message, envelope.frame.n, once)

    def _interactivity(self, envelope: Envelope) -> JSON:
        """Of a chat, as its session says now: no action of the chat itself tells a change."""
        for view in self.tracker.connection(envelope.conn).channels.values():
            if view.kind == "session" and view.live and not view.late:
                for entry in dicts(member(view.state, "chats")):
                    if entry.get("resource") == envelope.channel:
                        return entry.get("interactivity")
        return None

    def _worker(self, envelope: Envelope, once: Any) -> None:
        """The chats that a tool call says it delegated to."""
        content = envelope.get("content") or member(envelope.get("result"), "content")
        for block in dicts(content):
            chat = text(block.get("resource"))
            if block.get("type") != "subagent" or chat is None:
                continue
            self.watch("AHP-CHAT-017")
            if kind_of(chat) == "session":
                message = "a subagent block names a session"
                self._wrong("AHP-CHAT-017", message, "an ahp-chat: URI", chat, envelope.frame.n, once)
            else:
                self._workers.setdefault(chat, (envelope.channel, envelope.frame.n, whole(envelope.seq) or 0))

    def gone(self, channel: str) -> None:
        self._refused.pop(channel, None)

    # -- the end --------------------------------------------------------------------------------------

    def end(self) -> None:
        if not self.tracker.settled:
            return
        for chat, (error, frame) in self._refused.items():
            if any(self._is_listed(c.name, chat) for c in self.tracker.connections.values() if c.fed):
                self._wrong("AHP-CHAT-002", "a listed chat cannot be subscribed to", chat, error, frame)
        for (chat, name), (own, listed, frame) in self._doubts.items():
            message = f"the catalogue has another {name} of {chat} than the chat itself"
            self._wrong("AHP-CHAT-004", message, {name: own}, {name: listed}, frame)
        for connection in self.tracker.connections.values():
            for view in connection.channels.values() if connection.fed and connection.version else ():
                if view.kind == "session" and view.live:
                    self._at_the_end(view)
        for chat, (session, frame) in self._moved.items():
            states = [v.state for c, v in self.tracker.views(session) if v.live and c.fed]
            if states and not any(chat in chats_in(state) for state in states):
                message = "the session that moveChat named does not list the chat"
                self._wrong("AHP-CHAT-140", message, chat, chats_in(states[0]), frame)
            elif states:
                self.watch("AHP-CHAT-140")

    def _at_the_end(self, view: ChannelView) -> None:
        session, chats = view.channel, set(chats_in(view.state))
        for chat, frame in self._disposed.items():
            if chat in chats:
                message = "the disposal of a chat was not announced"
                self._wrong("AHP-CHAT-018", message, f"session/chatRemoved for {chat}", "none", frame, chat)
        for worker, (chat, frame, seq) in self._workers.items():
            # Who came later, or heard of its removal, cannot say that it was never there.
            if chat in chats and view.since < seq and worker not in self._removed:
                self.watch("AHP-CHAT-042")
                if worker not in chats and self._departed.since(worker, 2**62) is None:
                    message = f"{session} does not list a chat that a tool call delegated to"
                    self._wrong("AHP-CHAT-042", message, worker, sorted(chats), frame, worker)

    def _wrong(self, obligation: str, message: str, expected: Any, seen: Any, frame: int, once: Any = None) -> None:
        self.find(obligation, message, expected=expected, seen=seen, frame=frame, once=once)
