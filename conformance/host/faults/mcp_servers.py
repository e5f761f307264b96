"""Hosts that are wrong about their MCP servers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from conformance.host.policy import Policy

from .seams import Fault, altered, envelope_with, server_with, snapshot_with, without

if TYPE_CHECKING:
    from conformance.host.channels import Channel, Session
    from conformance.host.core import ReferenceHost
    from conformance.host.peers import Peer

JSON = Any


def _remember_token(host: ReferenceHost, peer: Peer, message: JSON) -> None:
    if message.get("method") == "authenticate":
        host.scratch["token"] = message["params"].get("token")


def _forever_starting(host: ReferenceHost, state: JSON) -> JSON:
    return {"kind": "starting"}


def _by_name(host: ReferenceHost, channel: Channel, action: JSON) -> list[JSON]:
    contributor = action.get("contributor") or {}
    if contributor.get("kind") != "mcp":
        return [action]
    return [{**action, "contributor": {"kind": "mcp", "customizationId": "the-server"}}]


def _poller(host: ReferenceHost, peer: Peer, channel: Channel, action: JSON) -> None:
    """A stopped server goes back to what it waited for."""
    if action["type"] == "session/mcpServerStopRequested":
        session = host.sessions[channel.uri]
        server = session.server_by_id(action["id"])
        if server is not None and server.challenge is not None:
            state = {"kind": "authRequired", "reason": "required", "resource": {"resource": server.resource}}
            host.act(
                session,
                {"type": "session/mcpServerStateChanged", "id": server.id, "state": state},
            )


def _disable_too(host: ReferenceHost, peer: Peer, channel: Channel, action: JSON) -> None:
    if action["type"] == "session/mcpServerStopRequested":
        session = host.sessions[channel.uri]
        server = session.server_by_id(action["id"])
        entry = session.entry_of(server) if server else None
        if entry is not None:
            off = {**entry, "enabled": False, "enablement": [{"kind": "session", "enabled": False}]}
            host.act(session, {"type": "session/customizationUpdated", "customization": off})


def _remint(host: ReferenceHost, peer: Peer, channel: Channel, action: JSON) -> None:
    """Each start gives the server a new id."""
    if action["type"] == "session/mcpServerStartRequested":
        session = host.sessions[channel.uri]
        server = session.server_by_id(action["id"])
        entry = session.entry_of(server) if server else None
        if server is not None and entry is not None:
            host.act(session, {"type": "session/customizationRemoved", "id": server.id})
            server.id = host.mint("mcp")
            host.act(
                session,
                {"type": "session/customizationUpdated", "customization": {**entry, "id": server.id}},
            )


def _chats_only(host: ReferenceHost, session: Session, version: str) -> int:
    right = Policy().activity(host, session, version)
    return 8 if right == 24 and not session.folds[version].get("inputNeeded") else right


def _bare(state: JSON) -> JSON:
    """Server entries with the kind of their state alone."""
    if "customizations" not in state:
        return state
    entries = [
        {**entry, "state": {"kind": entry["state"]["kind"]}} if "state" in entry else entry
        for entry in state["customizations"]
    ]
    return {**state, "customizations": entries}


FAULTS: Final = (
    Fault(
        "server-without-state",
        "AHP-MCP-001",
        "Entries of MCP servers are listed without state.",
        outgoing=envelope_with(
            "session/customizationUpdated",
            lambda peer, params: {
                **params,
                "action": {
                    **params["action"],
                    "customization": without(params["action"]["customization"], "state"),
                },
            },
        ),
    ),
    Fault(
        "never-ready",
        "AHP-MCP-002",
        "A server that is up stays in starting.",
        acting=server_with("ready", _forever_starting),
    ),
    Fault(
        "failure-not-reported",
        "AHP-MCP-003",
        "A server that cannot start stays in starting.",
        acting=server_with("error", _forever_starting),
    ),
    Fault(
        "challenge-at-start-is-an-error",
        "AHP-MCP-004",
        "A challenge while the host connects puts the server into error.",
        acting=server_with(
            "authRequired",
            lambda host, state: {
                "kind": "error",
                "error": {"errorType": "unauthorized", "message": "Unauthorized"},
            },
        ),
    ),
    Fault(
        "server-resource-is-metadata-url",
        "AHP-MCP-007",
        "resource of an authRequired state is the URL of the metadata document.",
        acting=server_with(
            "authRequired",
            lambda host, state: {
                **state,
                "resource": {
                    **state["resource"],
                    "resource": f"{state['resource']['resource']}/.well-known/oauth-protected-resource",
                },
            },
        ),
    ),
    Fault(
        "server-token-unused",
        "AHP-MCP-008",
        "A good token is stored, but the server stays authRequired.",
        policy={"resolves_servers": lambda: False},
    ),
    Fault(
        "start-without-outcome",
        "AHP-MCP-011",
        "After an accepted start request the server stays in starting.",
        policy={"shows_start": lambda requested: not requested},
    ),
    Fault(
        "stopped-server-asks-again",
        "AHP-MCP-013",
        "A server that was stopped while it waited for a token goes back to authRequired.",
        accepted=_poller,
    ),
    Fault(
        "disabled-server-runs-on",
        "AHP-MCP-018",
        "Disabling a server changes the flag alone.",
        policy={"stops_disabled": lambda: False},
    ),
    Fault("stop-disables", "AHP-MCP-019", "Stopping a server disables it too.", accepted=_disable_too),
    Fault(
        "server-challenge-does-not-raise",
        "AHP-MCP-020",
        "A challenge of a server in a turn leaves the session InProgress.",
        policy={"activity": _chats_only},
    ),
    Fault(
        "token-in-server-state",
        "AHP-MCP-023",
        "An authRequired state quotes the token that was pushed before.",
        incoming=_remember_token,
        acting=server_with(
            "authRequired",
            lambda host, state: {**state, "description": host.scratch["token"]} if host.scratch.get("token") else state,
        ),
    ),
    Fault(
        "contributor-names-no-entry",
        "AHP-MCP-026",
        "customizationId of a call is no id of an entry.",
        acting=altered("chat/toolCallStart", _by_name),
    ),
    Fault("new-id-per-start", "AHP-MCP-027", "Each requested start gives the server a new id.", accepted=_remint),
    Fault(
        "challenge-missing-in-snapshot",
        "AHP-MCP-040",
        "Snapshots hold the kind of a server's state alone.",
        outgoing=snapshot_with("lifecycle", _bare),
    ),
    Fault(
        "server-scopes-are-the-supported",
        "AHP-MCP-043",
        "requiredScopes of an authRequired state is a copy of scopes_supported.",
        acting=server_with(
            "authRequired",
            lambda host, state: {**state, "requiredScopes": state["resource"].get("scopes_supported", [])},
        ),
    ),
    Fault(
        "server-without-authorization-servers",
        "AHP-MCP-044",
        "resource of an authRequired state lacks authorization_servers.",
        acting=server_with(
            "authRequired",
            lambda host, state: {**state, "resource": without(state["resource"], "authorization_servers")},
        ),
    ),
    Fault(
        "server-description-dropped",
        "AHP-MCP-046",
        "The reason that the server gave is lost.",
        acting=server_with("authRequired", lambda host, state: without(state, "description")),
    ),
    Fault(
        "server-ready-on-any-push",
        "AHP-MCP-048",
        "Any token brings a waiting server to ready.",
        policy={"accepts_token": lambda credential, challenge: True},
    ),
    Fault(
        "server-scopes-dropped",
        "AHP-MCPS-031",
        "requiredScopes of an authRequired state is left out.",
        acting=server_with("authRequired", lambda host, state: without(state, "requiredScopes")),
    ),
    Fault(
        "server-always-expired",
        "AHP-MCPS-011",
        "The first challenge of a server says expired.",
        acting=server_with("authRequired", lambda host, state: {**state, "reason": "expired"}),
    ),
)
