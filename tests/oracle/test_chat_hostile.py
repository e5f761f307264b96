"""No rule about chats breaks on whatever stands in a message: traffic with everything, and each part of it replaced."""

from __future__ import annotations

import copy
import itertools
from typing import Any

import pytest

from conformance.oracle import Oracle
from conformance.oracle.rules.chat_folds import ChatFolds
from conformance.oracle.rules.chat_messages import ChatMessages
from conformance.oracle.rules.chat_validation import ChatValidation
from conformance.oracle.rules.client_tools import ClientTools
from conformance.oracle.rules.content_references import ContentReferences
from conformance.oracle.rules.elicitation import Elicitation
from conformance.oracle.rules.pending_messages import PendingMessages
from conformance.oracle.rules.tool_calls import ToolCallTransitions
from conformance.oracle.rules.tool_results import ToolResults
from conformance.oracle.rules.turn_paging import TurnPaging
from conformance.oracle.rules.turns import Turns
from conformance.wire.frames import Frame
from tests.protocol.examples import CHAT, OPTION, TURN, message

from .test_hostile import _like, _paths
from .traces import (
    DONE,
    FAILED,
    JSON,
    SESSION,
    Trace,
    about,
    answers,
    asks,
    begins,
    calm_session,
    ends,
    entry,
    fails,
    finished,
    idle_chat,
    lists,
    parts,
    question,
    ready,
    responds,
    starts,
    unwaits,
    waits,
    working_chat,
)

RULES = (
    Turns,
    ToolCallTransitions,
    ToolResults,
    ClientTools,
    PendingMessages,
    Elicitation,
    TurnPaging,
    ChatMessages,
    ChatValidation,
    ContentReferences,
    ChatFolds,
)
OWNER = {"kind": "client", "clientId": "client-B"}
SIDE = {"uri": "file:///a", "content": {"uri": "agent-content:/a"}}


