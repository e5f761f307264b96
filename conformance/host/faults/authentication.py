"""Hosts that are wrong about the resources of their agents, and about saying that a token is wanted."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from conformance.host import guarded
from conformance.protocol.errors import AUTH_REQUIRED, INTERNAL_ERROR

from .seams import Fault, Outgoing

if TYPE_CHECKING:
    from conformance.host.core import ReferenceHost
    from conformance.host.peers import Peer

JSON = Any


def _errors_with(change: Callable[[ReferenceHost, JSON], JSON]) -> Outgoing:
    """A hook that changes each AuthRequired error."""

    def hook(host: ReferenceHost, peer: Peer, message: JSON) -> list[JSON]:
        error = message.get("error")
        if error is None or error["code"] != AUTH_REQUIRED:
            return [message]
        return [{**message, "error": change(host, error)}]

    return hook


def _notices_with(change: Callable[[JSON], JSON]) -> Outgoing:
    """A hook that changes the params of each auth/required."""

    def hook(host: ReferenceHost, peer: Peer, message: JSON) -> list[JSON]:
        if message.get("method") != "auth/required":
            return [message]
        return [{**message, "params": change(message["params"])}]

    return hook


def _null_for_empty(host: ReferenceHost, peer: Peer, message: JSON) -> list[JSON]:
    return [{**message, "result": None}] if message.get("result") == {} else [message]


def _renamed(value: JSON) -> JSON:
    """Metadata with names in camel case, wherever they stand."""
    if isinstance(value, list):
        return [_renamed(item) for item in value]
    if not isinstance(value, dict):
        return value
    changed = {name: _renamed(item) for name, item in value.items()}
    if "authorization_servers" in changed:
        changed["authorizationServers"] = changed.pop("authorization_servers")
    return changed


def _remember_token(host: ReferenceHost, peer: Peer, message: JSON) -> None:
    if message.get("method") == "authenticate":
        host.scratch["token"] = message["params"].get("token")


def _quoting(host: ReferenceHost, peer: Peer, message: JSON) -> list[JSON]:
    if "error" not in message:
        return [message]
    text = f"{message['error']['message']}: {host.scratch.pop('token', '')}"
    return [{**message, "error": {**message["error"], "message": text}}]


def _flag_flips(host: ReferenceHost, peer: Peer, message: JSON) -> None:
    if message.get("method") == "authenticate":
        count = host.scratch["signed-in"] = host.scratch.get("signed-in", 0) + 1
        agents = [{**agent, "signedIn": count} for agent in host.root.state["agents"]]
        host.act(host.root, {"type": "root/agentsChanged", "agents": agents})


def _once_only(host: ReferenceHost, peer: Peer, message: JSON) -> None:
    """Note how often each client has pushed a token; the policy below looks at it."""
    if message.get("method") == "authenticate":
        pushes = host.scratch.setdefault("pushes", {})
        pushes[peer.client_id] = pushes.get(peer.client_id, 0) + 1
        host.scratch["pusher"] = peer.client_id


def _first_push(host: ReferenceHost, digest: str, scopes: tuple[str, ...] | None) -> bool:
    return bool(host.scratch["pushes"][host.scratch["pusher"]] == 1)


def _forget_on_refusal(host: ReferenceHost, peer: Peer, message: JSON) -> list[JSON]:
    if "error" in message and peer.client_id is not None:
        host.clients[peer.client_id].granted.clear()
    return [message]


def _elsewhere(host: ReferenceHost, error: JSON) -> JSON:
    named = [{**r, "resource": "https://internal.example/credential"} for r in error["data"]["resources"]]
    return {**error, "data": {"resources": named}}


FAULTS: Final = (
    Fault(
        "authenticate-answers-null",
        "AHP-AUTH-001",
        "authenticate is answered with null where it succeeds.",
        outgoing=_null_for_empty,
    ),
    Fault(
        "agent-resource-unknown",
        "AHP-AUTH-002",
        "authenticate does not know the resource that an agent lists.",
        policy={"knows_resource": lambda host, resource: resource != guarded.RESOURCE and host.advertised(resource)},
    ),
    Fault(
        "any-token-for-agents",
        "AHP-AUTH-004",
        "Any token for the resource of an agent is accepted.",
        policy={"accepts_agent_token": lambda host, digest, scopes: True},
    ),
    Fault(
        "scopes-demanded-for-agents",
        "AHP-AUTH-005",
        "A token that is pushed without scopes is taken to have none, and refused.",
        policy={"accepts_agent_token": lambda host, digest, scopes: scopes is not None},
    ),
    Fault(
        "missing-token-is-internal",
        "AHP-AUTH-007",
        "An agent that lacks its token is refused with an internal error.",
        outgoing=_errors_with(lambda host, error: {"code": INTERNAL_ERROR, "message": error["message"]}),
    ),
    Fault(
        "refusal-names-unknown-resource",
        "AHP-AUTH-009",
        "AuthRequired names a resource that authenticate does not know.",
        outgoing=_errors_with(_elsewhere),
    ),
    Fault(
        "token-demanded-for-all",
        "AHP-AUTH-011",
        "An agent that lists no resource cannot be used without a token either.",
        policy={
            "demands_token": lambda host, peer, provider: (
                guarded.RESOURCE not in host.clients[str(peer.client_id)].granted
            )
        },
    ),
    Fault(
        "metadata-in-camel-case",
        "AHP-AUTH-012",
        "Resource metadata name their members in camel case.",
        outgoing=lambda host, peer, message: [_renamed(message)],
    ),
    Fault(
        "token-in-error",
        "AHP-AUTH-013",
        "The error for a refused token quotes it.",
        incoming=_remember_token,
        outgoing=_quoting,
    ),
    Fault(
        "sign-in-shown-to-all",
        "AHP-AUTH-014",
        "The root state says how often somebody has authenticated for an agent.",
        incoming=_flag_flips,
    ),
    Fault(
        "token-kept-for-ever",
        "AHP-AUTH-015",
        "A second token for a resource is refused.",
        incoming=_once_only,
        policy={"accepts_agent_token": _first_push},
    ),
    Fault(
        "notice-with-foreign-reason",
        "AHP-AUTH-016",
        "auth/required gives a reason that only challenges of MCP servers have.",
        outgoing=_notices_with(lambda params: {**params, "reason": "insufficientScope"}),
    ),
    Fault(
        "notice-names-unknown-resource",
        "AHP-AUTH-018",
        "auth/required names a resource that authenticate does not know.",
        outgoing=_notices_with(
            lambda params: {
                **params,
                "resource": "https://internal.example/credential"
                if isinstance(params["resource"], str)
                else {**params["resource"], "resource": "https://internal.example/credential"},
            }
        ),
    ),
    Fault(
        "refusal-forgets-tokens",
        "AHP-AUTH-021",
        "A refused push makes the host forget the tokens that it had accepted.",
        outgoing=_forget_on_refusal,
    ),
    Fault(
        "notice-always-metadata",
        "AHP-AUTH-025",
        "auth/required gives the metadata of the resource in every version.",
        outgoing=_notices_with(lambda params: {**params, "resource": guarded.METADATA}),
    ),
    Fault(
        "notice-always-identifier",
        "AHP-AUTH-101",
        "auth/required gives the identifier of the resource in every version.",
        outgoing=_notices_with(lambda params: {**params, "resource": guarded.RESOURCE}),
    ),
)
