"""Hosts that are wrong about the life of their MCP servers, and about who learns of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from conformance.host import guarded

from .seams import Fault, altered, server_with, snapshot_with, without

if TYPE_CHECKING:
    from conformance.host.auth import Block
    from conformance.host.channels import Channel, Server, Session
    from conformance.host.core import ReferenceHost
    from conformance.host.peers import Peer

JSON = Any

_REQUESTS: Final = ("session/mcpServerStartRequested", "session/mcpServerStopRequested")


def _entries(state: JSON, change: Any) -> JSON:
    if "customizations" not in state:
        return state
    return {**state, "customizations": [change(entry) for entry in state["customizations"]]}


def _announce(host: ReferenceHost, state: JSON) -> None:
    for peer in host.root.subscribers:
        host.announce_need(peer, state["resource"] if peer.version != "0.6.0" else state["resource"]["resource"])


def _announced_too(host: ReferenceHost, state: JSON) -> JSON:
    _announce(host, state)
    return state


def _announced_only(host: ReferenceHost, state: JSON) -> JSON:
    _announce(host, state)
    return {"kind": "starting"}


def _stopped_between(host: ReferenceHost, channel: Channel, action: JSON) -> list[JSON]:
    if action["state"]["kind"] != "ready":
        return [action]
    return [{**action, "state": {"kind": "stopped"}}, action]


def _launch_told(host: ReferenceHost, channel: Channel, action: JSON) -> list[JSON]:
    launch = {"command": "/usr/bin/vault", "args": ["--stdio"], "env": {"VAULT_KEY": "0xdeadbeef"}}
    return [{**action, "customization": {**action["customization"], "_meta": {"definition": launch}}}]


def _no_flag(host: ReferenceHost, channel: Channel, action: JSON) -> list[JSON]:
    return [{**action, "customization": without(action["customization"], "enabled")}]


def _unknown_request(message: JSON) -> JSON:
    params = message.get("params") or {}
    action = params.get("action") or {}
    return action if message.get("method") == "dispatchAction" and action.get("type") in _REQUESTS else None


def _entry_for_unknown(host: ReferenceHost, peer: Peer, message: JSON) -> None:
    action = _unknown_request(message)
    session = host.sessions.get(message["params"]["channel"]) if action else None
    if session is not None and session.server_by_id(action["id"]) is None:
        entry = {
            "type": "mcpServer",
            "id": action["id"],
            "uri": "mcp-server:/unknown",
            "name": action["id"],
            "enabled": True,
            "state": {"kind": "stopped"},
        }
        host.act(session, {"type": "session/customizationUpdated", "customization": entry})


def _first_for_unknown(host: ReferenceHost, peer: Peer, message: JSON) -> None:
    action = _unknown_request(message)
    session = host.sessions.get(message["params"]["channel"]) if action else None
    if session is not None and session.server_by_id(action["id"]) is None:
        for server in session.servers.values():
            host.act(
                session,
                {"type": "session/mcpServerStateChanged", "id": server.id, "state": {"kind": "stopped"}},
            )


def _remember_present(host: ReferenceHost, state: JSON) -> JSON:
    host.scratch["present"] = set(host.peers)
    return state


def _was_present(host: ReferenceHost, peer: Peer, block: Block) -> bool:
    return block.server is None or peer in host.scratch.get("present", ())


def _still_raises(session: Session, server: Server) -> bool:
    return server.chat is not None and server.challenge is not None


FAULTS: Final = (
    Fault(
        "expired-server-says-required",
        "AHP-MCP-005",
        "A server whose token has expired gives the reason required.",
        acting=server_with(
            "authRequired",
            lambda host, state: {**state, "reason": "required"} if state["reason"] == "expired" else state,
        ),
    ),
    Fault(
        "server-step-up-says-required",
        "AHP-MCP-006",
        "A server whose token lacks a scope gives the reason required.",
        acting=server_with(
            "authRequired",
            lambda host, state: {**state, "reason": "required"} if state["reason"] == "insufficientScope" else state,
        ),
    ),
    Fault(
        "channel-missing-in-changes",
        "AHP-MCP-009",
        "A server goes on having the side channel that its state changes leave out.",
        outgoing=snapshot_with(
            "lifecycle",
            lambda state: _entries(state, lambda entry: {**entry, "channel": f"mcp://{entry['id']}/"}),
        ),
    ),
    Fault(
        "stopped-server-serves",
        "AHP-MCP-012",
        "A server that is said to be stopped goes on serving the agent.",
        policy={"offers_tools": lambda state: True, "serves": lambda state: True},
    ),
    Fault(
        "stopped-server-still-raises",
        "AHP-MCP-014",
        "The session needs input for a server that was stopped.",
        policy={"raises_session": _still_raises},
    ),
    Fault(
        "request-makes-entry",
        "AHP-MCP-016",
        "A start or stop request for an unknown id brings about an entry for it.",
        incoming=_entry_for_unknown,
    ),
    Fault(
        "request-hits-others",
        "AHP-MCP-016",
        "A start or stop request for an unknown id stops the servers that are there.",
        incoming=_first_for_unknown,
    ),
    Fault(
        "stopped-before-ready",
        "AHP-MCP-017",
        "A server passes stopped on its way to ready.",
        acting=altered("session/mcpServerStateChanged", _stopped_between),
    ),
    Fault(
        "launch-details-in-entry",
        "AHP-MCP-029",
        "The whole definition of a server, its environment included, is part of its entry.",
        acting=altered("session/customizationUpdated", _launch_told),
    ),
    Fault(
        "challenge-only-announced",
        "AHP-MCP-039",
        "A challenged server stays in starting, and only auth/required tells of the challenge.",
        acting=server_with("authRequired", _announced_only),
    ),
    Fault(
        "enabled-left-out",
        "AHP-MCP-042",
        "An entry says nothing of being enabled when it is.",
        acting=altered("session/customizationUpdated", _no_flag),
    ),
    Fault(
        "server-resource-unknown",
        "AHP-MCP-047",
        "authenticate knows the resources of agents and of blocked calls only.",
        policy={
            "knows_resource": lambda host, resource: (
                resource == guarded.RESOURCE or any(block.server is None for block in host.vault.blocks_on(resource))
            )
        },
    ),
    Fault(
        "server-challenge-announced",
        "AHP-MCP-049",
        "auth/required is sent for the resource of a server, beside its state.",
        acting=server_with("authRequired", _announced_too),
    ),
    Fault(
        "latecomers-cannot-resolve",
        "AHP-MCP-050",
        "Only connections that were there at the challenge of a server can meet it.",
        acting=server_with("authRequired", _remember_present),
        policy={"may_resolve": _was_present},
    ),
    Fault(
        "server-challenge-without-metadata",
        "AHP-MCPS-002",
        "An authRequired state has no resource.",
        acting=server_with("authRequired", lambda host, state: without(state, "resource")),
    ),
    Fault(
        "stop-does-not-show",
        "AHP-MCPS-005",
        "Snapshots show a server ready that a granted request has stopped.",
        outgoing=snapshot_with(
            "lifecycle",
            lambda state: _entries(
                state,
                lambda entry: {**entry, "state": {"kind": "ready"}} if entry["state"]["kind"] == "stopped" else entry,
            ),
        ),
    ),
    Fault(
        "stopped-tools-offered",
        "AHP-MCPS-015",
        "The agent is offered the tools of a stopped server, and its calls fail late.",
        policy={"offers_tools": lambda state: True},
    ),
    Fault(
        "server-oauth-client-kept",
        "AHP-MCPS-035",
        "The OAuth client that the host has for a server stays inside the host.",
        acting=server_with("authRequired", lambda host, state: without(state, "oauthClient")),
    ),
)
