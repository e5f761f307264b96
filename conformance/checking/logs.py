"""Reading a log as a stream of frames, line by line, in constant memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, Literal

import orjson

from conformance.protocol import METHODS
from conformance.wire.frames import JSON, Direction, Frame, decode
from conformance.wire.transcript import End, read_line

from .lines import Close, Message, Remark, Sender, Side, Unread, read_entry

Form = Literal["transcript", "log"]

# Until a message shows who keeps the log, so many are held back.
_MOST_HELD: Final = 1000
_BLANK: Final = b" \t\r\n"


class LogError(Exception):
    """A line that cannot be read. ``line`` counts from 1; what came before it has been read."""

    def __init__(self, line: int, problem: str) -> None:
        super().__init__(problem)
        self.line = line
        self.problem = problem


@dataclass(slots=True)
class LogFacts:
    """What was found out while reading. ``unread``: by reason, how many lines could not be understood, and the first.

    ``cut``: the number of the last line when it is only the beginning of one. ``kept_by``: whose view directions such
    as `in` are of; ``assumed``: nothing showed it, so the log is taken for a client's.
    """

    form: Form | None = None
    lines: int = 0
    frames: int = 0
    remarks: int = 0
    unread: dict[str, tuple[int, int]] = field(default_factory=dict)
    kept_by: Literal["client", "host"] | None = None
    assumed: bool = False
    cut: int | None = None


class LogReader:
    """Yields the frames of a log, and the :class:`End` that a transcript of this suite has. Read it once.

    A frame's ``n`` is that of the transcript, or the number of its line. Raises :class:`LogError`.
    """

    def __init__(self, stream: Iterable[bytes]) -> None:
        self.facts = LogFacts()
        self._stream = stream
        self._held: list[tuple[int, Message]] = []
        self._lives: dict[str, int] = {}
        self._begun: dict[str, JSON] = {}
        self._began: float | None = None

    def __iter__(self) -> Iterator[Frame | End]:
        for number, line, text in self._decoded():
            if isinstance(line, dict) and _is_ours(line):
                self.facts.form = "transcript"
                try:
                    read = read_line(line, self.facts.frames, text.decode("utf-8"))
                except ValueError as error:
                    raise LogError(number, f"not a frame of a transcript: {error}") from error
                self.facts.frames += isinstance(read, Frame)
                yield read
                continue
            yield from self._entry(number, line)
        if self._held:
            self.facts.assumed = True
            self.facts.kept_by = "client"
            yield from self._let_go()

    # -- lines ------------------------------------------------------------------------------------------

    def _decoded(self) -> Iterator[tuple[int, JSON, bytes]]:
        number = 0
        for raw in self._stream:
            number += 1
            if number == 1:
                raw = raw.removeprefix(b"\xef\xbb\xbf")
                _refuse_other_files(raw)
            text = raw.strip(_BLANK)
            if not text:
                continue
            self.facts.lines = number
            try:
                yield number, _json(text), text
            except ValueError as error:
                if not raw.endswith(b"\n"):
                    # Whoever wrote the log was ended in the middle of its last line.
                    self.facts.cut = number
                    return
                raise LogError(number, _trouble(text, error)) from error

    def _entry(self, number: int, line: JSON) -> Iterator[Frame]:
        self.facts.form = self.facts.form or "log"
        entry = read_entry(line)
        if isinstance(entry, Message):
            if entry.who in ("near", "far") and self.facts.kept_by is None:
                self._held.append((number, entry))
                self.facts.kept_by = _keeper(entry)
                if self.facts.kept_by is None and len(self._held) < _MOST_HELD:
                    return
                if self.facts.kept_by is None:
                    self.facts.assumed, self.facts.kept_by = True, "client"
                yield from self._let_go()
                return
            yield self._frame(number, entry)
        elif isinstance(entry, Close):
            yield from self._let_go()
            name = self._name(entry.conn)
            frame = Frame(number, self._time(entry.t), name, "in", raw="", kind="close", code=entry.code)
            self._next_life(entry.conn)
            self.facts.frames += 1
            yield frame
        elif isinstance(entry, Remark):
            self.facts.remarks += 1
        else:
            self._unread(number, entry)

    def _unread(self, number: int, entry: Unread) -> None:
        count, first = self.facts.unread.get(entry.why, (0, number))
        self.facts.unread[entry.why] = (count + 1, first)

    # -- frames -----------------------------------------------------------------------------------------

    def _let_go(self) -> Iterator[Frame]:
        held, self._held = self._held, []
        for number, message in held:
            yield self._frame(number, message)

    def _frame(self, number: int, message: Message) -> Frame:
        direction = self._direction(message.who)
        method = message.msg.get("method") if isinstance(message.msg, dict) else None
        if direction == "out" and method in ("initialize", "reconnect"):
            self._greets(message.conn, message.msg.get("id"))
        kind: Literal["json", "text"] = "json" if message.raw is None else "text"
        t = self._time(message.t)
        self.facts.frames += 1
        return Frame(number, t, self._name(message.conn), direction, message.msg, message.raw, kind)

    def _greets(self, conn: str, identity: JSON) -> None:
        """A handshake begins. One whose ids start over is that of another connection by the same name."""
        if conn in self._begun:
            before = self._begun[conn]
            if type(identity) is not int or type(before) is not int or identity <= before:
                self._next_life(conn)
        self._begun[conn] = identity

    def _direction(self, who: Sender | Side) -> Direction:
        if who in ("client", "host"):
            return "out" if who == "client" else "in"
        near: Direction = "out" if self.facts.kept_by != "host" else "in"
        far: Direction = "in" if near == "out" else "out"
        return near if who == "near" else far

    def _name(self, conn: str) -> str:
        life = self._lives.get(conn, 1)
        return conn if life == 1 else f"{conn}#{life}"

    def _next_life(self, conn: str) -> None:
        self._lives[conn] = self._lives.get(conn, 1) + 1
        self._begun.pop(conn, None)

    def _time(self, t: float | None) -> float:
        if t is None:
            return 0.0
        if self._began is None:
            self._began = t
        return t - self._began


def _is_ours(line: dict[str, JSON]) -> bool:
    if "end" in line:
        return len(line) == 1
    named = "n" in line and line.get("dir") in ("in", "out") and isinstance(line.get("conn"), str)
    return named and ("msg" in line or "raw" in line or "close" in line)


def _keeper(message: Message) -> Literal["client", "host"] | None:
    """Who keeps the log, if the message can only come from one side."""
    method = message.msg.get("method") if isinstance(message.msg, dict) else None
    known = METHODS.get(method) if isinstance(method, str) else None
    if known is None or known.direction == "both":
        return None
    sent_here = message.who == "near"
    return "client" if (known.direction == "client") == sent_here else "host"


def _json(text: bytes) -> JSON:
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return decode(text.decode("utf-8"))
    # What is nested deeply takes the slower way, which refuses it.
    return value if text.count(b"[") + text.count(b"{") <= 254 else decode(text.decode("utf-8"))


def _trouble(text: bytes, error: ValueError) -> str:
    if isinstance(error, UnicodeDecodeError):
        return "not UTF-8 text"
    shown = text[:60].decode("utf-8", "replace")
    return f"not JSON ({error}): {shown}{'…' if len(text) > 60 else ''}"


def _refuse_other_files(first: bytes) -> None:
    if first.startswith(b"\x1f\x8b"):
        raise LogError(1, "the file is compressed; unpack it first (gzip -dc LOG | ahp-conformance check -)")
    if first.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise LogError(1, "the file is UTF-16 text; convert it to UTF-8 first")
    if first.lstrip(_BLANK).startswith(b"["):
        raise LogError(1, "the file is a JSON array; write one message a line (jq -c '.[]' LOG)")
