"""Changes of a channel, and who hears of them."""

from __future__ import annotations

from contextlib import suppress

from pytest_bdd import given, parsers, then, when

from conformance.client import HostClosed, Participant, Silent, Unreached
from conformance.oracle.tracker import Envelope, Notification
from scenarios.expect import expect, expect_equal
from scenarios.places import carries, change, channel_of, harmless
from scenarios.world import World

# The text lets a host tell every client of these, or the subscribers of the root only.
TO_ALL = ("root/sessionAdded", "root/sessionRemoved")


@when(parsers.parse('client "{name}" creates that session and renames it'))
def creates_that(world: World, name: str) -> None:
    client = world.client(name)
    world.session = channel_of(world, "a session that is yet to come")
    _from_here_on(world)
    client.succeed("createSession", channel=world.session, provider=world.provider)
    client.subscribe(world.session)
    world.noted["echo"] = change(world, name, "the session")


def _from_here_on(world: World) -> None:
    """What each client receives counts from here on."""
    world.noted["changes"] = []
    for client in world.stage.clients.values():
        world.noted[f"mark of {client.name}"] = client.mark


@when(parsers.re(r'client "(?P<name>[^"]+)" (?:changes|has changed) (?P<what>.+)'))
@given(parsers.re(r'client "(?P<name>[^"]+)" (?:changes|has changed) (?P<what>.+)'))
def changes(world: World, name: str, what: str) -> None:
    """One change for each channel named: a new title of the session, a new draft in the chat."""
    _from_here_on(world)
    for part in what.split(" and "):
        echo = change(world, name, part)
        if echo is not None:
            world.noted["echo"] = echo


@when(parsers.parse('client "{name}" puts out a change of {what}'))
def puts_out(world: World, name: str, what: str) -> None:
    """Without awaiting the echo, which is judged."""
    action, text = harmless(what)
    uri = channel_of(world, what)
    _from_here_on(world)
    world.noted["changes"] = [(uri, action["type"], text)]
    world.client(name).dispatch(uri, action)


def received(world: World, name: str) -> list[Envelope]:
    """What a client has received since the last change."""
    client = world.client(name)
    return [e for e in client.mailbox.envelopes if e.frame.n > world.noted[f"mark of {name}"]]


@then(
    parsers.re(
        r'client "(?P<name>[^"]+)" receives the change'
        r"(?: of (?P<what>the session|the chat))?(?P<once> exactly once)?"
    )
)
def receives_change(world: World, name: str, what: str | None = None, once: str | None = None) -> None:
    client = world.client(name)
    for changed in world.noted["changes"]:
        if what is not None and changed[0] != channel_of(world, what):
            continue
        envelope = client.wait(
            f"{changed[1]} on {changed[0]}",
            lambda c=changed: next((e for e in received(world, name) if carries(e, c)), None),  # type: ignore[misc]
        )
        if not envelope.accepted:
            raise Unreached("precondition-failed", f"{changed[1]} was rejected: {envelope.rejection!r}")
        if once:
            client.fence()
            found = [e for e in received(world, name) if carries(e, changed)]
            expect_equal(len(found), 1, f"the number of deliveries of {changed[1]}", frame=found[-1].frame.n)


@then(parsers.parse('client "{name}" still receives what client "{other}" changes'))
def still_receives(world: World, name: str, other: str) -> None:
    """The host has read what was sent before as soon as its sender has a ping answered, or is closed, or is mute."""
    if "sender" in world.noted:
        with suppress(HostClosed, Silent):
            world.client(world.noted["sender"]).fence()
    changes(world, other, "the session")
    receives_change(world, name)


@then(parsers.parse('client "{name}" receives nothing of {what}'))
def receives_nothing_of(world: World, name: str, what: str) -> None:
    """The client that caused it all has its echo, so what was owed to others has been sent: a ping shows the end."""
    client = world.client(name)
    client.fence()
    channels = {channel_of(world, part) for part in what.split(" and ")}
    found = [e.frame for e in received(world, name) if e.channel in channels]
    found += [n.frame for n in _notices(client, world.noted[f"mark of {name}"]) if n.params.get("channel") in channels]
    expect(
        not found,
        f"client {name} receives what it has not subscribed to",
        expected=f"nothing of {what}",
        seen=found[0].msg if found else None,
        frame=found[0].n if found else None,
    )


def _notices(client: Participant, since: int) -> list[Notification]:
    """The notifications that only a subscriber may get."""
    return [n for n in client.mailbox.notifications if n.frame.n > since and n.method not in TO_ALL]


@then(parsers.parse('client "{name}" receives nothing at all'))
def receives_nothing(world: World, name: str) -> None:
    """From its first moment on. Requests of the host to its client are no deliveries."""
    client = world.client(name)
    client.fence()
    found = [e.frame for e in client.mailbox.envelopes] + [n.frame for n in _notices(client, -1)]
    expect(
        not found,
        f"client {name} receives messages without a subscription",
        expected="answers only",
        seen=found[0].msg if found else None,
        frame=found[0].n if found else None,
    )


@then(parsers.parse('client "{name}" is told of the change of the summary'))
def told_of_summary(world: World, name: str) -> None:
    """To say so is a recommendation; where it is not said there is nothing to judge behind it."""
    since = world.noted[f"mark of {name}"]
    try:
        world.client(name).await_notification(
            "root/sessionSummaryChanged", lambda params: params.get("session") == world.session, since=since
        )
    except Silent as silent:
        raise Unreached("timeout", str(silent)) from silent
