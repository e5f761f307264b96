"""Whose action it was: origins, rejections, and what an echo says of the dispatch that it answers."""

from __future__ import annotations

from typing import Any

from conformance.oracle.comparing import difference, without_nulls
from conformance.oracle.memory import Bounded
from conformance.oracle.reading import member, text
from conformance.oracle.rule import Rule
from conformance.oracle.tracker import Dispatch, Envelope, Notification, Reply, Request
from conformance.protocol import ACTIONS, action_violations, client_may_dispatch, is_known_action

from .existence import CHANGES, Departed

# Host-only actions for which an obligation of their own says that no client is named as their origin.
_OWN = {
    "chat/toolCallAuthRequired": "AHP-TOOLAUTH-082",
    "chat/toolCallAuthResolved": "AHP-TOOLAUTH-082",
    "session/inputNeededSet": "AHP-INPUT-030",
    "session/inputNeededRemoved": "AHP-INPUT-030",
}
# What a host breaks that carries out an action of a client which is reserved to hosts, by the kind of its channel.
_RESERVED = {
    "chat": "AHP-ORIGIN-003",
    "session": "AHP-ORIGIN-004",
    "terminal": "AHP-ORIGIN-005",
    "changeset": "AHP-ORIGIN-006",
    "root": "AHP-ORIGIN-017",
}
# Who moves the default chat is open (A-12, AMB-03).
_OPEN = frozenset({"session/defaultChatChanged"})
# Members that the host may rewrite in an accepted echo (from 0.7.0 an edited tool input becomes a reference).
_REWRITABLE = frozenset({"editedToolInput", "_meta"})


