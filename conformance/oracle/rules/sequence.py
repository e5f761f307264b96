"""Numbers: serverSeq grows on every connection, means one thing for everybody, and is not delivered twice."""

from __future__ import annotations

from collections import deque
from typing import Any

from conformance.oracle.memory import Bounded
from conformance.oracle.reading import dicts, member, text, whole
from conformance.oracle.rule import Rule
from conformance.oracle.tracker import Dispatch, Envelope, Reply, Request, Snapshot
from conformance.protocol import ACTIONS
from conformance.wire.frames import Frame

_RECENT = 256
"""How far back an envelope that comes once more is known by what it said."""

DISPATCHABLE = frozenset(name for name, action in ACTIONS.items() if action.client_dispatch is not None)
"""What a client may dispatch, in one version or another."""


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
        self._last: Bounded[str, int] = Bounded()
        self._channel: Bounded[tuple[str, str], int] = Bounded()
        # The last envelopes of a place: number, action, and whether in a replay.
        self._seen: Bounded[tuple[str, str], deque[tuple[int, Any, bool]]] = Bounded()
        # The position of the last snapshot, and whether a reconnect brought it.
        self._from: Bounded[tuple[str, str], tuple[int, bool]] = Bounded()
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
        place = (envelope.conn, envelope.channel)
        self.watch("AHP-SUB-013", "AHP-SEQ-001")
        if envelope.replayed:
            self.watch("AHP-RECON-004")
        if envelope.origin is not None:
            self._after_handshake(envelope, seq)
        known = self._known_under(place, seq)
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
        recent = self._seen.get(place)
        if recent is None:
            recent = self._seen[place] = deque(maxlen=_RECENT)
        recent.append((seq, envelope.action, envelope.replayed))
        started = self._from.get(place)
        if started is not None:
            obligations = ("AHP-SUB-005", "AHP-RECON-018") if started[1] else ("AHP-SUB-005",)
            self.watch(*obligations)
            if seq <= started[0]:
                self.find(
                    obligations,
                    "an envelope from before the snapshot came after it",
                    expected=f"a serverSeq above the fromSeq {started[0]}",
                    seen=envelope.message,
                    frame=envelope.frame.n,
                )
                return
        self._grows(envelope, seq)

    def _known_under(self, place: tuple[str, str], seq: int) -> tuple[int, Any, bool] | None:
        """What came under a number before. Numbers grow, so there is nothing to look for above the last one."""
        if seq > self._channel.get(place, -1):
            return None
        return next((entry for entry in self._seen.get(place, ()) if entry[0] == seq), None)

    def _in_replay(self, envelope: Envelope, known_by_replay: bool) -> tuple[str, ...]:
        if envelope.replayed:
            return ("AHP-RECON-004",)
        return ("AHP-RECON-009",) if known_by_replay else ()

    def _after_handshake(self, envelope: Envelope, seq: int) -> None:
        """What a client dispatched after its handshake is numbered above the number that the handshake told."""
        who, started = origin_of(envelope), self._started.get(envelope.conn)
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

    def _grows(self, envelope: Envelope, seq: int) -> None:
        place = (envelope.conn, envelope.channel)
        more = ("AHP-RECON-004",) if envelope.replayed else ()
        last = self._channel.get(place)
        if last is not None and seq <= last:
            self.find(
                ("AHP-SEQ-001", "AHP-SEQ-016", *more),
                "serverSeq does not grow on its channel",
                expected=f"a number above {last}",
                seen=envelope.message,
                frame=envelope.frame.n,
            )
        elif envelope.conn in self._last:
            self.watch("AHP-SEQ-016")
            if seq <= self._last[envelope.conn]:
                self.find(
                    ("AHP-SEQ-016", *more),
                    "serverSeq does not grow on its connection",
                    expected=f"a number above {self._last[envelope.conn]}",
                    seen=envelope.message,
                    frame=envelope.frame.n,
                )
        self._channel[place] = max(seq, last if last is not None else seq)
        self._last[envelope.conn] = max(seq, self._last.get(envelope.conn, seq))

    def _forget(self, conn: str) -> None:
        self._last.pop(conn, None)
        books: tuple[dict[Any, Any], ...] = (self._channel, self._from, self._seen)
        for book in books:
            for key in [key for key in book if key[0] == conn]:
                del book[key]

    def snapshot(self, snapshot: Snapshot) -> None:
        if snapshot.from_seq is not None:
            returned = member(member(snapshot.frame.msg, "result"), "type") == "snapshot"
            self._from[(snapshot.conn, snapshot.channel)] = (snapshot.from_seq, returned)

    def gone(self, channel: str) -> None:
        books: tuple[dict[Any, Any], ...] = (self._channel, self._from, self._seen)
        for book in books:
            for key in [key for key in book if key[1] == channel]:
                del book[key]

    def request(self, request: Request) -> None:
        if request.method == "initialize":
            others = [c.name for c in self.tracker.connections.values() if c.fed and c.name != request.conn]
            self._known[request.conn] = max((self._last.get(name, -1) for name in others), default=-1)

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
        if reply.request is None or reply.request.method != "initialize" or reply.failed:
            return
        if not any(c.fed and c.version for c in self.tracker.connections.values() if c.name != reply.conn):
            # With nobody left the host may have been started anew, and a new host may count anew.
            self._numbers.clear()
            self._owners.clear()

    def envelope(self, envelope: Envelope) -> None:
        who, seq = origin_of(envelope), whole(envelope.seq)
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


def origin_of(envelope: Envelope) -> tuple[str, int] | None:
    """clientId and clientSeq of the dispatch that an envelope answers, or None."""
    client, number = text(member(envelope.origin, "clientId")), whole(member(envelope.origin, "clientSeq"))
    return (client, number) if client is not None and number is not None else None
