"""Traffic on an open WebSocket: good messages, and everything a host may do in their place."""

from __future__ import annotations

import itertools
import queue
import socket
import ssl
import struct
import threading
from collections.abc import Callable, Iterable

import pytest
import trustme

from conformance.wire.connection import Connection
from conformance.wire.errors import ConnectionLost
from conformance.wire.frames import ABNORMAL, Closed, Frame
from conformance.wire.pump import Pump
from conformance.wire.recorder import Recorder
from conformance.wire.websocket import connect_websocket

from .peers import (
    BINARY,
    CLOSE,
    CONT,
    PATIENCE,
    PING,
    PONG,
    TEXT,
    Play,
    close_frame,
    frame,
    peer,
    read_frame,
    until_gone,
    upgrade,
)

Connect = Callable[[str], Connection]


def saying(*pieces: bytes, then: Play = until_gone) -> Play:
    """Upgrade, then send each piece in a write of its own."""

    def play(sock: socket.socket) -> None:
        upgrade(sock)
        for piece in pieces:
            sock.sendall(piece)
        then(sock)

    return play


def hang_up(sock: socket.socket) -> None:
    """End the connection at once."""


def inbound(connection: Connection, count: int) -> Callable[[], list[Frame] | None]:
    def until() -> list[Frame] | None:
        found = [frame for frame in connection.frames if frame.dir == "in"]
        return found if len(found) >= count else None

    return until


def the_end(pump: Pump, connection: Connection) -> Closed:
    closed = pump.wait(lambda: connection.closed, PATIENCE)
    assert closed is not None
    assert connection.fileno() == -1
    assert connection.transport.fileno() == -1
    assert connection.frames[-1].kind == "close"
    assert connection.frames[-1].code == closed.code
    with pytest.raises(ConnectionLost, match="connection A is"):
        connection.send_text("{}")
    return closed


# What is received


@pytest.mark.parametrize(
    ("wire", "kind", "msg", "raw"),
    [
        (frame(TEXT, '{"a":[1,null]}'), "json", {"a": [1, None]}, None),
        (frame(TEXT, "null"), "json", None, None),
        (frame(TEXT, ' "ü" '), "json", "ü", None),
        (frame(TEXT, "hello"), "text", None, "hello"),
        (frame(TEXT, "{} {}"), "text", None, "{} {}"),
        (frame(TEXT, "NaN"), "text", None, "NaN"),
        (frame(TEXT, ""), "text", None, ""),
        (frame(BINARY, "{}"), "binary", None, "base64:e30="),
        (frame(TEXT, b'{"a":"\xff"}'), "not-utf8", None, "base64:eyJhIjoi/yJ9"),
        (
            frame(TEXT, '{"a"', fin=False) + frame(CONT, "", fin=False) + frame(CONT, ":1}"),
            "json",
            {"a": 1},
            None,
        ),
        (
            frame(TEXT, b'"\xc3', fin=False) + frame(PING, "x") + frame(CONT, b'\xbc"'),
            "json",
            "ü",
            None,
        ),
        (frame(BINARY, b"\0", fin=False) + frame(CONT, b"\1"), "binary", None, "base64:AAE="),
    ],
)
@pytest.mark.parametrize("dripped", [False, True])
def test_message(
    connect: Connect, pump: Pump, wire: bytes, kind: str, msg: object, raw: str | None, dripped: bool
) -> None:
    pieces: Iterable[bytes] = [wire[i : i + 1] for i in range(len(wire))] if dripped else [wire]
    with peer(saying(*pieces)) as server:
        connection = connect(server.url)
        found = pump.wait(inbound(connection, 1), PATIENCE)
    assert found is not None
    assert (found[0].kind, found[0].msg, found[0].raw) == (kind, msg, raw)
    assert found[0].has_json == (kind == "json")
    assert connection.closed is None


def test_message_of_16_mib(connect: Connect, pump: Pump) -> None:
    text = "x" * (16 * 2**20)
    with peer(saying(frame(TEXT, f'"{text}"'))) as server:
        found = pump.wait(inbound(connect(server.url), 1), PATIENCE)
    assert found is not None
    assert found[0].msg == text


def test_message_beyond_64_mib(connect: Connect, pump: Pump) -> None:
    announced = bytes([0x81, 127]) + struct.pack("!Q", 64 * 2**20 + 1)
    with peer(saying(announced)) as server:
        closed = the_end(pump, connect(server.url))
    assert closed.code == 1009
    assert closed.ours


# Pings


def test_ping_is_answered(connect: Connect, pump: Pump) -> None:
    answers: queue.Queue[tuple[int, bytes]] = queue.Queue()

    def play(sock: socket.socket) -> None:
        upgrade(sock, also=frame(PING, "still there?"))
        answers.put(read_frame(sock))
        sock.sendall(frame(TEXT, "1"))
        until_gone(sock)

    with peer(play) as server:
        connection = connect(server.url)
        assert pump.wait(inbound(connection, 1), PATIENCE)
    assert answers.get(timeout=PATIENCE) == (PONG, b"still there?")
    assert len(connection.frames) == 1


