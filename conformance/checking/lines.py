"""What one line of a log says, whoever wrote the log.

Logs of AHP traffic are JSON Lines, one message a line, with a direction and mostly a time. They come in three forms:

    {"n": 3, "t": 0.01, "conn": "A", "dir": "in", "msg": {…}}         a transcript of this suite
    {"ts": 0.01, "dir": "s2c", "conn": "A", "msg": {…}}               a message in an envelope, by many names
    {"jsonrpc": "2.0", …, "_ahpLog": {"ts": "…", "dir": "s2c"}}       a message with a sidecar: AHP log viewers

The tables below hold the names that are understood. A direction such as `in` depends on who wrote the log; it is read
as one of a client until the log shows otherwise (see `logs.py`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal

from conformance.wire.frames import JSON, decode

SIDECAR: Final = "_ahpLog"
MESSAGES: Final = ("msg", "message", "data", "payload", "frame", "body", "rpc", "json", "content", "raw")
DIRECTIONS: Final = ("dir", "direction", "flow", "sender", "from", "source", "origin")
TIMES: Final = ("ts", "t", "time", "timestamp", "at", "date", "when")
CONNECTIONS: Final = ("conn", "connectionId", "connection", "conn_id", "connId", "client", "clientId", "peer", "socket")
EVENTS: Final = ("event", "type", "kind")

Sender = Literal["client", "host"]
Side = Literal["near", "far"]

# Who sent the message. Compared without case, blanks and punctuation.
_SENDERS: Final[Mapping[str, Sender]] = {
    **dict.fromkeys(
        ("c2s", "c2h", "client", "clienttoserver", "clienttohost", "client2server", "client2host"), "client"
    ),
    **dict.fromkeys(("toserver", "tohost", "fromclient", "clientserver", "clienthost"), "client"),
    **dict.fromkeys(("s2c", "h2c", "server", "host", "servertoclient", "hosttoclient", "server2client"), "host"),
    **dict.fromkeys(("host2client", "toclient", "fromserver", "fromhost", "serverclient", "hostclient"), "host"),
}
# Whether the side that keeps the log sent the message (near) or got it (far).
_SIDES: Final[Mapping[str, Side]] = {
    **dict.fromkeys(("out", "outgoing", "outbound", "send", "sent", "sending", "tx", "write", "egress"), "near"),
    **dict.fromkeys(("in", "incoming", "inbound", "recv", "receive", "received", "rx", "read", "ingress"), "far"),
    **dict.fromkeys(("->", "-->", ">", ">>", "→", "⇒"), "near"),
    **dict.fromkeys(("<-", "<--", "<", "<<", "←", "⇐"), "far"),
}
_CLOSING: Final = frozenset({"close", "closed", "disconnect", "disconnected", "end", "connectionclosed"})
_REMARKS: Final = frozenset(
    {"note", "open", "opened", "connect", "connected", "start", "info", "debug", "log", "connectionopened"}
)
_CLOSED_NOTE: Final = re.compile(r"connection (\S+) closed")
_PLAIN: Final = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True, slots=True)
class Message:
    """A message: its value, or its text when it is no JSON (then ``msg`` is None and ``raw`` is set)."""

    conn: str
    who: Sender | Side
    t: float | None
    msg: JSON
    raw: str | None = None


@dataclass(frozen=True, slots=True)
class Close:
    """The end of a connection."""

    conn: str
    t: float | None
    code: int


@dataclass(frozen=True, slots=True)
class Remark:
    """A line that is about no message: a note of whoever wrote the log."""


@dataclass(frozen=True, slots=True)
class Unread:
    """A line that could not be understood, and why; the same reason for the same kind of line."""

    why: str


Entry = Message | Close | Remark | Unread


def read_entry(line: JSON) -> Entry:
    """The meaning of a decoded line that is no transcript of this suite."""
    if not isinstance(line, dict):
        return Unread("the line is no JSON object")
    sidecar = line.get(SIDECAR)
    if isinstance(sidecar, dict):
        return _message(sidecar, {name: value for name, value in line.items() if name != SIDECAR})
    remark = _remark(line)
    if remark is not None:
        return remark
    for name in MESSAGES:
        if name in line and not _is_message(line):
            return _message(line, line[name])
    if _is_message(line):
        about = {name for names in (DIRECTIONS, TIMES, CONNECTIONS) for name in names}
        return _message(line, {name: value for name, value in line.items() if name not in about})
    return Unread(f"there is no message (looked for {', '.join(MESSAGES)}, or JSON-RPC members at the root)")


def _is_message(line: dict[str, JSON]) -> bool:
    return "jsonrpc" in line or isinstance(line.get("method"), str)


def _remark(line: dict[str, JSON]) -> Entry | None:
    direction = _first(line, DIRECTIONS)
    if isinstance(direction, str) and _PLAIN.sub("", direction.lower()) in _REMARKS:
        text = next((v for v in _texts(line) if _CLOSED_NOTE.fullmatch(v)), None)
        match = _CLOSED_NOTE.fullmatch(text) if text else None
        return Close(match[1], _time(line), 1000) if match else Remark()
    if _is_message(line) or any(name in line for name in MESSAGES):
        return None
    event = _first(line, EVENTS)
    if isinstance(event, str):
        word = _PLAIN.sub("", event.lower())
        if word in _CLOSING:
            code = line.get("code")
            return Close(_connection(line), _time(line), code if type(code) is int else 1005)
        if word in _REMARKS:
            return Remark()
    if isinstance(line.get("close"), dict):
        code = line["close"].get("code")
        return Close(_connection(line), _time(line), code if type(code) is int else 1005)
    return None


def _texts(line: dict[str, JSON]) -> list[str]:
    values = [line.get(name) for name in MESSAGES]
    inner = [value.get("note") for value in values if isinstance(value, dict)]
    return [value for value in (*values, *inner) if isinstance(value, str)]


def _message(about: dict[str, JSON], value: JSON) -> Entry:
    who = _who(about)
    if who is None:
        said = _first(about, DIRECTIONS)
        if said is None:
            return Unread(f"there is no direction (looked for {', '.join(DIRECTIONS)})")
        return Unread(f"the direction {str(said)[:40]!r} is unknown (c2s, s2c, in, out, … are known)")
    raw = None
    if isinstance(value, dict) and len(value) == 1 and isinstance(value.get("__raw__"), str):
        raw, value = value["__raw__"], None
    elif isinstance(value, str):
        try:
            value = decode(value)
        except ValueError:
            raw, value = value, None
    return Message(_connection(about), who, _time(about), value, raw)


def _who(about: dict[str, JSON]) -> Sender | Side | None:
    for name in DIRECTIONS:
        value = about.get(name)
        if isinstance(value, str):
            word = value.strip().lower()
            found = _SIDES.get(word) or _SENDERS.get(_PLAIN.sub("", word)) or _SIDES.get(_PLAIN.sub("", word))
            if found is not None:
                return found
    return None


def _connection(about: dict[str, JSON]) -> str:
    value = _first(about, CONNECTIONS)
    return str(value) if isinstance(value, str | int) and str(value) else "A"


def _time(about: dict[str, JSON]) -> float | None:
    """Seconds, since whenever the log counts."""
    value = _first(about, TIMES)
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        # No log counts seconds that far: these are milliseconds since 1970.
        return value / 1000 if value > 1e11 else float(value)
    if isinstance(value, str):
        try:
            return datetime.fromisoformat(value).timestamp()
        except ValueError:
            return None
    return None


def _first(about: dict[str, Any], names: tuple[str, ...]) -> JSON:
    return next((about[name] for name in names if about.get(name) is not None), None)
