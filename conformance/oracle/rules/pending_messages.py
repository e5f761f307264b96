"""Messages that wait for their turn: how the host takes them from the queue, and which it must not run."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from conformance.oracle.comparing import difference
from conformance.oracle.memory import Bounded
from conformance.oracle.reading import JSON, active_turn, dicts, member, text
from conformance.oracle.rule import Rule
from conformance.oracle.tracker import Dispatch, Envelope, Reply, Snapshot

from .chat_places import message_of

_MOST_CHATS = 1024


@dataclass(frozen=True, slots=True)
class _Taken:
    """A message that the host has taken out of the queue."""

    id: str
    message: JSON
    first: JSON


@dataclass(slots=True)
class _Due:
    """Since when the head of the queue should have been consumed: per connection the frame that told it."""

    obligation: str
    seq: int
    told: dict[str, int] = field(default_factory=dict)


@dataclass(slots=True)
class _Chat:
    # All subscribers are told the same: each action is judged once.
    seq: int = -1
    taken: _Taken | None = None
    due: _Due | None = None
    removed: Bounded[str, None] = field(default_factory=lambda: Bounded(256))
    steering: dict[str, JSON] | None = None


class PendingMessages(Rule):
    """The head of the queue goes first, under its id, after its removal; what was withdrawn never runs."""

    name = "pending-messages"
    hears = frozenset(
        {"chat/turnStarted", "chat/turnComplete", "chat/pendingMessageSet", "chat/pendingMessageRemoved"},
    )
    obligations = (
        "AHP-PEND-006",
        "AHP-PEND-007",
        "AHP-PEND-008",
        "AHP-PEND-009",
        "AHP-PEND-010",
        "AHP-PEND-013",
        "AHP-PEND-019",
    )

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._chats: Bounded[str, _Chat] = Bounded(_MOST_CHATS)
        # What a client dispatched -> the connection, and the last request of it that had been answered by then.
        self._sent: Bounded[tuple[str, int], tuple[str, int]] = Bounded()
        self._answered: Bounded[str, int] = Bounded(1024)

    def reply(self, reply: Reply) -> None:
        if reply.request is not None:
            self._answered[reply.conn] = max(self._answered.get(reply.conn, -1), reply.request.frame.n)

    def snapshot(self, snapshot: Snapshot) -> None:
        """Whoever comes back to a chat has not seen what became of its queue in the meantime."""
        chat = self._chats.get(snapshot.channel) if snapshot.folded is None else None
        if chat is not None:
            chat.taken = chat.steering = None
            if chat.due is not None:
                chat.due.told.pop(snapshot.conn, None)

    def dispatch(self, dispatch: Dispatch) -> None:
        started = member(dispatch.action, "type") == "chat/turnStarted"
        if started and dispatch.client_id is not None and isinstance(dispatch.client_seq, int):
            answered = self._answered.get(dispatch.conn, -1)
            self._sent[(dispatch.client_id, dispatch.client_seq)] = (dispatch.conn, answered)

    def gone(self, channel: str) -> None:
        self._chats.pop(channel, None)

    def envelope(self, envelope: Envelope) -> None:
        if envelope.kind != "chat" or not envelope.accepted or not isinstance(envelope.before, dict):
            return
        chat = self._chats.setdefault(envelope.channel, _Chat())
        if not isinstance(envelope.seq, int):
            return
        if envelope.seq > chat.seq:
            chat.seq = envelope.seq
            match envelope.type:
                case "chat/pendingMessageSet":
                    self._set(envelope, chat)
                case "chat/pendingMessageRemoved":
                    self._removed(envelope, chat)
                case "chat/turnComplete":
                    if active_turn(envelope.before) is not None and active_turn(envelope.after) is None:
                        self._is_due(envelope, chat, "AHP-PEND-006")
                case "chat/turnStarted":
                    self._started(envelope, chat)
        if chat.due is not None and chat.due.seq == envelope.seq:
            chat.due.told.setdefault(envelope.conn, envelope.frame.n)

    def _set(self, envelope: Envelope, chat: _Chat) -> None:
        identity, idle = text(envelope.get("id")), active_turn(envelope.before) is None
        if envelope.get("kind") == "steering":
            chat.steering = {"id": identity, "message": envelope.get("message")} if idle else None
        else:
            chat.removed.pop(identity or "", None)
            if idle:
                self._is_due(envelope, chat, "AHP-PEND-008")

    def _is_due(self, envelope: Envelope, chat: _Chat, obligation: str) -> None:
        if _queue(envelope.after) and chat.due is None and isinstance(envelope.seq, int):
            chat.due = _Due(obligation, envelope.seq)

    def _removed(self, envelope: Envelope, chat: _Chat) -> None:
        identity, queue = text(envelope.get("id")), _queue(envelope.before)
        if envelope.get("kind") == "steering":
            chat.steering = None
            return
        entry = next((e for e in queue if e.get("id") == identity), None)
        if entry is None or identity is None:
            return
        if envelope.origin is None:
            chat.taken = _Taken(identity, entry.get("message"), queue[0].get("id"))
        else:
            chat.removed[identity] = None
            if not _queue(envelope.after):
                chat.due = None

    def _started(self, envelope: Envelope, chat: _Chat) -> None:
        queued, by_host = text(envelope.get("queuedMessageId")), envelope.origin is None
        taken, chat.taken = chat.taken, None
        steering, chat.steering = chat.steering, None
        if steering is not None:
            self._steered(envelope, steering, queued, by_host)
        if not by_host:
            self._overtaken(envelope, chat)
            return
        if chat.removed:
            self.watch("AHP-PEND-019")
        if queued is None:
            if taken is not None and member(taken.message, "text") == member(envelope.get("message"), "text"):
                self._find(envelope, "AHP-PEND-010", "a turn of the queue does not name its message", taken.id)
            return
        if queued in chat.removed:
            self._find(envelope, "AHP-PEND-019", "a message runs that a client had removed", "another turn or none")
        self._from_queue(envelope, queued, taken if taken is not None and taken.id == queued else None)
        if chat.due is not None:
            self.watch(chat.due.obligation)
            chat.due = None

    def _from_queue(self, envelope: Envelope, queued: str, taken: _Taken | None) -> None:
        queue = _queue(envelope.before)
        entry = next((e for e in queue if e.get("id") == queued), None)
        if entry is None and taken is None:
            return
        self.watch("AHP-PEND-007", "AHP-PEND-009", "AHP-PEND-010")
        if entry is not None:
            self._find(envelope, "AHP-PEND-007", "a queued message starts its turn unremoved", "its removal first")
        first = queue[0].get("id") if taken is None else taken.first
        if first != queued:
            self._find(envelope, "AHP-PEND-009", "a message is taken that is not the head of the queue", str(first))
        wanted = member(entry, "message") if taken is None else taken.message
        said = message_of({"message": wanted})
        if said is not None and difference(said, envelope.get("message"), contained=True) is not None:
            self._find(envelope, "AHP-PEND-010", "a turn of the queue has another message", said)

    def _steered(self, envelope: Envelope, steering: dict[str, JSON], queued: str | None, by_host: bool) -> None:
        self.watch("AHP-PEND-013")
        same = member(steering["message"], "text") == member(envelope.get("message"), "text")
        if by_host and (queued == steering["id"] or (queued is None and same)):
            self._find(envelope, "AHP-PEND-013", "a steering message set on an idle chat starts a turn", "no turn")

    def _overtaken(self, envelope: Envelope, chat: _Chat) -> None:
        """A client starts a turn although it had been told before that a queued message was to come first.

        The host may be just about to take that message; it has had its time when it has answered a request meanwhile.
        """
        due, seq = chat.due, member(envelope.origin, "clientSeq")
        sent = self._sent.get((str(member(envelope.origin, "clientId")), seq)) if isinstance(seq, int) else None
        chat.due = None
        if due is None or sent is None or not _queue(envelope.before):
            return
        conn, answered = sent
        if answered > due.told.get(conn, answered):
            self._find(
                envelope,
                due.obligation,
                "the host lets a later turn start while a queued message waits",
                f"chat/turnStarted of {_queue(envelope.before)[0].get('id')!r} by the host",
            )

    def _find(self, envelope: Envelope, obligation: str, message: str, expected: JSON) -> None:
        self.find(
            obligation,
            message,
            expected=expected,
            seen=envelope.message,
            frame=envelope.frame.n,
            once=(envelope.channel, repr(envelope.seq)),
        )


def _queue(chat: JSON) -> list[dict[str, JSON]]:
    return dicts(member(chat, "queuedMessages"))
