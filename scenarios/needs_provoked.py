"""What a chat waits for: questions, confirmations and tools that clients run, as the chat itself has it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pytest_bdd import given, parsers, when

from conformance.backend.playbook import Move
from conformance.client import NotClaimed, Silent
from conformance.protocol import ROOT_URI
from scenarios.client_tools import TOOL_NAME
from scenarios.turns import second_chat
from scenarios.world import HELD, World

JSON = Any

PENDING, REVIEW, RUNNING = "pending-confirmation", "pending-result-confirmation", "running"

QUESTION = {"kind": "text", "id": "colour", "message": "Which colour?", "required": True}


@dataclass(frozen=True, slots=True)
class Need:
    """One thing that a turn waits for.

    ``id`` is that of the question or of the tool call, ``status`` the call's ("" for a question), ``body``
    what the chat showed first.
    """

    kind: str
    chat: str
    turn: str
    id: str
    status: str
    body: JSON


@dataclass(frozen=True, slots=True)
class _Sort:
    """What a phrase means: the kind of the entry, the status in which the call waits, and how to call."""

    kind: str
    status: str
    call: dict[str, JSON]


def _sort(world: World, phrase: str) -> _Sort:
    match phrase.split('"'):
        case ["an approval"] | ["another approval"]:
            return _Sort("toolConfirmation", PENDING, {"tool": "write_notes", "confirm": True})
        case ["the approval of a result"]:
            return _Sort("toolConfirmation", REVIEW, {"tool": "read_notes", "confirm_result": True})
        case ["a tool of client ", name, ""]:
            call = {"tool": TOOL_NAME, "client": world.client(name).client_id}
            return _Sort("toolClientExecution", RUNNING, call)
        case ["an approval of a tool of client ", name, ""]:
            asked = {"tool": TOOL_NAME, "client": world.client(name).client_id, "confirm": True}
            return _Sort("toolConfirmation", PENDING, asked)
    raise LookupError(f"no need is called {phrase!r}")


def provoke(world: World, what: str, chat: str | None = None) -> list[Need]:
    """Start a turn that waits for all that ``what`` names, and await the chat showing it."""
    where = chat or world.chat
    if what == "an answer":
        world.say([{"ask": {"message": "One question", "questions": [QUESTION]}}, *_rest()], chat=where)
        return [_question(world, where)]
    sorts = [_sort(world, phrase) for phrase in what.split(" and ")]
    first, *others = [dict(sort.call) for sort in sorts]
    world.say([{"call": {**first, **({"with": others} if others else {})}}, *_rest()], chat=where)
    found: list[Need] = []
    for sort in sorts:
        try:
            found.append(_waiting_call(world, where, sort, {need.id for need in found}))
        except Silent as silent:
            if found:
                raise NotClaimed(f"the host opens one request of a turn at a time: {silent}") from silent
            raise
    return found


def _rest() -> list[Move]:
    return [{"pause": HELD}, {"say": "Done."}]


def _question(world: World, chat: str) -> Need:
    question = world.a.await_state(chat, "an open question", lambda state: next(questions_in(state), None))
    return Need("chatInput", chat, world.turn, question["id"], "", question)


def _waiting_call(world: World, chat: str, sort: _Sort, taken: set[str]) -> Need:
    """Await a call that waits as it should. A host may want an approval first where none was asked for."""

    def waiting(*statuses: str) -> JSON:
        def reached(state: JSON) -> JSON:
            turn = obj(state, "activeTurn")
            if turn.get("id") != world.turn:
                return None
            calls = (c for c in calls_of(turn) if is_clients(c) == ("client" in sort.call))
            open_ones = (c for c in calls if c.get("status") in statuses and isinstance(c.get("toolCallId"), str))
            return next((c for c in open_ones if c["toolCallId"] not in taken), None)

        return world.a.await_state(chat, f"a call that is {sort.status}", reached)

    call = waiting(sort.status, PENDING)
    if call["status"] != sort.status:
        approval = {"type": "chat/toolCallConfirmed", "approved": True, "confirmed": "user-action"}
        world.a.act(chat, {**approval, "turnId": world.turn, "toolCallId": call["toolCallId"]})
        call = waiting(sort.status)
    return Need(sort.kind, chat, world.turn, call["toolCallId"], sort.status, call)


def obj(value: JSON, member: str) -> dict[str, JSON]:
    """A member that should be an object, or an empty one where it is not."""
    found = value.get(member) if isinstance(value, dict) else None
    return found if isinstance(found, dict) else {}


def is_clients(call: JSON) -> bool:
    """Whether a client contributes the tool of this call."""
    return obj(call, "contributor").get("kind") == "client"


def calls_of(turn: JSON) -> Iterator[JSON]:
    for part in turn.get("responseParts") or []:
        if part.get("kind") == "toolCall":
            yield obj(part, "toolCall")


def questions_in(state: JSON) -> Iterator[JSON]:
    """The open questions of the active turn."""
    for part in obj(state, "activeTurn").get("responseParts") or []:
        if part.get("kind") == "inputRequest" and "response" not in part and "id" in obj(part, "request"):
            yield part["request"]


def current(world: World) -> Need:
    """What a step calls "it": the need provoked last, or the one answered since."""
    need: Need = world.noted["it"]
    return need


def needs(world: World) -> list[Need]:
    """All needs that the steps have provoked so far."""
    found: list[Need] = world.noted.get("needs", [])
    return found


@when(parsers.parse("the agent comes to wait for {what}"))
@given(parsers.parse("the agent waits for {what}"))
def waits_for(world: World, what: str) -> None:
    world.noted["needs"] = provoke(world, what)
    world.noted["it"] = needs(world)[-1]


@when(parsers.parse("the second chat comes to wait for {what}"))
@given(parsers.parse("the second chat waits for {what}"))
def second_waits_for(world: World, what: str) -> None:
    world.noted["needs"] = [*needs(world), *provoke(world, what, world.noted["second chat"])]
    world.noted["it"] = needs(world)[-1]


@given("a second chat in the session, if the agent can have several")
def several_chats(world: World) -> None:
    agents = world.fresh(ROOT_URI).get("agents") or []
    agent: JSON = next((a for a in agents if a.get("provider") == world.provider), {})
    if "multipleChats" not in obj(agent, "capabilities"):
        raise NotClaimed("the agent does not claim the capability multipleChats")
    second_chat(world)
