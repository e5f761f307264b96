"""The host behind a real WebSocket: start, traffic, and an end that leaves nothing behind."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading

import orjson
import pytest
from websockets.exceptions import ConnectionClosed, InvalidURI
from websockets.sync.client import ClientConnection, connect

from conformance.host import HostServer, ReferenceHost

INITIALIZE = {
    "channel": "ahp-root://",
    "protocolVersions": ["0.6.0"],
    "clientId": "A",
    "initialSubscriptions": ["ahp-root://"],
}


def ask(socket: ClientConnection, identifier: int, method: str, **params: object) -> object:
    body = {"jsonrpc": "2.0", "id": identifier, "method": method, "params": params}
    socket.send(orjson.dumps(body).decode())
    while True:
        message = orjson.loads(socket.recv(timeout=10))
        if message.get("id") == identifier:
            return message


def test_it_serves_and_leaves_nothing_behind() -> None:
    before = set(threading.enumerate())
    server = HostServer(ReferenceHost())
    url = server.start()
    # Taken before the clients come: theirs have threads too, which may outlive the connection a little.
    threads = set(threading.enumerate()) - before
    assert threads
    with connect(url, compression=None) as socket, connect(url, compression=None) as other:
        assert ask(socket, 1, "initialize", **INITIALIZE)["result"]["protocolVersion"] == "0.6.0"  # type: ignore[index]
        ask(other, 1, "initialize", **{**INITIALIZE, "clientId": "B"})
        ask(socket, 2, "createSession", channel="ahp-session:/x")
        assert orjson.loads(other.recv(timeout=10))["method"] == "root/sessionAdded"
        socket.send(b"\x00")
        assert orjson.loads(socket.recv(timeout=10))  # root/sessionAdded, or the error; both are JSON
        server.stop()
        with pytest.raises(ConnectionClosed):
            while True:
                socket.recv(timeout=10)
    server.stop()
    assert not any(thread.is_alive() for thread in threads)
    with pytest.raises((OSError, InvalidURI)):
        connect(url, open_timeout=1)


def test_a_refused_connection_gets_its_answer_before_it_is_closed() -> None:
    server = HostServer(ReferenceHost())
    try:
        with connect(server.start(), compression=None) as socket:
            refused = ask(socket, 1, "initialize", **{**INITIALIZE, "protocolVersions": ["9.9.9"]})
            assert refused["error"]["code"] == -32005  # type: ignore[index]
            with pytest.raises(ConnectionClosed):
                socket.recv(timeout=10)
    finally:
        server.stop()


def test_a_taken_port_is_reported_to_whoever_starts() -> None:
    first = HostServer(ReferenceHost())
    try:
        port = int(first.start().rpartition(":")[2])
        with pytest.raises(OSError, match=str(port)):
            HostServer(ReferenceHost(), port).start()
    finally:
        first.stop()


def test_grace_runs_on_the_clock_of_the_loop() -> None:
    server = HostServer(ReferenceHost(grace=0.0))
    client = {"clientId": "A", "tools": []}
    try:
        url = server.start()
        with connect(url, compression=None) as observer:
            ask(observer, 1, "initialize", **{**INITIALIZE, "clientId": "B"})
            with connect(url, compression=None) as socket:
                ask(socket, 1, "initialize", **INITIALIZE)
                ask(socket, 2, "createSession", channel="ahp-session:/x", activeClient=client)
                ask(observer, 2, "subscribe", channel="ahp-session:/x")
            while True:
                message = orjson.loads(observer.recv(timeout=10))
                if message.get("params", {}).get("action", {}).get("type") == "session/activeClientRemoved":
                    break
    finally:
        server.stop()


def test_it_runs_alone_until_it_is_ended() -> None:
    program = "from conformance.host import *; HostServer(ReferenceHost()).run_forever()"
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        word, url = process.stdout.readline().split()
        assert word == "ready"
        with connect(url, compression=None) as socket:
            ask(socket, 1, "ping", channel="ahp-root://")
            process.send_signal(signal.SIGTERM)
            assert process.wait(timeout=20) == 0
