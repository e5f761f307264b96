"""root/progress: only for tokens that a client gave, never backwards, and with an end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from conformance.oracle.memory import Bounded
from conformance.oracle.reading import text
from conformance.oracle.rule import Rule
from conformance.oracle.tracker import Envelope, Notification, Request
from conformance.protocol import ROOT_URI


@dataclass(slots=True)
class Course:
    """What one connection was told under one token."""

    progress: float
    done: bool
    frame: int


class Progress(Rule):
    """The frames of a token grow, the last one has progress equal to total, and nothing follows it."""

    name = "progress"
    hears = frozenset({"session/ready"})
    obligations = ("AHP-PROG-001", "AHP-PROG-002", "AHP-PROG-003", "AHP-PROG-004")

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        # Token -> the session that it was given for; the sessions that became ready.
        self._given: Bounded[str, str | None] = Bounded()
        self._ready: Bounded[str, None] = Bounded()
        self._courses: Bounded[tuple[str, str], Course] = Bounded()

    def request(self, request: Request) -> None:
        token = text(request.params.get("progressToken"))
        if token is not None:
            # A client that tries again with its token starts anew.
            for place in [place for place in self._courses if place[1] == token]:
                del self._courses[place]
            self._given[token] = text(request.params.get("channel")) if request.method == "createSession" else None

    def envelope(self, envelope: Envelope) -> None:
        if envelope.accepted:
            self._ready[envelope.channel] = None

    def notification(self, notification: Notification) -> None:
        token, progress = text(notification.params.get("progressToken")), notification.params.get("progress")
        if notification.method != "root/progress" or token is None:
            return
        if not isinstance(progress, int | float) or isinstance(progress, bool):
            return
        self._token(notification, token)
        if token not in self._given:
            # Nobody here knows when a client that is not recorded starts anew with its token.
            return
        place = (notification.conn, token)
        course = self._courses.get(place)
        done = notification.params.get("total") == progress
        if course is None:
            self._courses[place] = Course(progress, done, notification.frame.n)
            return
        self.watch("AHP-PROG-002", *(["AHP-PROG-004"] if course.done else []))
        if course.done:
            self._wrong(notification, "AHP-PROG-004", "a frame follows the one that was the last", "nothing")
        elif progress < course.progress:
            self._wrong(notification, "AHP-PROG-002", "progress goes back", f"from {course.progress} on")
        course.progress, course.done, course.frame = max(progress, course.progress), course.done or done, course.frame

    def _token(self, notification: Notification, token: str) -> None:
        """Who follows the root may be told of the tokens of others; anybody else only of those that were given here."""
        view = self.tracker.connection(notification.conn)
        if token in self._given:
            self.watch("AHP-PROG-001")
        elif view.began and ROOT_URI not in view.subscribed and ROOT_URI not in view.asked:
            self._wrong(notification, "AHP-PROG-001", "a progressToken that no client gave", list(self._given)[-20:])

    def end(self) -> None:
        for (conn, token), course in self._courses.items():
            session = self._given.get(token)
            connection = self.tracker.connection(conn)
            if course.done:
                self.watch("AHP-PROG-003", "AHP-PROG-004")
            elif self.tracker.settled and session in self._ready and connection.fed:
                if connection.left.get(ROOT_URI, -1) > course.frame:
                    # It no longer follows the root.
                    continue
                self.find(
                    "AHP-PROG-003",
                    "the session is ready, and its progress has no last frame",
                    expected="a frame with progress equal to total",
                    seen=f"progress {course.progress}",
                    frame=course.frame,
                )

    def _wrong(self, notification: Notification, obligation: str, message: str, expected: Any) -> None:
        self.find(
            obligation,
            message,
            expected=expected,
            seen=notification.params,
            frame=notification.frame.n,
        )
