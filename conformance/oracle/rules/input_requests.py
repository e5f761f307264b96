"""What a chat waits for is listed in its session, as long as it waits and no longer."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from conformance.oracle.memory import Bounded
from conformance.oracle.reading import active_turn, call_in, calls_in, chats_in, dicts, entries_in, member, text
from conformance.oracle.rule import Rule
from conformance.oracle.tracker import Envelope, Snapshot
from conformance.oracle.unknown import has_unknown_status
from conformance.protocol import STATUS, needs_input
from conformance.protocol.status import ACTIVITY_MASK

from .entries import Subject, subject_of
from .input_needed import still_listed

_TOOLS = ("chat/toolCallReady", "chat/toolCallConfirmed", "chat/toolCallComplete", "chat/toolCallResultConfirmed")
_ENDS = ("chat/turnComplete", "chat/turnCancelled", "chat/error", "chat/truncated")
# The obligations that a wait is listed, by what is waited for; and that its entry goes with the answer.
_LISTED = {
    "question": "AHP-INPUT-001",
    "pending-confirmation": "AHP-INPUT-002",
    "pending-result-confirmation": "AHP-INPUT-003",
    "execution": "AHP-INPUT-004",
}
_REMOVED = {
    "question": "AHP-INPUT-006",
    "pending-confirmation": "AHP-INPUT-007",
    "pending-result-confirmation": "AHP-INPUT-007",
    "execution": "AHP-INPUT-008",
}
_KINDS = {"question": "chatInput", "execution": "toolClientExecution"}


@dataclass(slots=True)
class Wait:
    """What is known of one thing that a chat waited for, by serverSeq; -1 means never.

    ``opened``: the last time it was asked; ``answered``: the last answer of a client, and ``frame`` what showed it.
    """

    opened: int = -1
    answered: int = -1
    frame: int | None = None


@dataclass(slots=True)
class Listing:
    """The entries of one kind about one subject: the first that an action told, and whether it was taken off."""

    told: int = -1
    entry: Any = field(default=None)
    removed: bool = False


class InputRequests(Rule):
    """Pairing of what chats wait for with the entries of their sessions, in both directions."""

    name = "input-requests"
    obligations = (*_LISTED.values(), *dict.fromkeys(_REMOVED.values()), "AHP-INPUT-020", "AHP-INPUT-023")
    hears = frozenset(
        {
            *_TOOLS,
            *_ENDS,
            "chat/turnStarted",
            "chat/inputRequested",
            "chat/inputCompleted",
            "session/chatUpdated",
            "session/inputNeededSet",
            "session/inputNeededRemoved",
        }
    )

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        # By subject and by what is waited for.
        self._waits: Bounded[tuple[Subject, str], Wait] = Bounded()
        # By subject and kind of entry; and the subjects by session and id.
        self._listings: Bounded[tuple[Subject, str], Listing] = Bounded()
        self._ids: Bounded[tuple[str, str], tuple[Subject, str]] = Bounded()
        # Turns that were seen from their beginning, with the position of their end, -1 before that.
        self._turns: Bounded[tuple[str, str], int] = Bounded()
        # Per chat: when the catalogue of its session last stopped showing it in need of input, and at work.
        self._calmed: Bounded[str, int] = Bounded()
        self._idled: Bounded[str, int] = Bounded()
        self._last: Bounded[str, Snapshot] = Bounded(64)

    def gone(self, channel: str) -> None:
        self._last.pop(channel, None)

    def envelope(self, envelope: Envelope) -> None:
        if not envelope.accepted or not isinstance(envelope.before, dict) or not isinstance(envelope.seq, int):
            return
        if envelope.kind == "session":
            self._on_session(envelope, envelope.seq)
        elif envelope.kind == "chat":
            self._on_chat(envelope, envelope.seq)

    # -- the chat -------------------------------------------------------------------------------------

    def _on_chat(self, envelope: Envelope, seq: int) -> None:
        turn = text(envelope.get("turnId")) or ""
        if envelope.type == "chat/turnStarted":
            self._turns[(envelope.channel, turn)] = -1
        elif envelope.type in _ENDS:
            ended = text(member(active_turn(envelope.before), "id")) or ""
            if active_turn(envelope.after) is None and (envelope.channel, ended) in self._turns:
                self._turns[(envelope.channel, ended)] = seq
        elif envelope.type == "chat/inputRequested":
            identity = text(member(envelope.get("request"), "id"))
            if identity is not None and active_turn(envelope.before) is not None:
                self._wait((envelope.channel, identity), "question").opened = seq
        elif envelope.type == "chat/inputCompleted":
            self._answered((envelope.channel, text(envelope.get("requestId")) or ""), "question", envelope, seq)
        else:
            self._on_call(envelope, (envelope.channel, turn, text(envelope.get("toolCallId")) or ""), seq)

    def _on_call(self, envelope: Envelope, subject: Subject, seq: int) -> None:
        if member(active_turn(envelope.before), "id") != envelope.get("turnId"):
            return
        before, after = (_waits_for(call_in(active_turn(s), subject[-1])) for s in (envelope.before, envelope.after))
        if before is not None and before != after:
            self._answered(subject, before, envelope, seq)
        if after is not None and before != after:
            self._wait(subject, after).opened = seq

    def _wait(self, subject: Subject, what: str) -> Wait:
        return self._waits.setdefault((subject, what), Wait())

    def _answered(self, subject: Subject, what: str, envelope: Envelope, seq: int) -> None:
        wait = self._waits.get((subject, what))
        # What the host has settled itself need not have been asked of anybody.
        if wait is not None and wait.opened > wait.answered and envelope.origin is not None:
            wait.answered, wait.frame = seq, envelope.frame.n

    # -- the session ----------------------------------------------------------------------------------

    def _on_session(self, envelope: Envelope, seq: int) -> None:
        if envelope.type == "session/chatUpdated":
            chat = text(envelope.get("chat")) or ""
            old, new = (_status_of(state, chat) for state in (envelope.before, envelope.after))
            if old is not None and new is not None:
                if needs_input(old) and not needs_input(new):
                    self._calmed[chat] = seq
                if old & ACTIVITY_MASK != STATUS.IDLE and new & ACTIVITY_MASK == STATUS.IDLE:
                    self._idled[chat] = seq
        elif envelope.type == "session/inputNeededSet":
            entry = envelope.get("request")
            listing = self._lists(envelope.channel, entry)
            if listing is not None and listing.told < 0:
                listing.told, listing.entry = seq, entry
            self._mirrors(envelope, entry)
        else:
            known = self._ids.get((envelope.channel, repr(envelope.get("id"))))
            if known is not None and known in self._listings:
                self._listings[known].removed = True

    def _lists(self, session: str, entry: Any) -> Listing | None:
        kind = text(member(entry, "kind"))
        if kind is None or kind == "toolAuthentication":
            return None
        place = (subject_of(entry), kind)
        self._ids[(session, repr(member(entry, "id")))] = place
        return self._listings.setdefault(place, Listing())

    def _mirrors(self, envelope: Envelope, entry: Any) -> None:
        """What never changes of a call, where the chat has it at the time (ambiguities AMB-17, AMB-18)."""
        view = self.tracker.connection(envelope.conn).channels.get(text(member(entry, "chat")) or "")
        shown = member(entry, "toolCall")
        if view is None or not view.live or member(active_turn(view.state), "id") != member(entry, "turnId"):
            return
        call = call_in(active_turn(view.state), member(shown, "toolCallId"))
        if call is None or not isinstance(shown, dict):
            return
        self.watch("AHP-INPUT-020")
        if any(call.get(name) != shown.get(name) for name in ("toolName", "displayName")):
            self.find(
                "AHP-INPUT-020",
                "an entry shows another call than its chat",
                expected={name: call.get(name) for name in ("toolCallId", "toolName", "displayName")},
                seen=envelope.message,
                frame=envelope.frame.n,
                once=(envelope.channel, envelope.seq),
            )

    def snapshot(self, snapshot: Snapshot) -> None:
        position = -1 if snapshot.from_seq is None else snapshot.from_seq
        if snapshot.kind == "session":
            self._last[snapshot.channel] = snapshot
            for entry in entries_in(snapshot.state):
                self._lists(snapshot.channel, entry)
        elif snapshot.kind == "chat":
            if snapshot.folded is None:
                # What the running turn waited for meanwhile was not seen.
                for key in [key for key, ended in self._turns.items() if key[0] == snapshot.channel and ended < 0]:
                    del self._turns[key]
            turn = active_turn(snapshot.state)
            for call in calls_in(turn):
                what = _waits_for(call)
                if what is not None:
                    subject = (snapshot.channel, text(member(turn, "id")) or "", text(call.get("toolCallId")) or "")
                    wait = self._wait(subject, what)
                    wait.opened = max(wait.opened, position)

    # -- the end --------------------------------------------------------------------------------------

    def end(self) -> None:
        if not self.tracker.settled:
            return
        for (subject, what), wait in self._waits.items():
            listing = self._listings.get((subject, _KINDS.get(what, "toolConfirmation")))
            if wait.answered > wait.opened >= 0:
                self._has_entry(subject, what, wait, listing)
                if listing is not None:
                    self._is_taken_off(subject, what, wait)
        for (subject, kind), listing in self._listings.items():
            if (
                kind == "toolConfirmation"
                and listing.told >= 0
                and not has_unknown_status(member(listing.entry, "toolCall"))
            ):
                self._has_call(subject, listing)

    def _has_entry(self, subject: Subject, what: str, wait: Wait, listing: Listing | None) -> None:
        """A session that is late is known by its catalogue, which then still shows the chat as it was."""
        if listing is not None:
            self.watch(_LISTED[what])
            return
        passed = self._idled if what == "execution" else self._calmed
        followed = any(
            view.kind == "session" and view.live and connection.fed and view.since <= wait.opened
            for connection in self.tracker.connections.values()
            for view in connection.channels.values()
            if subject[0] in chats_in(view.state)
        )
        if followed and passed.get(subject[0], -1) > wait.answered:
            self.find(
                _LISTED[what],
                "what a chat waited for had no entry in its session",
                expected=f"session/inputNeededSet about {subject[-1]} of {subject[0]}",
                seen="none",
                frame=wait.frame,
            )

    def _is_taken_off(self, subject: Subject, what: str, wait: Wait) -> None:
        if any(w.opened > wait.answered for (other, _), w in self._waits.items() if other == subject):
            # It is asked for something else now.
            return
        self.watch(_REMOVED[what])
        passed = self._idled if what == "execution" else self._calmed
        # A session may be late with all that it repeats (AMB-17), as its catalogue shows.
        for snapshot in self._last.values() if passed.get(subject[0], -1) > wait.answered else ():
            for entry in entries_in(snapshot.state):
                late = snapshot.from_seq is not None and snapshot.from_seq >= wait.answered
                kind = entry.get("kind") == _KINDS.get(what, "toolConfirmation")
                kind = kind and not has_unknown_status(entry.get("toolCall"))
                if late and kind and subject_of(entry) == subject and still_listed(self.tracker, snapshot, entry):
                    self.find(
                        _REMOVED[what],
                        "the entry of what was answered is still listed",
                        expected="session/inputNeededRemoved",
                        seen=entry,
                        frame=snapshot.frame.n,
                    )

    def _has_call(self, subject: Subject, listing: Listing) -> None:
        """A confirmation that nobody was asked for, in a turn that was seen from its beginning to its end."""
        ended = self._turns.get((subject[0], subject[1])) if len(subject) > 2 else None
        asked = any((subject, what) in self._waits for what in ("pending-confirmation", "pending-result-confirmation"))
        if asked:
            self.watch("AHP-INPUT-023")
        elif ended is not None and ended >= 0 and listing.removed:
            self.find(
                "AHP-INPUT-023",
                "an entry for a call that waited for nobody",
                expected=f"a call {subject[-1]} that waits for a confirmation",
                seen=listing.entry,
                frame=None,
                once=subject,
            )


def _waits_for(call: Any) -> str | None:
    """What a call waits for from outside of the host."""
    status = text(member(call, "status"))
    if status in ("pending-confirmation", "pending-result-confirmation"):
        return status
    owner = member(member(call, "contributor"), "kind")
    return "execution" if status == "running" and owner == "client" else None


def _status_of(session: Any, chat: str) -> int | None:
    """The status of a chat in the catalogue of its session."""
    entry = next((e for e in dicts(member(session, "chats")) if e.get("resource") == chat), None)
    status = member(entry, "status")
    return status if isinstance(status, int) and not isinstance(status, bool) else None
