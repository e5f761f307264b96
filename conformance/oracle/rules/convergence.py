"""The fold of what was delivered equals what the host hands out: for every channel, client and later snapshot."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from conformance.oracle.comparing import Difference, difference, found_at, without_nulls
from conformance.oracle.reading import JSON, active_turn, calls_in, entries_in, member
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


# What some actions are about. Only a difference there is a matter of the fold of that action.
_IDENTITIES: dict[str, Callable[[Envelope], JSON]] = {
    "session/inputNeededSet": lambda envelope: member(envelope.get("request"), "id"),
    "session/inputNeededRemoved": lambda envelope: envelope.get("id"),
    "session/mcpServerStateChanged": lambda envelope: envelope.get("id"),
    "chat/toolCallAuthResolved": lambda envelope: envelope.get("toolCallId"),
}
_MOST_IDENTITIES = 4096
_MOST_AWAITED = 64


@dataclass(frozen=True, slots=True)
class _Awaited:
    """A snapshot, and a connection to be compared with it once its fold has come that far."""

    snapshot: Snapshot
    conn: str


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
        # What actions were about, by action and channel.
        self._about: dict[str, dict[str, set[str]]] = {action: {} for action in _IDENTITIES}
        # Snapshots that another connection has not come to yet, by channel.
        self._awaited: dict[str, deque[_Awaited]] = {}

    def envelope(self, envelope: Envelope) -> None:
        if envelope.accepted:
            identity = _IDENTITIES.get(envelope.type)
            if identity is not None:
                about = self._about[envelope.type].setdefault(envelope.channel, set())
                if len(about) < _MOST_IDENTITIES:
                    about.add(repr(identity(envelope)))
        if envelope.channel in self._awaited:
            self._arrived(envelope)

    def snapshot(self, snapshot: Snapshot) -> None:
        if snapshot.kind not in _NO_ACTION:
            return
        # The same connection asked again: everything up to fromSeq came before the answer.
        if snapshot.folded is not None:
            self._compare(snapshot, snapshot.folded, snapshot.conn)
        seq = snapshot.from_seq
        if seq is None:
            return
        for connection, view in self.tracker.views(snapshot.channel):
            if connection.name == snapshot.conn or view.life != snapshot.life:
                continue
            if connection.version != self.version(snapshot.conn):
                continue
            if view.position >= seq:
                self._against(snapshot, view, connection.name)
            elif view.live and connection.fed:
                waiting = self._awaited.setdefault(snapshot.channel, deque(maxlen=_MOST_AWAITED))
                waiting.append(_Awaited(snapshot, connection.name))

    def _arrived(self, envelope: Envelope) -> None:
        """Compare what a connection has come past with the envelope it got."""
        waiting = self._awaited[envelope.channel]
        view = self.tracker.connection(envelope.conn).channels.get(envelope.channel)
        if view is None or not any(each.conn == envelope.conn for each in waiting):
            return
        left: deque[_Awaited] = deque(maxlen=_MOST_AWAITED)
        for each in waiting:
            if each.conn != envelope.conn or view.position < (each.snapshot.from_seq or 0):
                left.append(each)
            elif view.life == each.snapshot.life:
                self._against(each.snapshot, view, envelope.conn)
        if left:
            self._awaited[envelope.channel] = left
        else:
            del self._awaited[envelope.channel]

    def gone(self, channel: str) -> None:
        self._awaited.pop(channel, None)
        for about in self._about.values():
            about.pop(channel, None)

    def end(self) -> None:
        """Who has not come past a snapshot: only after a fence is it sure that nothing before it is on its way."""
        if not self.tracker.settled:
            return
        for each in (each for waiting in self._awaited.values() for each in waiting):
            connection = self.tracker.connection(each.conn)
            view = connection.channels.get(each.snapshot.channel)
            if view is not None and view.live and connection.fed and view.life == each.snapshot.life:
                self._against(each.snapshot, view, each.conn)

    def _against(self, snapshot: Snapshot, view: ChannelView, conn: str) -> None:
        state = view.at(snapshot.from_seq)
        if state is not None and state is not snapshot.state:
            self._compare(snapshot, state, conn)

    def _compare(self, snapshot: Snapshot, fold: Any, conn: str) -> None:
        kind, channel = snapshot.kind or "", snapshot.channel
        self.watch("AHP-SEQ-009", "AHP-SUB-006")
        if kind == "session":
            self.watch(*(["AHP-INNEED-001"] if channel in self._about["session/inputNeededSet"] else []))
            self.watch(*(["AHP-INNEED-002"] if channel in self._about["session/inputNeededRemoved"] else []))
            self.watch(*(["AHP-MCPS-004"] if channel in self._about["session/mcpServerStateChanged"] else []))
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