def everything(version: str) -> list[Frame]:
    """Turns, calls, questions, waiting messages, pages and drafts, in an order of no particular sense."""
    t = Trace(version)
    tools = [{"clientId": "client-B", "tools": [{"name": "read", "title": "Read"}]}]
    origin = {"kind": "tool", "chat": "ahp-chat:/parent", "toolCallId": "spawn"}
    t.follow("AB", session=calm_session(activeClients=tools, serverTools=[]), chat=idle_chat(origin=origin))
    t.echo(CHAT, {"type": "chat/draftChanged", "draft": message("dra")}, to="AB")
    t.subscribe(CHAT, idle_chat(draft=message("dra")))
    t.echo(CHAT, starts(message={**message(), "model": {"id": "large"}}), to="AB")
    t.envelope(CHAT, parts(), "AB")
    t.envelope(CHAT, {"type": "chat/responsePart", "turnId": TURN, "part": {"kind": "contentRef", **SIDE}}, "AB")
    t.call("resourceRead", {"data": "x", "encoding": "utf-8"}, uri=SIDE["uri"])
    for call, contributor in (("call-1", OWNER), ("call-2", None)):
        t.envelope(CHAT, begins(call, contributor), "AB")
        t.envelope(CHAT, {**ready(call, confirmed=False, options=[OPTION]), "toolInput": SIDE}, "AB")
        t.envelope(SESSION, lists(entry("toolClientExecution", clientId="client-B", turnId=TURN)), "AB")
        confirmed = about("Confirmed", call, approved=True, confirmed="user-action", editedToolInput="new")
        t.echo(CHAT, {**confirmed, "selectedOptionId": OPTION["id"]}, to="AB")
        t.echo(CHAT, about("Confirmed", call, approved=False, reason="denied"), "B", rejected="late")
        terminal = {"type": "terminal", "resource": "ahp-terminal:/t1", "title": "Shell"}
        t.envelope(CHAT, about("ContentChanged", call, content=[terminal, {"type": "fileEdit", "after": SIDE}]), "AB")
        t.error(t.ask("subscribe", channel="ahp-terminal:/t1"), -32008)
    t.envelope(SESSION, {"type": "session/activeClientRemoved", "clientId": "client-B"}, "AB")
    t.envelope(CHAT, about("Complete", result=FAILED), "AB")
    t.envelope(CHAT, about("Complete", "call-2", result=DONE), "AB")
    t.envelope(SESSION, {"type": "session/activeClientSet", "activeClient": tools[0]}, "AB")
    t.envelope(CHAT, asks("q", question(required=True)), "AB")
    t.echo(CHAT, answers(), to="AB")
    t.envelope(CHAT, asks("q", question(required=True), question("two")), "AB")
    t.echo(CHAT, responds(), to="AB")
    t.echo(CHAT, waits("s", kind="steering"), to="AB")
    for identity in ("one", "two"):
        t.echo(CHAT, waits(identity), to="AB")
    t.echo(CHAT, {"type": "chat/queuedMessagesReordered", "order": ["two", "one"]}, to="AB")
    t.envelope(CHAT, {"type": "chat/usage", "turnId": TURN, "usage": {"outputTokens": 1}}, "AB")
    t.subscribe(CHAT, working_chat(queuedMessages=[{"id": "one", "message": message()}]))
    t.envelope(CHAT, fails(version, resumable=True), "AB")
    t.echo(CHAT, {"type": "chat/turnResume", "turnId": TURN}, to="AB")
    t.envelope(CHAT, ends(), "AB")
    t.envelope(CHAT, unwaits("two"), "AB")
    t.envelope(CHAT, starts("next", queuedMessageId="two"), "AB")
    t.envelope(SESSION, {"type": "session/chatUpdated", "chat": CHAT, "changes": {"title": "New"}}, "AB")
    t.echo(CHAT, ends("Cancelled", "next"), to="AB")
    t.handshake("C")
    t.window([finished()], "C")
    page = t.ask("fetchTurns", "C", channel=CHAT, cursor="older")
    t.envelope(CHAT, {"type": "chat/turnsLoaded", "turns": [finished(identity="older")]}, "ABC")
    t.result(page, {}, "C")
    t.error(t.ask("fetchTurns", "C", channel=CHAT, cursor="bogus"), -32602, "C")
    t.echo(CHAT, {"type": "chat/truncated", "turnId": TURN}, to="ABC")
    t.echo(CHAT, starts("last"), to="ABC", rejected="no")
    t.subscribe(CHAT, idle_chat(turns=[finished()]), "B")
    t.call("disposeSession", None, channel=SESSION)
    return t.frames


def judged(frames: list[Frame]) -> Oracle:
    oracle = Oracle(RULES)
    for frame in frames:
        oracle.feed(frame)
    oracle.end()
    return oracle


@pytest.mark.parametrize(("version", "first"), [("0.6.0", 0), ("1.0.0", 3)])
def test_every_part_replaced(version: str, first: int) -> None:
    """Each member of each kind of message once, by one sort of junk or another."""
    frames = everything(version)
    sorts: list[JSON] = [None, "x", [{}], {"id": []}, 5, {}]
    junk = itertools.cycle([*sorts[first:], *sorts[:first]])
    done: set[tuple[Any, ...]] = set()
    for place, frame in enumerate(frames):
        for path in _paths(frame.msg):
            method = frame.msg.get("method") or "reply"
            action = (frame.msg.get("params") or {}).get("action")
            kind = action.get("type") if isinstance(action, dict) else None
            key = (frame.dir, method, kind, *(step for step in path if isinstance(step, str)))
            if key in done or path[-1] in ("jsonrpc", "method"):
                continue
            done.add(key)
            spoiled = copy.deepcopy(frame.msg)
            holder = spoiled
            for step in path[:-1]:
                holder = holder[step]
            holder[path[-1]] = next(junk)
            judged([*frames[:place], _like(frame, spoiled), *frames[place + 1 :]])


def test_channels_that_are_gone_leave_nothing() -> None:
    oracle = judged(everything("0.9.0"))
    kept: list[str] = []
    for rule in oracle.rules:
        for name, book in vars(rule).items():
            if isinstance(book, dict) and any(CHAT in repr(key) for key in book):
                kept.append(f"{rule.name}.{name}")
    assert kept == []
