"""MCP servers as such: how they meet the agent that needs them, and how they come to be in a state."""

from __future__ import annotations

from typing import Any

from pytest_bdd import given, parsers, then, when

from conformance.backend.playbook import Move
from conformance.client import Unreached
from scenarios.challenges import resource_of
from scenarios.expect import expect
from scenarios.mcp import scopes_in, server_of
from scenarios.onlookers import customizations_in
from scenarios.world import HELD, World

OWN = ""
"""Where a Server keeps the challenge of its own start, beside those of its tools."""

STATES = {"ready": "ready", "waiting for a token": "authRequired", "in error": "error"}
_FAILURE = "the server ended before it had said a word"


def entry_in(state: Any, name: str) -> Any:
    """The customization of the server in a session state, by the name that the host shows, or None."""
    for entry in customizations_in(state):
        if entry.get("type") == "mcpServer" and entry.get("name") == name:
            return entry
    return None


def kind_of(entry: Any) -> str | None:
    """The kind of state of a server, None when it has no entry or no state."""
    state = (entry or {}).get("state")
    return state.get("kind") if isinstance(state, dict) else None


def await_kind(world: World, name: str, *kinds: str, client: str = "A") -> Any:
    """Await the server in one of these states; a challenge is kept for the steps that read it."""

    def reached(state: Any) -> Any:
        entry = entry_in(state, name)
        return entry if kind_of(entry) in kinds else None

    who = world.client(client)
    entry = who.await_state(world.session, f"MCP server {name} in the state {' or '.join(kinds)}", reached)
    if kind_of(entry) == "authRequired":
        world.noted["auth"] = entry["state"]
    return entry


# -- how a server behaves ---------------------------------------------------------------------------------


@given(parsers.parse('an MCP server "{name}" that is open to all'))
def is_open(world: World, name: str) -> None:
    server_of(world, name).challenges.pop(OWN, None)


@given(parsers.parse('an MCP server "{name}" that cannot be started'))
def cannot_start(world: World, name: str) -> None:
    server_of(world, name)
    world.noted.setdefault("broken servers", set()).add(name)


@given(parsers.parse('an MCP server "{name}" that demands a token'))
def demands_token(world: World, name: str) -> None:
    server_of(world, name).challenge(OWN)


@given(parsers.re(r'an MCP server "(?P<name>[^"]+)" that demands the scope (?P<scopes>"[^",]+")'))
def demands_scope(world: World, name: str, scopes: str) -> None:
    wanted = scopes_in(scopes)
    server_of(world, name).challenge(OWN, scopes=wanted, scopes_supported=wanted)


@given(
    parsers.re(
        r'an MCP server "(?P<name>[^"]+)" that demands the scopes (?P<scopes>".+"), '
        r"of which its metadata list only (?P<listed>.+)"
    )
)
def demands_unlisted(world: World, name: str, scopes: str, listed: str) -> None:
    server_of(world, name).challenge(OWN, scopes=scopes_in(scopes), scopes_supported=scopes_in(listed))


# -- how it comes to be in a state --------------------------------------------------------------------------


def move_for(world: World, name: str) -> Move:
    """The move in which the agent needs the server."""
    server = world.servers[name]
    body: dict[str, Any] = {"server": name}
    challenges = server.challenges.get(OWN)
    if challenges:
        body |= {"resource": server.resource, "challenge": challenges[-1]}
    if name in world.noted.get("broken servers", ()):
        body["fails"] = _FAILURE
    return {"mcp": body}


@when(parsers.parse('the agent needs "{name}"'))
def needs(world: World, name: str) -> None:
    """A turn in which the agent needs the server and is then held back; nothing is awaited."""
    world.say([move_for(world, name), {"pause": HELD}, {"say": "Done."}])


@given(parsers.re(r'the MCP server "(?P<name>[^"]+)" is (?P<state>ready|waiting for a token|in error)'))
def is_in_state(world: World, name: str, state: str) -> None:
    """One that no step has described behaves as it must to come there. A wait for a token holds the turn."""
    if name not in world.servers:
        {"ready": is_open, "waiting for a token": demands_token, "in error": cannot_start}[state](world, name)
    needs(world, name)
    await_kind(world, name, STATES[state])
    if state != "waiting for a token":
        world.go_on()
        world.end_of_turn()


@given(parsers.parse('the MCP server "{name}" waits again, because its token has expired'))
def waits_for_renewal(world: World, name: str) -> None:
    _work_once(world, name)
    server = world.servers[name]
    server.good = world.stage.token(f"{name}-renewed")
    server.challenge(OWN)
    needs(world, name)
    await_kind(world, name, "authRequired")


@given(
    parsers.re(r'the MCP server "(?P<name>[^"]+)" waits again, because it now demands the scope (?P<scopes>"[^"]+")')
)
def waits_for_scope(world: World, name: str, scopes: str) -> None:
    _work_once(world, name)
    server = world.servers[name]
    server.good = world.stage.token(f"{name}-wider")
    server.challenge(OWN, status=403, scopes=scopes_in(scopes))
    needs(world, name)
    await_kind(world, name, "authRequired")


@given(parsers.parse('the MCP server "{name}" demands a token in the middle of a turn'))
def demands_in_turn(world: World, name: str) -> None:
    """It was ready, and what the agent wants of it now is refused."""
    is_in_state(world, name, "ready")
    world.servers[name].challenge(OWN)
    needs(world, name)
    await_kind(world, name, "authRequired")


def _sign_in(world: World, name: str) -> None:
    """Push the good token for the resource that the challenge names."""
    resource = resource_of(world).get("resource")
    if not isinstance(resource, str):
        raise Unreached("precondition-failed", "the challenge of the server names no resource")
    world.a.succeed("authenticate", resource=resource, token=world.servers[name].good.value)
    await_kind(world, name, "ready")


def _work_once(world: World, name: str) -> None:
    """Bring a server that demands a token to ready with a good one, and end the turn."""
    is_in_state(world, name, "waiting for a token")
    _sign_in(world, name)
    world.go_on()
    world.end_of_turn()
    del world.noted["auth"]


@then(parsers.re(r'"(?P<name>[^"]+)" comes to the state (?P<kind>\w+)'))
def comes_to(world: World, name: str, kind: str) -> None:
    await_kind(world, name, kind)
    if kind == "ready":
        expect(
            world.stage.agent.contacted(name) is not False,
            "the server is said to be ready, and nothing was ever sent to it",
            expected="a request to the server first",
            seen="none",
            frame=world.a.mark,
        )


@given(parsers.parse('"{name}" has become ready with a good token'))
def became_ready(world: World, name: str) -> None:
    _sign_in(world, name)
