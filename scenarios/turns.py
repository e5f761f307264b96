"""Turns: what the agent is told to do, and how a turn goes on and ends."""

from __future__ import annotations

from pytest_bdd import given, parsers, then, when

from conformance.client import Unreached
from scenarios.expect import expect
from scenarios.world import World


@when(parsers.re("the turn (?:comes|has come) to its end"))
@given(parsers.re("the turn (?:comes|has come) to its end"))
def to_the_end(world: World) -> None:
    world.go_on()
    world.end_of_turn()


@when(parsers.re("the client (?:cancels|has cancelled) the turn"))
@given(parsers.re("the client (?:cancels|has cancelled) the turn"))
def cancels(world: World) -> None:
    world.a.act(world.chat, {"type": "chat/turnCancelled", "turnId": world.turn, "duration": 5})


@when("the client truncates the chat")
def truncates(world: World) -> None:
    world.a.act(world.chat, {"type": "chat/truncated"})


@when("another turn runs to its end")
def another_turn(world: World) -> None:
    """A short turn without tools: what an earlier turn still had to say comes before its end."""
    earlier = world.turn
    later = world.say([{"think": "There is little to do."}, {"say": "Done."}])
    world.end_of_turn(turn=later)
    world.turn = earlier


@when(parsers.parse('client "{name}" starts another turn'))
def starts_another(world: World, name: str) -> None:
    """Whatever the host makes of it, the turn that ran before stays the current one of the scenario."""
    running = world.turn
    world.start_turn("Please answer in one word.", client=name)
    world.client(name).fence()
    world.turn = running


@then("the turn comes to its end by itself")
def ends_by_itself(world: World) -> None:
    world.go_on()
    end = world.end_of_turn()
    expect(
        end.type == "chat/turnComplete",
        "the turn did not complete",
        expected="chat/turnComplete",
        seen=end.message,
        frame=end.frame.n,
    )


def second_chat(world: World) -> None:
    chat = world.stage.new_chat_uri(world.session)
    reply = world.a.call("createChat", channel=world.session, chat=chat)
    if reply.failed:
        raise Unreached("precondition-failed", f"createChat was refused: {reply.error!r}")
    world.a.subscribe(chat)
    world.noted["second chat"] = chat
