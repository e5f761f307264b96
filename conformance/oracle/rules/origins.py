"""Whose action it was: origins, rejections, and what an echo says of the dispatch that it answers."""

from __future__ import annotations

from typing import Any

from conformance.oracle.comparing import difference, without_nulls
from conformance.oracle.reading import member, text
from conformance.oracle.rule import Rule
from conformance.oracle.tracker import Dispatch, Envelope
from conformance.protocol import client_may_dispatch

from .sequence import origin_of

# Host-only actions for which an obligation of their own says that no client is named as their origin.
_OWN = {
    "chat/toolCallAuthRequired": "AHP-TOOLAUTH-082",
    "chat/toolCallAuthResolved": "AHP-TOOLAUTH-082",
    "session/inputNeededSet": "AHP-INPUT-030",
    "session/inputNeededRemoved": "AHP-INPUT-030",
}
# Members that the host may rewrite in an accepted echo (from 0.7.0 an edited tool input becomes a reference).
_REWRITABLE = frozenset({"editedToolInput", "_meta"})


class Origins(Rule):
    """An echo names the dispatch that it answers; what the host says by itself names nobody."""

    name = "origins"
    obligations = (
        "AHP-SEQ-004",
        "AHP-SEQ-005",
        "AHP-SEQ-007",
        "AHP-SEQ-008",
        "AHP-SEQ-012",
        "AHP-SEQ-015",
        "AHP-SEQ-017",
        "AHP-SEQ-018",
        "AHP-TOOLAUTH-082",
        "AHP-INPUT-030",
    )

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._dispatched: dict[tuple[str, int], list[Dispatch]] = {}
        self._echoed: set[tuple[str, str, int]] = set()
        self._order: dict[tuple[str, str], int] = {}
        # Whether each dispatch was accepted, with the connection that first told it.
        self._fate: dict[tuple[str, int], tuple[bool, str]] = {}

    def dispatch(self, dispatch: Dispatch) -> None:
        if dispatch.client_id is not None and isinstance(dispatch.client_seq, int):
            self._dispatched.setdefault((dispatch.client_id, dispatch.client_seq), []).append(dispatch)

    def envelope(self, envelope: Envelope) -> None:
        self.watch("AHP-SEQ-017")
        if "origin" in envelope.message and envelope.origin is None:
            self.find(
                "AHP-SEQ-017",
                "origin is null",
                expected="no member origin",
                seen=envelope.message,
                frame=envelope.frame.n,
            )
        self._rejection(envelope)
        who = origin_of(envelope)
        if who is None:
            if envelope.type in _OWN:
                self.watch(_OWN[envelope.type])
            if envelope.accepted and envelope.type.startswith(("chat/", "session/")):
                self.watch("AHP-SEQ-004")
        elif self._is_ours(who[0]) and not (envelope.accepted and self._host_only(envelope, who)):
            self._answers(envelope, who)

    def _is_ours(self, client_id: str) -> bool:
        """Whether this recording holds everything that the client ever dispatched."""
        return any(c.client_id == client_id and c.began for c in self.tracker.connections.values())

    def _rejection(self, envelope: Envelope) -> None:
        if "rejectionReason" not in envelope.message:
            return
        self.watch("AHP-SEQ-012")
        reason = envelope.message["rejectionReason"]
        if not isinstance(reason, str) or not reason:
            self.find(
                "AHP-SEQ-012",
                "rejectionReason is no text",
                expected="a non-empty string",
                seen=reason,
                frame=envelope.frame.n,
            )

    def _host_only(self, envelope: Envelope, who: tuple[str, int]) -> bool:
        """Whether the host names a client as the origin of what only hosts may say."""
        version = self.version(envelope.conn)
        if version is None or client_may_dispatch(envelope.type, version):
            return False
        if any(_type(d) == envelope.type for d in self._dispatched.get(who, [])):
            # The client did dispatch it, and it should have been refused: another rule's matter.
            return False
        self.find(
            tuple(dict.fromkeys((_OWN.get(envelope.type, "AHP-SEQ-004"), "AHP-SEQ-004"))),
            f"{envelope.type} names a client as its origin",
            expected="no origin",
            seen=envelope.message,
            frame=envelope.frame.n,
            once=(envelope.channel, repr(envelope.seq)),
        )
        return True

    def _answers(self, envelope: Envelope, who: tuple[str, int]) -> None:
        dispatched = self._dispatched.get(who, [])
        # One clientSeq used twice by a client counts as two dispatches (ambiguity A-46).
        if len(dispatched) > 1:
            return
        self.watch("AHP-SEQ-005")
        if not dispatched or _type(dispatched[0]) != envelope.type or dispatched[0].channel != envelope.channel:
            self._misnamed(envelope, who, dispatched)
            return
        if self.tracker.connection(envelope.conn).client_id == who[0]:
            self._own_echo(envelope, who)
        if envelope.accepted and isinstance(dispatched[0].action, dict):
            self._same_members(envelope, dispatched[0])
        self._one_fate(envelope, who)

    def _misnamed(self, envelope: Envelope, who: tuple[str, int], dispatched: list[Dispatch]) -> None:
        """No such dispatch: either the origin of one is told wrong, or the host speaks in a client's name."""
        meant = [
            d
            for (client, _), several in self._dispatched.items()
            for d in several
            if client == who[0] and _type(d) == envelope.type
        ]
        self.find(
            "AHP-SEQ-005" if meant else "AHP-SEQ-004",
            "the echo of a dispatch names another one as its origin"
            if meant
            else "an envelope names a client as its origin that dispatched no such action",
            expected={"clientSeq": [d.client_seq for d in meant]} if meant else "no origin",
            seen={"envelope": envelope.message, "dispatched": [d.action for d in dispatched]},
            frame=envelope.frame.n,
            once=(envelope.channel, repr(envelope.seq)),
        )

    def _own_echo(self, envelope: Envelope, who: tuple[str, int]) -> None:
        self.watch("AHP-SEQ-007", "AHP-SEQ-008")
        key = (envelope.conn, *who)
        if key in self._echoed and not envelope.replayed:
            self.find(
                "AHP-SEQ-007",
                "a dispatch was answered twice",
                expected="one envelope with its origin",
                seen=envelope.message,
                frame=envelope.frame.n,
            )
        self._echoed.add(key)
        place = (envelope.conn, envelope.channel)
        sent = self._dispatched[who][0].frame.n
        if sent < self._order.get(place, -1):
            self.find(
                "AHP-SEQ-008",
                "echoes come in another order than the dispatches",
                expected="the order of the dispatches",
                seen=envelope.message,
                frame=envelope.frame.n,
            )
        self._order[place] = max(sent, self._order.get(place, -1))

    def _same_members(self, envelope: Envelope, sent: Dispatch) -> None:
        self.watch("AHP-SEQ-015")
        wanted = {k: v for k, v in without_nulls(sent.action).items() if k not in _REWRITABLE}
        found = difference(wanted, without_nulls(envelope.action), self.version(envelope.conn), contained=True)
        if found is not None:
            self.find(
                "AHP-SEQ-015",
                f"the accepted echo is not what was dispatched, at {found.path}",
                expected=found.left,
                seen=found.right,
                frame=envelope.frame.n,
                once=(envelope.channel, repr(envelope.seq)),
            )

    def _one_fate(self, envelope: Envelope, who: tuple[str, int]) -> None:
        accepted, first = self._fate.setdefault(who, (envelope.accepted, envelope.conn))
        if first == envelope.conn:
            return
        self.watch("AHP-SEQ-018")
        if accepted != envelope.accepted:
            self.find(
                "AHP-SEQ-018",
                "one client got the action as accepted and another one as rejected",
                expected="one outcome for everybody",
                seen=envelope.message,
                frame=envelope.frame.n,
            )


def _type(dispatch: Dispatch) -> str:
    return text(member(dispatch.action, "type")) or ""
