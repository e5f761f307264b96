"""The states that an MCP server goes through, as the actions of the session tell them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from pytest_bdd import parsers, then

from conformance.client import NotClaimed, Unreached
from scenarios.expect import expect, expect_equal
from scenarios.onlookers import customizations_in
from scenarios.servers import await_kind, entry_in, kind_of
from scenarios.world import World

START, STOP = "session/mcpServerStartRequested", "session/mcpServerStopRequested"

# docs/guide/mcp.md > Runtime status. A further `starting` on the way is no fault, and a state may be told again.
GRAPH = {
    "starting": {"ready", "authRequired", "error"},
    "ready": {"authRequired", "error", "stopped"},
    "authRequired": {"ready", "error", "stopped"},
    "error": {"starting", "stopped"},
    "stopped": {"starting"},
}


@dataclass(frozen=True, slots=True)
class Change:
    """One action that set the state of a server. ``channel`` is None where the server then has none."""

    frame: int
    action: str
    state: Any
    channel: Any

    @property
    def kind(self) -> str:
        return str(self.state.get("kind")) if isinstance(self.state, dict) else str(self.state)


def changes(world: World, name: str, since: int = -1) -> list[Change]:
    """What the accepted actions said about the state of the server, in order."""
    return list(_changes(world, name, since))


def _changes(world: World, name: str, since: int) -> Iterator[Change]:
    ids = {c["id"] for c in (entry_in(world.a.state(world.session), name),) if c}
    for envelope in world.a.envelopes(world.session):
        kind, n = str(envelope.type), envelope.frame.n
        said: list[Change] = []
        for entry in _entries_of(envelope.get("customization"), envelope.get("customizations")):
            if entry.get("type") == "mcpServer" and entry.get("name") == name:
                ids.add(entry.get("id"))
                said.append(Change(n, kind, entry.get("state"), entry.get("channel")))
        if envelope.get("id") in ids:
            if kind == "session/mcpServerStateChanged":
                said.append(Change(n, kind, envelope.get("state"), envelope.get("channel")))
            elif kind in (START, STOP):
                said.append(Change(n, kind, {"kind": "starting" if kind == START else "stopped"}, None))
        if n > since:
            yield from said


def _entries_of(one: Any, many: Any) -> list[Any]:
    top = [one] if isinstance(one, dict) else many if isinstance(many, list) else []
    return customizations_in({"customizations": top})


@then(parsers.parse('the states of "{name}" have followed the documented graph'))
def followed_graph(world: World, name: str) -> None:
    _await_or_gone(world, name, "ready", "authRequired", "error", "stopped")
    world.a.fence()
    steps = changes(world, name)
    for before, after in pairwise(steps):
        allowed = GRAPH.get(before.kind, set()) | {before.kind, "starting"}
        expect(
            after.kind in allowed,
            f"the server went from {before.kind} to {after.kind}",
            expected=" or ".join(sorted(allowed)),
            seen=[step.kind for step in steps],
            frame=after.frame,
        )


@then(parsers.parse('"{name}" does not stay in the state starting'))
def leaves_starting(world: World, name: str) -> None:
    await_kind(world, name, "ready", "authRequired", "error", "stopped")


@then(parsers.parse('"{name}" is stopped, or its entry is gone'))
def stopped_or_gone(world: World, name: str) -> None:
    _await_or_gone(world, name, "stopped")


def _await_or_gone(world: World, name: str, *kinds: str) -> None:
    """A host may take a server off the list that it was asked to stop."""

    def reached(state: Any) -> Any:
        entry = entry_in(state, name)
        return True if entry is None or kind_of(entry) in kinds else None

    world.a.await_state(world.session, f"MCP server {name} {' or '.join(kinds)}, or gone", reached)


@then(parsers.parse('"{name}" has not become ready'))
def not_ready(world: World, name: str) -> None:
    """The answer to the push is behind us, and it is what comes after anything that the push led to."""
    world.a.fence()
    _never(world, name, "ready", world.noted["pushed"])


@then(parsers.parse('"{name}" was not ready before the good token came'))
def not_ready_before(world: World, name: str) -> None:
    early = [c for c in changes(world, name) if c.kind == "ready" and c.frame <= world.noted["pushed"]]
    expect(
        not early,
        "the server became ready by a token that it refuses",
        expected="no ready",
        seen=early,
        frame=early[0].frame if early else None,
    )


@then("the turn goes on to its end, whatever that is")
def goes_on(world: World) -> None:
    """What the agent makes of a server that was stopped is its own affair, as long as it does not wait for it."""
    world.go_on()
    world.end_of_turn()


@then(parsers.parse('"{name}" does not wait for a token any more'))
def waits_no_more(world: World, name: str) -> None:
    """From the grant up to the end of the turn, which is what comes after anything an agent does.

    What the host told before it had seen the request may still have come after it was sent.
    """
    world.a.fence()
    granted = world.a.echo(world.noted["request"]).frame.n
    if any(change.kind == "starting" for change in changes(world, name, granted)):
        raise NotClaimed("the host has started the server again after it was stopped")
    _never(world, name, "authRequired", granted)


def _never(world: World, name: str, kind: str, since: int) -> None:
    found = [c for c in changes(world, name, since) if c.kind == kind]
    expect(
        not found,
        f"the server came to {kind}",
        expected=f"no {kind}",
        seen=found[0].state if found else None,
        frame=found[0].frame if found else None,
    )
    seen = kind_of(entry_in(world.fresh(world.session), name))
    expect(seen != kind, f"the server is {kind}", expected=f"not {kind}", seen=seen, frame=world.stage.frames[-1].n)


@then(parsers.parse('a fresh snapshot shows "{name}" as the last action left it'))
def as_last_action(world: World, name: str) -> None:
    """State and channel; compared when no action came between the two looks."""
    for _ in range(5):
        world.a.fence()
        told = changes(world, name)
        if not told:
            raise NotClaimed("the state of the server is not told by actions that name it")
        entry = entry_in(world.fresh(world.session), name)
        world.a.fence()
        if changes(world, name) == told:
            break
    else:
        raise Unreached("precondition-failed", "the state of the server does not come to rest")
    seen = None if entry is None else {"state": entry.get("state"), "channel": entry.get("channel")}
    expected = {"state": told[-1].state, "channel": told[-1].channel}
    if entry is None and any(world.a.envelopes(world.session, "session/customizationRemoved")):
        return
    expect_equal(seen, expected, "the server in the snapshot", frame=told[-1].frame)
