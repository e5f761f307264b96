"""Changes of a channel, and who hears of them."""

from __future__ import annotations

from pytest_bdd import given, parsers, then, when

from conformance.client import Unreached
from conformance.oracle.tracker import Envelope
from conformance.protocol import ROOT_URI
from scenarios.expect import expect, expect_equal
from scenarios.places import carries, change, channel_of, harmless
from scenarios.world import World

# The text lets a host tell every client of these, or the subscribers of the root only.
TO_ALL = ("root/sessionAdded", "root/sessionRemoved")


@when(parsers.parse('client "{name}" creates that session and renames it'))
def creates_that(world: World, name: str) -> None:
    client = world.client(name)
    world.session = channel_of(world, "a session that is yet to come")
    client.succeed("createSession", channel=world.session, provider=world.provider)
    client.subscribe(world.session)
    changes(world, name, "the session")


@when(parsers.parse('client "{name}" changes {what}'))
@given(parsers.parse('client "{name}" has changed {what}'))
def changes(world: World, name: str, what: str) -> None:
    """One change for each channel named: a new title of the session, a new draft in the chat."""
    world.noted["changes"] = []
    for client in world.stage.clients.values():
        world.noted[f"mark of {client.name}"] = client.mark
    for part in what.split(" and "):
        echo = change(world, name, part)
        if echo is not None:
            world.noted["echo"] = echo


@when(parsers.parse('client "{name}" puts out a change of {what}'))
def puts_out(world: World, name: str, what: str) -> None:
    """Without awaiting the echo, which is judged."""
    action, text = harmless(what)
    uri = channel_of(world, what)
    for client in world.stage.clients.values():
        world.noted[f"mark of {client.name}"] = client.mark
    world.noted["changes"] = [(uri, action["type"], text)]
    world.client(name).dispatch(uri, action)


def received(world: World, name: str) -> list[Envelope]:
    """What a client has received since the last change."""
    client = world.client(name)
    return [e for e in client.mailbox.envelopes if e.frame.n > world.noted[f"mark of {name}"]]


@then(parsers.parse('client "{name}" receives the change'))
def receives_change(world: World, name: str) -> None:
    client = world.client(name)
    for changed in world.noted["changes"]:
        envelope = client.wait(
            f"{changed[1]} on {changed[0]}",
            lambda c=changed: next((e for e in received(world, name) if carries(e, c)), None),  # type: ignore[misc]
        )
        if not envelope.accepted:
            raise Unreached("precondition-failed", f"{changed[1]} was rejected: {envelope.rejection!r}")


@then(parsers.parse('client "{name}" receives the change of {what}'))
def receives_change_of(world: World, name: str, what: str) -> None:
    world.noted["changes"] = [c for c in world.noted["changes"] if c[0] == channel_of(world, what)]
    receives_change(world, name)


@then(parsers.parse('client "{name}" still receives what client "{other}" changes'))
def still_receives(world: World, name: str, other: str) -> None:
    changes(world, other, "the session")
    receives_change(world, name)


@then(parsers.parse('client "{name}" receives the change exactly once'))
def receives_once(world: World, name: str) -> None:
    receives_change(world, name)
    world.client(name).fence()
    for changed in world.noted["changes"]:
        found = [e for e in received(world, name) if carries(e, changed)]
        expect_equal(len(found), 1, f"the number of deliveries of {changed[1]}", frame=found[-1].frame.n)


@then(parsers.parse('client "{name}" receives nothing of {what}'))
def receives_nothing_of(world: World, name: str, what: str) -> None:
    """The client that caused it all has its echo, so what was owed to others has been sent: a ping shows the end."""
    world.client(name).fence()
    channels = {channel_of(world, part) for part in what.split(" and ")}
    found = [e for e in received(world, name) if e.channel in channels]
    expect(
        not found,
        f"client {name} receives what it has not subscribed to",
        expected=f"no envelope of {what}",
        seen=found[0].message if found else None,
        frame=found[0].frame.n if found else None,
    )


@then(parsers.parse('client "{name}" receives nothing at all'))
def receives_nothing(world: World, name: str) -> None:
    client = world.client(name)
    client.fence()
    since = world.noted.get(f"mark of {name}", -1)
    found = [
        f
        for f in client.connection.frames
        if f.n > since
        and f.dir == "in"
        and isinstance(f.msg, dict)
        and "method" in f.msg
        and f.msg["method"] not in TO_ALL
    ]
    expect(
        not found,
        f"client {name} receives messages without a subscription",
        expected="answers only",
        seen=found[0].msg if found else None,
        frame=found[0].n if found else None,
    )


@given(parsers.parse('client "{name}" has been told of the change of the summary'))
def told_of_summary(world: World, name: str) -> None:
    world.client(name).await_notification(
        "root/sessionSummaryChanged",
        lambda params: params.get("session") == world.session,
        since=world.noted[f"mark of {name}"],
    )


@then(parsers.parse('client "{name}" has been told nothing of the root'))
def told_nothing_of_root(world: World, name: str) -> None:
    client = world.client(name)
    client.fence()
    told = [n.frame for n in client.mailbox.notifications if n.method.startswith("root/") and n.method not in TO_ALL]
    told += [e.frame for e in client.mailbox.envelopes if e.channel == ROOT_URI]
    expect(
        not told,
        f"client {name} is told of the root without a subscription",
        expected="nothing of the root",
        seen=told[0].msg if told else None,
        frame=told[0].n if told else None,
    )
