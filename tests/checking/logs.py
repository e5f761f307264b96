"""Logs written by many hands: one recording, in the forms in which people keep such logs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from typing import Any

import orjson

from conformance.checking.judging import LogResult, judge_log
from conformance.checking.logs import LogReader
from conformance.wire.frames import Frame
from conformance.wire.transcript import End

JSON = Any
BEGAN = datetime(2026, 1, 1, tzinfo=UTC).timestamp()


def as_lines(values: Iterable[JSON]) -> bytes:
    return b"".join(orjson.dumps(value) + b"\n" for value in values)


def opener(data: bytes) -> Callable[[], list[bytes]]:
    return lambda: data.splitlines(keepends=True)


def judged(data: bytes, **more: Any) -> LogResult:
    return judge_log("a log", opener(data), **more)


def read(data: bytes) -> tuple[list[Frame | End], LogReader]:
    reader = LogReader(data.splitlines(keepends=True))
    return list(reader), reader


def _iso(t: float) -> str:
    return datetime.fromtimestamp(BEGAN + t, UTC).isoformat().replace("+00:00", "Z")


def transcript(frames: Iterable[Frame]) -> Iterator[JSON]:
    for f in frames:
        yield {"n": f.n, "t": f.t, "conn": f.conn, "dir": f.dir, "msg": f.msg}


def recording(frames: Iterable[Frame]) -> Iterator[JSON]:
    for f in frames:
        yield {"ts": f.t, "dir": "c2s" if f.dir == "out" else "s2c", "conn": f.conn, "msg": f.msg}


def sidecar(frames: Iterable[Frame]) -> Iterator[JSON]:
    """As VS Code writes it and AHP log viewers read it: the message at the root, with a sidecar."""
    for f in frames:
        about = {
            "ts": _iso(f.t),
            "dir": "c2s" if f.dir == "out" else "s2c",
            "connectionId": f.conn,
            "transport": "websocket",
        }
        yield {**f.msg, "_ahpLog": about}


def of_a_host(frames: Iterable[Frame]) -> Iterator[JSON]:
    """Directions as the host sees them, times in milliseconds."""
    for f in frames:
        yield {
            "timestamp": int((BEGAN + f.t) * 1000),
            "direction": "incoming" if f.dir == "out" else "outgoing",
            "connection": f.conn,
            "payload": f.msg,
        }


def of_a_client(frames: Iterable[Frame]) -> Iterator[JSON]:
    for f in frames:
        yield {
            "time": _iso(f.t),
            "direction": "sent" if f.dir == "out" else "received",
            "client": f.conn,
            "data": f.msg,
        }


def as_text(frames: Iterable[Frame]) -> Iterator[JSON]:
    """The message as a string, with arrows."""
    for f in frames:
        text = orjson.dumps(f.msg).decode()
        yield {"at": f.t, "dir": "->" if f.dir == "out" else "<-", "conn": f.conn, "message": text}


def at_the_root(frames: Iterable[Frame]) -> Iterator[JSON]:
    """The message at the root, with direction and time among its members."""
    for f in frames:
        yield {"ts": _iso(f.t), "direction": "client->server" if f.dir == "out" else "server->client", **f.msg}


FORMS: dict[str, Callable[[Iterable[Frame]], Iterator[JSON]]] = {
    form.__name__: form for form in (transcript, recording, sidecar, of_a_host, of_a_client, as_text)
}
