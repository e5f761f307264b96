"""Requests of clients to start, stop and disable MCP servers."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from pytest_bdd import given, parsers, then, when

from conformance.client import NotClaimed, Unreached
from conformance.oracle.tracker import Envelope
from scenarios.expect import expect_equal
from scenarios.onlookers import customizations_in
from scenarios.servers import entry_in, kind_of
from scenarios.world import World

_KINDS = {
    "start": "session/mcpServerStartRequested",
    "started": "session/mcpServerStartRequested",
    "stop": "session/mcpServerStopRequested",
    "stopped": "session/mcpServerStopRequested",
}


def listed(world: World, name: str) -> Any:
    """The entry of the server in the fold of the session. A host may take one off that it was asked to stop."""
    entry = entry_in(world.a.state(world.session), name)
    if entry is None and "request" in world.noted:
        raise NotClaimed("the host takes a stopped MCP server off the list")
    if entry is None:
        raise Unreached("precondition-failed", f"the session lists no MCP server {name!r}")
    return entry


def send(world: World, action: dict[str, Any]) -> None:
    """Dispatch a request about a server and keep what was there before; nothing is awaited."""
    world.noted["servers before"] = _servers(world.fresh(world.session))
    world.noted["requested"] = world.a.mark
    world.noted["request"] = world.a.dispatch(world.session, action)


def answer(world: World) -> Envelope:
    """The envelope with which the host answers the last request."""
    return world.a.echo(world.noted["request"])


def _servers(state: Any) -> list[Any]:
    return [c for c in customizations_in(state) if c.get("type") == "mcpServer"]


@when(parsers.re(r'the client requests the (?P<what>start|stop) of "(?P<name>[^"]+)"'))
def requests(world: World, what: str, name: str) -> None:
    send(world, {"type": _KINDS[what], "id": listed(world, name)["id"]})


@when(parsers.re(r"the client requests the (?P<what>start|stop) of a server that is not there"))
def requests_unknown(world: World, what: str) -> None:
    send(world, {"type": _KINDS[what], "id": f"no-server-{uuid4()}"})


@given(parsers.re(r'the client has got "(?P<name>[^"]+)" (?P<what>started|stopped)'))
@when(parsers.re(r'the client gets "(?P<name>[^"]+)" (?P<what>started|stopped)'))
def gets(world: World, name: str, what: str) -> None:
    """A host may refuse; then there is nothing to judge about what follows."""
    send(world, {"type": _KINDS[what], "id": listed(world, name)["id"]})
    if not answer(world).accepted:
        raise NotClaimed(f"the host refuses to have an MCP server {what} by a client")


@when(parsers.parse('the client switches "{name}" off'))
def switches_off(world: World, name: str) -> None:
    off: dict[str, Any] = {"enabled": False}
    if world.at_least("0.8.0"):
        off = {"enablement": [{"kind": "session", "enabled": False}]}
    send(world, {"type": "session/customizationToggled", "id": listed(world, name)["id"], **off})
    if not answer(world).accepted:
        raise NotClaimed("the host refuses to have an MCP server disabled by a client")


@then("the request comes back, accepted or rejected")
def comes_back(world: World) -> None:
    answer(world)


@then("the MCP servers of the session are as before")
def servers_as_before(world: World) -> None:
    world.a.fence()
    seen = [(s.get("id"), kind_of(s)) for s in _servers(world.fresh(world.session))]
    expected = [(s.get("id"), kind_of(s)) for s in world.noted["servers before"]]
    expect_equal(seen, expected, "the MCP servers of the session", frame=world.stage.frames[-1].n)


def entry_before(world: World, name: str) -> Any:
    """The entry of the server as it was before the last request."""
    entry = next((s for s in world.noted["servers before"] if s.get("name") == name), None)
    if entry is None:
        raise Unreached("precondition-failed", f"a fresh snapshot lists no MCP server {name!r}")
    return entry


@then("the call is no longer auth-required")
def not_waiting(world: World) -> None:
    world.a.await_state(
        world.chat,
        "the end of the block",
        lambda state: (world.tool_call(state=state) or {}).get("status") != "auth-required" or None,
    )
