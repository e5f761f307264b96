"""The fold of what was delivered equals what the host hands out: for every channel, client and later snapshot."""

from __future__ import annotations

from typing import Any

from conformance.oracle.rule import Rule
from conformance.oracle.tracker import ChannelView, Snapshot

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
_ACTIVITY_BITS = 31
_IS_READ = 32


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

    def snapshot(self, snapshot: Snapshot) -> None:
        """The same connection asked again: everything up to fromSeq came before the answer."""
        if snapshot.folded is not None and snapshot.kind in _NO_ACTION:
            self._compare(snapshot, snapshot.folded, snapshot.conn)

    def end(self) -> None:
        """Other connections: only after a fence is it sure that each has got what precedes the snapshot."""
        if not self.tracker.settled:
            return
        for snapshot in self.tracker.snapshots:
            if snapshot.kind not in _NO_ACTION or not isinstance(snapshot.from_seq, int):
                continue
            for connection, view in self.tracker.views(snapshot.channel):
                if connection.name == snapshot.conn or connection.version != self.version(snapshot.conn):
                    continue
                state = _at(view, snapshot.from_seq, up_to_date=view.live and not connection.closed)
                if state is not None and state is not snapshot.state:
                    self._compare(snapshot, state, connection.name)

    def _compare(self, snapshot: Snapshot, fold: Any, conn: str) -> None:
        kind = snapshot.kind or ""
        obligations = ["AHP-SEQ-009", "AHP-SUB-006"]
        self.watch(*obligations)
        if kind == "session" and isinstance(snapshot.state, dict):
            self.watch("AHP-INNEED-002", *(["AHP-INNEED-001"] if snapshot.state.get("inputNeeded") else []))
            if snapshot.state.get("customizations"):
                self.watch("AHP-MCPS-004")
        if kind == "chat":
            shown = repr(snapshot.state)
            self.watch(*(["AHP-TOOLAUTH-001"] if "'auth-required'" in shown else []))
            self.watch(*(["AHP-TOOLAUTH-006"] if "'mcp'" in shown and "'running'" in shown else []))
        difference = _difference(comparable(kind, fold), comparable(kind, snapshot.state))
        if difference is None:
            return
        path, folded, handed_out = difference
        if path.startswith("$.inputNeeded"):
            obligations += ["AHP-INNEED-001", "AHP-INNEED-002"]
        if path.startswith("$.customizations"):
            obligations.append("AHP-MCPS-004")
        if "toolCall" in path:
            obligations += ["AHP-TOOLAUTH-001"] if "'auth-required'" in repr(snapshot.state) else []
        self.find(
            tuple(obligations),
            f"the snapshot of {snapshot.channel} is not what client {conn} has folded, at {path}",
            expected=folded,
            seen=handed_out,
            frame=snapshot.frame.n,
            once=(snapshot.channel, path),
        )


def _at(view: ChannelView, seq: int, *, up_to_date: bool) -> Any:
    """The fold as of ``seq``; a view that is no longer fed tells only about what it has surely seen."""
    if not view.history or (not up_to_date and view.history[-1][0] < seq):
        return None
    return view.at(seq)


def comparable(kind: str, state: Any) -> Any:
    """A state less absent members and less what no action carries."""
    state = _without_nulls(state)
    if not isinstance(state, dict):
        return state
    kept = {k: v for k, v in state.items() if k not in _NO_ACTION.get(kind, ())}
    if kind == "session":
        if isinstance(kept.get("status"), int):
            # Flags come by actions, the activity value does not, except by inputNeeded, which has a rule of its own.
            kept["status"] &= ~_ACTIVITY_BITS
        if isinstance(kept.get("chats"), list):
            kept["chats"] = [_less_time(chat) for chat in kept["chats"]]
    if kind == "chat" and isinstance(kept.get("status"), int):
        kept["status"] &= ~_IS_READ
    return kept


def _less_time(chat: Any) -> Any:
    return {k: v for k, v in chat.items() if k != "modifiedAt"} if isinstance(chat, dict) else chat


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _without_nulls(v) for k, v in value.items() if v is not None}
    if isinstance(value, list):
        return [_without_nulls(v) for v in value]
    return value


def _difference(left: Any, right: Any, path: str = "$") -> tuple[str, Any, Any] | None:
    """The first place where two values differ, with both values there."""
    if isinstance(left, dict) and isinstance(right, dict):
        for key in (*left, *(k for k in right if k not in left)):
            if key not in left or key not in right:
                return f"{path}.{key}", left.get(key, "absent"), right.get(key, "absent")
            found = _difference(left[key], right[key], f"{path}.{key}")
            if found is not None:
                return found
        return None
    if isinstance(left, list) and isinstance(right, list):
        for place, (one, other) in enumerate(zip(left, right, strict=False)):
            found = _difference(one, other, f"{path}[{place}]")
            if found is not None:
                return found
        return None if len(left) == len(right) else (path, left, right)
    return None if left == right and type(left) is type(right) else _scalar(path, left, right)


def _scalar(path: str, left: Any, right: Any) -> tuple[str, Any, Any] | None:
    numbers = isinstance(left, int | float) and isinstance(right, int | float)
    return (
        None
        if numbers and left == right and isinstance(left, bool) == isinstance(right, bool)
        else (
            path,
            left,
            right,
        )
    )
