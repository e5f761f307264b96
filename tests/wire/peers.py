"""Peers for the tests: servers on real sockets that do exactly what a test tells them, byte by byte."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import re
import socket
import ssl
import struct
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

Play = Callable[[socket.socket], None]

PATIENCE = 20.0  # an upper bound that healthy tests never reach
TEXT, BINARY, CONT, CLOSE, PING, PONG = 1, 2, 0, 8, 9, 10


class Peer:
    """A server that plays `play` on each connection, in a thread of its own."""

    def __init__(self, listener: socket.socket, play: Play, context: ssl.SSLContext | None = None) -> None:
        self.errors: list[BaseException] = []
        self._listener = listener
        self._play = play
        self._context = context
        self._threads: list[threading.Thread] = []
        self._socks: list[socket.socket] = []
        self._accepting = threading.Thread(target=self._accept)
        self._accepting.start()

    @property
    def port(self) -> int:
        return int(self._listener.getsockname()[1])

    @property
    def url(self) -> str:
        return f"ws://127.0.0.1:{self.port}"

    def _accept(self) -> None:
        while True:
            try:
                sock, _ = self._listener.accept()
            except OSError:
                return
            sock.settimeout(PATIENCE)
            self._socks.append(sock)
            thread = threading.Thread(target=self._run, args=(sock,))
            self._threads.append(thread)
            thread.start()

    def _run(self, sock: socket.socket) -> None:
        try:
            if self._context is not None:
                sock = self._context.wrap_socket(sock, server_side=True)
                self._socks.append(sock)
            self._play(sock)
        except OSError:
            pass  # the client has gone, or the test is over
        except BaseException as exc:
            self.errors.append(exc)
        finally:
            sock.close()

    def stop(self) -> None:
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._accepting.join()
        for sock in self._socks:
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()
        assert not self.errors, self.errors


@contextlib.contextmanager
def peer(play: Play, context: ssl.SSLContext | None = None) -> Iterator[Peer]:
    server = Peer(socket.create_server(("127.0.0.1", 0)), play, context)
    try:
        yield server
    finally:
        server.stop()


@contextlib.contextmanager
def unix_peer(path: Path, play: Play) -> Iterator[str]:
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    listener.listen()
    server = Peer(listener, play)
    try:
        yield f"unix:{path}"
    finally:
        server.stop()


def read_head(sock: socket.socket) -> str:
    """The request line and headers of the upgrade."""
    head = b""
    while b"\r\n\r\n" not in head:
        data = sock.recv(4096)
        if not data:
            raise ConnectionError("the client has gone")
        head += data
    return head.decode()


def upgrade(sock: socket.socket, also: bytes = b"") -> str:
    """Answer the upgrade as a good server does, with `also` in the same write; the request's head."""
    head = read_head(sock)
    found = re.search(r"Sec-WebSocket-Key: (\S+)", head)
    assert found is not None
    digest = hashlib.sha1((found[1] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest()
    answer = (
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        f"Sec-WebSocket-Accept: {base64.b64encode(digest).decode()}\r\n\r\n"
    )
    sock.sendall(answer.encode() + also)
    return head


def frame(opcode: int, payload: bytes | str, fin: bool = True) -> bytes:
    """A frame as servers write it."""
    data = payload.encode() if isinstance(payload, str) else payload
    head = bytes([opcode | (0x80 if fin else 0)])
    if len(data) < 126:
        head += bytes([len(data)])
    elif len(data) < 65536:
        head += bytes([126]) + struct.pack("!H", len(data))
    else:
        head += bytes([127]) + struct.pack("!Q", len(data))
    return head + data


def close_frame(code: int, reason: str = "") -> bytes:
    return frame(CLOSE, struct.pack("!H", code) + reason.encode())


def _exactly(sock: socket.socket, count: int) -> bytes:
    data = bytearray()
    while len(data) < count:
        more = sock.recv(min(count - len(data), 1 << 20))
        if not more:
            raise ConnectionError("the client has gone")
        data += more
    return bytes(data)


def read_frame(sock: socket.socket) -> tuple[int, bytes]:
    """Opcode and unmasked payload of one frame from the client; ConnectionError at the end."""
    first, second = _exactly(sock, 2)
    length = second & 127
    if length == 126:
        (length,) = struct.unpack("!H", _exactly(sock, 2))
    elif length == 127:
        (length,) = struct.unpack("!Q", _exactly(sock, 8))
    assert second & 128, "clients mask"
    mask = _exactly(sock, 4)
    data = _exactly(sock, length)
    key = int.from_bytes((mask * (length // 4 + 1))[:length], "big")
    return first & 15, (int.from_bytes(data, "big") ^ key).to_bytes(length, "big")


def until_gone(sock: socket.socket) -> None:
    """Stay connected, in silence, until the client goes."""
    with contextlib.suppress(OSError):
        while sock.recv(65536):
            pass
