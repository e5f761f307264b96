"""Actions that clients dispatch for a tool call, and what comes back."""

from __future__ import annotations

from typing import Any

from pytest_bdd import given, parsers, then, when

from conformance.oracle.tracker import Envelope
from scenarios.client_actions import echo_of
from scenarios.expect import expect, expect_rejected
from scenarios.world import World

MARKER = "claimed by a client"

# What a phrase dispatches, beyond the ids of the turn and the call.
ACTIONS: dict[str, dict[str, Any]] = {
    "a failed completion": {
        "type": "chat/toolCallComplete",
        "result": {
            "success": False,
            "pastTenseMessage": "Cancelled",
            "error": {"message": "Cancelled by the user", "code": "cancelled"},
        },
    },
    "a failed completion that asks for a result confirmation": {
        "type": "chat/toolCallComplete",
        "requiresResultConfirmation": True,
        "result": {"success": False, "pastTenseMessage": "Cancelled", "error": {"message": "Cancelled"}},
    },
    "a successful completion": {
        "type": "chat/toolCallComplete",
        "result": {
            "success": True,
            "pastTenseMessage": "Done",
            "content": [{"type": "text", "text": MARKER}],
        },
    },
    "an approval": {"type": "chat/toolCallConfirmed", "approved": True, "confirmed": "user-action"},
    "a denial": {"type": "chat/toolCallConfirmed", "approved": False, "reason": "denied"},
    "a content change": {
        "type": "chat/toolCallContentChanged",
        "content": [{"type": "text", "text": MARKER}],
    },
    "a result confirmation": {"type": "chat/toolCallResultConfirmed", "approved": True},
    "chat/toolCallAuthResolved": {"type": "chat/toolCallAuthResolved"},
}


def action_for(world: World, what: str) -> dict[str, Any]:
    """The action that a phrase names, for the current call."""
    if what == "chat/toolCallAuthRequired":
        auth = {"reason": "required", "resource": {"resource": "https://forged.example/mcp"}}
        body: dict[str, Any] = {"type": what, "auth": auth}
    else:
        body = dict(ACTIONS[what])
    return {**body, "turnId": world.turn, "toolCallId": world.calls[world.tool]}


def dispatch(world: World, name: str, what: str) -> None:
    """Dispatch for the current call; the echo is awaited where the sender follows the chat and so gets one."""
    client = world.client(name)
    world.noted["ended"] = world.a.mark
    number = client.dispatch(world.chat, action_for(world, what))
    if world.chat in client.view.subscribed:
        world.echoes = [client.echo(number)]
    else:
        client.fence()


@given(parsers.parse('client "{name}" has ended the call by a failed completion'))
def has_ended(world: World, name: str) -> None:
    dispatch(world, name, "a failed completion")
    expect_accepted(world)
    world.noted["ended"] = world.a.mark


@when(parsers.parse('client "{name}" dispatches {what} for the call'))
def dispatches(world: World, name: str, what: str) -> None:
    dispatch(world, name, what)


def _echo(world: World) -> Envelope:
    """The echo of the last dispatch. One that no step has awaited yet is awaited now."""
    return echo_of(world) if "dispatches" in world.noted else world.echoes[-1]


@then("the action is accepted")
def expect_accepted(world: World) -> None:
    echo = _echo(world)
    expect(
        echo.accepted,
        f"{echo.type} was rejected",
        expected="an envelope without rejectionReason",
        seen=echo.message,
        frame=echo.frame.n,
    )


@then("the action comes back rejected")
def comes_back_rejected(world: World) -> None:
    expect_rejected(_echo(world))


@then("the chat is as it was before")
def chat_as_before(world: World) -> None:
    """Compared by what a fresh client gets; the time of the last change and the clock of durations are left out."""
    seen, expected = _timeless(world.fresh(world.chat)), _timeless(world.before)
    expect(
        seen == expected,
        "the chat has changed",
        expected=expected,
        seen=seen,
        frame=world.stage.frames[-1].n,
    )


def _timeless(state: Any) -> Any:
    """The state less what changes by itself: times, and what the turn has cost, which may be known a little later."""
    kept = {k: v for k, v in state.items() if k not in ("modifiedAt", "_meta", "activity") and v is not None}
    if isinstance(kept.get("activeTurn"), dict):
        kept["activeTurn"] = {k: v for k, v in kept["activeTurn"].items() if k != "usage"}
    return kept


@then("what the client claimed is nowhere in the chat")
def no_claim(world: World) -> None:
    state = world.fresh(world.chat)
    expect(
        MARKER not in repr(state),
        "the result that a client claimed got into the chat",
        expected=f"no {MARKER!r}",
        seen=state,
        frame=world.stage.frames[-1].n,
    )
