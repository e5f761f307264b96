"""Who gets what: only subscribers, only what their version knows, only on a channel of the fitting kind."""

from __future__ import annotations

from typing import Any

from conformance.oracle.reading import member, text
from conformance.oracle.rule import Rule
from conformance.oracle.tracker import Envelope, Notification, Reply, Request
from conformance.protocol import ACTIONS, METHODS, is_known_action, is_known_method, is_misdated
from conformance.wire.frames import Frame

from .frames import is_forwarded
from .sequence import origin_of

# Progress goes to whoever gave the token, subscribed or not; and one sentence of the text has a new or removed session
# announced to all clients (ambiguity A-31).
_FOR_ALL = frozenset({"root/progress", "root/sessionAdded", "root/sessionRemoved"})


class Delivery(Rule):
    """Messages of a channel go to its subscribers and to nobody else."""

    name = "delivery"
    obligations = ("AHP-SUB-007", "AHP-SUB-009", "AHP-SUB-021", "AHP-SEQ-019")

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        # Per connection and channel that was left: the request made after it, and in the end "confirmed".
        self._left: dict[tuple[str, str], int | str | None] = {}
        self._confirmed: set[tuple[str, str]] = set()

    def frame(self, frame: Frame) -> None:
        if frame.dir == "out" and member(frame.msg, "method") == "unsubscribe":
            channel = text(member(member(frame.msg, "params"), "channel"))
            if channel is not None:
                self._left[(frame.conn, channel)] = None

    def request(self, request: Request) -> None:
        channel = text(request.params.get("channel"))
        if request.method == "subscribe" and channel is not None:
            self._left.pop((request.conn, channel), None)
            self._confirmed.discard((request.conn, channel))
        for place, fence in self._left.items():
            if place[0] == request.conn and fence is None:
                self._left[place] = request.id

    def reply(self, reply: Reply) -> None:
        # The answer to a request made after unsubscribe shows that the host has taken it in.
        if reply.request is None:
            return
        for place, fence in self._left.items():
            if place[0] == reply.conn and fence is not None and fence == reply.request.id:
                self._confirmed.add(place)

    def envelope(self, envelope: Envelope) -> None:
        who = origin_of(envelope)
        if who is not None and who[0] == self.tracker.connection(envelope.conn).client_id:
            # The echo of one's own dispatch may come without a subscription (ambiguity A-22).
            return
        if envelope.accepted:
            self._bystanders(envelope.conn, envelope.channel, "AHP-SUB-009")
        self.watch("AHP-SEQ-019")
        self._judge(envelope.conn, envelope.channel, envelope.message, envelope.frame, "AHP-SUB-009")

    def notification(self, notification: Notification) -> None:
        if not notification.method.startswith("root/") and notification.method != "auth/required":
            return
        channel = text(notification.params.get("channel"))
        if channel is not None and notification.method not in _FOR_ALL:
            self._bystanders(notification.conn, channel, "AHP-SUB-021")
            self._judge(notification.conn, channel, notification.params, notification.frame, "AHP-SUB-021")

    def _bystanders(self, conn: str, channel: str, obligation: str) -> None:
        """The rule is put to the test when somebody is there who must not get the message."""
        for other in self.tracker.connections.values():
            if other.name == conn or not other.fed or other.version is None or channel in other.asked:
                continue
            if channel not in other.subscribed:
                self.watch(obligation)
                if (other.name, channel) in self._confirmed:
                    self.watch("AHP-SUB-007")

    def _judge(self, conn: str, channel: str, seen: Any, frame: Frame, obligation: str) -> None:
        view = self.tracker.connection(conn)
        if channel in view.subscribed or view.asked.get(channel):
            return
        if (conn, channel) in self._left:
            # What was on its way when the client left may still arrive.
            if (conn, channel) in self._confirmed:
                self.find(
                    "AHP-SUB-007",
                    "a message of a channel that the client has left",
                    expected="nothing after unsubscribe",
                    seen=seen,
                    frame=frame.n,
                )
            return
        same = channel.rstrip("/").lower()
        twins = [uri for uri in view.subscribed if uri.rstrip("/").lower() == same]
        self.find(
            "AHP-SEQ-019" if twins and obligation == "AHP-SUB-009" else obligation,
            "a message names its channel in another way than the subscription"
            if twins
            else "a message of a channel that the client has not subscribed to",
            expected=f"one of {sorted(view.subscribed)}",
            seen=seen,
            frame=frame.n,
        )


class Vocabulary(Rule):
    """Only actions and notifications that the negotiated version knows, on channels of their kind."""

    name = "vocabulary"
    obligations = ("AHP-VER-001", "AHP-VER-004", "AHP-SEQ-013", "AHP-SUB-020")

    def envelope(self, envelope: Envelope) -> None:
        version = self.version(envelope.conn)
        if version is None or not envelope.type:
            return
        self.watch("AHP-VER-001")
        # A host that goes by the published registry may take an action for older than it is.
        unknown = not is_known_action(envelope.type, version) and not is_misdated(envelope.type, version)
        if unknown and envelope.accepted and not _own(envelope.type):
            self.find(
                "AHP-VER-001",
                f"{envelope.type} is no action of {version}",
                expected=f"an action type of {version}",
                seen=envelope.message,
                frame=envelope.frame.n,
                once=(envelope.channel, repr(envelope.seq), version),
            )
        known = ACTIONS.get(envelope.type)
        if known is not None and envelope.kind is not None and envelope.accepted:
            self.watch("AHP-SEQ-013")
            if known.channel != envelope.kind:
                self.find(
                    "AHP-SEQ-013",
                    f"{envelope.type} on a channel of the kind {envelope.kind}",
                    expected=f"a {known.channel} channel",
                    seen=envelope.message,
                    frame=envelope.frame.n,
                    once=(envelope.channel, repr(envelope.seq)),
                )
        # In the echo of a client's action the member may be the client's own.
        if envelope.origin is None and envelope.type.split("/")[0] in ("session", "chat", "terminal"):
            self.watch("AHP-SUB-020")
            if {"session", "terminal"} & envelope.action.keys():
                self.find(
                    "AHP-SUB-020",
                    "an action repeats its channel",
                    expected="no member session or terminal",
                    seen=envelope.message,
                    frame=envelope.frame.n,
                    once=(envelope.channel, repr(envelope.seq)),
                )

    def notification(self, notification: Notification) -> None:
        version = self.version(notification.conn)
        if version is None:
            return
        self.watch("AHP-VER-004")
        if not is_known_method(notification.method, version) and not is_forwarded(notification.frame.msg):
            known = METHODS.get(notification.method)
            if known is None and _own(notification.method):
                return
            self.find(
                "AHP-VER-004",
                f"{notification.method} is no notification of {version}",
                expected=f"a notification of {version}",
                seen=notification.frame.msg,
                frame=notification.frame.n,
            )


def _own(name: str) -> bool:
    """Names that start with x- are a host's own and never AHP's (from 0.8.0)."""
    return name.startswith("x-")
