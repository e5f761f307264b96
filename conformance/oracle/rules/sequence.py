"""Numbers: serverSeq grows on every connection, means one thing for everybody, and is not delivered twice."""

from __future__ import annotations

from typing import Any

from conformance.oracle.rule import Rule
from conformance.oracle.tracker import Envelope, Reply, Snapshot


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
        self._seen: set[tuple[str, str, int]] = set()
        self._from: dict[tuple[str, str], int] = {}

    def envelope(self, envelope: Envelope) -> None:
        self.watch("AHP-SEQ-003")
        seq = envelope.seq
        if not isinstance(seq, int) or isinstance(seq, bool) or not envelope.type:
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
            self.find(
                "AHP-SUB-013",
                "an envelope came twice on one connection",
                expected=f"serverSeq {seq} once",
                seen=envelope.message,
                frame=envelope.frame.n,
            )
            return
        self._seen.add((*place, seq))
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

    def snapshot(self, snapshot: Snapshot) -> None:
        if isinstance(snapshot.from_seq, int):
            self._from[(snapshot.conn, snapshot.channel)] = snapshot.from_seq

    def reply(self, reply: Reply) -> None:
        if reply.request is None or reply.request.method != "initialize" or not isinstance(reply.result, dict):
            return
        number = reply.result.get("serverSeq")
        for value in reply.result.get("snapshots") or ():
            position = value.get("fromSeq") if isinstance(value, dict) else None
            if isinstance(position, int) and isinstance(number, int):
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
        self._numbers: dict[tuple[str, int], int] = {}
        self._owners: dict[int, tuple[str, int]] = {}

    def envelope(self, envelope: Envelope) -> None:
        who = origin_of(envelope)
        if who is None or not envelope.accepted or not isinstance(envelope.seq, int):
            return
        self.watch("AHP-SEQ-002")
        known = self._numbers.setdefault(who, envelope.seq)
        owner = self._owners.setdefault(envelope.seq, who)
        if known != envelope.seq or owner != who:
            self.find(
                "AHP-SEQ-002",
                "one client action has two numbers, or one number two client actions",
                expected=f"{known} for {who}",
                seen=envelope.message,
                frame=envelope.frame.n,
            )


def origin_of(envelope: Envelope) -> tuple[str, int] | None:
    """clientId and clientSeq of the dispatch that an envelope answers, or None."""
    origin = envelope.origin
    if not isinstance(origin, dict):
        return None
    client, number = origin.get("clientId"), origin.get("clientSeq")
    return (client, number) if isinstance(client, str) and isinstance(number, int) else None
