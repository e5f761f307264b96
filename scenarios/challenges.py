"""What a challenge says: the reason, the resource, the scopes, the way to sign in."""

from __future__ import annotations

from typing import Any

from pytest_bdd import given, parsers, then

from conformance.client import Broken, Unreached
from scenarios.expect import expect, expect_equal
from scenarios.mcp import OAUTH_CLIENT, scopes_in
from scenarios.world import World


def auth_of(world: World) -> dict[str, Any]:
    auth = world.noted.get("auth")
    if not isinstance(auth, dict):
        raise Broken("the call has no challenge", expected="an object auth", seen=auth, frame=world.a.mark)
    return auth


def resource_of(world: World) -> dict[str, Any]:
    resource = auth_of(world).get("resource")
    if not isinstance(resource, dict):
        raise Broken(
            "the challenge has no protected-resource metadata",
            expected="an object resource",
            seen=resource,
            frame=world.a.mark,
        )
    return resource


@then(parsers.parse('the challenge gives the reason "{reason}"'))
def gives_reason(world: World, reason: str) -> None:
    expect_equal(auth_of(world).get("reason"), reason, "the reason of the challenge", frame=world.a.mark)


@then(parsers.parse('the challenge names the resource of "{server}"'))
def names_resource(world: World, server: str) -> None:
    seen = resource_of(world).get("resource")
    expect_equal(seen, world.servers[server].resource, "the resource of the challenge", frame=world.a.mark)


@then("the challenge names at least one authorization server")
def names_authorization_server(world: World) -> None:
    seen = resource_of(world).get("authorization_servers")
    expect(
        isinstance(seen, list) and seen and all(isinstance(s, str) and s for s in seen),
        "the challenge names no authorization server",
        expected="authorization_servers with at least one URL",
        seen=seen,
        frame=world.a.mark,
    )


@then("the challenge demands scopes")
def demands_scopes(world: World) -> None:
    seen = auth_of(world).get("requiredScopes")
    expect(
        isinstance(seen, list) and seen,
        "the scopes of the challenge are missing",
        expected="requiredScopes",
        seen=auth_of(world),
        frame=world.a.mark,
    )


@then(parsers.re(r"the challenge demands exactly the scopes (?P<scopes>\".+\")"))
def demands_exactly(world: World, scopes: str) -> None:
    seen = auth_of(world).get("requiredScopes")
    expect(
        isinstance(seen, list) and set(seen) == set(scopes_in(scopes)),
        "the scopes are not those of the challenge",
        expected=scopes_in(scopes),
        seen=seen,
        frame=world.a.mark,
    )


@then("the challenge carries a description")
def carries_description(world: World) -> None:
    seen = auth_of(world).get("description")
    expect(
        isinstance(seen, str) and seen.strip(),
        "the explanation of the server is lost",
        expected="a description",
        seen=auth_of(world),
        frame=world.a.mark,
    )


@then("the challenge names the OAuth client")
def names_oauth_client(world: World) -> None:
    seen = auth_of(world).get("oauthClient")
    identity = seen.get("clientId") if isinstance(seen, dict) else None
    expect_equal(identity, OAUTH_CLIENT, "the OAuth client of the challenge", frame=world.a.mark)


@then("the challenge holds no token")
def holds_no_token(world: World) -> None:
    text = repr(auth_of(world))
    leaked = [name for secret, name in world.stage.recorder.secrets.items() if secret in text]
    expect(not leaked, "the challenge holds a token", expected="no token", seen=leaked, frame=world.a.mark)


@given("no agent lists the resource of the challenge")
def not_listed(world: World) -> None:
    root = world.stage.theatre.facts.root or {}
    for agent in root.get("agents") or []:
        for listed in agent.get("protectedResources") or []:
            if listed.get("resource") == resource_of(world).get("resource"):
                raise Unreached("precondition-failed", "an agent lists the resource of the challenge itself")
