"""Servers come and go: many at once, from any thread, and nothing is left."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlsplit

import httpx
import psutil
import pytest

from conformance.backend.mcp_servers import Held, McpServers, Text
from conformance.backend.web import BackendMissing

from .clients import ACCEPT, HELLO, PATIENCE, Plain, request, send

JSON_TYPE = {"Content-Type": "application/json"}


def test_servers_do_not_know_each_other(servers: McpServers) -> None:
    one, two = servers.open("same"), servers.open("same")
    assert one.url != two.url and one.resource != two.resource
    one.tool("it", Text("of one"))
    with Plain(one) as first, Plain(two) as second:
        first.initialize()
        second.initialize()
        assert "of one" in first.call("it").text
        assert "Unknown tool" in second.call("it").text
        # A session belongs to its server.
        second.session = first.session
        assert second.ask("tools/list").status_code == 404


@pytest.mark.parametrize("name", ["with space", "a/b", "..", "", "ä?#%", 'quote"'])
def test_any_name_makes_a_plain_url(servers: McpServers, name: str) -> None:
    server = servers.open(name)
    assert httpx.URL(server.url).path == urlsplit(server.url).path
    with Plain(server) as client:
        assert client.initialize().status_code == 200
        assert client.web.get(servers.base + servers.metadata_path(server)).json()["resource_name"] == name


def test_a_closed_server_is_gone(servers: McpServers) -> None:
    server, other = servers.open("s"), servers.open("t")
    with Plain(server) as client, Plain(other) as neighbour:
        client.initialize()
        neighbour.initialize()
        servers.close(server)
        servers.close(server)
        assert client.ask("tools/list").status_code == 404
        assert client.ask("initialize", HELLO).status_code == 404
        assert client.web.get(servers.base + servers.metadata_path(server)).status_code == 404
        assert neighbour.ask("tools/list").status_code == 200


def test_closing_ends_what_is_under_way(servers: McpServers) -> None:
    """An open stream ends, and a held call gets an end of some kind."""
    server = servers.open("s")
    server.tool("it", Held())
    with Plain(server) as client, ThreadPoolExecutor(2) as pool:
        client.initialize()
        call = pool.submit(_ended, client, "POST", json=request("tools/call", {"name": "it"}))
        stream = pool.submit(_ended, client, "GET")
        for method in ("POST", "GET"):
            assert server.await_seen(lambda seen, m=method: seen.method == m and seen.status == 200, PATIENCE)  # type: ignore[misc]
        assert server.await_seen(lambda seen: seen.tool == "it", PATIENCE)
        servers.close(server)
        assert call.result(PATIENCE) and stream.result(PATIENCE)


def _ended(client: Plain, method: str, **body: Any) -> bool:
    """Read an answer to its end, in whatever way it ends."""
    try:
        with client.web.stream(method, client.server.url, headers=client.headers, **body) as reply:
            for _ in reply.iter_bytes():
                pass
    except httpx.TimeoutException:
        return False
    except httpx.TransportError:
        pass
    return True


def test_stopping_ends_everything() -> None:
    threads = set(threading.enumerate())
    servers = McpServers()
    base = servers.start()
    assert servers.start() == base
    server = servers.open("s")
    server.tool("it", Held())
    with Plain(server) as client, ThreadPoolExecutor(2) as pool:
        client.initialize()
        call = pool.submit(_ended, client, "POST", json=request("tools/call", {"name": "it"}))
        stream = pool.submit(_ended, client, "GET")
        assert server.await_seen(lambda seen: seen.method == "GET" and seen.status == 200, PATIENCE)
        assert server.await_seen(lambda seen: seen.tool == "it" and seen.status == 200, PATIENCE)
        servers.stop()
        servers.stop()
        assert call.result(PATIENCE) and stream.result(PATIENCE)
    assert not set(threading.enumerate()) - threads
    address = urlsplit(base)
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((address.hostname or "", address.port or 0), timeout=PATIENCE)
    with pytest.raises(RuntimeError, match="start"):
        servers.open("t")
    # What scenarios still do to a server that has ended is no error.
    server.tool("new")
    server.release("it")


def test_started_again_it_serves_again() -> None:
    servers = McpServers()
    for _ in range(2):
        servers.start()
        with Plain(servers.open("s")) as client:
            assert client.initialize().status_code == 200
        servers.stop()


def test_many_at_once_from_many_threads(servers: McpServers) -> None:
    def play(number: int) -> tuple[int, bool]:
        server = servers.open(f"s{number}")
        server.tool("it", Text(f"result {number}"))
        with Plain(server, f"token-{number}") as client:
            client.initialize()
            right = all(f'"result {number}"' in client.call("it").text for _ in range(3))
        entries = server.seen
        servers.close(server)
        return len(entries), right and len(server.tokens_seen()) == 1

    with ThreadPoolExecutor(16) as pool:
        assert list(pool.map(play, range(96))) == [(5, True)] * 96


def test_hundreds_of_servers_leave_nothing_open(servers: McpServers) -> None:
    process = psutil.Process()

    def open_and_close(count: int) -> None:
        for number in range(count):
            server = servers.open(f"s{number}")
            with Plain(server) as client:
                assert client.initialize().status_code == 200
            servers.close(server)

    open_and_close(5)
    files, threads = process.num_fds(), threading.active_count()
    open_and_close(200)
    assert threading.active_count() <= threads
    assert process.num_fds() <= files + 20


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        (b"no json", ACCEPT | JSON_TYPE, 400),
        (b"", ACCEPT | JSON_TYPE, 400),
        (b'{"hello": 1}', ACCEPT | JSON_TYPE, 400),
        (b"[]", ACCEPT | JSON_TYPE, 400),
        (b'[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]', ACCEPT | JSON_TYPE, 400),
        (b"\xff\xfe", ACCEPT | JSON_TYPE, 400),
        (b"[" * 100_000, ACCEPT | JSON_TYPE, 400),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}', ACCEPT | JSON_TYPE, 400),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}', ACCEPT | JSON_TYPE | {"Mcp-Session-Id": "nobody"}, 404),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}', {"Accept": "text/html"} | JSON_TYPE, 406),
        (b"hello", ACCEPT | {"Content-Type": "text/plain"}, 400),
        (b" " * 5_000_000, ACCEPT | JSON_TYPE, 413),
    ],
)
@pytest.mark.parametrize("version", [None, "2026-07-28", "1999-01-01"])
def test_bad_requests_get_a_clean_answer(
    servers: McpServers,
    capfd: pytest.CaptureFixture[str],
    body: bytes,
    headers: dict[str, str],
    status: int,
    version: str | None,
) -> None:
    server = servers.open("s")
    if version is not None:
        headers = headers | {"Mcp-Protocol-Version": version}
    reply = send("POST", server.url, content=body, headers=headers)
    assert reply.status_code == status if version is None else 400 <= reply.status_code < 500
    assert "Traceback" not in reply.text
    with Plain(server) as client:
        assert client.initialize().status_code == 200
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(("method", "status"), [("PUT", 405), ("PATCH", 405), ("GET", 400), ("DELETE", 400)])
def test_other_methods_get_a_clean_answer(servers: McpServers, method: str, status: int) -> None:
    reply = send(method, servers.open("s").url, headers=ACCEPT)
    assert reply.status_code == status and reply.json()["error"]


@pytest.mark.parametrize(
    "path", ["", "/", "/mcp", "/a/b/mcp", "/.well-known/oauth-protected-resource", "/issuer", "/%00", "/..%2f"]
)
def test_other_paths_are_not_found(servers: McpServers, path: str) -> None:
    servers.open("s")
    for method in ("GET", "POST"):
        reply = send(method, servers.base + path)
        assert (reply.status_code, reply.json()) == (404, {"error": "not found"})


def test_nothing_is_opened_before_the_start() -> None:
    with pytest.raises(RuntimeError, match="start"):
        McpServers().open("s")


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [n for n in sys.modules if n.startswith("conformance.backend.mcp_servers.")]:
        if name.rpartition(".")[2] in ("serving", "endpoint"):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "mcp_types", None)
    with pytest.raises(BackendMissing, match=r"ahp-conformance\[backend\]"):
        McpServers().start()


_NOISE = """
from conformance.backend.mcp_servers import McpServers
from tests.backend.mcp.clients import Plain
with McpServers() as servers, Plain(servers.open("s")) as client:
    client.initialize()
    body = {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progress": "much"}}
    assert client.web.post(client.server.url, json=body, headers=client.headers).status_code == 202
    assert client.ask("ping").status_code == 200
"""


def test_nothing_is_said_on_standard_error() -> None:
    """The SDK warns of that notification, and without any logging set up, warnings go to standard error."""
    told = subprocess.run([sys.executable, "-c", _NOISE], capture_output=True, text=True, timeout=60, check=True)
    assert (told.stdout, told.stderr) == ("", "")


def test_the_sdk_is_loaded_only_by_those_who_serve() -> None:
    asked = (
        "import conformance.backend.mcp_servers, sys; print(sorted({'mcp', 'starlette', 'uvicorn'} & set(sys.modules)))"
    )
    found = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, timeout=60, check=True)
    assert found.stdout.strip() == "[]"
