"""What a session offers can be subscribed to: its changesets and its annotations, and no longer than it lives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from conformance.oracle.memory import Bounded
from conformance.oracle.reading import JSON, chats_in, dicts, member, text, texts, whole
from conformance.oracle.rule import Rule
from conformance.oracle.templates import expansions, is_expansion, variables_of
from conformance.oracle.tracker import Notification, Reply, Request
from conformance.oracle.views import ConnectionView

from .changesets import catalogue_of

# Who has to log in first, or may not see it, is told so.
_NOT_FOR_YOU = (-32007, -32009)


@dataclass(frozen=True, slots=True)
class _Refused:
    """A subscription that failed, to what ``owner`` offered on the connection ``conn``."""

    conn: str
    owner: str
    obligation: str
    frame: int
    seen: JSON


class Offers(Rule):
    """Changesets and annotations of a session are there while it is, and go with it."""

    name = "offers"
    obligations = ("AHP-ANN-001", "AHP-ANN-018", "AHP-CHG-003", "AHP-CHG-004", "AHP-CHG-031")

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._refused: Bounded[tuple[str, str], _Refused] = Bounded()
        # What a session that is no more had offered: its obligation, the session, and when each connection heard.
        self._closed: Bounded[str, tuple[str, str, dict[str, int]]] = Bounded()
        # Changesets with files when their session ended, with the frame that told it.
        self._open: Bounded[tuple[str, str], int] = Bounded()
        # Sessions that are known to be there; one that nobody follows may offer the same changesets.
        self._sessions: Bounded[str, None] = Bounded()

    def request(self, request: Request) -> None:
        channel = text(request.params.get("channel"))
        if request.method == "createSession" and channel is not None:
            self._is_there(channel)

    def notification(self, notification: Notification) -> None:
        if notification.method == "root/sessionAdded":
            self._is_there(text(member(notification.params.get("summary"), "resource")))
        elif notification.method == "root/sessionRemoved":
            self._sessions.pop(text(notification.params.get("session")) or "", None)

    def _is_there(self, session: str | None) -> None:
        """A session is there, perhaps anew: what it offers is open."""
        if session is not None:
            self._sessions[session] = None
            for uri in [uri for uri, (_, owner, _) in self._closed.items() if owner == session]:
                del self._closed[uri]

    def reply(self, reply: Reply) -> None:
        channel = text(reply.request.params.get("channel")) if reply.request is not None else None
        if reply.request is None or channel is None:
            return
        if reply.request.method == "listSessions":
            for item in dicts(member(reply.result, "items")):
                self._sessions[text(item.get("resource")) or ""] = None
        if reply.request.method == "disposeSession" and not reply.failed:
            self._ended(reply.conn, channel, reply.frame.n)
        elif reply.request.method == "subscribe":
            self._subscribed(reply, reply.request, channel)

    def _subscribed(self, reply: Reply, request: Request, channel: str) -> None:
        closed = self._closed.get(channel)
        if closed is not None:
            obligation, session, heard = closed
            if request.frame.n > heard.get(reply.conn, request.frame.n):
                self.watch(obligation)
                if not reply.failed:
                    self.find(
                        obligation,
                        f"{channel} can be subscribed to after the end of {session}",
                        expected="an error",
                        seen=reply.result,
                        frame=reply.frame.n,
                    )
            return
        for owner, obligation in self._offered(self.tracker.connection(reply.conn), channel):
            self.watch(obligation)
            if reply.failed and whole(member(reply.error, "code")) not in _NOT_FOR_YOU:
                refused = _Refused(reply.conn, owner, obligation, reply.frame.n, reply.error)
                self._refused[(reply.conn, channel)] = refused
            elif not reply.failed:
                self._refused.pop((reply.conn, channel), None)

    def _offered(self, connection: ConnectionView, channel: str) -> list[tuple[str, str]]:
        """Who offers this URI, and which obligation says that it can be subscribed to."""
        found = []
        for view in connection.channels.values():
            annotations = member(member(view.state, "annotations"), "resource")
            if view.live and view.kind == "session" and annotations == channel:
                found.append((view.channel, "AHP-ANN-001"))
        for owner, entry in catalogue_of(connection):
            template = text(entry.get("uriTemplate")) or ""
            if template == channel and "{" not in template:
                found.append((owner, "AHP-CHG-003"))
            elif variables_of(template) == {"turnId"} and is_expansion(channel, template):
                turns = _turns(connection, owner)
                if any(channel in expansions(template, {"turnId": turn}) for turn in turns):
                    found.append((owner, "AHP-CHG-004"))
        return found

    def _ended(self, conn: str, session: str, frame: int) -> None:
        """The session is disposed of: what its last known state offered is closed, unless somebody else offers it."""
        self._sessions.pop(session, None)
        for connection, view in self.tracker.views(session):
            annotations = text(member(member(view.state, "annotations"), "resource"))
            if annotations is not None:
                self._close(annotations, "AHP-ANN-018", session, conn, frame)
            for entry in dicts(member(view.state, "changesets")):
                template = text(entry.get("uriTemplate")) or ""
                for uri in {template, *connection.channels} if template else ():
                    if "{" not in uri and is_expansion(uri, template):
                        self._close(uri, "AHP-CHG-031", session, conn, frame)

    def _close(self, uri: str, obligation: str, session: str, conn: str, frame: int) -> None:
        for connection in self.tracker.connections.values():
            if self._offered(connection, uri):
                return
        followed = {v.channel for c in self.tracker.connections.values() for v in c.channels.values() if v.live}
        if obligation == "AHP-CHG-031" and not self._sessions.keys() <= followed:
            return
        _, _, heard = self._closed.setdefault(uri, (obligation, session, {}))
        heard.setdefault(conn, frame)
        view = self.tracker.connection(conn).channels.get(uri)
        if view is not None and view.live and view.kind == "changeset" and dicts(member(view.state, "files")):
            self._open[(conn, uri)] = frame

    def end(self) -> None:
        """What was refused may have been on its way out; and what a session leaves open is closed by now."""
        if not self.tracker.settled:
            return
        for (_, channel), refused in self._refused.items():
            connection = self.tracker.connection(refused.conn)
            owner = connection.channels.get(refused.owner)
            # The offer itself may have been on its way out.
            offered = (refused.owner, refused.obligation) in self._offered(connection, channel)
            if connection.fed and owner is not None and owner.live and offered:
                self.find(
                    refused.obligation,
                    f"{refused.owner} offers {channel}, and it cannot be subscribed to",
                    expected="a snapshot",
                    seen=refused.seen,
                    frame=refused.frame,
                )
        for (conn, channel), frame in self._open.items():
            connection = self.tracker.connection(conn)
            view = connection.channels.get(channel)
            if connection.fed and view is not None and view.live and channel in self._closed:
                self.watch("AHP-CHG-031")
                if dicts(member(view.state, "files")):
                    self.find(
                        "AHP-CHG-031",
                        f"the session of {channel} has ended, and its files are still there",
                        expected="changeset/cleared",
                        seen=view.state,
                        frame=frame,
                    )


def _turns(connection: ConnectionView, owner: str) -> list[str]:
    """The finished turns of a session, or of a chat, that a connection knows of."""
    view = connection.channels[owner]
    chats = chats_in(view.state) if view.kind == "session" else [owner]
    views = [connection.channels[chat] for chat in chats if chat in connection.channels]
    return texts([turn.get("id") for v in views if v.live for turn in dicts(member(v.state, "turns"))])
