"""Calls whose input the user changes before letting them run."""

from __future__ import annotations

import json

from pytest_bdd import given, parsers, then

from conformance.client import NotClaimed
from scenarios.blocked_calls import blocked
from scenarios.expect import expect
from scenarios.world import HELD, World


@given(parsers.parse('the agent\'s call of "{tool}" of "{server}" is offered with the input "{text}", for editing'))
def is_offered(world: World, tool: str, server: str, text: str) -> None:
    """The playbook gives no result, so the call answers with the input that it was made with."""
    world.tool = tool
    offer = world.call_move(tool, server, input={"text": text}, confirm=True, editable=True)
    world.say([offer, {"pause": HELD}, {"say": "Done."}])
    call = world.await_call("pending-confirmation")
    if call.get("editable") is not True:
        raise NotClaimed("the host does not let the input of a call be edited")
    world.noted["offered input"] = text


@given(parsers.parse('the client has confirmed the call with the input "{text}", and it is blocked'))
def has_confirmed(world: World, text: str) -> None:
    world.a.act(
        world.chat,
        {
            "type": "chat/toolCallConfirmed",
            "turnId": world.turn,
            "toolCallId": world.calls[world.tool],
            "approved": True,
            "confirmed": "user-action",
            "editedToolInput": json.dumps({"text": text}),
        },
    )
    blocked(world)


@then(parsers.parse('the call was made with the input "{text}"'))
def made_with(world: World, text: str) -> None:
    call = world.tool_call()
    content = "".join(block.get("text", "") for block in call.get("content") or [])
    expect(
        text in content and world.noted["offered input"] not in content,
        "the call was made with another input than the one that was confirmed",
        expected=text,
        seen=content,
        frame=world.a.mark,
    )
