"""What has reached an MCP server: its calls, and the tokens that they carried."""

from __future__ import annotations

from pytest_bdd import parsers, then

from conformance.backend.playbook import token_hash
from conformance.client import Unreached
from scenarios.expect import expect, expect_equal
from scenarios.world import World


def tokens_at(world: World, server: str) -> list[str]:
    """The digests of the tokens that calls to the server carried, in order."""
    return [call.digest for call in world.stage.agent.requests(server) if call.digest is not None]


@then(parsers.parse('"{server}" has got calls of "{tool}", none with a token'))
def calls_without_token(world: World, server: str, tool: str) -> None:
    calls = [call for call in world.stage.agent.requests(server) if call.tool.endswith(tool)]
    if not calls:
        raise Unreached("backend-ignored", f"no call of {tool} has reached {server}")
    no_token(world, server)


@then(parsers.parse('"{server}" has got the good token'))
def good_token(world: World, server: str) -> None:
    expect(
        world.stage.agent.await_token(server, token_hash(world.servers[server].good.value)),
        f"no call to {server} carried the token that was pushed for it",
        expected="a call with that token",
        seen=tokens_at(world, server),
        frame=world.a.mark,
    )


@then(parsers.parse('"{server}" has got no token'))
def no_token(world: World, server: str) -> None:
    world.a.fence()
    seen = tokens_at(world, server)
    expect(not seen, f"calls to {server} carried a token", expected="no token", seen=seen, frame=world.a.mark)


@then(parsers.parse('"{server}" has got the good token, and no other'))
def good_token_alone(world: World, server: str) -> None:
    passed = [call.digest for call in world.stage.agent.requests(server) if call.passed]
    good = token_hash(world.servers[server].good.value)
    expect_equal(set(tokens_at(world, server)), {good}, f"the tokens at {server}, as digests", frame=world.a.mark)
    expect_equal(passed[-1:], [good], "the token of the call that went through", frame=world.a.mark)
