"""Requests by name, and how they are answered.

A When sends and a Then awaits, so that a host which does not answer fails where an answer is owed.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from pytest_bdd import given, parsers, then, when

from conformance.client import HostClosed, Unreached
from conformance.oracle.reading import whole
from conformance.oracle.tracker import Reply
from conformance.protocol import ROOT_URI
from conformance.wire.errors import ConnectionLost
from scenarios.expect import expect, expect_equal, expect_error, expect_success
from scenarios.request_table import body_of
from scenarios.world import World


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


@then(parsers.re(r"the request succeeds(?P<null> with null)?"))
def succeeds(world: World, null: str | None) -> None:
    reply = answer(world)
    expect_success(reply, world.noted["asked"][2])
    message = reply.frame.msg
    expect(
        null is None or ("result" in message and message["result"] is None),
        "the result is not null",
        expected="result null",
        seen=message,
        frame=reply.frame.n,
    )


@then(parsers.re(r"the request is refused(?: with the code (?P<codes>-\d+(?: or -\d+)*))?"))
def is_refused(world: World, codes: str | None) -> None:
    wanted = [int(code) for code in codes.split(" or ")] if codes else []
    expect_error(answer(world), *wanted, what=world.noted["asked"][2])


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
    client.connection.send({"jsonrpc": "2.0", "id": number, "method": "ping", "params": {"channel": ROOT_URI}})
    world.noted["asked"] = (name, number, "ping")


@then("the answer carries the id of the request, unchanged")
def carries_id(world: World) -> None:
    name, number, _ = world.noted["asked"]
    client, since = world.client(name), world.noted["since"]
    frame = client.wait(
        f"answer with the id {number}",
        lambda: next(
            (
                f
                for f in client.connection.frames
                if f.n > since
                and f.dir == "in"
                and f.kind == "json"
                and isinstance(f.msg, dict)
                and "method" not in f.msg
            ),
            None,
        ),
    )
    seen = frame.msg.get("id")
    expect(
        whole(seen) == number,
        "the answer has another id",
        expected=number,
        seen=frame.msg,
        frame=frame.n,
    )
