"""Opening a connection: what succeeds, and the one clear line for everything that does not."""

from __future__ import annotations

import contextlib
import itertools
import queue
import socket
import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest
import trustme

from conformance.wire.errors import (
    BadUrl,
    ConnectError,
    ConnectTimeout,
    NotWebSocket,
    Refused,
    TlsFailed,
    Unreachable,
    UpgradeRefused,
)
from conformance.wire.transport import Transport
from conformance.wire.websocket import connect_websocket

from .peers import PATIENCE, TEXT, Play, frame, peer, read_head, unix_peer, until_gone, upgrade

SECRET = "s3cret&/token="
BRIEF = 0.2  # seconds of patience where the peer never does its part


def answer_with(text: str) -> Play:
    """Read the upgrade, send these bytes, and leave the connection open."""

    def play(sock: socket.socket) -> None:
        read_head(sock)
        sock.sendall(text.encode())
        until_gone(sock)

    return play


def refusal(url: str, timeout: float = PATIENCE, **options: object) -> ConnectError:
    with pytest.raises(ConnectError) as caught:
        connect_websocket(url, timeout=timeout, token=SECRET, **options)  # type: ignore[arg-type]
    text = str(caught.value)
    assert "\n" not in text
    assert "s3cret" not in text
    assert caught.value.__cause__ is None
    return caught.value


@contextlib.contextmanager
def opened(transport: Transport) -> Iterator[Transport]:
    try:
        yield transport
    finally:
        transport.close()


# Success


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("", "/?tkn=s3cret%26%2Ftoken%3D"),
        ("/ahp?x=1", "/ahp?x=1&tkn=s3cret%26%2Ftoken%3D"),
    ],
)
def test_token_in_query(path: str, expected: str) -> None:
    heads: queue.Queue[str] = queue.Queue()
    with (
        peer(lambda sock: heads.put(upgrade(sock))) as server,
        opened(connect_websocket(server.url + path, timeout=PATIENCE, token=SECRET)),
    ):
        head = heads.get(timeout=PATIENCE)
    assert head.startswith(f"GET {expected} HTTP/1.1\r\n")
    assert "Authorization" not in head
    assert "Sec-WebSocket-Extensions" not in head


def test_token_under_another_name() -> None:
    heads: queue.Queue[str] = queue.Queue()
    with (
        peer(lambda sock: heads.put(upgrade(sock))) as server,
        opened(connect_websocket(server.url, timeout=PATIENCE, token="t", token_name="access token")),
    ):
        assert heads.get(timeout=PATIENCE).startswith("GET /?access%20token=t HTTP/1.1\r\n")


def test_token_in_header() -> None:
    heads: queue.Queue[str] = queue.Queue()
    with peer(lambda sock: heads.put(upgrade(sock))) as server:
        url = server.url.replace("//", "//user:password@")
        with opened(connect_websocket(url, timeout=PATIENCE, token=SECRET, token_in="header")):
            head = heads.get(timeout=PATIENCE)
    assert f"\r\nAuthorization: Bearer {SECRET}\r\n" in head
    assert head.count("Authorization") == 1
    assert head.startswith("GET / HTTP/1.1\r\n")


def test_localhost_tries_every_address() -> None:
    with (
        peer(lambda sock: until_gone(sock) if upgrade(sock) else None) as server,
        opened(connect_websocket(f"ws://localhost:{server.port}", timeout=PATIENCE)) as transport,
    ):
        assert transport.fileno() >= 0
        assert isinstance(transport, Transport)


def test_unix_socket(tmp_path: Path) -> None:
    heads: queue.Queue[str] = queue.Queue()
    with (
        unix_peer(tmp_path / "host.sock", lambda sock: heads.put(upgrade(sock))) as url,
        opened(connect_websocket(url, timeout=PATIENCE, token="t")),
    ):
        assert heads.get(timeout=PATIENCE).startswith("GET /?tkn=t HTTP/1.1\r\nHost: localhost\r\n")


def test_what_comes_with_the_upgrade_is_kept() -> None:
    def play(sock: socket.socket) -> None:
        upgrade(sock, also=frame(TEXT, "1") + frame(TEXT, "2"))
        until_gone(sock)

    with peer(play) as server, opened(connect_websocket(server.url, timeout=PATIENCE)) as transport:
        assert transport.receive() == ["1", "2"]
        assert transport.receive() == []


# TLS


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture(scope="module")
def server_context(authority: trustme.CA) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("localhost").configure_cert(context)
    return context


