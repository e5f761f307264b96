"""Traffic in a few words: a recording of one to three clients and a host, written line by line.

    t = Trace("0.9.0")
    t.handshake()                                   # A, with root, at the version of the trace
    t.subscribe(SESSION, session())                 # request and answer
    t.envelope(SESSION, {"type": "session/ready"})  # numbered by the trace, to A
    t.judged().findings

The host of a trace numbers its envelopes from 1 on; a snapshot is taken at the last number unless ``at`` says else.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import pytest

from conformance.oracle import Oracle
from conformance.wire.frames import Frame
from tests.protocol.examples import CALL, CHAT, TURN, auth, call, message, request, session

JSON = Any

ROOT = "ahp-root://"
SESSION = "ahp-session:/s1"
STARTED = "2026-01-01T00:01:00.000Z"
VERSIONS = ("0.6.0", "0.9.0")


def root(**members: JSON) -> JSON:
    return {"agents": [], **members}


class Trace:
    """A recording in the making. Methods add frames, in the order in which they are called."""

    def __init__(self, version: str = "0.9.0") -> None:
        self.version = version
        self.frames: list[Frame] = []
        self.seq = 0
        self._ids = itertools.count(1)
        self._client_seqs = itertools.count(1)

    # -- frames ---------------------------------------------------------------------------------------

    def add(self, conn: str, direction: Any, **what: JSON) -> Frame:
        frame = Frame(len(self.frames), len(self.frames) / 1000, conn, direction, **what)
        self.frames.append(frame)
        return frame

    def out(self, msg: JSON, conn: str = "A") -> Frame:
        return self.add(conn, "out", msg=msg)

    def into(self, msg: JSON, conn: str = "A") -> Frame:
        return self.add(conn, "in", msg=msg)

    def close(self, conn: str = "A") -> Frame:
        return self.add(conn, "out", kind="close", code=1000, raw="")

    # -- requests and answers -------------------------------------------------------------------------

    def ask(self, method: str, conn: str = "A", **params: JSON) -> int:
        """A request of the suite, on the root channel unless ``channel`` says else; its id."""
        identity = next(self._ids)
        params.setdefault("channel", ROOT)
        self.out({"jsonrpc": "2.0", "id": identity, "method": method, "params": params}, conn)
        return identity

    def result(self, identity: JSON, result: JSON = None, conn: str = "A") -> Frame:
        return self.into({"jsonrpc": "2.0", "id": identity, "result": result}, conn)

    def error(self, identity: JSON, code: JSON = -32603, conn: str = "A", **more: JSON) -> Frame:
        return self.into({"jsonrpc": "2.0", "id": identity, "error": {"code": code, "message": "no", **more}}, conn)

    def call(self, method: str, result: JSON = None, conn: str = "A", **params: JSON) -> Frame:
        return self.result(self.ask(method, conn, **params), result, conn)

    def ping(self, conn: str = "A") -> None:
        self.call("ping", conn=conn)

    def notify(self, method: str, conn: str = "A", **params: JSON) -> Frame:
        """A notification of the suite."""
        return self.out({"jsonrpc": "2.0", "method": method, "params": params}, conn)

    def tell(self, method: str, conn: str = "A", **params: JSON) -> Frame:
        """A notification of the host, on the root channel unless ``channel`` says else."""
        params.setdefault("channel", ROOT)
        return self.into({"jsonrpc": "2.0", "method": method, "params": params}, conn)

    # -- what clients do ------------------------------------------------------------------------------

    def handshake(
        self, conn: str = "A", *, client: str | None = None, version: str | None = None, **more: JSON
    ) -> None:
        """initialize with a subscription to the root; ``more`` are members of the result."""
        identity = self.ask(
            "initialize",
            conn,
            protocolVersions=[version or self.version],
            clientId=client or f"client-{conn}",
            initialSubscriptions=[ROOT],
        )
        result = {
            "protocolVersion": version or self.version,
            "serverSeq": self.seq,
            "snapshots": [self.snapshot(ROOT, root())],
            **more,
        }
        self.result(identity, {k: v for k, v in result.items() if v is not ...}, conn)

    def reconnect(self, conn: str, client: str, seen: int, channels: Iterable[str], result: JSON) -> None:
        """reconnect, with ``result`` as the answer; see ``replay``."""
        identity = self.ask("reconnect", conn, clientId=client, lastSeenServerSeq=seen, subscriptions=list(channels))
        self.result(identity, result, conn)

    def snapshot(self, channel: str, state: JSON, at: int | None = None) -> JSON:
        return {"resource": channel, "state": state, "fromSeq": self.seq if at is None else at}

    def subscribe(self, channel: str, state: JSON, conn: str = "A", *, at: int | None = None, **params: JSON) -> None:
        self.call("subscribe", {"snapshot": self.snapshot(channel, state, at)}, conn, channel=channel, **params)

    def dispatch(self, channel: str, action: JSON, conn: str = "A", client_seq: int | None = None) -> int:
        number = next(self._client_seqs) if client_seq is None else client_seq
        self.notify("dispatchAction", conn, channel=channel, clientSeq=number, action=action)
        return number

    # -- what the host says ---------------------------------------------------------------------------

    def params(
        self, channel: str, action: JSON, *, seq: JSON = None, origin: JSON = None, rejected: JSON = None
    ) -> JSON:
        """An envelope. ``origin``: (connection, clientSeq). Without ``seq`` it takes the next number."""
        if seq is None:
            self.seq += 1
            seq = self.seq
        envelope = {"channel": channel, "action": action, "serverSeq": seq}
        if origin is not None:
            envelope["origin"] = {"clientId": f"client-{origin[0]}", "clientSeq": origin[1]}
        if rejected is not None:
            envelope["rejectionReason"] = rejected
        return envelope

    def envelope(self, channel: str, action: JSON, to: str = "A", **more: JSON) -> JSON:
        """One envelope to each connection whose letter is in ``to``."""
        params = self.params(channel, action, **more)
        for conn in to:
            self.into({"jsonrpc": "2.0", "method": "action", "params": params}, conn)
        return params

    def echo(self, channel: str, action: JSON, conn: str = "A", to: str | None = None, **more: JSON) -> JSON:
        """A dispatch and its echo."""
        number = self.dispatch(channel, action, conn)
        return self.envelope(channel, action, to or conn, origin=(conn, number), **more)

    # -- worlds ---------------------------------------------------------------------------------------

    def follow(self, conns: str = "A", *, session: JSON = ..., chat: JSON = ...) -> None:
        """Clients that shake hands and subscribe to the session and its chat; None leaves one out."""
        for conn in conns:
            self.handshake(conn)
            if session is not None:
                self.subscribe(SESSION, calm_session() if session is ... else session, conn)
            if chat is not None:
                self.subscribe(CHAT, idle_chat() if chat is ... else chat, conn)

    def window(self, turns: list[JSON], conn: str = "A", cursor: str | None = "older", **members: JSON) -> None:
        """A subscription to the chat that asks for its last turn only."""
        more = {} if cursor is None else {"turnsNextCursor": cursor}
        self.subscribe(CHAT, idle_chat(turns=turns, **more, **members), conn, view={"turns": 1})

    def running(self, conns: str = "A", call: str = CALL, contributor: JSON = ..., **members: JSON) -> None:
        """A call of the active turn that runs."""
        self.envelope(CHAT, begins(call, contributor), conns)
        self.envelope(CHAT, ready(call, **members), conns)

    def blocked(self, conns: str = "A", call: str = CALL, *, entry: str | None = "need-1") -> None:
        """A running call that is challenged, with its entry in the session."""
        self.running(conns, call)
        self.envelope(CHAT, about("AuthRequired", call, auth=auth()), conns)
        if entry is not None:
            self.envelope(SESSION, lists(auth_entry(entry, call)), conns)

    def unblocked(self, conns: str = "A", call: str = CALL, *, entry: str | None = "need-1") -> None:
        """A token is pushed, the call goes on, and its entry goes."""
        self.call("authenticate", {}, resource=auth()["resource"]["resource"], token="a-token-of-ours")
        self.envelope(CHAT, about("AuthResolved", call), conns)
        if entry is not None:
            self.envelope(SESSION, unlists(entry), conns)

    # -- the verdict ----------------------------------------------------------------------------------

    def judged(self, *, settled: bool = True, whole: bool = True) -> Oracle:
        """``whole``: no other client had any part in it."""
        oracle = Oracle()
        oracle.tracker.whole = whole
        for frame in self.frames:
            oracle.feed(frame)
        oracle.end(settled=settled)
        return oracle


# -- actions ----------------------------------------------------------------------------------------------


def starts(turn: str = TURN, **members: JSON) -> JSON:
    return {"type": "chat/turnStarted", "turnId": turn, "startedAt": STARTED, "message": message(), **members}


def ends(kind: str = "Complete", turn: str = TURN) -> JSON:
    return {"type": f"chat/turn{kind}", "turnId": turn, "duration": 5}


def fails(version: str, turn: str = TURN, *, resumable: bool = False) -> JSON:
    """chat/error in the shape of the version."""
    trouble: JSON = {"errorType": "model", "message": "gone"}
    body: dict[str, JSON] = {"error": trouble}
    if version >= "0.9.0":
        body = {"part": {"kind": "error", "error": trouble, **({"resumable": True} if resumable else {})}}
    return {"type": "chat/error", "turnId": turn, "duration": 5, **body}


def about(kind: str, call: str = CALL, turn: str = TURN, **members: JSON) -> JSON:
    """chat/toolCall… for a call of the turn."""
    return {"type": f"chat/toolCall{kind}", "turnId": turn, "toolCallId": call, **members}


def begins(call: str = CALL, contributor: JSON = ..., **members: JSON) -> JSON:
    """chat/toolCallStart, by default of the MCP server that ``session()`` knows as "vault"."""
    who = {"kind": "mcp", "customizationId": "vault"} if contributor is ... else contributor
    named: dict[str, JSON] = {"contributor": who} if who is not None else {}
    return about("Start", call, toolName="read", displayName="Read", **named, **members)


def ready(call: str = CALL, *, confirmed: bool = True, **members: JSON) -> JSON:
    granted = {"confirmed": "not-needed"} if confirmed else {}
    return about("Ready", call, invocationMessage="Reading", toolInput="{}", **granted, **members)


# What ``begins`` calls the tool.
NAMED = {"toolName": "read", "displayName": "Read"}
DONE = {"success": True, "pastTenseMessage": "Read it"}
FAILED = {"success": False, "pastTenseMessage": "Gave up", "error": {"message": "no"}}


def lists(entry: JSON) -> JSON:
    return {"type": "session/inputNeededSet", "request": entry}


def unlists(identity: str) -> JSON:
    return {"type": "session/inputNeededRemoved", "id": identity}


def waits(identity: str, text: str = "hello", kind: str = "queued") -> JSON:
    """chat/pendingMessageSet."""
    return {"type": "chat/pendingMessageSet", "kind": kind, "id": identity, "message": message(text)}


def unwaits(identity: str, kind: str = "queued") -> JSON:
    return {"type": "chat/pendingMessageRemoved", "kind": kind, "id": identity}


def parts(kind: str = "markdown", identity: str = "p", turn: str = TURN, content: str = "Hi") -> JSON:
    """chat/responsePart with a part of text."""
    return {"type": "chat/responsePart", "turnId": turn, "part": {"kind": kind, "id": identity, "content": content}}


def asks(identity: str = "q", *questions: JSON, **members: JSON) -> JSON:
    """chat/inputRequested."""
    asked = {"questions": list(questions)} if questions else {}
    return {"type": "chat/inputRequested", "request": {"id": identity, "message": "Which?", **asked, **members}}


def question(identity: str = "one", kind: str = "text", **members: JSON) -> JSON:
    return {"id": identity, "kind": kind, "message": "Well?", **members}


def answers(question_id: str = "one", value: JSON = "yes", *, request: str = "q", state: str = "submitted") -> JSON:
    """chat/inputAnswerChanged with a text."""
    given = {"state": state, "value": {"kind": "text", "value": value}}
    return {"type": "chat/inputAnswerChanged", "requestId": request, "questionId": question_id, "answer": given}


def responds(response: str = "accept", request: str = "q", **members: JSON) -> JSON:
    """chat/inputCompleted."""
    return {"type": "chat/inputCompleted", "requestId": request, "response": response, **members}


# -- values -----------------------------------------------------------------------------------------------


def idle_chat(**members: JSON) -> JSON:
    """A chat without turns."""
    state = {"resource": CHAT, "title": "Chat", "status": 1, "modifiedAt": STARTED, "turns": []}
    return state | members


def turn(*parts: JSON, identity: str = TURN) -> JSON:
    """An active turn."""
    return {"id": identity, "startedAt": STARTED, "message": message(), "responseParts": list(parts)}


def finished(*parts: JSON, identity: str = TURN, state: str = "complete") -> JSON:
    return {**turn(*parts, identity=identity), "duration": 5, "state": state}


def working_chat(*parts: JSON, status: int = 8, **members: JSON) -> JSON:
    """A chat whose turn TURN is active."""
    return idle_chat(status=status, activeTurn=turn(*parts), **members)


def part_of(call: JSON) -> JSON:
    return {"kind": "toolCall", "toolCall": call}


def calm_session(**members: JSON) -> JSON:
    """A ready session with one chat and the MCP servers "vault" and "inner", which waits for nothing."""
    return session(**members)


def a_call(status: str, identity: str = CALL, contributor: str | None = "mcp") -> JSON:
    """A tool call as ``begins`` and ``ready`` make it, in another status."""
    value = {**call(status, contributor), "toolCallId": identity, **NAMED}
    for name in ("intention", "_meta", "selectedOption"):
        value.pop(name, None)
    return value


def auth_entry(identity: str = "need-1", call_id: str = CALL, **members: JSON) -> JSON:
    """An entry for a blocked call."""
    blocked = a_call("auth-required", call_id)
    return {"id": identity, "chat": CHAT, "kind": "toolAuthentication", "turnId": TURN, "toolCall": blocked, **members}


def entry(kind: str, identity: str = "need-1", **members: JSON) -> JSON:
    value = request(identity, kind)
    if "toolCall" in value:
        value["toolCall"] |= NAMED
    return {**value, **members}


# -- cases ------------------------------------------------------------------------------------------------

Write = Callable[[Trace], None]
Keep = Callable[[Write], Write]


# Rules that compare folds with snapshots: one finds any difference, the others say whose fold it is.
_COMPARING = frozenset({"convergence", "member-folds", "chat-folds", "channel-folds", "session-folds"})


def _companions(rule: str) -> frozenset[str]:
    return _COMPARING - {rule} if rule in _COMPARING else frozenset()


@dataclass(frozen=True)
class Case:
    """One trace with what the oracle has to say of it."""

    rule: str
    write: Write
    obligations: tuple[str, ...]
    versions: tuple[str, ...]
    settled: bool
    # Rules that find the same from another side.
    beside: tuple[str, ...] = ()

    def judged(self, version: str) -> Oracle:
        trace = Trace(version)
        self.write(trace)
        return trace.judged(settled=self.settled)

    def is_found(self, version: str) -> None:
        """Findings of this rule and of no other, on exactly these obligations."""
        beside = _companions(self.rule) | frozenset(self.beside)
        findings = [f for f in self.judged(version).findings if f.rule not in beside]
        assert findings, "nothing was found"
        seen = {(f.rule, *sorted(f.obligations)) for f in findings}
        assert seen == {(self.rule, *sorted(self.obligations))}, [(f.message, f.expected, f.seen) for f in findings]

    def is_clean(self, version: str) -> None:
        """No finding at all, and these obligations were put to the test."""
        oracle = self.judged(version)
        assert [(f.rule, f.obligations, f.message, f.expected, f.seen) for f in oracle.findings] == []
        assert sorted(set(self.obligations) - oracle.watched.keys()) == []


@dataclass
class Cases:
    """The bad and the good traces of one rule, as decorators collect them."""

    rule: str
    bad_ones: list[Case] = field(default_factory=list)
    good_ones: list[Case] = field(default_factory=list)

    def bad(
        self,
        *obligations: str,
        versions: tuple[str, ...] = VERSIONS,
        settled: bool = True,
        beside: tuple[str, ...] = (),
    ) -> Keep:
        return self._keep(self.bad_ones, obligations, versions, settled, beside)

    def good(self, *obligations: str, versions: tuple[str, ...] = VERSIONS, settled: bool = True) -> Keep:
        return self._keep(self.good_ones, obligations, versions, settled)

    def _keep(
        self,
        where: list[Case],
        obligations: tuple[str, ...],
        versions: tuple[str, ...],
        settled: bool,
        beside: tuple[str, ...] = (),
    ) -> Keep:
        def keep(write: Write) -> Write:
            where.append(Case(self.rule, write, obligations, versions, settled, beside))
            return write

        return keep


def found(*books: Cases) -> pytest.MarkDecorator:
    """Parametrises a test with every bad trace and version."""
    return _each(case for book in books for case in book.bad_ones)


def clean(*books: Cases) -> pytest.MarkDecorator:
    """Parametrises a test with every good trace and version."""
    return _each(case for book in books for case in book.good_ones)


def _each(cases: Iterable[Case]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(
        ("case", "version"),
        [
            pytest.param(case, version, id=f"{case.write.__name__}-{version}")
            for case in cases
            for version in case.versions
        ],
    )
