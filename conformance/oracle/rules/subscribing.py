"""What subscribe and the handshake hand out: a snapshot of what has state, of the channel that was asked for."""

from __future__ import annotations

from collections import Counter
from typing import Any

from conformance.oracle.memory import Bounded
from conformance.oracle.reading import dicts, member, text, texts, whole
from conformance.oracle.rule import Rule
from conformance.oracle.tracker import Envelope, Notification, Reply, Request
from conformance.protocol import ROOT_URI, STATE_TYPES, STATELESS_KINDS, kind_of, params_violations

from .existence import CHANGES, Departed

NOT_FOUND, AUTH_REQUIRED = -32001, -32007


class Subscribing(Rule):
    """A subscription of what exists has its snapshot; one of what does not is refused."""

    name = "subscribing"
    hears = CHANGES | {"session/creationFailed"}
    obligations = (
        "AHP-CHAT-019",
        "AHP-CHAT-020",
        "AHP-INIT-010",
        "AHP-INIT-012",
        "AHP-INIT-013",
        "AHP-SESS-004",
        "AHP-SESS-020",
        "AHP-SUB-001",
        "AHP-SUB-002",
        "AHP-SUB-004",
        "AHP-SUB-011",
        "AHP-SUB-012",
        "AHP-SUB-014",
        "AHP-SUB-018",
        "AHP-SUB-022",
        "AHP-SUB-025",
    )

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._departed = Departed(self.tracker)
        # Per connection and request: how far the client had followed the channel when it asked again.
        self._positions: dict[tuple[str, int | str], int] = {}
        # Sessions that a connection has asked for (False) or got (True), and refusals of early subscriptions.
        self._created: Bounded[tuple[str, str], bool] = Bounded()
        self._early: Bounded[tuple[str, str], Reply] = Bounded()
        # Refusals for sessions that had been created, unless their end is on its way.
        self._unserved: Bounded[tuple[str, str], Reply] = Bounded(256)
        # Channels without snapshot in the result of a handshake although others follow them.
        self._left_out: Bounded[tuple[str, str], int] = Bounded(256)

    def request(self, request: Request) -> None:
        self._departed.asked(request)
        channel = text(request.params.get("channel"))
        if channel is None:
            return
        if request.method == "subscribe":
            view = self.tracker.connection(request.conn).channels.get(channel)
            if view is not None and view.live:
                self._positions[(request.conn, request.id)] = view.position
        elif request.method == "createSession":
            self._created[(request.conn, channel)] = False
        elif request.method == "disposeSession":
            self._forget(channel)

    def _forget(self, session: str | None) -> None:
        for place in [place for place in self._created if place[1] == session]:
            del self._created[place]
            self._early.pop(place, None)
            self._unserved.pop(place, None)

    def envelope(self, envelope: Envelope) -> None:
        self._departed.heard(envelope)
        if envelope.type == "session/creationFailed":
            self._forget(envelope.channel)

    def notification(self, notification: Notification) -> None:
        self._departed.told(notification)
        if notification.method == "root/sessionRemoved":
            self._forget(text(notification.params.get("session")))

    def reply(self, reply: Reply) -> None:
        self._departed.answered(reply)
        request = reply.request
        if request is None:
            return
        channel = text(request.params.get("channel"))
        if request.method == "initialize" and not reply.failed:
            self._handshake(request, reply)
        elif request.method == "createSession" and channel is not None:
            self._session_made(reply, channel)
        elif request.method == "subscribe" and channel is not None:
            position = self._positions.pop((reply.conn, request.id), None)
            if self._departed.since(channel, request.frame.n) is not None:
                self._of_nothing(reply, request, channel)
            elif reply.failed:
                self._refused(reply, request, channel)
            elif isinstance(reply.result, dict) and "flowControl" not in reply.result:
                self._granted(reply, request, channel, position)

    # -- subscribe ------------------------------------------------------------------------------------

    def _session_made(self, reply: Reply, session: str) -> None:
        place = (reply.conn, session)
        early = self._early.pop(place, None)
        if reply.failed:
            self._created.pop(place, None)
        elif place in self._created:
            self._created[place] = True
            if early is not None:
                self._unserved[place] = early

    def _not_there(self, reply: Reply, session: str) -> None:
        self.find(
            "AHP-SESS-004",
            "a session that was created before cannot be subscribed to",
            expected=f"a snapshot of {session}",
            seen=reply.error,
            frame=reply.frame.n,
        )

    def _refused(self, reply: Reply, request: Request, channel: str) -> None:
        place = (reply.conn, channel)
        version = self.version(reply.conn)
        if whole(member(reply.error, "code")) == AUTH_REQUIRED:
            return
        if not version or params_violations(version, "subscribe", request.params):
            return
        if self._created.get(place):
            self._unserved[place] = reply
        elif place in self._created:
            self._early[place] = reply
        elif channel == ROOT_URI:
            self.find(
                "AHP-SUB-022",
                "the root channel cannot be subscribed to",
                expected="its snapshot",
                seen=reply.error,
                frame=reply.frame.n,
            )

    def _of_nothing(self, reply: Reply, request: Request, channel: str) -> None:
        """A channel that had ended before the client asked for it."""
        ended = self._departed.since(channel, request.frame.n)
        if ended != channel:
            broken = ("AHP-CHAT-020", "AHP-SUB-012")
        elif (self.tracker.kinds.get(channel) or kind_of(channel)) == "chat":
            broken = ("AHP-CHAT-019", "AHP-SUB-012")
        else:
            broken = ("AHP-SESS-020", "AHP-SUB-011")
        self.watch(*broken)
        if not reply.failed:
            self.find(
                broken,
                "a channel that was disposed of can be subscribed to",
                expected="an error",
                seen=reply.frame.msg,
                frame=reply.frame.n,
            )
        elif "AHP-SUB-011" in broken:
            self.watch("AHP-SUB-025")
            if whole(member(reply.error, "code")) not in (NOT_FOUND, AUTH_REQUIRED):
                self.find(
                    "AHP-SUB-025",
                    "the error for a session that does not exist has another code",
                    expected=NOT_FOUND,
                    seen=reply.error,
                    frame=reply.frame.n,
                )

    def _granted(self, reply: Reply, request: Request, channel: str, position: int | None) -> None:
        kind = self.tracker.kinds.get(channel) or kind_of(channel)
        snapshot = reply.result.get("snapshot")
        if (reply.conn, channel) in self._created:
            self.watch("AHP-SESS-004")
        if kind in STATELESS_KINDS:
            self.watch("AHP-SUB-004")
            if snapshot is not None:
                self._wrong(reply, "AHP-SUB-004", "a stateless channel has a snapshot", "no snapshot", snapshot)
            return
        if kind in STATE_TYPES:
            self.watch("AHP-SUB-001", *(["AHP-SUB-022"] if channel == ROOT_URI else []))
            if not isinstance(snapshot, dict):
                self._wrong(reply, "AHP-SUB-001", "a channel with state has no snapshot", "a snapshot", reply.result)
        if not isinstance(snapshot, dict):
            return
        self.watch("AHP-SUB-002")
        if snapshot.get("resource") != channel:
            self._wrong(reply, "AHP-SUB-002", "the snapshot is one of another channel", channel, snapshot)
            return
        if position is not None:
            self.watch("AHP-SUB-014")
            taken = whole(snapshot.get("fromSeq"))
            if taken is not None and taken < position:
                message = "a fresh snapshot is older than what the client had been told"
                self._wrong(reply, "AHP-SUB-014", message, f"a fromSeq from {position} on", taken)
        if kind == "chat" and whole(member(request.params.get("view"), "turns")) is None:
            self.watch("AHP-SUB-018")
            if member(snapshot.get("state"), "turnsNextCursor") is not None:
                message = "turns were left out although the client did not ask for fewer"
                cursor = member(snapshot.get("state"), "turnsNextCursor")
                self._wrong(reply, "AHP-SUB-018", message, "every turn and no turnsNextCursor", cursor)

    # -- the handshake --------------------------------------------------------------------------------

    def _handshake(self, request: Request, reply: Reply) -> None:
        asked = request.params.get("initialSubscriptions")
        given = member(reply.result, "snapshots")
        if (asked is not None and not isinstance(asked, list)) or not isinstance(given, list):
            return
        shown = [text(snapshot.get("resource")) for snapshot in dicts(given)]
        if not asked:
            self.watch("AHP-INIT-012")
            if shown:
                self._wrong(reply, "AHP-INIT-012", "snapshots that were not asked for", "none", shown)
            return
        self.watch("AHP-INIT-010")
        # Who names a channel twice may get it twice.
        if Counter(shown) - Counter(texts(asked)) and len(set(shown)) < len(shown):
            self._wrong(reply, "AHP-INIT-010", "two snapshots of one channel", "one for each channel", shown)
        for uri in dict.fromkeys(texts(asked)):
            if kind_of(uri) in STATELESS_KINDS:
                self.watch("AHP-INIT-013")
                if uri in shown:
                    self._wrong(reply, "AHP-INIT-013", "a stateless channel has a snapshot", "none of it", shown)
            elif uri in shown or self._departed.since(uri, request.frame.n):
                continue
            elif uri == ROOT_URI:
                self._wrong(reply, "AHP-INIT-010", "the root channel has no snapshot", asked, shown)
            elif any(view.live and c.fed and c.version is not None for c, view in self.tracker.views(uri)):
                self._left_out[(reply.conn, uri)] = reply.frame.n

    def gone(self, channel: str) -> None:
        for left in [left for left in self._left_out if left[1] == channel]:
            del self._left_out[left]

    def end(self) -> None:
        """A channel that nobody has seen end was there all the time."""
        if not self.tracker.settled:
            return
        for (_, session), reply in self._unserved.items():
            if self._departed.is_watched():
                self._not_there(reply, session)
        for (_, uri), frame in self._left_out.items():
            if self._departed.is_there(uri):
                self.find(
                    "AHP-INIT-010",
                    "a channel that exists has no snapshot in the handshake",
                    expected=f"a snapshot of {uri}",
                    seen="none",
                    frame=frame,
                )

    def _wrong(self, reply: Reply, obligation: str, message: str, expected: Any, seen: Any) -> None:
        self.find(obligation, message, expected=expected, seen=seen, frame=reply.frame.n)
