"""Actions that clients dispatch: what is ignored, what is refused and why, and what follows the rest.

Sources: `docs/specification/session-channel.md` and `chat-channel.md` > Server Validation of Client
Actions; `docs/guide/actions.md`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from conformance.protocol.actions import ACTIONS

from . import agent, answers, servers, shapes
from .channels import Channel, Chat, Session
from .versions import at_least, complete, is_enabled, knows

if TYPE_CHECKING:
    from .core import ReferenceHost
    from .peers import Peer

JSON = Any


def dispatch(host: ReferenceHost, peer: Peer, params: JSON) -> None:
    """Handle `dispatchAction`.

    Ignored without an echo are actions for channels that do not exist and types that the version does
    not know. Everything else is echoed: accepted to all subscribers, refused to its sender alone.
    """
    channel = host.channels.get(params["channel"])
    action, client_seq = params.get("action"), params.get("clientSeq")
    if channel is None or not isinstance(action, dict) or not isinstance(action.get("type"), str):
        return
    if isinstance(client_seq, bool) or not isinstance(client_seq, int | float):
        return
    if not knows(action["type"], str(peer.version)) or not host.policy.hears(peer, channel):
        return
    origin = {"clientId": peer.client_id, "clientSeq": client_seq}
    reason = refusal(host, peer, channel, action)
    if reason is not None:
        host.reject(peer, channel, action, origin, reason)
        return
    host.act(channel, complete(action), origin)
    if isinstance(channel, Chat):
        _after_chat_action(host, peer, channel, action)
    elif isinstance(channel, Session):
        _after_session_action(host, channel, action)
    host.accepted(peer, channel, action)


def refusal(host: ReferenceHost, peer: Peer, channel: Channel, action: JSON) -> str | None:
    """Why an action is refused, None when it is accepted."""
    kind = action["type"]
    version = str(peer.version)
    if ACTIONS[kind].channel != channel.kind:
        return f"{kind} does not belong on a {channel.kind} channel"
    if not host.policy.may_dispatch(kind, version):
        return f"{kind} comes from the host only"
    wrong = shapes.misshapen(action, decisions=at_least(version, "0.8.0"))
    if wrong is not None:
        return wrong
    if isinstance(channel, Chat):
        return _chat_refusal(host, peer, channel, action)
    if isinstance(channel, Session):
        return _session_refusal(host, peer, channel, action)
    return "this host has no configuration of its own"


def message_fault(host: ReferenceHost, message: JSON) -> str | None:
    """What keeps a client from sending this message, None when nothing does."""
    if not shapes.is_message(message):
        return "the message lacks its text or its origin"
    if message["origin"]["kind"] != "user":
        return "a client sends messages of the user only"
    for attachment in message.get("attachments", ()):
        if isinstance(attachment, dict) and attachment.get("type") == "chat":
            attached = host.channels.get(str(attachment.get("resource")))
            if not isinstance(attached, Chat):
                return "the message attaches a chat that is not here"
            end = attachment.get("endTurn")
            if end is not None and all(turn["id"] != end for turn in attached.state["turns"]):
                return "the message attaches a chat up to a turn that is not finished there"
    return None


def client_fault(host: ReferenceHost, peer: Peer, entry: JSON) -> str | None:
    """What keeps a client from making this entry active, None when nothing does."""
    if not shapes.is_active_client(entry):
        return "an active client has a clientId and an array of tools with names"
    if host.policy.own_client_only() and entry["clientId"] != peer.client_id:
        return "a client makes nobody active but itself"
    return None


def _chat_refusal(host: ReferenceHost, peer: Peer, chat: Chat, action: JSON) -> str | None:
    kind = action["type"]
    active = chat.active
    if kind == "chat/turnStarted":
        if active is not None and host.policy.one_turn_at_a_time():
            return "a turn is running in this chat"
        if chat.session.state["lifecycle"] != "ready":
            return "the session is not ready"
        if action["turnId"] in chat.used_turns:
            return "the turnId was used in this chat before"
        return message_fault(host, action["message"])
    if kind == "chat/turnCancelled":
        return None if active is not None and active["id"] == action["turnId"] else "no such turn is running"
    if kind == "chat/truncated":
        known = "turnId" not in action or any(turn["id"] == action["turnId"] for turn in chat.state["turns"])
        return None if known else "no such turn to truncate at"
    if kind == "chat/turnResume":
        return "no turn here can be resumed"
    if kind in ("chat/workingDirectorySet", "chat/workingDirectoryRemoved"):
        return "this agent works in one directory"
    if kind.startswith("chat/toolCall"):
        return _call_refusal(host, peer, chat, action)
    if kind in ("chat/inputAnswerChanged", "chat/inputCompleted"):
        return answers.refusal(chat, action, once=host.policy.answers_once())
    if kind == "chat/pendingMessageSet":
        return message_fault(host, action["message"])
    if kind == "chat/pendingMessageRemoved":
        return None if _is_pending(chat, action) else "no such message is waiting"
    if kind == "chat/draftChanged" and "draft" in action:
        return message_fault(host, action["draft"])
    return None


def _call_refusal(host: ReferenceHost, peer: Peer, chat: Chat, action: JSON) -> str | None:
    kind = action["type"]
    policy = host.policy
    if kind not in _CALL_ACTIONS:
        return None  # only a fault lets these in
    call = chat.call(action["turnId"], action["toolCallId"])
    if call is None:
        return "no such tool call in the running turn"
    status = call["status"]
    if kind == "chat/toolCallConfirmed":
        if not policy.confirmable(call):
            return "the tool call is not waiting for confirmation"
        if "editedToolInput" in action and not call.get("editable"):
            return "the input of this tool call cannot be edited"
        return None
    if kind == "chat/toolCallResultConfirmed":
        return None if status == "pending-result-confirmation" else "no result is waiting for approval"
    if kind == "chat/toolCallContentChanged" and not policy.changes_content(call):
        return "the tool call is not running"
    if kind == "chat/toolCallComplete" and status == "auth-required":
        if action["result"]["success"]:
            return "a call that waits for authentication has no result" if policy.refuses_success() else None
        return None if policy.may_fail_blocked(chat, peer) else "this tool call is not the client's"
    if status == "auth-required":
        return None  # content of a blocked call, which only a fault lets in
    if status != "running":
        return "the tool call is not running"
    return None if policy.owns(call, peer) else "this tool call is not the client's"


_CALL_ACTIONS = frozenset(
    {
        "chat/toolCallConfirmed",
        "chat/toolCallResultConfirmed",
        "chat/toolCallContentChanged",
        "chat/toolCallComplete",
    }
)


def _session_refusal(host: ReferenceHost, peer: Peer, session: Session, action: JSON) -> str | None:
    kind = action["type"]
    if kind == "session/activeClientSet":
        return client_fault(host, peer, action["activeClient"])
    if kind == "session/activeClientRemoved":
        own = action["clientId"] == peer.client_id or not host.policy.own_client_only()
        return None if own or not session.has_client(action["clientId"]) else "a client removes only itself"
    if kind == "session/configChanged":
        return "the session has no configuration"
    if kind in (
        "session/customizationToggled",
        "session/mcpServerStartRequested",
        "session/mcpServerStopRequested",
    ):
        server = session.server_by_id(action["id"])
        entry = session.entry_of(server) if server else None
        if entry is None:
            return "the session has no such MCP server"
        if kind == "session/mcpServerStartRequested" and not is_enabled(entry):
            return "the MCP server is disabled"
        return None
    if kind.startswith("session/workingDirectory"):
        return "this agent works in one directory"
    if kind == "session/mcpServerBackgroundRequested":
        return "no turn waits for the start of this MCP server"
    return None


def _is_pending(chat: Chat, action: JSON) -> bool:
    if action["kind"] == "steering":
        return bool(chat.state.get("steeringMessage", {}).get("id") == action["id"])
    return any(entry["id"] == action["id"] for entry in chat.state.get("queuedMessages", ()))


def _after_chat_action(host: ReferenceHost, peer: Peer, chat: Chat, action: JSON) -> None:
    kind = action["type"]
    if kind == "chat/turnStarted":
        agent.take_up(host, chat, starter=peer.client_id)
    elif kind in ("chat/turnCancelled", "chat/truncated"):
        active = chat.active
        if chat.turn is not None and (active is None or active["id"] != chat.turn.id):
            chat.turn.stop()
    elif kind == "chat/pendingMessageSet" and chat.active is None:
        agent.next_queued(host, chat)


def _after_session_action(host: ReferenceHost, session: Session, action: JSON) -> None:
    kind = action["type"]
    if kind == "session/activeClientRemoved":
        agent.client_left(host, session, action["clientId"])
    elif kind in (
        "session/mcpServerStartRequested",
        "session/mcpServerStopRequested",
        "session/customizationToggled",
    ):
        servers.after_client_action(host, session, action)
