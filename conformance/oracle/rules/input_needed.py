"""What a session waits for, as a whole: the status bit, and nothing left over."""

from __future__ import annotations

import sys
from typing import Any

from conformance.oracle.memory import Bounded
from conformance.oracle.reading import active_turn, chats_in, dicts, entries_in, member, server_status, servers_in, text
from conformance.oracle.rule import Rule
from conformance.oracle.tracker import Envelope, Snapshot, Tracker
from conformance.oracle.unknown import has_unknown_kind
from conformance.protocol import STATUS, compare, needs_input

from .turns import ENDS


def still_listed(tracker: Tracker, snapshot: Snapshot, entry: dict[str, Any]) -> bool:
    """Whether an entry of a snapshot is in the list to the end, as far as anybody still follows the session.

    A removal may come a moment after what caused it, and so after the snapshot (ambiguity AMB-17).
    """
    views = [view for connection, view in tracker.views(snapshot.channel) if view.live and connection.fed]
    return bool(views) and all(any(e.get("id") == entry.get("id") for e in entries_in(view.state)) for view in views)


class StatusBit(Rule):
    """The session carries InputNeeded if and only if its list holds an entry that waits for the user."""

    name = "input-needed-bit"
    obligations = (
        "AHP-INPUT-011",
        "AHP-INPUT-026",
        "AHP-INPUT-027",
        "AHP-INPUT-101",
        "AHP-TOOLAUTH-025",
        "AHP-TOOLAUTH-070",
    )
    hears = frozenset({"session/inputNeededSet"})

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        # Per session: the kinds of the entries that it ever listed.
        self._listed: Bounded[str, set[str]] = Bounded()

    def gone(self, channel: str) -> None:
        self._listed.pop(channel, None)

    def envelope(self, envelope: Envelope) -> None:
        if envelope.accepted and envelope.type == "session/inputNeededSet":
            kind = text(member(envelope.get("request"), "kind"))
            self._listed.setdefault(envelope.channel, set()).add(kind or "")

    def snapshot(self, snapshot: Snapshot) -> None:
        version, status = self.version(snapshot.conn), member(snapshot.state, "status")
        if snapshot.kind != "session" or version is None or not isinstance(status, int):
            return
        raised = needs_input(status)
        kinds = {text(e.get("kind")) or "" for e in entries_in(snapshot.state)}
        self._listed.setdefault(snapshot.channel, set()).update(kinds)
        # Up to 0.7.0 work handed to a client raises the bit as well (AHP-INPUT-027, AHP-INPUT-101).
        handed_out_counts = compare(version, "0.8.0") < 0
        user_facing = kinds - (set() if handed_out_counts else {"toolClientExecution"})
        if user_facing:
            self._must_be_raised(snapshot, user_facing, raised)
        else:
            self._must_not_be_raised(snapshot, kinds, raised)

    def _must_be_raised(self, snapshot: Snapshot, kinds: set[str], raised: bool) -> None:
        broken = []
        if kinds & {"chatInput", "toolConfirmation"}:
            broken.append("AHP-INPUT-011")
        if "toolAuthentication" in kinds:
            broken.append("AHP-TOOLAUTH-025")
        if not broken and "toolClientExecution" in kinds:
            broken.append("AHP-INPUT-027")
        self.watch(*broken)
        if not raised and broken:
            self.find(
                tuple(broken),
                f"entries of {sorted(kinds)}, but no InputNeeded",
                expected="status & 24 is 24",
                seen=snapshot.state["status"],
                frame=snapshot.frame.n,
            )

    def _must_not_be_raised(self, snapshot: Snapshot, kinds: set[str], raised: bool) -> None:
        state = snapshot.state
        if self._waits_elsewhere(state):
            return
        before = self._listed[snapshot.channel]
        broken = ["AHP-INPUT-101" if "toolClientExecution" in kinds else "AHP-INPUT-026"]
        if "toolClientExecution" not in kinds and "toolAuthentication" in before:
            broken.append("AHP-TOOLAUTH-070")
        # A session that never waited for anything proves nothing.
        self.watch(*(broken if before else ()))
        # What has raised a session that never listed anything may be listed in a moment (AMB-17).
        if raised and before:
            self.find(
                tuple(broken),
                "InputNeeded, but nothing waits for the user",
                expected="status & 24 is not 24",
                seen={"status": state["status"], "inputNeeded": state.get("inputNeeded", "absent")},
                frame=snapshot.frame.n,
            )

    def _waits_elsewhere(self, session: dict[str, Any]) -> bool:
        """Whether the session is rightly raised without an entry.

        A chat that needs input raises its session on its own account, and so may a server that waits for a token
        (ambiguity A-16); their entries, where they owe one, may come a moment later.
        """
        chats = [member(c, "status") for c in dicts(session.get("chats"))]
        chats += [
            member(view.state, "status")
            for chat in chats_in(session)
            for connection, view in self.tracker.views(chat)
            if view.live and connection.fed
        ]
        return any(isinstance(status, int) and needs_input(status) for status in chats) or any(
            server_status(server) == "authRequired" for server in servers_in(session)
        )


