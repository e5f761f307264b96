"""What travels: a received payload, and a frame of the recording."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from dataclasses import dataclass, field
from typing import Any, Literal, NoReturn, TypeAlias

import orjson

JSON: TypeAlias = Any
Direction: TypeAlias = Literal["out", "in"]
Kind: TypeAlias = Literal["json", "text", "binary", "not-utf8", "close"]

BASE64 = "base64:"
DEEPEST = 254  # the nesting that orjson writes; it reads 1024
ABNORMAL = 1006  # RFC 6455 7.1.5: the connection ended without a Close frame


@dataclass(frozen=True, slots=True)
class Closed:
    """The end of a connection: close code and reason (RFC 6455 7.4).

    `ours` tells that the suite closed it, be it on purpose or because the host broke WebSocket itself
    (1002, 1007, 1009) or sent more than a connection may carry (1008). Code 1006: no Close frame came.
    """

    code: int
    reason: str = ""
    ours: bool = False

    def __str__(self) -> str:
        by = "closed by the suite" if self.ours else "closed by the host"
        if self.code == ABNORMAL and not self.ours:
            by = "ended without a Close frame"
        return f"{by} (code {self.code}{', ' + self.reason if self.reason else ''})"


@dataclass(frozen=True, slots=True)
class NotUtf8:
    """The payload of a text frame that is not UTF-8, which RFC 6455 5.6 forbids."""

    data: bytes


Received: TypeAlias = str | bytes | NotUtf8 | Closed
"""A text message, a binary message, a text message with broken encoding, or the end (always the last one)."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One message of the recording, or the close of a connection.

    Shape by `kind`: "json" has `msg`; "text" has `raw` as it came; "binary" and "not-utf8" (a text frame with
    invalid UTF-8) have `raw` as "base64:…"; "close" has `code`, and the reason in `raw`.
    """

    n: int  # place in the recording, from 0
    t: float  # seconds since the recording began
    conn: str  # name of the connection: "A", "B", "observer"
    dir: Direction  # out = suite to host
    msg: JSON = None  # the decoded value when the frame is one JSON text
    raw: str | None = None
    kind: Kind = "json"
    code: int | None = None
    # The JSON text that came, or one that has it in it: looking for a word there is faster than in the value.
    text: str | None = field(default=None, compare=False, repr=False)

    @property
    def has_json(self) -> bool:
        """Tells the JSON value `null` from no JSON at all."""
        return self.kind == "json"

    @property
    def data(self) -> bytes | None:
        """The bytes of a "binary" or "not-utf8" frame."""
        if self.kind not in ("binary", "not-utf8") or self.raw is None:
            return None
        return b64decode(self.raw.removeprefix(BASE64))


def frame_of(n: int, t: float, conn: str, direction: Direction, what: Received) -> Frame:
    """The frame that records `what`."""
    if isinstance(what, str):
        try:
            return Frame(n, t, conn, direction, msg=decode(what), text=what)
        except ValueError:
            return Frame(n, t, conn, direction, raw=what, kind="text")
    if isinstance(what, bytes):
        return Frame(n, t, conn, direction, raw=in_base64(what), kind="binary")
    if isinstance(what, NotUtf8):
        return Frame(n, t, conn, direction, raw=in_base64(what.data), kind="not-utf8")
    return Frame(n, t, conn, direction, raw=what.reason, kind="close", code=what.code)


def in_base64(data: bytes) -> str:
    """How bytes are shown in `Frame.raw`."""
    return BASE64 + b64encode(data).decode("ascii")


def decode(text: str) -> JSON:
    """Decode exactly one JSON value (RFC 8259; no NaN, no trailing text). ValueError when it is not one.

    A value nested deeper than 254 levels counts as none (RFC 8259 9 permits limits), so that every recursive
    function of the suite can take what comes out of here.

    A lone surrogate escape is legal JSON with unpredictable effect (RFC 8259 8.2); it becomes U+FFFD here, as
    it does in clients whose strings are UTF-8. Hosts written in JavaScript send one when they cut an emoji.
    """
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        if "\\ud" not in text and "\\uD" not in text:
            raise
        value = _decode_lone_surrogates(text)
    if text.count("[") + text.count("{") > DEEPEST:
        try:
            orjson.dumps(value)
        except orjson.JSONEncodeError as exc:
            raise ValueError("nested too deeply") from exc
    return value


def _decode_lone_surrogates(text: str) -> JSON:
    try:
        loose = json.dumps(json.loads(text, parse_constant=_no_constant), ensure_ascii=False)
    except RecursionError as exc:
        raise ValueError("nested too deeply") from exc
    return orjson.loads(loose.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def encode(value: JSON) -> str:
    """Compact JSON text of a value."""
    try:
        return orjson.dumps(value).decode()
    except TypeError:  # integers beyond 64 bits, lone surrogates
        return json.dumps(value, separators=(",", ":"))
