"""MCP servers whose tools are challenged, and what their challenges say."""

from __future__ import annotations

import re

from pytest_bdd import given, parsers

from conformance.client import Unreached
from scenarios.world import Server, World

DESCRIPTION = "Sign in again to read secrets."
OAUTH_CLIENT = "ahpc-static-client"


def server_of(world: World, name: str) -> Server:
    """The server of that name, with a resource URI that no other scenario uses."""
    if name not in world.servers:
        resource = world.stage.agent.resource(name)
        world.servers[name] = Server(name, resource, world.stage.token(f"{name}-good"))
    return world.servers[name]


def scopes_in(text: str) -> list[str]:
    """The quoted words of a phrase such as: "a" and "b"."""
    return re.findall(r'"([^"]+)"', text)


@given(parsers.parse('an MCP server "{name}" whose tool "{tool}" demands a token'))
def demands_token(world: World, name: str, tool: str) -> None:
    server_of(world, name).challenge(tool)


@given(parsers.parse('the resource of "{other}" also has an MCP server "{name}", whose tool "{tool}" demands a token'))
def shares_resource(world: World, name: str, other: str, tool: str) -> None:
    same = world.servers[other]
    world.servers[name] = Server(name, world.stage.agent.resource(name, beside=other), same.good)
    world.servers[name].challenge(tool)


@given(
    parsers.re(r'an MCP server "(?P<name>[^"]+)" whose tool "(?P<tool>[^"]+)" demands the scopes? (?P<scopes>"[^,]+")')
)
def demands_scopes(world: World, name: str, tool: str, scopes: str) -> None:
    wanted = scopes_in(scopes)
    server_of(world, name).challenge(tool, scopes=wanted, scopes_supported=wanted)


@given(
    parsers.re(
        r'an MCP server "(?P<name>[^"]+)" whose tool "(?P<tool>[^"]+)" demands the scopes? (?P<scopes>".+"), '
        r"of which its metadata list only (?P<listed>.+)"
    )
)
def demands_unlisted_scopes(world: World, name: str, tool: str, scopes: str, listed: str) -> None:
    server_of(world, name).challenge(tool, scopes=scopes_in(scopes), scopes_supported=scopes_in(listed))


@given(parsers.parse('the challenge of "{name}" explains itself'))
def explains(world: World, name: str) -> None:
    for challenges in world.servers[name].challenges.values():
        challenges[-1]["error_description"] = DESCRIPTION


@given(parsers.parse('the host has an OAuth client of its own for "{name}"'))
def has_oauth_client(world: World, name: str) -> None:
    for challenges in world.servers[name].challenges.values():
        challenges[-1]["oauth_client"] = {"clientId": OAUTH_CLIENT}


@given(parsers.parse('an MCP server "{name}" whose tool "{tool}" is open to all'))
def open_to_all(world: World, name: str, tool: str) -> None:
    server_of(world, name).challenges.setdefault(tool, [])


@given(parsers.re(r'"(?P<tool>[^"]+)" of "(?P<name>[^"]+)" then demands the scope (?P<scopes>"[^"]+") as well'))
def then_demands(world: World, tool: str, name: str, scopes: str) -> None:
    stronger = world.tokens[f"{name}-stronger"] = world.stage.token(f"{name}-stronger")
    server_of(world, name).challenge(tool, status=403, token=stronger, scopes=scopes_in(scopes))


@given(parsers.parse('"{tool}" of "{name}" has worked with a token that "{same}" takes no more'))
def token_expired(world: World, tool: str, name: str, same: str) -> None:
    _work_once(world, name, tool)
    renewed = world.stage.token(f"{same}-renewed")
    server_of(world, same).good = renewed
    server_of(world, same).challenges[tool] = []
    server_of(world, same).challenge(tool)


@given(parsers.re(r'"(?P<tool>[^"]+)" of "(?P<name>[^"]+)" has worked, and now demands the scope (?P<scopes>"[^"]+")'))
def steps_up(world: World, tool: str, name: str, scopes: str) -> None:
    _work_once(world, name, tool)
    server = server_of(world, name)
    server.good = world.stage.token(f"{name}-wider")
    server.challenges[tool] = []
    server.challenge(tool, status=403, scopes=scopes_in(scopes))


def _work_once(world: World, name: str, tool: str) -> None:
    """Play a whole turn in which the tool is challenged, authenticated and completes."""
    world.tool = tool
    world.say([world.call_move(tool, name), {"say": "Done."}])
    if world.servers[name].challenges.get(tool):
        call = world.await_call("auth-required", tool)
        world.a.succeed(
            "authenticate", resource=call["auth"]["resource"]["resource"], token=world.servers[name].good.value
        )
    call = world.await_call("completed", tool)
    world.end_of_turn()
    if not call.get("success"):
        raise Unreached("precondition-failed", f"the first call of {tool} did not succeed: {call!r:.300}")
    world.calls.clear()
