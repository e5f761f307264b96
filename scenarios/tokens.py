"""Tokens that clients push, and how the host answers."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from pytest_bdd import given, parsers, then, when

from conformance.client import NotClaimed, Unreached
from scenarios.expect import expect_error, expect_success
from scenarios.mcp import scopes_in
from scenarios.world import World

METHOD_NOT_FOUND, INVALID_PARAMS, AUTH_REQUIRED = -32601, -32602, -32007


def push(world: World, resource: str, token: str, *, client: str = "A", **more: Any) -> None:
    """Authenticate and keep the answer; ``pushed`` is the place in the recording just before."""
    who = world.client(client)
    world.noted["pushed"] = world.a.mark
    world.reply = who.call("authenticate", resource=resource, token=token, **more)


def advertised(world: World, server: str) -> str:
    """The resource as the challenge names it, which is what a client has to go by."""
    auth = world.noted.get("auth") or {}
    resource = (auth.get("resource") or {}).get("resource")
    others = {s.resource for n, s in world.servers.items() if n != server}
    known = world.servers[server].resource
    return resource if isinstance(resource, str) and resource not in others else known


@when(parsers.parse('a good token for "{server}" is pushed'))
def good(world: World, server: str) -> None:
    push(world, advertised(world, server), world.servers[server].good.value)


@when(parsers.parse('the stronger token for "{server}" is pushed'))
def stronger(world: World, server: str) -> None:
    push(world, advertised(world, server), world.tokens[f"{server}-stronger"].value)


@when(parsers.parse('client "{name}" pushes a good token for "{server}"'))
def good_by(world: World, name: str, server: str) -> None:
    push(world, advertised(world, server), world.servers[server].good.value, client=name)


@when(parsers.re(r'a good token for "(?P<server>[^"]+)" is pushed with the scopes? (?P<scopes>".+")'))
def good_with_scopes(world: World, server: str, scopes: str) -> None:
    push(world, advertised(world, server), world.servers[server].good.value, scopes=scopes_in(scopes))


@when(parsers.parse('a token that "{server}" refuses is pushed'))
def refused(world: World, server: str) -> None:
    push(world, advertised(world, server), world.stage.token(f"{server}-refused").value)


@when(parsers.re(r'a token that "(?P<server>[^"]+)" refuses is pushed with the scopes? (?P<scopes>".+")'))
def refused_with_scopes(world: World, server: str, scopes: str) -> None:
    token = world.stage.token(f"{server}-refused").value
    push(world, advertised(world, server), token, scopes=scopes_in(scopes))


@given(parsers.re("a token for a resource that nobody advertised (?P<how>is pushed|has been refused)"))
@when(parsers.re("a token for a resource that nobody advertised (?P<how>is pushed|has been refused)"))
def unadvertised(world: World, how: str = "is pushed") -> None:
    resource = f"https://nobody-{uuid4().hex[:12]}.example/"
    push(world, resource, world.stage.token("unadvertised").value)
    if how == "has been refused" and (world.reply is None or not world.reply.failed):
        raise Unreached("precondition-failed", "the host took a token for a resource that nobody advertised")


@then("the push succeeds")
def succeeds(world: World) -> None:
    expect_success(world.reply, "authenticate")


@then("the push is refused with an error")
def is_refused(world: World) -> None:
    # The codes of the text are examples (ambiguity A-18), so any error passes but that of an unknown method.
    error = world.reply.error if world.reply is not None else None
    if isinstance(error, dict) and error.get("code") == METHOD_NOT_FOUND:
        raise NotClaimed("the host does not know authenticate")
    expect_error(world.reply, what="authenticate")
