"""Numbers: serverSeq grows on every connection, means one thing for everybody, and is not delivered twice."""

from __future__ import annotations

from typing import Any

from conformance.oracle.reading import dicts, member, text, whole
from conformance.oracle.rule import Rule
from conformance.oracle.tracker import Dispatch, Envelope, Reply, Snapshot
from conformance.wire.frames import Frame


class Numbering(Rule):
    """serverSeq is a whole number that grows from one accepted envelope of a connection to the next."""

    name = "numbering"
    obligations = (
        "AHP-SEQ-001",
        "AHP-SEQ-003",
        "AHP-SEQ-016",
        "AHP-SUB-005",
        "AHP-SUB-013",
        "AHP-INIT-034",
    )

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._last: dict[str, int] = {}
        self._channel: dict[tuple[str, str], int] = {}
        self._seen: dict[tuple[str, str, int], Any] = {}
        self._from: dict[tuple[str, str], int] = {}
        self._replay: dict[str, int] = {}

    def frame(self, frame: Frame) -> None:
        """An action notification without an action is no envelope to anybody else."""
        params = member(frame.msg, "params")
        if frame.dir != "in" or member(frame.msg, "method") != "action" or not isinstance(params, dict):
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
        if (*place, seq) in self._seen:
            same = self._seen[(*place, seq)] == envelope.action
            self.find(
                "AHP-SUB-013" if same else "AHP-SEQ-001",
                "an envelope came twice on one connection" if same else "two envelopes of a channel share a number",
                expected=f"serverSeq {seq} once",
                seen=envelope.message,
                frame=envelope.frame.n,
            )
            return
        self._seen[(*place, seq)] = envelope.action
        started = self._from.get(place)
        if started is not None:
            self.watch("AHP-SUB-005")
            if seq <= started:
                self.find(
                    "AHP-SUB-005",
                    "an envelope from before the snapshot came after it",
                    expected=f"a serverSeq above the fromSeq {started}",
                    seen=envelope.message,
                    frame=envelope.frame.n,
                )
                return
        self._grows(envelope, seq)

    def _grows(self, envelope: Envelope, seq: int) -> None:
        place = (envelope.conn, envelope.channel)
        last = self._channel.get(place)
        if last is not None and seq <= last:
            self.find(
                ("AHP-SEQ-001", "AHP-SEQ-016"),
                "serverSeq does not grow on its channel",
                expected=f"a number above {last}",
                seen=envelope.message,
                frame=envelope.frame.n,
            )
        elif envelope.conn in self._last:
            self.watch("AHP-SEQ-016")
            if seq <= self._last[envelope.conn]:
                self.find(
                    "AHP-SEQ-016",
                    "serverSeq does not grow on its connection",
                    expected=f"a number above {self._last[envelope.conn]}",
                    seen=envelope.message,
                    frame=envelope.frame.n,
                )
        self._channel[place] = max(seq, last if last is not None else seq)
        self._last[envelope.conn] = max(seq, self._last.get(envelope.conn, seq))

    def _forget(self, conn: str) -> None:
        self._last.pop(conn, None)
        self._channel = {place: seq for place, seq in self._channel.items() if place[0] != conn}
        self._from = {place: seq for place, seq in self._from.items() if place[0] != conn}
        self._seen = {key: action for key, action in self._seen.items() if key[0] != conn}

    def snapshot(self, snapshot: Snapshot) -> None:
        if snapshot.from_seq is not None:
            self._from[(snapshot.conn, snapshot.channel)] = snapshot.from_seq

    def reply(self, reply: Reply) -> None:
        if reply.request is None or reply.request.method != "initialize" or not isinstance(reply.result, dict):
            return
        number = whole(reply.result.get("serverSeq"))
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
    obligations = ("AHP-SEQ-002",)

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._dispatched: dict[tuple[str, int], int] = {}
        # The number of each dispatch with the connection that first told it, and the dispatch of each number.
        self._numbers: dict[tuple[str, int], tuple[int, str]] = {}
        self._owners: dict[int, tuple[str, int]] = {}

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
