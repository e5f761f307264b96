"""The list of what a session waits for: ids, kinds, the status bit, and nothing left over."""

from __future__ import annotations

from typing import Any

from conformance.oracle.rule import Rule
from conformance.oracle.tracker import Envelope, Snapshot
from conformance.protocol import compare, needs_input

from .tool_calls import servers_in
from .turns import ENDS


def entries_in(state: Any) -> list[dict[str, Any]]:
    """The entries of inputNeeded."""
    found = state.get("inputNeeded") if isinstance(state, dict) else None
    return [e for e in found if isinstance(e, dict)] if isinstance(found, list) else []


def subject_of(entry: Any) -> tuple[Any, ...]:
    """What an entry is about: the chat and the request, or the chat, the turn and the call."""
    if entry.get("kind") == "chatInput":
        return (entry.get("chat"), _member(entry.get("request"), "id"))
    return (entry.get("chat"), entry.get("turnId"), _member(entry.get("toolCall"), "toolCallId"))


class Entries(Rule):
    """Ids are unique and stable, each request has one entry, and its chat is one of the session."""

    name = "input-entries"
    obligations = (
        "AHP-INPUT-014",
        "AHP-INPUT-017",
        "AHP-INNEED-010",
        "AHP-INNEED-011",
        "AHP-INNEED-017",
        "AHP-TOOLAUTH-024",
        "AHP-TOOLAUTH-037",
        "AHP-TOOLAUTH-065",
    )

    def envelope(self, envelope: Envelope) -> None:
        if envelope.kind != "session" or not envelope.accepted or not isinstance(envelope.before, dict):
            return
        if envelope.type == "session/inputNeededSet":
            self._set(envelope, entries_in(envelope.before))
        elif envelope.type == "session/inputNeededRemoved":
            self._removed(envelope, entries_in(envelope.before))

    def _set(self, envelope: Envelope, listed: list[dict[str, Any]]) -> None:
        entry = envelope.get("request")
        if not isinstance(entry, dict):
            return
        auth = entry.get("kind") == "toolAuthentication"
        self.watch("AHP-INPUT-014", "AHP-INNEED-010", "AHP-INNEED-017")
        if auth:
            self.watch("AHP-TOOLAUTH-037", "AHP-TOOLAUTH-065")
        for other in listed:
            same_id, same_subject = other.get("id") == entry.get("id"), subject_of(other) == subject_of(entry)
            if same_id and not same_subject:
                self._find(
                    envelope,
                    ("AHP-INPUT-014", "AHP-TOOLAUTH-037") if auth else ("AHP-INPUT-014",),
                    "an entry takes the id of another one that is still listed",
                    "an id of its own",
                )
            elif same_subject and not same_id and other.get("kind") == entry.get("kind"):
                self._find(
                    envelope,
                    ("AHP-INNEED-010", "AHP-INNEED-017", *(("AHP-TOOLAUTH-065",) if auth else ())),
                    "an open request gets a second entry under another id",
                    f"the id {other.get('id')}",
                )
            elif same_subject and {other.get("kind"), entry.get("kind")} == {
                "toolAuthentication",
                "toolConfirmation",
            }:
                self._find(
                    envelope,
                    ("AHP-TOOLAUTH-024",),
                    "a blocked call is listed for confirmation too",
                    "one entry for the call",
                )
        self._owner(envelope.message, entry, envelope.frame.n, (envelope.channel, envelope.seq))
        self._chat(entry, envelope.before, envelope.message, envelope.frame.n, (envelope.channel, envelope.seq))

    def _removed(self, envelope: Envelope, listed: list[dict[str, Any]]) -> None:
        self.watch("AHP-INNEED-010")
        if any(e.get("kind") == "toolAuthentication" for e in listed):
            self.watch("AHP-TOOLAUTH-065")
        if not any(e.get("id") == envelope.get("id") for e in listed):
            broken = ["AHP-INNEED-010"]
            if any(e.get("kind") == "toolAuthentication" for e in listed):
                broken.append("AHP-TOOLAUTH-065")
            self._find(
                envelope,
                tuple(broken),
                "a removal names no listed entry",
                f"one of {[e.get('id') for e in listed]}",
            )

    def snapshot(self, snapshot: Snapshot) -> None:
        if snapshot.kind != "session":
            return
        listed = entries_in(snapshot.state)
        if not listed:
            return
        self.watch("AHP-INPUT-014")
        ids = [e.get("id") for e in listed]
        if len(set(map(repr, ids))) < len(ids):
            self.find(
                "AHP-INPUT-014",
                "two entries share an id",
                expected="unique ids",
                seen=ids,
                frame=snapshot.frame.n,
            )
        for entry in listed:
            self._owner(entry, entry, snapshot.frame.n, None)
            self._chat(entry, snapshot.state, entry, snapshot.frame.n, None)

    def _owner(self, seen: Any, entry: dict[str, Any], frame: int, once: Any) -> None:
        if entry.get("kind") != "toolClientExecution":
            return
        self.watch("AHP-INPUT-017")
        call = entry.get("toolCall")
        contributor = _member(call, "contributor")
        if (
            _member(call, "status") != "running"
            or _member(contributor, "kind") != "client"
            or _member(contributor, "clientId") != entry.get("clientId")
        ):
            self.find(
                "AHP-INPUT-017",
                "a client execution that is not a running call of the named client",
                expected="toolCall running, contributed by entry.clientId",
                seen=seen,
                frame=frame,
                once=once,
            )

    def _chat(self, entry: dict[str, Any], state: Any, seen: Any, frame: int, once: Any) -> None:
        chats = [_member(c, "resource") for c in state.get("chats") or ()]
        if not chats:
            return
        self.watch("AHP-INNEED-011")
        if entry.get("chat") not in chats:
            self.find(
                "AHP-INNEED-011",
                "an entry names a chat that is none of the session",
                expected=chats,
                seen=seen,
                frame=frame,
                once=once,
            )

    def _find(self, envelope: Envelope, broken: tuple[str, ...], message: str, expected: str) -> None:
        self.find(
            broken,
            message,
            expected=expected,
            seen=envelope.message,
            frame=envelope.frame.n,
            once=(envelope.channel, envelope.seq),
        )


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

    def snapshot(self, snapshot: Snapshot) -> None:
        state, version = snapshot.state, self.version(snapshot.conn)
        if snapshot.kind != "session" or version is None or not isinstance(state.get("status"), int):
            return
        raised = needs_input(state["status"])
        kinds = {e.get("kind") for e in entries_in(state)}
        # Up to 0.7.0 work handed to a client raises the bit as well (AHP-INPUT-027, AHP-INPUT-101).
        handed_out_counts = compare(version, "0.8.0") < 0
        user_facing = kinds - (set() if handed_out_counts else {"toolClientExecution"})
        if user_facing:
            self._must_be_raised(snapshot, user_facing, raised)
        else:
            self._must_not_be_raised(snapshot, kinds, raised)

    def _must_be_raised(self, snapshot: Snapshot, kinds: set[Any], raised: bool) -> None:
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
                f"entries of {sorted(map(str, kinds))}, but no InputNeeded",
                expected="status & 24 is 24",
                seen=snapshot.state["status"],
                frame=snapshot.frame.n,
            )

    def _must_not_be_raised(self, snapshot: Snapshot, kinds: set[Any], raised: bool) -> None:
        state = snapshot.state
        # A chat that needs input raises its session on its own account, and so may a server that waits for a token
        # (ambiguity A-16); their entries, where they owe one, may come a moment later.
        elsewhere = any(
            isinstance(c, dict) and isinstance(c.get("status"), int) and needs_input(c["status"])
            for c in state.get("chats") or ()
        ) or any(_member(s.get("state"), "kind") == "authRequired" for s in servers_in(state))
        if elsewhere:
            return
        broken = ("AHP-INPUT-101",) if "toolClientExecution" in kinds else ("AHP-INPUT-026", "AHP-TOOLAUTH-070")
        self.watch(*broken)
        if raised:
            self.find(
                broken,
                "InputNeeded, but nothing waits for the user",
                expected="status & 24 is not 24",
                seen={"status": state["status"], "inputNeeded": state.get("inputNeeded", "absent")},
                frame=snapshot.frame.n,
            )