# The end


@pytest.mark.parametrize(
    ("wire", "expected", "then"),
    [
        (close_frame(1001, "going down"), Closed(1001, "going down"), hang_up),
        (close_frame(1001, "going down"), Closed(1001, "going down"), until_gone),
        (close_frame(4401, ""), Closed(4401, ""), until_gone),
        (frame(CLOSE, b""), Closed(1005, ""), until_gone),
        (b"", Closed(ABNORMAL, ""), hang_up),
        (frame(TEXT, "whole")[:-2], Closed(ABNORMAL, "in the middle of a message"), hang_up),
        (frame(TEXT, "half", fin=False), Closed(ABNORMAL, "in the middle of a message"), hang_up),
    ],
)
def test_end_by_the_host(connect: Connect, pump: Pump, wire: bytes, expected: Closed, then: Play) -> None:
    with peer(saying(frame(TEXT, "1"), wire, then=then)) as server:
        connection = connect(server.url)
        assert the_end(pump, connection) == expected
    assert [(frame.dir, frame.kind) for frame in connection.frames] == [("in", "json"), ("in", "close")]
    assert connection.frames[-1].raw == expected.reason


def test_host_that_resets(connect: Connect, pump: Pump) -> None:
    def reset(sock: socket.socket) -> None:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")

    with peer(saying(then=reset)) as server:
        assert the_end(pump, connect(server.url)) == Closed(ABNORMAL, "connection reset")


def test_host_that_closes_while_we_send(connect: Connect, pump: Pump) -> None:
    with peer(saying(close_frame(1013, "busy"), then=hang_up)) as server:
        connection = connect(server.url)
        while connection.closed is None:
            connection.send_text("x" * 100_000)
            pump.step(0)
    assert connection.closed.code in (1013, ABNORMAL)  # a reset may destroy what was not yet read


def test_messages_before_the_end_are_kept(connect: Connect, pump: Pump) -> None:
    with peer(saying(b"".join(frame(TEXT, str(i)) for i in range(300)) + close_frame(1000))) as server:
        connection = connect(server.url)
        the_end(pump, connection)
    assert [frame.msg for frame in connection.frames[:-1]] == list(range(300))


@pytest.mark.parametrize(
    ("wire", "code"),
    [
        (b"\x83\x00", 1002),  # a reserved opcode
        (b"\xc1\x00", 1002),  # a reserved bit, as of an extension
        (b"\x81\x81\0\0\0\0x", 1002),  # masked, as only clients do
        (frame(CONT, "x"), 1002),
        (frame(TEXT, "x", fin=False) + frame(TEXT, "y"), 1002),
        (frame(PING, "x" * 126), 1002),
        (frame(PING, "x", fin=False), 1002),
        (frame(CLOSE, b"\x03"), 1002),
        (close_frame(1005), 1002),
        (frame(CLOSE, b"\x03\xe8\xff"), 1007),
        (frame(TEXT, "x", fin=False) + close_frame(1000), 1002),
    ],
)
def test_broken_websocket(connect: Connect, pump: Pump, wire: bytes, code: int) -> None:
    told: queue.Queue[tuple[int, bytes]] = queue.Queue()

    def then(sock: socket.socket) -> None:
        told.put(read_frame(sock))
        until_gone(sock)

    with peer(saying(wire, then=then)) as server:
        connection = connect(server.url)
        closed = the_end(pump, connection)
        opcode, payload = told.get(timeout=PATIENCE)
    assert closed.code == code
    assert closed.ours
    assert connection.frames[-1].dir == "out"
    assert opcode == CLOSE
    assert payload[:2] == struct.pack("!H", code)


def test_close_by_the_suite(connect: Connect, pump: Pump) -> None:
    told: queue.Queue[tuple[int, bytes]] = queue.Queue()

    def then(sock: socket.socket) -> None:
        told.put(read_frame(sock))
        told.put(read_frame(sock))

    with peer(saying(then=then)) as server:
        connection = connect(server.url)
        connection.send_text("last words")
        connection.close(1001)
        connection.close(1000)
        assert told.get(timeout=PATIENCE) == (TEXT, b"last words")
        assert told.get(timeout=PATIENCE) == (CLOSE, struct.pack("!H", 1001))
    assert connection.closed == Closed(1001, ours=True)
    assert the_end(pump, connection).ours


def test_close_takes_in_what_has_arrived(connect: Connect, recorder: Recorder) -> None:
    with peer(saying(frame(TEXT, "1") + frame(TEXT, "2"))) as server, Pump() as pump:
        connection = connect(server.url)
        pump.add(connection)
        assert pump.wait(inbound(connection, 2), PATIENCE)
        connection.close()
    assert [frame.kind for frame in recorder.frames] == ["json", "json", "close"]


