"""Who gets what: only subscribers, only what their version knows, only on a channel of the fitting kind."""

from __future__ import annotations

from itertools import islice
from typing import Any

from conformance.oracle.memory import Bounded
from conformance.oracle.reading import member, text, texts
from conformance.oracle.rule import Rule
from conformance.oracle.tracker import Dispatch, Envelope, Notification, Reply, Request
from conformance.protocol import (
    ACTIONS,
    METHODS,
    ROOT_URI,
    STATELESS_KINDS,
    is_known_action,
    is_known_method,
    is_misdated,
    kind_of,
)
from conformance.wire.frames import Frame, encode

from .existence import CHANGES, Departed
from .frames import is_forwarded

# Progress goes to whoever gave the token, subscribed or not; and one sentence of the text has a new or removed session
# announced to all clients (ambiguity A-31).
_WITHOUT = {
    "AHP-SUB-007": "a message of a channel that the client has left",
    "AHP-SUB-028": "a message of a channel whose subscription was refused",
    "AHP-RECON-013": "a message of a channel that the client did not list when it came back",
    "AHP-RECON-027": "a message of a channel that was said to be missing",
}
# How many connections, the youngest first, are looked at to see whether a message had somebody to miss.
_LOOKED_AT = 16
_FOR_ALL = frozenset({"root/progress", "root/sessionAdded", "root/sessionRemoved"})


