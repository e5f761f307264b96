"""What the wait of an MCP server means for the session, and for what else waits for the same token."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from pytest_bdd import given, parsers, then, when

from conformance.client import Silent
from conformance.protocol import needs_input
from scenarios.expect import activity, expect, expect_equal
from scenarios.mcp import server_of
from scenarios.server_states import changes
from scenarios.servers import OWN, await_kind, entry_in, kind_of, move_for
from scenarios.sessions import ACTIVITIES
from scenarios.tokens import refused
from scenarios.world import HELD, World


@given(parsers.parse('a call of "{tool}" of "{name}" is blocked while its server waits for the same token'))
def both_wait(world: World, tool: str, name: str) -> None:
    """The server is challenged first, and the turn goes on to the call, which meets a challenge of its own."""
    server = server_of(world, name)
    server.challenge(OWN)
    server.challenge(tool)
    own = move_for(world, name)
    own["mcp"]["wait"] = False
    world.tool = tool
    world.say([own, world.call_move(tool, name), {"pause": HELD}, {"say": "Done."}])
    await_kind(world, name, "authRequired")
    world.noted["call"] = world.await_call("auth-required")


@given(parsers.parse('"{name}" was offered a token that it refuses'))
def was_offered_bad(world: World, name: str) -> None:
    """A host that tries the token before it answers, or after, may go through other states; it comes to rest."""
    refused(world, name)
    world.a.fence()
    if world.reply is not None and not world.reply.failed:
        # A host that takes it and tries it afterwards says how that went; until then it has no challenge to be met.
        with suppress(Silent):
            world.a.wait("what becomes of the token", lambda: _settled(world, name))
    await_kind(world, name, "authRequired", "ready", "error", "stopped")


def _settled(world: World, name: str) -> bool | None:
    told = changes(world, name, world.noted["pushed"])
    return True if told and told[-1].kind not in ("starting", "stopped") else None


@when(parsers.parse('the agent tries "{tool}" of "{name}" up to the end of a turn'))
def tries(world: World, tool: str, name: str) -> None:
    world.tool = tool
    turn = world.say([world.call_move(tool, name), {"say": "Done."}])
    world.end_of_turn(turn=turn)


def _told(world: World) -> list[Any]:
    """The activities that notifications have told of the session, in order."""
    seen = [
        activity(n.params.get("changes"))
        for n in world.a.mailbox.notifications
        if n.method == "root/sessionSummaryChanged" and n.params.get("session") == world.session
    ]
    return [value for value in seen if value != -1]


def _asks(world: World) -> bool:
    """No action carries the status, so it is read where it stands: in the state and in the summary."""
    return needs_input(world.fresh(world.session).get("status", 0)) or (
        activity(world.summary()) == ACTIVITIES["InputNeeded"]
    )


@given("the session is seen to ask for input")
@then("the session asks for input, in its state or in its summary")
def asks_for_input(world: World) -> None:
    """An entry is only one way to raise it (ambiguity A-16)."""
    if _asks(world):
        return
    wanted = ACTIVITIES["InputNeeded"]
    world.a.wait("InputNeeded on the session", lambda: True if world.entries() or wanted in _told(world) else None)


@then("the session comes to ask for no input")
def asks_for_none(world: World) -> None:
    if not _asks(world):
        return
    wanted = ACTIVITIES["InputNeeded"]
    world.a.wait("a session without InputNeeded", lambda: True if _told(world)[-1:] not in ([], [wanted]) else None)
    expect(
        not _asks(world),
        "the session still asks for input",
        expected="status & 24 is not 24",
        seen=f"told {_told(world)}",
        frame=world.stage.frames[-1].n,
    )


@then(parsers.parse('no auth/required has named the resource of "{name}"'))
def none_for_server(world: World, name: str) -> None:
    world.a.fence()
    resource = world.servers[name].resource
    for notice in world.a.mailbox.notifications:
        if notice.method == "auth/required":
            told = notice.params.get("resource")
            identifier = told.get("resource") if isinstance(told, dict) else told
            expect(
                identifier != resource,
                "the challenge of a server was announced by auth/required",
                expected="no auth/required for it",
                seen=notice.params,
                frame=notice.frame.n,
            )


@then(parsers.parse('it finds "{name}" waiting for a token'))
def finds_waiting(world: World, name: str) -> None:
    entry = entry_in(world.noted["looked"], name)
    expect_equal(kind_of(entry), "authRequired", f"the state of {name}", frame=world.noted["looked at"])
    world.noted["auth"] = entry["state"]
