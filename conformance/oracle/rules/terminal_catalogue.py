"""The catalogue of terminals follows the terminals: their titles, claims and ends."""

from __future__ import annotations

import re
from typing import Any

from conformance.oracle.comparing import difference, without_nulls
from conformance.oracle.memory import Bounded
from conformance.oracle.reading import JSON, dicts, member, text
from conformance.oracle.rule import Rule
from conformance.oracle.tracker import Dispatch, Envelope, Request
from conformance.oracle.views import ChannelView, ConnectionView
from conformance.protocol import ROOT_URI

# The members of a terminal that its entry repeats, by the action that changes them.
_SHARED = {"terminal/titleChanged": "title", "terminal/claimed": "claim", "terminal/exited": "end"}

# What makes a shell end: its command, or the end of its input.
_END = re.compile(r"\bexit\b|\x04")


class TerminalCatalogue(Rule):
    """The last listing says of a terminal what the terminal says itself, and has it while it is not disposed of."""

    name = "terminal-catalogue"
    obligations = ("AHP-TERM-006", "AHP-TERM-015", "AHP-TERM-016")
    hears = frozenset({"root/terminalsChanged", *_SHARED})

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        # (connection, terminal, shared member) -> when it last changed; and the listing after that which lacks it;
        # whether one before it lacked it as well.
        self._changed: Bounded[tuple[str, str, str], int] = Bounded()
        self._stale: Bounded[tuple[str, str, str], tuple[Envelope, JSON, JSON, bool]] = Bounded()
        # Terminals and sessions that somebody asked to dispose of.
        self._disposing: Bounded[str, bool] = Bounded()
        # Terminals whose shell a client has told to end, as the last that it typed.
        self._ending: Bounded[str, bool] = Bounded()

    def gone(self, channel: str) -> None:
        for key in [key for key in self._stale if key[1] == channel]:
            del self._stale[key]

    def request(self, request: Request) -> None:
        channel = text(request.params.get("channel"))
        if channel is None:
            return
        if request.method in ("disposeTerminal", "disposeSession"):
            self._disposing[channel] = True
        elif request.method in ("createTerminal", "createSession"):
            self._disposing.pop(channel, None)

    def dispatch(self, dispatch: Dispatch) -> None:
        if member(dispatch.action, "type") == "terminal/input":
            typed = text(member(dispatch.action, "data")) or ""
            self._ending[dispatch.channel] = _END.search(typed) is not None

    def envelope(self, envelope: Envelope) -> None:
        if not envelope.accepted or envelope.replayed:
            return
        if envelope.type == "terminal/exited":
            self.watch("AHP-TERM-015")
        if not isinstance(envelope.before, dict) or not isinstance(envelope.seq, int):
            return
        if envelope.type != "root/terminalsChanged":
            key = (envelope.conn, envelope.channel, _SHARED[envelope.type])
            self._changed[key] = envelope.seq
            self._stale.pop(key, None)
        elif envelope.channel == ROOT_URI:
            self._keeps_what_ended(envelope)
            self._follows(envelope)

    def _keeps_what_ended(self, envelope: Envelope) -> None:
        """A terminal whose process has ended stays until somebody disposes of it.

        Whoever disposes of a terminal ends its process as well, and may be missing in the recording: then only one
        whose shell was told to end, and that was never listed as ended, has surely gone by itself.
        """
        before, now = (
            {text(entry.get("resource")): entry for entry in dicts(listing)}
            for listing in (member(envelope.before, "terminals"), envelope.get("terminals"))
        )
        for view in _terminals(self.tracker.connection(envelope.conn)):
            owner = text(member(member(view.state, "claim"), "session"))
            if not end_of(view.state)[0] or view.channel not in before:
                continue
            if view.channel in self._disposing or owner in self._disposing:
                continue
            self.watch("AHP-TERM-016")
            by_itself = self._ending.get(view.channel, False) and not end_of(before[view.channel])[0]
            if view.channel not in now and (by_itself or self.tracker.whole):
                self.find(
                    "AHP-TERM-016",
                    "a terminal goes with the process in it",
                    expected=f"{view.channel} as a terminal that has ended",
                    seen=envelope.message,
                    frame=envelope.frame.n,
                    once=(view.channel, repr(envelope.seq)),
                )

    def _follows(self, envelope: Envelope) -> None:
        """A listing says of what changed before it what the terminal says, or a later one does."""
        entries = {text(entry.get("resource")): entry for entry in dicts(envelope.get("terminals"))}
        for view in _terminals(self.tracker.connection(envelope.conn)):
            entry = entries.get(view.channel)
            if entry is None or view.late:
                continue
            here = _shared_of(view.state)
            for shared, listed in _shared_of(entry).items():
                key = (envelope.conn, view.channel, shared)
                if self._changed.get(key, envelope.seq) >= envelope.seq:
                    continue
                self.watch("AHP-TERM-006")
                if difference(without_nulls(here[shared]), without_nulls(listed), envelope.version):
                    self._stale[key] = (envelope, here[shared], entry, key in self._stale)
                else:
                    self._stale.pop(key, None)

    def end(self) -> None:
        if not self.tracker.settled:
            return
        for (conn, channel, shared), (listing, here, entry, again) in self._stale.items():
            # A host may wait a little before it lists anew, and a log of messages ends at any moment.
            if self.tracker.connection(conn).fed and (again or self.tracker.whole):
                self.find(
                    "AHP-TERM-006",
                    f"the catalogue lags behind the {shared} of {channel}",
                    expected=here,
                    seen=entry,
                    frame=listing.frame.n,
                    once=(channel, shared),
                )
        for connection in self.tracker.connections.values():
            root = connection.channels.get(ROOT_URI)
            if connection.fed and root is not None and root.live and not root.late:
                self._tells_the_end(connection, member(root.state, "terminals"))

    def _tells_the_end(self, connection: ConnectionView, terminals: JSON) -> None:
        """That a process has ended is told on its own channel, not in the catalogue alone."""
        ended = {text(entry.get("resource")): entry for entry in dicts(terminals) if end_of(entry)[0]}
        for view in _terminals(connection):
            if view.channel in ended and not view.late and not end_of(view.state)[0]:
                self.find(
                    "AHP-TERM-015",
                    f"the catalogue has the end of {view.channel}, and the terminal has not",
                    expected="terminal/exited",
                    seen=ended[view.channel],
                    frame=None,
                    once=view.channel,
                )


def _terminals(connection: ConnectionView) -> list[ChannelView]:
    """The terminals that a connection follows."""
    views = connection.channels.values()
    return [view for view in views if view.kind == "terminal" and view.live and isinstance(view.state, dict)]


def end_of(terminal: JSON) -> tuple[bool, JSON]:
    """Whether the process of a terminal, or of an entry, has ended, and its code; before 0.9.0 only the code tells."""
    lifecycle = member(terminal, "lifecycle")
    if isinstance(lifecycle, dict):
        return lifecycle.get("status") == "exited", lifecycle.get("exitCode")
    code = member(terminal, "exitCode")
    return code is not None, code


def _shared_of(terminal: JSON) -> dict[str, Any]:
    """What a terminal and its entry have in common."""
    return {"title": member(terminal, "title"), "claim": member(terminal, "claim"), "end": list(end_of(terminal))}
