"""Clients: who is connected, what they watch, and how a connection ends and comes back."""

from __future__ import annotations

from pytest_bdd import given, parsers, when

from conformance.client import Participant, Unreached
from scenarios.places import channel_of
from scenarios.world import World


def subscribe_to(world: World, client: Participant, what: str) -> None:
    """Subscribe a client to the channels that a step names, "nothing" being none."""
    for part in what.split(" and "):
        if part != "nothing":
            client.subscribe(channel_of(world, part))


@given(parsers.re(r'a client "(?P<name>[^"]+)" that watches (?:only )?(?P<what>.+)'))
@when(parsers.re(r'a client "(?P<name>[^"]+)" joins that watches (?P<what>.+)'))
def another(world: World, name: str, what: str) -> None:
    subscribe_to(world, world.stage.join(name), what)


@given(parsers.re(r'client "(?P<name>[^"]+)" watches (?P<what>.+?)(?: again)?'))
def watches(world: World, name: str, what: str) -> None:
    subscribe_to(world, world.client(name), what)


@given(parsers.re(r'client "(?P<name>[^"]+)" (?:loses|has lost) its connection'))
@when(parsers.re(r'client "(?P<name>[^"]+)" (?:loses|has lost) its connection'))
def loses(world: World, name: str) -> None:
    client = world.client(name)
    client.fence()
    world.noted[f"followed by {name}"] = list(client.view.channels)
    world.noted[f"last seen by {name}"] = _last_seen(client)
    client.drop()


@when(parsers.re(r'client "(?P<name>[^"]+)" comes back (?P<how>with all its subscriptions|without the session)'))
def comes_back(world: World, name: str, how: str = "with all its subscriptions") -> None:
    left_out = world.session if how == "without the session" else None
    reconnect(world, name, [uri for uri in world.noted[f"followed by {name}"] if uri != left_out])


def reconnect(world: World, name: str, channels: list[str]) -> None:
    """Open a new connection for the client and resume there."""
    client = world.client(name)
    client.reopen()
    world.reply = client.reconnect(channels, world.noted[f"last seen by {name}"])
    if world.reply.failed:
        raise Unreached("precondition-failed", f"reconnect was refused: {world.reply.error!r}")


def _last_seen(client: Participant) -> int:
    seen = [e.seq for e in client.mailbox.envelopes if isinstance(e.seq, int)]
    seen += [s.from_seq for s in client.mailbox.snapshots if isinstance(s.from_seq, int)]
    return max(seen, default=0)


@given(parsers.re(r'client "(?P<name>[^"]+)" (?:unsubscribes|has unsubscribed) from (?P<what>.+)'))
@when(parsers.re(r'client "(?P<name>[^"]+)" (?:unsubscribes|has unsubscribed) from (?P<what>.+)'))
def unsubscribes(world: World, name: str, what: str) -> None:
    """Done once a ping behind it is answered."""
    client = world.client(name)
    client.unsubscribe(channel_of(world, what))
    client.fence()
