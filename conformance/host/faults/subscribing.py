"""Hosts that are wrong about subscriptions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from conformance.host.channels import Chat

from .handshaking import errors, key_of, requests, succeeded
from .seams import Fault, without

if TYPE_CHECKING:
    from conformance.host.core import ReferenceHost
    from conformance.host.peers import Peer

JSON = Any

_NOWHERE: Final = "ahp-nowhere:/"


def _subscribed(change: Any) -> Any:
    """A hook for results of subscribe with a snapshot."""

    def hook(host: ReferenceHost, peer: Peer, message: JSON) -> list[JSON]:
        result = message.get("result")
        if isinstance(result, dict) and "snapshot" in result:
            return [{**message, "result": change(host, peer, result)}]
        return [message]

    return hook


def _snapshot(change: Any) -> Any:
    return _subscribed(lambda host, peer, result: {**result, "snapshot": change(host, result["snapshot"])})


def _cached(host: ReferenceHost, snapshot: JSON) -> JSON:
    return host.scratch.setdefault(snapshot["resource"], snapshot)


def _late_entry(host: ReferenceHost, peer: Peer, message: JSON) -> list[JSON]:
    """What is delivered before the next message of the new subscriber is lost."""
    result = message.get("result")
    if isinstance(result, dict) and "snapshot" in result:
        host.scratch[key_of(peer)] = result["snapshot"]["resource"]
    lost = host.scratch.get(key_of(peer))
    if message.get("method") == "action" and message["params"]["channel"] == lost:
        return []
    return [message]


def _entered(host: ReferenceHost, peer: Peer, message: JSON) -> None:
    host.scratch.pop(key_of(peer), None)


def _ignore_unsubscribe(host: ReferenceHost, peer: Peer, params: JSON) -> None:
    params["channel"] = _NOWHERE


def _close_on_unknown(host: ReferenceHost, peer: Peer, params: JSON) -> None:
    if params["channel"] not in peer.channels:
        host.close(peer, 1011)


def note_request(host: ReferenceHost, peer: Peer, message: JSON) -> None:
    """Keep what is asked, so that the answer can be changed."""
    if "id" in message:
        host.scratch["request"] = message


def asked(host: ReferenceHost, method: str) -> JSON:
    """The params of the request that is being answered, None when it is another method."""
    request = host.scratch.get("request") or {}
    return request.get("params") if request.get("method") == method else None


def _invent_session(host: ReferenceHost, peer: Peer, message: JSON) -> list[JSON]:
    params = asked(host, "subscribe")
    if params is None:
        return [message]
    state = {"provider": "scripted", "title": "", "status": 1, "lifecycle": "ready", "activeClients": [], "chats": []}
    snapshot = {"resource": params["channel"], "state": state, "fromSeq": host.seq}
    return [succeeded(message, {"snapshot": snapshot})]


def _accept_any(host: ReferenceHost, peer: Peer, message: JSON) -> list[JSON]:
    params = asked(host, "subscribe")
    return [message] if params is None or not isinstance(params.get("channel"), str) else [succeeded(message, {})]


def _check_view(host: ReferenceHost, peer: Peer, params: JSON) -> None:
    if set(params.get("view", {})) - {"turns"}:
        params["channel"] = 0


def _forget_root(host: ReferenceHost, peer: Peer, message: JSON) -> None:
    params = message.get("params")
    if not isinstance(params, dict) or params.get("channel") != "ahp-root://":
        return
    if message.get("method") == "unsubscribe":
        host.scratch[key_of(peer)] = True
    elif message.get("method") == "subscribe" and host.scratch.get(key_of(peer)):
        params["channel"] = _NOWHERE


def _chat_with_session(host: ReferenceHost, peer: Peer, message: JSON) -> list[JSON]:
    if message.get("method") != "action":
        return [message]
    channel = host.channels.get(message["params"]["channel"])
    lost = isinstance(channel, Chat) and channel.session.uri not in peer.channels
    return [] if lost else [message]


def _remember_refused(host: ReferenceHost, peer: Peer, message: JSON) -> None:
    note_request(host, peer, message)
    uri = (message.get("params") or {}).get("channel") if message.get("method") == "subscribe" else None
    if isinstance(uri, str) and uri not in host.channels:
        host.scratch.setdefault("wanted", {}).setdefault(uri, []).append(peer)


def _enter_refused(host: ReferenceHost, peer: Peer, message: JSON) -> list[JSON]:
    params = asked(host, "createSession")
    if params is not None and "result" in message:
        session = host.channels[params["channel"]]
        for waiting in host.scratch.get("wanted", {}).pop(session.uri, ()):
            session.subscribers[waiting] = None
            waiting.channels[session.uri] = session
    return [message]


FAULTS: Final = (
    Fault("snapshot-left-out", "AHP-SUB-001", "subscribe is answered without a snapshot.",
          outgoing=_subscribed(lambda host, peer, result: without(result, "snapshot"))),
    Fault("snapshot-of-another-uri", "AHP-SUB-002", "resource of a snapshot is not the URI that was asked for.",
          outgoing=_snapshot(lambda host, snapshot: {**snapshot, "resource": snapshot["resource"].upper()})),
    Fault("number-read-too-late", "AHP-SUB-005", "fromSeq is read after further actions were numbered.",
          outgoing=_snapshot(lambda host, snapshot: {**snapshot, "fromSeq": snapshot["fromSeq"] + 50})),
    Fault("subscriber-entered-late", "AHP-SUB-006", "What follows the snapshot at once is lost.", incoming=_entered,
          outgoing=_late_entry),
    Fault("unsubscribe-ignored", "AHP-SUB-007", "unsubscribe leaves the listener in place.",
          incoming=requests("unsubscribe", _ignore_unsubscribe)),
    Fault("unknown-unsubscribe-closes", "AHP-SUB-008", "unsubscribe from what was not subscribed ends the connection.",
          incoming=requests("unsubscribe", _close_on_unknown)),
    Fault("invents-sessions", "AHP-SUB-011", "A session that does not exist gets an empty state.",
          incoming=note_request, outgoing=errors(-32001, _invent_session)),
    Fault("any-channel-accepted", "AHP-SUB-012", "Any URI is taken for a channel without state.",
          incoming=note_request, outgoing=errors(-32602, _accept_any)),
    Fault("first-snapshot-cached", "AHP-SUB-014", "The first snapshot of a channel is handed out for ever.",
          outgoing=_snapshot(_cached)),
    Fault("views-checked", "AHP-SUB-017", "A view with unknown members is refused.",
          incoming=requests("subscribe", _check_view)),
    Fault("root-only-once", "AHP-SUB-022", "Who has left the root cannot subscribe to it again.",
          incoming=_forget_root),
    Fault("chat-needs-session", "AHP-SUB-027", "A chat is delivered to subscribers of its session only.",
          outgoing=_chat_with_session),
    Fault("refused-subscription-kept", "AHP-SUB-028", "A refused subscriber is entered all the same.",
          incoming=_remember_refused, outgoing=_enter_refused),
)  # fmt: skip
