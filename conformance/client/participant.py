"""One AHP client of a scenario: it asks, dispatches, subscribes, awaits, and shows absence with a fence.

Every wait returns as soon as what it waits for is there and is bounded by the patience. Nothing here sleeps.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

from conformance.oracle.tracker import (
    ConnectionView,
    Envelope,
    Listener,
    Notification,
    Reply,
    Request,
    Snapshot,
    Tracker,
)
from conformance.protocol import ROOT_URI
from conformance.wire.connection import Connection
from conformance.wire.errors import ConnectionLost
from conformance.wire.pump import Pump

from .library import Library
from .outcomes import HostClosed, Refused, Rejected, Silent, Unreached

JSON = Any
T = TypeVar("T")


class Mailbox(Listener):
    """What one connection has received, in order; the place in it is what ``since`` means."""

    def __init__(self, conn: str) -> None:
        self.conn = conn
        self.envelopes: list[Envelope] = []
        self.notifications: list[Notification] = []
        self.snapshots: list[Snapshot] = []
        self.replies: dict[int | str, Reply] = {}
        self.asked: deque[Request] = deque()

    def host_request(self, request: Request) -> None:
        if request.conn == self.conn:
            self.asked.append(request)

    def reply(self, reply: Reply) -> None:
        if reply.conn == self.conn and reply.request is not None:
            self.replies.setdefault(reply.request.id, reply)

    def envelope(self, envelope: Envelope) -> None:
        if envelope.conn == self.conn:
            self.envelopes.append(envelope)

    def notification(self, notification: Notification) -> None:
        if notification.conn == self.conn:
            self.notifications.append(notification)

    def snapshot(self, snapshot: Snapshot) -> None:
        if snapshot.conn == self.conn:
            self.snapshots.append(snapshot)


class Participant:
    """A client with its own connection, identity and subscriptions.

    ``patience`` (seconds) bounds every wait. ``client_id`` stays the same over reconnects. ``library`` holds the files
    that the host may fetch from this client.
    """

    def __init__(
        self,
        name: str,
        client_id: str,
        *,
        pump: Pump,
        tracker: Tracker,
        connect: Callable[[str], Connection],
        patience: float,
    ) -> None:
        self.name = name
        self.client_id = client_id
        self.patience = patience
        self.library = Library()
        self._pump = pump
        self._tracker = tracker
        self._connect = connect
        self._client_seqs = itertools.count(1)
        self._lives = itertools.count(2)
        self.last_client_seq = 0
        self.connection: Connection
        self.mailbox: Mailbox
        pump.attend(self._answer_host)
        self._open(name)

    # -- the connection -------------------------------------------------------------------------------

    def _open(self, conn: str) -> None:
        self.mailbox = Mailbox(conn)
        self._tracker.listen(self.mailbox)
        self.connection = self._connect(conn)

    @property
    def view(self) -> ConnectionView:
        return self._tracker.connection(self.connection.name)

    @property
    def version(self) -> str | None:
        return self.view.version

    @property
    def mark(self) -> int:
        """The number of the last frame so far: what comes later has a higher one."""
        frames = self.connection.frames
        return frames[-1].n if frames else -1

    def drop(self) -> None:
        """Lose the connection without a goodbye."""
        self.connection.drop()

    def leave(self) -> None:
        self.connection.close()

    def reopen(self) -> None:
        """A new connection for the same client; it has said nothing yet."""
        self._open(f"{self.name}{next(self._lives)}")

    def _answer_host(self) -> None:
        """Answer what the host has asked, with what the library holds. No request of it is left hanging."""
        while self.mailbox.asked and self.connection.closed is None:
            request = self.mailbox.asked.popleft()
            answer = self.library.answer(request.method, request.params)
            self.connection.send({"jsonrpc": "2.0", "id": request.id, **answer})

    # -- waiting --------------------------------------------------------------------------------------

    def wait(self, what: str, until: Callable[[], T | None]) -> T:
        """Return what ``until`` finds. Raises Silent after the patience and HostClosed on a closed connection."""

        def found_or_closed() -> tuple[T | None] | None:
            found = until()
            if found is not None:
                return (found,)
            return (None,) if self.connection.closed is not None else None

        outcome = self._pump.wait(found_or_closed, self.patience)
        if outcome is not None and outcome[0] is not None:
            return outcome[0]
        if self.connection.closed is not None:
            raise HostClosed(what, self.connection.closed.code, self.connection.closed.reason)
        raise Silent(what, self.patience, self.mark if self.connection.frames else None)

    # -- requests -------------------------------------------------------------------------------------

    def ask(self, method: str, **params: JSON) -> int:
        """Send a request and return its id; the channel is the root unless ``channel`` is given."""
        params.setdefault("channel", ROOT_URI)
        try:
            return self.connection.request(method, params)
        except ConnectionLost as lost:
            raise HostClosed(f"sending {method}", None, str(lost)) from lost

    def answer(self, request_id: int) -> Reply:
        return self.wait(f"answer to request {request_id}", lambda: self.mailbox.replies.get(request_id))

    def call(self, method: str, **params: JSON) -> Reply:
        """Ask and await the answer, whatever it is."""
        request_id = self.ask(method, **params)
        return self.wait(f"answer to {method}", lambda: self.mailbox.replies.get(request_id))

    def succeed(self, method: str, **params: JSON) -> JSON:
        """Ask and return the result. Raises Refused when the answer is an error."""
        reply = self.call(method, **params)
        if reply.failed:
            raise Refused(method, reply.error, reply.frame.n)
        return reply.result

    def initialize(self, versions: Sequence[str], subscriptions: Iterable[str] = (), **more: JSON) -> JSON:
        wanted = list(subscriptions)
        if wanted:
            more["initialSubscriptions"] = wanted
        result = self.succeed("initialize", protocolVersions=list(versions), clientId=self.client_id, **more)
        if not isinstance(result, dict) or not isinstance(result.get("protocolVersion"), str):
            raise Unreached(
                "precondition-failed", f"the result of initialize names no protocolVersion: {result!r:.200}"
            )
        return result

    def reconnect(self, channels: Iterable[str], last_seen: int) -> Reply:
        return self.call(
            "reconnect", clientId=self.client_id, lastSeenServerSeq=last_seen, subscriptions=list(channels)
        )

    def subscribe(self, channel: str, **more: JSON) -> Snapshot:
        """Subscribe and return the snapshot. A result without one is Unreached."""
        before = len(self.mailbox.snapshots)
        self.succeed("subscribe", channel=channel, **more)
        for snapshot in self.mailbox.snapshots[before:]:
            if snapshot.channel == channel:
                return snapshot
        raise Unreached("precondition-failed", f"subscribe to {channel} gave no snapshot")

    def unsubscribe(self, channel: str) -> None:
        self.notify("unsubscribe", channel=channel)

    def notify(self, method: str, **params: JSON) -> None:
        try:
            self.connection.notify(method, params)
        except ConnectionLost as lost:
            raise HostClosed(f"sending {method}", None, str(lost)) from lost

    # -- actions --------------------------------------------------------------------------------------

    def dispatch(self, channel: str, action: dict[str, JSON], *, client_seq: int | None = None) -> int:
        """Dispatch and return the clientSeq, without awaiting anything."""
        number = next(self._client_seqs) if client_seq is None else client_seq
        self.last_client_seq = number
        self.notify("dispatchAction", channel=channel, clientSeq=number, action=action)
        return number

    def echoes(self, client_seq: int) -> list[Envelope]:
        """The envelopes that name this dispatch as their origin."""
        origin = {"clientId": self.client_id, "clientSeq": client_seq}
        return [
            e
            for e in self.mailbox.envelopes
            if isinstance(e.origin, dict)
            and e.origin.get("clientId") == origin["clientId"]
            and e.origin.get("clientSeq") == origin["clientSeq"]
        ]

    def echo(self, client_seq: int) -> Envelope:
        """Await the envelope that answers the dispatch, accepted or rejected."""
        return self.wait(
            f"echo of the dispatch with clientSeq {client_seq}",
            lambda: next(iter(self.echoes(client_seq)), None),
        )

    def act(self, channel: str, action: dict[str, JSON]) -> Envelope:
        """Dispatch, await the echo, and insist that it was accepted."""
        echo = self.echo(self.dispatch(channel, action))
        if not echo.accepted:
            raise Rejected(str(action.get("type")), echo.rejection, echo.frame.n)
        return echo

    # -- what came ------------------------------------------------------------------------------------

    def envelopes(
        self, channel: str | None = None, type_: str | None = None, *, since: int = -1, **members: JSON
    ) -> Iterator[Envelope]:
        """Accepted envelopes after frame ``since``, by channel, action type and members of the action."""
        for envelope in self.mailbox.envelopes:
            if (
                envelope.frame.n > since
                and envelope.accepted
                and (channel is None or envelope.channel == channel)
                and (type_ is None or envelope.type == type_)
                and all(envelope.get(name) == value for name, value in members.items())
            ):
                yield envelope

    def await_action(self, channel: str | None, type_: str, *, since: int = -1, **members: JSON) -> Envelope:
        """Await the first accepted envelope of that type after frame ``since``."""
        where = f" on {channel}" if channel else ""
        return self.wait(f"{type_}{where}", lambda: next(self.envelopes(channel, type_, since=since, **members), None))

    def await_notification(
        self, method: str, matches: Callable[[JSON], bool] = lambda _: True, *, since: int = -1
    ) -> Notification:
        return self.wait(
            method,
            lambda: next(
                (
                    n
                    for n in self.mailbox.notifications
                    if n.method == method and n.frame.n > since and matches(n.params)
                ),
                None,
            ),
        )

    def state(self, channel: str) -> JSON:
        """The fold of ``channel`` so far. Unreached when this client does not follow it."""
        view = self.view.channels.get(channel)
        if view is None:
            raise Unreached("precondition-failed", f"client {self.name} does not follow {channel}")
        return view.state

    def await_state(self, channel: str, what: str, until: Callable[[JSON], T | None]) -> T:
        """Await a fold of ``channel`` for which ``until`` gives something."""
        return self.wait(what, lambda: until(self.state(channel)))

    # -- absence --------------------------------------------------------------------------------------

    def fence(self) -> int:
        """Ping and await the answer: what the host had sent before it is here now. Returns the frame number.

        This orders what the host does at once. A host may look up a channel before it takes in a dispatch to it, and
        answer a ping meanwhile; what is dispatched to such a channel is fenced by a request for the same channel.
        """
        return self.call("ping").frame.n
