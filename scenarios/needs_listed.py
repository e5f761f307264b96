"""How a session lists what its chats wait for, and takes it off again."""

from __future__ import annotations

from typing import Any

from pytest_bdd import given, parsers, then

from scenarios.expect import expect, expect_equal
from scenarios.needs_provoked import PENDING, REVIEW, Need, current, needs, obj
from scenarios.world import World

JSON = Any

_OTHER_WAIT = {PENDING: REVIEW, REVIEW: PENDING}


def about(entry: JSON, need: Need) -> bool:
    """Whether an entry is for this need. A call can wait twice, which only its status tells apart."""
    if entry.get("kind") != need.kind:
        return False
    if need.kind == "chatInput":
        return bool(obj(entry, "request").get("id") == need.id)
    call = obj(entry, "toolCall")
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
    expect(not left, "the entry is still listed", expected="no entry for it", seen=left, frame=world.stage.frames[-1].n)
