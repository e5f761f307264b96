"""Handshakes: what a newcomer offers, and what it is told."""

from __future__ import annotations

from contextlib import suppress
from typing import Any
from uuid import uuid4

from pytest_bdd import given, parsers, then

from conformance.client import HostClosed, Unreached
from conformance.oracle.tracker import Reply
from conformance.protocol import ROOT_URI
from scenarios.connections import subscribe_to
from scenarios.expect import expect, expect_equal, expect_error, expect_success
from scenarios.handshake_table import ALL_MEMBERS, version_of_run
from scenarios.places import change, channel_of
from scenarios.world import World


@given(parsers.parse('a client "{name}" that has said nothing yet'))
def says_nothing(world: World, name: str) -> None:
    world.stage.enter(name)


@given(parsers.parse('a client "{name}" with the id "{identity}" on the session'))
def with_identity(world: World, name: str, identity: str) -> None:
    """The id is made unique at its end; one of 200 characters is filled up."""
    unique = str(uuid4())
    client_id = unique.ljust(200, "x") if identity == "200 characters" else f"{identity} {unique}"
    client = world.stage.enter(name, client_id=client_id)
    client.initialize([version_of_run(world)])
    subscribe_to(world, client, "the session")


@given(parsers.parse('a client "{name}" that was welcomed with all members'))
def welcomed(world: World, name: str) -> None:
    world.stage.enter(name).initialize([version_of_run(world)], [ROOT_URI], **_without_subscriptions(ALL_MEMBERS))


def _without_subscriptions(members: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in members.items() if name != "initialSubscriptions"}


@given(parsers.parse('a client "{name}" that named {what} in its handshake'))
def named(world: World, name: str, what: str) -> None:
    world.stage.join(name, [channel_of(world, what)])


def answer_to_handshake(world: World) -> Reply:
    name, number, method = world.noted["asked"]
    client = world.client(name)
    return client.wait(f"answer to {method}", lambda: client.mailbox.replies.get(number))


def _welcome(world: World) -> tuple[Any, Reply]:
    """The result of the last initialize. A refusal, or a result that is no object, is Broken."""
    reply = answer_to_handshake(world)
    result = expect_success(reply, "initialize")
    expect(
        isinstance(result, dict),
        "the result of initialize is no object",
        expected="an object",
        seen=result,
        frame=reply.frame.n,
    )
    return result, reply


@then("the version of the run is selected")
def version_selected(world: World) -> None:
    result, reply = _welcome(world)
    expect_equal(result.get("protocolVersion"), version_of_run(world), "the version", frame=reply.frame.n)


@then("the first version stays")
def first_version_stays(world: World) -> None:
    """A second handshake is refused or confirms the version: the text leaves open which (A-06).

    Behind a refusal the host may close the connection, as it must behind that of a first offer.
    """
    reply = answer_to_handshake(world)
    if reply.failed:
        with suppress(HostClosed):
            world.a.fence()
        return
    seen = reply.result.get("protocolVersion") if isinstance(reply.result, dict) else None
    expect_equal(seen, version_of_run(world), "the version", frame=reply.frame.n)
    world.a.fence()


@then(parsers.parse('client "{name}" can still shake hands'))
def can_shake_hands(world: World, name: str) -> None:
    world.client(name).initialize([version_of_run(world)])


@then("the number of the welcome is not behind the change, and later changes are ahead of it")
def number_fits(world: World) -> None:
    result, reply = _welcome(world)
    seq, earlier = result.get("serverSeq"), world.noted["echo"].seq
    expect(
        isinstance(seq, int | float) and seq >= earlier,
        "the number of the welcome is behind",
        expected=f"at least {earlier}",
        seen=seq,
        frame=reply.frame.n,
    )
    later = change(world, "A", "the session")
    expect(
        later is not None and later.seq > seq,
        "a later change is not ahead of the welcome",
        expected=f"a serverSeq above {seq}",
        seen=later.message if later else None,
        frame=later.frame.n if later else None,
    )


@then(parsers.re(r"the selected version is one of the offered ones(?P<or_none>, unless the offer is refused)?"))
def offered_selected(world: World, or_none: str | None) -> None:
    """A refusal selects none. Where it is allowed it has the code for it (A-03), else it is judged elsewhere."""
    reply = answer_to_handshake(world)
    if reply.failed and or_none:
        expect_error(reply, -32005, what="the offer")
        return
    if reply.failed:
        raise Unreached("precondition-failed", f"the offer was refused: {reply.error!r:.200}")
    seen = reply.result.get("protocolVersion") if isinstance(reply.result, dict) else None
    expect(
        seen in world.noted["params"]["protocolVersions"],
        "the version was not offered",
        expected=world.noted["params"]["protocolVersions"],
        seen=reply.frame.msg,
        frame=reply.frame.n,
    )


@then("the result has the version, the sequence number and the snapshots")
def result_members(world: World) -> None:
    result, reply = _welcome(world)
    seq = result.get("serverSeq")
    expect(
        isinstance(result.get("protocolVersion"), str)
        and isinstance(seq, int | float)
        and not isinstance(seq, bool)
        and isinstance(result.get("snapshots"), list),
        "the result of initialize is incomplete",
        expected="protocolVersion (string), serverSeq (number), snapshots (array)",
        seen=result,
        frame=reply.frame.n,
    )


@then("there is one snapshot for each of them, and no other")
def snapshots_named(world: World) -> None:
    result, reply = _welcome(world)
    snapshots = result.get("snapshots")
    seen = sorted(str(s.get("resource")) for s in snapshots) if isinstance(snapshots, list) else snapshots
    named = sorted(world.noted["params"]["initialSubscriptions"])
    expect_equal(seen, named, "the resources of the snapshots", frame=reply.frame.n)


@then("the host closes the connection after its refusal")
def closes_after_refusal(world: World) -> None:
    reply, client = answer_to_handshake(world), world.client(world.noted["asked"][0])
    expect(reply.failed, "the offer was not refused", expected="an error", seen=reply.frame.msg, frame=reply.frame.n)
    try:
        client.wait("close of the connection by the host", lambda: None)
    except HostClosed:
        return
