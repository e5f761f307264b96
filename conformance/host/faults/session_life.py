"""Hosts that are wrong about how sessions come, go, and say what they are doing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from conformance.host.channels import Chat, Session
from conformance.host.policy import Policy
from conformance.protocol.status import IN_PROGRESS, activity

from .dispatching import dispatched, envelope, refusing
from .handshaking import errors, key_of, requests, succeeded
from .seams import Fault, snapshot_with, without
from .subscribing import asked, note_request

if TYPE_CHECKING:
    from conformance.host.channels import Channel
    from conformance.host.core import ReferenceHost
    from conformance.host.peers import Peer

JSON = Any


def _set(channel: Channel, change: Any) -> None:
    for version, state in channel.folds.items():
        channel.folds[version] = {**state, **change(state)}


def _restart(host: ReferenceHost, peer: Peer, message: JSON) -> list[JSON]:
    params = asked(host, "createSession")
    if params is not None:
        _set(host.sessions[params["channel"]], lambda state: {"title": "New session"})
    return [succeeded(message)]


def _any_provider(host: ReferenceHost, peer: Peer, params: JSON) -> None:
    params["provider"] = "scripted"


def _own_uri(host: ReferenceHost, peer: Peer, params: JSON) -> None:
    if isinstance(params.get("channel"), str):
        params["channel"] += "-1"


def _too_early(host: ReferenceHost, peer: Peer, message: JSON) -> None:
    """From the second session of a client on, a subscribe right behind createSession comes too early."""
    mine = host.scratch.setdefault(key_of(peer), {"count": 0, "new": None})
    params = message.get("params") or {}
    if message.get("method") == "subscribe" and params.get("channel") == mine["new"] and mine["count"] > 1:
        params["channel"] = "ahp-session:/not-yet"
    mine["new"] = None
    if message.get("method") == "createSession":
        mine["new"] = params.get("channel")
        mine["count"] += 1


def _ready_again(host: ReferenceHost, peer: Peer, message: JSON) -> list[JSON]:
    result = message.get("result")
    if isinstance(result, dict) and "lifecycle" in result.get("snapshot", {}).get("state", {}):
        session = host.sessions[result["snapshot"]["resource"]]
        host.later(lambda: host.act(session, {"type": "session/ready"}))
    return [message]


def _no_active_client(host: ReferenceHost, peer: Peer, params: JSON) -> None:
    params.pop("activeClient", None)


def _use_up(host: ReferenceHost, peer: Peer, params: JSON) -> None:
    used = host.scratch.setdefault("used", set())
    if params.get("channel") in used:
        params["provider"] = "used up"
    elif params.get("provider") != "scripted":
        used.add(params.get("channel"))


def _dispose_any(host: ReferenceHost, peer: Peer, message: JSON) -> list[JSON]:
    return [message] if asked(host, "disposeSession") is None else [succeeded(message)]


def _keep_gone(host: ReferenceHost, peer: Peer, message: JSON) -> None:
    """Remember the state and the subscribers of what is disposed of."""
    note_request(host, peer, message)
    if message.get("method") == "disposeSession":
        session = host.sessions.get(str((message.get("params") or {}).get("channel")))
        for channel in [session, *session.chats.values()] if session is not None else ():
            host.scratch.setdefault("gone", {})[channel.uri] = (channel.state, list(channel.subscribers))


def _revive(host: ReferenceHost, peer: Peer, message: JSON) -> list[JSON]:
    params = asked(host, "subscribe")
    gone = host.scratch.get("gone", {}).get(params["channel"]) if params is not None else None
    if params is None or gone is None:
        return [message]
    snapshot = {"resource": params["channel"], "state": gone[0], "fromSeq": host.seq}
    return [succeeded(message, {"snapshot": snapshot})]


def _late(kinds: str | None, wording: Any) -> Any:
    """Dispatches to what is disposed of still reach those who followed it."""

    def tell(host: ReferenceHost, peer: Peer, params: JSON) -> None:
        gone = host.scratch.get("gone", {}).get(params["channel"])
        if gone is not None and kinds in (None, params["action"].get("type")):
            for other in gone[1]:
                host.answer(other, envelope(host, peer, wording(params)))

    relay = dispatched(tell)

    def hook(host: ReferenceHost, peer: Peer, message: JSON) -> None:
        _keep_gone(host, peer, message)
        relay(host, peer, message)

    return hook


def _flag_alone(kind: str) -> Any:
    def hook(host: ReferenceHost, peer: Peer, channel: Channel, action: JSON) -> None:
        if action["type"] == kind:
            bit = 32 if kind == "session/isReadChanged" else 64
            _set(channel, lambda state: {"status": 1 | (state["status"] & bit)})

    return hook


def _listed(change: Any) -> Any:
    def hook(host: ReferenceHost, peer: Peer, message: JSON) -> list[JSON]:
        result = message.get("result")
        if isinstance(result, dict) and "items" in result:
            items = [change(host, item) for item in result["items"]]
            return [{**message, "result": {**result, "items": items}}]
        return [message]

    return hook


def _reborn(host: ReferenceHost, item: JSON) -> JSON:
    host.scratch["lists"] = host.scratch.get("lists", 0) + 1
    return {**item, "createdAt": f"2026-01-01T00:00:00.{host.scratch['lists'] % 1000:03}Z"}


def _busiest(host: ReferenceHost, session: Session, version: str) -> int:
    right = Policy().activity(host, session, version)
    busy = any(activity(chat.folds[version]["status"]) == IN_PROGRESS for chat in session.chats.values())
    return IN_PROGRESS if right == 1 and busy else right


def _for_ever(host: ReferenceHost, session: Session, version: str) -> int:
    right = Policy().activity(host, session, version)
    worked = any(chat.used_turns for chat in session.chats.values())
    return IN_PROGRESS if right == 1 and worked else right


def _default_only(*hidden: int) -> Any:
    """The activity of the session without what other chats than the default one have of these values."""

    def decide(host: ReferenceHost, session: Session, version: str) -> int:
        right = Policy().activity(host, session, version)
        default = session.chats.get(str(session.folds[version].get("defaultChat")))
        return activity(default.folds[version]["status"]) if right in hidden and default is not None else right

    return decide


def _drop_flags(host: ReferenceHost, peer: Peer, channel: Channel, action: JSON) -> None:
    if action["type"] == "chat/turnStarted" and isinstance(channel, Chat):
        _set(channel.session, lambda state: {"status": state["status"] & 31})


def _merge_tools(host: ReferenceHost, peer: Peer, params: JSON) -> None:
    channel, entry = host.channels.get(params["channel"]), params["action"].get("activeClient")
    if channel is not None and params["action"]["type"] == "session/activeClientSet":
        for known in channel.state["activeClients"]:
            if known["clientId"] == entry["clientId"]:
                entry["tools"] = [*known["tools"], *entry["tools"]]


def _empty_list(host: ReferenceHost, peer: Peer, channel: Channel, action: JSON) -> None:
    if action["type"] == "session/activeClientRemoved":
        for entry in channel.state["activeClients"]:
            host.act(channel, {"type": "session/activeClientRemoved", "clientId": entry["clientId"]})


def _no_grace(host: ReferenceHost, peer: Peer) -> bool:
    if peer.client_id in host.away:
        host.away[peer.client_id] = host.clock()
    return True


def _nested(state: JSON) -> JSON:
    names = ("resource", "title", "status", "modifiedAt")
    return {**without(state, *names), "summary": {name: state[name] for name in names}}


def _shared_chat(host: ReferenceHost, peer: Peer, message: JSON) -> list[JSON]:
    def with_first(state: JSON) -> JSON:
        first = host.scratch.setdefault("chat", state["chats"][0])
        known = any(chat["resource"] == first["resource"] for chat in state["chats"])
        return state if known else {**state, "chats": [*state["chats"], first]}

    return snapshot_with("lifecycle", with_first)(host, peer, message)


def _delta(params: JSON) -> JSON:
    return {**params, "action": {"type": "chat/delta", "turnId": "late", "partId": "late", "content": "late"}}


FAULTS: Final = (
    Fault("existing-session-restarted", "AHP-SESS-001", "createSession for a URI in use starts it afresh.",
          incoming=note_request, outgoing=errors(-32003, _restart)),
    Fault("any-provider-taken", "AHP-SESS-002", "An unknown provider is replaced by a known one.",
          incoming=requests("createSession", _any_provider)),
    Fault("chooses-its-own-uri", "AHP-SESS-003", "The session lives at another URI than the one asked for.",
          incoming=requests("createSession", _own_uri)),
    Fault("listed-under-another-uri", "AHP-SESS-003", "The list names sessions by URIs of the host.",
          outgoing=_listed(lambda host, item: {**item, "resource": item["resource"] + "-1"})),
    Fault("listed-provider-is-scheme", "AHP-SESS-010", "provider in the list is the scheme of the session URI.",
          outgoing=_listed(lambda host, item: {**item, "provider": item["resource"].partition(":")[0]})),
    Fault("subscribe-loses-the-race", "AHP-SESS-004", "A subscribe right behind createSession fails.",
          incoming=_too_early),
    Fault("ready-for-every-subscriber", "AHP-SESS-005", "session/ready is sent again for every subscriber.",
          outgoing=_ready_again),
    Fault("active-client-ignored", "AHP-SESS-016", "activeClient of createSession is ignored.",
          incoming=requests("createSession", _no_active_client)),
    Fault("failed-creation-uses-uri", "AHP-SESS-018", "A URI whose creation failed cannot be used again.",
          incoming=requests("createSession", _use_up)),
    Fault("unknown-disposal-succeeds", "AHP-SESS-019", "disposeSession succeeds for what does not exist.",
          incoming=note_request, outgoing=errors(-32001, _dispose_any)),
    Fault("disposed-session-revived", "AHP-SESS-020", "subscribe brings a disposed session back.",
          incoming=_keep_gone, outgoing=errors(-32001, _revive)),
    Fault("agent-survives-disposal", "AHP-SESS-022", "The agent goes on in a disposed session.",
          incoming=_late("chat/pendingMessageSet", _delta)),
    Fault("read-flag-replaces-status", "AHP-SESS-031", "session/isReadChanged replaces the whole status.",
          accepted=_flag_alone("session/isReadChanged")),
    Fault("archived-flag-replaces-status", "AHP-SESS-032", "session/isArchivedChanged replaces the whole status.",
          accepted=_flag_alone("session/isArchivedChanged")),
    Fault("subscriptions-survive-disposal", "AHP-SESS-043", "Dispatches to a disposed session are still delivered.",
          incoming=_late(None, lambda params: params)),
    Fault("reborn-in-every-list", "AHP-SESS-046", "createdAt is another in each list.", outgoing=_listed(_reborn)),
    Fault("idle-is-zero", "AHP-STAT-001", "An idle session has the status 0.",
          outgoing=snapshot_with("lifecycle", lambda state: {**state, "status": state["status"] & ~1})),
    Fault("busy-for-ever", "AHP-STAT-002", "A session that has worked once stays in progress.",
          policy={"activity": _for_ever}),
    Fault("busiest-chat-wins", "AHP-STAT-005", "Work in any chat makes the session busy.",
          policy={"activity": _busiest}),
    Fault("needs-of-default-chat-only", "AHP-STAT-006", "Only the default chat can make the session need input.",
          policy={"activity": _default_only(24)}),
    Fault("errors-of-default-chat-only", "AHP-STAT-007", "Only the default chat can put the session in error.",
          policy={"activity": _default_only(2)}),
    Fault("modified-at-creation", "AHP-STAT-009", "modifiedAt of a session is the time of its creation.",
          outgoing=_listed(lambda host, item: {**item, "modifiedAt": item["createdAt"]})),
    Fault("turn-overwrites-flags", "AHP-STAT-011", "The start of a turn drops the flags of the session.",
          accepted=_drop_flags),
    Fault("tools-merged", "AHP-ACTC-001", "The tools of a client are added to those it had.",
          incoming=dispatched(_merge_tools)),
    Fault("leaving-refused", "AHP-ACTC-003", "session/activeClientRemoved is refused.",
          policy=refusing("session/activeClientRemoved")),
    Fault("stranger-empties-list", "AHP-ACTC-003", "Taking off one client empties the list.", accepted=_empty_list),
    Fault("no-grace", "AHP-ACTC-006", "A client is taken off as soon as its connection is lost.",
          policy={"keeps_blocks": _no_grace}),
    Fault("chat-summary-nested", "AHP-CHAT-001", "The chat state holds a nested summary.",
          outgoing=snapshot_with("turns", _nested)),
    Fault("ready-without-chat", "AHP-CHAT-003", "A ready session has an empty catalogue.",
          outgoing=snapshot_with("lifecycle", lambda state: {**without(state, "defaultChat"), "chats": []})),
    Fault("one-chat-in-all-sessions", "AHP-CHAT-051", "Every session lists the first chat of the host.",
          outgoing=_shared_chat),
)  # fmt: skip
