"""What tool results say of the terminals in which their commands ran, and what becomes of those terminals."""

from __future__ import annotations

from typing import Any

from conformance.oracle.memory import Bounded
from conformance.oracle.reading import JSON, active_turn, calls_in, dicts, member, text, whole
from conformance.oracle.rule import Rule
from conformance.oracle.tracker import Envelope, Reply, Snapshot
from conformance.protocol import ROOT_URI

from .terminal_catalogue import end_of

# Who has to log in first, or may not see it, is told so.
_NOT_FOR_YOU = (-32007, -32009)
# What the outcome of a command may have beside its type, until 0.7.0.
_OUTCOME: dict[str, type | tuple[type, ...]] = {
    "resource": str,
    "exitCode": (int, float),
    "cwd": str,
    "preview": str,
    "truncated": bool,
}


class TerminalResults(Rule):
    """Until 0.7.0 an outcome is content of its own, then part of the terminal's; an old terminal is shown once more."""

    name = "terminal-results"
    obligations = ("AHP-TERM-042", "AHP-TERM-103", "AHP-TERM-104")
    hears = frozenset({"chat/toolCallComplete", "chat/toolCallContentChanged"})

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        # Terminals that the results of completed calls name, with the chat in which they do.
        self._named: Bounded[str, str] = Bounded()
        # Those that seemed to run although no listing had them: one that is listed later was only too new for it.
        self._running: Bounded[tuple[str, str], tuple[int, JSON]] = Bounded()

    def gone(self, channel: str) -> None:
        for terminal in [terminal for terminal, chat in self._named.items() if chat == channel]:
            del self._named[terminal]

    def envelope(self, envelope: Envelope) -> None:
        if envelope.accepted and envelope.origin is None:
            content = envelope.get("content") or member(envelope.get("result"), "content")
            self._content(envelope.conn, envelope.channel, content, envelope.frame.n)
            if envelope.type == "chat/toolCallComplete":
                self._name(envelope.channel, content)

    def snapshot(self, snapshot: Snapshot) -> None:
        if snapshot.kind != "chat":
            return
        turns = (*dicts(member(snapshot.state, "turns")), active_turn(snapshot.state))
        for call in (call for turn in turns for call in calls_in(turn)):
            self._content(snapshot.conn, snapshot.channel, call.get("content"), snapshot.frame.n)
            if call.get("status") == "completed":
                self._name(snapshot.channel, call.get("content"))

    def _name(self, chat: str, content: JSON) -> None:
        for block in dicts(content):
            if block.get("type") == "terminal" and isinstance(block.get("resource"), str):
                self._named[block["resource"]] = chat

    def _content(self, conn: str, channel: str, content: JSON, frame: int) -> None:
        version = self.version(conn) or ""
        blocks = [block for block in dicts(content) if block.get("type") in ("terminal", "terminalComplete")]
        for block in blocks if version >= "0.5.2" else ():
            outcome = block.get("type") == "terminalComplete"
            if version >= "0.7.0":
                self.watch("AHP-TERM-104")
                wrong, expected = outcome, "a result in the content of type terminal"
            elif outcome:
                self.watch("AHP-TERM-042")
                wrong, expected = not _is_outcome(block), "members of the declared types"
            else:
                continue
            if wrong:
                self.find(
                    "AHP-TERM-104" if version >= "0.7.0" else "AHP-TERM-042",
                    "the outcome of a command is told in another form",
                    expected=expected,
                    seen=block,
                    frame=frame,
                    once=(channel, repr(block)),
                )

    def reply(self, reply: Reply) -> None:
        """An old terminal can be looked at, though it is listed no more."""
        channel = text(reply.request.params.get("channel")) if reply.request is not None else None
        if reply.request is None or reply.request.method != "subscribe" or channel not in self._named:
            return
        assert channel is not None
        if (self.version(reply.conn) or "") < "1.0.0" or not self._is_unlisted(reply.conn, channel):
            return
        if reply.failed and whole(member(reply.error, "code")) in _NOT_FOR_YOU:
            return
        self.watch("AHP-TERM-103")
        state = member(member(reply.result, "snapshot"), "state")
        if reply.failed:
            self._lost(reply.error, reply.frame.n)
        elif not end_of(state)[0]:
            self._running[(reply.conn, channel)] = (reply.frame.n, state)

    def _is_unlisted(self, conn: str, terminal: str) -> bool:
        """Whether a connection follows the list of terminals, and it lacks this one."""
        root = self.tracker.connection(conn).channels.get(ROOT_URI)
        if root is None or not root.live:
            return False
        return terminal not in [entry.get("resource") for entry in dicts(member(root.state, "terminals"))]

    def _lost(self, seen: JSON, frame: int) -> None:
        self.find(
            "AHP-TERM-103",
            "a terminal that a tool result names cannot be looked at as one that has ended",
            expected="a snapshot of an exited terminal with its output",
            seen=seen,
            frame=frame,
        )

    def end(self) -> None:
        for (conn, terminal), (frame, state) in self._running.items() if self.tracker.settled else ():
            view = self.tracker.connection(conn).channels.get(terminal)
            # One that has been disposed of, or has ended, since then is no longer to be judged.
            if view is not None and view.live and not end_of(view.state)[0] and self._is_unlisted(conn, terminal):
                self._lost(state, frame)


def _is_outcome(block: dict[str, JSON]) -> bool:
    return all(isinstance(block[name], kind) for name, kind in _OUTCOME.items() if name in block)
