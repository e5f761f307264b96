"""Tokens: what waits for one, what clients are told of it, and `authenticate`, which tries a token before taking it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from conformance.host.auth import Block
from conformance.host.channels import Server
from conformance.host.rpc import RequestError, member, strings
from conformance.protocol import ROOT_URI
from conformance.protocol.errors import AUTH_REQUIRED, INVALID_PARAMS

from .flaws import LEAKS_TOKEN
from .upstream import Answer, Challenge, UpstreamError

if TYPE_CHECKING:
    from .host import AgentHost

JSON = Any


@dataclass(slots=True, eq=False, kw_only=True)
class Wait(Block):
    """A call or a server that waits for a token.

    attempt: makes the refused request again with a token. reply: what came of it with the token that was taken.
    behind: the server of a call.
    """

    told: Challenge
    attempt: Callable[[str], Awaitable[Answer | Challenge | None]]
    reply: Answer | Challenge | None = None
    behind: Server | None = None


def stored(told: Challenge) -> JSON:
    """A challenge in the form in which the vault files it."""
    return {"resource": told.resource}


def requirement(told: Challenge, oauth_client: JSON) -> JSON:
    """The McpAuthRequirement of a challenge; also the members of an McpServerAuthRequiredState."""
    auth: JSON = {"reason": told.reason, "resource": told.metadata}
    if told.scopes:
        auth["requiredScopes"] = list(told.scopes)
    if told.description:
        auth["description"] = told.description
    if oauth_client:
        auth["oauthClient"] = oauth_client
    return auth


async def authenticate(host: AgentHost, params: JSON) -> JSON:
    """Try the token where something waits for it, let that go on, and answer.

    Where nothing waits there is nothing to try: the token is kept for the next request to its resource. Raises
    RequestError: -32602 for a resource that nobody asked a token for, -32007 for a token that helps nobody.
    """
    if params["channel"] != ROOT_URI:
        raise RequestError(INVALID_PARAMS, f"params.channel: this command belongs to {ROOT_URI}")
    resource, token = member(params, "resource", str), member(params, "token", str)
    scopes = strings(params, "scopes", required=False)
    if not host.advertised(resource):
        raise RequestError(INVALID_PARAMS, "params.resource: nothing here asks for a token for it")
    if not token:
        host.tokens.pop(resource, None)
        return {}
    waiting = host.waits(None if host.flaw == LEAKS_TOKEN else resource)
    met = [wait for wait in waiting if await _met(wait, token, scopes)]
    if waiting and not met:
        resources = [waiting[0].told.metadata]
        raise RequestError(AUTH_REQUIRED, "the MCP server does not take this token", {"resources": resources})
    host.tokens[resource] = token
    for wait in met:
        _resolve(host, wait)
    return {}


async def _met(wait: Wait, token: str, scopes: list[str] | None) -> bool:
    """Whether the token meets the challenge, which the request that it is for shows best."""
    if scopes is not None and not set(wait.told.scopes) <= set(scopes):
        return False
    try:
        reply = await wait.attempt(token)
    except UpstreamError:
        return False
    if isinstance(reply, Challenge):
        told = wait.told
        if reply.status == 401 or (reply.status, reply.scopes) == (told.status, told.scopes):
            return False
        # The token is good, and now something else is wanted: a challenge of its own.
    wait.reply = reply
    return True


def _resolve(host: AgentHost, wait: Wait) -> None:
    host.vault.forget(wait)
    if wait.server is not None:
        # Whatever its wait was called meanwhile: the server takes the token.
        if wait.session.server_state(wait.server) == "authRequired":
            ready = {"type": "session/mcpServerStateChanged", "id": wait.server.id, "state": {"kind": "ready"}}
            host.act(wait.session, ready)
    elif wait.chat is not None and wait.live:  # else given up while its token was tried
        wait.released = True
        call = {"turnId": wait.turn_id, "toolCallId": wait.call_id}
        host.act(wait.chat, {"type": "chat/toolCallAuthResolved", **call})
