"""The versions that a host lists when it refuses an offer."""

from __future__ import annotations

import re

from pytest_bdd import given, then, when

from conformance.client import NotClaimed
from scenarios.expect import expect, expect_equal, expect_success
from scenarios.handshakes import answer_to_handshake
from scenarios.world import World


@then("the versions that the refusal lists are exact versions or ranges")
def versions_listed(world: World) -> None:
    """A refusal that lists none is fine before 1.0.0."""
    reply = answer_to_handshake(world)
    data = reply.error.get("data") if isinstance(reply.error, dict) else None
    if data is None:
        return
    listed = data.get("supportedVersions") if isinstance(data, dict) else None
    expect(
        isinstance(listed, list) and all(isinstance(v, str) and lowest_of(v) for v in listed),
        "the refusal does not list versions",
        expected="data.supportedVersions, an array of versions or ranges",
        seen=reply.error,
        frame=reply.frame.n,
    )


def lowest_of(listed: str) -> str | None:
    """The lowest version of an exact version or range such as ^0.9.0, None when there is none in it."""
    found = re.search(r"\d+\.\d+\.\d+", listed)
    return found[0] if found else None


@given("the host lists the versions that it speaks")
def lists_versions(world: World) -> None:
    client = world.stage.enter("asker")
    reply = client.call("initialize", protocolVersions=["99.0.0"], clientId=client.client_id)
    data = reply.error.get("data") if isinstance(reply.error, dict) else None
    listed = data.get("supportedVersions") if isinstance(data, dict) else None
    if not isinstance(listed, list) or not listed:
        raise NotClaimed("the host lists no versions in its refusal")
    world.noted["listed"] = [lowest_of(str(entry)) or str(entry) for entry in listed]


@when("newcomers offer the lowest version of each entry")
def newcomers(world: World) -> None:
    world.noted["newcomers"] = {}
    for number, version in enumerate(world.noted["listed"]):
        client = world.stage.enter(f"N{number}")
        asked = client.ask("initialize", protocolVersions=[version], clientId=client.client_id)
        world.noted["newcomers"][version] = (client, asked)


@then("each of them is welcomed")
def each_welcomed(world: World) -> None:
    for version, (client, asked) in world.noted["newcomers"].items():
        reply = client.answer(asked)
        result = expect_success(reply, f"initialize with {version}")
        seen = result.get("protocolVersion") if isinstance(result, dict) else result
        expect_equal(seen, version, "the version", frame=reply.frame.n)
