"""Who gets what: only subscribers, only what their version knows, only on a channel of the fitting kind."""

from __future__ import annotations

from typing import Any

from conformance.oracle.rule import Rule
from conformance.oracle.tracker import Envelope, Notification, Reply, Request
from conformance.protocol import ACTIONS, METHODS, ROOT_URI, is_known_action, is_known_method
from conformance.wire.frames import Frame

from .sequence import origin_of


class Delivery(Rule):
    """Messages of a channel go to its subscribers and to nobody else."""

    name = "delivery"
    obligations = ("AHP-SUB-007", "AHP-SUB-009", "AHP-SUB-021", "AHP-SEQ-019")

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        # Per connection: channels ever subscribed or asked for, and those left with the request that proves it.
        self._left: dict[tuple[str, str], int | str | None] = {}

    def frame(self, frame: Frame) -> None:
        message = frame.msg
        if frame.dir == "out" and isinstance(message, dict) and message.get("method") == "unsubscribe":
            channel = (message.get("params") or {}).get("channel")
            if isinstance(channel, str):
                self._left[(frame.conn, channel)] = None

    def request(self, request: Request) -> None:
        if request.method == "subscribe":
            self._left.pop((request.conn, request.params.get("channel")), None)
        for place, fence in self._left.items():
            if place[0] == request.conn and fence is None:
                self._left[place] = request.id

    def reply(self, reply: Reply) -> None:
        # The answer to a request made after unsubscribe shows that the host has taken it in.
        if reply.request is None:
            return
        for place, fence in list(self._left.items()):
            if place[0] == reply.conn and fence is not None and fence == reply.request.id:
                self._left[place] = "confirmed"

    def envelope(self, envelope: Envelope) -> None:
        if origin_of(envelope) is not None and (
            envelope.origin["clientId"] == self.tracker.connection(envelope.conn).client_id
        ):
            # The echo of one's own dispatch may come without a subscription (ambiguity A-22).
            return
        self._judge(envelope.conn, envelope.channel, envelope.message, envelope.frame, "AHP-SUB-009")

    def notification(self, notification: Notification) -> None:
        params = notification.params
        if notification.method.startswith("root/") or notification.method == "auth/required":
            channel = params.get("channel")
            if isinstance(channel, str) and notification.method != "root/progress":
                self._judge(notification.conn, channel, params, notification.frame, "AHP-SUB-021")

    def _judge(self, conn: str, channel: str, seen: Any, frame: Frame, obligation: str) -> None:
        view = self.tracker.connection(conn)
        self.watch(obligation)
        if channel in view.subscribed or view.asked.get(channel):
            return
        if (conn, channel) in self._left:
            self.watch("AHP-SUB-007")
            if self._left[(conn, channel)] == "confirmed":
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
            "AHP-SEQ-019" if twins else obligation,
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
        self.watch("AHP-VER-001", "AHP-SUB-020")
        if not is_known_action(envelope.type, version) and envelope.accepted and not _own(envelope.type):
            self.find(
                "AHP-VER-001",
                f"{envelope.type} is no action of {version}",
                expected=f"an action type of {version}",
                seen=envelope.message,
                frame=envelope.frame.n,
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
                )
        repeated = {"session", "terminal"} & envelope.action.keys()
        if repeated and envelope.type.split("/")[0] in ("session", "chat", "terminal"):
            self.find(
                "AHP-SUB-020",
                "an action repeats its channel",
                expected="no member session or terminal",
                seen=envelope.message,
                frame=envelope.frame.n,
            )

    def notification(self, notification: Notification) -> None:
        version = self.version(notification.conn)
        if version is None:
            return
        self.watch("AHP-VER-004")
        on_mcp_channel = str(notification.params.get("channel", ROOT_URI)).startswith("mcp:")
        if not is_known_method(notification.method, version) and not on_mcp_channel:
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
