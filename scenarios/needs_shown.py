"""What an entry of the list shows: its chat, its call or question, and whom it is for."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pytest_bdd import parsers, then

from conformance.client import Broken
from conformance.protocol import violations
from scenarios.expect import expect
from scenarios.needs_listed import about, await_listed
from scenarios.needs_provoked import RUNNING, Need, calls_of, current, is_clients, obj
from scenarios.world import World

JSON = Any

# Members that an entry shows as the chat does. Judgements of risk and contents that come later are left out.
_OF_QUESTION = ("id", "message", "url", "questions")
_OF_CALL = (
    "toolCallId",
    "toolName",
    "displayName",
    "status",
    "contributor",
    "invocationMessage",
    "toolInput",
    "confirmationTitle",
    "options",
    "edits",
    "editable",
    "confirmed",
    "success",
    "pastTenseMessage",
)


def the_entry(world: World) -> JSON:
    """The entry that was seen last for the current need."""
    return next(entry for entry in reversed(world.noted["listed"]) if about(entry, current(world)))


@then("the entry has all that its kind demands")
def well_formed(world: World) -> None:
    entry = the_entry(world)
    wrong = violations(world.version, "SessionInputRequest", entry)
    if wrong:
        raise Broken(
            f"the entry lacks something: {wrong[0].path}: {wrong[0].message}",
            expected=f"a SessionInputRequest of kind {entry.get('kind')}",
            seen=entry,
            frame=world.a.mark,
            obligation="AHP-INPUT-029",
        )


@then(parsers.parse("the entry shows the call as {status}"))
def shows_status(world: World, status: str) -> None:
    seen = obj(the_entry(world), "toolCall").get("status")
    if seen != status:
        raise Broken(
            "the entry shows the call in a status in which it does not wait for approval",
            expected=status,
            seen=the_entry(world),
            frame=world.a.mark,
            obligation="AHP-INPUT-019",
        )


@then(parsers.parse('the entry hands the call to client "{name}"'))
def hands_to(world: World, name: str) -> None:
    entry, client = the_entry(world), world.client(name).client_id
    contributor = obj(obj(entry, "toolCall"), "contributor")
    named = entry.get("clientId") == client and contributor.get("clientId") == client
    expect(
        named and is_clients(obj(entry, "toolCall")),
        "the entry does not hand the call to the owner of the tool",
        expected={"clientId": client, "toolCall": {"contributor": {"kind": "client", "clientId": client}}},
        seen=entry,
        frame=world.a.mark,
    )


@then("the entry names the chat in which the request lives")
def names_chat(world: World) -> None:
    entry, it = the_entry(world), current(world)
    catalogue = [chat.get("resource") for chat in world.a.state(world.session).get("chats") or []]
    expect(
        entry.get("chat") in catalogue and entry.get("chat") == it.chat,
        "the entry does not name the chat of its request",
        expected=f"{it.chat}, one of the chats of the session",
        seen=entry.get("chat"),
        frame=world.a.mark,
    )


@then("the entry shows it as the chat does")
def mirrors(world: World) -> None:
    """As the chat showed it at some time: entries and chats travel apart, and drafts may be left out."""
    entry, it = the_entry(world), current(world)
    question = it.kind == "chatInput"
    members = _OF_QUESTION if question else _OF_CALL
    shown = _cut(obj(entry, "request" if question else "toolCall"), members)
    held = [it.body] if question else _history(world, it)
    expect(
        shown in [_cut(value, members) for value in held],
        "the entry does not mirror what the chat holds",
        expected=_cut(held[-1], members),
        seen=shown,
        frame=world.a.mark,
    )


def _cut(value: JSON, members: tuple[str, ...]) -> dict[str, JSON]:
    return {name: value[name] for name in members if name in value}


def _history(world: World, need: Need) -> list[JSON]:
    """The call in each fold of its chat."""
    states = [state for _, state in world.a.view.channels[need.chat].history]
    turns = [obj(state, "activeTurn") for state in states]
    return [call for turn in turns for call in calls_of(turn) if call.get("toolCallId") == need.id]


@then(parsers.parse('client "{name}" sees the approved call handed to it'))
def handed_over(world: World, name: str) -> None:
    world.noted["it"] = replace(current(world), kind="toolClientExecution", status=RUNNING)
    world.noted["listed"] = [await_listed(world, name, current(world))]
    hands_to(world, name)