def test_tls_with_a_trusted_certificate(authority: trustme.CA, server_context: ssl.SSLContext) -> None:
    trusting = ssl.create_default_context()
    authority.configure_trust(trusting)
    heads: queue.Queue[str] = queue.Queue()
    with (
        peer(lambda sock: heads.put(upgrade(sock)), server_context) as server,
        opened(connect_websocket(f"wss://localhost:{server.port}", timeout=PATIENCE, ssl_context=trusting, token="t")),
    ):
        assert heads.get(timeout=PATIENCE).startswith("GET /?tkn=t ")


def test_tls_with_an_untrusted_certificate(server_context: ssl.SSLContext) -> None:
    with peer(until_gone, server_context) as server:
        error = refusal(f"wss://localhost:{server.port}")
    assert isinstance(error, TlsFailed)
    assert "not trusted" in str(error)
    assert "SSL_CERT_FILE" in str(error)


def test_tls_with_a_certificate_for_another_name(authority: trustme.CA, server_context: ssl.SSLContext) -> None:
    trusting = ssl.create_default_context()
    authority.configure_trust(trusting)
    with peer(until_gone, server_context) as server:
        error = refusal(f"wss://127.0.0.1:{server.port}", ssl_context=trusting)
    assert isinstance(error, TlsFailed)
    assert "127.0.0.1" in str(error)


def test_wss_to_a_port_without_tls() -> None:
    def play(sock: socket.socket) -> None:
        sock.recv(1)
        sock.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        until_gone(sock)

    with peer(play) as server:
        error = refusal(f"wss://127.0.0.1:{server.port}")
    assert isinstance(error, TlsFailed)
    assert "try ws://" in str(error)


def test_wss_to_a_port_that_hangs_up() -> None:
    with peer(lambda sock: None) as server:
        error = refusal(f"wss://127.0.0.1:{server.port}")
    assert isinstance(error, TlsFailed)


def test_wss_to_a_port_that_stays_mute() -> None:
    with peer(until_gone) as server:
        error = refusal(f"wss://127.0.0.1:{server.port}", timeout=BRIEF)
    assert isinstance(error, ConnectTimeout)
    assert "no TLS session within 0.2 s" in str(error)


def test_ws_to_a_port_with_tls() -> None:
    def play(sock: socket.socket) -> None:
        read_head(sock)
        sock.sendall(b"\x15\x03\x01\x00\x02\x02\x46")

    with peer(play) as server:
        error = refusal(server.url)
    assert isinstance(error, NotWebSocket)
    assert "try wss://" in str(error)


# Nobody there


def test_nothing_listens() -> None:
    with socket.create_server(("127.0.0.1", 0)) as gone:
        port = gone.getsockname()[1]
    error = refusal(f"ws://user:s3cret@127.0.0.1:{port}/path?tkn=s3cret")
    assert isinstance(error, Refused)
    assert str(error).startswith(f"ws://127.0.0.1:{port}/path: connection refused")


def test_name_that_does_not_resolve() -> None:
    error = refusal("ws://no-such-host.invalid:1")
    assert isinstance(error, Unreachable)
    assert "does not resolve" in str(error)


def test_unix_sockets_that_cannot_be_used(tmp_path: Path) -> None:
    assert isinstance(refusal(f"unix:{tmp_path / 'none'}"), Unreachable)
    (tmp_path / "file").touch()
    error = refusal(f"unix:{tmp_path / 'file'}")
    assert isinstance(error, Refused)
    assert "not a socket" in str(error)
    stale = tmp_path / "stale"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(stale))
    error = refusal(f"unix:{stale}")
    assert isinstance(error, Refused)
    assert "nothing listens" in str(error)
    assert isinstance(refusal(f"unix:{tmp_path / ('long' * 50)}"), Unreachable)


def test_unix_socket_with_a_full_queue(tmp_path: Path) -> None:
    path = tmp_path / "busy"
    with contextlib.ExitStack() as stack:
        listener = stack.enter_context(socket.socket(socket.AF_UNIX))
        listener.bind(str(path))
        listener.listen(0)
        with contextlib.suppress(BlockingIOError):
            while True:
                waiting = stack.enter_context(socket.socket(socket.AF_UNIX))
                waiting.setblocking(False)
                waiting.connect(str(path))
        assert isinstance(refusal(f"unix:{path}", timeout=BRIEF), ConnectTimeout)


# Somebody else there


