"""What the frames mean: requests with their replies, envelopes, snapshots, and the fold of every channel.

The tracker reads each frame once and hands typed events to the rules, so that no rule takes JSON-RPC apart
again. It judges nothing itself. Reading is tolerant: a frame that is no AHP message yields no event, and the
rules that look at raw frames say what is wrong with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from conformance.protocol import BASELINE, REDUCERS, ROOT_URI, is_version, kind_of_state, reduce, rules_for
from conformance.wire.frames import Frame

JSON = Any


@dataclass(frozen=True, slots=True)
class Request:
    """A request of the suite: ``id``, ``method`` and ``params`` as sent."""

    conn: str
    id: int | str
    method: str
    params: JSON
    frame: Frame


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer to ``request`` (None: to nothing that was asked). Either ``result`` or ``error`` counts."""

    conn: str
    request: Request | None
    result: JSON
    error: JSON
    frame: Frame

    @property
    def failed(self) -> bool:
        return self.error is not None


@dataclass(frozen=True, slots=True)
class Dispatch:
    """An action that the suite dispatched."""

    conn: str
    client_id: str | None
    channel: str
    client_seq: JSON
    action: JSON
    frame: Frame


@dataclass(frozen=True, slots=True)
class Envelope:
    """An action as the host delivered it, with the fold of its channel before and after (None: not followed)."""

    conn: str
    channel: str
    kind: str | None
    action: JSON
    seq: JSON
    origin: JSON
    rejection: JSON
    message: JSON
    frame: Frame
    replayed: bool
    before: JSON
    after: JSON

    @property
    def type(self) -> str:
        value = self.action.get("type") if isinstance(self.action, dict) else None
        return value if isinstance(value, str) else ""

    @property
    def accepted(self) -> bool:
        return self.rejection is None

    def get(self, member: str) -> JSON:
        return self.action.get(member) if isinstance(self.action, dict) else None


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A state that the host handed out; ``folded`` is what this connection had folded so far (None: nothing)."""

    conn: str
    channel: str
    kind: str | None
    state: JSON
    from_seq: JSON
    frame: Frame
    folded: JSON


@dataclass(frozen=True, slots=True)
class Notification:
    """A notification of the host other than ``action``."""

    conn: str
    method: str
    params: JSON
    frame: Frame


@dataclass(slots=True)
class ChannelView:
    """One channel as one connection sees it. ``history`` pairs each serverSeq with the fold right after it."""

    channel: str
    kind: str | None
    state: JSON = None
    base: int = -1
    history: list[tuple[int, JSON]] = field(default_factory=list)
    live: bool = True

    def reset(self, state: JSON, from_seq: JSON) -> None:
        self.state = state
        self.base = from_seq if isinstance(from_seq, int) else -1
        self.history = [(self.base, state)]
        self.live = True

    def at(self, seq: int) -> JSON:
        """The fold as of ``seq``, or None when the view began later."""
        found = None
        for position, state in self.history:
            if position > seq:
                break
            found = state
        return found


@dataclass(slots=True)
class ConnectionView:
    """One connection: its negotiated version, the subscriptions it holds, the channels it follows."""

    name: str
    client_id: str | None = None
    # The version whose rules hold: that of the handshake, or the nearest one below it that is known.
    version: str | None = None
    channels: dict[str, ChannelView] = field(default_factory=dict)
    subscribed: set[str] = field(default_factory=set)
    asked: dict[str, int] = field(default_factory=dict)
    requests: dict[int | str, Request] = field(default_factory=dict)
    closed: bool = False


class Listener:
    """What a rule may hear. Every method does nothing by default."""

    def frame(self, frame: Frame) -> None: ...
    def request(self, request: Request) -> None: ...
    def reply(self, reply: Reply) -> None: ...
    def dispatch(self, dispatch: Dispatch) -> None: ...
    def envelope(self, envelope: Envelope) -> None: ...
    def snapshot(self, snapshot: Snapshot) -> None: ...
    def notification(self, notification: Notification) -> None: ...
    def end(self) -> None: ...


class Tracker:
    """Turns frames into events for listeners and keeps the folds."""

    def __init__(self) -> None:
        self.connections: dict[str, ConnectionView] = {}
        self.kinds: dict[str, str] = {ROOT_URI: "root"}
        self.snapshots: list[Snapshot] = []
        self.settled = False
        self._listeners: list[Listener] = []

    def listen(self, listener: Listener) -> None:
        self._listeners.append(listener)

    def connection(self, name: str) -> ConnectionView:
        return self.connections.setdefault(name, ConnectionView(name))

    def views(self, channel: str) -> Iterator[tuple[ConnectionView, ChannelView]]:
        """Every view of ``channel`` on any connection."""
        for connection in self.connections.values():
            view = connection.channels.get(channel)
            if view is not None:
                yield connection, view

    def end(self) -> None:
        for listener in self._listeners:
            listener.end()

    def feed(self, frame: Frame) -> None:
        for listener in self._listeners:
            listener.frame(frame)
        view = self.connection(frame.conn)
        if frame.kind == "close":
            view.closed = True
        if frame.kind != "json" or not isinstance(frame.msg, dict):
            return
        if frame.dir == "out":
            self._outgoing(view, frame, frame.msg)
        else:
            self._incoming(view, frame, frame.msg)

    # -- what the suite sends -------------------------------------------------------------------------

    def _outgoing(self, view: ConnectionView, frame: Frame, message: dict[str, JSON]) -> None:
        method, params = message.get("method"), message.get("params")
        if not isinstance(method, str):
            return
        params = params if isinstance(params, dict) else {}
        channel = params.get("channel")
        if "id" in message:
            request = Request(view.name, message["id"], method, params, frame)
            view.requests[request.id] = request
            self._before_reply(view, request, channel)
            self._tell(lambda listener: listener.request(request))
        elif method == "dispatchAction" and isinstance(channel, str):
            dispatch = Dispatch(
                view.name, view.client_id, channel, params.get("clientSeq"), params.get("action"), frame
            )
            self._tell(lambda listener: listener.dispatch(dispatch))
        elif method == "unsubscribe" and isinstance(channel, str):
            view.subscribed.discard(channel)
            view.asked.pop(channel, None)
            if channel in view.channels:
                view.channels[channel].live = False

    def _before_reply(self, view: ConnectionView, request: Request, channel: JSON) -> None:
        params = request.params
        if request.method in ("initialize", "reconnect") and isinstance(params.get("clientId"), str):
            view.client_id = params["clientId"]
            asked = params.get("initialSubscriptions" if request.method == "initialize" else "subscriptions")
            for uri in asked if isinstance(asked, list) else ():
                view.asked[uri] = view.asked.get(uri, 0) + 1
        elif request.method == "subscribe" and isinstance(channel, str):
            view.asked[channel] = view.asked.get(channel, 0) + 1
        elif request.method == "createSession" and isinstance(channel, str):
            self.kinds.setdefault(channel, "session")
        elif request.method == "createChat" and isinstance(params.get("chat"), str):
            self.kinds.setdefault(params["chat"], "chat")

    # -- what the host sends --------------------------------------------------------------------------

    def _incoming(self, view: ConnectionView, frame: Frame, message: dict[str, JSON]) -> None:
        method = message.get("method")
        if method is None:
            self._reply(view, frame, message)
            return
        params = message.get("params")
        if not isinstance(method, str) or not isinstance(params, dict) or "id" in message:
            return
        if method == "action":
            self._envelope(view, frame, params, replayed=False)
            return
        notification = Notification(view.name, method, params, frame)
        self._tell(lambda listener: listener.notification(notification))

    def _reply(self, view: ConnectionView, frame: Frame, message: dict[str, JSON]) -> None:
        identity = message.get("id")
        request = view.requests.pop(identity, None) if isinstance(identity, int | str) else None
        reply = Reply(view.name, request, message.get("result"), message.get("error"), frame)
        if request is not None:
            self._after_reply(view, request, reply)
        self._tell(lambda listener: listener.reply(reply))

    def _after_reply(self, view: ConnectionView, request: Request, reply: Reply) -> None:
        result = reply.result if isinstance(reply.result, dict) else {}
        if request.method == "initialize" and not reply.failed:
            version = result.get("protocolVersion")
            view.version = rules_for(version) if is_version(version) else None
            self._snapshots(view, reply.frame, result.get("snapshots"))
        elif request.method == "reconnect" and not reply.failed:
            self._resume(view, request, reply.frame, result)
        elif request.method == "subscribe":
            channel = request.params.get("channel")
            if reply.failed:
                view.asked.pop(channel, None)
            else:
                view.subscribed.add(channel)
                if "snapshot" in result:
                    self._snapshots(view, reply.frame, [result["snapshot"]])

    def _resume(self, view: ConnectionView, request: Request, frame: Frame, result: dict[str, JSON]) -> None:
        before = [c for c in self.connections.values() if c.client_id == view.client_id and c is not view and c.version]
        wanted = request.params.get("subscriptions")
        wanted = wanted if isinstance(wanted, list) else []
        missing = result.get("missing")
        gone = set(missing) if isinstance(missing, list) else set()
        if before:
            view.version = before[-1].version
            for uri in wanted:
                if uri in before[-1].channels and uri not in gone:
                    old = before[-1].channels[uri]
                    view.channels[uri] = ChannelView(uri, old.kind, old.state, old.base, list(old.history), live=True)
        view.subscribed.update(uri for uri in wanted if uri not in gone)
        self._snapshots(view, frame, result.get("snapshots"))
        actions = result.get("actions")
        for envelope in actions if isinstance(actions, list) else ():
            if isinstance(envelope, dict):
                self._envelope(view, frame, envelope, replayed=True)

    def _snapshots(self, view: ConnectionView, frame: Frame, values: JSON) -> None:
        for value in values if isinstance(values, list) else ():
            if not isinstance(value, dict) or not isinstance(value.get("resource"), str):
                continue
            channel, state = value["resource"], value.get("state")
            kind = self.kinds.get(channel) or kind_of_state(state)
            if kind is not None:
                self.kinds.setdefault(channel, kind)
            known = view.channels.get(channel)
            folded = known.state if known is not None and known.live else None
            if known is None:
                known = view.channels[channel] = ChannelView(channel, kind)
            known.kind = kind
            known.reset(state, value.get("fromSeq"))
            view.subscribed.add(channel)
            self._learn_chats(state)
            snapshot = Snapshot(view.name, channel, kind, state, value.get("fromSeq"), frame, folded)
            self.snapshots.append(snapshot)
            for listener in self._listeners:
                listener.snapshot(snapshot)

    def _learn_chats(self, state: JSON) -> None:
        chats = state.get("chats") if isinstance(state, dict) else None
        for chat in chats if isinstance(chats, list) else ():
            if isinstance(chat, dict) and isinstance(chat.get("resource"), str):
                self.kinds.setdefault(chat["resource"], "chat")

    def _envelope(self, view: ConnectionView, frame: Frame, params: dict[str, JSON], *, replayed: bool) -> None:
        channel, action, seq = params.get("channel"), params.get("action"), params.get("serverSeq")
        if not isinstance(channel, str) or not isinstance(action, dict):
            return
        known = view.channels.get(channel)
        kind = self.kinds.get(channel) or (known.kind if known else None)
        before = after = known.state if known is not None else None
        rejection = params.get("rejectionReason")
        if known is not None and kind is not None and rejection is None and isinstance(seq, int):
            position = known.history[-1][0] if known.history else known.base
            if seq > position and known.live:
                after = fold(kind, before, action, view.version)
                known.state = after
                known.history.append((seq, after))
                if kind == "session":
                    self._learn_chats(after)
        envelope = Envelope(
            view.name,
            channel,
            kind,
            action,
            seq,
            params.get("origin"),
            rejection,
            params,
            frame,
            replayed,
            before,
            after,
        )
        self._tell(lambda listener: listener.envelope(envelope))

    def _tell(self, event: Callable[[Listener], None]) -> None:
        for listener in self._listeners:
            event(listener)


def fold(kind: str, state: JSON, action: JSON, version: str | None) -> JSON:
    """The fold of one action; channels of a kind without a fold stay as their last snapshot."""
    return reduce(kind, state, action, version or BASELINE) if kind in REDUCERS else state
