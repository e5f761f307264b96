"""Which channels are known to be no more, so that other rules can say what must not happen to them."""

from __future__ import annotations

from conformance.oracle.memory import Bounded
from conformance.oracle.reading import chats_in, member, text
from conformance.oracle.tracker import ConnectionView, Envelope, Notification, Reply, Request, Tracker
from conformance.protocol import ROOT_URI, kind_of

CHANGES = frozenset({"session/chatAdded"})
"""The action types that `Departed` has to be told of."""


class Departed:
    """Sessions and chats that were disposed of by a command of which a recorded client has the answer.

    It is told what happens by the rule that owns it. What a client sends later than that answer meets a channel that
    does not exist, until it is created anew. What is only announced as removed may be back already.
    """

    def __init__(self, tracker: Tracker) -> None:
        self._tracker = tracker
        # Channel -> the frame that showed its end, and the session whose disposal took it along (or itself).
        self._gone: Bounded[str, tuple[int, str]] = Bounded()
        # Session -> its chats, as they stood when its disposal was asked for.
        self._chats: Bounded[str, set[str]] = Bounded(256)

    def asked(self, request: Request) -> None:
        channel = text(request.params.get("channel"))
        if request.method == "disposeSession" and channel is not None:
            self._chats[channel] = self._known_chats(channel)
        elif request.method == "disposeChat" and channel is not None and self._is_no_default(channel):
            self._chats[channel] = set()
        elif request.method == "createSession" and channel is not None:
            self._back(channel)
        elif request.method == "createChat":
            self._back(text(request.params.get("chat")))

    def answered(self, reply: Reply) -> None:
        if reply.request is None or reply.failed or reply.request.method not in ("disposeSession", "disposeChat"):
            return
        channel = text(reply.request.params.get("channel"))
        if channel is not None and channel in self._chats:
            self._end(channel, reply.frame.n)

    def told(self, notification: Notification) -> None:
        if notification.method == "root/sessionAdded":
            self._back(text(member(notification.params.get("summary"), "resource")))

    def heard(self, envelope: Envelope) -> None:
        if envelope.type == "session/chatAdded" and envelope.accepted:
            self._back(text(member(envelope.get("summary"), "resource")))

    def since(self, channel: str | None, frame: int) -> str | None:
        """Of a channel that had ended before ``frame``: the session that it ended with, or itself. Else None."""
        end = self._gone.get(channel) if channel is not None else None
        return end[1] if end is not None and end[0] < frame else None

    def is_there(self, channel: str) -> bool:
        """Whether somebody follows a channel who would have been told of its end, so that it was there all the time."""
        followers = [c for c, view in self._tracker.views(channel) if view.live and c.fed]
        kind = self._tracker.kinds.get(channel) or kind_of(channel)
        if kind == "chat":
            return any(
                view.kind == "session" and view.live and channel in chats_in(view.state)
                for connection in followers
                for view in connection.channels.values()
            )
        return any(self._follows_root(connection) for connection in followers)

    def is_watched(self) -> bool:
        """Whether anybody would be told that a session has ended."""
        return any(
            connection.fed and self._follows_root(connection) for connection in self._tracker.connections.values()
        )

    def _follows_root(self, connection: ConnectionView) -> bool:
        view = connection.channels.get(ROOT_URI)
        return view is not None and view.live

    def _end(self, channel: str, frame: int) -> None:
        for gone in (channel, *self._chats.pop(channel, ())):
            if gone not in self._gone:
                self._gone[gone] = (frame, channel)

    def _back(self, channel: str | None) -> None:
        for gone in [gone for gone, (_, owner) in self._gone.items() if channel in (gone, owner)]:
            del self._gone[gone]

    def _is_no_default(self, chat: str) -> bool:
        """What becomes of a default chat that is disposed of is open (AMB-02), so this has to be sure."""
        listing = [
            view.state
            for connection in self._tracker.connections.values()
            for view in connection.channels.values()
            if view.kind == "session" and view.live and chat in chats_in(view.state)
        ]
        return bool(listing) and all(member(state, "defaultChat") != chat for state in listing)

    def _known_chats(self, session: str) -> set[str]:
        return {chat for _, view in self._tracker.views(session) for chat in chats_in(view.state)}
