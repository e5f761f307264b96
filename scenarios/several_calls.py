"""Several blocked calls at once, and one that is challenged twice."""

from __future__ import annotations

from typing import Any

from pytest_bdd import given, parsers, then, when

from conformance.client import Unreached
from scenarios.blocked_calls import blocked, call_tool, resumed
from scenarios.expect import expect_equal
from scenarios.tokens import good
from scenarios.world import World, calls_in


@when(parsers.parse('the agent calls "{tool}" of "{server}" twice at once'))
def calls_twice(world: World, tool: str, server: str) -> None:
    call_tool(world, tool, server, **{"with": [world.call_move(tool, server)["call"]]})


@then("the session lists two toolAuthentication entries with different ids")
def two_entries(world: World) -> None:
    def both(state: Any) -> Any:
        found = [e for e in world.entries("toolAuthentication", state=state) if e.get("turnId") == world.turn]
        calls = {(e.get("toolCall") or {}).get("toolCallId") for e in found}
        return found if len(calls) == 2 else None

    found = world.a.await_state(world.session, "an entry for each of the two calls", both)
    expect_equal(len({e.get("id") for e in found}), 2, "the number of ids", frame=world.a.mark)


@then(parsers.parse('the call of "{tool}" is resumed'))
def call_of_resumed(world: World, tool: str) -> None:
    """No more than that: a host may hold results back until all calls of the step have theirs."""
    call = next(c for c in world.noted["blocked"] if c["toolName"].endswith(tool))
    resumed(world, call["toolCallId"])


@then(parsers.parse('the call of "{tool}" is still auth-required'))
def call_of_still_blocked(world: World, tool: str) -> None:
    world.a.fence()
    call = next(c for c in world.noted["blocked"] if c["toolName"].endswith(tool))
    now = next(c for c in calls_in(world.fresh(world.chat)) if c["toolCallId"] == call["toolCallId"])
    expect_equal(
        now.get("status"), "auth-required", f"the status of the call of {tool}", frame=world.stage.frames[-1].n
    )


@given("the first challenge of the call has been met and a second one has come")
def second_challenge(world: World) -> None:
    first = world.noted["auth"]
    server = next(iter(world.servers))
    good(world, server)
    world.a.await_action(world.chat, "chat/toolCallAuthRequired", since=world.noted["pushed"])
    blocked(world)
    if world.noted["auth"] == first:
        raise Unreached("precondition-failed", "the second challenge repeats the first")
