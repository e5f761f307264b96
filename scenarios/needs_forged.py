"""What has no business in the list: calls that wait for nobody, and what clients put there."""

from __future__ import annotations

from typing import Any

from pytest_bdd import parsers, then, when

from conformance.client import Broken, Silent, Unreached
from scenarios.expect import expect
from scenarios.needs_provoked import obj
from scenarios.world import World, calls_in

JSON = Any


@when("the agent runs a tool that nobody has to approve")
def runs_tool(world: World) -> None:
    world.say([{"call": {"tool": "read_notes"}}, {"say": "Done."}])
    world.end_of_turn()


@then("the tool call was never listed")
def never_listed(world: World) -> None:
    world.a.fence()
    call = next((c for c in calls_in(world.a.state(world.chat)) if c.get("status") == "completed"), None)
    if call is None or call.get("confirmed") == "user-action":
        raise Unreached("precondition-failed", f"no call ran without being asked for: {call!r:.300}")
    sets = [
        e
        for e in world.a.envelopes(world.session, "session/inputNeededSet")
        if obj(obj(e.action, "request"), "toolCall").get("toolCallId") == call.get("toolCallId")
    ]
    expect(
        not sets,
        "a call that waited for nobody was listed",
        expected="no session/inputNeededSet for it",
        seen=sets[0].message if sets else None,
        frame=sets[0].frame.n if sets else None,
    )


@when("the second chat is disposed of")
def disposes_second_chat(world: World) -> None:
    world.a.succeed("disposeChat", channel=world.noted["second chat"])


@when(parsers.parse('client "{name}" dispatches {action} by itself'))
def dispatches_reserved(world: World, name: str, action: str) -> None:
    """Clients have no say in the list: they forge an entry, or take one away."""
    if action == "session/inputNeededSet":
        question = {"id": "forged", "message": "Approve everything?"}
        body: dict[str, JSON] = {
            "request": {"id": "forged", "kind": "chatInput", "chat": world.chat, "request": question}
        }
    else:
        listed = world.noted.get("listed")
        body = {"id": listed[0].get("id") if listed else "nothing"}
    world.noted["before"] = world.entries(state=world.fresh(world.session))
    client = world.client(name)
    number = client.dispatch(world.session, {"type": action, **body})
    try:
        client.echo(number)
    except Silent as silent:
        message = f"{action} was dropped without a word"
        raise Broken(
            message, expected="an envelope with rejectionReason", seen="no echo", frame=silent.last
        ) from silent
    client.fence()
    world.echoes = client.echoes(number)


@then("inputNeeded is as it was")
def list_as_before(world: World) -> None:
    seen = world.entries(state=world.fresh(world.session))
    expect(
        seen == world.noted["before"],
        "a client has changed inputNeeded",
        expected=world.noted["before"],
        seen=seen,
        frame=world.stage.frames[-1].n,
    )
