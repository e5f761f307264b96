"""The methods that the host serves. Whatever is not in the table is refused with -32601.

Sources: `docs/specification/lifecycle.md`, `root-channel.md`, `session-channel.md`, `chat-channel.md`.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import orjson

from conformance import __version__
from conformance.protocol.errors import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    PROVIDER_NOT_FOUND,
    SESSION_ALREADY_EXISTS,
    SESSION_NOT_FOUND,
    UNSUPPORTED_PROTOCOL_VERSION,
)
from conformance.protocol.status import IDLE

from . import agent, auth, dispatch, guarded, mirror
from .channels import Channel, Chat, Session, summary_of
from .peers import Client
from .rpc import RequestError, member, strings
from .versions import NoCommonVersionError, at_least, directories, negotiate

if TYPE_CHECKING:
    from .core import ReferenceHost
    from .peers import Peer

JSON = Any
Handler = Callable[["ReferenceHost", "Peer", JSON], JSON]


# -- the connection ---------------------------------------------------------------------------------


def initialize(host: ReferenceHost, peer: Peer, params: JSON) -> JSON:
    _at_root(params)
    if peer.version is not None:
        raise RequestError(INVALID_REQUEST, "this connection is initialized; its version stays")
    offered = strings(params, "protocolVersions")
    client_id = member(params, "clientId", str)
    wanted = strings(params, "initialSubscriptions", required=False) or []
    if not client_id:
        raise RequestError(INVALID_PARAMS, "params.clientId: expected a string that is not empty")
    try:
        announced, version = negotiate(offered or [], host.versions)
    except NoCommonVersionError:
        raise RequestError(
            UNSUPPORTED_PROTOCOL_VERSION,
            "none of the offered protocol versions is spoken here",
            {"supportedVersions": list(host.versions)},
            close=True,
        ) from None
    except ValueError as error:
        raise RequestError(INVALID_PARAMS, f"params.protocolVersions: {error}") from None
    _admit(host, peer, client_id, version)
    return {
        "protocolVersion": announced,
        "serverSeq": host.seq,
        "serverInfo": {"name": "ahp-conformance reference host", "version": __version__},
        "snapshots": [_snapshot(host, peer, channel) for channel in _subscribe_all(host, peer, wanted)],
    }


def ping(host: ReferenceHost, peer: Peer, params: JSON) -> JSON:
    _at_root(params)


def reconnect(host: ReferenceHost, peer: Peer, params: JSON) -> JSON:
    """Resume the listed channels: by replay while the log reaches back far enough, else by snapshots."""
    _at_root(params)
    if peer.version is not None:
        raise RequestError(INVALID_REQUEST, "this connection has no need to reconnect")
    client_id = member(params, "clientId", str)
    seen = member(params, "lastSeenServerSeq", int)
    wanted = strings(params, "subscriptions") or []
    client = host.clients.get(client_id)
    if client is None:
        raise RequestError(INVALID_PARAMS, "this clientId is not known here; initialize instead")
    # The old connection may be half open still; whoever can reconnect has left it.
    for stale in list(client.peers):
        host.close(stale, 1000)
    _admit(host, peer, client_id, client.version)
    host.away.pop(client_id, None)
    resumed = _subscribe_all(host, peer, wanted)
    for session in list(client.active_in):
        if session.uri not in peer.channels:
            host.later(partial(host.retire, session, client_id, "reconnect"))
    # A channel that is younger than what the client saw has no base to replay onto.
    complete = host.log.reaches(seen) and all(channel.born <= seen for channel in resumed)
    if seen > host.seq or not complete:
        return {"type": "snapshot", "snapshots": [_snapshot(host, peer, channel) for channel in resumed]}
    actions = []
    for entry in host.log.after(seen):
        if entry.channel in peer.channels and entry.only in (None, client_id):
            envelope = entry.params(client.version)
            if envelope is not None:
                actions.append(envelope)
    missing = [uri for uri in dict.fromkeys(wanted) if uri not in peer.channels]
    return {"type": "replay", "actions": actions, "missing": missing}


def subscribe(host: ReferenceHost, peer: Peer, params: JSON) -> JSON:
    uri = params["channel"]
    channel = host.channels.get(uri)
    if channel is None:
        if uri.startswith("ahp-session:"):
            raise RequestError(SESSION_NOT_FOUND, "there is no such session")
        raise RequestError(INVALID_PARAMS, "there is no such channel")
    _enter(peer, channel)
    return {"snapshot": _snapshot(host, peer, channel)}


def unsubscribe(host: ReferenceHost, peer: Peer, params: JSON) -> None:
    channel = peer.channels.pop(params["channel"], None)
    if channel is None:
        return
    channel.subscribers.pop(peer, None)
    if isinstance(channel, Session) and peer.client_id is not None:
        others = host.clients[peer.client_id].peers
        if not any(other in channel.subscribers for other in others):
            host.retire(channel, peer.client_id, "unsubscribe")


# -- sessions and chats -----------------------------------------------------------------------------


def list_sessions(host: ReferenceHost, peer: Peer, params: JSON) -> JSON:
    """Most recently modified first; a cursor names the last entry of the page before."""
    _at_root(params)
    limit = member(params, "limit", int, required=False)
    cursor = member(params, "cursor", str, required=False)
    if limit is not None and limit < 1:
        raise RequestError(INVALID_PARAMS, "params.limit: expected a positive number")
    summaries = [summary_of(session, str(peer.version)) for session in host.sessions.values()]
    summaries.sort(key=_order, reverse=True)
    if cursor is not None:
        last = _read_cursor(cursor)
        summaries = [summary for summary in summaries if _order(summary) < last]
    page = summaries if limit is None else summaries[:limit]
    result: JSON = {"items": page}
    if len(page) < len(summaries):
        result["nextCursor"] = base64.urlsafe_b64encode(orjson.dumps(_order(page[-1]))).decode()
    return result


def create_session(host: ReferenceHost, peer: Peer, params: JSON) -> JSON:
    from .core import PROVIDER

    uri = params["channel"]
    provider = member(params, "provider", str, required=False) or PROVIDER
    client = member(params, "activeClient", dict, required=False)
    if not uri.startswith("ahp-session:"):
        raise RequestError(INVALID_PARAMS, "params.channel: expected a session URI")
    if uri in host.sessions:
        raise RequestError(SESSION_ALREADY_EXISTS, "the session exists")
    if provider not in (PROVIDER, guarded.PROVIDER):
        raise RequestError(PROVIDER_NOT_FOUND, f"there is no agent {provider!r}")
    guarded.insist(host, peer, provider)
    if params.get("fork") is not None:
        raise RequestError(INVALID_PARAMS, "params.fork: this agent does not fork")
    if client is not None and (fault := dispatch.client_fault(host, peer, client)) is not None:
        raise RequestError(INVALID_PARAMS, f"params.activeClient: {fault}")
    if at_least(str(peer.version), "0.7.0"):
        wanted = strings(params, "workingDirectories", required=False) or []
    else:
        single = member(params, "workingDirectory", str, required=False)
        wanted = [] if single is None else [single]
    chat_uri = f"ahp-chat:/{host.mint('chat')}"
    moment = host.now()
    chat_state = _new_chat_state(chat_uri, "Chat", moment)
    listed = {name: chat_state[name] for name in ("resource", "title", "status", "modifiedAt", "origin")}
    state = {
        "provider": provider,
        "title": "New session",
        "status": IDLE,
        "lifecycle": "creating",
        "activeClients": [] if client is None else [client],
        "chats": [listed],
        "defaultChat": chat_uri,
    }
    session = Session(
        uri=uri,
        kind="session",
        born=host.seq + 1,
        folds={version: {**state, **directories(wanted, version)} for version in host.versions},
        created=moment,
    )
    host.sessions[uri] = host.channels[uri] = session
    _add_chat(host, session, chat_uri, chat_state)
    if client is not None:
        host.clients[client["clientId"]].active_in[session] = None
    # The scripted agent has nothing to start, so the session is ready at once.
    host.act(session, {"type": "session/ready"})
    session.announced = {version: summary_of(session, version) for version in host.versions}
    host.announce("root/sessionAdded", lambda version: {"summary": summary_of(session, version)})
    _count_sessions(host)
    return None


def dispose_session(host: ReferenceHost, peer: Peer, params: JSON) -> JSON:
    uri = params["channel"]
    session = host.sessions.pop(uri, None)
    if session is None:
        raise RequestError(SESSION_NOT_FOUND, "there is no such session")
    session.disposed = True
    for chat in list(session.chats.values()):
        _close_chat(host, chat)
    _leave(host, session)
    for client in host.clients.values():
        client.active_in.pop(session, None)
    host.announce("root/sessionRemoved", lambda version: {"session": uri})
    _count_sessions(host)


def create_chat(host: ReferenceHost, peer: Peer, params: JSON) -> JSON:
    session = host.sessions.get(params["channel"])
    if session is None:
        raise RequestError(SESSION_NOT_FOUND, "there is no such session")
    uri = member(params, "chat", str)
    message = member(params, "initialMessage", dict, required=False)
    if not uri.startswith("ahp-chat:"):
        raise RequestError(INVALID_PARAMS, "params.chat: expected a chat URI")
    if uri in host.channels:
        raise RequestError(INVALID_PARAMS, "params.chat: the chat exists")
    if params.get("source") is not None:
        raise RequestError(INVALID_PARAMS, "params.source: this agent copies no chats")
    if params.get("workingDirectories"):
        known = session.folds[str(peer.version)].get("workingDirectories", [])
        if any(directory not in known for directory in strings(params, "workingDirectories") or ()):
            raise RequestError(INVALID_PARAMS, "params.workingDirectories: not all are directories of the session")
    if message is not None and (fault := dispatch.message_fault(host, message)) is not None:
        raise RequestError(INVALID_PARAMS, f"params.initialMessage: {fault}")
    chat = _add_chat(host, session, uri, _new_chat_state(uri, "Chat", host.now()))
    host.act(
        session,
        lambda version: {"type": "session/chatAdded", "summary": mirror.catalogue_entry(chat, version)},
    )
    if message is not None:
        host.later(lambda: agent.start(host, chat, message, starter=peer.client_id))
    return None


def dispose_chat(host: ReferenceHost, peer: Peer, params: JSON) -> JSON:
    chat = host.channels.get(params["channel"])
    if not isinstance(chat, Chat):
        raise RequestError(INVALID_PARAMS, "there is no such chat")
    if chat.session.state.get("defaultChat") == chat.uri:
        raise RequestError(INVALID_PARAMS, "the default chat lives as long as its session")
    mirror.drop_entries(host, chat, "session/chatRemoved")
    _close_chat(host, chat)
    host.act(chat.session, {"type": "session/chatRemoved", "chat": chat.uri})


# -- what they share --------------------------------------------------------------------------------


def _at_root(params: JSON) -> None:
    if params["channel"] != "ahp-root://":
        raise RequestError(INVALID_PARAMS, "params.channel: this command belongs to ahp-root://")


def _admit(host: ReferenceHost, peer: Peer, client_id: str, version: str) -> None:
    peer.client_id = client_id
    peer.version = version
    client = host.clients.setdefault(client_id, Client(version))
    client.version = version
    client.peers[peer] = None


def _enter(peer: Peer, channel: Channel) -> None:
    channel.subscribers[peer] = None
    peer.channels[channel.uri] = channel


def _leave(host: ReferenceHost, channel: Channel) -> None:
    """A channel is gone: nobody is subscribed to it any more."""
    host.channels.pop(channel.uri, None)
    for peer in channel.subscribers:
        peer.channels.pop(channel.uri, None)
    channel.subscribers.clear()


def _subscribe_all(host: ReferenceHost, peer: Peer, wanted: list[str]) -> list[Channel]:
    """Subscribe to those of the URIs that exist, each once."""
    found = [host.channels[uri] for uri in dict.fromkeys(wanted) if uri in host.channels]
    for channel in found:
        _enter(peer, channel)
    return found


def _snapshot(host: ReferenceHost, peer: Peer, channel: Channel) -> JSON:
    return {"resource": channel.uri, "state": channel.folds[str(peer.version)], "fromSeq": host.seq}


def _new_chat_state(uri: str, title: str, moment: str) -> JSON:
    return {
        "resource": uri,
        "title": title,
        "status": IDLE,
        "modifiedAt": moment,
        "origin": {"kind": "user"},
        "turns": [],
    }


def _add_chat(host: ReferenceHost, session: Session, uri: str, state: JSON) -> Chat:
    chat = Chat(
        uri=uri,
        kind="chat",
        born=host.seq + 1,
        folds=dict.fromkeys(host.versions, state),
        session=session,
    )
    session.chats[uri] = host.channels[uri] = chat
    return chat


def _close_chat(host: ReferenceHost, chat: Chat) -> None:
    if chat.turn is not None:
        chat.turn.stop()
    chat.session.chats.pop(chat.uri, None)
    _leave(host, chat)


def _count_sessions(host: ReferenceHost) -> None:
    host.act(host.root, {"type": "root/activeSessionsChanged", "activeSessions": len(host.sessions)})


def _order(summary: JSON) -> tuple[str, str]:
    return summary["modifiedAt"], summary["resource"]


def _read_cursor(cursor: str) -> tuple[str, str]:
    try:
        modified, resource = orjson.loads(base64.urlsafe_b64decode(cursor))
    except (ValueError, TypeError, binascii.Error):
        raise RequestError(INVALID_PARAMS, "params.cursor: not a cursor of this host") from None
    if not isinstance(modified, str) or not isinstance(resource, str):
        raise RequestError(INVALID_PARAMS, "params.cursor: not a cursor of this host")
    return modified, resource


BEFORE_HANDSHAKE: Final = frozenset({"initialize", "ping", "reconnect"})

REQUESTS: Final[Mapping[str, Handler]] = MappingProxyType(
    {
        "initialize": initialize,
        "ping": ping,
        "reconnect": reconnect,
        "subscribe": subscribe,
        "listSessions": list_sessions,
        "createSession": create_session,
        "disposeSession": dispose_session,
        "createChat": create_chat,
        "disposeChat": dispose_chat,
        "authenticate": auth.authenticate,
    }
)

NOTIFICATIONS: Final[Mapping[str, Handler]] = MappingProxyType(
    {
        "unsubscribe": unsubscribe,
        "dispatchAction": dispatch.dispatch,
    }
)
