"""The entries of what a session waits for: their ids, what they are about, and who owns them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from conformance.oracle.memory import Bounded, forget
from conformance.oracle.reading import active_turn, call_in, chats_in, entries_in, member, text
from conformance.oracle.rule import Rule
from conformance.oracle.tracker import Envelope, Snapshot
from conformance.oracle.unknown import has_unknown_kind

Subject = tuple[str, ...]

_MOST_SESSIONS = 256


def subject_of(entry: Any) -> Subject:
    """What an entry is about: the chat and the request, or the chat, the turn and the call."""
    if member(entry, "kind") == "chatInput":
        parts = [member(entry, "chat"), member(member(entry, "request"), "id")]
    else:
        parts = [member(entry, "chat"), member(entry, "turnId"), member(member(entry, "toolCall"), "toolCallId")]
    return tuple(part if isinstance(part, str) else repr(part) for part in parts)


def _what(entry: Any) -> tuple[str, str]:
    """What an entry waits for: its kind, and of a confirmation whether it is about the call or its result."""
    confirms = member(entry, "kind") == "toolConfirmation"
    reviews = member(member(entry, "toolCall"), "status") == "pending-result-confirmation"
    return repr(member(entry, "kind")), "result" if confirms and reviews else ""


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
    hears = frozenset(
        {"session/chatAdded", "session/chatRemoved", "session/inputNeededSet", "session/inputNeededRemoved"}
    )

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        # Per session: ids that were listed, chats that were in the catalogue, the chats that entries name with the
        # frame that showed it.
        self._ids: Bounded[str, Bounded[str, None]] = Bounded(_MOST_SESSIONS)
        self._chats: Bounded[str, Bounded[str, None]] = Bounded(_MOST_SESSIONS)
        self._named: Bounded[tuple[str, str], tuple[int, Any]] = Bounded()
        # Confirmations that were listed when their call was seen blocked already, with the frame that did it.
        self._late: Bounded[tuple[str, str], tuple[int, Any]] = Bounded()

    def gone(self, channel: str) -> None:
        self._ids.pop(channel, None)
        # What was to be taken off has gone with the session.
        forget(self._late, channel)

    def _keep(self, where: Bounded[str, Bounded[str, None]], session: str, values: Iterable[str]) -> None:
        kept = where.setdefault(session, Bounded())
        for value in values:
            kept[value] = None

    def envelope(self, envelope: Envelope) -> None:
        if envelope.kind != "session" or not envelope.accepted or not isinstance(envelope.before, dict):
            return
        self._keep(self._chats, envelope.channel, chats_in(envelope.after))
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
            self.watch("AHP-TOOLAUTH-024", "AHP-TOOLAUTH-037", "AHP-TOOLAUTH-065")
        self._keep(self._ids, envelope.channel, [repr(entry.get("id"))])
        # What an entry of an unknown kind is about nobody can say.
        for other in () if has_unknown_kind(entry) else listed:
            same_id, same_subject = other.get("id") == entry.get("id"), subject_of(other) == subject_of(entry)
            if same_id and not same_subject:
                self._find(
                    envelope,
                    ("AHP-INPUT-014", "AHP-TOOLAUTH-037") if auth else ("AHP-INPUT-014",),
                    "an entry takes the id of another one that is still listed",
                    "an id of its own",
                )
            # A call may wait for a second thing, while the entry about the first is about to be taken off (AMB-17).
            elif same_subject and not same_id and _what(other) == _what(entry):
                self._find(
                    envelope,
                    ("AHP-INNEED-010", "AHP-INNEED-017", *(("AHP-TOOLAUTH-065",) if auth else ())),
                    "an open request gets a second entry under another id",
                    f"the id {other.get('id')}",
                )
        self._late.pop((envelope.channel, repr(entry.get("id"))), None)
        if entry.get("kind") == "toolConfirmation" and self._is_blocked(entry):
            if member(entry.get("toolCall"), "status") == "auth-required":
                self._both(envelope.frame.n, envelope.channel, entry)
            else:
                # The news of a wait that is over already; it has to be taken off again.
                self._late[(envelope.channel, repr(entry.get("id")))] = (envelope.frame.n, entry)
        self._owner(envelope.message, entry, envelope.frame.n, envelope.channel)
        self._chat(envelope.channel, entry, envelope.frame.n)

    def _is_blocked(self, entry: dict[str, Any]) -> bool:
        """Whether everybody who follows the chat sees the call of an entry auth-required."""
        chat = text(entry.get("chat"))
        seen = [
            member(call_in(active_turn(view.state), member(entry.get("toolCall"), "toolCallId")), "status")
            for connection, view in self.tracker.views(chat or "")
            if view.live and connection.fed
        ]
        return bool(seen) and all(status == "auth-required" for status in seen)

    def _both(self, frame: int, session: str, entry: dict[str, Any]) -> None:
        self.find(
            "AHP-TOOLAUTH-024",
            "a blocked call is listed for confirmation too",
            expected="one entry for the call",
            seen=entry,
            frame=frame,
            once=(session, repr(entry.get("id"))),
        )

    def _removed(self, envelope: Envelope, listed: list[dict[str, Any]]) -> None:
        kinds = {text(e.get("kind")) for e in listed}
        self.watch("AHP-INNEED-010")
        self._late.pop((envelope.channel, repr(envelope.get("id"))), None)
        if "toolAuthentication" in kinds:
            self.watch("AHP-TOOLAUTH-065")
        gone = next((e for e in listed if e.get("id") == envelope.get("id")), None)
        if gone is not None and gone.get("kind") == "toolAuthentication":
            # A confirmation that went as the call ran on may be taken off late, but not later than the block's end.
            for other in listed:
                earlier = listed.index(other) < listed.index(gone)
                if earlier and other.get("kind") == "toolConfirmation" and subject_of(other) == subject_of(gone):
                    self._both(envelope.frame.n, envelope.channel, other)
        # To take off once more what is gone already does no harm.
        elif gone is None and listed and repr(envelope.get("id")) not in self._ids.get(envelope.channel, ()):
            self._find(
                envelope,
                ("AHP-INNEED-010", *(("AHP-TOOLAUTH-065",) if kinds == {"toolAuthentication"} else ())),
                "a removal names an id that was never listed",
                f"one of {[e.get('id') for e in listed]}",
            )

    def snapshot(self, snapshot: Snapshot) -> None:
        if snapshot.kind != "session":
            return
        self._keep(self._chats, snapshot.channel, chats_in(snapshot.state))
        listed = entries_in(snapshot.state)
        if not listed:
            return
        self.watch("AHP-INPUT-014")
        ids = [repr(e.get("id")) for e in listed]
        self._keep(self._ids, snapshot.channel, ids)
        twice = [e for e in listed if ids.count(repr(e.get("id"))) > 1]
        if twice:
            auth = all(e.get("kind") == "toolAuthentication" for e in twice)
            self.find(
                ("AHP-INPUT-014", "AHP-TOOLAUTH-037") if auth else "AHP-INPUT-014",
                "two entries share an id",
                expected="unique ids",
                seen=[e.get("id") for e in listed],
                frame=snapshot.frame.n,
            )
        for entry in listed:
            self._owner(entry, entry, snapshot.frame.n, snapshot.channel)
            self._chat(snapshot.channel, entry, snapshot.frame.n)

    def _owner(self, seen: Any, entry: dict[str, Any], frame: int, session: str) -> None:
        if entry.get("kind") != "toolClientExecution":
            return
        self.watch("AHP-INPUT-017")
        call = entry.get("toolCall")
        contributor = member(call, "contributor")
        if (
            member(call, "status") != "running"
            or member(contributor, "kind") != "client"
            or member(contributor, "clientId") != entry.get("clientId")
        ):
            self.find(
                "AHP-INPUT-017",
                "a client execution that is not a running call of the named client",
                expected="toolCall running, contributed by entry.clientId",
                seen=seen,
                frame=frame,
                once=(session, repr(entry.get("id"))),
            )

    def _chat(self, session: str, entry: dict[str, Any], frame: int) -> None:
        chat = entry.get("chat")
        self._named.setdefault((session, chat if isinstance(chat, str) else repr(chat)), (frame, entry))

    def end(self) -> None:
        """A chat may be announced a moment after the first request in it, so the end decides."""
        for (session, _), (frame, entry) in self._late.items() if self.tracker.settled else ():
            self._both(frame, session, entry)
        for (session, chat), (frame, entry) in self._named.items():
            if not self.tracker.settled or not self._chats.get(session):
                continue
            self.watch("AHP-INNEED-011")
            if chat not in self._chats[session]:
                self.find(
                    "AHP-INNEED-011",
                    "an entry names a chat that is none of the session",
                    expected=sorted(self._chats[session]),
                    seen=entry,
                    frame=frame,
                )

    def _find(self, envelope: Envelope, broken: tuple[str, ...], message: str, expected: str) -> None:
        self.find(
            broken,
            message,
            expected=expected,
            seen=envelope.message,
            frame=envelope.frame.n,
            once=(envelope.channel, repr(envelope.seq)),
        )
