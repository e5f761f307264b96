"""How a session lists what its chats wait for, and takes it off again."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pytest_bdd import given, parsers, then

from conformance.client import Broken
from conformance.protocol import violations
from scenarios.expect import expect, expect_equal
from scenarios.needs_provoked import PENDING, REVIEW, RUNNING, Need, calls_of, current, is_clients, needs
from scenarios.world import World

JSON = Any

_OTHER_WAIT = {PENDING: REVIEW, REVIEW: PENDING}

# Members that an entry shows as the chat does. Judgements of risk and contents that come later are left out.
_OF_QUESTION = ("id", "message", "url", "questions")
_OF_CALL = (
    "toolCallId", "toolName", "displayName", "status", "contributor", "invocationMessage", "toolInput",
    "confirmationTitle", "options", "edits", "editable", "confirmed", "success", "pastTenseMessage",
)  # fmt: skip


def about(entry: JSON, need: Need) -> bool:
    """Whether an entry is for this need. A call can wait twice, which only its status tells apart."""
    if entry.get("kind") != need.kind:
        return False
    if need.kind == "chatInput":
        return bool((entry.get("request") or {}).get("id") == need.id)
    call = entry.get("toolCall") or {}
    same = entry.get("turnId") == need.turn and call.get("toolCallId") == need.id
    return bool(same and call.get("status") != _OTHER_WAIT.get(need.status, ""))


def listed_in(world: World, state: JSON, need: Need) -> list[JSON]:
    return [entry for entry in world.entries(state=state) if about(entry, need)]


def await_listed(world: World, name: str, need: Need) -> JSON:
    """The entry of the need in the fold of the session that the client has."""
    return world.await_entry(need.kind, lambda entry: about(entry, need), client=name)


@given(parsers.re(r'client "(?P<name>[^"]+)" sees (?:it|all of it) listed'))
@then(parsers.re(r'client "(?P<name>[^"]+)" sees (?:it|all of it) listed'))
def sees_listed(world: World, name: str) -> None:
    world.noted["listed"] = [await_listed(world, name, need) for need in needs(world)]


@then(parsers.parse('client "{name}" sees it listed as {kind}'))
def sees_listed_as(world: World, name: str, kind: str) -> None:
    it = current(world)
    if it.kind != kind:
        raise LookupError(f"what was provoked is listed as {it.kind}, not as {kind}")
    world.noted["listed"] = [await_listed(world, name, it)]


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
    seen = the_entry(world)["toolCall"].get("status")
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
    contributor = entry["toolCall"].get("contributor") or {}
    named = entry.get("clientId") == client and contributor.get("clientId") == client
    expect(
        named and is_clients(entry["toolCall"]),
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
    shown = _cut(entry["request" if question else "toolCall"], members)
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
    turns = [state.get("activeTurn") or {} for state in states]
    return [call for turn in turns for call in calls_of(turn) if call.get("toolCallId") == need.id]


@then("another client finds it listed once")
def found_once(world: World) -> None:
    for need in needs(world):
        found = listed_in(world, world.fresh(world.session), need)
        expect_equal(len(found), 1, "the number of entries", frame=world.stage.frames[-1].n)


@then("all of it is listed, each under an id of its own")
def ids_differ(world: World) -> None:
    entries = [await_listed(world, "A", need) for need in needs(world)]
    ids = {entry.get("id") for entry in entries}
    expect_equal(len(ids), len(entries), "the number of ids", frame=world.a.mark)
    world.noted["listed"] = entries


@then(parsers.parse('client "{name}" sees its entry go'))
def sees_it_go(world: World, name: str) -> None:
    it = current(world)
    world.client(name).await_state(
        world.session, "removal of the entry", lambda state: not listed_in(world, state, it) or None
    )


@then("a fresh snapshot of the session lists it no more")
def listed_no_more(world: World) -> None:
    left = listed_in(world, world.fresh(world.session), current(world))
    expect(not left, "the entry is still listed", expected="no entry for it", seen=left,
           frame=world.stage.frames[-1].n)  # fmt: skip


@then(parsers.parse('client "{name}" sees the approved call handed to it'))
def handed_over(world: World, name: str) -> None:
    world.noted["it"] = replace(current(world), kind="toolClientExecution", status=RUNNING)
    world.noted["listed"] = [await_listed(world, name, current(world))]
    hands_to(world, name)
