"""Agents that cannot be used without a token, and the tokens that the driver has for them.

What a token of a real service looks like, only the driver can know: ``agent_tokens`` (resource -> token) names good
ones, ``refused_agent_tokens`` some that the service behind the agent refuses. Both are optional. For an agent that
plays playbooks its contract says it (docs/backend.md).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pytest_bdd import given, parsers, then, when

from conformance.backend.playbook import agent_token
from conformance.client import NotClaimed, Unreached
from scenarios.expect import expect, expect_equal, expect_success
from scenarios.tokens import AUTH_REQUIRED, INVALID_PARAMS, push
from scenarios.world import World


def _agents(world: World) -> list[Any]:
    agents = (world.stage.theatre.facts.root or {}).get("agents")
    return [a for a in agents if isinstance(a, dict)] if isinstance(agents, list) else []


def resources_of(agent: Any) -> list[Any]:
    """The protected resources that an agent lists."""
    listed = agent.get("protectedResources")
    return [r for r in listed if isinstance(r, dict)] if isinstance(listed, list) else []


def _requiring(world: World) -> Iterator[tuple[str, str]]:
    for agent in _agents(world):
        for resource in resources_of(agent):
            if resource.get("required") is not False and isinstance(resource.get("resource"), str):
                yield agent["provider"], resource["resource"]


@given(
    parsers.re(r"an agent that requires a token(?:, and (?P<token>a good one for it|one that its service refuses))?")
)
def requires_token(world: World, token: str | None = None) -> None:
    found = next(_requiring(world), None)
    if found is None:
        raise NotClaimed("no agent of the host requires a token")
    world.noted["agent"], world.noted["resource"] = found
    if token == "a good one for it":
        _note_token(world, "agent_tokens", "good token")
    elif token is not None:
        _note_token(world, "refused_agent_tokens", "refused token")


def _note_token(world: World, attribute: str, what: str) -> None:
    known = getattr(world.stage.theatre.driver, attribute, None) or {}
    for agent, resource in _requiring(world):
        token = known.get(resource) or _of_playing_agent(world, resource, attribute)
        if isinstance(token, str) and token:
            world.noted["agent"], world.noted["resource"] = agent, resource
            world.stage.recorder.conceal(what.replace(" ", "-"), token)
            world.noted[what] = token
            return
    raise Unreached("backend-missing", f"the driver names no {what} for a resource of an agent ({attribute})")


def _of_playing_agent(world: World, resource: str, attribute: str) -> str | None:
    """The contract of the playbook says which token such an agent takes; it refuses every other."""
    if not world.stage.theatre.facts.plays_playbooks:
        return None
    return agent_token(resource) if attribute == "agent_tokens" else world.stage.token("agent-refused").value


@given("an agent that requires no token")
def requires_none(world: World) -> None:
    for agent in _agents(world):
        if not resources_of(agent) and isinstance(agent.get("provider"), str):
            world.noted["agent"] = agent["provider"]
            return
    raise NotClaimed("each agent of the host lists protected resources")


@when(parsers.re(r"the client pushes the (?P<kind>good|refused) token for the agent(?P<scoped>, with its scopes)?"))
def pushes(world: World, kind: str, scoped: str | None) -> None:
    resource = world.noted["resource"]
    more: dict[str, Any] = {}
    if scoped:
        listed = [r for a in _agents(world) for r in resources_of(a) if r.get("resource") == resource]
        more["scopes"] = listed[0].get("scopes_supported") or []
    push(world, resource, world.noted[f"{kind} token"], **more)


@given("the client has authenticated for the agent")
def has_authenticated(world: World) -> None:
    world.a.succeed("authenticate", resource=world.noted["resource"], token=world.noted["good token"])


@when("the client creates a session with the agent")
def creates_session(world: World) -> None:
    session = world.stage.new_session_uri()
    world.reply = world.a.call("createSession", channel=session, provider=world.noted["agent"])


@given("the client was refused a session with the agent for want of a token")
def was_refused_session(world: World) -> None:
    creates_session(world)
    if _code(world) != AUTH_REQUIRED:
        raise NotClaimed("the host does not answer AuthRequired where a session wants an agent without a token")


@then("the push is answered with an empty object")
def empty_object(world: World) -> None:
    """A member that the host adds is no offence."""
    result = expect_success(world.reply, "authenticate")
    frame = world.reply.frame.n if world.reply else None
    expect(isinstance(result, dict), "the result of authenticate is no object", expected={}, seen=result, frame=frame)


@then("the session is created")
def session_created(world: World) -> None:
    expect_success(world.reply, "createSession")


@then("the session is refused with AuthRequired, unless it is created")
def refused_for_token(world: World) -> None:
    """A host that creates it is judged at the first use (AHP-AUTH-019)."""
    if world.reply is not None and not world.reply.failed:
        raise NotClaimed("the host lets the session be created without a token")
    if _code(world) == INVALID_PARAMS:
        raise Unreached("precondition-failed", f"the host wants more of a session: {_error(world)!r}")
    expect_equal(
        _code(world), AUTH_REQUIRED, "the code of the refusal", frame=world.reply.frame.n if world.reply else None
    )


@then("the session is not refused for want of a token")
def not_for_token(world: World) -> None:
    if world.reply is not None and world.reply.failed and _code(world) != AUTH_REQUIRED:
        raise Unreached("precondition-failed", f"createSession was refused for another reason: {_error(world)!r}")
    expect(
        world.reply is not None and not world.reply.failed,
        "an agent without protected resources asks for a token",
        expected="a session",
        seen=_error(world),
        frame=world.reply.frame.n if world.reply else None,
    )


def _error(world: World) -> Any:
    return world.reply.error if world.reply is not None else None


def _code(world: World) -> Any:
    error = _error(world)
    return error.get("code") if isinstance(error, dict) else None
