"""Numbers: serverSeq grows on every connection, means one thing for everybody, and is not delivered twice."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Any

from conformance.oracle.memory import Bounded
from conformance.oracle.reading import dicts, member, text, whole
from conformance.oracle.rule import Rule
from conformance.oracle.tracker import Dispatch, Envelope, Reply, Request, Snapshot
from conformance.protocol import ACTIONS
from conformance.wire.frames import Frame

from .restarts import may_be_new

_RECENT = 256
"""How far back an envelope that comes once more is known by what it said."""

DISPATCHABLE = frozenset(name for name, action in ACTIONS.items() if action.client_dispatch is not None)
"""What a client may dispatch, in one version or another."""


@dataclass(slots=True)
class _Stream:
    """The envelopes of a channel on one connection.

    ``recent``: the last ones, with number, action, and whether in a replay. ``since``: the position of the last
    snapshot, and whether a reconnect brought it.
    """

    last: int | None = None
    recent: deque[tuple[int, Any, bool]] = field(default_factory=lambda: deque(maxlen=_RECENT))
    since: tuple[int, bool] | None = None

    def known_under(self, seq: int) -> tuple[int, Any, bool] | None:
        """What came under a number before. Numbers grow, so there is nothing to look for above the last one."""
        if self.last is None or seq > self.last:
            return None
        return next((entry for entry in self.recent if entry[0] == seq), None)


class Numbering(Rule):
    """serverSeq is a whole number that grows from one accepted envelope of a connection to the next."""

    name = "numbering"
    obligations = (
        "AHP-SEQ-001",
        "AHP-SEQ-003",
        "AHP-SEQ-016",
        "AHP-SUB-005",
        "AHP-SUB-013",
        "AHP-INIT-021",
        "AHP-INIT-034",
        "AHP-RECON-004",
        "AHP-RECON-009",
        "AHP-RECON-018",
    )

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        # The highest number of each connection, in a list that can be changed in place.
        self._last: Bounded[str, list[int]] = Bounded()
        self._streams: Bounded[tuple[str, str], _Stream] = Bounded()
        self._replay: Bounded[str, int] = Bounded()
        # The highest number that anybody knew when a handshake began; serverSeq of its result, with its frame.
        self._known: dict[str, int] = {}
        self._started: Bounded[str, tuple[int, int]] = Bounded()
        self._sent: Bounded[tuple[str, int], int] = Bounded()

    def frame(self, frame: Frame) -> None:
        """An action notification without an action is no envelope to anybody else."""
        if frame.dir != "in" or member(frame.msg, "method") != "action":
            return
        params = member(frame.msg, "params")
        if not isinstance(params, dict):
            return
        if params.get("rejectionReason") is not None:
            # What is refused may be as malformed as it was sent.
            return
        if not isinstance(params.get("action"), dict) or text(params.get("channel")) is None:
            self.find(
                "AHP-SEQ-003",
                "an envelope without channel or action",
                expected="a string channel and an action with a type",
                seen=params,
                frame=frame.n,
            )

    def envelope(self, envelope: Envelope) -> None:
        self.watch("AHP-SEQ-003")
        if envelope.replayed and self._replay.get(envelope.conn) != envelope.frame.n:
            # A client that asks for a replay gets again what it says it has not seen.
            self._replay[envelope.conn] = envelope.frame.n
            self._forget(envelope.conn)
        seq = whole(envelope.seq)
        if seq is None or (envelope.accepted and not envelope.type):
            self.find(
                "AHP-SEQ-003",
                "an envelope without serverSeq or action type",
                expected="a whole-number serverSeq and an action with a type",
                seen=envelope.message,
                frame=envelope.frame.n,
            )
            return
        if not envelope.accepted:
            # Whether a rejection takes a number of its own is open (ambiguity A-21).
            return
        stream = self._stream(envelope.conn, envelope.channel)
        self.watch("AHP-SUB-013", "AHP-SEQ-001")
        if envelope.replayed:
            self.watch("AHP-RECON-004")
        if envelope.by is not None:
            self._after_handshake(envelope, seq)
        known = stream.known_under(seq)
        if known is not None:
            same = known[1] == envelope.action
            self.find(
                ("AHP-SUB-013", *self._in_replay(envelope, known[2])) if same else "AHP-SEQ-001",
                "an envelope came twice on one connection" if same else "two envelopes of a channel share a number",
                expected=f"serverSeq {seq} once",
                seen=envelope.message,
                frame=envelope.frame.n,
            )
            return
        stream.recent.append((seq, envelope.action, envelope.replayed))
        if stream.since is not None:
            obligations = ("AHP-SUB-005", "AHP-RECON-018") if stream.since[1] else ("AHP-SUB-005",)
            self.watch(*obligations)
            if seq <= stream.since[0]:
                self.find(
                    obligations,
                    "an envelope from before the snapshot came after it",
                    expected=f"a serverSeq above the fromSeq {stream.since[0]}",
                    seen=envelope.message,
                    frame=envelope.frame.n,
                )
                return
        self._grows(envelope, seq, stream)

    def _stream(self, conn: str, channel: str) -> _Stream:
        stream = self._streams.get((conn, channel))
        if stream is None:
            stream = self._streams[(conn, channel)] = _Stream()
        return stream

    def _in_replay(self, envelope: Envelope, known_by_replay: bool) -> tuple[str, ...]:
        if envelope.replayed:
            return ("AHP-RECON-004",)
        return ("AHP-RECON-009",) if known_by_replay else ()

    def _after_handshake(self, envelope: Envelope, seq: int) -> None:
        """What a client dispatched after its handshake is numbered above the number that the handshake told."""
        who, started = envelope.by, self._started.get(envelope.conn)
        if who is None or started is None or self.tracker.connection(envelope.conn).client_id != who[0]:
            return
        if self._sent.get(who, -1) > started[1]:
            self.watch("AHP-INIT-021")
            if seq <= started[0]:
                self.find(
                    "AHP-INIT-021",
                    "serverSeq of the handshake is above that of a later action",
                    expected=f"a number above {started[0]}",
                    seen=envelope.message,
                    frame=envelope.frame.n,
                    once=envelope.conn,
                )

    def dispatch(self, dispatch: Dispatch) -> None:
        if dispatch.client_id is not None and isinstance(dispatch.client_seq, int):
            self._sent[(dispatch.client_id, dispatch.client_seq)] = dispatch.frame.n

    def _grows(self, envelope: Envelope, seq: int, stream: _Stream) -> None:
        more = ("AHP-RECON-004",) if envelope.replayed else ()
        if stream.last is not None and seq <= stream.last:
            self.find(
                ("AHP-SEQ-001", "AHP-SEQ-016", *more),
                "serverSeq does not grow on its channel",
                expected=f"a number above {stream.last}",
                seen=envelope.message,
                frame=envelope.frame.n,
            )
            return
        stream.last = seq
        view = self.tracker.connection(envelope.conn).channels.get(envelope.channel)
        if view is not None and view.late:
            # What a client lets wait comes after what it does not.
            return
        last = self._last.get(envelope.conn)
        if last is None:
            self._last[envelope.conn] = [seq]
            return
        self.watch("AHP-SEQ-016")
        if seq > last[0]:
            last[0] = seq
            return
        self.find(
            ("AHP-SEQ-016", *more),
            "serverSeq does not grow on its connection",
            expected=f"a number above {last[0]}",
            seen=envelope.message,
            frame=envelope.frame.n,
        )

    def _forget(self, conn: str) -> None:
        self._last.pop(conn, None)
        for place in [place for place in self._streams if place[0] == conn]:
            del self._streams[place]

    def snapshot(self, snapshot: Snapshot) -> None:
        if snapshot.from_seq is not None:
            returned = member(member(snapshot.frame.msg, "result"), "type") == "snapshot"
            self._stream(snapshot.conn, snapshot.channel).since = (snapshot.from_seq, returned)

    def gone(self, channel: str) -> None:
        for place in [place for place in self._streams if place[1] == channel]:
            del self._streams[place]

    def request(self, request: Request) -> None:
        if request.method == "initialize":
            client = request.params.get("clientId")
            # A connection that the same client had may be one to a host of before.
            others = [
                c.name
                for c in self.tracker.connections.values()
                if c.fed and c.name != request.conn and (client is None or c.client_id != client)
            ]
            self._known[request.conn] = max((self._last.get(name, [-1])[0] for name in others), default=-1)

    def reply(self, reply: Reply) -> None:
        if reply.request is None or reply.request.method != "initialize":
            return
        known = self._known.pop(reply.conn, -1)
        if not isinstance(reply.result, dict):
            return
        number = whole(reply.result.get("serverSeq"))
        if number is not None:
            self._started[reply.conn] = (number, reply.frame.n)
            self.watch(*(["AHP-INIT-021"] if known > -1 else []))
            if number < known:
                self.find(
                    "AHP-INIT-021",
                    "serverSeq of the handshake is below one that was told before",
                    expected=f"at least {known}",
                    seen=number,
                    frame=reply.frame.n,
                )
        for value in dicts(reply.result.get("snapshots")):
            position = whole(value.get("fromSeq"))
            if position is not None and number is not None:
                self.watch("AHP-INIT-034")
                if position > number:
                    self.find(
                        "AHP-INIT-034",
                        "a snapshot is younger than the result it came in",
                        expected=f"a fromSeq up to {number}",
                        seen=position,
                        frame=reply.frame.n,
                    )


class OneNumbering(Rule):
    """An accepted client action has the same number for everybody."""

    name = "one-numbering"
    hears = DISPATCHABLE
    obligations = ("AHP-SEQ-002",)

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._dispatched: Bounded[tuple[str, int], int] = Bounded()
        # The number of each dispatch with the connection that first told it, and the dispatch of each number.
        self._numbers: Bounded[tuple[str, int], tuple[int, str]] = Bounded()
        self._owners: Bounded[int, tuple[str, int]] = Bounded()

    def dispatch(self, dispatch: Dispatch) -> None:
        if dispatch.client_id is not None and isinstance(dispatch.client_seq, int):
            who = (dispatch.client_id, dispatch.client_seq)
            self._dispatched[who] = self._dispatched.get(who, 0) + 1

    def reply(self, reply: Reply) -> None:
        if may_be_new(self.tracker, reply):
            # A new host may count anew.
            self._numbers.clear()
            self._owners.clear()

    def envelope(self, envelope: Envelope) -> None:
        who, seq = envelope.by, whole(envelope.seq)
        # One clientSeq used twice by a client counts as two dispatches (ambiguity A-46).
        if who is None or not envelope.accepted or seq is None or self._dispatched.get(who) != 1:
            return
        known, first = self._numbers.setdefault(who, (seq, envelope.conn))
        owner = self._owners.setdefault(seq, who)
        if first != envelope.conn:
            self.watch("AHP-SEQ-002")
        if (known != seq and first != envelope.conn) or owner != who:
            self.find(
                "AHP-SEQ-002",
                "one client action has two numbers, or one number two client actions",
                expected=f"{known} for {who}",
                seen=envelope.message,
                frame=envelope.frame.n,
            )
