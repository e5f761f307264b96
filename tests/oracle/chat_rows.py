"""Rows for the tests of the folds of chats: a chat, what happens in it, and what a wrong host has made of it."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from conformance.protocol import reduce
from tests.protocol.examples import CHAT, OPTION, TURN, message

from .traces import (
    DONE,
    JSON,
    Cases,
    Trace,
    a_call,
    about,
    asks,
    finished,
    idle_chat,
    part_of,
    question,
    working_chat,
)

ALL = ("0.6.0", "0.9.0", "1.0.0")
BEFORE_09, FROM_09 = ("0.6.0", "0.8.0"), ("0.9.0", "1.0.0")
BEFORE_07, FROM_07 = ("0.6.0",), ("0.7.0", "1.0.0")

APPROVED = about("Confirmed", approved=True, confirmed="user-action")
DENIED = about("Confirmed", approved=False, reason="denied", userSuggestion=message("try b"))
SUCCEEDED = about("Complete", result={**DONE, "content": [{"type": "text", "text": "all"}]})
PRODUCED = about("ContentChanged", content=[{"type": "text", "text": "so far"}])
DRAFTED = {"type": "chat/draftChanged", "draft": message("dra")}
TRUNCATED = {"type": "chat/truncated"}
RESUMED = {"type": "chat/turnResume", "turnId": TURN}
REORDERED = {"type": "chat/queuedMessagesReordered", "order": ["two"]}
STATUSES = {"pending-confirmation": 24, "auth-required": 24, "pending-result-confirmation": 24}


def played(t: Trace, start: JSON, actions: list[JSON], conns: str = "A") -> JSON:
    """Connections that follow the chat while things happen; what it is in the end.

    What clients do is an echo of A's; ``_by`` says who it was where that is not the ordinary one; what
    nobody does was refused.
    """
    t.follow(conns, session=None, chat=start)
    state = start
    for action in actions:
        by = action.get("_by", "client" if action["type"] in _BY_CLIENTS else "host")
        told = {name: value for name, value in action.items() if name != "_by"}
        if by == "nobody":
            t.echo(CHAT, told, rejected="no")
            continue
        (t.echo if by == "client" else t.envelope)(CHAT, told, to=conns)
        state = reduce("chat", state, told, t.version)
    return state


_BY_CLIENTS = {
    "chat/draftChanged",
    "chat/turnStarted",
    "chat/turnCancelled",
    "chat/turnResume",
    "chat/truncated",
    "chat/toolCallConfirmed",
    "chat/toolCallResultConfirmed",
    "chat/pendingMessageSet",
    "chat/pendingMessageRemoved",
    "chat/queuedMessagesReordered",
    "chat/inputAnswerChanged",
    "chat/inputCompleted",
}


def row(
    book: Cases,
    name: str,
    *obligations: str,
    start: JSON,
    does: list[JSON],
    spoil: Callable[[Any], object],
    versions: tuple[str, ...] = ALL,
    beside: tuple[str, ...] = (),
) -> None:
    """A bad trace whose last snapshot is spoiled, and the good one with the fold itself."""

    def wrong(t: Trace) -> None:
        state = copy.deepcopy(played(t, start, does))
        spoil(state)
        t.subscribe(CHAT, state)

    def right(t: Trace) -> None:
        t.subscribe(CHAT, played(t, start, does))

    wrong.__name__, right.__name__ = f"{name}_wrong", f"{name}_right"
    book.bad(*obligations, versions=versions, beside=beside)(wrong)
    book.good(*obligations, versions=versions)(right)


def call(status: str, contributor: str | None = None, **members: JSON) -> JSON:
    """A chat whose active turn has one call."""
    return working_chat(part_of({**a_call(status, contributor=contributor), **members}), status=STATUSES.get(status, 8))


def pending(**members: JSON) -> JSON:
    return call("pending-confirmation", options=[OPTION], **members)


def the_call(state: JSON) -> JSON:
    turn = state.get("activeTurn") or state["turns"][-1]
    return next(p["toolCall"] for p in turn["responseParts"] if p["kind"] == "toolCall")


def changed(**members: JSON) -> Callable[[Any], object]:
    """The call has other members; None takes one away."""

    def spoil(state: Any) -> None:
        found = the_call(state)
        found.update(members)
        for name in [name for name, value in members.items() if value is None]:
            del found[name]

    return spoil


def put(*steps: str | int, to: JSON = None) -> Callable[[Any], object]:
    """Something else at a place; None takes it away."""

    def spoil(state: Any) -> None:
        for step in steps[:-1]:
            state = state[step]
        if to is None:
            del state[steps[-1]]
        else:
            state[steps[-1]] = to

    return spoil


TEXT = {"kind": "markdown", "id": "p", "content": "H"}
DELTA = {"type": "chat/delta", "turnId": TURN, "partId": "p", "content": "i"}
REASONING = {**DELTA, "type": "chat/reasoning"}
HISTORY = idle_chat(turns=[finished(identity="t1"), finished(identity="t2"), finished(identity="t3")])
WAITING = working_chat(
    queuedMessages=[{"id": "one", "message": message()}, {"id": "two", "message": message()}],
    steeringMessage={"id": "s", "message": message("left")},
)
OPEN = working_chat({"kind": "inputRequest", "request": asks("q", question())["request"]}, status=24)
DRAFTY = {**WAITING, "draft": message("dra")}
