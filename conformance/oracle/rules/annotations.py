"""Annotations: what clients may do with them, what the host may not, and what the session says about them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from conformance.oracle.memory import Bounded
from conformance.oracle.reading import JSON, active_turn, chats_in, dicts, member, text, texts, whole
from conformance.oracle.rule import Rule
from conformance.oracle.tracker import Envelope, Notification, Reply, Request, Snapshot
from conformance.oracle.views import ConnectionView
from conformance.protocol import action_violations

_SUFFIX = "/annotations"
_COUNTS = ("annotationCount", "entryCount")


@dataclass(frozen=True, slots=True)
class _Summary:
    """A summary with other counts than the fold of its channel; ``late``: they are those of a moment before."""

    summary: JSON
    fold: JSON
    frame: int
    late: bool


class Annotations(Rule):
    """Clients may annotate; an annotation has an entry; the session names the channel and counts what is in it."""

    name = "annotations"
    obligations = (
        "AHP-ANN-003",
        "AHP-ANN-010",
        "AHP-ANN-011",
        "AHP-ANN-013",
        "AHP-ANN-021",
        "AHP-ANN-023",
        "AHP-ANN-024",
    )
    hears = frozenset(
        {
            "annotations/set",
            "annotations/updated",
            "annotations/removed",
            "annotations/entrySet",
            "annotations/entryRemoved",
        }
    )

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        # Channel -> who set each annotation first.
        self._authors: dict[str, Bounded[str, str]] = {}
        # What each connection had folded of its annotation channels when it asked for the list of sessions.
        self._asked: Bounded[tuple[str, int | str], dict[str, JSON]] = Bounded()
        # The last summary that each connection was given of a channel, when it does not count what is in it.
        self._behind: Bounded[tuple[str, str], _Summary] = Bounded()

    def gone(self, channel: str) -> None:
        self._authors.pop(channel, None)
        for key in [key for key in self._behind if key[1] == channel]:
            del self._behind[key]

    def snapshot(self, snapshot: Snapshot) -> None:
        if snapshot.kind == "session" and member(snapshot.state, "annotations") is not None:
            resource = text(member(member(snapshot.state, "annotations"), "resource"))
            if resource is not None:
                self.watch("AHP-ANN-021")
                if resource.rstrip("/") != snapshot.channel.rstrip("/") + _SUFFIX:
                    self.find(
                        "AHP-ANN-021",
                        "the URI of the annotations is not that of the session with a suffix",
                        expected=snapshot.channel + _SUFFIX,
                        seen=resource,
                        frame=snapshot.frame.n,
                        once=snapshot.channel,
                    )

    # -- actions --------------------------------------------------------------------------------------

    def envelope(self, envelope: Envelope) -> None:
        if not isinstance(envelope.before, dict):
            return
        who = envelope.by
        identity = _target(envelope.action)
        old = next((a for a in dicts(envelope.before.get("annotations")) if a.get("id") == identity), None)
        empties = _empties(envelope.action, old)
        if envelope.origin is None:
            self._by_host(envelope, old, empties)
        elif empties:
            self.watch("AHP-ANN-024")
            if envelope.accepted:
                self._find(envelope, "AHP-ANN-024", "a client leaves an annotation without entries", "a rejection")
        elif who is not None:
            self._by_client(envelope, old, who[0], identity)
        sets, removes = envelope.type == "annotations/set", envelope.type == "annotations/removed"
        if envelope.accepted and identity is not None and ((sets and old is None) or (removes and old is not None)):
            author = who[0] if who is not None else ""
            self._authors.setdefault(envelope.channel, Bounded()).setdefault(identity, author)

    def _by_host(self, envelope: Envelope, old: JSON, empties: bool) -> None:
        if not envelope.accepted:
            return
        if envelope.type in ("annotations/set", "annotations/entryRemoved"):
            self.watch("AHP-ANN-023")
            if empties:
                self._find(envelope, "AHP-ANN-023", "the host leaves an annotation without entries", "an entry")
        # One that was taken away and is put back is not new.
        known = _target(envelope.action) in self._authors.get(envelope.channel, ())
        if envelope.type == "annotations/set" and old is None and not known:
            self.watch("AHP-ANN-010")
            if member(envelope.get("annotation"), "resolved") is True:
                self._find(envelope, "AHP-ANN-010", "a new annotation is resolved already", {"resolved": False})

    def _by_client(self, envelope: Envelope, old: JSON, client: str, identity: str | None) -> None:
        authors = self._authors.get(envelope.channel)
        author = authors.get(identity or "") if authors is not None else None
        foreign = author is not None and author != client and old is not None
        obligation = "AHP-ANN-013" if foreign else "AHP-ANN-003"
        if envelope.accepted:
            self.watch(obligation)
        elif self._must_take(envelope, old):
            self._find(envelope, obligation, f"{envelope.type} of a client is refused", "an accepted action")

    def _must_take(self, envelope: Envelope, old: JSON) -> bool:
        """Whether an action is sound and changes something that is there; a host may check the turn that it names."""
        version, action = envelope.version, envelope.action
        if version is None or action_violations(version, action):
            return False
        if envelope.type == "annotations/entryRemoved":
            return any(entry.get("id") == action.get("entryId") for entry in dicts(member(old, "entries")))
        if envelope.type != "annotations/set":
            return old is not None and self._is_anchored(envelope, action)
        return self._is_anchored(envelope, action.get("annotation"))

    def _is_anchored(self, envelope: Envelope, anchor: JSON) -> bool:
        session, connection = envelope.channel.rstrip("/").removesuffix(_SUFFIX), self.tracker.connection(envelope.conn)
        origin = member(anchor, "origin")
        if origin is not None and member(origin, "session") != session:
            return False
        turn = member(anchor, "turnId") if origin is None else member(origin, "turnId")
        return turn is None or turn in _turns(connection, session)

    # -- counts ---------------------------------------------------------------------------------------

    def request(self, request: Request) -> None:
        if request.method == "listSessions":
            self._asked[(request.conn, request.id)] = self._folds(request.conn)

    def _folds(self, conn: str) -> dict[str, JSON]:
        channels = self.tracker.connection(conn).channels.values()
        return {v.channel: v.state for v in channels if v.kind == "annotations" and v.live and not v.late}

    def reply(self, reply: Reply) -> None:
        if reply.request is None or reply.request.method != "listSessions":
            return
        before, now = self._asked.pop((reply.conn, reply.request.id), {}), self._folds(reply.conn)
        for item in dicts(member(reply.result, "items")):
            summary = item.get("annotations")
            channel = text(member(summary, "resource"))
            # What changed while the list was made may be in it or not.
            if channel is None or channel not in now or now[channel] is not before.get(channel):
                continue
            self.watch("AHP-ANN-011")
            before_that = self._behind.pop((reply.conn, channel), None)
            if _told(summary) == _counts(now[channel]):
                continue
            # One that counts what there was a moment ago may only be late; one that still does so is not.
            again = before_that is not None and before_that.fold is now[channel]
            history = self.tracker.connection(reply.conn).channels[channel].history
            late = not again and any(_counts(state) == _told(summary) for _, state in history)
            self._behind[(reply.conn, channel)] = _Summary(summary, now[channel], reply.frame.n, late)

    def notification(self, notification: Notification) -> None:
        if notification.method == "root/sessionSummaryChanged":
            summary = member(notification.params.get("changes"), "annotations")
            channel = text(member(summary, "resource")) or ""
            if _told(summary) == _counts(self._folds(notification.conn).get(channel)):
                self._behind.pop((notification.conn, channel), None)

    def end(self) -> None:
        """A summary may also have been ahead of what its connection had heard."""
        for (conn, channel), behind in self._behind.items() if self.tracker.settled else ():
            view = self.tracker.connection(conn).channels.get(channel)
            if behind.late or view is None or not view.live or not self.tracker.connection(conn).fed:
                continue
            states = [state for _, state in view.history]
            since = next((place for place, state in enumerate(states) if state is behind.fold), 0)
            if not any(_counts(state) == _told(behind.summary) for state in states[since:]):
                self.find(
                    "AHP-ANN-011",
                    f"the summary of {channel} does not count what is in it",
                    expected=dict(zip(_COUNTS, _counts(behind.fold), strict=True)),
                    seen=behind.summary,
                    frame=behind.frame,
                )

    def _find(self, envelope: Envelope, obligation: str, message: str, expected: JSON) -> None:
        self.find(
            obligation,
            message,
            expected=expected,
            seen=envelope.message,
            frame=envelope.frame.n,
            once=(envelope.channel, repr(envelope.seq) if envelope.accepted else envelope.by),
        )


def _counts(annotations: JSON) -> list[int | None]:
    """How many annotations and entries there are in the state of a channel."""
    listed = dicts(member(annotations, "annotations"))
    return [len(listed), sum(len(dicts(a.get("entries"))) for a in listed)]


def _told(summary: JSON) -> list[int | None]:
    return [whole(member(summary, name)) for name in _COUNTS]


def _target(action: JSON) -> str | None:
    """The id of the annotation that an action is about."""
    return text(member(action, "annotationId") or member(member(action, "annotation"), "id"))


def _empties(action: JSON, old: JSON) -> bool:
    """Whether an action leaves an annotation without entries."""
    if member(action, "type") == "annotations/set":
        return bool(member(member(action, "annotation"), "entries") == [])
    if member(action, "type") != "annotations/entryRemoved":
        return False
    ids = [entry.get("id") for entry in dicts(member(old, "entries"))]
    return bool(ids == [member(action, "entryId")])


def _turns(connection: ConnectionView, session: str) -> list[str]:
    """The turns of a session that a connection knows of."""
    view = connection.channels.get(session)
    views = [connection.channels.get(chat) for chat in chats_in(view.state)] if view is not None else []
    states = [v.state for v in views if v is not None and v.live]
    turns = [turn for state in states for turn in (*dicts(member(state, "turns")), active_turn(state) or {})]
    return texts([member(turn, "id") for turn in turns])