class Leftovers(Rule):
    """An entry does not outlive the turn, or the chat, that it is about."""

    name = "input-leftovers"
    obligations = ("AHP-INPUT-010", "AHP-TOOLAUTH-028")
    hears = frozenset(
        {
            *ENDS,
            "chat/truncated",
            "chat/turnStarted",
            "chat/turnResume",
            "chat/inputRequested",
            "session/chatRemoved",
            "session/chatUpdated",
            "session/inputNeededSet",
        }
    )

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        # (chat, turn) -> the serverSeq of its end; a chat that was removed has the turn None.
        self._ended: Bounded[tuple[str, str | None], int] = Bounded()
        # (chat, turn) -> the kinds of its entries that were ever listed.
        self._listed: Bounded[tuple[str, str | None], set[str]] = Bounded()
        # Per chat: when the catalogue of its session was last told that it is at rest.
        self._rested: Bounded[str, int] = Bounded()
        self._last: Bounded[str, Snapshot] = Bounded(64)
        self._shown = False

    def gone(self, channel: str) -> None:
        # What was listed at the end of a session is listed no more.
        self._last.pop(channel, None)

    def envelope(self, envelope: Envelope) -> None:
        if not envelope.accepted or not isinstance(envelope.before, dict) or not isinstance(envelope.seq, int):
            return
        if envelope.kind == "session":
            chat = text(envelope.get("chat"))
            if envelope.type == "session/inputNeededSet":
                self._lists(envelope.get("request"))
            elif envelope.type == "session/chatUpdated" and chat is not None:
                status = member(envelope.get("changes"), "status")
                if isinstance(status, int) and not status & STATUS.IN_PROGRESS:
                    self._rested[chat] = envelope.seq
            elif envelope.type == "session/chatRemoved" and chat is not None:
                self._ended[(chat, None)] = envelope.seq
        elif envelope.kind == "chat":
            before = text(member(active_turn(envelope.before), "id"))
            after = text(member(active_turn(envelope.after), "id"))
            if envelope.type in (*ENDS, "chat/truncated") and before is not None and after != before:
                self._ended[(envelope.channel, before)] = envelope.seq
                for part in dicts(member(active_turn(envelope.before), "responseParts")):
                    if part.get("kind") == "inputRequest":
                        self._ended[(envelope.channel, _question(part.get("request")))] = envelope.seq
            elif after is not None and after != before:
                # A turn that failed may be taken up again.
                self._ended.pop((envelope.channel, after), None)
            elif envelope.type == "chat/inputRequested":
                self._ended.pop((envelope.channel, _question(envelope.get("request"))), None)

    def _lists(self, entry: Any) -> None:
        chat, turn, kind = text(member(entry, "chat")), _turn_of(entry), text(member(entry, "kind"))
        if chat is not None:
            for key in ((chat, turn), (chat, None)):
                self._listed.setdefault(key, set()).add(kind or "")

    def snapshot(self, snapshot: Snapshot) -> None:
        if snapshot.kind == "session":
            self._last[snapshot.channel] = snapshot
            self._shown = True
            for entry in entries_in(snapshot.state):
                self._lists(entry)

    def end(self) -> None:
        if not self.tracker.settled or not self._shown:
            return
        for key in self._ended:
            kinds = self._listed.get(key, set())
            self.watch(*(["AHP-INPUT-010"] if kinds else []))
            self.watch(*(["AHP-TOOLAUTH-028"] if "toolAuthentication" in kinds and key[1] is not None else []))
        for snapshot in self._last.values():
            for entry in entries_in(snapshot.state):
                self._judge(snapshot, entry)

    def _judge(self, snapshot: Snapshot, entry: dict[str, Any]) -> None:
        chat, turn = text(entry.get("chat")), _turn_of(entry)
        if chat in chats_in(snapshot.state) and not any(v.live for _, v in self.tracker.views(chat or "")):
            # It was added again, or goes on with its turn where nobody looks.
            return
        # A session may be late with all that it repeats of a chat (AMB-17), as its catalogue shows.
        told = {turn: self._rested.get(chat or "", -1), None: sys.maxsize}
        ends = [
            self._ended[(chat, t)]
            for t in {turn, None}
            if chat is not None and self._ended.get((chat, t), sys.maxsize) < told[t]
        ]
        if not ends or snapshot.from_seq is None or snapshot.from_seq < min(ends):
            return
        if still_listed(self.tracker, snapshot, entry):
            auth = entry.get("kind") == "toolAuthentication" and (chat, turn) in self._ended
            self.find(
                ("AHP-INPUT-010", "AHP-TOOLAUTH-028") if auth else "AHP-INPUT-010",
                "an entry is left of a turn that has ended, or of a chat that was removed",
                expected="no entry of that turn",
                seen=entry,
                frame=snapshot.frame.n,
            )


def _turn_of(entry: Any) -> str | None:
    """The turn that an entry is about; questions name none and stand for themselves, unknown kinds may outlive any."""
    if has_unknown_kind(entry):
        return None
    if member(entry, "kind") == "chatInput":
        return _question(member(entry, "request"))
    return text(member(entry, "turnId"))


def _question(request: Any) -> str:
    return f"question {member(request, 'id')!r}"
