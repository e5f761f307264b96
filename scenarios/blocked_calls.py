"""Tool calls that are challenged: how they come to be blocked, and how one sees in which state they are."""

from __future__ import annotations

from typing import Any

from pytest_bdd import given, parsers, then, when

from conformance.client import Broken
from scenarios.expect import expect
from scenarios.world import HELD, World, calls_in

RESULT = "what the server answers to an authorised request"
ENDS = ("chat/turnComplete", "chat/turnCancelled", "chat/error")


def call_tool(world: World, tool: str, server: str | None, **more: Any) -> None:
    """Start a turn in which the agent calls one tool and is then held back."""
    world.tool = tool
    world.say([world.call_move(tool, server, result=RESULT, **more), {"pause": HELD}, {"say": "Done."}])


@when(parsers.parse('the agent calls "{tool}" of "{server}"'))
def calls(world: World, tool: str, server: str) -> None:
    call_tool(world, tool, server)


@given(parsers.parse('the agent\'s call of "{tool}" of "{server}" is blocked'))
def is_blocked(world: World, tool: str, server: str) -> None:
    call_tool(world, tool, server)
    blocked(world)


@given(parsers.parse('the agent\'s call of "{tool}" of "{server}" is blocked after it has put out "{text}"'))
def is_blocked_after(world: World, tool: str, server: str, text: str) -> None:
    call_tool(world, tool, server, partial=text)
    blocked(world)


@given(parsers.parse('two calls of "{tool}" of "{server}" are blocked'))
def two_blocked(world: World, tool: str, server: str) -> None:
    _two(world, world.call_move(tool, server, result=RESULT), world.call_move(tool, server, result=RESULT))


@given(parsers.parse('a call of "{first}" of "{server}" and one of "{second}" of "{other}" are blocked'))
def both_blocked(world: World, first: str, server: str, second: str, other: str) -> None:
    _two(world, world.call_move(first, server, result=RESULT), world.call_move(second, other, result=RESULT))
    world.tool = first


def _two(world: World, first: dict[str, Any], second: dict[str, Any]) -> None:
    first["call"]["with"] = [second["call"]]
    world.tool = first["call"]["tool"]
    world.say([first, {"pause": HELD}, {"say": "Done."}])

    def both(state: Any) -> Any:
        waiting = [c for c in calls_in(state) if c.get("status") == "auth-required"]
        return waiting if len(waiting) == 2 else None

    waiting = world.a.await_state(world.chat, "two auth-required calls", both)
    world.noted["blocked"] = waiting
    blocked(world)


def blocked(world: World) -> None:
    """Await the block and keep what the challenge says."""
    call = world.await_call("auth-required")
    world.noted["auth"] = call.get("auth")
    world.noted["call"] = call
    world.before = world.a.state(world.chat)


@then("the call becomes auth-required")
@then("the call is challenged again")
def becomes_auth_required(world: World) -> None:
    action = world.a.await_action(
        world.chat, "chat/toolCallAuthRequired", since=world.noted.get("pushed", world.began), turnId=world.turn
    )
    call = world.await_call("auth-required")
    expect(
        action.get("toolCallId") == call["toolCallId"],
        "chat/toolCallAuthRequired names another call",
        expected=call["toolCallId"],
        seen=action.get("toolCallId"),
        frame=action.frame.n,
    )
    world.noted["auth"] = call.get("auth")


@then("the call is still auth-required")
def still_auth_required(world: World) -> None:
    call = fresh_call(world)
    expect(
        call.get("status") == "auth-required",
        "the call is not auth-required",
        expected="auth-required",
        seen=call,
        frame=world.stage.frames[-1].n,
    )
    expect(
        call.get("auth") == world.noted["auth"],
        "the challenge of the blocked call has changed",
        expected=world.noted["auth"],
        seen=call.get("auth"),
        frame=world.stage.frames[-1].n,
    )


def fresh_call(world: World, tool: str | None = None) -> Any:
    """The call as a client that was not there before sees it."""
    call_id = world.calls[tool or world.tool]
    for call in calls_in(world.fresh(world.chat)):
        if call.get("toolCallId") == call_id:
            return call
    raise Broken(
        "the call is not in the chat", expected=f"a call {call_id}", seen="none", frame=world.stage.frames[-1].n
    )


@then("the call is resumed")
def is_resumed(world: World) -> None:
    resumed(world, world.calls[world.tool])


def resumed(world: World, call_id: str) -> None:
    world.a.await_action(world.chat, "chat/toolCallAuthResolved", turnId=world.turn, toolCallId=call_id)


@then("both calls are resumed")
def both_resumed(world: World) -> None:
    for call in world.noted["blocked"]:
        resumed(world, call["toolCallId"])


@then("the call completes with what the server answers")
def completes(world: World) -> None:
    completed_with(world, world.calls[world.tool])


@then("both calls complete with what the server answers")
def both_complete(world: World) -> None:
    for call in world.noted["blocked"]:
        completed_with(world, call["toolCallId"])


def completed_with(world: World, call_id: str) -> None:
    done = world.a.await_action(world.chat, "chat/toolCallComplete", turnId=world.turn, toolCallId=call_id)
    result = done.get("result") or {}
    text = "".join(block.get("text", "") for block in result.get("content") or [])
    expect(
        result.get("success") is True and RESULT in text,
        "the call did not complete with the result of the server",
        expected=f"success and the content {RESULT!r}",
        seen=result,
        frame=done.frame.n,
    )


@then("the call is completed as failed")
def completed_failed(world: World) -> None:
    call = fresh_call(world)
    expect(
        call.get("status") == "completed" and call.get("success") is False,
        "the call has not ended as failed",
        expected="status completed with success false",
        seen=call,
        frame=world.stage.frames[-1].n,
    )


@then("nothing more is said about the call")
def nothing_more(world: World) -> None:
    """Up to the end of the turn or of the one after it, which is the fence for what an agent does."""
    since = world.noted["ended"]
    call_id = world.calls[world.tool]
    late = [e for e in world.a.envelopes(since=since) if e.get("toolCallId") == call_id]
    expect(
        not late,
        "the host goes on with a call that is over",
        expected="no action that names the call",
        seen=late[0].message if late else None,
        frame=late[0].frame.n if late else None,
    )
