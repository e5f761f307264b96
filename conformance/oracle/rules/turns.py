"""Turns: each ends once, and nothing is streamed into one that has ended."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from conformance.oracle.memory import Bounded
from conformance.oracle.reading import active_turn, dicts, member, text
from conformance.oracle.rule import Rule
from conformance.oracle.tracker import Envelope, Snapshot

ENDS = frozenset({"chat/turnComplete", "chat/turnCancelled", "chat/error"})
# What adds content to a turn, and so has to name the active one (AHP-TURN-024).
_CONTENT = frozenset({"chat/delta", "chat/reasoning", "chat/responsePart", "chat/toolCallStart"})
_CALLS = frozenset(
    f"chat/toolCall{what}"
    for what in (
        "Start",
        "Delta",
        "Ready",
        "Confirmed",
        "Complete",
        "ResultConfirmed",
        "ContentChanged",
        "AuthRequired",
        "AuthResolved",
    )
)
_TEXT = {"chat/delta": ("AHP-TURN-017", "markdown"), "chat/reasoning": ("AHP-TURN-018", "reasoning")}
_WATCHED = {
    action: (*(["AHP-TURN-024"] if action in _CONTENT else []), *(["AHP-TOOL-022"] if action in _CALLS else []))
    for action in _CONTENT | _CALLS
}
# How a turn ended that was active when a truncation took it away, and how one did that had ended before.
_DROPPED, _REMOVED = "chat/truncated", "removed by chat/truncated"
_MOST_CHATS = 1024


@dataclass(slots=True)
class _Chat:
    """What is known of a chat. All its subscribers are told the same."""

    # How each known turn ended.
    ended: Bounded[str, str] = field(default_factory=Bounded)
    # The active turn, if it is one that failed and was taken up again.
    resumed: str | None = None
    # Turns whose resumption was rejected.
    refused: Bounded[str, None] = field(default_factory=lambda: Bounded(64))
    # Ids that a client gave to a second turn.
    reused: Bounded[str, None] = field(default_factory=lambda: Bounded(64))

    def has_had(self, turn: str | None) -> bool:
        """Whether an ended turn of this id is in the chat. A look into the state would cost more with every turn."""
        return turn is not None and self.ended.get(turn, _REMOVED) not in (_REMOVED, _DROPPED)


class Turns(Rule):
    """One end per turn; nothing after it; no second turn before it."""

    name = "turns"
    hears = ENDS | _CONTENT | _CALLS | {"chat/turnStarted", "chat/turnResume", "chat/truncated", "chat/turnsLoaded"}
    obligations = (
        "AHP-CHAT-105",
        "AHP-CHAT-106",
        "AHP-PEND-015",
        "AHP-TRUNC-005",
        "AHP-TRUNC-007",
        "AHP-TURN-005",
        "AHP-TURN-013",
        "AHP-TURN-017",
        "AHP-TURN-018",
        "AHP-TURN-024",
        "AHP-TURN-027",
        "AHP-TURN-028",
        "AHP-TURN-037",
        "AHP-TOOL-022",
        "AHP-TOOL-026",
    )

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._chats: Bounded[str, _Chat] = Bounded(_MOST_CHATS)
        # Connection and chat -> the turns that its snapshot had, where it left older ones out.
        self._windows: Bounded[tuple[str, str], frozenset[str]] = Bounded(_MOST_CHATS)

    def snapshot(self, snapshot: Snapshot) -> None:
        if snapshot.kind != "chat":
            return
        chat = self._chats.setdefault(snapshot.channel, _Chat())
        turns = [t["id"] for t in dicts(member(snapshot.state, "turns")) if isinstance(t.get("id"), str)]
        for turn in turns:
            if turn not in chat.ended:
                chat.ended[turn] = "an earlier end"
        window = (snapshot.conn, snapshot.channel)
        self._windows.pop(window, None)
        if member(snapshot.state, "turnsNextCursor") is not None:
            self._windows[window] = frozenset(turns)

    def gone(self, channel: str) -> None:
        self._chats.pop(channel, None)
        for window in [w for w in self._windows if w[1] == channel]:
            del self._windows[window]

    def envelope(self, envelope: Envelope) -> None:
        if envelope.kind != "chat" or not isinstance(envelope.before, dict):
            return
        chat = self._chats.get(envelope.channel)
        if chat is None:
            chat = self._chats.setdefault(envelope.channel, _Chat())
        active = text(member(envelope.before.get("activeTurn"), "id"))
        turn = text(envelope.get("turnId"))
        if not envelope.accepted:
            self._refused(envelope, active, turn, chat)
        elif envelope.type == "chat/turnStarted":
            self._started(envelope, active, turn, chat)
        elif envelope.type == "chat/turnResume":
            if active is None and member(active_turn(envelope.after), "id") == turn and turn is not None:
                chat.ended.pop(turn, None)
                chat.refused.pop(turn, None)
                chat.resumed = turn
        elif envelope.type == "chat/truncated":
            self._truncated(envelope, active, turn, chat)
        elif envelope.type == "chat/turnsLoaded":
            for loaded in dicts(envelope.get("turns")):
                if isinstance(loaded.get("id"), str):
                    chat.ended.setdefault(loaded["id"], "an earlier end")
        elif envelope.type in ENDS:
            self._ends(envelope, active, turn, chat)
        elif envelope.origin is None and turn is not None:
            self._in_turn(envelope, active, turn, chat)

    def end(self) -> None:
        """What follows a cancellation, a truncation or a refusal has followed by now."""
        if not self.tracker.settled:
            return
        ends = {how for chat in self._chats.values() for how in chat.ended.values()}
        self.watch(*(["AHP-TURN-013"] if "chat/turnCancelled" in ends else []))
        self.watch(*(["AHP-TRUNC-005"] if _DROPPED in ends else []))
        self.watch(*(["AHP-CHAT-106"] if any(chat.refused for chat in self._chats.values()) else []))

    def _refused(self, envelope: Envelope, active: str | None, turn: str | None, chat: _Chat) -> None:
        if envelope.type == "chat/turnResume" and turn is not None and turn != active:
            chat.refused[turn] = None
        elif envelope.type == "chat/turnStarted":
            self.watch(*(["AHP-TURN-037"] if active is not None else []))
            self.watch(*(["AHP-TURN-028"] if chat.has_had(turn) else []))

    def _started(self, envelope: Envelope, active: str | None, turn: str | None, chat: _Chat) -> None:
        by_host, queued = envelope.origin is None, envelope.get("queuedMessageId") is not None
        self.watch("AHP-TURN-027", *(["AHP-PEND-015"] if by_host and queued else []))
        if active is not None and active != turn:
            broken = ["AHP-TURN-027"]
            if by_host and queued:
                broken.append("AHP-PEND-015")
            if by_host and chat.resumed == active:
                broken.append("AHP-CHAT-105")
            if not by_host:
                broken.append("AHP-TURN-037")
            self._find(envelope, broken, "a turn started while another one was running", f"the end of {active} first")
        elif active is None and turn is not None and not by_host and chat.has_had(turn):
            chat.reused[turn] = None
        chat.ended.pop(turn or "", None)
        chat.resumed = None

    def _truncated(self, envelope: Envelope, active: str | None, turn: str | None, chat: _Chat) -> None:
        before, after = envelope.before, envelope.after
        window = self._windows.get((envelope.conn, envelope.channel))
        if after is before:
            # In a log of one client another one may have removed the turn before, where nobody looked.
            if self.tracker.whole and chat.has_had(turn) and before.get("turnsNextCursor") is not None:
                self._find(
                    envelope,
                    ["AHP-TRUNC-007"],
                    "a truncation at an older turn that this client has not been told of",
                    "chat/turnsLoaded with the turn first",
                )
            return
        if turn is not None and window is not None and turn not in window:
            self.watch("AHP-TRUNC-007")
        left = {t.get("id") for t in dicts(member(after, "turns"))}
        for known_turn in list(chat.ended) if turn is None else [t.get("id") for t in dicts(before.get("turns"))]:
            if isinstance(known_turn, str) and known_turn not in left:
                chat.ended[known_turn] = _REMOVED
        if active is not None and active_turn(after) is None:
            chat.ended[active] = _DROPPED
            chat.resumed = None

    def _ends(self, envelope: Envelope, active: str | None, turn: str | None, chat: _Chat) -> None:
        self.watch("AHP-TURN-005")
        if turn == active and active is not None:
            chat.ended[active] = envelope.type
            if chat.resumed == active:
                self.watch("AHP-CHAT-105")
                chat.resumed = None
            if active in chat.reused:
                self._twice(envelope, active)
        elif turn is not None and turn in chat.ended and envelope.origin is None:
            how = chat.ended[turn]
            broken = ["AHP-TURN-005", *(["AHP-TURN-013"] if how == "chat/turnCancelled" else [])]
            self._find(envelope, broken, f"a turn that had ended ({how}) ends again", "one end of a turn")

    def _twice(self, envelope: Envelope, turn: str) -> None:
        self.watch("AHP-TURN-028")
        if [t.get("id") for t in dicts(member(envelope.after, "turns"))].count(turn) > 1:
            self._find(envelope, ["AHP-TURN-028"], "two turns of a chat have one id", "a rejection of the second start")

    def _in_turn(self, envelope: Envelope, active: str | None, turn: str, chat: _Chat) -> None:
        self.watch(*_WATCHED[envelope.type])
        if turn == active:
            if envelope.type in _TEXT:
                self._part(envelope)
            return
        tool, content = envelope.type in _CALLS, envelope.type in _CONTENT
        how = chat.ended.get(turn)
        broken = ["AHP-TURN-024"] if content else []
        if tool and how is not None:
            broken.append("AHP-TOOL-022")
        if how == "chat/turnCancelled":
            broken.append("AHP-TURN-013")
        if how == _DROPPED:
            broken.append("AHP-TRUNC-005")
        if turn in chat.refused:
            broken.append("AHP-CHAT-106")
        self._find(
            envelope,
            broken or ["AHP-TOOL-026"],
            f"{envelope.type} for a turn that is not active" + (f" (it ended: {how})" if how is not None else ""),
            f"the active turn {active}" if active else "nothing, as no turn is active",
        )

    def _part(self, envelope: Envelope) -> None:
        obligation, kind = _TEXT[envelope.type]
        self.watch(obligation)
        # What grows is nearly always the last part.
        identity, parts = envelope.get("partId"), member(active_turn(envelope.before), "responseParts")
        for part in reversed(parts) if isinstance(parts, list) else ():
            if isinstance(part, dict) and part.get("id") == identity and part.get("kind") == kind:
                return
        self._find(
            envelope,
            [obligation],
            f"{envelope.type} names a part that is not there",
            f"a {kind} part announced by chat/responsePart",
        )

    def _find(self, envelope: Envelope, obligations: list[str], message: str, expected: str) -> None:
        self.find(
            tuple(obligations),
            message,
            expected=expected,
            seen=envelope.message,
            frame=envelope.frame.n,
            once=(envelope.channel, repr(envelope.seq)),
        )
