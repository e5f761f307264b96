"""What each connection knows: its subscriptions, and the folds of the channels that it follows."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field, replace

from .events import Request
from .memory import Bounded
from .reading import JSON

REACH = 128
"""How many envelopes of a channel are kept, so that a snapshot taken a little earlier can be compared with its fold.

A snapshot lags behind by what the host sends while it prepares one; what lags further is not compared at all.
"""

_MOST_ENDED = 16


@dataclass(slots=True)
class ChannelView:
    """One channel as one connection sees it. ``history`` pairs the latest serverSeqs with the folds right after them.

    ``position`` is the number up to which the fold has come; ``base`` that of the last snapshot; ``since`` the position
    from which on nothing of the channel can have escaped this view. ``late``: the client permits delays, so that
    envelopes may come merged or after an answer that was given later. ``live``: the host owes this view all further
    envelopes. ``life``: see ``Snapshot``.
    """

    channel: str
    kind: str | None
    state: JSON = None
    position: int = -1
    base: int = -1
    since: int = -1
    history: list[tuple[int, JSON]] = field(default_factory=list)
    live: bool = False
    late: bool = False
    life: int = 0

    def reset(self, state: JSON, from_seq: int | None, *, live: bool = True) -> None:
        self.state = state
        self.base = self.position = -1 if from_seq is None else from_seq
        self.since = self.since if self.live else self.base
        # A view that was fed all along keeps what it had folded before: other snapshots may be about that.
        earlier = [entry for entry in self.history if entry[0] < self.base] if self.live else []
        self.history = [*earlier, (self.base, state)]
        self.live = live

    def advance(self, seq: int, state: JSON) -> None:
        """The fold after the envelope ``seq``."""
        self.state = state
        self.position = seq
        self.history.append((seq, state))
        if len(self.history) > 2 * REACH:
            del self.history[:-REACH]

    def at(self, seq: int | None) -> JSON:
        """The fold as of ``seq`` (None: the last one), or None when the view began later."""
        if seq is None:
            return self.state
        for position, state in reversed(self.history):
            if position <= seq:
                return state if position == seq or not self.late else None
        return None

    def continued(self, seq: int) -> ChannelView:
        """The view that the same client has on its next connection, of which it says that it saw all up to ``seq``."""
        kept = [entry for entry in self.history if entry[0] <= seq] or self.history[:1]
        return replace(self, state=kept[-1][1], position=kept[-1][0], history=kept)


@dataclass(slots=True)
class EnvelopeLog:
    """The latest accepted envelopes of a channel. ``lost`` is the number of the last one that is no longer kept."""

    entries: deque[tuple[int, JSON]] = field(default_factory=lambda: deque(maxlen=REACH))
    lost: int = -1

    def add(self, seq: int, action: JSON) -> None:
        if len(self.entries) == REACH:
            self.lost = max(self.lost, self.entries[0][0])
        self.entries.append((seq, action))


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
    # Channels that were left, with the number of the frame that said so.
    left: dict[str, int] = field(default_factory=Bounded)
    # Channels that are no longer followed, the latest last; of older ones nothing is kept.
    ended: deque[str] = field(default_factory=deque)
    # What was asked and not yet answered, by the suite and by the host.
    requests: dict[int | str, Request] = field(default_factory=Bounded)
    host_requests: dict[int | str, Request] = field(default_factory=Bounded)
    # Accepted envelopes by channel: what came before a snapshot and is numbered above it still counts.
    log: dict[str, EnvelopeLog] = field(default_factory=dict)
    # The highest number that the host told on this connection.
    seen: int = -1
    closed: bool = False
    # Which life of the host it belongs to: numbers and states of different ones have nothing to do with each other.
    epoch: int = 0
    # Its handshake was asked for here; it was also granted, so that nothing of the connection is missing.
    greeted: bool = False
    began: bool = False
    # The same client has come back on another connection, so that nothing is owed to this one any more.
    replaced: bool = False

    def leave(self, channel: str) -> None:
        """The host owes this connection nothing more of a channel. The last states stay, for who wants to see them."""
        view = self.channels.get(channel)
        self.log.pop(channel, None)
        if view is None or not view.live:
            return
        view.live = False
        del view.history[:-1]
        self.ended.append(channel)
        if len(self.ended) > _MOST_ENDED:
            oldest = self.ended.popleft()
            if oldest in self.channels and not self.channels[oldest].live:
                del self.channels[oldest]
                self.subscribed.discard(oldest)
                self.asked.pop(oldest, None)

    @property
    def fed(self) -> bool:
        """Whether the host still owes this connection what happens on its channels."""
        return not self.closed and not self.replaced
