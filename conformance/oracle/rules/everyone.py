"""Everybody hears the same: each subscriber gets each accepted action, the same one under the same number."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from conformance.oracle.memory import Bounded
from conformance.oracle.reading import text, texts, whole
from conformance.oracle.rule import Rule
from conformance.oracle.tracker import ChannelView, ConnectionView, Envelope, Reply, Request
from conformance.protocol import is_known_action
from conformance.wire.frames import Frame

from .sequence import DISPATCHABLE

# Actions that no other one can absorb when a host merges what comes often. What a client dispatches is echoed to it
# under its own clientSeq, so it cannot be merged either.
SINGLE = frozenset(
    {
        "session/ready",
        "session/creationFailed",
        "session/chatAdded",
        "session/chatRemoved",
        "chat/turnStarted",
        "chat/turnComplete",
        "chat/turnCancelled",
        "chat/error",
        "chat/inputCompleted",
        "chat/toolCallStart",
        "chat/toolCallConfirmed",
        "chat/toolCallComplete",
        "chat/toolCallAuthRequired",
        "chat/toolCallAuthResolved",
    }
)
HEARD = SINGLE | DISPATCHABLE
"""Others may be replaced by the next one of their type for who did not dispatch them."""


@dataclass(slots=True)
class Told:
    """One accepted action, and to whom it was told."""

    type: str
    action: Any
    who: tuple[str, int] | None
    frame: int
    conns: set[str] = field(default_factory=set)


class Everyone(Rule):
    """What one subscriber of a channel is told, all are told, and in one order."""

    name = "everyone"
    hears = HEARD
    obligations = ("AHP-SEQ-006", "AHP-SEQ-014", "AHP-SUB-010", "AHP-SUB-027", "AHP-INIT-011", "AHP-RECON-009")

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._told: Bounded[tuple[str, int], Told] = Bounded()
        # Subscriptions that came with the handshake; connections that came back, and what they had seen before.
        self._initial: Bounded[tuple[str, str], None] = Bounded()
        self._resumed: Bounded[str, int] = Bounded()
        # The last frame from the host on each connection: what others were told after it may still be on its way.
        self._heard: Bounded[str, int] = Bounded()

    def request(self, request: Request) -> None:
        channel = text(request.params.get("channel"))
        if request.method == "subscribe" and channel is not None:
            self._initial.pop((request.conn, channel), None)

    def reply(self, reply: Reply) -> None:
        if reply.request is None or reply.failed:
            return
        if reply.request.method == "initialize":
            for uri in texts(reply.request.params.get("initialSubscriptions")):
                self._initial[(reply.conn, uri)] = None
        elif reply.request.method == "reconnect":
            self._resumed[reply.conn] = whole(reply.request.params.get("lastSeenServerSeq")) or 0
        else:
            return
        others = [c for c in self.tracker.connections.values() if c.fed and c.version and c.name != reply.conn]
        if not others:
            # With nobody left the host may have been started anew, and a new host may count anew.
            self._told.clear()

    def envelope(self, envelope: Envelope) -> None:
        seq = whole(envelope.seq)
        if not envelope.accepted or seq is None:
            return
        told = self._told.get((envelope.channel, seq))
        if told is None or not any(self.tracker.connection(conn).fed for conn in told.conns):
            told = Told(envelope.type, envelope.action, envelope.by, envelope.frame.n)
            self._told[(envelope.channel, seq)] = told
        elif envelope.conn not in told.conns:
            self._same(envelope, told)
        told.conns.add(envelope.conn)
        if not envelope.replayed:
            self._delivered(envelope)

    def _same(self, envelope: Envelope, told: Told) -> None:
        self.watch("AHP-SUB-010", *(["AHP-SEQ-006"] if told.who is not None else []))
        views = [self.tracker.connection(conn) for conn in (*told.conns, envelope.conn)]
        if any(view.channels[envelope.channel].late for view in views if envelope.channel in view.channels):
            return
        if len({view.version for view in views}) == 1:
            self.watch("AHP-SEQ-014")
            if told.type != envelope.type or told.action != envelope.action:
                self._differs(envelope, "AHP-SEQ-014", "one number is another action for another client", told.action)
                return
        if told.type == envelope.type and told.who != envelope.by:
            expected = {"clientId": told.who[0], "clientSeq": told.who[1]} if told.who else "no origin"
            self._differs(envelope, "AHP-SEQ-006", "two clients are told different origins of one action", expected)

    def _differs(self, envelope: Envelope, obligation: str, message: str, expected: Any) -> None:
        self.find(
            obligation,
            message,
            expected=expected,
            seen=envelope.message,
            frame=envelope.frame.n,
            once=(envelope.channel, envelope.seq),
        )

    def _delivered(self, envelope: Envelope) -> None:
        """The ways by which a subscription may have come about, as far as they show that it is in effect."""
        connection = self.tracker.connection(envelope.conn)
        if (envelope.conn, envelope.channel) in self._initial:
            self.watch("AHP-INIT-011")
        if envelope.conn in self._resumed and envelope.channel in connection.channels:
            self.watch("AHP-RECON-009")
        if envelope.kind == "chat" and not _follows_a_session(connection):
            self.watch("AHP-SUB-027")

    def frame(self, frame: Frame) -> None:
        """Who leaves is owed no more than what came in between what it got."""
        if frame.dir == "in":
            self._heard[frame.conn] = frame.n
        if frame.kind == "close":
            self._gaps(self.tracker.connection(frame.conn), at_the_end=False)

    def end(self) -> None:
        for connection in self.tracker.connections.values():
            self._gaps(connection, at_the_end=self.tracker.settled)

    def _gaps(self, connection: ConnectionView, *, at_the_end: bool) -> None:
        if not connection.fed or connection.version is None:
            return
        latest: dict[tuple[str, str], int] = {}
        for (channel, seq), told in self._told.items():
            if connection.name in told.conns:
                latest[(channel, told.type)] = max(seq, latest.get((channel, told.type), -1))
        heard, lost = {channel for channel, _ in latest}, set()
        for (channel, seq), told in self._told.items():
            view = connection.channels.get(channel)
            if view is None or connection.name in told.conns or not view.live or view.late or channel in lost:
                continue
            if seq <= max(view.base, self._resumed.get(connection.name, -1)):
                continue
            if not is_known_action(told.type, connection.version) or not self._is_witnessed(told):
                continue
            own = told.who is not None and told.who[0] == connection.client_id
            if told.type not in SINGLE and not own and latest.get((channel, told.type), -1) > seq:
                # It may have been merged with the later one of its type.
                continue
            if view.position > seq or (at_the_end and told.frame < self._heard.get(connection.name, -1)):
                lost.add(channel)
                self._lost(connection, view, seq, told, mute=channel not in heard)

    def _is_witnessed(self, told: Told) -> bool:
        """Somebody who was told is still there, so that the host is the one that told it."""
        return any(self.tracker.connection(conn).fed for conn in told.conns)

    def _lost(self, connection: ConnectionView, view: ChannelView, seq: int, told: Told, *, mute: bool) -> None:
        broken = ["AHP-SUB-010"]
        if connection.name in self._resumed:
            broken.append("AHP-RECON-009")
        if mute and (connection.name, view.channel) in self._initial:
            broken.append("AHP-INIT-011")
        if mute and view.kind == "chat" and not _follows_a_session(connection):
            broken.append("AHP-SUB-027")
        self.find(
            tuple(broken),
            f"client {connection.name} was not told what other subscribers of {view.channel} were",
            expected=f"the envelope with serverSeq {seq}: {told.type}",
            seen="none",
            frame=told.frame,
            once=(connection.name, view.channel),
        )

    def gone(self, channel: str) -> None:
        for key in [key for key in self._told if key[0] == channel]:
            del self._told[key]


def _follows_a_session(connection: ConnectionView) -> bool:
    return any(view.kind == "session" and view.live for view in connection.channels.values())
