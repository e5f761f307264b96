"""Clients that provide tools of their own."""

from __future__ import annotations

from typing import Any

from pytest_bdd import given, parsers

from scenarios.world import World

JSON = Any

TOOL_NAME = "lookup_colour"


def provider(client_id: str) -> dict[str, JSON]:
    """The entry of an active client that provides the tool."""
    tool = {
        "name": TOOL_NAME,
        "description": "Looks a colour up on the client.",
        "inputSchema": {"type": "object", "properties": {}},
    }
    return {"clientId": client_id, "displayName": "Conformance", "tools": [tool]}


@given(parsers.parse('client "{name}" provides a tool'))
def provides_tool(world: World, name: str) -> None:
    client = world.client(name)
    client.act(world.session, {"type": "session/activeClientSet", "activeClient": provider(client.client_id)})


@given(parsers.parse('a session that client "{name}" created with a tool of its own'))
def created_with_tool(world: World, name: str) -> None:
    client = world.stage.clients.get(name) or world.stage.join(name)
    world.noted[f"entry of {name}"] = entry = provider(client.client_id)
    world.open_session(client, activeClient=entry)
