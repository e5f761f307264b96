"""What clients do about a blocked call: which of it the host accepts."""

from __future__ import annotations

from typing import Any

from conformance.oracle.memory import Bounded
from conformance.oracle.reading import active_turn, call_in, chats_in, member, text
from conformance.oracle.rule import Rule
from conformance.oracle.tracker import Dispatch, Envelope
from conformance.protocol import action_violations

_OURS = ("chat/toolCallAuthRequired", "chat/toolCallAuthResolved")
_OUTPUT = ("chat/toolCallContentChanged", "chat/toolCallResultConfirmed")


class BlockedCalls(Rule):
    """Any client may give a blocked call up, and none may say more about it."""

    name = "blocked-calls"
    obligations = ("AHP-TOOLAUTH-039", "AHP-TOOLAUTH-040", "AHP-TOOLAUTH-045", "AHP-TOOLAUTH-046")
    hears = frozenset({*_OURS, *_OUTPUT, "chat/toolCallComplete", "chat/turnStarted"})

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        # Dispatches by which a client gives up a call that it sees blocked, and who has started which turn.
        self._given_up: Bounded[tuple[str, int], None] = Bounded()
        # Dispatches of what only hosts may say.
        self._said: Bounded[tuple[str, int], None] = Bounded()
        self._starters: Bounded[tuple[str, str], str | None] = Bounded()

    def dispatch(self, dispatch: Dispatch) -> None:
        action, version = dispatch.action, self.version(dispatch.conn)
        if dispatch.client_id is None or not isinstance(dispatch.client_seq, int):
            return
        if member(action, "type") in _OURS:
            self._said[(dispatch.client_id, dispatch.client_seq)] = None
        if (
            member(action, "type") != "chat/toolCallComplete"
            or member(member(action, "result"), "success") is not False
        ):
            return
        view = self.tracker.connection(dispatch.conn).channels.get(dispatch.channel)
        if view is None or not view.live:
            return
        if version is not None and _is_blocked(view.state, action) and not action_violations(version, action):
            self._given_up[(dispatch.client_id, dispatch.client_seq)] = None

    def envelope(self, envelope: Envelope) -> None:
        who = envelope.by
        if envelope.type == "chat/turnStarted":
            if envelope.accepted:
                starter = who[0] if who is not None else None
                self._starters[(envelope.channel, text(envelope.get("turnId")) or "")] = starter
        elif who is None:
            return
        elif envelope.type in _OURS and who not in self._said:
            # The host says who authenticated, perhaps; that is another matter.
            return
        elif envelope.type in _OURS:
            self._refused(envelope, "AHP-TOOLAUTH-045", "a client's word on a challenge is accepted")
        elif not _is_blocked(envelope.before, envelope.action):
            return
        elif envelope.type in _OUTPUT:
            self._refused(envelope, "AHP-TOOLAUTH-046", "output of a blocked call is accepted from a client")
        elif who in self._given_up:
            self._cancelled(envelope, who[0])

    def _refused(self, envelope: Envelope, obligation: str, message: str) -> None:
        self.watch(obligation)
        if envelope.accepted:
            self._find(envelope, (obligation,), message, "a rejection")

    def _cancelled(self, envelope: Envelope, client: str) -> None:
        starter = self._starters.get((envelope.channel, text(envelope.get("turnId")) or ""))
        another = starter is not None and starter != client
        broken = ("AHP-TOOLAUTH-039", *(["AHP-TOOLAUTH-040"] if another else []))
        self.watch(*broken)
        # In a log of one client another one may have removed the chat, of which only its session tells.
        if not envelope.accepted and (self.tracker.whole or self._knows_session(envelope)):
            self._find(envelope, broken, "a client may not give up a blocked call", "an echo without a rejection")

    def _knows_session(self, envelope: Envelope) -> bool:
        return any(
            view.kind == "session" and view.live and envelope.channel in chats_in(view.state)
            for view in self.tracker.connection(envelope.conn).channels.values()
        )

    def _find(self, envelope: Envelope, broken: tuple[str, ...], message: str, expected: str) -> None:
        self.find(
            broken,
            message,
            expected=expected,
            seen=envelope.message,
            frame=envelope.frame.n,
            once=(envelope.channel, repr(envelope.seq), repr(envelope.origin)),
        )


def _is_blocked(chat: Any, action: Any) -> bool:
    turn = active_turn(chat)
    if turn is None or turn.get("id") != member(action, "turnId"):
        return False
    return bool(member(call_in(turn, member(action, "toolCallId")), "status") == "auth-required")
