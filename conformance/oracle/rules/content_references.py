"""What the host only refers to can be had: contents with resourceRead, terminals with subscribe."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.oracle.memory import Bounded
from conformance.oracle.reading import JSON, active_turn, call_in, calls_in, dicts, member, text, whole
from conformance.oracle.rule import Rule
from conformance.oracle.tracker import Envelope, Reply, Request, Snapshot
from conformance.protocol import Window
from conformance.protocol.errors import AUTH_REQUIRED, METHOD_NOT_FOUND, PERMISSION_DENIED

from .chat_places import parts_of

_INPUT_BY_REFERENCE = Window("0.7.0")
_PART, _INPUT, _RESULT, _TERMINAL = "AHP-TURN-030", "AHP-TOOL-032", "AHP-TOOL-033", "AHP-TOOL-017"


class ContentReferences(Rule):
    """Remembers what chats refer to, and judges the answers of those who ask for it."""

    name = "content-references"
    hears = frozenset(
        {
            "chat/responsePart",
            "chat/toolCallReady",
            "chat/toolCallContentChanged",
            "chat/toolCallComplete",
            "chat/toolCallConfirmed",
            "chat/truncated",
        }
    )
    obligations = ("AHP-CHAT-109", _TERMINAL, _INPUT, _RESULT, _PART)

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        # URI -> the obligation that it can be read by, and the chat that named it.
        self._named: Bounded[str, tuple[str, str]] = Bounded()
        # URI of an input -> what it was edited to.
        self._edited: Bounded[str, str] = Bounded()
        # Requests for something named, while it was: the obligation, its chat, and the edited input that is due.
        self._asked: Bounded[tuple[str, int | str], tuple[str, str, str | None]] = Bounded()

    def gone(self, channel: str) -> None:
        self._forget(channel)

    def _forget(self, channel: str) -> None:
        for uri in [uri for uri, (_, chat) in self._named.items() if chat == channel]:
            del self._named[uri]
            self._edited.pop(uri, None)

    # -- what is named ------------------------------------------------------------------------------------

    def snapshot(self, snapshot: Snapshot) -> None:
        if snapshot.kind != "chat":
            return
        for turn in (*dicts(member(snapshot.state, "turns")), active_turn(snapshot.state)):
            for part in parts_of(turn):
                self._name(_of_part(part), snapshot.channel)
            for call in calls_in(turn):
                self._name(_of_call(call), snapshot.channel)

    def envelope(self, envelope: Envelope) -> None:
        if envelope.kind != "chat" or not envelope.accepted or not isinstance(envelope.after, dict):
            return
        if envelope.type == "chat/truncated":
            # What went with its turns need not be kept; which of it that was nobody says.
            self._forget(envelope.channel)
            return
        if envelope.type == "chat/responsePart":
            self._name(_of_part(envelope.get("part")), envelope.channel)
            return
        call = call_in(active_turn(envelope.after), envelope.get("toolCallId"))
        if envelope.type != "chat/toolCallConfirmed":
            if call is not None:
                if envelope.get("toolInput") is not None:
                    # The host asks about another input, which it may keep under the same URI.
                    self._edited.pop(text(member(call.get("toolInput"), "uri")) or "", None)
                self._name(_of_call(call), envelope.channel)
            return
        before = call_in(active_turn(envelope.before), envelope.get("toolCallId"))
        edited, uri = envelope.get("editedToolInput"), text(member(member(call, "toolInput"), "uri"))
        approved = member(before, "status") == "pending-confirmation" and member(call, "status") == "running"
        if approved and isinstance(edited, str) and uri is not None:
            self._edited[uri] = edited

    def _name(self, named: Iterator[tuple[str, JSON]], chat: str) -> None:
        for obligation, uri in named:
            if isinstance(uri, str):
                self._named[uri] = (obligation, chat)

    # -- who asks for it ----------------------------------------------------------------------------------

    def request(self, request: Request) -> None:
        version = self.version(request.conn)
        if version is None or request.method not in ("resourceRead", "subscribe"):
            return
        reads = request.method == "resourceRead"
        uri = text(request.params.get("uri" if reads else "channel")) or ""
        obligation, chat = self._named.get(uri, ("", ""))
        if not obligation or reads is (obligation == _TERMINAL):
            return
        if obligation == _INPUT and not _INPUT_BY_REFERENCE.contains(version):
            return
        # A terminal counts while its call runs.
        if obligation == _TERMINAL and not self._runs(request.conn, uri):
            return
        self._asked[(request.conn, request.id)] = (obligation, chat, self._edited.get(uri))

    def _runs(self, conn: str, terminal: str) -> bool:
        for view in self.tracker.connection(conn).channels.values():
            if view.kind == "chat" and view.live:
                for call in calls_in(active_turn(view.state)):
                    named = [b.get("resource") for b in dicts(call.get("content")) if b.get("type") == "terminal"]
                    if call.get("status") == "running" and terminal in named:
                        return True
        return False

    def _is_still_named(self, conn: str, obligation: str, chat: str, uri: str) -> bool:
        """Whether a reference is known to be there when its answer comes: it may have gone meanwhile, also unseen."""
        view = self.tracker.connection(conn).channels.get(chat)
        if uri not in self._named or view is None or not view.live:
            return False
        return obligation != _TERMINAL or self._runs(conn, uri)

    def reply(self, reply: Reply) -> None:
        if reply.request is None:
            return
        asked = self._asked.pop((reply.conn, reply.request.id), None)
        # Who may not read, or asks for no claimed method, tells nothing.
        if asked is None or whole(member(reply.error, "code")) in (METHOD_NOT_FOUND, PERMISSION_DENIED, AUTH_REQUIRED):
            return
        obligation, chat, edited = asked
        uri = text(reply.request.params.get("channel" if obligation == _TERMINAL else "uri")) or ""
        if reply.failed and not self._is_still_named(reply.conn, obligation, chat, uri):
            return
        self.watch(obligation)
        if reply.failed:
            self._find(reply, obligation, "what the host refers to cannot be had", "a result")
            return
        if edited is None or member(reply.result, "encoding") != "utf-8":
            return
        self.watch("AHP-CHAT-109")
        if member(reply.result, "data") != edited:
            self._find(reply, "AHP-CHAT-109", "the referenced input is not what it was edited to", edited)

    def _find(self, reply: Reply, obligation: str, message: str, expected: str) -> None:
        assert reply.request is not None
        self.find(
            obligation,
            message,
            expected=expected,
            seen={"params": reply.request.params, "result": reply.result, "error": reply.error},
            frame=reply.frame.n,
        )


def _of_part(part: JSON) -> Iterator[tuple[str, JSON]]:
    if member(part, "kind") == "contentRef":
        yield _PART, member(part, "uri")


def _of_call(call: JSON) -> Iterator[tuple[str, JSON]]:
    yield _INPUT, member(member(call, "toolInput"), "uri")
    completed = member(call, "status") == "completed"
    for block in dicts(member(call, "content")):
        if block.get("type") == "terminal":
            yield _TERMINAL, block.get("resource")
        elif completed and block.get("type") == "resource":
            yield _RESULT, block.get("uri")
        elif completed and block.get("type") == "fileEdit":
            for side in ("before", "after"):
                yield _RESULT, member(member(block.get(side), "content"), "uri")
