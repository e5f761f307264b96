"""Many actions at once: their order, and a client that comes in between."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from pytest_bdd import parsers, then, when

from conformance.client import Unreached
from scenarios.expect import expect, expect_equal
from scenarios.world import World

MANY = 50
BURST = 20


def _rename(world: World, name: str) -> str:
    title = f"{name} {uuid4()}"
    client = world.client(name)
    number = client.dispatch(world.session, {"type": "session/titleChanged", "title": title})
    world.noted.setdefault("dispatched", []).append((name, number, title))
    return title


@when(parsers.parse('client "{name}" dispatches fifty actions, every fifth of them for a turn that is not there'))
def dispatches_fifty(world: World, name: str) -> None:
    client = world.client(name)
    world.noted["numbers"] = [
        client.dispatch(
            world.chat,
            {"type": "chat/turnCancelled", "turnId": f"none-{n}", "duration": 0}
            if n % 5 == 4
            else {"type": "chat/draftChanged", "draft": {"text": f"Draft {n}", "origin": {"kind": "user"}}},
        )
        for n in range(MANY)
    ]


@then(parsers.parse('client "{name}" gets an echo of each, in the order in which it dispatched them'))
def echoes_in_order(world: World, name: str) -> None:
    client = world.client(name)
    wanted: list[int] = world.noted["numbers"]
    for number in wanted:
        client.echo(number)
    seen = [
        e.origin.get("clientSeq")
        for e in client.mailbox.envelopes
        if isinstance(e.origin, dict) and e.origin.get("clientId") == client.client_id
    ]
    expect_equal([n for n in seen if n in wanted], wanted, "the order of the echoes", frame=client.mark)


@when(parsers.parse('clients "{one}" and "{other}" rename the session fifty times each at once'))
def rename_at_once(world: World, one: str, other: str) -> None:
    for _ in range(MANY):
        _rename(world, one)
        _rename(world, other)


def _all_delivered(world: World) -> None:
    """Each client has the echo of its own last rename, and all have the last one of all.

    The renames of others before it a host may merge.
    """
    echoes = []
    for name, number in {name: number for name, number, _ in world.noted["dispatched"]}.items():
        echoes.append(world.client(name).echo(number))
        if not echoes[-1].accepted:
            raise Unreached("precondition-failed", f"a rename by client {name} was rejected")
    last = max(echoes, key=lambda echo: echo.seq)
    for name in {name for name, _, _ in world.noted["dispatched"]}:
        world.client(name).await_action(world.session, "session/titleChanged", title=last.get("title"))


@then(parsers.parse('clients "{one}" and "{other}" see the renames in one order'))
def one_order(world: World, one: str, other: str) -> None:
    _all_delivered(world)
    first, second = (list(world.client(n).envelopes(world.session, "session/titleChanged")) for n in (one, other))
    both = {e.get("title") for e in first} & {e.get("title") for e in second}
    orders = [[e.get("title") for e in seen if e.get("title") in both] for seen in (first, second)]
    expect(both, "the clients have no rename in common", expected="the same renames", seen=orders)
    expect_equal(orders[1], orders[0], f"the order that client {other} sees", frame=second[-1].frame.n)
    world.noted["last title"] = orders[0][-1]


@then("a fresh snapshot has the title of the last")
def last_title(world: World) -> None:
    state = world.fresh(world.session)
    expect_equal(state.get("title"), world.noted["last title"], "the title", frame=world.stage.frames[-1].n)


@when(parsers.parse('client "{late}" subscribes to the session while client "{busy}" keeps changing it'))
def subscribes_meanwhile(world: World, late: str, busy: str) -> None:
    """Title and both flags change before the subscription, around it, and the title once more after it."""
    _burst(world, busy, flag=False)
    asked = world.client(late).ask("subscribe", channel=world.session)
    _burst(world, busy, flag=True)
    world.noted["asked"] = (late, asked, "subscribe")
    world.client(late).answer(asked)
    _rename(world, busy)
    _, number, _ = world.noted["dispatched"][-1]
    if not world.client(busy).echo(number).accepted:
        raise Unreached("precondition-failed", "the last rename was rejected")


def _burst(world: World, name: str, *, flag: bool) -> None:
    for _ in range(BURST):
        _rename(world, name)
        for kind, member in (("session/isReadChanged", "isRead"), ("session/isArchivedChanged", "isArchived")):
            world.client(name).dispatch(world.session, {"type": kind, member: flag})


@then(parsers.parse('client "{late}" comes to hold what a fresh snapshot holds'))
def holds_last(world: World, late: str) -> None:
    client, title = world.client(late), world.noted["dispatched"][-1][2]

    def folded() -> Any:
        view = client.view.channels.get(world.session)
        state = view.state if view is not None else None
        return state if isinstance(state, dict) and state.get("title") == title else None

    held = client.wait(f"title {title} in the fold of client {late}", folded)
    fresh = world.fresh(world.session)
    seen, wanted = ({"title": s.get("title"), "flags": s.get("status", 0) & 96} for s in (held, fresh))
    expect_equal(seen, wanted, f"what client {late} holds", frame=client.mark)


@then(parsers.parse('client "{late}" receives nothing that its snapshot contained'))
def nothing_twice(world: World, late: str) -> None:
    client = world.client(late)
    title = world.noted["dispatched"][-1][2]
    snapshot = client.wait(
        "snapshot", lambda: next((s for s in client.mailbox.snapshots if s.channel == world.session), None)
    )
    if snapshot.state.get("title") != title:
        client.await_action(world.session, "session/titleChanged", title=title)
    client.fence()
    old = [e for e in client.envelopes(world.session) if e.frame.n > snapshot.frame.n and e.seq <= snapshot.from_seq]
    expect(
        not old,
        "an action is delivered that the snapshot contained",
        expected=f"numbers above {snapshot.from_seq}",
        seen=old[0].message if old else None,
        frame=old[0].frame.n if old else None,
    )
