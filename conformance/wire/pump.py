"""One loop over all connections of a scenario."""

from __future__ import annotations

import contextlib
import math
import selectors
import time
from collections.abc import Callable
from types import TracebackType
from typing import Self, TypeVar

from conformance.wire.connection import Connection

T = TypeVar("T")

_READ = selectors.EVENT_READ
_BOTH = selectors.EVENT_READ | selectors.EVENT_WRITE


class Pump:
    """Reads and writes all added connections while something waits; between waits nothing happens.

    As a context manager it closes all connections at the end.
    """

    def __init__(self) -> None:
        self._selector = selectors.DefaultSelector()
        self._connections: list[Connection] = []
        self._polled: dict[Connection, dict[int, int]] = {}  # descriptors of each and the events they are polled for
        self._duties: list[Callable[[], None]] = []
        self.waited = 0.0  # seconds in which nothing was to be done but to wait for the host

    @property
    def connections(self) -> tuple[Connection, ...]:
        """All connections added and not removed, closed ones included."""
        return tuple(self._connections)

    def add(self, connection: Connection) -> None:
        """Read and write this connection from now on."""
        if connection not in self._connections:
            self._connections.append(connection)

    def remove(self, connection: Connection) -> None:
        """Leave this connection alone from now on; it stays open."""
        if connection in self._connections:
            self._connections.remove(connection)
            self._forget(connection)

    def attend(self, duty: Callable[[], None]) -> None:
        """Call this after each batch of frames, whoever waits: answering what the host asks, for one."""
        self._duties.append(duty)

    def wait(self, until: Callable[[], T | None], patience: float) -> T | None:
        """What `until` gives as soon as it is not None; None after `patience` seconds.

        `until` is asked first, and again after each batch of frames. None comes early when every connection
        is closed, as nothing can arrive any more. With patience 0, one batch of what has arrived is taken in.
        """
        deadline = time.monotonic() + patience
        expired = False
        while True:
            found = until()
            if found is not None:
                return found
            if expired or all(connection.closed is not None for connection in self._connections):
                return None
            remaining = deadline - time.monotonic()
            expired = remaining <= 0
            self.step(max(0.0, remaining))

    def flush(self, patience: float) -> bool:
        """Wait until everything sent has gone out; False when it has not after `patience` seconds."""
        return self.wait(lambda: all(c.flushed for c in self._connections) or None, patience) is True

    def step(self, timeout: float) -> None:
        """Wait at most `timeout` seconds for anything; then one batch of each connection that is ready."""
        self._poll_what_is_open()
        due = [connection for connection in self._connections if connection.due]
        if due:
            timeout = 0.0
        began = time.monotonic()
        ready = self._selector.select(None if math.isinf(timeout) else timeout)
        self.waited += time.monotonic() - began
        for key, events in ready:
            connection: Connection = key.data
            if events & selectors.EVENT_WRITE:
                connection.flush()
            if events & _READ and connection not in due:
                connection.receive()
        for connection in due:
            connection.receive()
        for duty in self._duties:
            duty()

    def _poll_what_is_open(self) -> None:
        wanted = {connection: _descriptors(connection) for connection in self._connections}
        # Let go of closed descriptors first: the system may have given their number to a new connection.
        for connection, descriptors in wanted.items():
            polled = self._polled.get(connection)
            if polled is not None and polled != descriptors:
                for descriptor in polled.keys() - descriptors.keys():
                    self._selector.unregister(descriptor)
                    del polled[descriptor]
        for connection, descriptors in wanted.items():
            polled = self._polled.setdefault(connection, {})
            if polled != descriptors:
                for descriptor, events in descriptors.items():
                    if descriptor not in polled:
                        self._selector.register(descriptor, events, connection)
                    elif polled[descriptor] != events:
                        self._selector.modify(descriptor, events, connection)
                self._polled[connection] = descriptors

    def _forget(self, connection: Connection) -> None:
        for descriptor in self._polled.pop(connection, {}):
            self._selector.unregister(descriptor)

    def close(self, code: int = 1000) -> None:
        """Close all connections with this code, and the pump."""
        with contextlib.ExitStack() as stack:
            stack.callback(self._selector.close)
            for connection in reversed(self._connections):
                self._forget(connection)
                stack.callback(connection.close, code)
            self._connections.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, exc: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _descriptors(connection: Connection) -> dict[int, int]:
    """What to poll for a connection, and for which events; nothing once it is closed."""
    reading = connection.fileno()
    if connection.flushed:
        return {} if reading < 0 else {reading: _READ}
    writing = connection.write_fileno()
    if writing == reading:
        return {} if reading < 0 else {reading: _BOTH}
    wanted = {reading: _READ, writing: selectors.EVENT_WRITE}
    wanted.pop(-1, None)
    return wanted
