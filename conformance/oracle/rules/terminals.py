"""Terminals: who may claim one, what its commands are called, and what must not be in its output."""

from __future__ import annotations

import re
from typing import Any

from conformance.oracle.memory import Bounded
from conformance.oracle.reading import JSON, chats_in, dicts, member, text, texts
from conformance.oracle.rule import Rule
from conformance.oracle.tracker import ConnectionView, Dispatch, Envelope, Snapshot

from .terminal_catalogue import end_of

# What a shell says to the host by which it runs: OSC 133 and OSC 633, and how such a mark may begin.
_MARK = re.compile("(?:\x1b\\]|\x9d)(?:133|633);")
_BEGINNING = re.compile("(?:\x1b(?:\\](?:1(?:33?)?|6(?:33?)?)?)?|\x9d(?:1(?:33?)?|6(?:33?)?)?)$")


class Terminals(Rule):
    """Claims pass from their holder to others; commands have ids of their own; output is free of shell marks."""

    name = "terminals"
    obligations = (
        "AHP-TERM-012",
        "AHP-TERM-013",
        "AHP-TERM-014",
        "AHP-TERM-020",
        "AHP-TERM-021",
        "AHP-TERM-024",
        "AHP-TERM-025",
        "AHP-TERM-029",
        "AHP-TERM-030",
    )
    hears = frozenset(
        {
            "terminal/data",
            "terminal/claimed",
            "terminal/titleChanged",
            "terminal/cleared",
            "terminal/commandExecuted",
            "terminal/commandFinished",
        }
    )

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        # Terminal -> connection -> the end of its output, if a mark may begin there.
        self._beginnings: dict[str, dict[str, str]] = {}
        # Terminal -> (connection, commandId) -> the serverSeq of its start.
        self._commands: dict[str, Bounded[tuple[str, str], Any]] = {}
        # When a claim was dispatched; for each terminal and client the number and the frame of its last claim.
        self._sent: Bounded[tuple[str, int], int] = Bounded()
        self._taken: dict[str, Bounded[str, tuple[int, int]]] = {}

    def gone(self, channel: str) -> None:
        for book in (self._beginnings, self._commands, self._taken):
            book.pop(channel, None)

    def dispatch(self, dispatch: Dispatch) -> None:
        number = dispatch.client_seq
        if member(dispatch.action, "type") == "terminal/claimed" and dispatch.client_id and isinstance(number, int):
            self._sent[(dispatch.client_id, number)] = dispatch.frame.n

    def snapshot(self, snapshot: Snapshot) -> None:
        if snapshot.kind != "terminal":
            return
        # What came before the snapshot is in it, so that no mark is cut by it.
        self._beginnings.get(snapshot.channel, {}).pop(snapshot.conn, None)
        # Somebody else may have disposed of the terminal and made another one at its URI.
        commands = self._commands.get(snapshot.channel)
        for key in [key for key in commands or () if key[0] == snapshot.conn]:
            self._commands[snapshot.channel].pop(key, None)
        parts = dicts(member(snapshot.state, "content"))
        outputs = [part.get("output") if part.get("type") == "command" else part.get("value") for part in parts]
        if outputs:
            self._clean("".join(texts(outputs)), snapshot.channel, snapshot.state, snapshot.frame.n, None)
            self._speaks(snapshot.state)
        if any(part.get("type") == "command" for part in parts):
            self.watch("AHP-TERM-025")
            if member(snapshot.state, "supportsCommandDetection") is not True:
                self.find(
                    "AHP-TERM-025",
                    "a terminal with command parts that does not announce command detection",
                    expected={"supportsCommandDetection": True},
                    seen={k: v for k, v in snapshot.state.items() if k != "content"},
                    frame=snapshot.frame.n,
                )

    def envelope(self, envelope: Envelope) -> None:
        if envelope.type == "terminal/data":
            self._data(envelope)
        elif not isinstance(envelope.before, dict):
            return
        elif envelope.type == "terminal/claimed":
            self._claimed(envelope)
        elif envelope.type in ("terminal/titleChanged", "terminal/cleared"):
            self._used(envelope, "AHP-TERM-029" if envelope.type == "terminal/titleChanged" else "AHP-TERM-030")
        elif envelope.accepted and envelope.type == "terminal/commandExecuted":
            self._executed(envelope)
        elif envelope.accepted:
            self._finished(envelope)

    # -- output ---------------------------------------------------------------------------------------

    def _data(self, envelope: Envelope) -> None:
        data = envelope.get("data")
        if not envelope.accepted or not isinstance(data, str):
            return
        beginnings = self._beginnings.get(envelope.channel)
        before = beginnings.pop(envelope.conn, "") if beginnings else ""
        self._speaks(envelope.before)
        self._clean(before + data, envelope.channel, envelope.message, envelope.frame.n, repr(envelope.seq))
        end = data[-5:]
        cut = _BEGINNING.search(end) if "\x1b" in end or "\x9d" in end else None
        if cut is not None:
            self._beginnings.setdefault(envelope.channel, {})[envelope.conn] = cut[0]

    def _speaks(self, state: JSON) -> None:
        """Only a shell that tells the host of its commands has marks to be taken out."""
        if member(state, "supportsCommandDetection") is True:
            self.watch("AHP-TERM-021")

    def _clean(self, output: str, channel: str, seen: JSON, frame: int, seq: str | None) -> None:
        if "133;" not in output and "633;" not in output:
            return
        found = _MARK.search(output)
        if found is not None:
            self.find(
                "AHP-TERM-021",
                "the output of a terminal has a mark of the shell integration",
                expected="output without OSC 133 and OSC 633",
                seen=seen,
                frame=frame,
                once=(channel, seq) if seq is not None else None,
            )

    # -- claims ---------------------------------------------------------------------------------------

    def _claimed(self, envelope: Envelope) -> None:
        held, wanted, who = member(envelope.before, "claim"), envelope.get("claim"), envelope.by
        if envelope.accepted and member(held, "turnId") is not None and member(wanted, "turnId") is None:
            self.watch("AHP-TERM-020")
        if who is not None and member(held, "kind") == "client" and isinstance(member(held, "clientId"), str):
            if held["clientId"] == who[0]:
                self._handed_on(envelope, wanted)
            else:
                self._taken_from(envelope, held["clientId"], who)
        holder = text(member(wanted, "clientId"))
        if envelope.accepted and holder is not None and isinstance(envelope.seq, int):
            taken = self._taken.setdefault(envelope.channel, Bounded())
            if envelope.seq > taken.get(holder, (-1, 0))[0]:
                taken[holder] = (envelope.seq, envelope.frame.n)

    def _handed_on(self, envelope: Envelope, wanted: JSON) -> None:
        if envelope.accepted:
            self.watch("AHP-TERM-013")
        elif not end_of(envelope.before)[0] and self._is_sound(wanted, envelope.conn):
            self._find(envelope, ("AHP-TERM-013",), "the holder of a terminal cannot hand it on", "an accepted claim")

    def _is_sound(self, claim: JSON, conn: str) -> bool:
        """Whether a claim names a client that is here, or a session that is known to be, and no call of it."""
        if member(claim, "kind") == "client":
            return self._is_here(member(claim, "clientId"))
        if member(claim, "turnId") is not None or member(claim, "toolCallId") is not None:
            return False
        session = text(member(claim, "session"))
        view = self.tracker.connection(conn).channels.get(session or "")
        if member(claim, "kind") != "session" or view is None or not view.live:
            return False
        return (self.version(conn) or "") < "0.9.0" or member(claim, "chat") in chats_in(view.state)

    def _is_here(self, client: JSON) -> bool:
        return any(c.client_id == client and c.fed for c in self.tracker.connections.values())

    def _taken_from(self, envelope: Envelope, holder: str, who: tuple[str, int]) -> None:
        taken = self._taken.get(envelope.channel)
        told = taken.get(holder) if taken is not None else None
        # Whoever claims before anybody has heard that another one was faster claims at the same time.
        at_once = told is not None and self._sent.get(who, told[1]) < told[1]
        obligations = ("AHP-TERM-012", *(["AHP-TERM-014"] if at_once else []))
        self.watch(*obligations)
        # The claim of a client that has gone, or may have, can have lapsed.
        if envelope.accepted and self._is_here(holder):
            self._find(envelope, obligations, f"a client claims a terminal that {holder} holds", "a rejection")

    def _used(self, envelope: Envelope, obligation: str) -> None:
        """A client names or clears a terminal; that somebody else's is left alone is open (AMB-37)."""
        who, held = envelope.by, member(envelope.before, "claim")
        if who is None:
            return
        if envelope.accepted:
            self.watch(obligation)
            return
        fitting = envelope.type == "terminal/cleared" or bool(text(envelope.get("title")))
        if fitting and member(held, "clientId") == who[0] and not end_of(envelope.before)[0]:
            self._find(envelope, (obligation,), f"{envelope.type} of the holder is refused", "an accepted action")

    # -- commands -------------------------------------------------------------------------------------

    def _executed(self, envelope: Envelope) -> None:
        identity = envelope.get("commandId")
        if not isinstance(identity, str):
            return
        self.watch("AHP-TERM-024")
        known = self._commands.setdefault(envelope.channel, Bounded())
        key = (envelope.conn, identity)
        if known.setdefault(key, envelope.seq) != envelope.seq or identity in _commands(envelope.before):
            self._find(envelope, ("AHP-TERM-024",), "a second command has the id of an earlier one", "an id of its own")

    def _finished(self, envelope: Envelope) -> None:
        identity, parts = envelope.get("commandId"), _commands(envelope.before)
        if not isinstance(identity, str):
            return
        if identity in parts or (envelope.conn, identity) in self._commands.get(envelope.channel, ()):
            self.watch("AHP-TERM-024")
        elif any(not complete for complete in parts.values()):
            # Without an open command the one that ends may have begun before the client came, and be trimmed away.
            self._find(
                envelope,
                ("AHP-TERM-024",),
                "the end of a command that never began",
                f"one of {[i for i, complete in parts.items() if not complete]}",
            )

    def end(self) -> None:
        """The claim on behalf of a call has been narrowed when its turn is over."""
        for connection in self.tracker.connections.values() if self.tracker.settled else ():
            for view in connection.channels.values() if connection.fed else ():
                claim = member(view.state, "claim") if view.kind == "terminal" and view.live else None
                turn = text(member(claim, "turnId"))
                if turn is not None and _is_over(connection, claim, turn):
                    self.find(
                        "AHP-TERM-020",
                        "a terminal is still claimed for a turn that has ended",
                        expected="a claim of the session alone",
                        seen=claim,
                        frame=None,
                        once=view.channel,
                    )

    def _find(self, envelope: Envelope, obligations: tuple[str, ...], message: str, expected: str) -> None:
        # A rejection need not have a number of its own.
        self.find(
            obligations,
            message,
            expected=expected,
            seen=envelope.message,
            frame=envelope.frame.n,
            once=(envelope.channel, repr(envelope.seq) if envelope.accepted else envelope.by),
        )


def _commands(state: JSON) -> dict[str, bool]:
    """The ids of the command parts of a terminal, with whether each is complete."""
    parts = [part for part in dicts(member(state, "content")) if part.get("type") == "command"]
    return {part["commandId"]: bool(part.get("isComplete")) for part in parts if isinstance(part.get("commandId"), str)}


def _is_over(connection: ConnectionView, claim: JSON, turn: str) -> bool:
    """Whether the client has seen the end of the turn in the chat, or a chat of the session, that a claim names."""
    session = connection.channels.get(text(member(claim, "session")) or "")
    chat = text(member(claim, "chat"))
    chats = [chat] if chat is not None else chats_in(session.state) if session is not None and session.live else []
    views = [connection.channels[uri] for uri in chats if uri in connection.channels]
    return any(t.get("id") == turn for view in views if view.live for t in dicts(member(view.state, "turns")))
