"""What the frames of a recording mean, as events, and who may listen to them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from conformance.wire.frames import Frame

from .reading import JSON


@dataclass(frozen=True, slots=True)
class Request:
    """A request of the suite, or of the host: ``id``, ``method`` and ``params`` as sent."""

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


class Envelope(NamedTuple):
    """An action as the host delivered it, with the fold of its channel before and after it.

    ``by``: clientId and clientSeq of the dispatch that it answers, None when nothing says so. ``version``: the one that
    the connection negotiated.

    A tuple, because there is one for nearly every frame, and a frozen dataclass takes three times as long to make.

    Both folds are None when there is none to judge it by: the channel is not followed, or the envelope is one from
    before the position of the fold, delivered again.
    """

    conn: str
    channel: str
    kind: str | None
    # The type of the action; empty when it has none.
    type: str
    action: JSON
    seq: JSON
    origin: JSON
    rejection: JSON
    message: JSON
    frame: Frame
    replayed: bool
    before: JSON
    after: JSON
    by: tuple[str, int] | None
    version: str | None

    @property
    def accepted(self) -> bool:
        return self.rejection is None

    def get(self, member: str) -> JSON:
        return self.action.get(member) if isinstance(self.action, dict) else None


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A state that the host handed out.

    ``folded`` is what this connection had folded of the channel up to ``from_seq`` (None: nothing). ``life`` counts
    how often the channel was disposed of before: its URI may be used again.
    """

    conn: str
    channel: str
    kind: str | None
    state: JSON
    from_seq: int | None
    frame: Frame
    folded: JSON
    life: int = 0


@dataclass(frozen=True, slots=True)
class Comparison:
    """A snapshot, and what the connection ``conn`` had folded of its channel up to the same number."""

    snapshot: Snapshot
    fold: JSON
    conn: str


@dataclass(frozen=True, slots=True)
class Notification:
    """A notification of the host other than ``action``."""

    conn: str
    method: str
    params: JSON
    frame: Frame


class Listener:
    """What a rule may hear. Every method does nothing by default.

    ``request`` and ``reply`` are of what the suite asks; ``host_request`` and ``client_reply`` of what the host asks.

    ``hears``: the action types whose envelopes it wants; None for all. Most envelopes concern few rules, and what a
    rule is not told of costs nothing.
    """

    hears: ClassVar[frozenset[str] | None] = None

    def frame(self, frame: Frame) -> None: ...
    def request(self, request: Request) -> None: ...
    def reply(self, reply: Reply) -> None: ...
    def host_request(self, request: Request) -> None: ...
    def client_reply(self, reply: Reply) -> None: ...
    def dispatch(self, dispatch: Dispatch) -> None: ...
    def envelope(self, envelope: Envelope) -> None: ...
    def snapshot(self, snapshot: Snapshot) -> None: ...
    def comparison(self, comparison: Comparison) -> None:
        """A snapshot and a fold that must agree: before ``snapshot`` itself, or once another connection is that far."""

    def notification(self, notification: Notification) -> None: ...
    def gone(self, channel: str) -> None:
        """The channel has been disposed of: what a rule keeps about it can go."""

    def end(self) -> None: ...
