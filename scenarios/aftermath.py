"""How blocked calls go on and end, in the order of the protocol."""

from __future__ import annotations

from typing import Any

from pytest_bdd import given, parsers, then, when

from scenarios.blocked_calls import fresh_call
from scenarios.connections import comes_back, loses
from scenarios.dispatches import dispatch
from scenarios.entries import entry_goes, for_call
from scenarios.expect import expect, expect_equal
from scenarios.tokens import good, push, refused
from scenarios.world import World


@given("the session lists the blocked call")
def lists_blocked_call(world: World) -> None:
    world.noted["entry"] = world.await_entry("toolAuthentication", lambda e: for_call(world, e))


@then("the entry names the chat, the turn and the call with the same challenge")
def entry_matches(world: World) -> None:
    entry, call = world.noted["entry"], world.tool_call()
    shown = entry.get("toolCall") or {}
    seen = {
        "chat": entry.get("chat"),
        "turnId": entry.get("turnId"),
        **{m: shown.get(m) for m in ("toolCallId", "status", "auth", "contributor")},
    }
    expected = {
        "chat": world.chat,
        "turnId": world.turn,
        **{m: call.get(m) for m in ("toolCallId", "status", "auth", "contributor")},
    }
    expect_equal(seen, expected, "the entry of the blocked call", frame=world.a.mark)


@then("the call carries no challenge any more")
def no_challenge(world: World) -> None:
    call = fresh_call(world)
    expect(
        "auth" not in call and call.get("status") != "auth-required",
        "the challenge is still on the call",
        expected="no auth",
        seen=call,
        frame=world.stage.frames[-1].n,
    )


@then("the removal of the entry does not come before the resolution")
def removal_after(world: World) -> None:
    removal = world.a.await_action(world.session, "session/inputNeededRemoved", id=world.noted["entry"]["id"])
    resolved = world.a.await_action(world.chat, "chat/toolCallAuthResolved", toolCallId=world.calls[world.tool])
    expect(
        removal.seq > resolved.seq,
        "the entry was removed before the call was resumed",
        expected=f"a serverSeq above {resolved.seq}",
        seen=removal.seq,
        frame=removal.frame.n,
    )


@then("the removal of the entry names the id of the entry")
def removal_names_id(world: World) -> None:
    entry_goes(world)
    removals = [e.get("id") for e in world.a.envelopes(world.session, "session/inputNeededRemoved")]
    expect(
        world.noted["entry"]["id"] in removals,
        "no removal names the id of the entry",
        expected=world.noted["entry"]["id"],
        seen=removals,
        frame=world.a.mark,
    )


@when(parsers.parse('a token that "{server}" refuses is pushed, and then a good one'))
def refused_then_good(world: World, server: str) -> None:
    """A host that tries the refused token has resumed the call meanwhile, so its next block is awaited, or its end."""
    refused(world, server)
    world.a.fence()
    world.await_call(("auth-required", "completed", "cancelled"))
    good(world, server)


@then("the call is auth-required, still or again")
def still_or_again(world: World) -> None:
    def blocked_now(state: Any) -> Any:
        call = world.tool_call(state=state)
        return call if call and call.get("status") == "auth-required" else None

    call = world.a.await_state(world.chat, "the call auth-required, still or again", blocked_now)
    world.noted["auth"] = call.get("auth")
    expect_equal(
        fresh_call(world).get("status"), "auth-required", "the status of the call", frame=world.stage.frames[-1].n
    )


@then("the call has not been resumed")
@then("the call was never resumed")
def not_resumed(world: World) -> None:
    """The answer to the push, or the end of the turn, is what comes after anything that the host would have said."""
    world.a.fence()
    found = list(world.a.envelopes(world.chat, "chat/toolCallAuthResolved", toolCallId=world.calls[world.tool]))
    expect(
        not found,
        "the call was resumed without an accepted token",
        expected="no chat/toolCallAuthResolved",
        seen=found[0].message if found else None,
        frame=found[0].frame.n if found else None,
    )


@then("the call has not succeeded")
def not_succeeded(world: World) -> None:
    call = fresh_call(world)
    expect(
        call.get("success") is not True,
        "the call succeeded without a fitting token",
        expected="no success",
        seen=call,
        frame=world.stage.frames[-1].n,
    )


@given("the call is over")
def is_over(world: World) -> None:
    world.a.fence()
    world.noted["ended"] = world.a.mark


@given(parsers.parse('client "{name}" has claimed success for the call'))
def has_claimed(world: World, name: str) -> None:
    dispatch(world, name, "a successful completion")


@then("the last turn of the chat shows the call cancelled as skipped, without a challenge")
def cancelled_as_skipped(world: World) -> None:
    call = fresh_call(world)
    seen = {"status": call.get("status"), "reason": call.get("reason"), "auth": call.get("auth")}
    expected = {"status": "cancelled", "reason": "skipped", "auth": None}
    expect_equal(seen, expected, "the call of the ended turn", frame=world.stage.frames[-1].n)


@when(parsers.parse('client "{name}" pushes a token for the resource that the entry names'))
def pushes_by_entry(world: World, name: str) -> None:
    resource = world.noted["entry"]["toolCall"]["auth"]["resource"]["resource"]
    server = next(s for s in world.servers.values() if s.resource == resource)
    push(world, resource, server.good.value, client=name)


@given(parsers.parse('client "{name}" has lost its connection and come back with all its subscriptions'))
def lost_and_back(world: World, name: str) -> None:
    loses(world, name)
    comes_back(world, name)
    still_or_again(world)
