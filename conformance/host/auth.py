"""Challenges of the simulated MCP servers, the tokens that meet them, and `authenticate`.

Tokens are kept as SHA-256 digests only: what the host does not have, it cannot leak. Sources:
`docs/specification/authentication.md`, `docs/guide/mcp.md` > Authentication.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from conformance.backend.playbook import token_hash
from conformance.protocol.errors import AUTH_REQUIRED, INVALID_PARAMS

from . import guarded, upstream
from .channels import Chat, Server, Session
from .rpc import RequestError, member, strings

if TYPE_CHECKING:
    from .core import ReferenceHost
    from .peers import Peer
    from .policy import Policy

JSON = Any

_AUTHORIZATION_SERVER: Final = "https://authorization.example"


@dataclass(frozen=True, slots=True)
class Credential:
    """A token as the host keeps it. scopes: what its client said that it grants, None when nothing."""

    digest: str
    scopes: tuple[str, ...] | None = None


@dataclass(slots=True, eq=False)
class Block:
    """Something that waits for a token: a tool call (`call_id`), or a server (`server`).

    starter: clientId of whoever started the turn. released: a token was accepted for it.
    """

    session: Session
    challenge: JSON
    chat: Chat | None = None
    turn_id: str = ""
    call_id: str = ""
    server: Server | None = None
    server_name: str = ""
    starter: str | None = None
    released: bool = False

    @property
    def resource(self) -> str:
        return str(self.challenge["resource"])

    @property
    def live(self) -> bool:
        """Whether it still waits, read off the state."""
        if self.session.disposed or (self.chat is not None and self.chat.uri not in self.session.chats):
            return False
        if self.server is not None:
            return self.server.challenge is self.challenge and (
                self.session.server_state(self.server) == "authRequired"
            )
        call = self.chat.call(self.turn_id, self.call_id) if self.chat else None
        return call is not None and call["status"] == "auth-required"

    def same(self, other: Block) -> bool:
        """Whether both are the wait of one call, or of one server."""
        if self.server is not None or other.server is not None:
            return self.server is other.server
        return self.chat is other.chat and self.call_id == other.call_id


class Vault:
    """The tokens of the host, by resource, and who waits for one."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._held: dict[str, Credential] = {}
        self._blocks: dict[str, list[Block]] = {}
        self._last: dict[str, JSON] = {}
        self._latest: dict[str, Block] = {}

    def held(self, resource: str) -> Credential | None:
        return self._held.get(resource)

    def any_held(self, resource: str) -> Credential | None:
        """What a host that mixes its tokens up would use."""
        return self._held.get(resource) or next(iter(reversed(self._held.values())), None)

    def keep(self, resource: str, credential: Credential) -> None:
        self._held[resource] = credential

    def withdraw(self, resource: str) -> None:
        self._held.pop(resource, None)

    def wait(self, block: Block) -> None:
        for other in [other for other in self.all() if other.same(block)]:
            self.forget(other)
        self._last[block.resource] = block.challenge
        self._latest[block.resource] = block
        self._blocks.setdefault(block.resource, []).append(block)

    def forget(self, block: Block) -> None:
        waiting = self._blocks.get(block.resource, [])
        if block in waiting:
            waiting.remove(block)
        if not waiting:
            self._blocks.pop(block.resource, None)

    def forget_blocks_of(self, starter: str) -> None:
        for block in [block for block in self.all() if block.starter == starter]:
            self.forget(block)

    def blocks_on(self, resource: str) -> list[Block]:
        """The live blocks on a resource, oldest first; the others are forgotten on the way."""
        for block in list(self._blocks.get(resource, ())):
            if not self._policy.still_waits(block):
                self.forget(block)
        return list(self._blocks.get(resource, ()))

    def all(self) -> Iterator[Block]:
        return (block for blocks in list(self._blocks.values()) for block in list(blocks))

    def was_challenged(self, resource: str) -> bool:
        return resource in self._last

    def latest(self, resource: str) -> Block | None:
        """The latest block on a resource, over or not."""
        return self._latest.get(resource)

    def last_challenge(self, resource: str) -> JSON | None:
        """The latest challenge on a resource: what its server is known to take."""
        return self._last.get(resource)


