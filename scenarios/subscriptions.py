"""Subscriptions: what a client gets of a channel, and what it must not get."""

from __future__ import annotations

from typing import Any

from pytest_bdd import given, parsers, then, when

from conformance.oracle.tracker import Envelope
from conformance.protocol import ROOT_URI
from scenarios.expect import expect, expect_equal
from scenarios.places import carries, change, channel_of
from scenarios.requests import answer
from scenarios.world import World

VIEW = {"turns": 1, "conformanceUnknown": True}


@then(parsers.parse("the answer holds the snapshot of {what}"))
def holds_snapshot(world: World, what: str) -> None:
    reply = answer(world)
    result: Any = reply.result
    snapshot = result.get("snapshot") if isinstance(result, dict) else None
    seen = snapshot if isinstance(snapshot, dict) else {}
    expect(
        seen.get("resource") == channel_of(world, what)
        and isinstance(seen.get("state"), dict)
        and seen["state"] != {}
        and isinstance(seen.get("fromSeq"), int | float),
        f"the answer does not hold the snapshot of {what}",
        expected=f"snapshot with resource {channel_of(world, what)}, state and fromSeq",
        seen=reply.frame.msg,
        frame=reply.frame.n,
    )


@when(parsers.parse('client "{name}" subscribes to {what} with a view that does not fit'))
def subscribes_with_view(world: World, name: str, what: str) -> None:
    number = world.client(name).ask("subscribe", channel=channel_of(world, what), view=VIEW)
    world.noted["asked"] = (name, number, "subscribe")


@given(parsers.parse('client "{name}" has subscribed to {what} again'))
def subscribed_again(world: World, name: str, what: str) -> None:
    world.client(name).subscribe(channel_of(world, what))


@given(parsers.parse('client "{name}" has unsubscribed from {what}'))
def has_unsubscribed(world: World, name: str, what: str) -> None:
    """Done once a ping behind it is answered."""
    client = world.client(name)
    client.unsubscribe(channel_of(world, what))
    client.fence()


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


def received(world: World, name: str) -> list[Envelope]:
    """What a client has received since the last change."""
    client = world.client(name)
    return [e for e in client.mailbox.envelopes if e.frame.n > world.noted[f"mark of {name}"]]


@then(parsers.parse('client "{name}" receives the change'))
def receives_change(world: World, name: str) -> None:
    client = world.client(name)
    for changed in world.noted["changes"]:
        client.wait(
            f"{changed[1]} on {changed[0]}",
            lambda c=changed: next((e for e in received(world, name) if carries(e, c) and e.accepted), None),  # type: ignore[misc]
        )


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
        if f.n > since and f.dir == "in" and isinstance(f.msg, dict) and "method" in f.msg
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
        "root/sessionSummaryChanged", lambda params: params.get("session") == world.session
    )


@then(parsers.parse('client "{name}" has been told nothing of the root'))
def told_nothing_of_root(world: World, name: str) -> None:
    client = world.client(name)
    client.fence()
    told = [n.frame for n in client.mailbox.notifications if n.method.startswith("root/")]
    told += [e.frame for e in client.mailbox.envelopes if e.channel == ROOT_URI]
    expect(not told, f"client {name} is told of the root without a subscription", expected="nothing of the root",
           seen=told[0].msg if told else None, frame=told[0].n if told else None)  # fmt: skip


@then("the snapshot holds the change, and its number is not behind")
def snapshot_holds_change(world: World) -> None:
    reply = answer(world)
    echo: Envelope = world.noted["echo"]
    snapshot = reply.result.get("snapshot") if isinstance(reply.result, dict) else None
    snapshot = snapshot if isinstance(snapshot, dict) else {}
    state, seq = snapshot.get("state"), snapshot.get("fromSeq")
    expect(
        isinstance(state, dict)
        and state.get("title") == echo.get("title")
        and isinstance(seq, int | float)
        and seq >= echo.seq,
        "the second snapshot is older than the change",
        expected={"title": echo.get("title"), "fromSeq": f"at least {echo.seq}"},
        seen={"title": (state or {}).get("title"), "fromSeq": seq},
        frame=reply.frame.n,
    )
