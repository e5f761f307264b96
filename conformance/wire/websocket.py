"""A WebSocket client (RFC 6455) over a non-blocking socket; the protocol is the core of `websockets`."""

from __future__ import annotations

import contextlib
import socket
import ssl
from collections.abc import Sequence

from websockets.client import ClientProtocol
from websockets.exceptions import ProtocolError
from websockets.frames import Frame, Opcode
from websockets.protocol import OPEN

from conformance.wire.connecting import Upgraded, open_and_upgrade
from conformance.wire.endpoints import TokenPlace, parse_endpoint
from conformance.wire.frames import ABNORMAL, Closed, NotUtf8, Received
from conformance.wire.transport import Transport

BITE = 16384  # bytes of one read: five thousand frames of a flood at worst
CHUNK = 65536  # the same in the middle of a large message
WRITE_CHUNK = 262144
MAX_DRAIN = 64  # reads at most, as a flooding host never leaves the socket empty
NO_STATUS = 1005

_NOT_NOW = (BlockingIOError, InterruptedError, ssl.SSLWantReadError, ssl.SSLWantWriteError)


def connect_websocket(
    url: str,
    *,
    timeout: float,
    token: str | None = None,
    token_in: TokenPlace = "query",
    token_name: str = "tkn",
    ssl_context: ssl.SSLContext | None = None,
) -> Transport:
    """Open a WebSocket to `ws://…`, `wss://…` or `unix:PATH` within `timeout` seconds.

    `token` goes into the query parameter `token_name`, or as `Authorization: Bearer …`. `ssl_context` stands
    in for the system's trusted authorities. Raises a `ConnectError`. Only the lookup of a host name is not
    bounded by `timeout` (the system's resolver has bounds of its own).
    """
    endpoint = parse_endpoint(url, token, token_in, token_name)
    return WebSocketTransport(open_and_upgrade(endpoint, timeout, ssl_context))


class WebSocketTransport:
    """An open WebSocket. Answers pings, joins fragments, and closes the connection itself at its end."""

    def __init__(self, upgraded: Upgraded) -> None:
        self._sock: socket.socket = upgraded.sock
        self._protocol: ClientProtocol = upgraded.protocol
        self._early = upgraded.early  # frames that came in the same packets as the answer to the upgrade
        self._first = True
        self._appetite = BITE
        self._unsent = bytearray()
        self._opcode: Opcode | None = None  # of the fragmented message under way
        self._fragments: list[bytes] = []
        self._sock.setblocking(False)

    def fileno(self) -> int:
        return self._sock.fileno()

    # Writing

    def send(self, payload: str | bytes) -> None:
        if self._protocol.state is not OPEN or self.fileno() < 0:
            return  # the end is under way, and `receive` is about to tell it
        if isinstance(payload, str):
            self._protocol.send_text(payload.encode())
        else:
            self._protocol.send_binary(payload)
        self.flush()

    def flush(self) -> bool:
        for data in self._protocol.data_to_send():
            self._unsent += data
        if self.fileno() < 0:
            self._unsent.clear()
        while self._unsent:
            try:
                with memoryview(self._unsent) as view:
                    sent = self._sock.send(view[:WRITE_CHUNK])
            except _NOT_NOW:
                return False
            except OSError:
                # The peer takes nothing more. Why, and with which code, stands in what is still to be read.
                self._unsent.clear()
                break
            del self._unsent[:sent]
        return True

    # Reading

    def receive(self) -> Sequence[Received]:
        if self.fileno() < 0:
            return []
        received: list[Received] = []
        trouble = ""
        frames: list[Frame]
        if self._first:
            self._first = False
            frames, self._early = self._early, []
        else:
            frames = []
        try:
            data = self._read()
        except _NOT_NOW:
            data = None
        except OSError as exc:
            data, trouble = b"", "connection reset" if isinstance(exc, ConnectionResetError) else _reason(exc)
        if data:
            self._protocol.receive_data(data)
        elif data is not None:
            self._protocol.receive_eof()
        frames.extend(event for event in self._protocol.events_received() if isinstance(event, Frame))
        for frame in frames:
            self._assemble(frame, received)
        self._appetite = BITE if frames else CHUNK
        self.flush()
        closed = self._closed(trouble)
        if closed is not None:
            received.append(closed)
            self._shut()
        return received

    def _read(self) -> bytes:
        data = self._sock.recv(self._appetite)
        if isinstance(self._sock, ssl.SSLSocket):
            # What TLS has decrypted already makes no descriptor readable.
            while data and (pending := self._sock.pending()):
                data += self._sock.recv(pending)
        return data

    def _assemble(self, frame: Frame, received: list[Received]) -> None:
        if frame.opcode in (Opcode.TEXT, Opcode.BINARY):
            if frame.fin:
                received.append(_message(frame.opcode, bytes(frame.data)))
            else:
                self._opcode, self._fragments = frame.opcode, [bytes(frame.data)]
        elif frame.opcode is Opcode.CONT and self._opcode is not None:
            if frame.data:
                self._fragments.append(bytes(frame.data))
            if frame.fin:
                received.append(_message(self._opcode, b"".join(self._fragments)))
                self._opcode, self._fragments = None, []

    def _closed(self, trouble: str) -> Closed | None:
        protocol = self._protocol
        broken = protocol.parser_exc
        if broken is not None and not isinstance(broken, EOFError) and protocol.close_sent is not None:
            return Closed(protocol.close_sent.code, protocol.close_sent.reason, ours=True)
        if protocol.close_rcvd is not None:
            return Closed(protocol.close_rcvd.code, protocol.close_rcvd.reason)
        if broken is not None:
            boundary = str(broken) == "unexpected end of stream" and self._opcode is None
            return Closed(ABNORMAL, trouble or ("" if boundary else "in the middle of a message"))
        return None

    # Ending

    def close(self, code: int = 1000) -> None:
        if self.fileno() < 0:
            return
        if code != ABNORMAL and self._protocol.state is OPEN:
            try:
                self._protocol.send_close(None if code == NO_STATUS else code)
            except ProtocolError:
                raise ValueError(f"{code} is not a code that a Close frame can carry") from None
        self.flush()
        self._shut()

    def _shut(self) -> None:
        # Closing with unread data resets the connection, and a reset may overtake what was sent.
        with contextlib.suppress(OSError):
            self._sock.shutdown(socket.SHUT_WR)
            for _ in range(MAX_DRAIN):
                if not self._sock.recv(CHUNK):
                    break
        self._sock.close()
        self._unsent.clear()


def _message(opcode: Opcode, data: bytes) -> Received:
    if opcode is Opcode.BINARY:
        return data
    try:
        return data.decode()
    except UnicodeDecodeError:
        return NotUtf8(data)


def _reason(exc: OSError) -> str:
    return exc.strerror or type(exc).__name__