def refusal(host: ReferenceHost, challenge: JSON) -> str | None:
    """A reason of McpAuthRequirement when the simulated server refuses a request now, else None."""
    held = host.vault.held(challenge["resource"])
    if held is not None and host.policy.satisfies(held, challenge):
        return None
    return host.policy.reason(challenge["status"], held is not None)


def requirement(challenge: JSON, reason: str, server: str) -> JSON:
    """The McpAuthRequirement of a challenge; also the members of an McpServerAuthRequiredState."""
    auth: JSON = {"reason": reason, "resource": metadata(challenge, server)}
    for name, source in (
        ("oauthClient", "oauth_client"),
        ("requiredScopes", "scopes"),
        ("description", "error_description"),
    ):
        if challenge.get(source):
            auth[name] = challenge[source]
    return auth


def metadata(challenge: JSON, server: str) -> JSON:
    """The protected-resource metadata (RFC 9728) that the simulated server publishes."""
    published: JSON = {
        "resource": challenge["resource"],
        "resource_name": server,
        "authorization_servers": [_AUTHORIZATION_SERVER],
        "bearer_methods_supported": ["header"],
    }
    supported = challenge.get("scopes_supported") or challenge.get("scopes")
    if supported:
        published["scopes_supported"] = supported
    return published


def authenticate(host: ReferenceHost, peer: Peer, params: JSON) -> JSON:
    """Take a token for a resource, resolve what it covers, and answer; turns go on behind the answer.

    Raises RequestError: -32602 for a resource that nobody advertised, -32007 for a token that meets none of
    the challenges, which then stay as they are, as does a token accepted before.
    """
    if params["channel"] != "ahp-root://":
        raise RequestError(INVALID_PARAMS, "params.channel: this command belongs to ahp-root://")
    resource = member(params, "resource", str)
    token = member(params, "token", str)
    scopes = strings(params, "scopes", required=False)
    if not host.policy.knows_resource(host, resource):
        raise RequestError(INVALID_PARAMS, "params.resource: nothing here asks for a token for it")
    if resource == guarded.RESOURCE:
        return guarded.authenticate(host, peer, token, None if scopes is None else tuple(scopes))
    if not token:
        host.vault.withdraw(resource)
        return {}
    credential = Credential(token_hash(token), None if scopes is None else tuple(scopes))
    waiting = [block for block in host.vault.blocks_on(resource) if host.policy.may_resolve(host, peer, block)]
    covered = [block for block in waiting if _meets(host, credential, block.challenge)]
    known = host.vault.last_challenge(resource)
    refused = waiting and not covered
    if not waiting and known is not None:
        refused = not host.policy.accepts_token(credential, known)
    if refused:
        for block in waiting:
            if host.policy.uses_up(host, block):
                _fail_block(host, block)
        named = waiting[0].challenge if waiting else known
        name = waiting[0].server_name if waiting else "MCP server"
        raise RequestError(
            AUTH_REQUIRED, "the token does not meet the challenge", {"resources": [metadata(named, name)]}
        )
    host.vault.keep(resource, credential)
    latest = host.vault.latest(resource)
    if latest is not None and not latest.live and host.policy.asks_again(latest):
        upstream.call(host, resource, "", passed=True)
    for block in host.policy.released(host, covered):
        _resolve(host, block)
    return {}


def _meets(host: ReferenceHost, credential: Credential, challenge: JSON) -> bool:
    return host.policy.accepts_token(credential, challenge) and host.policy.covers_scopes(credential, challenge)


def _resolve(host: ReferenceHost, block: Block) -> None:
    host.vault.forget(block)
    block.released = True
    if block.server is not None:
        if host.policy.resolves_servers():
            host.act(
                block.session,
                {"type": "session/mcpServerStateChanged", "id": block.server.id, "state": {"kind": "ready"}},
            )
    elif block.chat is not None:
        host.act(
            block.chat,
            {"type": "chat/toolCallAuthResolved", "turnId": block.turn_id, "toolCallId": block.call_id},
        )


def _fail_block(host: ReferenceHost, block: Block) -> None:
    if block.chat is not None:
        result = {
            "success": False,
            "pastTenseMessage": "Was refused",
            "error": {"message": "the token was refused"},
        }
        host.act(
            block.chat,
            {
                "type": "chat/toolCallComplete",
                "turnId": block.turn_id,
                "toolCallId": block.call_id,
                "result": result,
            },
        )
