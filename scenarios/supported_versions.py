"""The versions that a host lists when it refuses an offer."""

from __future__ import annotations

import re

from pytest_bdd import given, then, when

from conformance.client import NotClaimed
from conformance.protocol import compare
from scenarios.expect import expect, expect_equal, expect_success
from scenarios.handshake_table import version_of_run
from scenarios.handshakes import answer_to_handshake
from scenarios.world import World


@then("the versions that the refusal lists are exact versions or ranges")
def versions_listed(world: World) -> None:
    """Before 1.0.0 a refusal may list none, and then there is nothing to judge."""
    reply = answer_to_handshake(world)
    data = reply.error.get("data") if isinstance(reply.error, dict) else None
    if data is None and compare(version_of_run(world), "1.0.0") < 0:
        raise NotClaimed("the host lists no versions in its refusal")
    listed = data.get("supportedVersions") if isinstance(data, dict) else None
    expect(
        isinstance(listed, list) and all(map(is_listed_right, listed)),
        "the refusal does not list versions",
        expected="data.supportedVersions, an array of versions or ranges",
        seen=reply.error,
        frame=reply.frame.n,
    )


_VERSION = r"v?\d+(?:\.(?:\d+|[xX*])){0,2}"
# Comparators, joined by spaces, by hyphens or by ||.
_RANGE = re.compile(rf"(?:(?:(?:[~^=]|[<>]=?)?\s*{_VERSION}|[xX*])(?:\s*\|\|\s*|\s+-\s+|\s+|$))+")


def is_listed_right(entry: object) -> bool:
    """Whether an entry is an exact version or a SemVer range."""
    return isinstance(entry, str) and _RANGE.fullmatch(entry) is not None


def lowest_of(listed: str) -> str | None:
    """The lowest version of an exact version or range such as ^0.9.0; None where the range names none, as in <1.0.0."""
    bounds = re.finditer(r"(?P<by>[~^=]|[<>]=?)?\s*v?(\d+)(?:\.(\d+))?(?:\.(\d+))?", listed)
    lowest = [tuple(int(n or 0) for n in b.groups()[1:]) for b in bounds if b["by"] not in ("<", "<=", ">")]
    return ".".join(map(str, min(lowest))) if lowest else None


@given("the host lists the versions that it speaks")
def lists_versions(world: World) -> None:
    client = world.stage.enter("asker")
    reply = client.call("initialize", protocolVersions=["99.0.0"], clientId=client.client_id)
    data = reply.error.get("data") if isinstance(reply.error, dict) else None
    listed = data.get("supportedVersions") if isinstance(data, dict) else None
    if not isinstance(listed, list) or not listed:
        raise NotClaimed("the host lists no versions in its refusal")
    world.noted["listed"] = [lowest for entry in listed if (lowest := lowest_of(str(entry)))]
    if not world.noted["listed"]:
        raise NotClaimed(f"the host lists ranges without a lowest version: {listed!r:.200}")


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