def test_close_code_that_does_not_exist(connect: Connect) -> None:
    with peer(saying()) as server:
        connection = connect(server.url)
        with pytest.raises(ValueError, match="12345 is not a code"):
            connection.close(12345)
        connection.close(1005)
    assert connection.closed == Closed(1005, ours=True)


def test_drop(connect: Connect) -> None:
    seen: queue.Queue[bytes] = queue.Queue()

    with peer(saying(then=lambda sock: seen.put(sock.recv(100)))) as server:
        connection = connect(server.url)
        connection.drop()
        assert seen.get(timeout=PATIENCE) == b""
    assert connection.closed == Closed(ABNORMAL, ours=True)


# Hosts without measure


def flood(piece: bytes) -> Play:
    def then(sock: socket.socket) -> None:
        for _ in itertools.repeat(None):
            sock.sendall(piece)

    return saying(then=then)


@pytest.mark.parametrize(
    "piece",
    [frame(TEXT, "0") * 10_000, frame(PING, "x") * 10_000, frame(TEXT, f'"{"x" * 2**20}"')],
    ids=["messages", "pings", "large"],
)
def test_flood_does_not_outlive_patience(connect: Connect, pump: Pump, piece: bytes) -> None:
    asked = 0

    def until() -> None:
        nonlocal asked
        asked += 1

    with peer(flood(piece)) as server:
        connection = connect(server.url)
        assert pump.wait(until, 0.1) is None
        connection.drop()
    assert asked >= 2


def test_flood_ends_at_once_when_the_wait_is_over(connect: Connect, pump: Pump) -> None:
    with peer(flood(frame(TEXT, "0") * 10_000)) as server:
        connection = connect(server.url)
        found = pump.wait(inbound(connection, 100), PATIENCE)
    assert found is not None
    assert len(found) < 300


def test_flood_does_not_starve_another_connection(pump: Pump, recorder: Recorder) -> None:
    with peer(flood(frame(TEXT, "0") * 10_000)) as loud, peer(saying(frame(TEXT, "1"))) as quiet:
        for name, server in (("loud", loud), ("quiet", quiet)):
            pump.add(Connection(name, connect_websocket(server.url, timeout=PATIENCE), recorder))
        assert pump.wait(inbound(pump.connections[1], 1), PATIENCE)


@pytest.mark.parametrize("limits", [{"max_frames": 1000}, {"max_bytes": 1000}])
def test_flood_is_cut_off(pump: Pump, recorder: Recorder, limits: dict[str, int]) -> None:
    with peer(flood(frame(TEXT, "0") * 100)) as server:
        transport = connect_websocket(server.url, timeout=PATIENCE)
        connection = Connection("A", transport, recorder, **limits)
        pump.add(connection)
        closed = the_end(pump, connection)
    assert (closed.code, closed.ours) == (1008, True)
    assert len(connection.frames) == 1001


def test_stalled_host(connect: Connect, pump: Pump) -> None:
    with peer(saying()) as server:
        connection = connect(server.url)
        identity = connection.request("ping", {"channel": "ahp-root://"})
        assert pump.wait(lambda: connection.reply(identity), 0.05) is None
    assert connection.closed is None


def test_slow_reader_of_large_messages(connect: Connect, pump: Pump) -> None:
    may_read = threading.Event()
    sizes: queue.Queue[int] = queue.Queue()

    def then(sock: socket.socket) -> None:
        may_read.wait(PATIENCE)
        for _ in range(3):
            sizes.put(len(read_frame(sock)[1]))
        sock.sendall(frame(TEXT, "1"))
        until_gone(sock)

    with peer(saying(then=then)) as server:
        connection = connect(server.url)
        for _ in range(3):
            connection.send_text(f'"{"x" * (8 * 2**20)}"')
        assert not connection.flushed
        assert not pump.flush(0.02)
        may_read.set()
        assert pump.flush(PATIENCE)
        assert pump.wait(inbound(connection, 1), PATIENCE)
    assert [sizes.get() for _ in range(3)] == [8 * 2**20 + 2] * 3


# The same over TLS


def test_large_messages_over_tls(pump: Pump, recorder: Recorder) -> None:
    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("localhost").configure_cert(context)
    trusting = ssl.create_default_context()
    authority.configure_trust(trusting)

    def play(sock: socket.socket) -> None:
        upgrade(sock, also=frame(TEXT, "1"))
        _, data = read_frame(sock)
        sock.sendall(frame(TEXT, data) + frame(TEXT, "2"))
        sock.sendall(close_frame(1001))
        until_gone(sock)

    text = "x" * (5 * 2**20)
    with peer(play, context) as server:
        url = f"wss://localhost:{server.port}"
        connection = Connection("A", connect_websocket(url, timeout=PATIENCE, ssl_context=trusting), recorder)
        pump.add(connection)
        assert pump.wait(inbound(connection, 1), PATIENCE)
        connection.send(text)
        assert the_end(pump, connection) == Closed(1001)
    assert [frame.msg for frame in connection.frames if frame.kind == "json"] == [1, text, text, 2]
