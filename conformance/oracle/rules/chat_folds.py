"""The host's own state of a chat follows its actions: each place that an action changed is in later snapshots so."""

from __future__ import annotations

from typing import Any

from conformance.oracle.comparing import difference, without_nulls
from conformance.oracle.memory import Bounded
from conformance.oracle.reading import JSON, active_turn, dicts, member, text
from conformance.oracle.tracker import Envelope, Snapshot
from conformance.oracle.unknown import less_unknown
from conformance.protocol import Window

from .chat_effects import FOLDED, Effect, effects_of
from .chat_places import read
from .convergence import Convergence

# How many effects of a chat wait for a snapshot, and in how many chats.
_MOST_EFFECTS = 512
_MOST_CHATS = 256

_REFUSED_TOO = frozenset({"AHP-TOOL-011", "AHP-TURN-008"})
# When each obligation with a window of its own holds.
_WINDOWS = {
    "AHP-CHAT-105": Window("0.9.0"),
    "AHP-CHAT-107": Window("0.9.0"),
    "AHP-CHAT-121": Window("1.0.0"),
    "AHP-CHAT-122": Window("1.0.0"),
    "AHP-CHAT-144": Window("0.9.0"),
    "AHP-TURN-041": Window("0.4.0", "0.9.0"),
}


