"""What auth/required names, and whether a client can act on it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pytest_bdd import parsers, then

from conformance.client import NotClaimed
from conformance.oracle.tracker import Notification
from conformance.protocol import ROOT_URI, violations
from scenarios.authenticating import resources_of
from scenarios.expect import expect, expect_equal
from scenarios.tokens import push
from scenarios.world import World


def _notices(world: World) -> Iterator[Notification]:
    world.a.fence()
    found = [n for n in world.a.mailbox.notifications if n.method == "auth/required"]
    if not found:
        raise NotClaimed("the host sends no auth/required for this")
    yield from found


@then("each auth/required names a channel, a resource and a reason of its own kind")
def notices_complete(world: World) -> None:
    for notice in _notices(world):
        told = notice.params
        legal = isinstance(told.get("channel"), str) and told.get("resource")
        expect(
            legal and (told.get("reason") is None or _is_own(world, told["reason"])),
            "auth/required is not complete",
            expected="channel, resource, reason required or expired",
            seen=told,
            frame=notice.frame.n,
        )


def _is_own(world: World, reason: Any) -> bool:
    """From 0.9.0 on there may be further reasons; that of a challenge for more scopes is none of this notification."""
    return reason != "insufficientScope" and not violations(world.version, "AuthRequiredReason", reason)


def _advertised(world: World) -> dict[Any, Any]:
    """The resources that agents list, by identifier."""
    agents = (world.fresh(ROOT_URI) or {}).get("agents") or []
    return {r.get("resource"): r for agent in agents for r in resources_of(agent)}


@then(
    parsers.re(
        r"each auth/required gives the resource (?P<form>as its identifier|with its metadata, as it is advertised)"
    )
)
def notices_name_resource(world: World, form: str) -> None:
    by_identifier, advertised = form == "as its identifier", _advertised(world)
    for notice in _notices(world):
        told = notice.params.get("resource")
        identifier = told.get("resource") if isinstance(told, dict) else None
        expect(
            isinstance(told if by_identifier else identifier, str),
            "resource in auth/required has another form",
            expected="a string" if by_identifier else "an object with resource",
            seen=notice.params,
            frame=notice.frame.n,
        )
        if not by_identifier:
            expect_equal(told, advertised.get(identifier, told), "the metadata in auth/required", frame=notice.frame.n)


@then("a good token for the resource that auth/required names is accepted")
def notice_can_be_answered(world: World) -> None:
    """A resource that another agent lists wants a token of its own, which the suite may not have."""
    others = _advertised(world).keys() - {world.noted["resource"]}
    named = [(n, n.params.get("resource")) for n in _notices(world)]
    for notice, told in named:
        identifier = told.get("resource") if isinstance(told, dict) else told
        if identifier in others:
            continue
        push(world, str(identifier), world.noted["good token"])
        expect(
            world.reply is not None and not world.reply.failed,
            "what auth/required names cannot be authenticated",
            expected="a result of authenticate",
            seen={"auth/required": notice.params, "authenticate": world.reply.error if world.reply else None},
            frame=notice.frame.n,
        )
    if all((told.get("resource") if isinstance(told, dict) else told) in others for _, told in named):
        raise NotClaimed("auth/required names the resources of other agents only")