class Leftovers(Rule):
    """An entry does not outlive the turn that it is about."""

    name = "input-leftovers"
    obligations = ("AHP-INPUT-010", "AHP-TOOLAUTH-028")

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._ended: dict[tuple[str, str], int] = {}
        self._last: dict[str, Snapshot] = {}

    def envelope(self, envelope: Envelope) -> None:
        if envelope.kind == "chat" and envelope.accepted and envelope.type in ENDS:
            turn = envelope.get("turnId")
            before = envelope.before.get("activeTurn") if isinstance(envelope.before, dict) else None
            if isinstance(turn, str) and _member(before, "id") == turn and isinstance(envelope.seq, int):
                self._ended[(envelope.channel, turn)] = envelope.seq

    def snapshot(self, snapshot: Snapshot) -> None:
        if snapshot.kind == "session":
            self._last[snapshot.channel] = snapshot

    def end(self) -> None:
        if not self.tracker.settled:
            return
        for snapshot in self._last.values():
            for entry in entries_in(snapshot.state):
                ended = self._ended.get((entry.get("chat", ""), entry.get("turnId", "")))
                if ended is None or not isinstance(snapshot.from_seq, int) or snapshot.from_seq < ended:
                    continue
                auth = entry.get("kind") == "toolAuthentication"
                self.find(
                    ("AHP-INPUT-010", "AHP-TOOLAUTH-028") if auth else ("AHP-INPUT-010",),
                    "an entry is left of a turn that has ended",
                    expected="no entry of that turn",
                    seen=entry,
                    frame=snapshot.frame.n,
                )
        if self._ended and self._last:
            self.watch("AHP-INPUT-010")


def _member(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else None
