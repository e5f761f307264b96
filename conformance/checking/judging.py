"""Judging one log: every frame goes to an oracle, the same that watches live runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from conformance.oracle import Finding, Oracle
from conformance.oracle.events import Envelope, Listener, Notification, Reply, Snapshot
from conformance.oracle.memory import Bounded
from conformance.oracle.views import ConnectionView
from conformance.wire.frames import JSON, Frame
from conformance.wire.tokens import SHOWN
from conformance.wire.transcript import End, masked, masked_text

from .logs import LogError, LogFacts, LogReader

Stream = Iterable[bytes]
Opener = Callable[[], Stream]
"""Opens the log anew: it is read once to be judged, and once more for the frames that show what was found."""

Ending = Literal["settled", "unsettled", "open"]
Handshake = Literal["done", "failed", "missing"]

_EVIDENCE = 200
_SHORTEST_TOKEN = 8


@dataclass(frozen=True, slots=True)
class ConnectionFacts:
    """One connection of a log. ``version``: whose rules it was judged by, None when nothing told it.

    ``handshake``: whether it is in the log, and came to something.
    """

    name: str
    version: str | None
    handshake: Handshake
    frames: int


@dataclass(frozen=True, slots=True)
class LogResult:
    """What a log shows. ``watched``: how often each obligation was put to the test.

    ``ending``: ``settled`` when all that the host had sent is in it for sure, ``unsettled`` when it is not, ``open``
    when the log does not say. ``problem``: the line that stopped the reading. ``evidence``: the frames that the
    findings name, by number, without tokens. ``spoke``: the host granted a handshake, or told a state or
    something of its own. A host that only refuses keeps the form of messages, which proves nothing.
    """

    name: str
    facts: LogFacts
    connections: tuple[ConnectionFacts, ...]
    findings: tuple[Finding, ...]
    dropped: Mapping[tuple[str, tuple[str, ...]], int]
    watched: Mapping[str, int]
    ending: Ending
    spoke: bool = False
    problem: LogError | None = None
    evidence: Mapping[int, Frame] = field(default_factory=dict)

    @property
    def versions(self) -> frozenset[str]:
        """The versions whose rules any connection was judged by."""
        return frozenset(c.version for c in self.connections if c.version is not None)


class _Heard(Listener):
    """Whether a host said anything of substance."""

    anything = False

    def reply(self, reply: Reply) -> None:
        if reply.request is not None and reply.request.method == "initialize" and isinstance(reply.result, dict):
            self.anything = self.anything or isinstance(reply.result.get("protocolVersion"), str)

    def envelope(self, envelope: Envelope) -> None:
        self.anything = True

    def snapshot(self, snapshot: Snapshot) -> None:
        self.anything = True

    def notification(self, notification: Notification) -> None:
        self.anything = True


def judge_log(name: str, opener: Opener, *, version: str | None = None) -> LogResult:
    """Judge a log. ``version``: by whose rules connections are judged whose handshake is not in the log.

    A line that cannot be read ends the judging; what came before it counts. Raises OSError from ``opener`` and reading.
    """
    reader = LogReader(opener())
    oracle = Oracle(assumed=version)
    heard = _Heard()
    oracle.tracker.listen(heard)
    frames: Counter[str] = Counter()
    tokens: Bounded[str, str] = Bounded()
    ending: Ending = "open"
    problem: LogError | None = None
    try:
        for what in reader:
            if isinstance(what, End):
                ending = "settled" if what.settled else "unsettled"
                oracle.end(settled=what.settled)
                continue
            if not frames:
                # Only a transcript from its first frame on is sure to have all clients and all that they asked.
                oracle.tracker.whole = reader.facts.form == "transcript" and what.n == 0
            frames[what.conn] += 1
            if what.dir == "out":
                token = _pushed(what.msg)
                if token is not None:
                    tokens[token] = "pushed"
            oracle.feed(what)
    except LogError as error:
        problem = error
    oracle.end(settled=False)
    findings = tuple(_without(finding, tokens) for finding in oracle.findings)
    seen = oracle.tracker.connections
    return LogResult(
        name,
        reader.facts,
        tuple(
            ConnectionFacts(conn, seen[conn].version, _handshake(seen[conn]), count)
            for conn, count in frames.items()
            if conn in seen
        ),
        findings,
        dict(oracle.dropped),
        dict(oracle.watched),
        ending,
        heard.anything,
        problem,
        _evidence(opener, findings, tokens),
    )


def _handshake(view: ConnectionView) -> Handshake:
    if view.began:
        return "done"
    return "failed" if view.greeted and view.version is None else "missing"


def _evidence(opener: Opener, findings: Iterable[Finding], tokens: Mapping[str, str]) -> dict[int, Frame]:
    """The frames that findings name: reading again costs less than keeping all frames."""
    wanted = set(sorted({f.frame for f in findings if f.frame is not None})[:_EVIDENCE])
    found: dict[int, Frame] = {}
    if not wanted:
        return found
    last = max(wanted)
    try:
        for frame in LogReader(opener()):
            if isinstance(frame, Frame):
                if frame.n in wanted:
                    found[frame.n] = masked(frame, tokens)
                if frame.n >= last:
                    break
    except LogError:
        pass  # the line that stopped the judging; all that was judged lies before it
    return found


def _pushed(message: JSON) -> str | None:
    """The token that a client pushes with this message: nothing of it may get into a report."""
    if not isinstance(message, dict) or message.get("method") != "authenticate":
        return None
    params = message.get("params")
    token = params.get("token") if isinstance(params, dict) else None
    if not isinstance(token, str) or len(token) < _SHORTEST_TOKEN or SHOWN.fullmatch(token):
        # A transcript of ours shows the name of a token, and need not be masked again.
        return None
    return token


def _without(finding: Finding, tokens: Mapping[str, str]) -> Finding:
    if not tokens:
        return finding
    return replace(
        finding,
        message=masked_text(finding.message, tokens),
        expected=masked_text(finding.expected, tokens),
        seen=masked_text(finding.seen, tokens),
    )
