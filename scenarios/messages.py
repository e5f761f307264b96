"""Single messages below the level of commands: notifications that nobody answers, and text that is no request."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

from pytest_bdd import parsers, then, when

from conformance.client import HostClosed, Participant, Silent
from conformance.wire.frames import Frame
from scenarios.expect import expect
from scenarios.places import channel_of
from scenarios.world import World

ODD_ID = 700_007

Params = Callable[[World], dict[str, Any]]


def _dispatch(channel: str, action: Any) -> tuple[str, Params]:
    return "dispatchAction", lambda world: {
        "channel": channel_of(world, channel),
        "clientSeq": 1,
        **({} if action is None else {"action": action}),
    }


_RENAME = {"type": "session/titleChanged", "title": "Renamed"}

# Messages without an id.
NOTIFICATIONS: dict[str, tuple[str, Params]] = {
    "an unsubscribe from a channel that it has not subscribed to": (
        "unsubscribe",
        lambda world: {"channel": channel_of(world, "the root")},
    ),
    "an unsubscribe from a session that does not exist": (
        "unsubscribe",
        lambda world: {"channel": channel_of(world, "a session that does not exist")},
    ),
    "an action": _dispatch("the session", _RENAME),
    "a dispatch without an action": _dispatch("the session", None),
    "an action for a session that does not exist": _dispatch("a session that does not exist", _RENAME),
    "a notification that does not exist": (
        "conformanceUnknown",
        lambda world: {"channel": channel_of(world, "the root")},
    ),
    "a subscribe without an id": ("subscribe", lambda world: {"channel": channel_of(world, "the session")}),
}

# What is not even a message of JSON-RPC.
TEXTS: dict[str, str] = {
    "text that is not JSON": "{",
    "an empty text": "",
    "a bare number": "42",
    "an object with an id alone": f'{{"jsonrpc":"2.0","id":{ODD_ID}}}',
}


@when(parsers.parse('client "{name}" sends {what}'))
def sends(world: World, name: str, what: str) -> None:
    client = world.client(name)
    world.noted["since"], world.noted["sender"] = client.mark, name
    if what in TEXTS:
        client.connection.send_text(TEXTS[what])
    elif what in NOTIFICATIONS:
        method, params = NOTIFICATIONS[what]
        client.notify(method, **params(world))
    else:
        raise LookupError(f"no message is called {what!r}")


def _responses(world: World) -> tuple[list[Frame], int | None]:
    """What answers came since the message, and the frame of the ping behind it (None: the host closed)."""
    client = world.client(world.noted["sender"])
    try:
        fence: int | None = client.fence()
    except HostClosed:
        fence = None
    return [f for f in _answers(client, world.noted["since"]) if f.n != fence], fence


def _answers(client: Participant, since: int) -> Iterator[Frame]:
    """The responses that a client got since a frame."""
    frames = (f for f in client.connection.frames if f.n > since and f.dir == "in")
    return (f for f in frames if isinstance(f.msg, dict) and "method" not in f.msg)


@then("it is not answered")
def not_answered(world: World) -> None:
    found, fence = _responses(world)
    expect(
        not found,
        "a message without an id is answered",
        expected="no response",
        seen=found[0].msg if found else None,
        frame=found[0].n if found else None,
    )
    expect(fence is not None, "the host closes the connection", expected="an open connection", seen="closed")


@then(parsers.re(r"it is refused with the code (?P<code>-\d+)(?P<closing>, or the connection is closed)?"))
def refused_with(world: World, code: str, closing: str | None) -> None:
    """The id is that of the message or null: JSON-RPC wants null where the host cannot tell the id (A-30)."""
    client = world.client(world.noted["sender"])
    with suppress(Silent, HostClosed):
        # Nobody says that a ping waits for what came before it.
        client.wait("a refusal", lambda: next(_answers(client, world.noted["since"]), None))
    found, fence = _responses(world)
    if closing and fence is None:
        return
    errors = [f for f in found if f.msg.get("id") in (ODD_ID, None)]
    seen = [f.msg["error"].get("code") if isinstance(f.msg.get("error"), dict) else None for f in errors]
    expect(
        seen == [int(code)],
        "the text is not refused as it should be",
        expected=f"one error with code {code}{closing or ''}",
        seen=[f.msg for f in found],
        frame=fence,
    )
