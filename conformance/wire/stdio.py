"""A host at the other end of two pipes: its standard input and its standard output.

Two framings are known. ``lines``: each message is a line of UTF-8 (JSON has no line break outside of its blanks),
and empty lines are nothing. ``headers``: a block of header fields with Content-Length and an empty line goes before
each message, as in the base protocol of the Language Server Protocol.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final, Literal, TypeAlias

from conformance.wire.frames import ABNORMAL, Closed, NotUtf8, Received

Framing: TypeAlias = Literal["lines", "headers"]

BITE = 16384  # bytes of one read
MAX_MESSAGE = 64 * 2**20
MAX_HEADERS = 8192
MAX_DRAIN = 64  # reads at most of what a host left behind that takes nothing more
# RFC 6455 7.4.1 has names for these; a pipe has no codes of its own.
PROTOCOL_ERROR, TOO_BIG = 1002, 1009

_LENGTH: Final = re.compile(rb"content-length[ \t]*:[ \t]*([0-9]{1,10})[ \t]*", re.IGNORECASE)
_FIELD: Final = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+[ \t]*:[^\r\n]*")
_BEGUN: Final = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]*[ \t]*(?::[^\r\n]*)?\r?")


class BrokenFraming(Exception):
    """What came cannot be cut into messages; ``code`` is the close code for it."""

    def __init__(self, reason: str, code: int = PROTOCOL_ERROR) -> None:
        super().__init__(reason)
        self.code = code


class StdioTransport:
    """A transport over two descriptors, which belong to it from now on: ``reader`` for what the host says, ``writer``
    for what it is told.

    ``why`` is asked once, when the host's output has ended; it may add what is known, such as the exit code. What is
    no JSON is delivered as it came. A pipe knows no binary messages: bytes go out as a message like any other.
    """

    def __init__(
        self, reader: int, writer: int, *, framing: Framing = "lines", why: Callable[[], str] = lambda: ""
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._framing = framing
        self._why = why
        self._unread = bytearray()
        self._searched = 0  # how much of that is known to hold no end of a message
        self._unsent = bytearray()
        self._deaf = False  # the host takes nothing more
        for descriptor in (reader, writer):
            os.set_blocking(descriptor, False)

    def fileno(self) -> int:
        # A host that closed its input need not write again; -1 has the rest of its output taken in at once.
        return -1 if self._deaf else self._reader

    def write_fileno(self) -> int:
        """Writable when `flush` can go on; -1 once closed."""
        return self._writer

    # Writing

    def send(self, payload: str | bytes) -> None:
        if self._writer < 0:
            return
        data = payload.encode("utf-8", "surrogatepass") if isinstance(payload, str) else payload
        if self._framing == "headers":
            self._unsent += b"Content-Length: %d\r\n\r\n" % len(data)
            self._unsent += data
        else:
            # Between the tokens of JSON a blank is as good as a line break, and inside of them there is none.
            self._unsent += data.replace(b"\r", b" ").replace(b"\n", b" ") + b"\n"
        self.flush()

    def flush(self) -> bool:
        while self._unsent and self._writer >= 0:
            try:
                with memoryview(self._unsent) as view:
                    sent = os.write(self._writer, view[:BITE])
            except (BlockingIOError, InterruptedError):
                return False
            except OSError:
                self._deaf = True
                self._shut_writer()
                break
            del self._unsent[:sent]
        return True

    # Reading

    def receive(self) -> Sequence[Received]:
        if self._reader < 0:
            return []
        received: list[Received] = []
        reads = MAX_DRAIN if self._deaf else 1
        ended = False
        while reads and not ended:
            reads -= 1
            try:
                data = os.read(self._reader, BITE)
            except (BlockingIOError, InterruptedError):
                break
            except OSError:
                data = b""
            ended = not data
            self._unread += data
            try:
                received.extend(self._messages())
            except BrokenFraming as broken:
                self.close()
                return [*received, Closed(broken.code, str(broken), ours=True)]
        if ended or self._deaf:
            received.append(self._end(ended))
        return received

    def _end(self, ended: bool) -> Closed:
        what = "the host closed its standard output" if ended else "the host takes no more on its standard input"
        if self._unread:
            what += " in the middle of a message"
        why = self._why()
        self.close(ABNORMAL)
        return Closed(ABNORMAL, f"{what} ({why})" if why else what)

    def _messages(self) -> Iterator[Received]:
        cut = self._line if self._framing == "lines" else self._body
        while (message := cut()) is not None:
            if self._framing == "headers" or message.strip():
                yield _text(message)

    def _line(self) -> bytes | None:
        """The next whole line without its end; None when there is none yet."""
        end = self._unread.find(b"\n", self._searched)
        if end < 0:
            self._searched = len(self._unread)
            if self._searched > MAX_MESSAGE:
                raise BrokenFraming(f"a line longer than {MAX_MESSAGE} bytes", TOO_BIG)
            return None
        line = bytes(self._unread[:end])
        del self._unread[: end + 1]
        self._searched = 0
        return line.removesuffix(b"\r")

    def _body(self) -> bytes | None:
        """The next whole message behind its headers; None when there is none yet."""
        end = self._unread.find(b"\r\n\r\n", 0, MAX_HEADERS)
        if end < 0:
            *whole, begun = bytes(self._unread[:MAX_HEADERS]).split(b"\r\n")
            _check(whole, begun)
            if len(self._unread) >= MAX_HEADERS:
                raise BrokenFraming(f"a header block longer than {MAX_HEADERS} bytes")
            return None
        fields = bytes(self._unread[:end]).split(b"\r\n")
        _check(fields)
        lengths = [match[1] for field in fields if (match := _LENGTH.fullmatch(field))]
        if len(lengths) != 1:
            raise BrokenFraming(f"a header block without one Content-Length: {_shown(bytes(self._unread[:end]))}")
        length = int(lengths[0])
        if length > MAX_MESSAGE:
            raise BrokenFraming(f"a message of {length} bytes, more than {MAX_MESSAGE}", TOO_BIG)
        begin = end + 4
        if len(self._unread) < begin + length:
            return None
        body = bytes(self._unread[begin : begin + length])
        del self._unread[: begin + length]
        return body

    # Ending

    def close(self, code: int = 1000) -> None:
        if self._reader < 0:
            return
        if code != ABNORMAL:
            self.flush()
        self._shut_writer()
        os.close(self._reader)
        self._reader = -1
        self._deaf = False
        self._unread.clear()

    def _shut_writer(self) -> None:
        self._unsent.clear()
        if self._writer >= 0:
            with contextlib.suppress(OSError):
                os.close(self._writer)
        self._writer = -1


def _text(data: bytes) -> Received:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return NotUtf8(data)


def _check(fields: Sequence[bytes], begun: bytes = b"") -> None:
    """Refuse what is no header field; ``begun`` is one whose end has not come yet."""
    wrong = [field for field in fields if not _FIELD.fullmatch(field)]
    if wrong or not _BEGUN.fullmatch(begun):
        shown = _shown(wrong[0] if wrong else begun)
        raise BrokenFraming(f"expected a header line such as Content-Length: 42 with CR LF, but there is {shown}")


def _shown(data: bytes) -> str:
    return ascii(data[:60].decode(errors="replace")) + ("…" if len(data) > 60 else "")
