"""Actions that clients dispatch by name, right and wrong ones, and what becomes of them."""

from __future__ import annotations

from typing import Any

from pytest_bdd import given, parsers, then, when

from conformance.client import Participant, Unreached
from conformance.oracle.tracker import Envelope
from scenarios.action_table import ACTIONS, Act, essence, mark
from scenarios.expect import expect, expect_equal, expect_rejected
from scenarios.places import change, channel_of
from scenarios.world import World


def act_of(what: str) -> Act:
    try:
        return ACTIONS[what]
    except KeyError:
        raise LookupError(f"no action is called {what!r}") from None


def send_action(world: World, name: str, what: str, client_seq: int | None = None) -> None:
    """Dispatch without awaiting anything; remember what the state was before."""
    act, client = act_of(what), world.client(name)
    target = act.watch or act.channel
    if "does not exist" not in target:
        world.noted["state before"] = world.fresh(channel_of(world, target))
        if target == "the chat":
            world.before = world.noted["state before"]
    world.noted["since"] = client.mark
    action = {"type": act.type, **act.body(world)}
    number = client.dispatch(channel_of(world, act.channel), action, client_seq=client_seq)
    world.noted.setdefault("dispatches", []).append((name, what, number, action))


@when(parsers.parse('client "{name}" dispatches the action {what}'))
def dispatches_action(world: World, name: str, what: str) -> None:
    send_action(world, name, what)


@when(parsers.parse('client "{name}" twice dispatches the action {what}'))
def dispatches_twice(world: World, name: str, what: str) -> None:
    send_action(world, name, what)
    send_action(world, name, what)


@when(parsers.re(r'client "(?P<name>[^"]+)" dispatches renames with the clientSeq (?P<numbers>\d+(?:, \d+)*)'))
def dispatches_numbered(world: World, name: str, numbers: str) -> None:
    for number in numbers.split(", "):
        send_action(world, name, "session/titleChanged", int(number))


@given(parsers.parse('client "{name}" has had the action {what} rejected'))
def has_had_rejected(world: World, name: str, what: str) -> None:
    send_action(world, name, what)
    if _echo(world).accepted:
        raise Unreached("precondition-failed", f"{what} was not rejected")


def _last(world: World) -> tuple[Participant, str, int, Any]:
    name, what, number, action = world.noted["dispatches"][-1]
    return world.client(name), what, number, action


def _echo(world: World) -> Envelope:
    client, _, number, _ = _last(world)
    return client.echo(number)


@then("the host accepts the action")
def accepts(world: World) -> None:
    echo = _echo(world)
    expect(echo.accepted, f"{echo.type} was rejected", expected="no rejectionReason", seen=echo.message,
           frame=echo.frame.n)  # fmt: skip


@then("the host rejects the action")
def rejects(world: World) -> None:
    expect_rejected(_echo(world))


@then("each dispatch is echoed exactly once")
def echoed_once(world: World) -> None:
    for name, what, number, _ in world.noted["dispatches"]:
        client = world.client(name)
        client.echo(number)
        client.fence()
        found = client.echoes(number)
        expect_equal(len(found), 1, f"the number of echoes of {what}", frame=found[-1].frame.n)


@then("the host stays silent about it")
def stays_silent(world: World) -> None:
    """No echo, no error, no end of the connection, up to the answer to a request for the same channel.

    A host may look for the channel before it answers, and a ping would overtake that.
    """
    client, what, number, _ = _last(world)
    asked = client.call("subscribe", channel=channel_of(world, act_of(what).channel))
    client.fence()
    about = client.echoes(number)
    answers = [
        f for f in client.connection.frames
        if f.n > world.noted["since"] and f.dir == "in" and isinstance(f.msg, dict) and "error" in f.msg
        and f.n != asked.frame.n
    ]  # fmt: skip
    seen = [e.frame for e in about] + answers
    expect(not seen, f"the host does not ignore {what}", expected="no echo and no error",
           seen=seen[0].msg if seen else None, frame=seen[0].n if seen else None)  # fmt: skip


