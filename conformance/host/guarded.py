"""The second agent of the host, which cannot be used without a token for its protected resource.

Its tokens are kept per client (`docs/specification/authentication.md` > Why not store auth status in root
state), unlike those of MCP servers, which serve everybody in a session.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from conformance.backend.playbook import agent_token, token_hash
from conformance.protocol.errors import AUTH_REQUIRED

from .rpc import RequestError
from .versions import at_least

if TYPE_CHECKING:
    from .core import ReferenceHost
    from .peers import Peer

JSON = Any

PROVIDER: Final = "guarded"
RESOURCE: Final = "https://guarded-agent.example/"
TOKEN: Final = agent_token(RESOURCE)
"""What the simulated service behind the agent accepts."""

METADATA: Final[JSON] = {
    "resource": RESOURCE,
    "resource_name": "Guarded agent",
    "authorization_servers": ["https://authorization.example"],
    "scopes_supported": ["agent.use"],
    "bearer_methods_supported": ["header"],
    "required": True,
}

AGENT: Final[JSON] = {
    "provider": PROVIDER,
    "displayName": "Guarded agent",
    "description": "Plays the playbook for those who have signed in.",
    "models": [{"id": "script", "provider": PROVIDER, "name": "Script"}],
    "capabilities": {"multipleChats": {}},
    "protectedResources": [METADATA],
}


def insist(host: ReferenceHost, peer: Peer, provider: str) -> None:
    """Raise AuthRequired (-32007) where a client wants an agent that it has no token for, and announce the need."""
    if not host.policy.demands_token(host, peer, provider):
        return
    host.announce_need(peer, METADATA if at_least(str(peer.version), "0.8.0") else RESOURCE)
    raise RequestError(AUTH_REQUIRED, "this agent needs a token", {"resources": [METADATA]})


def authenticate(host: ReferenceHost, peer: Peer, token: str, scopes: tuple[str, ...] | None) -> JSON:
    """Take a token for the agent. Raises RequestError -32007 for one that its service refuses."""
    granted = host.clients[str(peer.client_id)].granted
    if not token:
        granted.discard(RESOURCE)
        return {}
    if not host.policy.accepts_agent_token(host, token_hash(token), scopes):
        host.policy.agent_token_refused(granted)
        raise RequestError(AUTH_REQUIRED, "the token is not accepted", {"resources": [METADATA]})
    granted.add(RESOURCE)
    return {}
