"""The catalogue of sessions: what listSessions shows, what root subscribers are told, and that both agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

from conformance.oracle.memory import Bounded
from conformance.oracle.reading import JSON, dicts, member, text, whole
from conformance.oracle.rule import Rule
from conformance.oracle.tracker import Envelope, Notification, Reply, Request, Snapshot
from conformance.protocol import ROOT_URI
from conformance.protocol.status import IS_ARCHIVED
from conformance.wire.frames import Frame

INVALID_PARAMS, SESSION_EXISTS = -32602, -32003
_FIXED = ("resource", "provider", "createdAt")
_OF_ROOT = frozenset({"root/sessionAdded", "root/sessionRemoved", "root/sessionSummaryChanged", "root/progress"})
# The members of the root state that may name a session, and those that are too well known to hold a list of them.
_NO_LIST = frozenset({"agents", "terminals", "config", "activeSessions", "_meta"})


@dataclass(slots=True)
class Entry:
    """What is known of a session that was announced or listed."""

    created_at: JSON = None
    # Frames of its announcement and its removal, and who was told of each.
    added: int = -1
    added_to: set[str] = field(default_factory=set)
    removed: int = -1
    removed_to: set[str] = field(default_factory=set)
    # When somebody asked for its creation and its disposal.
    asked: int = -1
    disposing: int = -1
    # Who followed the root when it was asked for, or before it was asked to go.
    audience: frozenset[str] = frozenset()
    mourners: frozenset[str] = frozenset()
    # Attempts at creation that are under way or succeeded; whether none is and the last one was refused.
    attempts: int = 0
    failed: bool = False

    @property
    def announced(self) -> bool:
        return self.added > self.removed

    @property
    def stays(self) -> bool:
        """Made and announced here, and nobody asked for its end.

        Whether others have asked for the end of what they made cannot be known, and their news may be late.
        """
        return self.announced and self.disposing <= self.asked and self.asked > -1


@dataclass(slots=True)
class Walk:
    """Pages of the list that one connection follows, cursor by cursor."""

    began: int
    limit: bool
    pages: int = 0
    seen: list[str] = field(default_factory=list)
    change: int = 0


@dataclass(slots=True)
class Doubt:
    """Something that only a later frame could explain."""

    obligations: tuple[str, ...]
    message: str
    expected: Any
    seen: Any
    frame: int
    # Pages of a list: what others change between two of them may be told late.
    paged: bool = False


class SessionCatalogue(Rule):
    """Announced sessions are in the list until their removal is told, to everybody who follows the root."""

    name = "session-catalogue"
    hears = frozenset({"session/titleChanged", "session/isArchivedChanged"})
    obligations = (
        "AHP-DISP-010",
        "AHP-LIST-002",
        "AHP-LIST-003",
        "AHP-LIST-004",
        "AHP-LIST-005",
        "AHP-LIST-006",
        "AHP-LIST-007",
        "AHP-LIST-009",
        "AHP-LIST-011",
        "AHP-ROOT-002",
        "AHP-ROOT-004",
        "AHP-ROOT-011",
        "AHP-ROOT-013",
        "AHP-ROOT-015",
        "AHP-ROOT-018",
        "AHP-ROOT-023",
        "AHP-ROOT-025",
        "AHP-SESS-023",
        "AHP-SESS-030",
        "AHP-SESS-046",
        "AHP-STAT-011",
    )

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._sessions: Bounded[str, Entry] = Bounded(1024)
        self._walks: Bounded[tuple[str, str], Walk] = Bounded(64)
        self._asked: dict[tuple[str, int | str], Walk] = {}
        self._cursors: Bounded[str, None] = Bounded(1024)
        # Counts whatever may have changed the catalogue.
        self._changes = 0
        self._doubts: Bounded[tuple[str, str], Doubt] = Bounded(256)
        # Which client action changed the title of a session last.
        self._renamed: Bounded[str, bool] = Bounded(1024)

    def frame(self, frame: Frame) -> None:
        """Anything that is said or done may change the catalogue."""
        method = member(frame.msg, "method")
        if method is not None and (frame.dir == "in" or method not in ("listSessions", "ping")):
            self._changes += 1

    # -- what clients ask -----------------------------------------------------------------------------

    def _followers(self) -> frozenset[str]:
        views = self.tracker.views(ROOT_URI)
        return frozenset(connection.name for connection, view in views if view.live and connection.fed)

    def _witnessed(self, told: Iterable[str], since: int) -> bool:
        """Whether one who was told has followed the root ever since, so that it would know of a later change."""
        here = self._followers()
        return any(conn in here and self.tracker.connection(conn).left.get(ROOT_URI, -1) < since for conn in told)

    def _entry(self, uri: str) -> Entry:
        return self._sessions.setdefault(uri, Entry())

    def request(self, request: Request) -> None:
        session = text(request.params.get("channel"))
        if request.method == "listSessions":
            self._list_asked(request)
        elif request.method == "createSession" and session is not None:
            entry = self._entry(session)
            entry.failed = False
            if not entry.announced:
                there = self._followers()
                entry.audience = entry.audience & there if entry.attempts else there
                entry.attempts += 1
                entry.asked, entry.created_at = request.frame.n, None
        elif request.method == "disposeSession" and session is not None:
            entry = self._entry(session)
            if entry.disposing <= entry.asked:
                entry.disposing, entry.mourners = request.frame.n, self._followers()

    def _list_asked(self, request: Request) -> None:
        cursor = request.params.get("cursor")
        if cursor is None:
            limit = request.params.get("limit") is not None
            walk: Walk | None = Walk(request.frame.n, limit, change=self._changes)
        else:
            walk = self._walks.pop((request.conn, cursor), None) if isinstance(cursor, str) else None
        if walk is not None:
            self._asked[(request.conn, request.id)] = walk

    def reply(self, reply: Reply) -> None:
        request = reply.request
        if request is None:
            return
        session = text(request.params.get("channel"))
        if request.method == "listSessions":
            walk = self._asked.pop((reply.conn, request.id), None)
            if reply.failed or isinstance(reply.result, dict):
                self._listed(reply, request, walk)
        elif request.method == "createSession" and session is not None:
            entry = self._entry(session)
            if reply.failed and entry.attempts:
                # An attempt at a free URI that nobody else makes at the same time.
                entry.attempts -= 1
                # What is there already may not have been announced yet.
                there = whole(member(reply.error, "code")) == SESSION_EXISTS
                entry.failed = not entry.attempts and not entry.announced and not there
            if entry.failed:
                self.watch("AHP-ROOT-018")

    # -- the list -------------------------------------------------------------------------------------

    def _listed(self, reply: Reply, request: Request, walk: Walk | None) -> None:
        cursor = text(request.params.get("cursor"))
        foreign = cursor is not None and self._cursors and cursor not in self._cursors
        if foreign and self.tracker.connection(reply.conn).began:
            self.watch("AHP-LIST-006")
            if whole(member(reply.error, "code")) != INVALID_PARAMS:
                message = "a cursor that the host has never given has another outcome"
                self._wrong("AHP-LIST-006", message, f"error {INVALID_PARAMS}", reply.frame.msg, reply.frame.n)
        if reply.failed or walk is None or self.version(reply.conn) is None:
            return
        items, following = dicts(reply.result.get("items")), text(reply.result.get("nextCursor"))
        self._page(reply, request, items, following, walk)
        self._order(items, reply.frame.n)
        for item in items:
            self._summary(item, reply.frame.n)
            self._mirrors(item, reply)
        walk.pages += 1
        walk.seen += [uri for item in items if (uri := text(item.get("resource"))) is not None][:10_000]
        if following is not None:
            self._cursors[following] = None
            self._walks[(reply.conn, following)] = walk
            return
        self._complete(walk, reply)

    def _page(
        self, reply: Reply, request: Request, items: list[dict[str, JSON]], following: str | None, walk: Walk
    ) -> None:
        limit = whole(request.params.get("limit"))
        if limit is not None and limit > 0 and following is not None:
            self.watch("AHP-LIST-003")
            if len(items) > limit:
                self._wrong("AHP-LIST-003", "a page holds more than its limit", limit, len(items), reply.frame.n)
        if walk.pages and not items and walk.change == self._changes:
            message = "a nextCursor was given although nothing followed"
            self._wrong("AHP-LIST-004", message, "no nextCursor on the page before", reply.result, reply.frame.n)

    def _complete(self, walk: Walk, reply: Reply) -> None:
        """All pages of a list are there."""
        paged = walk.pages > 1
        if paged and walk.change != self._changes:
            # An entry may move from a page that is still to come to one that was read.
            return
        how = ("AHP-LIST-004",) if paged or not walk.limit else ("AHP-LIST-004", "AHP-LIST-011")
        self.watch(*how, *(["AHP-LIST-005"] if paged else []))
        twice = sorted(uri for uri, times in Counter(walk.seen).items() if times > 1)
        if twice:
            broken = "AHP-LIST-005" if paged else "AHP-LIST-002"
            if not paged:
                self._wrong(broken, "sessions are listed twice", "each once", twice, reply.frame.n)
            elif reply.conn in self._followers():
                twice_told = Doubt(
                    (broken,), "sessions are listed twice", "each once", twice, reply.frame.n, paged=True
                )
                self._doubts.setdefault(("twice", str(reply.frame.n)), twice_told)
        listed = set(walk.seen)
        for uri, entry in self._sessions.items():
            if entry.stays and entry.added < walk.began and self._witnessed(entry.added_to, entry.added):
                self.watch("AHP-LIST-002")
                if uri not in listed:
                    more = ("AHP-LIST-004", "AHP-LIST-005") if paged else how if walk.limit else ()
                    message = "an announced session is not listed"
                    self._doubt(("removed", uri), ("AHP-LIST-002", *more), message, uri, reply, paged=paged)
            elif -1 < entry.removed < walk.began and entry.asked < entry.removed and not entry.announced:
                if not self._witnessed(entry.removed_to, entry.removed):
                    continue
                self.watch("AHP-LIST-002")
                if uri in listed:
                    self._doubt(("added", uri), ("AHP-LIST-002",), "a removed session is listed", "not in it", reply)

    def _doubt(
        self,
        key: tuple[str, str],
        obligations: tuple[str, ...],
        message: str,
        expected: Any,
        reply: Reply,
        *,
        paged: bool = False,
    ) -> None:
        self._doubts.setdefault(key, Doubt(obligations, message, expected, reply.result, reply.frame.n, paged))

    def _order(self, items: list[dict[str, JSON]], frame: int) -> None:
        times = [moment for item in items if (moment := _moment(item.get("modifiedAt"))) is not None]
        if len(times) < 2:
            return
        self.watch("AHP-LIST-007")
        if any(one < other for one, other in pairwise(times)):
            shown = [item.get("modifiedAt") for item in items]
            self._wrong("AHP-LIST-007", "the list does not start with what changed last", "descending", shown, frame)

    def _mirrors(self, item: dict[str, JSON], reply: Reply) -> None:
        """An entry against the fold of somebody who follows the session."""
        uri = text(item.get("resource"))
        view = self.tracker.connection(reply.conn).channels.get(uri or "")
        if uri is None or view is None or not view.live or not isinstance(view.state, dict):
            return
        self.watch("AHP-LIST-009", *(["AHP-DISP-010", "AHP-SESS-030"] if self._renamed.get(uri) else []))
        for name in ("provider", "title"):
            if item.get(name) != view.state.get(name):
                broken = (
                    ("AHP-LIST-009", "AHP-DISP-010", "AHP-SESS-030")
                    if name == "title" and self._renamed.get(uri)
                    else ("AHP-LIST-009",)
                )
                shown = {name: view.state.get(name)}
                self._doubts[(name, uri)] = Doubt(
                    broken,
                    f"the {name} of {uri} is another one in the list",
                    shown,
                    {name: item.get(name)},
                    reply.frame.n,
                )
        ours, theirs = whole(view.state.get("status")), whole(item.get("status"))
        if ours is None or theirs is None:
            return
        if ours & IS_ARCHIVED:
            self.watch("AHP-STAT-011")
        if (ours ^ theirs) & IS_ARCHIVED:
            message = f"the archived flag of {uri} is another one in the list"
            self._doubts[("archived", uri)] = Doubt(("AHP-STAT-011",), message, ours, theirs, reply.frame.n)

    def envelope(self, envelope: Envelope) -> None:
        if not envelope.accepted:
            return
        uri = envelope.channel
        if envelope.type == "session/titleChanged":
            self._renamed[uri] = envelope.by is not None
            doubt = self._doubts.get(("title", uri))
            # The list may have been ahead of the channel.
            if doubt is not None and doubt.seen == {"title": envelope.get("title")}:
                del self._doubts[("title", uri)]
        else:
            self._doubts.pop(("archived", uri), None)

    def end(self) -> None:
        if not self.tracker.settled:
            return
        for (what, uri), doubt in self._doubts.items():
            entry = self._sessions.get(uri)
            if what == "removed" and entry is not None and not self._witnessed(entry.added_to, entry.added):
                # Its removal may have been told when nobody was there to hear of it.
                continue
            self._wrong(doubt.obligations, doubt.message, doubt.expected, doubt.seen, doubt.frame)
        fed = {c.name for c in self.tracker.connections.values() if c.fed} & self._followers()
        for uri, entry in self._sessions.items():
            owed = entry.audience & fed
            self._audience("AHP-ROOT-011", "root/sessionAdded", uri, entry.added, entry.asked, entry.added_to, owed)
            owed, told = entry.mourners & fed, entry.removed_to
            self._audience("AHP-ROOT-013", "root/sessionRemoved", uri, entry.removed, entry.disposing, told, owed)

    def _audience(
        self, obligation: str, method: str, uri: str, frame: int, since: int, told: set[str], owed: Iterable[str]
    ) -> None:
        """What one follower of the root was told, all are told who followed it before it was asked for."""
        for conn in owed if told else ():
            if self.tracker.connection(conn).left.get(ROOT_URI, -1) >= since:
                # It was away from the root for a while.
                continue
            self.watch(obligation)
            if conn not in told:
                self._wrong(
                    obligation,
                    f"client {conn} follows the root and was not told what others were",
                    f"{method} for {uri}",
                    f"told to {sorted(told)}",
                    frame,
                )

    # -- what root subscribers are told ---------------------------------------------------------------

    def notification(self, notification: Notification) -> None:
        if notification.method not in _OF_ROOT:
            return
        params, frame = notification.params, notification.frame.n
        self.watch("AHP-ROOT-025")
        if text(params.get("channel")) not in (None, ROOT_URI):
            message = f"{notification.method} is not addressed to the root channel"
            self._wrong("AHP-ROOT-025", message, ROOT_URI, params, frame)
        uri = text(params.get("session")) or text(member(params.get("summary"), "resource"))
        if notification.method != "root/progress" and uri is not None:
            self._explains(uri)
        if notification.method == "root/sessionAdded":
            self._added(notification, params.get("summary"))
        elif notification.method == "root/sessionRemoved":
            self._removed(notification, text(params.get("session")))
        elif notification.method == "root/sessionSummaryChanged":
            self._changed(notification, text(params.get("session")), params.get("changes"))

    def _explains(self, uri: str) -> None:
        """A change of a session that nobody asked for here may have come between two pages, and be told late."""
        entry = self._sessions.get(uri)
        asked = max(entry.asked, entry.disposing) if entry is not None else -1
        for key in [key for key, doubt in self._doubts.items() if doubt.paged and asked < doubt.frame]:
            del self._doubts[key]

    def _added(self, notification: Notification, summary: JSON) -> None:
        uri, frame, conn = text(member(summary, "resource")), notification.frame.n, notification.conn
        if uri is None or not isinstance(summary, dict):
            return
        entry = self._entry(uri)
        self._doubts.pop(("added", uri), None)
        self.watch("AHP-ROOT-011")
        if entry.failed:
            message = "a session is announced whose creation was refused"
            self._wrong("AHP-ROOT-018", message, "no root/sessionAdded", notification.params, frame)
        if conn in entry.added_to and entry.asked < entry.added and entry.announced:
            message = "a session is announced to one client twice"
            self._wrong("AHP-ROOT-011", message, "one root/sessionAdded", notification.params, frame)
        if not entry.announced:
            entry.added_to.clear()
        entry.added = frame
        entry.added_to.add(conn)
        entry.removed_to.discard(conn)
        self._summary(summary, frame)

    def _removed(self, notification: Notification, uri: str | None) -> None:
        if uri is None:
            return
        entry, conn = self._entry(uri), notification.conn
        entry.attempts, entry.created_at = 0, None
        self.watch("AHP-ROOT-013", "AHP-ROOT-023")
        if conn in entry.removed_to and entry.asked < entry.removed:
            message = "the removal of a session is told to one client twice"
            self._wrong("AHP-ROOT-023", message, "nothing more", notification.params, notification.frame.n)
        entry.removed = notification.frame.n
        entry.removed_to.add(conn)
        for name in ("removed", "active"):
            self._doubts.pop((name, uri), None)
        self._doubts.pop(("active", ""), None)

    def _changed(self, notification: Notification, uri: str | None, changes: JSON) -> None:
        if uri is None or not isinstance(changes, dict):
            return
        entry, frame = self._sessions.get(uri), notification.frame.n
        self.watch("AHP-ROOT-015")
        for name in changes:
            # The list may have been behind the channel.
            self._doubts.pop(("archived" if name == "status" else name, uri), None)
        fixed = sorted(name for name in _FIXED if changes.get(name) is not None)
        if fixed:
            message = "a change of a summary names what never changes"
            self._wrong("AHP-ROOT-015", message, "only what changed", {n: changes[n] for n in fixed}, frame)
        if entry is not None and notification.conn in entry.removed_to and entry.asked < entry.removed:
            message = "a client is told of changes of a session that was removed"
            self._wrong("AHP-ROOT-023", message, "nothing more", notification.params, frame)
        self._times({"modifiedAt": changes["modifiedAt"]} if "modifiedAt" in changes else {}, frame)

    def _summary(self, summary: dict[str, JSON], frame: int) -> None:
        uri = text(summary.get("resource"))
        self._times(summary, frame)
        created = summary.get("createdAt")
        if uri is None or not isinstance(created, str):
            return
        entry = self._entry(uri)
        if entry.created_at is None:
            entry.created_at = created
            return
        self.watch("AHP-SESS-046")
        if _moment(created) != _moment(entry.created_at):
            self._wrong("AHP-SESS-046", "createdAt of a session changed", entry.created_at, created, frame)

    def _times(self, values: dict[str, JSON], frame: int) -> None:
        for name in ("createdAt", "modifiedAt"):
            value = values.get(name)
            if not isinstance(value, str):
                continue
            self.watch("AHP-SESS-023")
            if _moment(value) is None:
                self._wrong("AHP-SESS-023", f"{name} is no ISO 8601 time", "an ISO 8601 string", value, frame)

    # -- the root state -------------------------------------------------------------------------------

    def snapshot(self, snapshot: Snapshot) -> None:
        if snapshot.channel != ROOT_URI or not isinstance(snapshot.state, dict):
            return
        known = {
            uri for uri, entry in self._sessions.items() if entry.stays and self._witnessed(entry.added_to, entry.added)
        }
        if not known:
            return
        self.watch("AHP-ROOT-002")
        rest = [value for name, value in snapshot.state.items() if name not in _NO_LIST]
        shown = sorted(set(_strings(rest)) & known)
        if shown:
            self._wrong("AHP-ROOT-002", "the root state lists sessions", "no list", shown, snapshot.frame.n)
        number = whole(snapshot.state.get("activeSessions"))
        if number is not None:
            self.watch("AHP-ROOT-004")
            if number < len(known):
                message = "fewer active sessions than were announced and not disposed of"
                self._doubts[("active", "")] = Doubt(
                    ("AHP-ROOT-004",), message, f"at least {len(known)}", number, snapshot.frame.n
                )

    def _wrong(self, obligation: str | tuple[str, ...], message: str, expected: Any, seen: Any, frame: int) -> None:
        self.find(obligation, message, expected=expected, seen=seen, frame=frame)


def _moment(value: JSON) -> datetime | None:
    """The moment that an ISO 8601 string names; without an offset it is taken as UTC."""
    if not isinstance(value, str) or len(value) > 64:
        return None
    try:
        moment = datetime.fromisoformat(value)
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    except ValueError:
        return None


def _strings(values: Iterable[JSON]) -> Iterator[str]:
    todo = list(values)
    while todo:
        value = todo.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict):
            todo.extend(value.values())
        elif isinstance(value, list):
            todo.extend(value)
