"""Clients: who is connected, what they watch, and how a connection ends and comes back."""

from __future__ import annotations

from pytest_bdd import given, parsers, when

from conformance.client import Participant, Unreached
from conformance.protocol import ROOT_URI
from scenarios.world import World

_WATCHES = {
    "nothing": (),
    "the root": ("root",),
    "the session": ("session",),
    "the chat": ("chat",),
    "the session and the chat": ("session", "chat"),
    "the root and the session": ("root", "session"),
}


def subscribe_to(world: World, client: Participant, what: str) -> None:
    """Subscribe a client to what a step names."""
    uris = {"root": ROOT_URI, "session": world.session, "chat": world.chat}
    try:
        chosen = [uris[name] for name in _WATCHES[what]]
    except KeyError:
        raise LookupError(f"a client can watch {', '.join(_WATCHES)}; not {what!r}") from None
    for uri in chosen:
        client.subscribe(uri)


@given("a connected client")
def connected(world: World) -> None:
    world.stage.join("A")


@given(parsers.re(r'a client "(?P<name>[^"]+)" that watches (?:only )?(?P<what>.+)'))
@when(parsers.parse('a client "{name}" joins that watches {what}'))
def another(world: World, name: str, what: str) -> None:
    subscribe_to(world, world.stage.join(name), what)


@when(parsers.parse('client "{name}" loses its connection'))
def loses(world: World, name: str) -> None:
    client = world.client(name)
    client.fence()
    world.noted[f"followed by {name}"] = list(client.view.channels)
    world.noted[f"last seen by {name}"] = _last_seen(client)
    client.drop()


@when(parsers.parse('client "{name}" comes back with all its subscriptions'))
def comes_back(world: World, name: str) -> None:
    reconnect(world, name, world.noted[f"followed by {name}"])


@when(parsers.parse('client "{name}" comes back without the session'))
def comes_back_without(world: World, name: str) -> None:
    reconnect(world, name, [u for u in world.noted[f"followed by {name}"] if u != world.session])


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


@when(parsers.parse('client "{name}" unsubscribes from {what}'))
def unsubscribes(world: World, name: str, what: str) -> None:
    uris = {"the session": world.session, "the chat": world.chat, "the root": ROOT_URI}
    world.client(name).unsubscribe(uris[what])
