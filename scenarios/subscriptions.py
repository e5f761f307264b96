"""Subscriptions: what a client gets of a channel, and what it must not get."""

from __future__ import annotations

from typing import Any

from pytest_bdd import parsers, then

from conformance.oracle.tracker import Envelope
from scenarios.expect import expect
from scenarios.places import channel_of
from scenarios.requests import answer
from scenarios.world import World


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
