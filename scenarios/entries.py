"""The entries of a session's inputNeeded."""

from __future__ import annotations

from typing import Any

from pytest_bdd import then

from scenarios.expect import expect, expect_equal
from scenarios.world import World


def for_call(world: World, entry: Any, tool: str | None = None) -> bool:
    """Whether an entry is about the current call."""
    return bool(
        entry.get("turnId") == world.turn
        and (entry.get("toolCall") or {}).get("toolCallId") == world.calls.get(tool or world.tool)
    )


@then("the session's inputNeeded gains one toolAuthentication entry for that call")
def gains_entry(world: World) -> None:
    world.await_entry("toolAuthentication", lambda e: for_call(world, e))
    found = [e for e in world.entries("toolAuthentication") if for_call(world, e)]
    expect_equal(len(found), 1, "the number of entries for the call", frame=world.a.mark)
    world.noted["entry"] = found[0]


@then("the entry of the call goes")
def entry_goes(world: World) -> None:
    world.a.await_state(
        world.session,
        "removal of the entry of the call",
        lambda state: not any(for_call(world, e) for e in world.entries(state=state)) or None,
    )


@then("a fresh snapshot of the session lacks the entry")
def fresh_lacks_entry(world: World) -> None:
    left = [e for e in world.entries(state=world.fresh(world.session)) if for_call(world, e)]
    expect(
        not left,
        "the entry is still in the snapshot",
        expected="no entry for the call",
        seen=left,
        frame=world.stage.frames[-1].n,
    )
