"""Requests by name, and how they are answered.

A When sends and a Then awaits, so that a host which does not answer fails where an answer is owed.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from pytest_bdd import given, parsers, then, when

from conformance.client import HostClosed, Participant, Unreached
from conformance.oracle.tracker import Reply
from conformance.protocol import ROOT_URI
from conformance.wire.errors import ConnectionLost
from scenarios.expect import expect, expect_equal, expect_error, expect_success
from scenarios.handshakes import HANDSHAKES, handshake
from scenarios.places import channel_of
from scenarios.world import World

Body = tuple[str, Any]
UNKNOWN = {"conformanceUnknown": {"x": 1}}


def _on(method: str, channel: str, **more: Any) -> Callable[[World, Participant], Body]:
    return lambda world, client: (method, {"channel": channel_of(world, channel), **more})


def _create(world: World, client: Participant, **more: Any) -> Body:
    uri = world.noted.setdefault("asked session", world.stage.new_session_uri())
    return "createSession", {"channel": uri, "provider": world.provider, **more}


def _unknown_provider(world: World, client: Participant) -> Body:
    return _create(world, client, provider="no-such-agent")


REQUESTS: dict[str, Callable[[World, Participant], Body]] = {
    "ping": _on("ping", "the root"),
    "the list of sessions": _on("listSessions", "the root"),
    "the list of sessions, with an unknown member": _on("listSessions", "the root", **UNKNOWN),
    "the list of sessions on the session": _on("listSessions", "the session"),
    "a method that does not exist": _on("conformanceUnknown", "the root"),
    "dispatchAction": _on("dispatchAction", "the root", clientSeq=1, action={"type": "root/unknown"}),
    "unsubscribe": _on("unsubscribe", "the root"),
    "a subscription without a channel": lambda world, client: ("subscribe", {}),
    "a subscription to a number": lambda world, client: ("subscribe", {"channel": 42}),
    "a subscription with text in place of params": lambda world, client: ("subscribe", "ahp-root://"),
    "a session without a channel": lambda world, client: ("createSession", {"provider": world.provider}),
    "a session at a number": lambda world, client: ("createSession", {"channel": 42, "provider": world.provider}),
    "the disposal of a number": lambda world, client: ("disposeSession", {"channel": 42}),
    "a subscription to the session, with an unknown member": _on("subscribe", "the session", **UNKNOWN),
    "a new session": _create,
    "a new session, with an unknown member": lambda world, client: _create(world, client, **UNKNOWN),
    "a new session of an unknown provider": _unknown_provider,
    "a new session at the URI of the session": lambda world, client: (
        "createSession",
        {"channel": world.session, "provider": world.provider},
    ),
    "the disposal of the session": _on("disposeSession", "the session"),
    "the disposal of a session that does not exist": _on("disposeSession", "a session that does not exist"),
}


def body_of(world: World, client: Participant, what: str) -> Body:
    """The method and params of a request that a step names."""
    if what in REQUESTS:
        return REQUESTS[what](world, client)
    if what in HANDSHAKES:
        return "initialize", handshake(world, client, what)
    prefix = "a subscription to "
    if what.startswith(prefix):
        return "subscribe", {"channel": channel_of(world, what.removeprefix(prefix))}
    raise LookupError(f"no request is called {what!r}")


def send_request(world: World, name: str, what: str) -> int:
    """Send a request as it is, right or wrong, and return its id."""
    client = world.client(name)
    method, params = body_of(world, client, what)
    world.noted["since"] = client.mark
    world.noted["params"] = params
    try:
        number = client.connection.request(method, params)
    except ConnectionLost as lost:
        raise HostClosed(f"sending {method}", None, str(lost)) from lost
    world.noted["asked"] = (name, number, method)
    return number


def answer(world: World) -> Reply:
    """Await the answer to the last request."""
    name, number, method = world.noted["asked"]
    client = world.client(name)
    world.reply = client.wait(f"answer to {method}", lambda: client.mailbox.replies.get(number))
    return world.reply


@when(parsers.parse('client "{name}" requests {what}'))
def requests(world: World, name: str, what: str) -> None:
    send_request(world, name, what)


@given(parsers.parse('client "{name}" was refused {what}'))
def was_refused(world: World, name: str, what: str) -> None:
    send_request(world, name, what)
    if not answer(world).failed:
        raise Unreached("precondition-failed", f"the request for {what} was not refused")


@then("the request succeeds")
def succeeds(world: World) -> None:
    expect_success(answer(world), world.noted["asked"][2])


@then("the request succeeds with null")
def succeeds_with_null(world: World) -> None:
    reply = answer(world)
    expect_success(reply, world.noted["asked"][2])
    message = reply.frame.msg
    expect(
        "result" in message and message["result"] is None,
        "the result is not null",
        expected="result null",
        seen=message,
        frame=reply.frame.n,
    )


@then("the request is refused")
def is_refused(world: World) -> None:
    expect_error(answer(world), what=world.noted["asked"][2])


@then(parsers.re(r"the request is refused with the code (?P<codes>-\d+(?: or -\d+)*)"))
def is_refused_with(world: World, codes: str) -> None:
    expect_error(answer(world), *(int(c) for c in codes.split(" or ")), what=world.noted["asked"][2])


@then("the request is answered exactly once")
def answered_once(world: World) -> None:
    reply = answer(world)
    name, number, method = world.noted["asked"]
    client = world.client(name)
    with suppress(HostClosed):  # then nothing more can come
        client.fence()
    count = len([f for f in client.connection.frames if f.dir == "in" and _answers(f.msg, number)])
    expect_equal(count, 1, f"the number of answers to {method}", frame=reply.frame.n)
    expect(
        ("result" in reply.frame.msg) != ("error" in reply.frame.msg),
        "the answer is neither a result nor an error",
        expected="one of result and error",
        seen=reply.frame.msg,
        frame=reply.frame.n,
    )


def _answers(message: Any, number: int) -> bool:
    return isinstance(message, dict) and "method" not in message and message.get("id") == number


@when(parsers.parse('client "{name}" pings with the id {number:d}'))
def pings_with(world: World, name: str, number: int) -> None:
    client = world.client(name)
    world.noted["since"] = client.mark
    client.connection.send(
        {"jsonrpc": "2.0", "id": number, "method": "ping", "params": {"channel": ROOT_URI}}
    )
    world.noted["asked"] = (name, number, "ping")


@then("the answer carries the id of the request, unchanged")
def carries_id(world: World) -> None:
    name, number, _ = world.noted["asked"]
    client, since = world.client(name), world.noted["since"]
    frame = client.wait(
        f"answer with the id {number}",
        lambda: next(
            (f for f in client.connection.frames if f.n > since and f.dir == "in" and f.kind == "json"
             and isinstance(f.msg, dict) and "method" not in f.msg), None,
        ),
    )  # fmt: skip
    seen = frame.msg.get("id")
    expect(
        seen == number and not isinstance(seen, bool | float | str),
        "the answer has another id",
        expected=number,
        seen=frame.msg,
        frame=frame.n,
    )
