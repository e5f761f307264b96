"""What a driver's `connect()` returns: a message channel that never blocks and can be polled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from conformance.wire.frames import Received


@runtime_checkable
class Transport(Protocol):
    """A two-way channel of text (and binary) messages over one file descriptor.

    A transport over two of them has a method `write_fileno` beside: the descriptor that is writable when `flush` can
    go on. No method blocks, and none raises because of what the peer does: trouble comes as `Closed` from `receive`.
    """

    def fileno(self) -> int:
        """Readable when `receive` has something; writable when `flush` can go on; -1 once closed."""
        ...

    def send(self, payload: str | bytes) -> None:
        """Queue a text (str) or binary (bytes) message and write what the socket takes at once."""
        ...

    def flush(self) -> bool:
        """Write what the socket takes; True when nothing is left to write."""
        ...

    def receive(self) -> Sequence[Received]:
        """What has arrived, at most one bounded read of it. `Closed` comes once, as the last item.

        Only the first call may give something before the descriptor is readable: what came with the upgrade.
        """
        ...

    def close(self, code: int = 1000) -> None:
        """Close with that code, without waiting for the peer; 1006 drops it with no Close frame."""
        ...
