"""Questions to the user: asked within a turn, under ids that last, and answered before the turn is over."""

from __future__ import annotations

from typing import Any

from conformance.oracle.reading import JSON, active_turn, dicts, member, texts
from conformance.oracle.rule import Rule
from conformance.oracle.tracker import Envelope, Snapshot

from .chat_demands import open_request
from .chat_places import parts_of


class Elicitation(Rule):
    """How the host asks."""

    name = "elicitation"
    hears = frozenset({"chat/inputRequested", "chat/inputCompleted", "chat/turnComplete"})
    obligations = ("AHP-INPUTREQ-001", "AHP-INPUTREQ-002", "AHP-INPUTREQ-003", "AHP-INPUTREQ-019")

    def envelope(self, envelope: Envelope) -> None:
        if envelope.kind != "chat" or not envelope.accepted or not isinstance(envelope.before, dict):
            return
        if envelope.type == "chat/inputRequested":
            self._asked(envelope)
        elif envelope.type == "chat/inputCompleted":
            if open_request(envelope.before, envelope.get("requestId")) is not None:
                self.watch("AHP-INPUTREQ-001")
        else:
            self._complete(envelope)

    def _asked(self, envelope: Envelope) -> None:
        request = envelope.get("request")
        self.watch("AHP-INPUTREQ-003")
        if active_turn(envelope.before) is None:
            self._find(envelope, "AHP-INPUTREQ-003", "a question on a chat without active turn", "an active turn")
        self._questions(request, envelope.frame.n, envelope.message, (envelope.channel, repr(envelope.seq)))
        earlier = open_request(envelope.before, member(request, "id"))
        if earlier is None:
            return
        self.watch("AHP-INPUTREQ-002")
        old, new = ({repr(q.get("id")) for q in dicts(member(r, "questions"))} for r in (earlier, request))
        if old - new and new - old:
            self._find(
                envelope,
                "AHP-INPUTREQ-002",
                "the questions of an open request get other ids",
                f"the ids {sorted(old)}",
            )

    def _complete(self, envelope: Envelope) -> None:
        active = active_turn(envelope.before)
        if active is None or active.get("id") != envelope.get("turnId"):
            return
        for part in parts_of(active):
            if part.get("kind") == "inputRequest" and part.get("response") is None:
                self._find(
                    envelope,
                    "AHP-INPUTREQ-001",
                    "a turn is completed while a question of it is open",
                    "the turn stays active until the answer",
                )

    def snapshot(self, snapshot: Snapshot) -> None:
        if snapshot.kind != "chat":
            return
        for part in parts_of(active_turn(snapshot.state)):
            if part.get("kind") == "inputRequest":
                self._questions(part.get("request"), snapshot.frame.n, part, (snapshot.channel, "snapshot"))

    def _questions(self, request: JSON, frame: int, seen: JSON, where: tuple[str, str]) -> None:
        questions = dicts(member(request, "questions"))
        if not questions:
            return
        self.watch("AHP-INPUTREQ-019")
        ids = texts([question.get("id") for question in questions])
        options = [texts([option.get("id") for option in dicts(question.get("options"))]) for question in questions]
        if any(len(set(named)) < len(named) for named in (ids, *options)):
            self.find(
                "AHP-INPUTREQ-019",
                "two questions of a request, or two options of a question, share an id",
                expected="unique ids",
                seen=seen,
                frame=frame,
                once=where,
            )

    def _find(self, envelope: Envelope, obligation: str, message: str, expected: Any) -> None:
        self.find(
            obligation,
            message,
            expected=expected,
            seen=envelope.message,
            frame=envelope.frame.n,
            once=(envelope.channel, repr(envelope.seq)),
        )
