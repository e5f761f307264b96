"""Hosts that are wrong about sessions and who is active in them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from .seams import Fault, altered, envelope_with, snapshot_with, without

if TYPE_CHECKING:
    from conformance.host.channels import Channel
    from conformance.host.core import ReferenceHost
    from conformance.host.peers import Peer

JSON = Any


def _evict_others(host: ReferenceHost, peer: Peer, channel: Channel, action: JSON) -> None:
    if action["type"] == "session/activeClientSet":
        for entry in channel.state["activeClients"]:
            if entry["clientId"] != action["activeClient"]["clientId"]:
                host.act(channel, {"type": "session/activeClientRemoved", "clientId": entry["clientId"]})


def _remove_all(host: ReferenceHost, channel: Channel, action: JSON) -> list[JSON]:
    present = [entry["clientId"] for entry in channel.state["activeClients"]]
    return [{**action, "clientId": client_id} for client_id in present]


def _status_of(change: Any, *, snapshots: bool = True) -> Any:
    """Sessions and their summaries with another status."""

    def hook(host: ReferenceHost, peer: Peer, message: JSON) -> list[JSON]:
        params, result = message.get("params"), message.get("result")
        if message.get("method") == "root/sessionSummaryChanged" and "status" in params["changes"]:
            changes = {**params["changes"], "status": change(params["changes"]["status"])}
            return [{**message, "params": {**params, "changes": changes}}]
        if isinstance(result, dict) and "items" in result:
            items = [{**item, "status": change(item["status"])} for item in result["items"]]
            return [{**message, "result": {**result, "items": items}}]
        if not snapshots:
            return [message]
        return snapshot_with("lifecycle", lambda state: {**state, "status": change(state["status"])})(
            host, peer, message
        )

    return hook


def _numeric(message: JSON) -> JSON:
    result = message.get("result")
    if isinstance(result, dict) and "items" in result:
        items = [{**item, "modifiedAt": 1767225600000, "createdAt": 1767225600000} for item in result["items"]]
        return {**message, "result": {**result, "items": items}}
    return message


def _titles_kept(message: JSON) -> JSON:
    result = message.get("result")
    if isinstance(result, dict) and "items" in result:
        items = [{**item, "title": "New session"} for item in result["items"]]
        return {**message, "result": {**result, "items": items}}
    return message


FAULTS: Final = (
    Fault(
        "newcomer-evicts",
        "AHP-ACTC-002",
        "A client that becomes active evicts the others.",
        accepted=_evict_others,
    ),
    Fault(
        "stays-after-unsubscribe",
        "AHP-ACTC-004",
        "A client that unsubscribes from the session stays active.",
        policy={"removes_client": lambda cause: cause != "unsubscribe"},
    ),
    Fault(
        "stays-after-disconnect",
        "AHP-ACTC-005",
        "A client that is lost for good stays active.",
        policy={"removes_client": lambda cause: cause != "disconnect"},
    ),
    Fault(
        "stays-after-partial-reconnect",
        "AHP-ACTC-007",
        "A client whose reconnect leaves the session out stays active in it.",
        policy={"removes_client": lambda cause: cause != "reconnect"},
    ),
    Fault(
        "calls-of-lost-client-hang",
        "AHP-ACTC-008",
        "The calls of a client that left stay running.",
        policy={"ends_client_calls": lambda: False},
    ),
    Fault(
        "all-clients-removed",
        "AHP-ACTC-011",
        "When the host takes one client off, all are gone.",
        acting=altered("session/activeClientRemoved", _remove_all),
    ),
    Fault(
        "active-client-without-tools",
        "AHP-ACTC-012",
        "Entries of active clients lack tools in snapshots.",
        outgoing=snapshot_with(
            "lifecycle",
            lambda state: {
                **state,
                "activeClients": [without(entry, "tools") for entry in state["activeClients"]],
            },
        ),
    ),
    Fault(
        "empty-arrays-left-out",
        "AHP-SESS-008",
        "A session state lacks activeClients when nobody is active.",
        outgoing=snapshot_with(
            "lifecycle", lambda state: state if state["activeClients"] else without(state, "activeClients")
        ),
    ),
    Fault(
        "provider-is-display-name",
        "AHP-SESS-010",
        "provider of a session is the display name of the agent.",
        outgoing=snapshot_with("lifecycle", lambda state: {**state, "provider": "Scripted agent"}),
    ),
    Fault(
        "times-are-numbers",
        "AHP-SESS-023",
        "createdAt and modifiedAt are milliseconds since the epoch.",
        outgoing=lambda host, peer, message: [_numeric(message)],
    ),
    Fault(
        "rename-not-in-list",
        "AHP-SESS-030",
        "A new title never gets into listSessions.",
        outgoing=lambda host, peer, message: [_titles_kept(message)],
    ),
    Fault(
        "two-activities-at-once",
        "AHP-STAT-001",
        "The idle bit stays set while a turn runs.",
        outgoing=_status_of(lambda status: status | 1),
    ),
    Fault(
        "always-idle",
        "AHP-STAT-002",
        "The status of a session stays idle during turns.",
        outgoing=_status_of(lambda status: status & ~31 | 1),
    ),
    Fault(
        "errors-look-idle",
        "AHP-STAT-003",
        "A failed turn leaves the session idle.",
        policy={"activity": lambda host, session, version: _no_error(host, session, version)},
    ),
    Fault(
        "read-flag-kept",
        "AHP-STAT-004",
        "A new turn leaves the session marked as read.",
        acting=altered("session/isReadChanged", lambda host, channel, action: []),
    ),
    Fault(
        "catalogue-goes-stale",
        "AHP-CHAT-004",
        "The catalogue of chats never follows its chats.",
        acting=altered("session/chatUpdated", lambda host, channel, action: []),
    ),
    Fault(
        "default-chat-unnamed",
        "AHP-CHAT-050",
        "A session does not say which chat is its default.",
        outgoing=snapshot_with("lifecycle", lambda state: without(state, "defaultChat")),
    ),
    Fault(
        "list-ignores-flags",
        "AHP-STAT-011",
        "Summaries lose the read and archived flags.",
        outgoing=_status_of(lambda status: status & 31, snapshots=False),
    ),
    Fault(
        "rename-echo-without-origin",
        "AHP-SEQ-005",
        "A rename is echoed to its subscribers without origin.",
        outgoing=envelope_with("session/titleChanged", lambda peer, params: without(params, "origin")),
    ),
)


def _no_error(host: ReferenceHost, session: Any, version: str) -> int:
    from conformance.host.policy import Policy

    right = Policy().activity(host, session, version)
    return 1 if right == 2 else right
