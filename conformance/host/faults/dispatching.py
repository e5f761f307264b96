"""Hosts that are wrong about the actions of clients and their order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import orjson

from conformance.host.channels import Chat
from conformance.host.policy import Policy
from conformance.protocol.actions import ACTIONS

from .handshaking import key_of
from .seams import Fault, snapshot_with, without

if TYPE_CHECKING:
    from conformance.host.channels import Channel
    from conformance.host.core import ReferenceHost
    from conformance.host.peers import Peer

JSON = Any

_NOWHERE: Final = "ahp-nowhere:/"


def dispatched(change: Any) -> Any:
    """A hook that sees the params of each dispatchAction with an action, and may change them."""

    def hook(host: ReferenceHost, peer: Peer, message: JSON) -> None:
        params = message.get("params")
        if message.get("method") == "dispatchAction" and isinstance((params or {}).get("action"), dict):
            change(host, peer, params)

    return hook


def envelope(host: ReferenceHost, peer: Peer, params: JSON, **more: JSON) -> JSON:
    """The notification that would deliver a dispatch of this client."""
    origin = {"clientId": peer.client_id, "clientSeq": params.get("clientSeq")}
    host.seq += 1
    body = {"channel": params["channel"], "action": params["action"], "serverSeq": host.seq, "origin": origin}
    return {"jsonrpc": "2.0", "method": "action", "params": {**body, **more}}


def _actions(change: Any) -> Any:
    def hook(host: ReferenceHost, peer: Peer, message: JSON) -> list[JSON]:
        return change(host, peer, message) if message.get("method") == "action" else [message]

    return hook


def _hide_origin(host: ReferenceHost, peer: Peer, message: JSON) -> list[JSON]:
    params = message["params"]
    foreign = (params.get("origin") or {}).get("clientId") not in (None, peer.client_id)
    return [{**message, "params": without(params, "origin")} if foreign else message]


def _swallow_no_ops(host: ReferenceHost, peer: Peer, params: JSON) -> None:
    channel, action = host.channels.get(params["channel"]), params["action"]
    if channel is None:
        return
    same_flag = action["type"] == "session/isReadChanged" and (
        bool(channel.state["status"] & 32) == action.get("isRead")
    )
    same_entry = action["type"] == "session/activeClientSet" and (
        action.get("activeClient") in channel.state["activeClients"]
    )
    if same_flag or same_entry:
        params["channel"] = _NOWHERE


def _rejections_first(host: ReferenceHost, peer: Peer, message: JSON) -> list[JSON]:
    """Accepted drafts wait for the next other message; a rejection overtakes them."""
    held = host.scratch.setdefault(key_of(peer), [])
    params = message.get("params") or {}
    if message.get("method") == "action" and params["action"]["type"] == "chat/draftChanged":
        held.append(message)
        return []
    waiting, held[:] = list(held), []
    return [message, *waiting] if "rejectionReason" in params else [*waiting, message]


def _own_first(host: ReferenceHost, peer: Peer, message: JSON) -> list[JSON]:
    held = host.scratch.setdefault(key_of(peer), [])
    params = message.get("params") or {}
    rename = message.get("method") == "action" and params["action"]["type"] == "session/titleChanged"
    if rename and (params.get("origin") or {}).get("clientId") != peer.client_id:
        held.append(message)
        return []
    waiting, held[:] = list(held), []
    return [message, *waiting] if rename else [*waiting, message]


def _leave_trace(host: ReferenceHost, peer: Peer, message: JSON) -> list[JSON]:
    channel = host.channels.get(message["params"]["channel"])
    if "rejectionReason" in message["params"] and isinstance(channel, Chat):
        for version, state in channel.folds.items():
            channel.folds[version] = {**state, "draft": {"text": "trace", "origin": {"kind": "user"}}}
    return [message]


def _tell_others(host: ReferenceHost, peer: Peer, message: JSON) -> list[JSON]:
    channel = host.channels.get(message["params"]["channel"])
    if "rejectionReason" in message["params"] and channel is not None:
        accepted = {**message, "params": without(message["params"], "rejectionReason")}
        for other in channel.subscribers:
            if other is not peer:
                other.send(orjson.dumps(accepted).decode())
    return [message]


def _coerce(host: ReferenceHost, peer: Peer, params: JSON) -> None:
    action = params["action"]
    if action["type"] == "session/titleChanged":
        action["title"] = str(action.get("title", ""))
    elif action["type"] == "session/isReadChanged":
        action["isRead"] = bool(action.get("isRead"))


def _reject_nowhere(host: ReferenceHost, peer: Peer, params: JSON) -> None:
    if params["channel"] not in host.channels:
        host.answer(peer, envelope(host, peer, params, rejectionReason="no such channel"))


def _relay_unknown(host: ReferenceHost, peer: Peer, params: JSON) -> None:
    channel = host.channels.get(params["channel"])
    if channel is not None and params["action"].get("type") not in ACTIONS:
        message = envelope(host, peer, params)
        for other in channel.subscribers:
            host.answer(other, message)


def _route_by_type(host: ReferenceHost, peer: Peer, params: JSON) -> None:
    channel = host.channels.get(params["channel"])
    if isinstance(channel, Chat) and params["action"]["type"].startswith("session/"):
        params["channel"] = channel.session.uri


def _wait_for_gaps(host: ReferenceHost, peer: Peer, params: JSON) -> None:
    last = host.scratch.get(key_of(peer))
    if last is not None and params.get("clientSeq", 0) > last + 1:
        params["channel"] = _NOWHERE
    host.scratch[key_of(peer)] = params.get("clientSeq", 0)


def _take_root_actions(host: ReferenceHost, peer: Peer, params: JSON) -> None:
    action = params["action"]
    if params["channel"] == "ahp-root://" and action["type"] in ("root/agentsChanged", "root/terminalsChanged"):
        host.act(host.root, dict(action), {"clientId": peer.client_id, "clientSeq": params["clientSeq"]})
        params["channel"] = _NOWHERE


def _also(*types: str) -> Any:
    return {"may_dispatch": lambda kind, version: kind in types or Policy().may_dispatch(kind, version)}


def refusing(kind: str) -> Any:
    """The policy of a host that takes an action from no client."""
    return {"may_dispatch": lambda given, version: given != kind and Policy().may_dispatch(given, version)}


def _hears(peer: Peer, channel: Channel) -> bool:
    return channel.kind != "chat" or peer in channel.subscribers


FAULTS: Final = (
    Fault("origin-hidden-from-others", "AHP-SEQ-006", "Only the author sees the origin of an action.",
          outgoing=_actions(_hide_origin)),
    Fault("no-ops-swallowed", "AHP-SEQ-007", "Actions that change nothing are not echoed.",
          incoming=dispatched(_swallow_no_ops)),
    Fault("rejections-overtake", "AHP-SEQ-008", "Rejections overtake accepted echoes.", outgoing=_rejections_first),
    Fault("rejected-leaves-trace", "AHP-SEQ-010", "A rejected chat action is left in the state.",
          outgoing=_actions(_leave_trace)),
    Fault("own-echo-first", "AHP-SEQ-014", "Each client sees its own renames before those of others.",
          outgoing=_own_first),
    Fault("rejected-told-to-others", "AHP-SEQ-018", "Others get a rejected action as an accepted one.",
          outgoing=_actions(_tell_others)),
    Fault("malformed-coerced", "AHP-DISP-001", "Members of a wrong type are turned into the right one.",
          incoming=dispatched(_coerce)),
    Fault("nowhere-rejected", "AHP-DISP-002", "An action for a channel that does not exist is echoed as rejected.",
          incoming=dispatched(_reject_nowhere)),
    Fault("unknown-actions-relayed", "AHP-DISP-004", "Actions of unknown type go to all subscribers.",
          incoming=dispatched(_relay_unknown)),
    Fault("routed-by-type", "AHP-DISP-005", "A session action on a chat takes effect on its session.",
          incoming=dispatched(_route_by_type)),
    Fault("any-default-chat", "AHP-DISP-006", "Any URI can become the default chat.",
          policy=_also("session/defaultChatChanged")),
    Fault("waits-for-client-seq", "AHP-DISP-008", "A gap in clientSeq holds actions up.",
          incoming=dispatched(_wait_for_gaps)),
    Fault("archiving-refused", "AHP-DISP-009", "session/isArchivedChanged is refused.",
          policy=refusing("session/isArchivedChanged")),
    Fault("rename-not-stored", "AHP-DISP-010", "A new title is relayed, but not in later snapshots.",
          outgoing=snapshot_with("lifecycle", lambda state: {**state, "title": "New session"})),
    Fault("strangers-not-heard", "AHP-ORIGIN-014", "Chat actions of clients that do not follow the chat are dropped.",
          policy={"hears": _hears}),
    Fault("root-actions-forged", "AHP-ORIGIN-017", "Root actions of clients take effect.",
          incoming=dispatched(_take_root_actions)),
)  # fmt: skip
