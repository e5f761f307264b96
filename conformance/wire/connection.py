"""One connection to a host: a transport, the correlation of responses, and the recording of every frame."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from conformance.wire import jsonrpc
from conformance.wire.errors import ConnectionLost
from conformance.wire.frames import ABNORMAL, JSON, Closed, Direction, Frame, NotUtf8, Received, encode
from conformance.wire.recorder import Recorder
from conformance.wire.transport import Transport

BATCH = 64  # frames taken in before the pump looks at its deadline again
MAX_FRAMES = 100_000  # a scenario's connection sees some hundreds
MAX_BYTES = 256 * 2**20


class Connection:
    """A named connection. `frames` holds its frames of both directions in order; `closed` tells how it ended.

    Request ids are the integers from 1. A host that sends more than `max_frames` frames or `max_bytes` bytes
    is cut off with code 1008, so that a flood ends in an outcome and not in a full memory.
    """

    def __init__(
        self,
        name: str,
        transport: Transport,
        recorder: Recorder,
        *,
        max_frames: int = MAX_FRAMES,
        max_bytes: int = MAX_BYTES,
    ) -> None:
        self.name = name
        self.transport = transport
        self.recorder = recorder
        self.frames: list[Frame] = []
        self.closed: Closed | None = None
        self._arrived: deque[Received] = deque()
        self._replies: dict[int, Frame] = {}
        self._last_id = 0
        self._flushed = True
        self._fresh = True
        self._frames_left = max_frames
        self._bytes_left = max_bytes

    def __repr__(self) -> str:
        return f"<Connection {self.name}: {self.closed or 'open'}, {len(self.frames)} frames>"

    # Sending

    def send_text(self, text: str) -> Frame:
        """Send a text frame as it is. ConnectionLost when the connection is closed (also below)."""
        return self._send(text)

    def send_bytes(self, data: bytes) -> Frame:
        """Send a binary frame."""
        return self._send(data)

    def send(self, message: JSON) -> Frame:
        """Send any JSON value as one text frame."""
        return self._send(encode(message))

    def request(self, method: str, params: JSON = None) -> int:
        """Send a request with the next id and return that id. None leaves `params` out."""
        self._last_id += 1
        self.send(jsonrpc.request(self._last_id, method, params))
        return self._last_id

    def notify(self, method: str, params: JSON = None) -> Frame:
        """Send a notification. None leaves `params` out."""
        return self.send(jsonrpc.notification(method, params))

    def _send(self, payload: str | bytes) -> Frame:
        if self.closed is not None:
            raise ConnectionLost(f"connection {self.name} is {self.closed}; nothing can be sent on it any more")
        frame = self._record("out", payload)
        self.transport.send(payload)
        self._flushed = self.transport.flush()
        return frame

    # Receiving

    def reply(self, request_id: int) -> Frame | None:
        """The first response that came with this id; later ones with the same id are only in `frames`."""
        return self._replies.get(request_id)

    def receive(self, limit: int = BATCH) -> int:
        """Take in what has arrived, at most `limit` frames; their number. Never blocks."""
        if self.closed is not None:
            return 0
        if not self._arrived:
            self._fresh = False
            self._arrived.extend(self.transport.receive())
            self._flushed = self.transport.flush()  # it may have answered a ping
            if not self._arrived and self.transport.fileno() < 0:
                self._arrived.append(Closed(ABNORMAL, "the transport was closed"))
        taken = 0
        while self._arrived and taken < limit and self.closed is None:
            taken += 1
            self._take(self._arrived.popleft())
        return taken

    def _take(self, what: Received) -> None:
        if isinstance(what, Closed):
            self._end(what)
            return
        self._frames_left -= 1
        self._bytes_left -= len(what.data) if isinstance(what, NotUtf8) else len(what)
        frame = self._record("in", what)
        if frame.kind == "json":
            reply_to = jsonrpc.answers(frame.msg)
            if reply_to is not None:
                self._replies.setdefault(reply_to, frame)
        if self.closed is None and (self._frames_left <= 0 or self._bytes_left <= 0):
            self.transport.close(1008)
            self._end(Closed(1008, "the host sent more than a connection of the suite may carry", ours=True))

    def _end(self, closed: Closed) -> None:
        self._arrived.clear()
        self._flushed = True
        self.closed = closed
        self._record("out" if closed.ours else "in", closed)

    def _record(self, direction: Direction, what: Received) -> Frame:
        frame = self.recorder.record(self.name, direction, what)
        self.frames.append(frame)
        return frame

    # What the pump needs

    def fileno(self) -> int:
        """The descriptor to poll, -1 when there is none."""
        return -1 if self.closed is not None else self.transport.fileno()

    def write_fileno(self) -> int:
        """The descriptor to poll for writing; only a pair of pipes has one of its own."""
        if self.closed is not None:
            return -1
        own: Callable[[], int] = getattr(self.transport, "write_fileno", self.transport.fileno)
        return own()

    @property
    def due(self) -> bool:
        """Whether `receive` may give something although the descriptor is not readable."""
        return self.closed is None and (self._fresh or bool(self._arrived) or self.transport.fileno() < 0)

    @property
    def flushed(self) -> bool:
        """Whether everything sent has gone to the operating system."""
        return self._flushed

    def flush(self) -> bool:
        """Go on writing what is left; True when nothing is."""
        if self.closed is None:
            self._flushed = self.transport.flush()
        return self._flushed

    # Ending

    def close(self, code: int = 1000) -> None:
        """Take in what has already arrived, then close with this code, without waiting for the host."""
        if self.closed is None:
            self.receive(limit=4 * BATCH)
        if self.closed is None:
            self.transport.close(code)
            self._end(Closed(code, ours=True))

    def drop(self) -> None:
        """End the connection as a failing network would: no Close frame."""
        self.close(ABNORMAL)