class ChatFolds(Convergence):
    """Compares a snapshot with a fold, as convergence does, at the places that actions were about."""

    name = "chat-folds"
    hears = FOLDED
    obligations = (
        "AHP-CHAT-105",
        "AHP-CHAT-107",
        "AHP-CHAT-121",
        "AHP-CHAT-122",
        "AHP-CHAT-144",
        "AHP-CONF-003",
        "AHP-CONF-004",
        "AHP-CONF-011",
        "AHP-CONF-013",
        "AHP-CONF-014",
        "AHP-CONF-015",
        "AHP-CONF-019",
        "AHP-CONF-026",
        "AHP-CONF-027",
        "AHP-CONF-028",
        "AHP-CONF-029",
        "AHP-DRAFT-001",
        "AHP-DRAFT-002",
        "AHP-DRAFT-005",
        "AHP-DRAFT-006",
        "AHP-INPUTREQ-004",
        "AHP-INPUTREQ-005",
        "AHP-INPUTREQ-006",
        "AHP-INPUTREQ-007",
        "AHP-INPUTREQ-008",
        "AHP-INPUTREQ-016",
        "AHP-INPUTREQ-018",
        "AHP-INPUTREQ-022",
        "AHP-INPUTREQ-023",
        "AHP-PAGE-003",
        "AHP-PAGE-008",
        "AHP-PAGE-016",
        "AHP-PEND-001",
        "AHP-PEND-002",
        "AHP-PEND-003",
        "AHP-PEND-004",
        "AHP-PEND-005",
        "AHP-PEND-014",
        "AHP-PEND-017",
        "AHP-PEND-020",
        "AHP-PEND-022",
        "AHP-TOOL-001",
        "AHP-TOOL-004",
        "AHP-TOOL-005",
        "AHP-TOOL-006",
        "AHP-TOOL-007",
        "AHP-TOOL-008",
        "AHP-TOOL-009",
        "AHP-TOOL-010",
        "AHP-TOOL-011",
        "AHP-TOOL-021",
        "AHP-TOOL-023",
        "AHP-TOOL-025",
        "AHP-TOOL-027",
        "AHP-TOOL-030",
        "AHP-TRUNC-001",
        "AHP-TRUNC-002",
        "AHP-TRUNC-003",
        "AHP-TRUNC-004",
        "AHP-TRUNC-010",
        "AHP-TURN-002",
        "AHP-TURN-003",
        "AHP-TURN-004",
        "AHP-TURN-006",
        "AHP-TURN-007",
        "AHP-TURN-008",
        "AHP-TURN-009",
        "AHP-TURN-010",
        "AHP-TURN-015",
        "AHP-TURN-016",
        "AHP-TURN-019",
        "AHP-TURN-020",
        "AHP-TURN-021",
        "AHP-TURN-022",
        "AHP-TURN-029",
        "AHP-TURN-036",
        "AHP-TURN-041",
    )

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        # Chat -> effect -> the serverSeq of the last action that had it.
        self._effects: Bounded[str, Bounded[Effect, int]] = Bounded(_MOST_CHATS)
        # Chat -> whether nothing but the draft has changed since its last snapshot.
        self._only_drafts: Bounded[str, bool] = Bounded(_MOST_CHATS)
        # Chat -> the connection that last set the draft, and that which last set a waiting message.
        self._setters: Bounded[str, dict[str, str]] = Bounded(_MOST_CHATS)
        # What was found in a snapshot already, compared with another client, by its frame.
        self._said: Bounded[int, set[str]] = Bounded(64)

    def envelope(self, envelope: Envelope) -> None:
        if envelope.kind != "chat" or envelope.type not in FOLDED or not isinstance(envelope.before, dict):
            return
        version = envelope.version
        if version is None or not isinstance(envelope.seq, int):
            return
        effects = self._effects.setdefault(envelope.channel, Bounded(_MOST_EFFECTS))
        only_drafts = self._only_drafts.get(envelope.channel, False)
        for effect in effects_of(envelope, version):
            # Of a refusal it counts that what is final, or runs, stays as it is.
            if effect[0] in _WINDOWS and not _WINDOWS[effect[0]].contains(version):
                continue
            if envelope.accepted or effect[0] in _REFUSED_TOO:
                effects[effect] = envelope.seq
        if not envelope.accepted:
            return
        if envelope.type == "chat/draftChanged":
            if only_drafts:
                effects[("AHP-DRAFT-005", ("beside the draft",))] = envelope.seq
        else:
            self._only_drafts[envelope.channel] = False
            effects.pop(("AHP-DRAFT-005", ("beside the draft",)), None)
        self._note_setter(envelope)

    def _note_setter(self, envelope: Envelope) -> None:
        what = {"chat/draftChanged": "draft", "chat/pendingMessageSet": "pending"}.get(envelope.type)
        client = text(member(envelope.origin, "clientId"))
        if what is None or client is None:
            return
        for connection in self.tracker.connections.values():
            if connection.client_id == client and connection.fed:
                self._setters.setdefault(envelope.channel, {})[what] = connection.name

    def snapshot(self, snapshot: Snapshot) -> None:
        if snapshot.kind == "chat":
            self._only_drafts[snapshot.channel] = True

    def gone(self, channel: str) -> None:
        super().gone(channel)
        self._effects.pop(channel, None)
        self._only_drafts.pop(channel, None)
        self._setters.pop(channel, None)

    def _compare(self, snapshot: Snapshot, fold: Any, conn: str) -> None:
        version, seq = self.version(snapshot.conn), snapshot.from_seq
        if snapshot.kind != "chat" or version is None or seq is None:
            return
        if not isinstance(fold, dict) or not isinstance(snapshot.state, dict):
            return
        left, right = without_nulls(fold), without_nulls(snapshot.state)
        broken: dict[str, tuple[JSON, JSON]] = {}
        self._window(left, right, broken)
        left, right = less_unknown(*_same_turns(left, right))
        effects = self._effects.get(snapshot.channel, Bounded())
        for effect in [e for e, at in effects.items() if at <= seq]:
            obligation, place = effect
            seen = self._differs(left, right, place, version)
            if seen is None:
                continue
            self.watch(obligation)
            del effects[effect]
            if seen:
                broken.setdefault(obligation, seen)
        self._always(snapshot, left, right, version, broken)
        said = self._said.setdefault(snapshot.frame.n, set()) if broken else set()
        broken = {obligation: seen for obligation, seen in broken.items() if obligation not in said}
        if broken:
            said.update(broken)
            self.find(
                tuple(sorted(broken)),
                f"the snapshot of {snapshot.channel} does not show what actions did, as client {conn} has folded them",
                expected={o: seen[0] for o, seen in broken.items()},
                seen={o: seen[1] for o, seen in broken.items()},
                frame=snapshot.frame.n,
            )

    def _window(self, left: JSON, right: JSON, broken: dict[str, tuple[JSON, JSON]]) -> None:
        """What a snapshot leaves out, next to the fold of one who has every turn."""
        if left.get("turnsNextCursor") is not None:
            return
        every, shown = ([turn.get("id") for turn in dicts(state.get("turns"))] for state in (left, right))
        more, missing = right.get("turnsNextCursor") is not None, len(shown) < len(every)
        tail = every[len(every) - len(shown) :]
        if len(shown) > len(every) or not (more or (missing and shown and shown == tail)):
            return
        self.watch("AHP-PAGE-003", "AHP-PAGE-016")
        seen = ({"turns": every}, {"turns": shown, "turnsNextCursor": right.get("turnsNextCursor")})
        if shown != tail:
            broken["AHP-PAGE-016"] = seen
        elif more is not missing:
            broken["AHP-PAGE-003"] = seen

    def _differs(self, left: JSON, right: JSON, place: Any, version: str) -> tuple[JSON, JSON] | tuple[()] | None:
        """What fold and snapshot have at a place that differs; empty when they agree, None when it is too early."""
        folded = read(left, place)
        if folded is None:
            return None
        shown = read(right, place)
        if folded == shown:
            return ()
        contained = place[0] == "message"
        if shown is not None and difference(folded, shown, version, contained=contained) is None:
            return ()
        return folded, shown

    def _always(
        self, snapshot: Snapshot, left: JSON, right: JSON, version: str, broken: dict[str, tuple[JSON, JSON]]
    ) -> None:
        """What holds of every snapshot, whatever was said before."""
        setters = self._setters.get(snapshot.channel, {})
        cases = []
        if active_turn(left) is not None:
            cases.append(("AHP-TURN-036", ("streamed",)))
        if member(left, "steeringMessage") is not None:
            cases.append(("AHP-PEND-014", ("steering",)))
        if member(left, "draft") is not None and setters.get("draft", snapshot.conn) != snapshot.conn:
            cases.append(("AHP-DRAFT-002", ("draft",)))
        setter = self.tracker.connections.get(setters.get("pending", ""))
        if setter is not None and setter.closed and read(left, ("pending",)) != {"queue": [], "steering": None}:
            cases.append(("AHP-PEND-017", ("pending",)))
        for obligation, place in cases:
            seen = self._differs(left, right, place, version)
            if seen is not None:
                self.watch(obligation)
                if seen:
                    broken.setdefault(obligation, seen)


def _same_turns(left: dict[str, JSON], right: dict[str, JSON]) -> tuple[dict[str, JSON], dict[str, JSON]]:
    """Two states less the older turns that only one of them has, where one was handed out as a window."""
    if left.get("turnsNextCursor") is None and right.get("turnsNextCursor") is None:
        return left, right
    turns = [dicts(state.get("turns")) for state in (left, right)]
    shared = min(len(turns[0]), len(turns[1]))
    if len(turns[0]) == len(turns[1]):
        return left, right
    cut = [
        {**s, "turns": t[len(t) - shared :], "turnsNextCursor": "more"}
        for s, t in zip((left, right), turns, strict=True)
    ]
    return cut[0], cut[1]
