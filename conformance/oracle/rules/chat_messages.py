"""What was said in a chat and by whom, its draft, its errors, and when it last changed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from conformance.oracle.comparing import difference, without_nulls
from conformance.oracle.memory import Bounded
from conformance.oracle.reading import JSON, active_turn, dicts, member, text
from conformance.oracle.rule import Rule
from conformance.oracle.tracker import Dispatch, Envelope, Notification, Snapshot
from conformance.protocol import Window

from .chat_places import message_of
from .turns import ENDS

_ERRORS_ARE_PARTS = Window("0.9.0")
_STAMPED_BY_HOST = Window("0.4.0", "0.9.0")
# A turn as long as this moves a clock of seconds.
_A_TICK = 1000
_CATALOGUE = frozenset({"session/chatAdded", "session/chatUpdated"})


@dataclass(frozen=True, slots=True)
class _Moment:
    seq: int
    modified: str
    idle: bool


class ChatMessages(Rule):
    """Messages stay as they were sent; drafts stay in the chat; errors come as errors; a turn moves the time."""

    name = "chat-messages"
    hears = ENDS | _CATALOGUE | {"chat/turnStarted", "chat/responsePart", "chat/draftChanged"}
    obligations = (
        "AHP-CHAT-102",
        "AHP-DRAFT-003",
        "AHP-TURN-029",
        "AHP-TURN-035",
        "AHP-TURN-039",
        "AHP-TURN-042",
    )

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        # What clients dispatched to start turns, by client, clientSeq and turn, as a client that comes back may count
        # from the beginning; and the turns that they asked for.
        self._sent: Bounded[tuple[str, int, str], JSON] = Bounded(1024)
        self._typed: Bounded[str, None] = Bounded()
        # Chats that have a draft, or had one.
        self._drafted: Bounded[str, None] = Bounded(1024)
        # Turn -> the model that a client asked for.
        self._models: Bounded[tuple[str, str], str] = Bounded(1024)
        # The last snapshot of each chat, and the last turn that ended since with its duration.
        self._moments: Bounded[str, _Moment] = Bounded(1024)
        self._lasted: Bounded[str, tuple[int, float]] = Bounded(1024)
        self._origins: Bounded[str, str] = Bounded(1024)

    def gone(self, channel: str) -> None:
        self._drafted.pop(channel, None)
        self._moments.pop(channel, None)
        self._lasted.pop(channel, None)
        self._origins.pop(channel, None)
        for key in [key for key in self._models if key[0] == channel]:
            del self._models[key]

    # -- messages -----------------------------------------------------------------------------------------

    def dispatch(self, dispatch: Dispatch) -> None:
        if member(dispatch.action, "type") != "chat/turnStarted":
            return
        self._typed[str(member(dispatch.action, "turnId"))] = None
        if dispatch.client_id is not None and isinstance(dispatch.client_seq, int):
            turn = str(member(dispatch.action, "turnId"))
            self._sent[(dispatch.client_id, dispatch.client_seq, turn)] = member(dispatch.action, "message")

    def envelope(self, envelope: Envelope) -> None:
        if not envelope.accepted:
            return
        if envelope.type in _CATALOGUE:
            self._catalogue(envelope)
        elif envelope.kind == "chat":
            self._of_chat(envelope)

    def _of_chat(self, envelope: Envelope) -> None:
        version = envelope.version
        if envelope.type == "chat/turnStarted":
            self._started(envelope)
        elif envelope.type == "chat/draftChanged":
            if envelope.get("draft") is not None:
                self._drafted[envelope.channel] = None
        elif envelope.type == "chat/responsePart":
            self._part(envelope, version)
        else:
            if envelope.type == "chat/error" and version is not None and _ERRORS_ARE_PARTS.contains(version):
                self.watch("AHP-CHAT-102")
            duration = envelope.get("duration")
            if isinstance(duration, int | float) and isinstance(envelope.seq, int):
                self._lasted[envelope.channel] = (envelope.seq, duration)

    def _started(self, envelope: Envelope) -> None:
        message, seq = envelope.get("message"), member(envelope.origin, "clientSeq")
        client = text(member(envelope.origin, "clientId"))
        turn = str(envelope.get("turnId"))
        sent = self._sent.get((client, seq, turn)) if client is not None and isinstance(seq, int) else None
        if sent is not None:
            self.watch("AHP-TURN-029")
            wanted = without_nulls(message_of({"message": sent}))
            if difference(wanted, without_nulls(message), contained=True) is not None:
                self._find(envelope, "AHP-TURN-029", "the message of a turn is not the one that was sent", wanted)
            model = text(member(member(sent, "model"), "id"))
            if model is not None:
                self._models[(envelope.channel, str(envelope.get("turnId")))] = model
        before = envelope.before
        first = isinstance(before, dict) and not before.get("turns") and before.get("turnsNextCursor") is None
        # A user may have queued a message in the chat.
        if first and envelope.origin is None and envelope.get("queuedMessageId") is None:
            self._worker(envelope.channel, message, envelope.frame.n)

    def _worker(self, channel: str, message: JSON, frame: int) -> None:
        """The first message of a chat that a tool made, and that nobody in this recording typed."""
        kind = text(member(member(message, "origin"), "kind"))
        if self._origins.get(channel) != "tool" or kind is None:
            return
        self.watch("AHP-TURN-042")
        if kind == "user":
            self.find(
                "AHP-TURN-042",
                "what a tool asked a worker for is shown as the words of the user",
                expected="origin.kind tool or agent",
                seen=message,
                frame=frame,
                once=channel,
            )

    def _part(self, envelope: Envelope, version: str | None) -> None:
        part = envelope.get("part")
        if version is None or not _ERRORS_ARE_PARTS.contains(version) or member(part, "kind") != "error":
            return
        self._find(envelope, "AHP-CHAT-102", "an error travels as an ordinary part", "chat/error")

    # -- states -------------------------------------------------------------------------------------------

    def snapshot(self, snapshot: Snapshot) -> None:
        if snapshot.kind == "session":
            for chat in dicts(member(snapshot.state, "chats")):
                self._entry(text(chat.get("resource")) or "", chat, snapshot.frame.n)
        elif snapshot.kind == "chat" and isinstance(snapshot.state, dict):
            self._chat(snapshot, snapshot.state)

    def _chat(self, snapshot: Snapshot, chat: dict[str, JSON]) -> None:
        channel, frame = snapshot.channel, snapshot.frame.n
        if chat.get("draft") is not None:
            self._drafted[channel] = None
        origin = text(member(chat.get("origin"), "kind"))
        if origin is not None:
            self._origins[channel] = origin
        turns = [*dicts(chat.get("turns")), *([active_turn(chat)] if active_turn(chat) else [])]
        began = self.tracker.connection(snapshot.conn).began
        # In a log of one client it may be another one's user who has typed it.
        sure = began and self.tracker.whole and chat.get("turnsNextCursor") is None
        if turns and sure and str(member(turns[0], "id")) not in self._typed:
            self._worker(channel, member(turns[0], "message"), frame)
        for turn in dicts(chat.get("turns")):
            self._model(channel, turn, frame)
        self._moves(snapshot, text(chat.get("modifiedAt")))

    def _model(self, channel: str, turn: dict[str, JSON], frame: int) -> None:
        asked = self._models.get((channel, str(turn.get("id"))))
        if asked is None:
            return
        self.watch("AHP-TURN-035")
        if text(member(member(turn.get("message"), "model"), "id")) is None:
            self.find(
                "AHP-TURN-035",
                "the message of a finished turn does not tell the model",
                expected=asked,
                seen=turn.get("message"),
                frame=frame,
                once=(channel, repr(turn.get("id"))),
            )

    def _moves(self, snapshot: Snapshot, modified: str | None) -> None:
        version, seq = self.version(snapshot.conn), snapshot.from_seq
        if version is None or not _STAMPED_BY_HOST.contains(version) or seq is None or modified is None:
            return
        before, lasted = self._moments.get(snapshot.channel), self._lasted.get(snapshot.channel)
        # What was seen in the middle of the turn may be just as late as its end.
        before = before if before is not None and before.idle else None
        if before is not None and lasted is not None and before.seq < lasted[0] <= seq and lasted[1] > _A_TICK:
            old, new = _read(before.modified), _read(modified)
            if old is not None and new is not None:
                self.watch("AHP-TURN-039")
                if new <= old:
                    self.find(
                        "AHP-TURN-039",
                        "a turn has ended, and modifiedAt is what it was before",
                        expected=f"later than {before.modified}",
                        seen=modified,
                        frame=snapshot.frame.n,
                    )
        if before is None or seq >= before.seq:
            self._moments[snapshot.channel] = _Moment(seq, modified, active_turn(snapshot.state) is None)

    # -- the catalogue ------------------------------------------------------------------------------------

    def _catalogue(self, envelope: Envelope) -> None:
        """What session/chatAdded and session/chatUpdated say of a chat."""
        added = envelope.type == "session/chatAdded"
        entry = envelope.get("summary" if added else "changes")
        channel = text(member(entry, "resource") if added else envelope.get("chat")) or ""
        if isinstance(entry, dict):
            self._entry(channel, entry, envelope.frame.n)

    def notification(self, notification: Notification) -> None:
        """Chats are told in summaries of sessions as well, from 1.0.0."""
        summary = member(notification.params, "summary")
        for chat in dicts(member(summary, "chats")):
            self._entry(text(chat.get("resource")) or "", chat, notification.frame.n)

    def _entry(self, channel: str, entry: dict[str, JSON], frame: int) -> None:
        origin = text(member(entry.get("origin"), "kind"))
        if origin is not None and channel:
            self._origins[channel] = origin
        if channel in self._drafted:
            self.watch("AHP-DRAFT-003")
        if entry.get("draft") is not None:
            self.find(
                "AHP-DRAFT-003",
                "a draft shows in the catalogue of chats",
                expected="no member draft",
                seen=entry,
                frame=frame,
                once=(channel, repr(entry["draft"])),
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


def _read(moment: str) -> float | None:
    """Seconds since the epoch; None for what is no date with a time."""
    try:
        return datetime.fromisoformat(moment).timestamp() if "T" in moment or " " in moment else None
    except (ValueError, OverflowError):
        return None