class Delivery(Rule):
    """Messages of a channel go to its subscribers and to nobody else."""

    name = "delivery"
    obligations = (
        "AHP-CHAT-054",
        "AHP-INIT-012",
        "AHP-RECON-005",
        "AHP-RECON-013",
        "AHP-RECON-027",
        "AHP-SEQ-019",
        "AHP-SESS-022",
        "AHP-SESS-043",
        "AHP-SUB-007",
        "AHP-SUB-009",
        "AHP-SUB-021",
        "AHP-SUB-028",
    )

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._departed = Departed(self.tracker)
        # Per connection and channel why the client has no subscription: AHP-SUB-007 when it left and the host has taken
        # that in, AHP-SUB-028 when it was refused, AHP-RECON-013 and 027 when it did not come back to it.
        self._without: Bounded[tuple[str, str], str] = Bounded()
        # Channels that were left, and what awaits the answer to a request that was made afterwards.
        self._left: Bounded[tuple[str, str], None] = Bounded()
        self._leaving: dict[str, list[str]] = {}
        self._fences: dict[tuple[str, int | str], list[str]] = {}
        # Connections whose handshake asked for no channel, and that have asked for none since.
        self._bare: Bounded[str, None] = Bounded()
        # What the connection before a reconnect had, by the new connection.
        self._had: dict[str, set[str]] = {}
        # Per connection: sessions and chats of whose end it was told.
        self._ended: Bounded[tuple[str, str], int] = Bounded()

    def frame(self, frame: Frame) -> None:
        if frame.dir == "out" and member(frame.msg, "method") == "unsubscribe":
            channel = text(member(member(frame.msg, "params"), "channel"))
            if channel is not None:
                self._left[(frame.conn, channel)] = None
                self._leaving.setdefault(frame.conn, []).append(channel)

    def request(self, request: Request) -> None:
        self._departed.asked(request)
        channel = text(request.params.get("channel"))
        if request.method == "subscribe" and channel is not None:
            self._bare.pop(request.conn, None)
            self._left.pop((request.conn, channel), None)
            self._without.pop((request.conn, channel), None)
            self._ended.pop((request.conn, channel), None)
        elif request.method == "reconnect":
            self._had[request.conn] = self._before(request)
        leaving = self._leaving.pop(request.conn, None)
        if leaving:
            self._fences[(request.conn, request.id)] = leaving

    def _before(self, request: Request) -> set[str]:
        """The subscriptions of the connection that the same client had before."""
        client = request.params.get("clientId")
        old = [c for c in self.tracker.connections.values() if c.client_id == client and c.name != request.conn]
        return set(old[-1].subscribed) if client is not None and old else set()

    def reply(self, reply: Reply) -> None:
        self._departed.answered(reply)
        request = reply.request
        if request is None:
            return
        # The answer to a request made after unsubscribe shows that the host has taken it in.
        for channel in self._fences.pop((reply.conn, request.id), ()):
            if (reply.conn, channel) in self._left:
                self._without[(reply.conn, channel)] = "AHP-SUB-007"
        channel_asked = text(request.params.get("channel"))
        if request.method == "initialize" and not reply.failed and not request.params.get("initialSubscriptions"):
            self._bare[reply.conn] = None
        elif request.method == "subscribe" and reply.failed and channel_asked is not None:
            if channel_asked not in self.tracker.connection(reply.conn).subscribed:
                self._without[(reply.conn, channel_asked)] = "AHP-SUB-028"
        elif request.method == "reconnect" and not reply.failed:
            listed = set(texts(request.params.get("subscriptions")))
            for channel in texts(member(reply.result, "missing")):
                self._without[(reply.conn, channel)] = "AHP-RECON-027"
            for channel in self._had.pop(reply.conn, set()) - listed:
                self._without[(reply.conn, channel)] = "AHP-RECON-013"

    def envelope(self, envelope: Envelope) -> None:
        if envelope.type in CHANGES:
            self._departed.heard(envelope)
        if self._ended:
            self._after_the_end(envelope)
        who = envelope.by
        if who is not None and who[0] == self.tracker.connection(envelope.conn).client_id:
            # The echo of one's own dispatch may come without a subscription (ambiguity A-22).
            return
        if envelope.accepted:
            self._bystanders(envelope.conn, envelope.channel, "AHP-SUB-009")
        self.watch("AHP-SEQ-019")
        obligation = "AHP-SUB-009"
        if envelope.replayed:
            self.watch("AHP-RECON-005")
            missing = texts(member(member(envelope.frame.msg, "result"), "missing"))
            obligation = "AHP-RECON-027" if envelope.channel in missing else "AHP-RECON-005"
        self._judge(envelope.conn, envelope.channel, envelope.message, envelope.frame, obligation)
        if envelope.type == "session/chatRemoved" and envelope.accepted:
            chat = text(envelope.get("chat"))
            version = self.tracker.connection(envelope.conn).version
            # From 1.0.0 on a chat may be removed from one session because it moved to another.
            if chat is not None and version is not None and version < "1.0.0":
                self._ended[(envelope.conn, chat)] = envelope.frame.n
                self.watch("AHP-CHAT-054")
        elif envelope.type == "session/chatAdded":
            self._ended.pop((envelope.conn, text(member(envelope.get("summary"), "resource")) or ""), None)

    def _after_the_end(self, envelope: Envelope) -> None:
        """Nothing of a session whose disposal was answered and announced, nor of a chat that was removed."""
        channel, frame = envelope.channel, envelope.frame.n
        session = self._departed.since(channel, frame)
        if session is not None and (envelope.conn, session) in self._ended:
            chat = session != channel
            self._breach(
                ("AHP-SESS-043", "AHP-SESS-022") if chat and envelope.by is None else ("AHP-SESS-043",),
                "a message of a session that was disposed of",
                "nothing after root/sessionRemoved and the answer to disposeSession",
                envelope.message,
                envelope.frame,
            )
        elif self._is_late(envelope):
            return
        elif (envelope.conn, channel) in self._ended and envelope.kind == "chat" and session is None:
            self._breach(
                ("AHP-CHAT-054",),
                "a message of a chat that was removed",
                "nothing after session/chatRemoved",
                envelope.message,
                envelope.frame,
            )

    def _is_late(self, envelope: Envelope) -> bool:
        """Of a channel whose messages the client lets wait."""
        view = self.tracker.connection(envelope.conn).channels.get(envelope.channel)
        return view is not None and view.late

    def notification(self, notification: Notification) -> None:
        self._departed.told(notification)
        session = text(notification.params.get("session"))
        if notification.method == "root/sessionRemoved" and session is not None:
            self._ended[(notification.conn, session)] = notification.frame.n
            if self._departed.since(session, notification.frame.n) is not None:
                self.watch("AHP-SESS-022", "AHP-SESS-043")
        elif notification.method == "root/sessionAdded":
            self._ended.pop(
                (notification.conn, text(member(notification.params.get("summary"), "resource")) or ""), None
            )
        if not notification.method.startswith("root/") and notification.method != "auth/required":
            return
        channel = text(notification.params.get("channel"))
        if notification.method.startswith("root/") and channel != ROOT_URI:
            # That it names another channel is the matter of another rule.
            return
        if channel is not None and notification.method not in _FOR_ALL:
            self._bystanders(notification.conn, channel, "AHP-SUB-021")
            self._judge(notification.conn, channel, notification.params, notification.frame, "AHP-SUB-021")

    def _bystanders(self, conn: str, channel: str, obligation: str) -> None:
        """The rule is put to the test when somebody is there who must not get the message."""
        for other in islice(reversed(self.tracker.connections.values()), _LOOKED_AT):
            if other.name == conn or not other.fed or other.version is None or channel in other.asked:
                continue
            if channel not in other.subscribed:
                self.watch(obligation)
                why = self._without.get((other.name, channel))
                self.watch(*([why] if why is not None else []), *(["AHP-INIT-012"] if other.name in self._bare else []))

    def _judge(self, conn: str, channel: str, seen: Any, frame: Frame, obligation: str) -> None:
        view = self.tracker.connection(conn)
        if view.version is None or not self.tracker.begins(conn):
            return
        if channel in view.subscribed or view.asked.get(channel):
            # What a connection without a handshake has subscribed to, this recording does not tell.
            return
        if any(r.method == "subscribe" and r.params.get("channel") == channel for r in view.requests.values()):
            # One of several requests was refused, and another one is under way.
            return
        why = self._without.get((conn, channel))
        if why is not None and not obligation.startswith("AHP-RECON"):
            self._breach((why,), _WITHOUT[why], "nothing of it", seen, frame)
            return
        if (conn, channel) in self._left:
            # What was on its way when the client left may still arrive.
            return
        if conn in self._bare:
            self._breach(("AHP-INIT-012",), "a message for a client that asked for no channel", "nothing", seen, frame)
            return
        same = channel.rstrip("/").lower()
        twins = [uri for uri in view.subscribed if uri.rstrip("/").lower() == same]
        self._breach(
            ("AHP-SEQ-019" if twins and obligation == "AHP-SUB-009" else obligation,),
            "a message names its channel in another way than the subscription"
            if twins
            else "a message of a channel that the client has not subscribed to",
            f"one of {sorted(view.subscribed)}",
            seen,
            frame,
        )

    def _breach(self, obligations: tuple[str, ...], message: str, expected: str, seen: Any, frame: Frame) -> None:
        self.find(obligations, message, expected=expected, seen=seen, frame=frame.n)


