"""The fold of what was delivered equals what the host hands out: for every channel, client and later snapshot."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from conformance.oracle.comparing import Difference, difference, found_at, without_nulls
from conformance.oracle.reading import JSON, active_turn, calls_in, dicts, entries_in, member
from conformance.oracle.rule import Rule
from conformance.oracle.tracker import Comparison, Envelope, Snapshot
from conformance.oracle.unknown import less_unknown
from conformance.protocol.status import ACTIVITY_MASK, IS_READ

# What no action carries, so that fold and snapshot may rightly differ there (ambiguities, AMB-12):
# the reducers stamp modifiedAt with the clock of the client, and these members have no action at all.
_NO_ACTION = {
    "root": ("_meta",),
    "session": (
        "project",
        "workingDirectory",
        "workingDirectories",
        "annotations",
        "modifiedAt",
        "createdAt",
        "origin",
    ),
    "chat": (
        "modifiedAt",
        "title",
        "origin",
        "interactivity",
        "workingDirectory",
        "_meta",
        "resource",
    ),
    "terminal": ("isPty",),
    "changeset": (),
    "annotations": (),
    "resourceWatch": (),
    "automations": ("_meta",),
    # The origin of a run never changes; which operations it offers follows from its lifecycle.
    "automationRun": ("operations", "_meta"),
    "canvas": (),
}


# What some actions are about. Only a difference there is a matter of the fold of that action.
_IDENTITIES: dict[str, Callable[[Envelope], JSON]] = {
    "session/inputNeededSet": lambda envelope: member(envelope.get("request"), "id"),
    "session/inputNeededRemoved": lambda envelope: envelope.get("id"),
    "session/mcpServerStateChanged": lambda envelope: envelope.get("id"),
    "session/changesetsChanged": lambda envelope: None,
    "chat/toolCallAuthResolved": lambda envelope: envelope.get("toolCallId"),
}
_MOST_IDENTITIES = 4096


class Convergence(Rule):
    """fold(snapshot, later envelopes) is the next snapshot."""

    name = "convergence"
    hears = frozenset(_IDENTITIES)
    # The channels whose folds this rule compares.
    kinds: ClassVar[frozenset[str]] = frozenset({"root", "session", "chat"})
    obligations: ClassVar[tuple[str, ...]] = (
        "AHP-SEQ-009",
        "AHP-SUB-006",
        "AHP-INNEED-001",
        "AHP-INNEED-002",
        "AHP-TOOLAUTH-001",
        "AHP-TOOLAUTH-006",
        "AHP-MCPS-004",
        "AHP-CHG-032",
        "AHP-CHG-033",
        "AHP-TERM-002",
        "AHP-TERM-006",
        "AHP-TERM-017",
    )

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        # What actions were about, by action and channel.
        self._about: dict[str, dict[str, set[str]]] = {action: {} for action in _IDENTITIES}

    def envelope(self, envelope: Envelope) -> None:
        identity = _IDENTITIES.get(envelope.type)
        if envelope.accepted and identity is not None:
            about = self._about[envelope.type].setdefault(envelope.channel, set())
            if len(about) < _MOST_IDENTITIES:
                about.add(repr(identity(envelope)))

    def comparison(self, comparison: Comparison) -> None:
        if comparison.snapshot.kind in self.kinds:
            self._compare(comparison.snapshot, comparison.fold, comparison.conn)

    def gone(self, channel: str) -> None:
        for about in self._about.values():
            about.pop(channel, None)

    def _compare(self, snapshot: Snapshot, fold: Any, conn: str) -> None:
        kind, channel = snapshot.kind or "", snapshot.channel
        self.watch("AHP-SEQ-009", "AHP-SUB-006")
        if kind == "session":
            self.watch(*(["AHP-INNEED-001"] if channel in self._about["session/inputNeededSet"] else []))
            self.watch(*(["AHP-INNEED-002"] if channel in self._about["session/inputNeededRemoved"] else []))
            self.watch(*(["AHP-MCPS-004"] if channel in self._about["session/mcpServerStateChanged"] else []))
            self.watch(*(["AHP-CHG-032"] if channel in self._about["session/changesetsChanged"] else []))
            self.watch(*(["AHP-CHG-033"] if member(snapshot.state, "changesets") is not None else []))
        elif kind == "root":
            self.watch(*(["AHP-TERM-002", "AHP-TERM-006"] if member(snapshot.state, "terminals") else []))
        elif kind == "chat":
            for call in calls_in(active_turn(snapshot.state)):
                self.watch(*self._of_call(channel, call))
        if fold == snapshot.state:
            return
        left, right = comparable(kind, fold), comparable(kind, snapshot.state)
        if kind == "chat":
            left, right = less_unknown(*_same_window(left, right))
        found = difference(left, right, self.version(snapshot.conn))
        if found is None or _made_unread(kind, found):
            return
        self.find(
            ("AHP-SEQ-009", "AHP-SUB-006", *self._more(channel, left, right, found.steps)),
            f"the snapshot of {channel} is not what client {conn} has folded, at {found.path}",
            expected=found.left,
            seen=found.right,
            frame=snapshot.frame.n,
            once=(channel, found.steps),
        )

    def _more(self, channel: str, left: Any, right: Any, steps: tuple[str | int, ...]) -> tuple[str, ...]:
        """The obligations about the fold of single actions that a difference breaks too."""
        if steps[:1] == ("inputNeeded",):
            return self._of_list(channel, left, right)
        if steps[:1] == ("terminals",):
            return _of_terminals(left, right)
        if steps[:1] == ("changesets",):
            return ("AHP-CHG-032",) if channel in self._about["session/changesetsChanged"] else ("AHP-CHG-033",)
        if steps[:1] == ("customizations",):
            for length in range(2, len(steps)):
                server = found_at(left, steps[:length])
                if member(server, "type") == "mcpServer" and steps[length] in ("state", "channel"):
                    changed = repr(member(server, "id")) in self._about["session/mcpServerStateChanged"].get(
                        channel, ()
                    )
                    return ("AHP-MCPS-004",) if changed else ()
        if steps[:1] == ("activeTurn",) and "toolCall" in steps:
            return self._of_call(channel, found_at(left, steps[: steps.index("toolCall") + 1]))
        return ()

    def _of_call(self, channel: str, call: Any) -> tuple[str, ...]:
        """What a call that is blocked, or runs on after a block, tells of the fold of challenge and resolution."""
        if member(call, "status") == "auth-required":
            return ("AHP-TOOLAUTH-001",)
        resumed = repr(member(call, "toolCallId")) in self._about["chat/toolCallAuthResolved"].get(channel, ())
        return ("AHP-TOOLAUTH-006",) if resumed and member(call, "status") == "running" else ()

    def _of_list(self, channel: str, left: Any, right: Any) -> tuple[str, ...]:
        folded, shown = ({repr(e.get("id")) for e in entries_in(state)} for state in (left, right))
        removed = self._about["session/inputNeededRemoved"].get(channel, set())
        if (shown - folded) & removed or (not folded and not shown and removed):
            return ("AHP-INNEED-002",)
        if folded - shown and removed:
            return ("AHP-INNEED-001", "AHP-INNEED-002")
        return ("AHP-INNEED-001",) if channel in self._about["session/inputNeededSet"] else ()


def _of_terminals(left: Any, right: Any) -> tuple[str, ...]:
    """What it means that the catalogue of terminals has changed without an action that says so."""
    listed, shown = ([entry.get("resource") for entry in dicts(member(state, "terminals"))] for state in (left, right))
    if any(terminal not in listed for terminal in shown):
        return ("AHP-TERM-002",)
    return ("AHP-TERM-017",) if any(terminal not in shown for terminal in listed) else ("AHP-TERM-006",)


def comparable(kind: str, state: Any) -> Any:
    """A state less absent members and less what no action carries."""
    state = without_nulls(state)
    if not isinstance(state, dict):
        return state
    kept = {k: v for k, v in state.items() if k not in _NO_ACTION.get(kind, ())}
    status = kept.get("status") if kind in ("session", "chat") else None
    if isinstance(status, int):
        # Of a session the flags come by actions, the activity only by inputNeeded, which has a rule of its own.
        kept["status"] = status & ~(IS_READ if kind == "chat" else ACTIVITY_MASK)
    if kind == "session" and isinstance(kept.get("chats"), list):
        kept["chats"] = [_less_time(chat) for chat in kept["chats"]]
    return kept


def _less_time(chat: Any) -> Any:
    return {k: v for k, v in chat.items() if k != "modifiedAt"} if isinstance(chat, dict) else chat


def _made_unread(kind: str, found: Difference) -> bool:
    """Whether a session is only no longer read: a new turn does that, and no action says so (A-14, AMB-49)."""
    both = isinstance(found.left, int) and isinstance(found.right, int)
    return (
        kind == "session" and found.steps == ("status",) and both and found.left ^ found.right == IS_READ & found.left
    )


def _same_window(left: Any, right: Any) -> tuple[Any, Any]:
    """Two states of a chat less the older turns that one of them was handed out without."""
    if member(left, "turnsNextCursor") is None and member(right, "turnsNextCursor") is None:
        return left, right
    turns = [member(state, "turns") for state in (left, right)]
    if not all(isinstance(t, list) for t in turns):
        return left, right
    shared = min(len(t) for t in turns)
    cut = [
        {k: v for k, v in {**state, "turns": t[len(t) - shared :]}.items() if k != "turnsNextCursor"}
        for state, t in zip((left, right), turns, strict=True)
    ]
    return cut[0], cut[1]
