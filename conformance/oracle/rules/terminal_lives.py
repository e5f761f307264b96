"""The lives of terminals: what is created is there and listed, what is disposed of is gone."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from conformance.oracle.memory import Bounded
from conformance.oracle.reading import JSON, dicts, member, text, whole
from conformance.oracle.rule import Rule
from conformance.oracle.tracker import Dispatch, Envelope, Reply, Request
from conformance.protocol import ACTIONS, ROOT_URI

from .restarts import may_be_new
from .terminal_catalogue import end_of

# What the claim of a terminal is about; a host may leave out, or add, what says for which call it is.
_CLAIM = ("kind", "clientId", "session")
_LOG_IN = -32007
# What a terminal may be given at its creation, by the params, and where it shows.
_FURNITURE = {"name": "title", "cwd": "cwd", "cols": "cols", "rows": "rows"}


@dataclass(slots=True)
class _Terminal:
    """A terminal that the suite asked for: ``creator`` is the connection, ``answered`` the frame of the answer.

    ``listed_to``: the connections that have seen it listed. ``omitted``: the connection, frame and message of the first
    listing that lacked it; ``proven`` says that it could be subscribed to after that. ``unreachable``: the frame of a
    subscription that failed. ``claimed``: its claim may have changed, or was looked at. ``first``: the claim and the
    frame of its first listing, before the creation is known to have worked. ``ended``: its end was told. ``outlived``:
    it was listed when its creator had gone.
    """

    creator: str
    claim: JSON
    params: dict[str, JSON]
    answered: int = -1
    listed_to: set[str] = field(default_factory=set)
    omitted: tuple[str, int, JSON] | None = None
    proven: bool = False
    unreachable: int | None = None
    claimed: bool = False
    first: tuple[JSON, int] | None = None
    outlived: bool = False
    disposing: bool = False
    ended: bool = False


@dataclass(slots=True)
class _Disposed:
    """A terminal that is no more: when each connection was told so, and the last listing that has it all the same.

    ``reached``: a subscription to it that was granted. ``absent``: a listing was without it, so that one that has it
    again tells of a terminal that somebody has made anew.
    """

    answered: dict[str, int] = field(default_factory=dict)
    listed: tuple[int, JSON] | None = None
    reached: tuple[int, JSON] | None = None
    absent: bool = False


class TerminalLives(Rule):
    """Terminals come with createTerminal and go with disposeTerminal, and the list on the root has what there is."""

    name = "terminal-lives"
    obligations = (
        "AHP-TERM-001",
        "AHP-TERM-002",
        "AHP-TERM-004",
        "AHP-TERM-005",
        "AHP-TERM-017",
        "AHP-TERM-018",
        "AHP-TERM-032",
        "AHP-TERM-036",
        "AHP-TERM-041",
    )
    hears = frozenset({"root/terminalsChanged", *(name for name, a in ACTIONS.items() if a.channel == "terminal")})

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        # Terminals that were asked for, those that there are, and those that there were.
        self._asked: Bounded[str, _Terminal] = Bounded()
        self._here: Bounded[str, _Terminal] = Bounded()
        self._gone: Bounded[str, _Disposed] = Bounded()
        # Connection -> terminals of whose silence nothing has been seen yet since they were disposed of.
        self._silent: dict[str, set[str]] = {}

    # -- requests -------------------------------------------------------------------------------------

    def request(self, request: Request) -> None:
        channel = text(request.params.get("channel"))
        if channel is None:
            return
        if request.method == "createTerminal":
            self._gone.pop(channel, None)
            if channel in self._here and self._here[channel].omitted is not None:
                # Somebody else has disposed of the one before.
                del self._here[channel]
            self._asked[channel] = _Terminal(request.conn, request.params.get("claim"), request.params)
        elif request.method == "disposeTerminal" and channel in self._here:
            self._here[channel].disposing = True
        elif request.method == "disposeSession":
            for terminal in (*self._here.values(), *self._asked.values()):
                if member(terminal.claim, "session") == channel:
                    terminal.disposing = True

    def dispatch(self, dispatch: Dispatch) -> None:
        if member(dispatch.action, "type") == "terminal/claimed":
            self._may_have_another_claim(dispatch.channel)

    def _may_have_another_claim(self, channel: str) -> None:
        for book in (self._asked, self._here):
            if channel in book:
                book[channel].claimed = True

    def reply(self, reply: Reply) -> None:
        for terminal in self._silent.pop(reply.conn, ()):
            if terminal in self._gone:
                self.watch("AHP-TERM-018")
        channel = text(reply.request.params.get("channel")) if reply.request is not None else None
        if reply.request is None or channel is None:
            return
        if may_be_new(self.tracker, reply):
            for book in (self._asked, self._here, self._gone):
                book.clear()
        elif reply.request.method == "createTerminal":
            self._created(reply, reply.request, channel)
        elif reply.request.method == "disposeTerminal":
            self._disposed(reply, channel)
        elif reply.request.method == "subscribe":
            self._subscribed(reply, reply.request, channel)

    def _created(self, reply: Reply, request: Request, channel: str) -> None:
        claim, here, new = request.params.get("claim"), self._here.get(channel), self._asked.pop(channel, None)
        if claim is None:
            self.watch("AHP-TERM-036")
        # One that was never seen listed may have gone unseen.
        in_use = here is not None and not here.disposing and here.omitted is None and bool(here.listed_to)
        if in_use:
            self.watch("AHP-TERM-032")
        if reply.failed or "result" not in reply.frame.msg:
            return
        if claim is None:
            self._find("AHP-TERM-036", "a terminal is created without a claim", "an error", request.params, reply)
        if in_use:
            self._find("AHP-TERM-032", "a terminal is created where there is one", "an error", request.params, reply)
        if new is not None:
            new.answered = reply.frame.n
            if new.first is not None:
                self._as_asked(new, *new.first)
            self._here[channel] = new

    def _disposed(self, reply: Reply, channel: str) -> None:
        if reply.failed:
            if channel in self._here:
                self._here[channel].disposing = False
            return
        here = self._here.pop(channel, None)
        if channel not in self._gone:
            self._gone[channel] = _Disposed()
        self._gone[channel].answered.setdefault(reply.conn, reply.frame.n)
        if channel in self.tracker.connection(reply.conn).subscribed and not (here is not None and here.ended):
            self._silent.setdefault(reply.conn, set()).add(channel)

    def _subscribed(self, reply: Reply, request: Request, channel: str) -> None:
        here, gone = self._here.get(channel), self._gone.get(channel)
        if here is not None and request.frame.n > here.answered and not here.disposing:
            if not reply.failed:
                self.watch("AHP-TERM-001")
                here.unreachable = None
                if here.omitted is not None and request.frame.n > here.omitted[1]:
                    here.proven = True
                state = member(member(reply.result, "snapshot"), "state")
                self._as_asked(here, member(state, "claim"), reply.frame.n)
                self._furnished(here, state)
            elif (
                reply.conn == here.creator
                and not here.ended
                and here.omitted is None
                and whole(member(reply.error, "code")) != _LOG_IN
            ):
                here.unreachable = reply.frame.n
        elif gone is not None and request.frame.n > gone.answered.get(reply.conn, request.frame.n):
            self.watch("AHP-TERM-017")
            state = member(member(reply.result, "snapshot"), "state")
            # From 1.0.0 what an old tool result names is shown once more, as an ended terminal.
            again = (self.version(reply.conn) or "") >= "1.0.0" and end_of(state)[0]
            if not reply.failed and not again:
                gone.reached = (reply.frame.n, state)

    # -- what the host says ---------------------------------------------------------------------------

    def envelope(self, envelope: Envelope) -> None:
        if not envelope.accepted or envelope.replayed:
            return
        if envelope.type == "root/terminalsChanged":
            if envelope.channel == ROOT_URI:
                self._listing(envelope)
            return
        gone = self._gone.get(envelope.channel)
        if gone is not None and envelope.conn in gone.answered and gone.reached is None:
            self.find(
                "AHP-TERM-018",
                f"{envelope.type} for a terminal that was disposed of",
                expected="nothing after the answer to disposeTerminal",
                seen=envelope.message,
                frame=envelope.frame.n,
                once=(envelope.channel, repr(envelope.seq)),
            )
        if envelope.type == "terminal/claimed":
            self._may_have_another_claim(envelope.channel)
        elif envelope.type == "terminal/exited" and envelope.channel in self._here:
            self._here[envelope.channel].ended = True

    def _listing(self, envelope: Envelope) -> None:
        entries = {e["resource"]: e for e in dicts(envelope.get("terminals")) if isinstance(e.get("resource"), str)}
        for channel, here in self._here.items():
            if channel in entries:
                self._listed(envelope, here, entries[channel])
            elif not here.disposing and (envelope.conn == here.creator or envelope.conn in here.listed_to):
                self._outlives(channel, here, envelope)
                here.unreachable = None
                here.omitted = here.omitted or (envelope.conn, envelope.frame.n, envelope.message)
        for channel, asked in self._asked.items():
            if channel in entries and channel not in self._here:
                self._listed(envelope, asked, entries[channel])
        for channel, gone in list(self._gone.items()):
            if envelope.conn not in gone.answered:
                continue
            if channel in entries and gone.absent:
                del self._gone[channel]
                continue
            gone.listed = (envelope.frame.n, entries[channel]) if channel in entries else None
            if channel not in entries:
                gone.absent = True
                self.watch("AHP-TERM-017")

    def _outlives(self, channel: str, here: _Terminal, envelope: Envelope) -> None:
        """A terminal does not end with the connection of its creator."""
        creator, witness = self.tracker.connection(here.creator), self.tracker.connection(envelope.conn)
        # One that went later was disposed of by somebody, who need not be in the recording; and what a client sees
        # when it comes back tells nothing of the moment at which it left.
        if not creator.closed or here.ended or here.outlived or here.omitted is not None:
            return
        if self.tracker.whole and creator.client_id != witness.client_id:
            self.find(
                "AHP-TERM-041",
                "a terminal goes with the connection of its creator",
                expected=f"an entry for {channel}",
                seen=envelope.message,
                frame=envelope.frame.n,
            )

    def _listed(self, envelope: Envelope, here: _Terminal, entry: JSON) -> None:
        self.watch("AHP-TERM-002", *(["AHP-TERM-005"] if len(self._here) > 1 else []))
        if self.tracker.connection(here.creator).closed:
            self.watch("AHP-TERM-041")
            here.outlived = True
        if here.omitted is not None and here.omitted[0] == envelope.conn:
            # It was too new for that listing, or was left out of it; or somebody has disposed of it and made it anew.
            if here.listed_to and not here.disposing and self.tracker.whole:
                self._omission(text(entry.get("resource")) or "", here.omitted, ("AHP-TERM-005",))
            here.omitted, here.proven = None, False
            here.claimed = here.claimed or bool(here.listed_to)
        if here.answered >= 0:
            self._as_asked(here, entry.get("claim"), envelope.frame.n)
        elif here.first is None:
            # Perhaps there is one already, of somebody else, and the creation will be refused.
            here.first = (entry.get("claim"), envelope.frame.n)
        here.listed_to.add(envelope.conn)
        here.ended = here.ended or end_of(entry)[0]

    def _omission(self, channel: str, omitted: tuple[str, int, JSON], obligations: tuple[str, ...]) -> None:
        self.find(
            obligations,
            f"the listing of terminals lacks {channel}, which is there",
            expected="all terminals",
            seen=omitted[2],
            frame=omitted[1],
        )

    def _as_asked(self, here: _Terminal, claim: JSON, frame: int) -> None:
        """The first that is seen of a terminal has the claim of its creation."""
        if here.claimed or not isinstance(claim, dict):
            return
        here.claimed = True
        self.watch("AHP-TERM-004")
        asked = {name: member(here.claim, name) for name in _CLAIM if isinstance(member(here.claim, name), str)}
        if any(claim.get(name) != value for name, value in asked.items()):
            self.find(
                "AHP-TERM-004",
                "a new terminal has another claim than was asked for",
                expected=here.claim,
                seen=claim,
                frame=frame,
            )

    def _furnished(self, here: _Terminal, state: JSON) -> None:
        """What else was asked for shows; what does not may have been changed meanwhile."""
        wanted = {shown: here.params[name] for name, shown in _FURNITURE.items() if name in here.params}
        if wanted and all(member(state, name) == value for name, value in wanted.items()):
            self.watch("AHP-TERM-037")

    # -- the end --------------------------------------------------------------------------------------

    def end(self) -> None:
        if not self.tracker.settled:
            return
        for channel, here in self._here.items():
            if here.omitted is not None and here.proven and not here.disposing:
                never = () if here.listed_to else ("AHP-TERM-002",)
                self._omission(channel, here.omitted, (*never, "AHP-TERM-005"))
            root = self.tracker.connection(here.creator).channels.get(ROOT_URI)
            # Without the list nobody knows who else has disposed of it.
            if here.unreachable is not None and not here.disposing and root is not None and root.live:
                self.find(
                    "AHP-TERM-001",
                    "a terminal that was created cannot be subscribed to",
                    expected=f"a snapshot of {channel}",
                    seen="an error",
                    frame=here.unreachable,
                )
        for channel, gone in self._gone.items():
            if gone.listed is not None:
                self.find(
                    "AHP-TERM-017",
                    "a terminal that was disposed of is still listed",
                    expected=f"no entry for {channel}",
                    seen=gone.listed[1],
                    frame=gone.listed[0],
                )
            elif gone.reached is not None:
                self.find(
                    "AHP-TERM-017",
                    "a terminal that was disposed of can be subscribed to",
                    expected="an error",
                    seen=gone.reached[1],
                    frame=gone.reached[0],
                )

    def _find(self, obligation: str, message: str, expected: str, seen: JSON, reply: Reply) -> None:
        self.find(obligation, message, expected=expected, seen=seen, frame=reply.frame.n)
