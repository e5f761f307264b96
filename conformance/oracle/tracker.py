"""What the frames mean: requests with their replies, envelopes, snapshots, and the fold of every channel.

The tracker reads each frame once and hands typed events to the rules, so that no rule takes JSON-RPC apart
again. It judges nothing itself. Reading is tolerant: a frame that is no AHP message yields no event, and the
rules that look at raw frames say what is wrong with it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

from conformance.protocol import (
    ACTIONS,
    BASELINE,
    REDUCERS,
    ROOT_URI,
    is_version,
    kind_of,
    kind_of_state,
    reduce,
    rules_for,
)
from conformance.wire.frames import Frame

from .events import Comparison, Dispatch, Envelope, Listener, Notification, Reply, Request, Snapshot
from .memory import Bounded
from .reading import JSON, changesets_in, chats_in, dicts, member, text, texts, whole
from .views import ChannelView, ConnectionView, EnvelopeLog

__all__ = [
    "ChannelView",
    "Comparison",
    "ConnectionView",
    "Dispatch",
    "Envelope",
    "Listener",
    "Notification",
    "Reply",
    "Request",
    "Snapshot",
    "Tracker",
]


# How many channels are remembered by name.
_CHANNELS = 16384
# How many comparisons may wait in a channel.
_MOST_AWAITED = 64
# How many connections that ended are remembered: a client may come back from one.
_ENDED = 64

# The actions after which a state may name channels that it did not name before.
_NAMING = frozenset({"session/chatAdded", "session/chatUpdated", "session/changesetsChanged", "chat/changesetsChanged"})

_EVENTS = (
    "frame",
    "request",
    "reply",
    "host_request",
    "client_reply",
    "dispatch",
    "snapshot",
    "comparison",
    "notification",
    "gone",
)


class Tracker:
    """Turns frames into events for listeners and keeps the folds."""

    def __init__(self, assumed: str | None = None) -> None:
        self._assumed = _rules(assumed)
        self.connections: dict[str, ConnectionView] = {}
        self.kinds: dict[str, str] = Bounded(_CHANNELS)
        self.kinds[ROOT_URI] = "root"
        # The last snapshot of each channel that is followed.
        self.latest: dict[str, Snapshot] = Bounded()
        self.settled = False
        # Whether everything is recorded: all connections from their beginning, and what is no JSON too. A log of
        # messages may lack what was asked before, and by others.
        self.whole = True
        self.epoch = 0
        # How often each channel was disposed of.
        self._lives: dict[str, int] = Bounded(_CHANNELS)
        # Who hears of what: a listener is called for those events alone that it has a method of its own for.
        self._hooks: dict[str, list[Callable[[Any], None]]] = {name: [] for name in _EVENTS}
        # Snapshots that a connection has not come to yet, by channel.
        self._awaited: dict[str, deque[tuple[Snapshot, str]]] = {}
        self._envelope_listeners: list[Listener] = []
        self._envelope_hooks: dict[str, list[Callable[[Envelope], None]]] = {}
        self._endings: list[Listener] = []

    def listen(self, listener: Listener) -> None:
        for name, hooks in self._hooks.items():
            if getattr(type(listener), name) is not getattr(Listener, name):
                hooks.append(getattr(listener, name))
        if type(listener).envelope is not Listener.envelope:
            self._envelope_listeners.append(listener)
            self._envelope_hooks.clear()
        self._endings.append(listener)

    def connection(self, name: str) -> ConnectionView:
        view = self.connections.get(name)
        if view is None:
            view = self.connections[name] = ConnectionView(name, version=self._assumed)
        return view

    def begins(self, name: str) -> bool:
        """Whether the beginning of a connection is recorded, so that what it was told and asked for is known."""
        return self.whole or self.connection(name).greeted

    def _close(self, view: ConnectionView) -> None:
        view.closed = True
        ended = [name for name, each in self.connections.items() if not each.fed]
        for name in ended[:-_ENDED]:
            del self.connections[name]

    def views(self, channel: str) -> Iterator[tuple[ConnectionView, ChannelView]]:
        """Every view of ``channel`` on any connection."""
        for connection in self.connections.values():
            view = connection.channels.get(channel)
            if view is not None:
                yield connection, view

    def end(self) -> None:
        if self.settled:
            self._compare_the_rest()
        for listener in self._endings:
            listener.end()

    def feed(self, frame: Frame) -> None:
        for hook in self._hooks["frame"]:
            hook(frame)
        view = self.connection(frame.conn)
        if frame.kind == "close":
            self._close(view)
        if frame.kind != "json" or not isinstance(frame.msg, dict):
            return
        if frame.dir == "out":
            self._outgoing(view, frame, frame.msg)
        else:
            self._incoming(view, frame, frame.msg)

    # -- what the suite sends -------------------------------------------------------------------------

    def _outgoing(self, view: ConnectionView, frame: Frame, message: dict[str, JSON]) -> None:
        method, params = message.get("method"), message.get("params")
        if method is None:
            self._client_reply(view, frame, message)
            return
        if not isinstance(method, str):
            return
        params = params if isinstance(params, dict) else {}
        channel = text(params.get("channel"))
        if "id" in message:
            identity = id_of(message)
            if identity is None:
                return
            request = Request(view.name, identity, method, params, frame)
            view.requests[identity] = request
            self._before_reply(view, request, channel)
            self._tell("request", request)
        elif method == "dispatchAction" and channel is not None:
            dispatch = Dispatch(
                view.name, view.client_id, channel, whole(params.get("clientSeq")), params.get("action"), frame
            )
            self._tell("dispatch", dispatch)
        elif method == "unsubscribe" and channel is not None:
            view.subscribed.discard(channel)
            view.asked.pop(channel, None)
            view.left[channel] = frame.n
            view.leave(channel)

    def _before_reply(self, view: ConnectionView, request: Request, channel: str | None) -> None:
        params = request.params
        view.greeted = view.greeted or request.method in ("initialize", "reconnect")
        if request.method in ("initialize", "reconnect") and isinstance(params.get("clientId"), str):
            view.client_id = params["clientId"]
            if not view.began:
                # The handshake is here after all, so nothing has to be assumed.
                view.version = None
            asked = params.get("initialSubscriptions" if request.method == "initialize" else "subscriptions")
            for uri in texts(asked):
                view.asked[uri] = view.asked.get(uri, 0) + 1
        elif request.method == "subscribe" and channel is not None:
            view.asked[channel] = view.asked.get(channel, 0) + 1
        elif request.method == "createSession" and channel is not None:
            self.kinds.setdefault(channel, "session")
        elif request.method == "createChat" and isinstance(params.get("chat"), str):
            self.kinds.setdefault(params["chat"], "chat")
        elif request.method == "createTerminal" and channel is not None:
            self.kinds.setdefault(channel, "terminal")

    # -- what the host sends --------------------------------------------------------------------------

    def _incoming(self, view: ConnectionView, frame: Frame, message: dict[str, JSON]) -> None:
        method = message.get("method")
        if method is None:
            self._reply(view, frame, message)
            return
        params = message.get("params")
        if not isinstance(method, str) or not isinstance(params, dict):
            return
        if "id" in message:
            self._host_request(view, frame, message, method)
            return
        if method == "action":
            self._envelope(view, frame, params, replayed=False)
            return
        if method == "root/sessionRemoved":
            self._gone(text(params.get("session")), view)
        notification = Notification(view.name, method, params, frame)
        self._tell("notification", notification)

    def _host_request(self, view: ConnectionView, frame: Frame, message: dict[str, JSON], method: str) -> None:
        identity = id_of(message)
        if identity is not None:
            request = Request(view.name, identity, method, message.get("params"), frame)
            view.host_requests[identity] = request
            self._tell("host_request", request)

    def _client_reply(self, view: ConnectionView, frame: Frame, message: dict[str, JSON]) -> None:
        identity = id_of(message)
        request = view.host_requests.pop(identity, None) if identity is not None else None
        self._tell("client_reply", Reply(view.name, request, message.get("result"), message.get("error"), frame))

    def _reply(self, view: ConnectionView, frame: Frame, message: dict[str, JSON]) -> None:
        identity = id_of(message)
        request = view.requests.pop(identity, None) if identity is not None else None
        reply = Reply(view.name, request, message.get("result"), message.get("error"), frame)
        if request is not None:
            self._after_reply(view, request, reply)
        self._tell("reply", reply)

    def _after_reply(self, view: ConnectionView, request: Request, reply: Reply) -> None:
        result = reply.result if isinstance(reply.result, dict) else {}
        channel = text(request.params.get("channel"))
        if request.method == "initialize" and not reply.failed:
            view.version = _rules(result.get("protocolVersion"))
            view.began = True
            self._enters(view)
            self._see(view, result.get("serverSeq"))
            self._succeeds(view)
            self._snapshots(view, reply.frame, result.get("snapshots"))
        elif request.method == "reconnect" and not reply.failed:
            self._resume(view, request, reply.frame, result)
        elif request.method == "subscribe" and channel is not None:
            self._subscribed(view, request, reply, channel)
        elif request.method == "createResourceWatch" and isinstance(result.get("channel"), str):
            self.kinds.setdefault(result["channel"], "resourceWatch")
        elif request.method in ("disposeSession", "disposeChat", "disposeTerminal") and not reply.failed:
            self._gone(channel)

    def _subscribed(self, view: ConnectionView, request: Request, reply: Reply, channel: str) -> None:
        if reply.failed:
            view.asked.pop(channel, None)
            return
        # Who unsubscribes while the answer is still on its way has left, whatever the answer says.
        stays = view.left.get(channel, -1) < request.frame.n
        if stays:
            view.subscribed.add(channel)
        if isinstance(reply.result, dict) and "snapshot" in reply.result:
            latency = member(request.params.get("delivery"), "maxLatencyMs")
            late = isinstance(latency, int | float) and latency > 0
            self._snapshots(view, reply.frame, [reply.result["snapshot"]], live=stays, late=late)

    def _enters(self, view: ConnectionView) -> None:
        """A handshake was granted. While nobody else is connected the host may have been started anew."""
        if not any(c.fed and c.version for c in self.connections.values() if c is not view):
            self.epoch += 1
        view.epoch = self.epoch

    def _succeeds(self, view: ConnectionView) -> ConnectionView | None:
        """The connection that this client had before; from now on it counts no longer."""
        if view.client_id is None:
            return None
        before = [c for c in self.connections.values() if c.client_id == view.client_id and c is not view and c.version]
        for connection in before:
            connection.replaced = True
        return before[-1] if before else None

    def _resume(self, view: ConnectionView, request: Request, frame: Frame, result: dict[str, JSON]) -> None:
        old = self._succeeds(view)
        gone = set(texts(result.get("missing")))
        wanted = [uri for uri in texts(request.params.get("subscriptions")) if uri not in gone]
        for uri in gone:
            view.asked.pop(uri, None)
        view.version = view.version or self._assumed
        replay = result.get("type") != "snapshot"
        if replay and old is not None:
            # Who remembers what this client has missed is the host that it was connected to.
            view.epoch = old.epoch
        else:
            self._enters(view)
        if old is not None:
            view.version = old.version
            last = whole(request.params.get("lastSeenServerSeq"))
            # A fold goes on only from where the client had really been, and only by a replay: a channel for which
            # snapshots were promised and none came is lost (ambiguity A-36).
            if replay and last is not None and last <= old.seen:
                for uri in wanted:
                    if uri in old.channels and old.channels[uri].live:
                        view.channels[uri] = old.channels[uri].continued(last)
                        view.seen = max(view.seen, last)
        view.subscribed.update(wanted)
        self._snapshots(view, frame, result.get("snapshots"))
        for envelope in dicts(result.get("actions")):
            self._envelope(view, frame, envelope, replayed=True)

    def _snapshots(
        self, view: ConnectionView, frame: Frame, values: JSON, *, live: bool = True, late: bool = False
    ) -> None:
        for value in dicts(values):
            channel, state, from_seq = text(value.get("resource")), value.get("state"), whole(value.get("fromSeq"))
            if channel is None:
                continue
            kind = self.kinds.get(channel) or kind_of_state(state) or kind_of(channel)
            if kind is not None:
                self.kinds.setdefault(channel, kind)
            known = view.channels.get(channel)
            folded = known.at(from_seq) if known is not None and known.live else None
            if known is None:
                known = view.channels[channel] = ChannelView(channel, kind)
            known.kind, known.late, known.life = kind, late, self._lives.get(channel, 0)
            known.reset(state, from_seq, live=live)
            if live:
                view.subscribed.add(channel)
            self._see(view, from_seq)
            self._learn(state)
            snapshot = Snapshot(view.name, channel, kind, state, from_seq, frame, folded, known.life)
            self.latest[channel] = snapshot
            self._compare(snapshot, view)
            self._tell("snapshot", snapshot)
            self._catch_up(view, known)

    def _compare(self, snapshot: Snapshot, asker: ConnectionView) -> None:
        """Compare a snapshot with what was folded up to its number: now where it can be told, else when it can."""
        if asker.version is None:
            # Nobody knows by which rules to fold.
            return
        if snapshot.folded is not None:
            # The same connection asked again, and everything up to fromSeq came before the answer.
            self._tell("comparison", Comparison(snapshot, snapshot.folded, snapshot.conn))
        if snapshot.from_seq is None:
            return
        for connection, view in self.views(snapshot.channel):
            same_rules = (connection.version, connection.epoch) == (asker.version, asker.epoch)
            if connection is asker or not same_rules or view.life != snapshot.life:
                continue
            if view.position >= snapshot.from_seq:
                self._meets(snapshot, view, connection.name)
            elif view.live and connection.fed:
                waiting = self._awaited.setdefault(snapshot.channel, deque(maxlen=_MOST_AWAITED))
                waiting.append((snapshot, connection.name))

    def _meets(self, snapshot: Snapshot, view: ChannelView, conn: str) -> None:
        state = view.at(snapshot.from_seq)
        if state is not None and state is not snapshot.state and view.life == snapshot.life:
            self._tell("comparison", Comparison(snapshot, state, conn))

    def _passes(self, connection: ConnectionView, channel: str) -> None:
        """An envelope came: whatever snapshots the connection has come past can be compared."""
        view = connection.channels.get(channel)
        waiting = self._awaited.pop(channel)
        left: deque[tuple[Snapshot, str]] = deque(maxlen=_MOST_AWAITED)
        for snapshot, conn in waiting:
            if conn != connection.name or view is None or view.position < (snapshot.from_seq or 0):
                left.append((snapshot, conn))
            else:
                self._meets(snapshot, view, conn)
        if left:
            self._awaited[channel] = left

    def _compare_the_rest(self) -> None:
        """Who has not come past a snapshot: nothing of before is on its way any more."""
        for snapshot, conn in [each for waiting in self._awaited.values() for each in waiting]:
            connection = self.connection(conn)
            view = connection.channels.get(snapshot.channel)
            if view is not None and view.live and connection.fed:
                self._meets(snapshot, view, conn)

    def _catch_up(self, view: ConnectionView, known: ChannelView) -> None:
        """Fold what came before a snapshot and is numbered above it."""
        log = view.log.get(known.channel)
        if log is None:
            return
        if log.lost > known.base:
            # Part of it is no longer there, so that nobody can tell the state.
            known.live = False
            return
        for seq, action in log.entries:
            self._fold(view, known, seq, action)

    def _learn(self, state: JSON) -> None:
        """The channels that a session or chat names: their URIs are of the host's choice and need not tell the kind."""
        for chat in chats_in(state):
            self.kinds.setdefault(chat, "chat")
        for changeset in changesets_in(state):
            self.kinds.setdefault(changeset, "changeset")

    def _gone(self, channel: str | None, told: ConnectionView | None = None) -> None:
        """A session or chat is no more: its views are owed nothing, also when its URI is used again.

        ``told`` is the one connection that has heard of it; others may be ahead, and follow a new one already.
        """
        if channel is None:
            return
        connections = list(self.connections.values()) if told is None else [told]
        gone = {channel}
        for connection in connections:
            if channel in connection.channels:
                gone.update(chats_in(connection.channels[channel].state))
        for uri in gone:
            self._lives[uri] = self._lives.get(uri, 0) + 1
            for connection in connections:
                connection.leave(uri)
            if not any(view.live for _, view in self.views(uri)):
                self._awaited.pop(uri, None)
                self.latest.pop(uri, None)
                self._tell("gone", uri)

    def _see(self, view: ConnectionView, number: JSON) -> None:
        seen = whole(number)
        if seen is not None and seen > view.seen:
            view.seen = seen

    def _envelope(self, view: ConnectionView, frame: Frame, params: dict[str, JSON], *, replayed: bool) -> None:
        channel, action, seq = text(params.get("channel")), params.get("action"), whole(params.get("serverSeq"))
        if channel is None or not isinstance(action, dict):
            return
        name = text(action.get("type")) or ""
        self._see(view, seq)
        known = view.channels.get(channel)
        kind = self.kinds.get(channel) or (known.kind if known else None) or kind_of(channel)
        rejection = params.get("rejectionReason")
        before = after = None
        if rejection is None and seq is not None:
            log = view.log.get(channel)
            if log is None:
                log = view.log[channel] = EnvelopeLog()
            log.add(seq, action)
            if known is not None and known.live and seq > known.position:
                before = known.state
                after = self._fold(view, known, seq, action)
                if name == "session/chatRemoved":
                    self._gone(text(action.get("chat")), view)
        elif rejection is not None and known is not None and known.live:
            before = after = known.state
        origin = params.get("origin")
        envelope = Envelope(
            view.name,
            channel,
            kind,
            name,
            action,
            seq if seq is not None else params.get("serverSeq"),
            origin,
            rejection,
            params,
            frame,
            replayed,
            before,
            after,
            _dispatch_of(origin) if origin is not None else None,
            view.version,
        )
        if channel in self._awaited:
            self._passes(view, channel)
        self._tell_envelope(envelope)

    def _fold(self, view: ConnectionView, known: ChannelView, seq: int, action: JSON) -> JSON:
        """Fold what is numbered above the position of a view; the new state."""
        kind = self.kinds.get(known.channel) or known.kind
        if kind is not None and seq > known.position:
            known.advance(seq, fold(kind, known.state, action, view.version))
            if text(action.get("type")) in _NAMING:
                self._learn(known.state)
        return known.state

    def _tell_envelope(self, envelope: Envelope) -> None:
        hooks = self._envelope_hooks.get(envelope.type)
        if hooks is None:
            listeners = self._envelope_listeners
            hooks = [each.envelope for each in listeners if each.hears is None or envelope.type in each.hears]
            if envelope.type in ACTIONS or not envelope.type:
                # A host may invent any number of types.
                self._envelope_hooks[envelope.type] = hooks
        for hook in hooks:
            hook(envelope)

    def _tell(self, name: str, event: Any) -> None:
        for hook in self._hooks[name]:
            hook(event)


def fold(kind: str, state: JSON, action: JSON, version: str | None) -> JSON:
    """The fold of one action; channels of a kind without a fold stay as their last snapshot."""
    return reduce(kind, state, action, version or BASELINE) if kind in REDUCERS else state


def _dispatch_of(origin: JSON) -> tuple[str, int] | None:
    """clientId and clientSeq of an origin, None when it is not one."""
    client, number = text(member(origin, "clientId")), whole(member(origin, "clientSeq"))
    return (client, number) if client is not None and number is not None else None


def id_of(message: dict[str, JSON]) -> int | str | None:
    """The id of a request or response; None when it is absent, null or of another type."""
    identity = message.get("id")
    return identity if isinstance(identity, str) else whole(identity)


def _rules(version: JSON) -> str | None:
    try:
        return rules_for(version) if is_version(version) else None
    except ValueError:
        # Well formed, and its numbers are too long to be read.
        return None
