"""The fold of what was delivered equals what the host hands out: for every channel, client and later snapshot."""

from __future__ import annotations

from typing import Any

from conformance.oracle.comparing import Difference, difference, found_at, without_nulls
from conformance.oracle.reading import active_turn, calls_in, entries_in, member
from conformance.oracle.rule import Rule
from conformance.oracle.tracker import ChannelView, Envelope, Snapshot
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
}


class Convergence(Rule):
    """fold(snapshot, later envelopes) is the next snapshot."""

    name = "convergence"
    obligations = (
        "AHP-SEQ-009",
        "AHP-SUB-006",
        "AHP-INNEED-001",
        "AHP-INNEED-002",
        "AHP-TOOLAUTH-001",
        "AHP-TOOLAUTH-006",
        "AHP-MCPS-004",
    )

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        # What actions were about, by channel: ids of entries set and removed, of servers whose state changed, and
        # of calls that were resumed. Only a difference there is a matter of the fold of that action.
        self._set: dict[str, set[str]] = {}
        self._removed: dict[str, set[str]] = {}
        self._servers: dict[str, set[str]] = {}
        self._resumed: dict[str, set[str]] = {}

    def envelope(self, envelope: Envelope) -> None:
        if not envelope.accepted:
            return
        book, identity = {
            "session/inputNeededSet": (self._set, member(envelope.get("request"), "id")),
            "session/inputNeededRemoved": (self._removed, envelope.get("id")),
            "session/mcpServerStateChanged": (self._servers, envelope.get("id")),
            "chat/toolCallAuthResolved": (self._resumed, envelope.get("toolCallId")),
        }.get(envelope.type, (None, None))
        if book is not None:
            book.setdefault(envelope.channel, set()).add(repr(identity))

    def snapshot(self, snapshot: Snapshot) -> None:
        """The same connection asked again: everything up to fromSeq came before the answer."""
        if snapshot.folded is not None and snapshot.kind in _NO_ACTION:
            self._compare(snapshot, snapshot.folded, snapshot.conn)

    def end(self) -> None:
        """Other connections: only after a fence is it sure that each has got what precedes the snapshot."""
        if not self.tracker.settled:
            return
        for snapshot in self.tracker.snapshots:
            if snapshot.kind not in _NO_ACTION or snapshot.from_seq is None:
                continue
            for connection, view in self.tracker.views(snapshot.channel):
                if connection.name == snapshot.conn or connection.version != self.version(snapshot.conn):
                    continue
                if view.life != snapshot.life:
                    continue
                state = _at(view, snapshot.from_seq, up_to_date=view.live and connection.fed)
                if state is not None and state is not snapshot.state:
                    self._compare(snapshot, state, connection.name)

    def _compare(self, snapshot: Snapshot, fold: Any, conn: str) -> None:
        kind, channel = snapshot.kind or "", snapshot.channel
        self.watch("AHP-SEQ-009", "AHP-SUB-006")
        if kind == "session":
            self.watch(*(["AHP-INNEED-001"] if channel in self._set else []))
            self.watch(*(["AHP-INNEED-002"] if channel in self._removed else []))
            self.watch(*(["AHP-MCPS-004"] if channel in self._servers else []))
        elif kind == "chat":
            for call in calls_in(active_turn(snapshot.state)):
                self.watch(*self._of_call(channel, call))
        if fold == snapshot.state:
            return
        left, right = comparable(kind, fold), comparable(kind, snapshot.state)
        if kind == "chat":
            left, right = _same_window(left, right)
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
        if steps[:1] == ("customizations",):
            for length in range(2, len(steps)):
                server = found_at(left, steps[:length])
                if member(server, "type") == "mcpServer" and steps[length] in ("state", "channel"):
                    changed = repr(member(server, "id")) in self._servers.get(channel, ())
                    return ("AHP-MCPS-004",) if changed else ()
        if steps[:1] == ("activeTurn",) and "toolCall" in steps:
            return self._of_call(channel, found_at(left, steps[: steps.index("toolCall") + 1]))
        return ()

    def _of_call(self, channel: str, call: Any) -> tuple[str, ...]:
        """What a call that is blocked, or runs on after a block, tells of the fold of challenge and resolution."""
        if member(call, "status") == "auth-required":
            return ("AHP-TOOLAUTH-001",)
        resumed = repr(member(call, "toolCallId")) in self._resumed.get(channel, ())
        return ("AHP-TOOLAUTH-006",) if resumed and member(call, "status") == "running" else ()

    def _of_list(self, channel: str, left: Any, right: Any) -> tuple[str, ...]:
        folded, shown = ({repr(e.get("id")) for e in entries_in(state)} for state in (left, right))
        removed = self._removed.get(channel, set())
        if (shown - folded) & removed or (not folded and not shown and removed):
            return ("AHP-INNEED-002",)
        if folded - shown and removed:
            return ("AHP-INNEED-001", "AHP-INNEED-002")
        return ("AHP-INNEED-001",) if channel in self._set else ()


def _at(view: ChannelView, seq: int, *, up_to_date: bool) -> Any:
    """The fold as of ``seq``; a view that is no longer fed tells only about what it has surely seen."""
    return view.at(seq) if up_to_date or view.position >= seq else None


def comparable(kind: str, state: Any) -> Any:
    """A state less absent members and less what no action carries."""
    state = without_nulls(state)
    if not isinstance(state, dict):
        return state
    kept = {k: v for k, v in state.items() if k not in _NO_ACTION.get(kind, ())}
    status = kept.get("status")
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