class Origins(Rule):
    """An echo names the dispatch that it answers; what the host says by itself names nobody."""

    name = "origins"
    obligations = (
        *_RESERVED.values(),
        "AHP-INIT-028",
        "AHP-DISP-002",
        "AHP-DISP-003",
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
        self._departed = Departed(self.tracker)
        # Clients of which this recording holds everything that they ever dispatched.
        self._ours: Bounded[str, None] = Bounded()
        self._dispatched: Bounded[tuple[str, int], list[Dispatch]] = Bounded()
        self._echoed: Bounded[tuple[str, str, int], None] = Bounded()
        self._order: Bounded[tuple[str, str], int] = Bounded()
        # Dispatches on a channel that their client follows, until they are answered.
        self._unanswered: Bounded[tuple[str, int], Dispatch] = Bounded(256)
        # Whether each dispatch was accepted, with the connection that first told it.
        self._fate: Bounded[tuple[str, int], tuple[bool, str]] = Bounded()

    def request(self, request: Request) -> None:
        self._departed.asked(request)

    def reply(self, reply: Reply) -> None:
        self._departed.answered(reply)
        client = self.tracker.connection(reply.conn).client_id
        if reply.request is not None and reply.request.method == "initialize" and client is not None:
            self._ours.update({client: None} if not reply.failed else {})

    def notification(self, notification: Notification) -> None:
        self._departed.told(notification)

    def gone(self, channel: str) -> None:
        for who in [who for who, dispatch in self._unanswered.items() if dispatch.channel == channel]:
            del self._unanswered[who]

    def dispatch(self, dispatch: Dispatch) -> None:
        if dispatch.client_id is None or not isinstance(dispatch.client_seq, int):
            return
        who = (dispatch.client_id, dispatch.client_seq)
        self._dispatched.setdefault(who, []).append(dispatch)
        view = self.tracker.connection(dispatch.conn).channels.get(dispatch.channel)
        if view is not None and view.live:
            self._unanswered[who] = dispatch
        if self._departed.since(dispatch.channel, dispatch.frame.n) is not None:
            self.watch("AHP-DISP-002")

    def envelope(self, envelope: Envelope) -> None:
        self.watch("AHP-SEQ-017")
        name = envelope.type
        if name in CHANGES:
            self._departed.heard(envelope)
        if "origin" in envelope.message and envelope.origin is None:
            self.find(
                "AHP-SEQ-017",
                "origin is null",
                expected="no member origin",
                seen=envelope.message,
                frame=envelope.frame.n,
            )
        if "rejectionReason" in envelope.message:
            self._rejection(envelope)
        who = envelope.by if envelope.origin is not None else None
        if who is None:
            if name in _OWN:
                self.watch(_OWN[name])
            if envelope.rejection is None and name.startswith(("chat/", "session/")):
                self.watch("AHP-SEQ-004")
        elif who[0] not in self._ours:
            self._stranger(envelope, who)
        elif not (envelope.accepted and self._host_only(envelope, who)):
            self._answers(envelope, who)

    def _stranger(self, envelope: Envelope, who: tuple[str, int]) -> None:
        """An envelope of a client that was never seen, and that says just what one of ours dispatched."""
        if any(connection.client_id == who[0] for connection in self.tracker.connections.values()):
            return
        for (client, number), sent in self._unanswered.items():
            if number == who[1] and sent.channel == envelope.channel and sent.action == envelope.action:
                self.find(
                    "AHP-INIT-028",
                    "the clientId of a dispatch comes back altered",
                    expected=client,
                    seen=who[0],
                    frame=envelope.frame.n,
                    once=client,
                )
                return

    def _rejection(self, envelope: Envelope) -> None:
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
        version = envelope.version
        if version is None or client_may_dispatch(envelope.type, version):
            return False
        if any(_type(d) == envelope.type for d in self._dispatched.get(who, [])):
            return self._reserved(envelope, version)
        self.find(
            tuple(dict.fromkeys((_OWN.get(envelope.type, "AHP-SEQ-004"), "AHP-SEQ-004"))),
            f"{envelope.type} names a client as its origin",
            expected="no origin",
            seen=envelope.message,
            frame=envelope.frame.n,
            once=(envelope.channel, repr(envelope.seq)),
        )
        return True

    def _reserved(self, envelope: Envelope, version: str) -> bool:
        """An action that is reserved to hosts, and that a client dispatched and sees accepted."""
        known = ACTIONS.get(envelope.type)
        if known is None or known.channel not in _RESERVED or envelope.type in _OPEN:
            return False
        if not is_known_action(envelope.type, version):
            return False
        self.find(
            _RESERVED[known.channel],
            f"{envelope.type} of a client was carried out",
            expected="a rejection, or nothing",
            seen=envelope.message,
            frame=envelope.frame.n,
            once=(envelope.channel, repr(envelope.seq)),
        )
        return False

    def _refuses(self, envelope: Envelope) -> None:
        """A rejected echo of an action that is reserved to hosts."""
        version, known = envelope.version, ACTIONS.get(envelope.type)
        if version is not None and known is not None and not client_may_dispatch(envelope.type, version):
            self.watch("AHP-DISP-003", *([_RESERVED[known.channel]] if known.channel in _RESERVED else []))

    def end(self) -> None:
        """Echoes keep the order of the dispatches: what is unanswered when a later one was answered stays so."""
        for who, dispatch in self._unanswered.items() if self.tracker.settled else ():
            connection = self.tracker.connection(dispatch.conn)
            view, version = connection.channels.get(dispatch.channel), connection.version
            if version is None or not connection.fed or view is None or not view.live or who[0] not in self._ours:
                continue
            if len(self._dispatched.get(who, ())) != 1:
                continue
            if connection.left.get(dispatch.channel, -1) > dispatch.frame.n:
                # It was away from the channel for a while.
                continue
            if self._order.get((dispatch.conn, dispatch.channel), -1) < dispatch.frame.n:
                continue
            name = _type(dispatch)
            if not is_known_action(name, version) or action_violations(version, dispatch.action):
                continue
            if ACTIONS[name].channel == view.kind and name not in _OPEN:
                allowed = client_may_dispatch(name, version)
                self.find(
                    "AHP-SEQ-007" if allowed else "AHP-DISP-003",
                    "a dispatch was not answered although a later one was",
                    expected="one envelope with its origin" if allowed else "a rejection",
                    seen=dispatch.action,
                    frame=dispatch.frame.n,
                )

    def _answers(self, envelope: Envelope, who: tuple[str, int]) -> None:
        self._unanswered.pop(who, None)
        dispatched = self._dispatched.get(who, [])
        # One clientSeq used twice by a client counts as two dispatches (ambiguity A-46).
        if len(dispatched) > 1:
            return
        self.watch("AHP-SEQ-005")
        if not dispatched or _type(dispatched[0]) != envelope.type or dispatched[0].channel != envelope.channel:
            self._misnamed(envelope, who, dispatched)
            return
        if self._departed.since(envelope.channel, dispatched[0].frame.n) is not None:
            self.find(
                "AHP-DISP-002",
                "an action for a channel that was disposed of is answered",
                expected="nothing",
                seen=envelope.message,
                frame=envelope.frame.n,
                once=(envelope.channel, repr(envelope.seq)),
            )
        if not envelope.accepted:
            self._refuses(envelope)
        if self.tracker.connection(envelope.conn).client_id == who[0]:
            if not (who[0].isascii() and who[0].isprintable()) or " " in who[0] or len(who[0]) > 100:
                self.watch("AHP-INIT-028")
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
        self._echoed[key] = None
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
        found = difference(wanted, without_nulls(envelope.action), envelope.version, contained=True)
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
