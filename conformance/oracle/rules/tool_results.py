"""What the host says of its tool calls: who runs them, how they are confirmed, what they gave, and how they ended."""

from __future__ import annotations

from typing import Any

from conformance.oracle.memory import Bounded
from conformance.oracle.reading import JSON, active_turn, call_in, calls_in, contributor_of, dicts, member, text, texts
from conformance.oracle.rule import Rule
from conformance.oracle.tracker import Envelope, Snapshot
from conformance.oracle.unknown import has_unknown_status
from conformance.protocol import FINAL_STATUSES, Window

from .chat_places import part_name, parts_of

_OWNERSHIP_STAYS = Window("0.7.0")
_LIVE_AND_COMPLETE = Window("0.5.2", "0.7.0")
_ASKING = ("invocationMessage", "confirmationTitle", "edits", "options", "_meta")


class ToolResults(Rule):
    """Contributors, confirmations and results of calls, and the ids of parts."""

    name = "tool-results"
    hears = frozenset(
        {
            "chat/responsePart",
            "chat/toolCallStart",
            "chat/toolCallReady",
            "chat/toolCallConfirmed",
            "chat/toolCallContentChanged",
            "chat/toolCallComplete",
            "chat/turnComplete",
            "chat/turnsLoaded",
        }
    )
    obligations = (
        "AHP-CHAT-108",
        "AHP-CONF-006",
        "AHP-CONF-010",
        "AHP-CONF-012",
        "AHP-CONF-018",
        "AHP-CONF-020",
        "AHP-TOOL-018",
        "AHP-TOOL-019",
        "AHP-TOOL-024",
        "AHP-TURN-023",
    )

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        # Chat, turn and call of what a client approved and the host is to run.
        self._approved: Bounded[tuple[str, str, str], None] = Bounded()

    def gone(self, channel: str) -> None:
        for key in [key for key in self._approved if key[0] == channel]:
            del self._approved[key]

    # -- actions --------------------------------------------------------------------------------------

    def envelope(self, envelope: Envelope) -> None:
        if envelope.kind != "chat" or not envelope.accepted or not isinstance(envelope.before, dict):
            return
        if envelope.type == "chat/turnsLoaded":
            self._finished(dicts(envelope.get("turns")), envelope.frame.n, envelope.channel)
            return
        turn = active_turn(envelope.before)
        if turn is None or turn.get("id") != envelope.get("turnId"):
            return
        if envelope.type == "chat/turnComplete":
            self._turn_complete(envelope, turn)
        elif envelope.type == "chat/responsePart":
            self._part(envelope, turn, part_name(envelope.get("part"))["id"])
        elif envelope.type == "chat/toolCallStart":
            self._part(envelope, turn, envelope.get("toolCallId"))
        else:
            call = call_in(turn, envelope.get("toolCallId"))
            if call is not None:
                self._call(envelope, call)

    def _part(self, envelope: Envelope, turn: JSON, identity: JSON) -> None:
        """Of a call that begins twice another rule speaks."""
        if not isinstance(identity, str):
            return
        self.watch("AHP-TURN-023")
        starts = envelope.type == "chat/toolCallStart"
        for part in parts_of(turn):
            if part_name(part)["id"] == identity and not (starts and part.get("kind") == "toolCall"):
                self._find(
                    envelope, "AHP-TURN-023", f"two parts of a turn have the id {identity!r}", "an id of its own"
                )
                return

    def _call(self, envelope: Envelope, call: dict[str, JSON]) -> None:
        version = envelope.version
        key = (envelope.channel, str(envelope.get("turnId")), str(envelope.get("toolCallId")))
        if envelope.type == "chat/toolCallReady":
            self._ready(envelope, call, version)
        elif envelope.type == "chat/toolCallConfirmed":
            pending = call.get("status") == "pending-confirmation" and envelope.origin is not None
            if pending and envelope.get("approved") is True and contributor_of(call) != "client":
                self._approved[key] = None
            return
        elif envelope.type == "chat/toolCallComplete":
            if key in self._approved:
                self.watch("AHP-CONF-006")
            self._terminals(envelope, call, version)
        content = member(envelope.get("result"), "content") or envelope.get("content")
        edits = [block for block in dicts(content) if block.get("type") == "fileEdit"]
        self._edits([*edits, *dicts(member(envelope.get("edits"), "items"))], envelope)

    def _ready(self, envelope: Envelope, call: dict[str, JSON], version: str | None) -> None:
        status, confirmed = call.get("status"), envelope.get("confirmed")
        if version is not None and _OWNERSHIP_STAYS.contains(version) and envelope.get("contributor") is not None:
            self.watch("AHP-CHAT-108")
            if _client(call.get("contributor")) != _client(envelope.get("contributor")):
                self._find(
                    envelope,
                    "AHP-CHAT-108",
                    "chat/toolCallReady changes who executes the call",
                    call.get("contributor") or "no client",
                )
        # A call that a user has decided about before may come back with that decision.
        if confirmed is not None and status == "streaming":
            self.watch("AHP-CONF-020")
            if confirmed == "user-action":
                self._find(envelope, "AHP-CONF-020", "a call that nobody was asked about", "not-needed or setting")
        if confirmed is None and status == "running":
            self.watch("AHP-CONF-012")
            if all(envelope.get(name) in (None, call.get(name)) for name in _ASKING):
                self._find(envelope, "AHP-CONF-012", "a running call is asked about again in the same words", "news")
        where = (envelope.channel, envelope.seq)
        self._options(envelope.get("options"), envelope.frame.n, envelope.message, where)
        self._risk(envelope.get("riskAssessment"), envelope.frame.n, envelope.message, where)

    def _risk(self, risk: JSON, frame: int, seen: JSON, where: tuple[Any, ...]) -> None:
        safety = member(risk, "safety")
        if isinstance(safety, bool) or not isinstance(safety, int | float):
            return
        self.watch("AHP-CONF-018")
        if not 0 <= safety <= 1:
            self.find(
                "AHP-CONF-018",
                "the safety of a call is out of range",
                expected="0 to 1",
                seen=seen,
                frame=frame,
                once=tuple(map(repr, where)),
            )

    def _options(self, options: JSON, frame: int, seen: JSON, where: tuple[Any, ...]) -> None:
        ids = texts([option.get("id") for option in dicts(options)])
        if not ids:
            return
        self.watch("AHP-CONF-010")
        if len(set(ids)) < len(ids):
            self.find(
                "AHP-CONF-010",
                "two options of a call share an id",
                expected="unique ids",
                seen=seen,
                frame=frame,
                once=tuple(map(repr, where)),
            )

    def _terminals(self, envelope: Envelope, call: dict[str, JSON], version: str | None) -> None:
        if version is None or not _LIVE_AND_COMPLETE.contains(version):
            return
        live = [b.get("resource") for b in dicts(call.get("content")) if b.get("type") == "terminal"]
        for block in dicts(member(envelope.get("result"), "content")):
            if live and block.get("type") == "terminalComplete" and block.get("resource") is not None:
                self.watch("AHP-TOOL-018")
                if block["resource"] not in live:
                    self._find(envelope, "AHP-TOOL-018", "a terminal ends that is not that of the call", live)

    def _edits(self, blocks: list[dict[str, JSON]], envelope: Envelope) -> None:
        for block in blocks:
            self.watch("AHP-TOOL-019")
            if block.get("before") is None and block.get("after") is None:
                self._find(envelope, "AHP-TOOL-019", "an edit of a file without either side", "before or after")

    def _turn_complete(self, envelope: Envelope, turn: JSON) -> None:
        for call in calls_in(turn):
            key = (envelope.channel, str(envelope.get("turnId")), str(call.get("toolCallId")))
            if key in self._approved and call.get("status") == "running":
                self._find(
                    envelope,
                    "AHP-CONF-006",
                    f"a turn completes although the approved call {call.get('toolCallId')!r} has no outcome",
                    "chat/toolCallComplete first",
                )

    # -- states ---------------------------------------------------------------------------------------

    def snapshot(self, snapshot: Snapshot) -> None:
        if snapshot.kind != "chat":
            return
        turns = dicts(member(snapshot.state, "turns"))
        self._finished(turns, snapshot.frame.n, snapshot.channel)
        for turn in (*turns, active_turn(snapshot.state)):
            self._unique(turn, snapshot)
            for call in calls_in(turn):
                where = (snapshot.channel, call.get("toolCallId"))
                self._options(call.get("options"), snapshot.frame.n, call, where)
                self._risk(call.get("riskAssessment"), snapshot.frame.n, call, where)

    def _unique(self, turn: JSON, snapshot: Snapshot) -> None:
        parts = parts_of(turn)
        # Questions may be asked again under their id, and of calls another rule speaks.
        ids = texts([part_name(p)["id"] for p in parts if p.get("kind") not in ("toolCall", "inputRequest")])
        calls = set(texts([c.get("toolCallId") for c in calls_in(turn)]))
        if not ids:
            return
        self.watch("AHP-TURN-023")
        if len(set(ids)) < len(ids) or calls & set(ids):
            self.find(
                "AHP-TURN-023",
                "two parts of a turn share an id",
                expected="unique ids",
                seen=[part_name(part) for part in parts],
                frame=snapshot.frame.n,
                once=(snapshot.channel, repr(member(turn, "id"))),
            )

    def _finished(self, turns: list[dict[str, JSON]], frame: int, channel: str) -> None:
        for turn in turns:
            for call in calls_in(turn):
                self.watch("AHP-TOOL-024")
                if text(call.get("status")) not in FINAL_STATUSES and not has_unknown_status(call):
                    self.find(
                        "AHP-TOOL-024",
                        "a finished turn has a call that is not final",
                        expected="completed or cancelled",
                        seen=call,
                        frame=frame,
                        once=(channel, repr(turn.get("id")), repr(call.get("toolCallId"))),
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


def _client(contributor: JSON) -> JSON:
    return member(contributor, "clientId") if member(contributor, "kind") == "client" else None
