"""Requests of clients to start and stop MCP servers."""

from __future__ import annotations

from typing import Any

from pytest_bdd import parsers, then, when

from scenarios.entries import entry_goes
from scenarios.onlookers import customizations_in
from scenarios.world import World


def server_entry(world: World, name: str) -> Any:
    """The customization of the server, by the name that the host shows, in the fold of the session."""
    for entry in customizations_in(world.a.state(world.session)):
        if entry.get("type") == "mcpServer" and entry.get("name") == name:
            return entry
    return None


@when(parsers.parse('the client asks for "{name}" to be {what}'))
def asks(world: World, name: str, what: str) -> None:
    kind = {"stopped": "session/mcpServerStopRequested", "started": "session/mcpServerStartRequested"}[what]
    entry = server_entry(world, name)
    if entry is None:
        raise LookupError(f"the session lists no MCP server {name!r}")
    number = world.a.dispatch(world.session, {"type": kind, "id": entry["id"]})
    world.echoes = [world.a.echo(number)]


@then("the call is no longer auth-required, if the stop was accepted")
def not_waiting(world: World) -> None:
    if world.echoes[-1].accepted:
        world.a.await_state(
            world.chat,
            "the end of the block",
            lambda state: (world.tool_call(state=state) or {}).get("status") != "auth-required" or None,
        )


@then("the entry of the call goes, if the stop was accepted")
def entry_gone(world: World) -> None:
    if world.echoes[-1].accepted:
        entry_goes(world)