def _taken_for_accepted(world: World, client: Participant) -> list[Envelope]:
    """Accepted envelopes that this client got of the last dispatch, whatever origin they name."""
    sender, _, number, action = _last(world)
    own = client.client_id == sender.client_id
    return [
        e for e in client.mailbox.envelopes
        if e.accepted and e.frame.n > (world.noted["since"] if own else -1)
        and (e.action == action or (isinstance(e.origin, dict) and e.origin.get("clientId") == sender.client_id
                                    and e.origin.get("clientSeq") == number))
    ]  # fmt: skip


@then("nobody gets it as accepted")
def nobody_gets_it(world: World) -> None:
    """Up to an accepted change behind it, which everyone on the channel gets; on the root up to a ping."""
    sender, what, _, _ = _last(world)
    name, channel = world.noted["dispatches"][-1][0], act_of(what).channel
    sender.fence()
    followed = {c.name: c for c in world.stage.clients.values() if c.connection.closed is None}
    if channel in ("the session", "the chat"):
        behind = change(world, name, channel)
        for client in followed.values():
            if behind is not None and channel_of(world, channel) in client.view.subscribed:
                client.wait("the change behind the dispatch", lambda c=client, b=behind: next(  # type: ignore[misc]
                    (e for e in c.mailbox.envelopes if e.action == b.action), None))  # fmt: skip
    for client in followed.values():
        client.fence()
        found = _taken_for_accepted(world, client)
        expect(not found, f"{what} reaches client {client.name} as accepted", expected="no such envelope",
               seen=found[0].message if found else None, frame=found[0].frame.n if found else None)  # fmt: skip


@then("it takes no effect")
def no_effect(world: World) -> None:
    sender, what, _, _ = _last(world)
    act = act_of(what)
    sender.fence()
    state = world.fresh(channel_of(world, act.watch or act.channel))
    frame = world.stage.frames[-1].n
    before = world.noted["state before"]
    expect(mark(world) not in repr(state), f"{what} took effect", expected="the state without it",
           seen={act.member: state.get(act.member)}, frame=frame)  # fmt: skip
    expect_equal(essence(act.member, state), essence(act.member, before), f"{act.member} after {what}", frame=frame)


@then("a fresh snapshot shows its effect")
def shows_effect(world: World) -> None:
    _, what, _, action = _last(world)
    _echo(world)
    act = act_of(what)
    state = world.fresh(channel_of(world, act.channel))
    frame = world.stage.frames[-1].n
    if act.member == "status":
        bit, on = (32, action["isRead"]) if "isRead" in action else (64, action["isArchived"])
        seen = bool(state.get("status", 0) & bit)
        expect(seen is on, f"{what} had no effect", expected=f"bit {bit} {'set' if on else 'clear'}",
               seen=f"status {state.get('status')!r}", frame=frame)  # fmt: skip
    else:
        expect(mark(world) in repr(state.get(act.member)), f"{what} had no effect", expected=mark(world),
               seen=state.get(act.member), frame=frame)  # fmt: skip


@then("the list shows its effect")
def list_shows_effect(world: World) -> None:
    _echo(world)
    seen = (world.summary() or {}).get("title")
    expect_equal(seen, mark(world), "the title in the list", frame=world.stage.frames[-1].n)


@then(parsers.parse('client "{name}" gets it with the origin of client "{sender}"'))
def gets_with_origin(world: World, name: str, sender: str) -> None:
    _, what, number, _ = _last(world)
    client, kind = world.client(name), act_of(what).type
    envelope = client.wait(
        what,
        lambda: next(
            (e for e in client.mailbox.envelopes if e.accepted and e.type == kind and mark(world) in repr(e.action)),
            None,
        ),
    )
    expected = {"clientId": world.client(sender).client_id, "clientSeq": number}
    expect_equal(envelope.origin, expected, "the origin", frame=envelope.frame.n)
