"""What became of a dispatched action: who took it for accepted, and what is in the state."""

from __future__ import annotations

from contextlib import nullcontext, suppress

from pytest_bdd import parsers, then

from conformance.client import HostClosed, Participant
from conformance.oracle.tracker import Envelope
from scenarios.action_table import essence, mark
from scenarios.client_actions import act_of, echo_of, last_dispatch
from scenarios.expect import expect, expect_equal
from scenarios.places import change, channel_of
from scenarios.world import World


def _taken_for_accepted(world: World, client: Participant) -> list[Envelope]:
    """Accepted envelopes that this client got of the last dispatch, whatever origin they name."""
    sender, _, number, action = last_dispatch(world)
    own = client.client_id == sender.client_id
    return [
        e
        for e in client.mailbox.envelopes
        if e.accepted
        and e.frame.n > (world.noted["since"] if own else -1)
        and (
            e.action == action
            or (
                isinstance(e.origin, dict)
                and e.origin.get("clientId") == sender.client_id
                and e.origin.get("clientSeq") == number
            )
        )
    ]


def settle(world: World) -> None:
    """The host has taken in the last dispatch: a request for its channel is answered, or, from a client that does
    not follow the channel, a ping. Who is not welcome may also be shut out.
    """
    sender, what, _, _ = last_dispatch(world)
    channel = channel_of(world, act_of(what).channel)
    if channel in sender.view.subscribed:
        sender.call("subscribe", channel=channel)
        return
    with suppress(HostClosed) if sender.version is None else nullcontext():
        sender.fence()


@then("nobody gets it as accepted")
def nobody_gets_it(world: World) -> None:
    """Up to an accepted change behind it, which everyone on the channel gets; on the root up to a ping."""
    sender, what, _, _ = last_dispatch(world)
    channel = act_of(what).channel
    settle(world)
    followed = {c.name: c for c in world.stage.clients.values() if c.connection.closed is None}
    if channel in ("the session", "the chat"):
        follows = channel_of(world, channel) in sender.view.subscribed
        behind = change(world, sender.name if follows else "A", channel)
        for client in followed.values():
            if behind is not None and channel_of(world, channel) in client.view.subscribed:
                client.wait(
                    "the change behind the dispatch",
                    lambda c=client, b=behind: next(  # type: ignore[misc]
                        (e for e in c.mailbox.envelopes if e.action == b.action), None
                    ),
                )
    for client in followed.values():
        client.fence()
        found = _taken_for_accepted(world, client)
        expect(
            not found,
            f"{what} reaches client {client.name} as accepted",
            expected="no such envelope",
            seen=found[0].message if found else None,
            frame=found[0].frame.n if found else None,
        )


@then("it takes no effect")
def no_effect(world: World) -> None:
    _, what, _, _ = last_dispatch(world)
    act = act_of(what)
    settle(world)
    state = world.fresh(channel_of(world, act.watch or act.channel))
    frame = world.stage.frames[-1].n
    before = world.noted["state before"]
    expect(
        mark(world) not in repr(state),
        f"{what} took effect",
        expected="the state without it",
        seen={act.member: state.get(act.member)},
        frame=frame,
    )
    expect_equal(essence(act.member, state), essence(act.member, before), f"{act.member} after {what}", frame=frame)


@then(parsers.re("(?P<where>a fresh snapshot|the list) shows its effect"))
def shows_effect(world: World, where: str) -> None:
    _, what, _, action = last_dispatch(world)
    echo_of(world)
    act = act_of(what)
    state = world.fresh(channel_of(world, act.channel)) if where == "a fresh snapshot" else world.summary() or {}
    frame = world.stage.frames[-1].n
    if act.member == "status":
        bit, on = (32, action["isRead"]) if "isRead" in action else (64, action["isArchived"])
        seen = bool(state.get("status", 0) & bit)
        expect(
            seen is on,
            f"{what} had no effect",
            expected=f"bit {bit} {'set' if on else 'clear'}",
            seen=f"status {state.get('status')!r}",
            frame=frame,
        )
    else:
        expect(
            mark(world) in repr(state.get(act.member)),
            f"{what} had no effect",
            expected=mark(world),
            seen=state.get(act.member),
            frame=frame,
        )