@pytest.mark.parametrize(
    ("status", "hint"),
    [
        ("401 Unauthorized", "--token-env"),
        ("403 Forbidden", "--token-env"),
        ("404 Not Found", "path"),
        ("200 OK", "web server"),
        ("302 Found", "another address"),
        ("426 Upgrade Required", "does not take"),
        ("503 Unavailable", "fails"),
    ],
)
def test_http_refusal(status: str, hint: str) -> None:
    # No length and no end: the answer must be judged without waiting for its body.
    with peer(answer_with(f"HTTP/1.1 {status}\r\nServer: x\r\n\r\nbody")) as server:
        error = refusal(server.url)
    assert isinstance(error, UpgradeRefused)
    assert error.status == int(status[:3])
    assert f"HTTP {status[:3]}" in str(error)
    assert hint in str(error)


def test_http_refusal_cut_short() -> None:
    def play(sock: socket.socket) -> None:
        read_head(sock)
        sock.sendall(b"HTTP/1.0 401 no\r\nServer")

    with peer(play) as server:
        error = refusal(server.url)
    assert isinstance(error, UpgradeRefused)


def echo(sock: socket.socket) -> None:
    while data := sock.recv(4096):
        sock.sendall(data)


def test_plain_echo_server() -> None:
    with peer(echo) as server:
        error = refusal(server.url)
    assert isinstance(error, NotWebSocket)
    assert "does not speak HTTP (it says 'GET')" in str(error)


@pytest.mark.parametrize("banner", ["SSH-2.0-OpenSSH\r\n", "\x00\x01\x02", " \r\n"])
def test_other_protocols(banner: str) -> None:
    def play(sock: socket.socket) -> None:
        sock.sendall(banner.encode())
        until_gone(sock)

    with peer(play) as server:
        assert isinstance(refusal(server.url), NotWebSocket)


GOOD = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (GOOD + "\r\n", "header Sec-WebSocket-Accept"),
        (GOOD + "Sec-WebSocket-Accept: d3Jvbmc=\r\n\r\n", "header Sec-WebSocket-Accept"),
        (GOOD.replace("Upgrade: websocket", "Upgrade: h2c") + "\r\n", "header Upgrade"),
        (GOOD.replace("HTTP/1.1", "HTTP/2") + "\r\n", "not well-formed HTTP"),
        ("HTTP/1.1 101\r\n\r\n", "is it an AHP host"),
        ("HTTP/" + "x" * 70000, "not well-formed HTTP"),
        (GOOD + "a:b\r\n" * 300, "not well-formed HTTP"),
    ],
)
def test_broken_upgrade(answer: str, why: str) -> None:
    with peer(answer_with(answer)) as server:
        error = refusal(server.url)
    assert isinstance(error, NotWebSocket)
    assert why in str(error)


def test_hang_up_in_place_of_an_answer() -> None:
    def play(sock: socket.socket) -> None:
        read_head(sock)

    with peer(play) as server:
        error = refusal(server.url)
    assert isinstance(error, NotWebSocket)
    assert "closed with no answer" in str(error)


def test_reset_in_place_of_an_answer() -> None:
    def play(sock: socket.socket) -> None:
        sock.recv(1)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")

    with peer(play) as server:
        error = refusal(server.url)
    assert isinstance(error, NotWebSocket)


def test_mute_peer() -> None:
    with peer(until_gone) as server:
        error = refusal(server.url, timeout=BRIEF)
    assert isinstance(error, ConnectTimeout)
    assert "no answer to the WebSocket upgrade within 0.2 s" in str(error)


def test_peer_that_drips_for_ever() -> None:
    def play(sock: socket.socket) -> None:
        read_head(sock)
        sock.sendall(b"HTTP/1.1 101 Switching Protocols\r\n")
        # The answer stays unfinished: a header line that is always still growing.
        sock.sendall(b"X: ")
        for _ in itertools.repeat(None, 4000):
            sock.sendall(b"x")
        until_gone(sock)

    with peer(play) as server:
        assert isinstance(refusal(server.url, timeout=BRIEF), ConnectTimeout)


# Bad addresses


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:1",
        "127.0.0.1:1",
        "ws://",
        "ws://:80",
        "ws://host:99999",
        "ws://host:port",
        "ws://[::1",
        "ws://host/#fragment",
        "ws://user@host",
        "ws://ho st:1",
        "ws://host:1/\r\nX: y",
        "ws://" + "ä" * 70,
        "unix:",
        "unix:a\0b",
        "",
    ],
)
def test_bad_address(url: str) -> None:
    assert isinstance(refusal(url), BadUrl)


def test_bad_token_for_a_header() -> None:
    with pytest.raises(BadUrl, match="line break"):
        connect_websocket("ws://127.0.0.1:1", timeout=1, token="a\nb", token_in="header")
