"""Single messages below the level of commands: notifications that nobody answers, and text that is no request."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import uuid4

from pytest_bdd import parsers, then, when

from conformance.client import HostClosed
from conformance.wire.frames import Frame
from scenarios.expect import expect
from scenarios.places import change, channel_of
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


@when(parsers.parse('client "{name}" dispatches an action to the session'))
def dispatches_to_session(world: World, name: str) -> None:
    client = world.client(name)
    world.noted["title"] = f"Early {uuid4()}"
    action = {"type": "session/titleChanged", "title": world.noted["title"]}
    client.dispatch(world.session, action)


@then(parsers.parse('client "{name}" sees nothing of it, and the session is as it was'))
def sees_nothing(world: World, name: str) -> None:
    for client in list(world.stage.clients.values()):
        client.fence()
    change(world, name, "the session")
    title = world.noted["title"]
    found = [e for e in world.client(name).envelopes(world.session) if e.get("title") == title]
    state = world.fresh(world.session)
    expect(
        not found and state.get("title") != title,
        "an action counts that came before the handshake",
        expected="no such action",
        seen=found[0].message if found else state.get("title"),
        frame=found[0].frame.n if found else world.stage.frames[-1].n,
    )


def _responses(world: World) -> tuple[list[Frame], int | None]:
    """What answers came since the message, and the frame of the ping behind it (None: the host closed)."""
    client = world.client(world.noted["sender"])
    try:
        fence: int | None = client.fence()
    except HostClosed:
        fence = None
    return [
        f
        for f in client.connection.frames
        if f.n > world.noted["since"]
        and f.dir == "in"
        and f.n != fence
        and isinstance(f.msg, dict)
        and "method" not in f.msg
    ], fence


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


@then(parsers.parse("it is reported with the code {code:d}, or the connection is closed"))
def reported(world: World, code: int) -> None:
    found, fence = _responses(world)
    if fence is None:
        return
    codes = [(f.msg.get("error") or {}).get("code") for f in found]
    expect(
        code in codes,
        "the text is swallowed",
        expected=f"an error with code {code}, or the close",
        seen=[f.msg for f in found],
        frame=fence,
    )


@then(parsers.parse("it is refused with the code {code:d}"))
def refused_with(world: World, code: int) -> None:
    found, fence = _responses(world)
    errors = [f for f in found if f.msg.get("id") == ODD_ID]
    seen = [(f.msg.get("error") or {}).get("code") for f in errors]
    expect(
        seen == [code],
        "the object is not refused as it must be",
        expected=f"one error with code {code}",
        seen=[f.msg for f in found],
        frame=fence,
    )
