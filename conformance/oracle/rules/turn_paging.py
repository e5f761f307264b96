"""Paging of older turns: what fetchTurns brings, in which order, and how the cursor moves."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from conformance.oracle.memory import Bounded
from conformance.oracle.reading import JSON, dicts, member, text, whole
from conformance.oracle.rule import Rule
from conformance.oracle.tracker import Envelope, Reply, Request, Snapshot
from conformance.protocol.errors import INTERNAL_ERROR, INVALID_PARAMS, NOT_FOUND

_MOST_CHATS = 1024


@dataclass(slots=True)
class _Fetch:
    """A request for older turns: whether its cursor was the current one, and whether turns came since."""

    current: bool
    unknown: bool
    loaded: bool = False


@dataclass(slots=True)
class _Chat:
    # Every cursor that the host has ever given out for the chat.
    cursors: Bounded[str, None] = field(default_factory=lambda: Bounded(256))


class TurnPaging(Rule):
    """fetchTurns and chat/turnsLoaded, and the first snapshot that they go on from."""

    name = "turn-paging"
    hears = frozenset({"chat/turnsLoaded"})
    obligations = (
        "AHP-PAGE-001",
        "AHP-PAGE-004",
        "AHP-PAGE-005",
        "AHP-PAGE-006",
        "AHP-PAGE-007",
        "AHP-PAGE-009",
        "AHP-PAGE-010",
        "AHP-PAGE-012",
        "AHP-PAGE-013",
        "AHP-PAGE-015",
    )

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._chats: Bounded[str, _Chat] = Bounded(_MOST_CHATS)
        self._fetches: Bounded[tuple[str, int | str], _Fetch] = Bounded()
        # Channels to which nobody could subscribe.
        self._missing: Bounded[str, None] = Bounded(_MOST_CHATS)

    def gone(self, channel: str) -> None:
        self._chats.pop(channel, None)

    def snapshot(self, snapshot: Snapshot) -> None:
        if snapshot.kind == "chat":
            self._learn(snapshot.channel, member(snapshot.state, "turnsNextCursor"))

    def _learn(self, channel: str, cursor: JSON) -> None:
        self._missing.pop(channel, None)
        chat = self._chats.setdefault(channel, _Chat())
        if isinstance(cursor, str):
            chat.cursors[cursor] = None

    # -- requests ---------------------------------------------------------------------------------------

    def request(self, request: Request) -> None:
        if request.method == "createChat":
            self._missing.pop(text(request.params.get("chat")) or "", None)
        if request.method != "fetchTurns":
            return
        channel, cursor = text(request.params.get("channel")), request.params.get("cursor")
        connection = self.tracker.connection(request.conn)
        view = connection.channels.get(channel or "")
        followed = current = False
        if view is not None and view.live and not view.late:
            followed = True
            current = cursor is not None and member(view.state, "turnsNextCursor") == cursor
        chat = self._chats.get(channel or "")
        never = isinstance(cursor, str) and chat is not None and cursor not in chat.cursors
        self._fetches[(request.conn, request.id)] = _Fetch(current, followed and never and connection.began)

    def reply(self, reply: Reply) -> None:
        if reply.request is None:
            return
        if reply.request.method == "subscribe":
            self._subscribed(reply, reply.request.params)
        elif reply.request.method == "fetchTurns":
            fetch = self._fetches.pop((reply.conn, reply.request.id), None)
            if fetch is not None:
                self._fetched(reply, fetch)

    def _subscribed(self, reply: Reply, params: JSON) -> None:
        channel, view = text(params.get("channel")), params.get("view")
        state = member(member(reply.result, "snapshot"), "state")
        # Together with a count that is none it may rightly be refused.
        strange = isinstance(view, dict) and bool(view.keys() - {"turns"}) and member(view, "turns") is None
        if reply.failed:
            known = any(view.live for _, view in self.tracker.views(channel or ""))
            if channel is not None and not known and whole(member(reply.error, "code")) == NOT_FOUND:
                self._missing[channel] = None
            if strange and known and whole(member(reply.error, "code")) == INVALID_PARAMS:
                self._find(reply, "AHP-PAGE-015", "a view that the host does not know is refused", "a snapshot")
            return
        if strange:
            self.watch("AHP-PAGE-015")
        if whole(member(view, "turns")) is None and isinstance(member(state, "turns"), list) and state["turns"]:
            self.watch("AHP-PAGE-001")
            if state.get("turnsNextCursor") is not None:
                self._find(reply, "AHP-PAGE-001", "older turns are left out though no view was asked for", "every turn")

    def _fetched(self, reply: Reply, fetch: _Fetch) -> None:
        assert reply.request is not None
        params, code = reply.request.params, whole(member(reply.error, "code"))
        if fetch.unknown and (not reply.failed or code in (INTERNAL_ERROR, INVALID_PARAMS)):
            # Other errors have other reasons, such as a chat that was removed meanwhile.
            self.watch("AHP-PAGE-006")
            if code != INVALID_PARAMS:
                self._find(reply, "AHP-PAGE-006", "a cursor that the host never gave out", "the error -32602")
        if params.get("cursor") is None and text(params.get("channel")) in self._chats:
            if not reply.failed:
                self.watch("AHP-PAGE-010")
            elif code == INVALID_PARAMS:
                self._find(reply, "AHP-PAGE-010", "a request without cursor is refused", "a result")
        # In a log of one client another one may have made the chat meanwhile.
        if text(params.get("channel")) in self._missing and code != -32601 and self.tracker.whole:
            self.watch("AHP-PAGE-013")
            if not reply.failed:
                self._find(reply, "AHP-PAGE-013", "turns are fetched of a chat that is not there", "an error")
        if reply.failed:
            return
        self.watch("AHP-PAGE-005")
        result = reply.result
        if not isinstance(result, dict) or "turns" in result or "hasMore" in result:
            self._find(reply, "AHP-PAGE-005", "the turns come with the result", "an object without turns")
        # A cursor that another client's truncation has made void meanwhile tells nothing.
        view = self.tracker.connection(reply.conn).channels.get(text(params.get("channel")) or "")
        still = view is not None and view.live and member(view.state, "turnsNextCursor") == params.get("cursor")
        if fetch.current and (fetch.loaded or still):
            self.watch("AHP-PAGE-004")
            if not fetch.loaded:
                self._find(reply, "AHP-PAGE-004", "the answer comes without its turns", "chat/turnsLoaded before it")

    # -- what they bring ----------------------------------------------------------------------------------

    def envelope(self, envelope: Envelope) -> None:
        if envelope.kind != "chat" or not envelope.accepted:
            return
        self._learn(envelope.channel, envelope.get("turnsNextCursor"))
        for request in self.tracker.connection(envelope.conn).requests.values():
            fetch = self._fetches.get((envelope.conn, request.id))
            if fetch is not None and request.params.get("channel") == envelope.channel:
                fetch.loaded = True
        if isinstance(envelope.before, dict):
            self._loaded(envelope, envelope.before)

    def _loaded(self, envelope: Envelope, before: dict[str, JSON]) -> None:
        here = [turn.get("id") for turn in dicts(before.get("turns"))]
        known = set(map(repr, here))
        new = [t.get("id") for t in dicts(envelope.get("turns")) if repr(t.get("id")) not in known]
        cursor = before.get("turnsNextCursor")
        if cursor is None:
            # Who has every turn already must not get more of them (ambiguity AMB-27: it may be told all the same).
            if here:
                self.watch("AHP-PAGE-012")
                if new:
                    self._say(
                        envelope, "AHP-PAGE-012", "turns are loaded for one who had all of them", "no other turns"
                    )
            return
        if new:
            self.watch("AHP-PAGE-009")
            if envelope.get("turnsNextCursor") == cursor:
                self._say(envelope, "AHP-PAGE-009", "turns were loaded and the cursor is the same", "another, or none")
            self._in_order(envelope, new, here)

    def _in_order(self, envelope: Envelope, new: list[JSON], here: list[JSON]) -> None:
        """Somebody who follows the chat with all its turns shows where those belong that were loaded."""
        for connection, view in self.tracker.views(envelope.channel):
            if not view.live or not connection.fed or member(view.state, "turnsNextCursor") is not None:
                continue
            every = [turn.get("id") for turn in dicts(member(view.state, "turns"))]
            if connection.name == envelope.conn or not here or here[0] not in every:
                continue
            place = every.index(here[0])
            self.watch("AHP-PAGE-007")
            if every[max(0, place - len(new)) : place] != new:
                self._say(
                    envelope,
                    "AHP-PAGE-007",
                    "the turns loaded are not those right before the window, oldest first",
                    every[max(0, place - len(new)) : place],
                )
            return

    def _say(self, envelope: Envelope, obligation: str, message: str, expected: JSON) -> None:
        self.find(
            obligation,
            message,
            expected=expected,
            seen=envelope.message,
            frame=envelope.frame.n,
            once=(envelope.channel, envelope.conn, repr(envelope.seq)),
        )

    def _find(self, reply: Reply, obligation: str, message: str, expected: str) -> None:
        assert reply.request is not None
        self.find(
            obligation,
            message,
            expected=expected,
            seen={"params": reply.request.params, "result": reply.result, "error": reply.error},
            frame=reply.frame.n,
        )
