"""Hosts that are wrong about what a challenge of a tool call says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from .seams import Fault, altered, challenge_with, without

if TYPE_CHECKING:
    from conformance.host.channels import Channel
    from conformance.host.core import ReferenceHost
    from conformance.host.peers import Peer

JSON = Any


def _remember_token(host: ReferenceHost, peer: Peer, message: JSON) -> None:
    if message.get("method") == "authenticate":
        host.scratch["token"] = message["params"].get("token")


def _quote_token(host: ReferenceHost, auth: JSON) -> JSON:
    token = host.scratch.get("token")
    return {**auth, "description": f"Authorization: Bearer {token}"} if token else auth


def _repeat_first(host: ReferenceHost, channel: Channel, action: JSON) -> list[JSON]:
    first = host.scratch.setdefault(action["toolCallId"], action["auth"])
    return [{**action, "auth": first}]


FAULTS: Final = (
    Fault(
        "first-challenge-says-expired",
        "AHP-TOOLAUTH-016",
        "The first 401, answered to a request without token, is reported as expired.",
        policy={"reason": lambda status, presented: "insufficientScope" if status == 403 else "expired"},
    ),
    Fault(
        "resource-is-metadata-url",
        "AHP-TOOLAUTH-017",
        "auth.resource.resource is the URL of the metadata document.",
        acting=challenge_with(
            lambda host, auth: {
                **auth,
                "resource": {
                    **auth["resource"],
                    "resource": f"{auth['resource']['resource']}/.well-known/oauth-protected-resource",
                },
            }
        ),
    ),
    Fault(
        "scopes-of-challenge-dropped",
        "AHP-TOOLAUTH-018",
        "requiredScopes is left out although the challenge names scopes.",
        acting=challenge_with(lambda host, auth: without(auth, "requiredScopes")),
    ),
    Fault(
        "token-in-description",
        "AHP-TOOLAUTH-019",
        "The description of a challenge quotes the token that was pushed before.",
        incoming=_remember_token,
        acting=challenge_with(_quote_token),
    ),
    Fault(
        "description-dropped",
        "AHP-TOOLAUTH-021",
        "The error_description of the challenge is lost.",
        acting=challenge_with(lambda host, auth: without(auth, "description")),
    ),
    Fault(
        "second-challenge-with-first-auth",
        "AHP-TOOLAUTH-038",
        "A second challenge of a call is reported with the auth of the first.",
        acting=altered("chat/toolCallAuthRequired", _repeat_first),
    ),
    Fault(
        "second-challenge-is-a-failure",
        "AHP-TOOLAUTH-038",
        "A second challenge of a call ends it as a failed tool.",
        policy={"surfaces_challenge": lambda turn, count: count == 0},
    ),
    Fault(
        "supported-scopes-published",
        "AHP-TOOLAUTH-055",
        "requiredScopes is a copy of scopes_supported.",
        acting=challenge_with(
            lambda host, auth: {**auth, "requiredScopes": auth["resource"].get("scopes_supported", [])}
        ),
    ),
    Fault(
        "expired-says-required",
        "AHP-TOOLAUTH-057",
        "A token that had worked and is refused with 401 is reported as required.",
        policy={"reason": lambda status, presented: "insufficientScope" if status == 403 else "required"},
    ),
    Fault(
        "step-up-says-required",
        "AHP-TOOLAUTH-058",
        "A 403 for want of scopes is reported as required.",
        policy={"reason": lambda status, presented: "expired" if status == 401 and presented else "required"},
    ),
    Fault(
        "no-authorization-servers",
        "AHP-TOOLAUTH-059",
        "auth.resource lacks authorization_servers.",
        acting=challenge_with(
            lambda host, auth: {**auth, "resource": without(auth["resource"], "authorization_servers")}
        ),
    ),
    Fault(
        "oauth-client-kept",
        "AHP-TOOLAUTH-061",
        "The configured OAuth client stays inside the host.",
        acting=challenge_with(lambda host, auth: without(auth, "oauthClient")),
    ),
    Fault(
        "resource-is-a-string",
        "AHP-TOOLAUTH-062",
        "auth.resource is the bare URL.",
        acting=challenge_with(lambda host, auth: {**auth, "resource": auth["resource"]["resource"]}),
    ),
)
