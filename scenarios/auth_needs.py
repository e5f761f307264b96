"""How a host says that a token is wanted: resource metadata and AuthRequired answers; and what it keeps to itself."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from pytest_bdd import given, parsers, then, when

from conformance.client import NotClaimed, Unreached
from conformance.protocol import ROOT_URI, violations
from scenarios.authenticating import creates_session, requires_token, resources_of
from scenarios.challenges import resource_of
from scenarios.expect import expect, expect_equal
from scenarios.tokens import AUTH_REQUIRED, push, unadvertised
from scenarios.world import World

# RFC 9728, as ProtectedResourceMetadata takes it over.
_NAMES = (
    "resource",
    "resource_name",
    "authorization_servers",
    "jwks_uri",
    "scopes_supported",
    "bearer_methods_supported",
    "resource_signing_alg_values_supported",
    "resource_documentation",
    "resource_policy_uri",
    "resource_tos_uri",
)
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


@then(parsers.re(r"the metadata of (?P<what>the challenge|every agent's resources) use the names of RFC 9728"))
def named_as_in_rfc(world: World, what: str) -> None:
    if what == "the challenge":
        listed = [resource_of(world)]
    else:
        listed = [r for agent in (world.noted["looked"] or {}).get("agents") or [] for r in resources_of(agent)]
    if not listed:
        raise NotClaimed("no agent of the host lists protected resources")
    for resource in listed:
        _check_metadata(world, resource)


def _check_metadata(world: World, metadata: Any) -> None:
    frame = world.stage.frames[-1].n
    wrong = violations(world.version, "ProtectedResourceMetadata", metadata)
    expect(
        not wrong,
        f"the metadata have another shape: {wrong[0] if wrong else ''}",
        expected="ProtectedResourceMetadata",
        seen=metadata,
        frame=frame,
    )
    plain = {name.replace("_", ""): name for name in _NAMES}
    known = {n: plain.get(n.replace("_", "").lower()) for n in metadata if n not in _NAMES}
    misspelt = {n: name for n, name in known.items() if name is not None}
    expect(
        not misspelt,
        "the metadata use names of their own",
        expected=list(misspelt.values()),
        seen=list(misspelt),
        frame=frame,
    )
    url = urlsplit(metadata["resource"])
    secure = url.scheme == "https" or (url.scheme == "http" and url.hostname in _LOOPBACK)
    expect(
        secure and "#" not in metadata["resource"],
        "the resource is no identifier of a protected resource",
        expected="an https URL without fragment",
        seen=metadata["resource"],
        frame=frame,
    )


@when("the client lets itself be refused for want of authentication")
def lets_itself_be_refused(world: World) -> None:
    """In every way that needs no agent at work: an unknown resource, and a session with an agent that wants a token."""
    unadvertised(world)
    world.noted["refusals"] = [world.reply]
    try:
        requires_token(world)
    except NotClaimed:
        return
    creates_session(world)
    world.noted["refusals"].append(world.reply)


@then("each AuthRequired answer lists the resources to authenticate for")
def answers_list_resources(world: World) -> None:
    refusals = [r for r in world.noted["refusals"] if r.failed and isinstance(r.error, dict)]
    answers = [r for r in refusals if r.error.get("code") == AUTH_REQUIRED]
    if not answers:
        raise NotClaimed("the host answers none of this with AuthRequired")
    for reply in answers:
        data = reply.error.get("data")
        listed = data.get("resources") if isinstance(data, dict) else None
        complete = isinstance(listed, list) and all(
            isinstance(r, dict) and isinstance(r.get("resource"), str) for r in listed
        )
        expect(
            complete,
            "AuthRequired does not say for what",
            expected="data.resources, each with a resource",
            seen=reply.error,
            frame=reply.frame.n,
        )


@then("the token is in nothing that the host has sent")
def not_sent_back(world: World) -> None:
    world.a.fence()
    for frame in world.stage.frames:
        if frame.dir == "in":
            text = f"{frame.msg!r}{frame.raw or ''}"
            leaked = [name for secret, name in world.stage.recorder.secrets.items() if secret in text]
            expect(not leaked, "the host sends a token", expected="no token", seen=leaked, frame=frame.n)


@given("the agents are as the root lists them now")
def agents_now(world: World) -> None:
    world.noted["agents"] = _stable(world.fresh(ROOT_URI))


@then("the root lists the agents as before")
def agents_as_before(world: World) -> None:
    world.a.fence()
    expect_equal(
        _stable(world.fresh(ROOT_URI)),
        world.noted["agents"],
        "the agents in the root state",
        frame=world.stage.frames[-1].n,
    )


def _stable(root: Any) -> list[Any]:
    """What a sign-in leaves alone: models and customizations may well become known by it."""
    moving = ("models", "customizations", "_meta")
    return [{n: v for n, v in agent.items() if n not in moving} for agent in root.get("agents") or []]


@given("the client has authenticated for what the refusal names")
def answered_refusal(world: World) -> None:
    error = world.reply.error if world.reply is not None else None
    data = error.get("data") if isinstance(error, dict) else None
    listed = data.get("resources") if isinstance(data, dict) else None
    if not isinstance(listed, list) or not all(isinstance(r, dict) and r.get("resource") for r in listed):
        raise Unreached("precondition-failed", f"the refusal names no resources: {error!r:.300}")
    for resource in listed:
        push(world, resource["resource"], world.noted["good token"])