class Vocabulary(Rule):
    """Only actions and notifications that the negotiated version knows, on channels of their kind."""

    name = "vocabulary"
    obligations = (
        "AHP-VER-001",
        "AHP-VER-004",
        "AHP-VER-111",
        "AHP-DISP-004",
        "AHP-DISP-005",
        "AHP-RECON-021",
        "AHP-ROOT-003",
        "AHP-SEQ-013",
        "AHP-SUB-020",
        "AHP-SUB-026",
    )

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        # Connections that name something of their own in the handshake, and those that came back.
        self._agreed: Bounded[str, None] = Bounded()
        self._resumed: Bounded[str, None] = Bounded()
        # Version, action and kind of channel that go together, so that each is looked into once.
        self._in_place: set[tuple[str, str, str | None]] = set()

    def request(self, request: Request) -> None:
        if request.method == "initialize" and '"x-' in encode(request.params):
            self._agreed[request.conn] = None

    def reply(self, reply: Reply) -> None:
        if reply.request is not None and reply.request.method == "reconnect" and not reply.failed:
            self._resumed[reply.conn] = None

    def dispatch(self, dispatch: Dispatch) -> None:
        name = text(member(dispatch.action, "type"))
        known = ACTIONS.get(name or "")
        if name is not None and known is None:
            self.watch("AHP-DISP-004")
        kind = self.tracker.kinds.get(dispatch.channel) or kind_of(dispatch.channel)
        if known is not None and kind is not None and known.channel != kind:
            self.watch("AHP-DISP-005")

    def envelope(self, envelope: Envelope) -> None:
        version = envelope.version
        if version is None or not envelope.type:
            return
        key = (version, envelope.type, envelope.kind)
        if not envelope.accepted or key not in self._in_place:
            self._look(envelope, version)
        else:
            self.watch("AHP-VER-001", "AHP-SEQ-013", *(["AHP-RECON-021"] if envelope.conn in self._resumed else []))
        # In the echo of a client's action the member may be the client's own.
        if envelope.origin is None and envelope.type.startswith(("session/", "chat/", "terminal/")):
            self._names_itself(envelope)

    def _look(self, envelope: Envelope, version: str) -> None:
        self.watch("AHP-VER-001")
        # A host that goes by the published registry may take an action for older than it is.
        unknown = not is_known_action(envelope.type, version) and not is_misdated(envelope.type, version)
        resumed = envelope.conn in self._resumed
        self.watch(*(["AHP-RECON-021"] if resumed else []))
        if unknown and envelope.accepted and not _own(envelope.type):
            broken = ["AHP-VER-001"]
            if envelope.type not in ACTIONS and envelope.by is not None:
                broken.append("AHP-DISP-004")
            elif resumed and envelope.type in ACTIONS:
                broken.append("AHP-RECON-021")
            self.find(
                tuple(broken),
                f"{envelope.type} is no action of {version}",
                expected=f"an action type of {version}",
                seen=envelope.message,
                frame=envelope.frame.n,
                once=(envelope.channel, repr(envelope.seq), version),
            )
        elif _own(envelope.type):
            self._of_its_own(envelope.conn, envelope.type, version, envelope.frame)
        known = ACTIONS.get(envelope.type)
        if envelope.kind in STATELESS_KINDS and envelope.accepted:
            self.find(
                "AHP-SUB-026",
                "an action on a stateless channel",
                expected="notifications of its own",
                seen=envelope.message,
                frame=envelope.frame.n,
            )
        elif known is not None and envelope.kind is not None and envelope.accepted:
            self.watch("AHP-SEQ-013", *(["AHP-ROOT-003"] if known.channel == "root" else []))
            if known.channel == envelope.kind and not unknown and known.channel != "root":
                self._in_place.add((version, envelope.type, envelope.kind))
            if known.channel != envelope.kind:
                broken = ["AHP-SEQ-013", *(["AHP-ROOT-003"] if known.channel == "root" else [])]
                if envelope.by is not None:
                    broken.append("AHP-DISP-005")
                self.find(
                    tuple(broken),
                    f"{envelope.type} on a channel of the kind {envelope.kind}",
                    expected=f"a {known.channel} channel",
                    seen=envelope.message,
                    frame=envelope.frame.n,
                    once=(envelope.channel, repr(envelope.seq)),
                )

    def _names_itself(self, envelope: Envelope) -> None:
        self.watch("AHP-SUB-020")
        if "session" in envelope.action or "terminal" in envelope.action:
            self.find(
                "AHP-SUB-020",
                "an action repeats its channel",
                expected="no member session or terminal",
                seen=envelope.message,
                frame=envelope.frame.n,
                once=(envelope.channel, repr(envelope.seq)),
            )

    def _of_its_own(self, conn: str, name: str, version: str, frame: Frame) -> None:
        """A name that no version has and that starts with x-: only for who agreed to it."""
        if version >= "0.8.0" and conn not in self._agreed and self.tracker.connection(conn).began:
            self.find(
                "AHP-VER-111",
                f"{name} is of the host's own, and the client did not ask for it",
                expected="nothing that the client did not agree to",
                seen=frame.msg,
                frame=frame.n,
                once=name,
            )

    def notification(self, notification: Notification) -> None:
        version = self.version(notification.conn)
        if version is None:
            return
        self.watch("AHP-VER-004", *(["AHP-VER-111"] if version >= "0.8.0" else []))
        if notification.method.startswith("otlp/"):
            self.watch("AHP-SUB-026")
        if not is_known_method(notification.method, version) and not is_forwarded(notification.frame.msg):
            known = METHODS.get(notification.method)
            if known is None and _own(notification.method):
                self._of_its_own(notification.conn, notification.method, version, notification.frame)
                return
            resumed = known is not None and notification.conn in self._resumed
            self.find(
                ("AHP-VER-004", "AHP-RECON-021") if resumed else "AHP-VER-004",
                f"{notification.method} is no notification of {version}",
                expected=f"a notification of {version}",
                seen=notification.frame.msg,
                frame=notification.frame.n,
            )


def _own(name: str) -> bool:
    """Names that start with x- are a host's own and never AHP's (from 0.8.0)."""
    return name.startswith("x-")
