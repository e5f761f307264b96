"""The clients that are active in a session: how they get on the list, and how the host takes them off it."""

from __future__ import annotations

from typing import Any

from pytest_bdd import given, parsers, then, when

from conformance.client import Broken, NotClaimed, Participant, Silent, Unreached
from scenarios.expect import expect, expect_equal
from scenarios.world import World

_ROUNDS = 50


def entry_of(world: World, client: Participant, state: Any) -> Any:
    """The entries of a client in a session state; right is one."""
    clients = state.get("activeClients") or []
    return [e for e in clients if isinstance(e, dict) and e.get("clientId") == client.client_id]


def _set_active(world: World, name: str, *tools: str) -> int:
    client = world.client(name)
    entry = {
        "clientId": client.client_id,
        "tools": [{"name": tool, "inputSchema": {"type": "object"}} for tool in tools],
    }
    world.noted[f"entry of {name}"] = entry
    return client.dispatch(world.session, {"type": "session/activeClientSet", "activeClient": entry})


@when(parsers.re(r'client "(?P<name>[^"]+)" makes itself active (?:with the tool "(?P<tool>[^"]+)"|without tools)'))
def makes_active(world: World, name: str, tool: str | None) -> None:
    world.noted["switch"] = (world.client(name), _set_active(world, name, *([tool] if tool else [])))


@given(parsers.parse('client "{name}" is active with the tool "{tool}"'))
def is_active(world: World, name: str, tool: str) -> None:
    client = world.client(name)
    if not client.echo(_set_active(world, name, tool)).accepted:
        raise Unreached("precondition-failed", f"client {name} may not become active")
    if len(entry_of(world, client, world.fresh(world.session))) != 1:
        raise Unreached("precondition-failed", f"client {name} is not active once")


@when(parsers.parse('client "{name}" takes {whom} off the active clients'))
def takes_off(world: World, name: str, whom: str) -> None:
    client = world.client(name)
    client_id = client.client_id if whom == "itself" else "nobody-of-that-name"
    world.noted["since"] = client.mark
    number = client.dispatch(world.session, {"type": "session/activeClientRemoved", "clientId": client_id})
    world.noted["switch"] = (client, number)


def _after_dispatch(world: World) -> None:
    if "switch" in world.noted:
        client, number = world.noted.pop("switch")
        client.echo(number)


@then(
    parsers.re(
        r'(?:a fresh snapshot has|client "(?P<watcher>[^"]+)" comes to see)'
        r' client "(?P<name>[^"]+)" active once, as it last said'
    )
)
def active_once(world: World, watcher: str | None, name: str) -> None:
    wanted, client = world.noted[f"entry of {name}"]["tools"], world.client(name)

    def as_said(state: Any) -> bool:
        return [e.get("tools") for e in entry_of(world, client, state)] == [wanted]

    if watcher is not None:
        what = f"one entry of client {name} with its last tools"
        world.client(watcher).await_state(world.session, what, lambda state: as_said(state) or None)
        return
    _after_dispatch(world)
    state = world.fresh(world.session)
    found = entry_of(world, client, state)
    expect(
        as_said(state),
        f"client {name} is not active as it last said",
        expected=[world.noted[f"entry of {name}"]],
        seen=found,
        frame=world.stage.frames[-1].n,
    )


@then(
    parsers.re(
        r'client "(?P<watcher>[^"]+)" sees client "(?P<name>[^"]+)" taken off'
        r"(?P<later> once the grace period is over)?"
    )
)
def sees_taken_off(world: World, watcher: str, name: str, later: str | None) -> None:
    """How long the grace period is, is the host's affair, and no message tells it (A-42).

    The wait is bounded by the patience. Silence about a lost client is a failure only where the driver names a shorter
    grace period (attribute ``grace``, in seconds) or can let it pass; else the host may just be more patient than the
    suite.
    """
    patience = world.client(watcher).patience
    grace = _let_grace_pass(world, watcher) if later else None
    client_id = world.client(name).client_id
    try:
        world.client(watcher).await_action(world.session, "session/activeClientRemoved", clientId=client_id)
    except Silent as silent:
        if later is None:
            raise
        if grace is None or grace >= patience:
            raise Unreached(
                "timeout", f"client {name} was not taken off within {patience:g} s; the grace period may be longer"
            ) from silent
        raise Broken(
            f"client {name} is not taken off after the grace period",
            expected=f"session/activeClientRemoved within {grace:g} s",
            seen="nothing",
            frame=silent.last,
        ) from silent
    _after_dispatch(world)
    found = entry_of(world, world.client(name), world.fresh(world.session))
    expect(not found, f"client {name} is still active", expected="no entry", seen=found, frame=world.stage.frames[-1].n)


def _let_grace_pass(world: World, watcher: str) -> float | None:
    """The seconds of grace that are still to come, None when nobody knows."""
    driver = world.stage.theatre.driver
    grace: float | None = getattr(driver, "grace", None)
    skip = getattr(driver, "skip", None)
    if grace is None or not callable(skip):
        return grace
    # Which answer shows that the host has noticed the end of the other connection, nobody can say, so time passes
    # ahead of several.
    client = world.client(watcher)
    for _ in range(_ROUNDS):
        skip(grace)
        client.subscribe(world.session)
        if next(client.envelopes(world.session, "session/activeClientRemoved"), None) is not None:
            break
    return 0.0


@given(parsers.parse('client "{watcher}" has seen client "{name}" taken off'))
def has_seen_taken_off(world: World, watcher: str, name: str) -> None:
    """That a host takes off who unsubscribes is a recommendation; without it there is nothing to judge behind it."""
    try:
        sees_taken_off(world, watcher, name, None)
    except Silent as silent:
        raise NotClaimed(f"the host does not take client {name} off ({silent})") from silent


@then(parsers.parse('client "{watcher}" has not seen client "{name}" taken off'))
def not_taken_off(world: World, watcher: str, name: str) -> None:
    """Up to the answer to the reconnect, which another client's ping follows."""
    client = world.client(watcher)
    client.fence()
    removals = list(
        client.envelopes(world.session, "session/activeClientRemoved", clientId=world.client(name).client_id)
    )
    expect_equal(
        [e.message for e in removals],
        [],
        f"the removals of client {name}",
        frame=removals[0].frame.n if removals else None,
    )


@then("the call comes to be completed as failed")
def comes_to_fail(world: World) -> None:
    call_id = world.noted["needs"][0].id
    done = world.a.await_action(world.chat, "chat/toolCallComplete", toolCallId=call_id)
    result = done.get("result")
    expect(
        isinstance(result, dict) and result.get("success") is False,
        "the call did not end as failed",
        expected="a result with success false",
        seen=result,
        frame=done.frame.n,
    )


@then("every entry of the active clients has a client id of its own and a list of tools")
def entries_complete(world: World) -> None:
    _after_dispatch(world)
    entries = world.fresh(world.session).get("activeClients")
    ids = [e.get("clientId") for e in entries if isinstance(e, dict)] if isinstance(entries, list) else []
    whole = entries and all(isinstance(e, dict) and isinstance(e.get("tools"), list) for e in entries)
    expect(
        whole and len(set(ids)) == len(entries) and all(isinstance(i, str) for i in ids),
        "an entry of the active clients is incomplete",
        expected="clientId and tools in each entry",
        seen=entries,
        frame=world.stage.frames[-1].n,
    )
