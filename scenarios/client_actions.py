"""Actions that clients dispatch by name, right and wrong ones, and what becomes of them."""

from __future__ import annotations

from typing import Any

from pytest_bdd import given, parsers, then, when

from conformance.client import Participant, Unreached
from conformance.oracle.tracker import Envelope
from scenarios.action_table import ACTIONS, Act, mark
from scenarios.expect import expect, expect_equal
from scenarios.places import channel_of
from scenarios.world import World


def act_of(what: str) -> Act:
    try:
        return ACTIONS[what]
    except KeyError:
        raise LookupError(f"no action is called {what!r}") from None


def send_action(world: World, name: str, what: str, client_seq: int | None = None) -> None:
    """Dispatch without awaiting anything; remember what the state was before."""
    act, client = act_of(what), world.client(name)
    target = act.watch or act.channel
    if "does not exist" not in target:
        world.noted["state before"] = world.fresh(channel_of(world, target))
        if target == "the chat":
            world.before = world.noted["state before"]
    world.noted["since"] = client.mark
    action = {"type": act.type, **act.body(world)}
    number = client.dispatch(channel_of(world, act.channel), action, client_seq=client_seq)
    world.noted.setdefault("dispatches", []).append((name, what, number, action))


@when(parsers.re(r'client "(?P<name>[^"]+)" (?P<twice>twice )?dispatches the action (?P<what>.+)'))
def dispatches_action(world: World, name: str, twice: str | None, what: str) -> None:
    for _ in range(2 if twice else 1):
        send_action(world, name, what)


@when(parsers.re(r'client "(?P<name>[^"]+)" dispatches renames with the clientSeq (?P<numbers>\d+(?:, \d+)*)'))
def dispatches_numbered(world: World, name: str, numbers: str) -> None:
    """Each to a title of its own, so that each changes something."""
    for number in numbers.split(", "):
        world.noted.pop("mark", None)
        send_action(world, name, "session/titleChanged", int(number))


@given(parsers.parse('client "{name}" has had the action {what} rejected'))
def has_had_rejected(world: World, name: str, what: str) -> None:
    send_action(world, name, what)
    if echo_of(world).accepted:
        raise Unreached("precondition-failed", f"{what} was not rejected")


def last_dispatch(world: World) -> tuple[Participant, str, int, Any]:
    name, what, number, action = world.noted["dispatches"][-1]
    return world.client(name), what, number, action


def echo_of(world: World) -> Envelope:
    client, _, number, _ = last_dispatch(world)
    return client.echo(number)


@then("each dispatch is echoed exactly once")
def echoed_once(world: World) -> None:
    for name, what, number, _ in world.noted["dispatches"]:
        client = world.client(name)
        client.echo(number)
        client.fence()
        found = client.echoes(number)
        expect_equal(len(found), 1, f"the number of echoes of {what}", frame=found[-1].frame.n)


@then("the host stays silent about it")
def stays_silent(world: World) -> None:
    """No echo, no error, no end of the connection, up to the answer to a request for the same channel.

    A host may look for the channel before it answers, and a ping would overtake that.
    """
    client, what, number, _ = last_dispatch(world)
    asked = client.call("subscribe", channel=channel_of(world, act_of(what).channel))
    client.fence()
    about = client.echoes(number)
    answers = [
        f
        for f in client.connection.frames
        if f.n > world.noted["since"]
        and f.dir == "in"
        and isinstance(f.msg, dict)
        and "error" in f.msg
        and f.n != asked.frame.n
    ]
    seen = [e.frame for e in about] + answers
    expect(
        not seen,
        f"the host does not ignore {what}",
        expected="no echo and no error",
        seen=seen[0].msg if seen else None,
        frame=seen[0].n if seen else None,
    )


@then(parsers.parse('client "{name}" gets it with the origin of client "{sender}"'))
def gets_with_origin(world: World, name: str, sender: str) -> None:
    """A rejection leaves nothing to judge, unless its author does not follow the channel and is refused for that."""
    author, what, number, _ = last_dispatch(world)
    client, act = world.client(name), act_of(what)
    follows = channel_of(world, act.channel) in author.view.subscribed

    def come() -> Envelope | None:
        if follows and any(not e.accepted for e in author.echoes(number)):
            raise Unreached("precondition-failed", f"{what} was rejected")
        seen = (e for e in client.mailbox.envelopes if e.accepted and e.type == act.type)
        return next((e for e in seen if mark(world) in repr(e.action)), None)

    envelope = client.wait(what, come)
    expected = {"clientId": world.client(sender).client_id, "clientSeq": number}
    expect_equal(envelope.origin, expected, "the origin", frame=envelope.frame.n)
