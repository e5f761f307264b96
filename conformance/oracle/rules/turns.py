"""Turns: each ends once, and nothing is streamed into one that has ended."""

from __future__ import annotations

from typing import Any

from conformance.oracle.reading import active_turn, dicts, member, text
from conformance.oracle.rule import Rule
from conformance.oracle.tracker import Envelope, Snapshot

ENDS = frozenset({"chat/turnComplete", "chat/turnCancelled", "chat/error"})
# What adds content to a turn, and so has to name the active one (AHP-TURN-024).
_CONTENT = frozenset({"chat/delta", "chat/reasoning", "chat/responsePart", "chat/toolCallStart"})


class Turns(Rule):
    """One end per turn; nothing after it; no second turn before it."""

    name = "turns"
    obligations = (
        "AHP-TURN-005",
        "AHP-TURN-013",
        "AHP-TURN-017",
        "AHP-TURN-018",
        "AHP-TURN-024",
        "AHP-TURN-027",
        "AHP-TOOL-022",
        "AHP-TOOL-026",
    )

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        # Chat -> how each known turn ended: an action type, or "chat/truncated". All connections tell the same.
        self._ended: dict[str, dict[str, str]] = {}

    def snapshot(self, snapshot: Snapshot) -> None:
        if snapshot.kind == "chat":
            ended = self._ended.setdefault(snapshot.channel, {})
            for turn in dicts(member(snapshot.state, "turns")):
                if isinstance(turn.get("id"), str):
                    ended.setdefault(turn["id"], "an earlier end")

    def envelope(self, envelope: Envelope) -> None:
        if envelope.kind != "chat" or not envelope.accepted or not isinstance(envelope.before, dict):
            return
        ended = self._ended.setdefault(envelope.channel, {})
        active = text(member(active_turn(envelope.before), "id"))
        turn = text(envelope.get("turnId"))
        if envelope.type == "chat/turnStarted":
            self._started(envelope, active, turn, ended)
        elif envelope.type == "chat/turnResume":
            ended.pop(turn or "", None)
        elif envelope.type == "chat/truncated":
            if active is not None and active_turn(envelope.after) is None:
                ended[active] = "chat/truncated"
        elif envelope.type in ENDS:
            self._ends(envelope, active, turn, ended)
        elif envelope.origin is None and turn is not None:
            self._in_turn(envelope, active, turn, ended)

    def end(self) -> None:
        """What follows a cancellation has followed by now."""
        if self.tracker.settled and any("chat/turnCancelled" in ended.values() for ended in self._ended.values()):
            self.watch("AHP-TURN-013")

    def _started(self, envelope: Envelope, active: str | None, turn: str | None, ended: dict[str, str]) -> None:
        self.watch("AHP-TURN-027")
        if active is not None and active != turn:
            self.find(
                "AHP-TURN-027",
                "a turn started while another one was running",
                expected=f"the end of {active} first",
                seen=envelope.message,
                frame=envelope.frame.n,
                once=(envelope.channel, envelope.seq),
            )
        ended.pop(turn or "", None)

    def _ends(self, envelope: Envelope, active: str | None, turn: str | None, ended: dict[str, str]) -> None:
        self.watch("AHP-TURN-005")
        if turn == active and active is not None:
            ended[active] = envelope.type
        elif turn is not None and turn in ended and envelope.origin is None:
            self.find(
                ("AHP-TURN-005", "AHP-TURN-013") if ended[turn] == "chat/turnCancelled" else "AHP-TURN-005",
                f"a turn that had ended ({ended[turn]}) ends again",
                expected="one end of a turn",
                seen=envelope.message,
                frame=envelope.frame.n,
                once=(envelope.channel, envelope.seq),
            )

    def _in_turn(self, envelope: Envelope, active: str | None, turn: str, ended: dict[str, str]) -> None:
        tool = envelope.type.startswith("chat/toolCall")
        content = envelope.type in _CONTENT
        if not tool and not content:
            return
        self.watch(*(["AHP-TURN-024"] if content else []), *(["AHP-TOOL-022"] if tool else []))
        if turn == active:
            self._part(envelope)
            return
        broken = ["AHP-TURN-024"] if content else []
        if tool and turn in ended:
            broken.append("AHP-TOOL-022")
        if ended.get(turn) == "chat/turnCancelled":
            broken.append("AHP-TURN-013")
        self.find(
            tuple(broken) or "AHP-TOOL-026",
            f"{envelope.type} for a turn that is not active" + (f" (it ended: {ended[turn]})" if turn in ended else ""),
            expected=f"the active turn {active}" if active else "nothing, as no turn is active",
            seen=envelope.message,
            frame=envelope.frame.n,
            once=(envelope.channel, envelope.seq),
        )

    def _part(self, envelope: Envelope) -> None:
        wanted = {"chat/delta": ("AHP-TURN-017", "markdown"), "chat/reasoning": ("AHP-TURN-018", "reasoning")}
        if envelope.type not in wanted:
            return
        obligation, kind = wanted[envelope.type]
        self.watch(obligation)
        parts = dicts(member(active_turn(envelope.before), "responseParts"))
        if not any(p.get("kind") == kind and p.get("id") == envelope.get("partId") for p in parts):
            self.find(
                obligation,
                f"{envelope.type} names a part that is not there",
                expected=f"a {kind} part announced by chat/responsePart",
                seen=envelope.message,
                frame=envelope.frame.n,
                once=(envelope.channel, envelope.seq),
            )
