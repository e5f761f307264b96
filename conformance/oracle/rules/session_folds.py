"""The own state of the host follows its actions in sessions, automations and blocked calls, also for who comes late."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from conformance.oracle.comparing import difference, without_nulls
from conformance.oracle.memory import Bounded
from conformance.oracle.reading import (
    JSON,
    active_turn,
    calls_in,
    entries_in,
    member,
    server_status,
    servers_in,
    text,
)
from conformance.oracle.tracker import Envelope, Snapshot
from conformance.oracle.unknown import less_unknown

from .convergence import Convergence
from .session_effects import BLOCKED, FOLDED, Effect, effects_of, read

# How many effects of a channel wait for a snapshot, and in how many channels.
_MOST_EFFECTS = 512
_MOST_CHANNELS = 256


class SessionFolds(Convergence):
    """Compares a snapshot with a fold, as convergence does, at the places that actions were about."""

    name = "session-folds"
    kinds = frozenset({"session", "chat", "automations", "automationRun"})
    hears = FOLDED
    obligations = (
        "AHP-AUTOM-105",
        "AHP-AUTOM-131",
        "AHP-AUTOM-132",
        "AHP-CUST-001",
        "AHP-CUST-002",
        "AHP-CUST-003",
        "AHP-CUST-004",
        "AHP-CUST-005",
        "AHP-CUST-012",
        "AHP-CUST-016",
        "AHP-CUST-018",
        "AHP-CUST-020",
        "AHP-CUST-101",
        "AHP-INNEED-019",
        "AHP-INPUT-012",
        "AHP-INPUT-013",
        "AHP-INPUT-022",
        "AHP-INPUT-102",
        "AHP-MCP-009",
        "AHP-MCP-016",
        "AHP-MCP-040",
        "AHP-MCP-102",
        "AHP-MCPS-005",
        "AHP-TOOLAUTH-002",
        "AHP-TOOLAUTH-004",
        "AHP-TOOLAUTH-005",
        "AHP-TOOLAUTH-007",
        "AHP-TOOLAUTH-008",
        "AHP-TOOLAUTH-009",
        "AHP-TOOLAUTH-010",
        "AHP-TOOLAUTH-011",
        "AHP-TOOLAUTH-012",
        "AHP-TOOLAUTH-013",
        "AHP-TOOLAUTH-038",
        "AHP-TOOLAUTH-041",
        "AHP-TOOLAUTH-048",
        "AHP-TOOLAUTH-080",
        "AHP-TOOLAUTH-081",
    )

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        # Channel -> effect -> the serverSeq of the last action that had it.
        self._effects: Bounded[str, Bounded[Effect, int]] = Bounded(_MOST_CHANNELS)
        # Calls that were resumed; a further challenge is a new one.
        self._resumed: Bounded[tuple[str, ...], None] = Bounded()

    def envelope(self, envelope: Envelope) -> None:
        if envelope.type not in FOLDED or not isinstance(envelope.before, dict):
            return
        version = envelope.version
        if version is not None and isinstance(envelope.seq, int):
            for effect in (*effects_of(envelope, version), *self._again(envelope)):
                self._effects.setdefault(envelope.channel, Bounded(_MOST_EFFECTS))[effect] = envelope.seq

    def _again(self, envelope: Envelope) -> Iterator[Effect]:
        place = ("call", text(envelope.get("turnId")) or "", text(envelope.get("toolCallId")) or "")
        if not envelope.accepted or envelope.after is envelope.before:
            return
        if envelope.type == "chat/toolCallAuthResolved":
            self._resumed[(envelope.channel, *place)] = None
        elif envelope.type == "chat/toolCallAuthRequired" and (envelope.channel, *place) in self._resumed:
            yield "AHP-TOOLAUTH-038", place

    def gone(self, channel: str) -> None:
        super().gone(channel)
        self._effects.pop(channel, None)

    def _compare(self, snapshot: Snapshot, fold: Any, conn: str) -> None:
        version, seq = self.version(snapshot.conn), snapshot.from_seq
        if version is None or seq is None or not isinstance(fold, dict) or not isinstance(snapshot.state, dict):
            return
        known = self._effects.get(snapshot.channel)
        due = [effect for effect, at in known.items() if at <= seq] if known else []
        late = list(_for_who_comes_late(fold)) if conn != snapshot.conn and snapshot.folded is None else []
        if not due and not late:
            return
        left, right = less_unknown(without_nulls(fold), without_nulls(snapshot.state))
        broken: dict[str, tuple[JSON, JSON]] = {}
        for obligation, place in dict.fromkeys((*due, *late)):
            folded, shown = read(left, place), read(right, place)
            if folded is None:
                continue
            self.watch(obligation)
            if known is not None:
                known.pop((obligation, place), None)
            if shown is None or difference(folded, shown, version) is not None:
                broken.setdefault(obligation, (folded, shown))
        if broken:
            self.find(
                tuple(sorted(broken)),
                f"the snapshot of {snapshot.channel} does not show what actions did, as client {conn} has folded them",
                expected={o: seen[0] for o, seen in broken.items()},
                seen={o: seen[1] for o, seen in broken.items()},
                frame=snapshot.frame.n,
                once=(snapshot.channel, seq, tuple(sorted(broken))),
            )


def _for_who_comes_late(state: JSON) -> Iterator[Effect]:
    """What is open, and has to be in the snapshot of a client that was not there when it began."""
    for entry in entries_in(state):
        identity = repr(entry.get("id"))
        yield "AHP-TOOLAUTH-081" if entry.get("kind") == "toolAuthentication" else "AHP-INPUT-022", ("need", identity)
    for server in servers_in(state):
        if server_status(server) == "authRequired":
            yield "AHP-MCP-040", ("server", repr(server.get("id")))
    turn = active_turn(state)
    for call in calls_in(turn):
        if call.get("status") == BLOCKED:
            yield "AHP-TOOLAUTH-048", ("call", text(member(turn, "id")) or "", text(call.get("toolCallId")) or "")
