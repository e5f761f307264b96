"""The fold of terminals, changesets, annotations, watches, automations and canvases is what the host hands out."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from conformance.oracle.comparing import difference
from conformance.oracle.memory import Bounded
from conformance.oracle.reading import JSON, dicts, member, text
from conformance.oracle.tracker import ChannelView, Envelope, Snapshot
from conformance.oracle.unknown import CHANGESET_STATUSES, OPERATION_STATUSES
from conformance.protocol import ACTIONS

from .convergence import Convergence, comparable
from .terminal_catalogue import end_of
from .terminal_content import blame_content, trimmed
from .touches import Touches, touches_of

_KINDS = frozenset({"terminal", "changeset", "annotations", "resourceWatch", "automations", "automationRun", "canvas"})
# How many places of a channel are remembered, and of how many channels.
_MOST_PLACES = 512
_MOST_CHANNELS = 256

Steps = tuple[str | int, ...]


class ChannelFolds(Convergence):
    """Compares as convergence does; the last action that touched a place is to blame for a difference there."""

    name = "channel-folds"
    kinds = _KINDS
    obligations = (
        "AHP-SEQ-009",
        "AHP-SUB-006",
        "AHP-TERM-008",
        "AHP-TERM-009",
        "AHP-TERM-011",
        "AHP-TERM-015",
        "AHP-TERM-022",
        "AHP-TERM-025",
        "AHP-TERM-026",
        "AHP-TERM-027",
        "AHP-TERM-028",
        "AHP-TERM-030",
        "AHP-TERM-038",
        "AHP-TERM-101",
        "AHP-CHG-008",
        "AHP-CHG-009",
        "AHP-CHG-010",
        "AHP-CHG-011",
        "AHP-CHG-012",
        "AHP-CHG-013",
        "AHP-CHG-014",
        "AHP-CHG-019",
        "AHP-CHG-040",
        "AHP-ANN-004",
        "AHP-ANN-005",
        "AHP-ANN-006",
        "AHP-ANN-007",
        "AHP-ANN-008",
        "AHP-ANN-012",
        "AHP-ANN-014",
        "AHP-ANN-020",
        "AHP-ANN-022",
        "AHP-ANN-101",
        "AHP-RW-006",
        "AHP-RW-016",
    )
    hears = frozenset(name for name, action in ACTIONS.items() if action.channel in _KINDS)

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        # Channel -> place -> the obligations of the last action that touched it; and all that were put to the test.
        self._touched: Bounded[str, Bounded[str, Touches]] = Bounded(_MOST_CHANNELS)
        self._tested: Bounded[str, set[str]] = Bounded(_MOST_CHANNELS)
        # Terminal -> what a client typed last.
        self._typed: Bounded[str, str] = Bounded(_MOST_CHANNELS)
        # The terminal whose output was touched last, and by nothing else since.
        self._printing = ""

    def envelope(self, envelope: Envelope) -> None:
        if envelope.accepted and envelope.before is not None:
            self._touch(envelope)

    def _touch(self, envelope: Envelope) -> None:
        if envelope.type == "terminal/data":
            if self._printing == envelope.channel:
                return
            self._printing = envelope.channel
        elif self._printing == envelope.channel:
            self._printing = ""
        if envelope.type == "terminal/input":
            self._typed[envelope.channel] = text(envelope.get("data")) or ""
        for place, obligations in touches_of(envelope, envelope.version or ""):
            self._touched.setdefault(envelope.channel, Bounded(_MOST_PLACES))[place] = obligations
            self._tested.setdefault(envelope.channel, set()).update(obligations)

    def gone(self, channel: str) -> None:
        super().gone(channel)
        self._touched.pop(channel, None)
        self._tested.pop(channel, None)
        self._typed.pop(channel, None)
        self._printing = ""

    def _compare(self, snapshot: Snapshot, fold: Any, conn: str) -> None:
        kind, channel = snapshot.kind or "", snapshot.channel
        self.watch("AHP-SEQ-009", "AHP-SUB-006", *self._tested.get(channel, ()))
        if kind == "resourceWatch":
            self.watch("AHP-RW-006", *(["AHP-RW-016"] if _is_resumed(snapshot) else []))
        if kind == "annotations" and conn != snapshot.conn and dicts(member(fold, "annotations")):
            self.watch("AHP-ANN-012")
        if fold == snapshot.state:
            return
        left, right = like(kind, fold), like(kind, snapshot.state)
        kept = trimmed(left, right) if kind == "terminal" else left
        if kept != left:
            self.watch("AHP-TERM-027")
        found = difference(kept, right, self.version(snapshot.conn))
        if found is None:
            return
        blamed = self._blame(snapshot, conn, left, right, found.steps)
        self.find(
            tuple(dict.fromkeys(("AHP-SEQ-009", "AHP-SUB-006", *blamed))),
            f"the snapshot of {channel} is not what client {conn} has folded, at {found.path}",
            expected=found.left,
            seen=found.right,
            frame=snapshot.frame.n,
            once=(channel, found.steps),
        )

    def _blame(self, snapshot: Snapshot, conn: str, left: JSON, right: JSON, steps: Steps) -> Touches:
        touched = self._touched.get(snapshot.channel, Bounded())
        place = str(steps[0]) if steps else ""
        if snapshot.kind == "resourceWatch":
            return ("AHP-RW-006", *(["AHP-RW-016"] if _is_resumed(snapshot) else []))
        if snapshot.kind == "annotations" and place == "annotations":
            return _of_annotations(touched, left, right, steps, conn != snapshot.conn)
        if snapshot.kind == "terminal" and place == "content":
            return blame_content(left, right, frozenset(touched), self._typed.get(snapshot.channel))
        if place in ("exitCode", "lifecycle") and place not in touched and end_of(right)[0] and not end_of(left)[0]:
            return ("AHP-TERM-015",)
        if place == "files" and "reviewed" in steps and "reviewed" in touched:
            return touched["reviewed"]
        return touched.get(place, ())

    def end(self) -> None:
        if not self.tracker.settled:
            return
        followed: dict[str, list[tuple[str, ChannelView]]] = {}
        for connection in self.tracker.connections.values():
            for view in connection.channels.values() if connection.fed else ():
                if view.kind == "terminal" and view.live and not view.late and len(view.history) > 1:
                    followed.setdefault(view.channel, []).append((connection.name, view))
        for views in followed.values():
            for (one, first), (other, second) in pairwise(views):
                self._same(one, first, other, second)

    def _same(self, one: str, first: ChannelView, other: str, second: ChannelView) -> None:
        """What two subscribers of a terminal have made of it."""
        if self.version(one) != self.version(other) or first.life != second.life:
            return
        self.watch("AHP-TERM-028")
        left, right = like("terminal", first.state), like("terminal", second.state)
        versions = (trimmed(left, right), right), (trimmed(right, left), left)
        found = [difference(fold, shown, self.version(one)) for fold, shown in versions]
        if all(found) and found[0] is not None:
            self.find(
                "AHP-TERM-028",
                f"the clients {one} and {other} do not see the same in {first.channel}, at {found[0].path}",
                expected=found[0].left,
                seen=found[0].right,
                frame=None,
                once=first.channel,
            )


def _is_resumed(snapshot: Snapshot) -> bool:
    """Whether a snapshot came with the answer to reconnect, which alone has a type."""
    return member(member(snapshot.frame.msg, "result"), "type") is not None


def like(kind: str, state: JSON) -> JSON:
    """A state fit to be compared: less what says nothing, such as a mark that is false."""
    state = comparable(kind, state)
    if kind != "changeset" or not isinstance(state, dict):
        return state
    kept = dict(state)
    if text(kept.get("status")) not in CHANGESET_STATUSES:
        # The fold drops an error with every status that it does not know to be one of failure.
        kept.pop("error", None)
    if isinstance(kept.get("files"), list):
        kept["files"] = [_less_unreviewed(file) for file in kept["files"]]
    if isinstance(kept.get("operations"), list):
        kept["operations"] = [_less_doubtful(o) for o in kept["operations"]]
    return kept


def _less_doubtful(operation: JSON) -> JSON:
    """An operation with its status, and without an error that only a later version can explain."""
    if not isinstance(operation, dict):
        return operation
    known = text(operation.get("status", "idle")) in OPERATION_STATUSES
    return {"status": "idle", **{name: value for name, value in operation.items() if known or name != "error"}}


def _less_unreviewed(file: JSON) -> JSON:
    if member(file, "reviewed") is False:
        return {name: value for name, value in file.items() if name != "reviewed"}
    return file


# What is blamed only for a difference in the very place that it is about.
_PLACES = frozenset({"AHP-ANN-004", "AHP-ANN-014", "AHP-ANN-022", "AHP-ANN-101"})


def _of_annotations(touched: dict[str, Touches], left: JSON, right: JSON, steps: Steps, elsewhere: bool) -> Touches:
    folded, shown = ([text(a.get("id")) or "" for a in dicts(member(s, "annotations"))] for s in (left, right))
    blamed = {identity: tuple(o for o in each if o not in _PLACES) for identity, each in touched.items()}
    missing, extra = [i for i in folded if i not in shown], [i for i in shown if i not in folded]
    if missing and extra:
        return ("AHP-ANN-004",)
    if missing:
        return (*blamed.get(missing[0], ()), *(["AHP-ANN-012"] if elsewhere else []))
    if extra:
        return blamed.get(extra[0], ())
    if folded != shown:
        return ("AHP-ANN-005",)
    place = steps[1] if len(steps) > 1 and isinstance(steps[1], int) else 0
    if steps[2:3] == ("origin",):
        return ("AHP-ANN-101",)
    if steps[2:3] == ("turnId",):
        return ("AHP-ANN-022",)
    if steps[2:3] == ("entries",):
        entries = [dicts(member(member(s, "annotations")[place], "entries")) for s in (left, right)]
        ids = [[text(entry.get("id")) or "" for entry in each] for each in entries]
        if ids[0] != ids[1] and sorted(ids[0]) == sorted(ids[1]):
            return ("AHP-ANN-014",)
    return blamed.get(folded[place], ()) if place < len(folded) else ()
