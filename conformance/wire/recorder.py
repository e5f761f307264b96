"""The recording of a scenario: every frame of every connection, in the order in which the suite saw them."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from conformance.wire.frames import JSON, Direction, Frame, Received, frame_of
from conformance.wire.transcript import End, Mask, write_transcript

Listener = Callable[[Frame], None]


class Recorder:
    """Append-only. Listeners get each frame live and only look: they neither send nor close.

    What a listener raises goes to whoever sends or waits.

    Frames hold the real values; secrets are masked only in what `write` puts into a file.
    """

    def __init__(self) -> None:
        self._frames: list[Frame] = []
        self._listeners: list[Listener] = []
        self._secrets: dict[str, str] = {}
        self._end: End | None = None
        self._began = time.perf_counter()

    @property
    def frames(self) -> Sequence[Frame]:
        """All frames so far; the same growing sequence at every call."""
        return self._frames

    @property
    def secrets(self) -> Mapping[str, str]:
        """The name of each concealed secret, by the secret."""
        return self._secrets

    def record(self, conn: str, direction: Direction, what: Received) -> Frame:
        """Append what travelled on the connection named `conn`."""
        t = time.perf_counter() - self._began
        frame = frame_of(len(self._frames), t, conn, direction, what)
        self._frames.append(frame)
        for listener in self._listeners:
            listener(frame)
        return frame

    def listen(self, callback: Listener) -> None:
        """Call `callback` with every frame from now on."""
        self._listeners.append(callback)

    def conceal(self, name: str, secret: str) -> None:
        """From now on files show `«token:NAME»` wherever `secret` occurs, also in earlier frames."""
        if secret:
            self._secrets[secret] = name

    def masked(self, value: JSON) -> JSON:
        """A JSON value or a text as it may be published: with `«token:NAME»` in place of each secret."""
        return Mask(self._secrets).value(value)

    def end(self, *, settled: bool) -> None:
        """What comes from now on is recorded and no longer judged; see `End`."""
        self._end = End(len(self._frames), settled)

    def write(self, path: Path) -> None:
        """Write the transcript; see `write_transcript`."""
        write_transcript(path, self._frames, self._secrets, self._end)
