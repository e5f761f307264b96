"""A pair of transports inside one process, for unit tests."""

from __future__ import annotations

import contextlib
import os
import socket
from collections import deque
from collections.abc import Sequence

from conformance.wire.frames import ABNORMAL, Closed, Received

BATCH = 64


class MemoryTransport:
    """One end. A socket pair makes it pollable: a byte lies in it while the inbox holds something."""

    def __init__(self, sock: socket.socket, inbox: deque[Received], outbox: deque[Received]) -> None:
        sock.setblocking(False)
        # A bare descriptor, as ends go out of scope in tests, and a socket would warn of that.
        self._descriptor = sock.detach()
        self._inbox = inbox
        self._outbox = outbox  # the inbox of the other end; a reference to that end itself would be a cycle

    def __del__(self) -> None:
        self._shut()

    def fileno(self) -> int:
        return self._descriptor

    def send(self, payload: str | bytes) -> None:
        self.send_any(payload)

    def send_any(self, what: Received) -> None:
        """Send also what no well-behaved peer would."""
        if self.fileno() < 0:
            return
        if not self._outbox:
            try:
                os.write(self._descriptor, b"!")
            except OSError:  # the other end is closed
                return
        self._outbox.append(what)

    def flush(self) -> bool:
        return True

    def receive(self) -> Sequence[Received]:
        if self.fileno() < 0:
            return []
        batch: list[Received] = []
        while self._inbox and len(batch) < BATCH:
            batch.append(self._inbox.popleft())
        if not self._inbox:
            with contextlib.suppress(BlockingIOError):
                os.read(self._descriptor, 1)
        if batch and isinstance(batch[-1], Closed):
            self._shut()
        return batch

    def close(self, code: int = 1000) -> None:
        self.send_any(Closed(code, "the connection was dropped" if code == ABNORMAL else ""))
        self._shut()

    def _shut(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
        self._descriptor = -1


def memory_pair() -> tuple[MemoryTransport, MemoryTransport]:
    """Two connected transports; what one sends, the other receives."""
    left, right = socket.socketpair()
    there: deque[Received] = deque()
    back: deque[Received] = deque()
    return MemoryTransport(left, back, there), MemoryTransport(right, there, back)
