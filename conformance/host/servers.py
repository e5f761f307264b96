"""MCP servers of a session: their entries among the customizations, and the life cycle of their state.

The servers are simulated; a challenge in the playbook says how one behaves. Sources:
`docs/guide/mcp.md`; types `McpServerCustomization`, `McpServerState`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import auth
from .auth import Block
from .channels import Server, Session
from .versions import is_enabled

if TYPE_CHECKING:
    from .agent import Turn
    from .core import ReferenceHost

JSON = Any


def named(host: ReferenceHost, session: Session, name: str) -> Server:
    """The server of that name; an unknown one is listed as `starting`, for the caller to connect."""
    server = session.servers.get(name)
    if server is None:
        identifier = host.mint("mcp")
        server = session.servers[name] = Server(identifier, name)
        entry = {
            "type": "mcpServer",
            "id": identifier,
            "uri": f"mcp-server:/{identifier}",
            "name": name,
            "enabled": True,
            "state": {"kind": "starting"},
        }
        host.act(session, {"type": "session/customizationUpdated", "customization": entry})
    return server


def ready_for_calls(host: ReferenceHost, session: Session, name: str) -> Server | None:
    """The server whose tool the agent wants, started when it is new; None when its tools are not there.

    A server that waits for authentication has told its tools before; one that is stopped has none.
    """
    new = name not in session.servers
    server = named(host, session, name)
    if new:
        start(host, session, server)
    return server if host.policy.offers_tools(session.server_state(server)) else None


def start(host: ReferenceHost, session: Session, server: Server) -> None:
    """Bring a server up as far as its challenge lets it."""
    entry = session.entry_of(server)
    if entry is None or not is_enabled(entry):
        return
    if session.server_state(server) in ("stopped", "error"):
        set_state(host, session, server, {"kind": "starting"})
    connect(host, session, server)


def connect(host: ReferenceHost, session: Session, server: Server, *, requested: bool = False) -> None:
    """Make the server's next request, and report where that leaves it.

    requested: a client asked for it, which the reducer has shown as `starting` already.
    """
    if not host.policy.shows_start(requested):
        return
    if server.fails is not None:
        error = {"errorType": "mcp-server-failed", "message": server.fails}
        set_state(host, session, server, {"kind": "error", "error": error})
        return
    reason = auth.refusal(host, server.challenge) if server.challenge else None
    if reason is None:
        if session.server_state(server) != "ready":
            set_state(host, session, server, {"kind": "ready"})
        return
    wanted = auth.requirement(server.challenge, reason, server.name)
    host.vault.wait(Block(session, server.challenge, server=server, server_name=server.name, chat=server.chat))
    set_state(host, session, server, {"kind": "authRequired", **wanted})


def stopped(host: ReferenceHost, session: Session, server: Server) -> None:
    """A server went down: the calls that wait for it end as failed, which takes their entries along."""
    if not host.policy.stops_calls():
        return
    for chat in session.chats.values():
        for call in list(chat.calls()):
            contributor = call.get("contributor") or {}
            if call["status"] == "auth-required" and contributor.get("customizationId") == server.id:
                active = chat.active
                host.act(
                    chat,
                    {
                        "type": "chat/toolCallComplete",
                        "turnId": active["id"] if active else "",
                        "toolCallId": call["toolCallId"],
                        "result": {
                            "success": False,
                            "pastTenseMessage": f"Could not finish {call['toolName']}",
                            "error": {"message": f"the MCP server {server.name} was stopped"},
                        },
                    },
                )


def set_state(host: ReferenceHost, session: Session, server: Server, state: JSON) -> None:
    """Publish the complete new state of a server."""
    host.act(session, {"type": "session/mcpServerStateChanged", "id": server.id, "state": state})


def after_client_action(host: ReferenceHost, session: Session, action: JSON) -> None:
    """Do what an accepted start, stop or toggle asks for."""
    server = session.server_by_id(action["id"])
    if server is None:
        return
    kind = action["type"]
    if kind == "session/mcpServerStartRequested":
        # A start that a client asks for is no request of a turn.
        server.chat, server.turn_id = None, None
        connect(host, session, server, requested=True)
    elif kind == "session/mcpServerStopRequested":
        stopped(host, session, server)
    elif kind == "session/customizationToggled":
        entry = session.entry_of(server)
        if entry is not None and not is_enabled(entry):
            if host.policy.stops_disabled() and session.server_state(server) != "stopped":
                set_state(host, session, server, {"kind": "stopped"})
                stopped(host, session, server)
        elif session.server_state(server) == "stopped":
            server.chat, server.turn_id = None, None
            start(host, session, server)


def raised_by(turn: Turn, server: Server) -> None:
    """Note that the coming challenge of a server belongs to the request of a turn."""
    server.chat, server.turn_id = turn.chat, turn.id
