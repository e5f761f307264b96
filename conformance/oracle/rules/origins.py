"""Whose action it was: origins, rejections, and what an echo says of the dispatch that it answers."""

from __future__ import annotations

from typing import Any

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
        self._fate: dict[tuple[str, int], bool] = {}

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
        if who is not None and envelope.accepted:
            self._host_only(envelope, who)
        if who is None:
            if envelope.type in _OWN:
                self.watch(_OWN[envelope.type])
            if envelope.accepted and envelope.type.startswith(("chat/", "session/")):
                self.watch("AHP-SEQ-004")
            return
        self._answers(envelope, who)

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

    def _host_only(self, envelope: Envelope, who: tuple[str, int]) -> None:
        version = self.version(envelope.conn)
        if version is None or client_may_dispatch(envelope.type, version):
            return
        dispatched = self._dispatched.get(who, [])
        if any(_type(d) == envelope.type for d in dispatched):
            # The client did dispatch it, and it should have been refused: another rule's matter.
            return
        self.watch("AHP-SEQ-004")
        self.find(
            tuple(dict.fromkeys((_OWN.get(envelope.type, "AHP-SEQ-004"), "AHP-SEQ-004"))),
            f"{envelope.type} names a client as its origin",
            expected="no origin",
            seen=envelope.message,
            frame=envelope.frame.n,
        )

    def _answers(self, envelope: Envelope, who: tuple[str, int]) -> None:
        dispatched = self._dispatched.get(who)
        if not dispatched:
            return
        mine = self.tracker.connection(envelope.conn).client_id == who[0]
        # One clientSeq used twice by a client counts as two dispatches (ambiguity A-46).
        if len(dispatched) > 1:
            return
        sent = dispatched[0]
        if mine:
            self._own_echo(envelope, who)
        self.watch("AHP-SEQ-005")
        if _type(sent) != envelope.type or sent.channel != envelope.channel:
            if client_may_dispatch(envelope.type, self.version(envelope.conn) or "0.6.0"):
                self.find(
                    "AHP-SEQ-005",
                    "an envelope names a dispatch of another action as its origin",
                    expected={"channel": sent.channel, "action": sent.action},
                    seen=envelope.message,
                    frame=envelope.frame.n,
                )
            return
        if envelope.accepted:
            self._same_members(envelope, sent)
        self._one_fate(envelope, who)

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
        if not isinstance(sent.action, dict):
            return
        changed = [
            member
            for member, value in sent.action.items()
            if member not in _REWRITABLE and value is not None and envelope.action.get(member) != value
        ]
        if changed:
            self.find(
                "AHP-SEQ-015",
                f"the accepted echo has other values of {', '.join(changed)}",
                expected={m: sent.action[m] for m in changed},
                seen={m: envelope.action.get(m) for m in changed},
                frame=envelope.frame.n,
            )

    def _one_fate(self, envelope: Envelope, who: tuple[str, int]) -> None:
        self.watch("AHP-SEQ-018")
        fate = self._fate.setdefault(who, envelope.accepted)
        if fate != envelope.accepted:
            self.find(
                "AHP-SEQ-018",
                "one client got the action as accepted and another one as rejected",
                expected="one outcome for everybody",
                seen=envelope.message,
                frame=envelope.frame.n,
            )


def _type(dispatch: Dispatch) -> Any:
    return dispatch.action.get("type") if isinstance(dispatch.action, dict) else None
