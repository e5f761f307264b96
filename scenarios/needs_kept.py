"""What becomes of the list of needs: stable ids, the same list for everybody, the host as its only author."""

from __future__ import annotations

from typing import Any

from pytest_bdd import given, parsers, then

from conformance.client import Unreached
from conformance.protocol import needs_input
from conformance.protocol.status import IS_ARCHIVED, IS_READ
from scenarios.expect import expect, expect_equal, expect_no_origin
from scenarios.needs_listed import about, listed_in
from scenarios.needs_provoked import RUNNING, Need, current, needs, obj
from scenarios.world import World

JSON = Any


def _other(world: World) -> Need:
    return next(need for need in needs(world) if need is not current(world))


@then("the other is still listed under its id")
def other_still_listed(world: World) -> None:
    _still_listed(world, _other(world))


@then("it is still listed under its id")
def still_listed(world: World) -> None:
    _still_listed(world, current(world))


def _still_listed(world: World, need: Need) -> None:
    known = next(entry for entry in world.noted["listed"] if about(entry, need))
    found = listed_in(world, world.fresh(world.session), need)
    ids = [entry.get("id") for entry in found]
    expect_equal(ids, [known.get("id")], "the ids of its entries", frame=world.stage.frames[-1].n)


@then("the removal names the id under which it was listed")
def removal_names_id(world: World) -> None:
    it = current(world)
    known = next(entry for entry in world.noted["listed"] if about(entry, it))
    world.a.await_action(world.session, "session/inputNeededRemoved", id=known.get("id"))


@then(parsers.parse('client "{name}" and a fresh snapshot list the same'))
def same_list(world: World, name: str) -> None:
    fold, fresh = _at_once(world, name)
    seen, expected = world.entries(state=fold), world.entries(state=fresh)
    expect_equal(seen, expected, "the folded list", frame=world.client(name).mark)


@then("a fresh snapshot of the session has no list of needs")
def no_list(world: World) -> None:
    state = world.fresh(world.session)
    expect(
        "inputNeeded" not in state,
        "the list is left behind",
        expected="no member inputNeeded",
        seen=state.get("inputNeeded"),
        frame=world.stage.frames[-1].n,
    )


@then(parsers.parse('client "{name}" and a fresh snapshot agree about the flags of the session'))
def same_flags(world: World, name: str) -> None:
    fold, fresh = _at_once(world, name)
    seen, wanted = _flags(fold), _flags(fresh)
    if not wanted["IsRead"]:
        # A turn makes its session unread, and no action has to say so.
        seen["IsRead"] = False
    expect_equal(seen, wanted, "the folded status", frame=world.client(name).mark)


def _flags(state: JSON) -> dict[str, bool]:
    status = state.get("status", 0)
    return {
        "InputNeeded": needs_input(status),
        "IsRead": bool(status & IS_READ),
        "IsArchived": bool(status & IS_ARCHIVED),
    }


def _at_once(world: World, name: str) -> tuple[JSON, JSON]:
    """The client's fold of the session as of a fresh snapshot, and that snapshot."""
    fresh = world.fresh(world.session)
    taken = world.stage.oracle.tracker.latest[world.session]
    client = world.client(name)
    client.fence()
    if taken.from_seq is None:
        raise Unreached("precondition-failed", "the snapshot does not say where in the order it stands")
    return client.view.channels[world.session].at(taken.from_seq), fresh


@given(parsers.parse('client "{name}" has archived the session'))
def has_archived(world: World, name: str) -> None:
    world.client(name).act(world.session, {"type": "session/isArchivedChanged", "isArchived": True})


@then("no entry was set or removed in the name of a client")
def no_origin(world: World) -> None:
    for kind in ("session/inputNeededSet", "session/inputNeededRemoved"):
        expect_no_origin(world.a.envelopes(world.session, kind))


@then("no entry has handed out a call before it ran")
def not_before_running(world: World) -> None:
    for envelope in world.a.envelopes(world.session, "session/inputNeededSet"):
        request = obj(envelope.action, "request")
        status = obj(request, "toolCall").get("status")
        expect(
            request.get("kind") != "toolClientExecution" or status == RUNNING,
            "a call is handed out that does not run",
            expected=RUNNING,
            seen=envelope.message,
            frame=envelope.frame.n,
        )
