"""Connections and the pump, over transports in memory."""

from __future__ import annotations

import socket
from collections import deque
from collections.abc import Callable

import pytest

from conformance.wire.connection import Connection
from conformance.wire.errors import ConnectionLost
from conformance.wire.frames import ABNORMAL, Closed, Frame, NotUtf8, Received
from conformance.wire.memory import MemoryTransport, memory_pair
from conformance.wire.pump import Pump
from conformance.wire.recorder import Recorder

from .peers import PATIENCE

Pair = tuple[Connection, MemoryTransport]
MakePair = Callable[[str], Pair]


@pytest.fixture
def pair(pump: Pump, recorder: Recorder) -> MakePair:
    def pair(name: str) -> Pair:
        ours, theirs = memory_pair()
        connection = Connection(name, ours, recorder)
        pump.add(connection)
        return connection, theirs

    return pair


@pytest.fixture
def a(pair: MakePair) -> Pair:
    return pair("A")


# Connections


def test_requests_are_numbered_and_answered(a: Pair, pump: Pump) -> None:
    connection, host = a
    assert connection.request("ping") == 1
    assert connection.request("ping", {"channel": "ahp-root://"}) == 2
    connection.notify("note", [])
    connection.send({"id": 99})
    connection.send_text("{")
    connection.send_bytes(b"\0")
    assert host.receive() == [
        '{"jsonrpc":"2.0","id":1,"method":"ping"}',
        '{"jsonrpc":"2.0","id":2,"method":"ping","params":{"channel":"ahp-root://"}}',
        '{"jsonrpc":"2.0","method":"note","params":[]}',
        '{"id":99}',
        "{",
        b"\0",
    ]
    assert connection.reply(1) is None
    for answer in (
        '{"id":2,"result":"b"}',
        '{"id":1,"result":"a"}',
        '{"id":1,"result":"again"}',
        '{"id":true,"result":"no"}',
    ):
        host.send(answer)
    frame = pump.wait(lambda: connection.reply(1), PATIENCE)
    assert frame is not None
    assert frame.msg["result"] == "a"
    second = connection.reply(2)
    assert second is not None
    assert second.msg["result"] == "b"
    assert [f.kind for f in connection.frames] == ["json"] * 4 + ["text", "binary"] + ["json"] * 4
    assert [f.dir for f in connection.frames] == ["out"] * 6 + ["in"] * 4


def test_recording_does_not_follow_later_changes(a: Pair) -> None:
    connection, _ = a
    params = {"x": [1]}
    connection.request("m", params)
    params["x"].append(2)
    assert connection.frames[0].msg["params"] == {"x": [1]}


def test_what_no_good_host_sends(a: Pair, pump: Pump) -> None:
    connection, host = a
    host.send_any(NotUtf8(b"\xff"))
    host.send(b"\xff")
    assert pump.wait(lambda: connection.frames[1:] or None, PATIENCE)
    assert [f.kind for f in connection.frames] == ["not-utf8", "binary"]


def test_closed_connection(a: Pair, pump: Pump) -> None:
    connection, host = a
    host.send("1")
    host.close(4000)
    assert connection.closed is None
    assert pump.wait(lambda: connection.closed, PATIENCE) == Closed(4000)
    assert [f.kind for f in connection.frames] == ["json", "close"]
    for send in (connection.send_text, connection.notify, connection.send, connection.request):
        with pytest.raises(ConnectionLost, match=r"connection A is closed by the host \(code 4000\)"):
            send("x")
    with pytest.raises(ConnectionLost):
        connection.send_bytes(b"")
    connection.close()
    assert connection.closed == Closed(4000)
    assert connection.receive() == 0
    assert connection.flush()
    host.send("dropped silently")
    assert host.receive() == []


def test_closing(a: Pair) -> None:
    connection, host = a
    host.send("1")
    connection.close(1001)
    assert connection.closed == Closed(1001, ours=True)
    assert [(f.dir, f.kind) for f in connection.frames] == [("in", "json"), ("out", "close")]
    assert list(host.receive()) == [Closed(1001)]
    assert host.fileno() == -1


def test_dropping(a: Pair) -> None:
    connection, host = a
    connection.drop()
    assert list(host.receive()) == [Closed(ABNORMAL, "the connection was dropped")]


def test_transport_that_vanishes(pump: Pump, recorder: Recorder) -> None:
    ours, _ = memory_pair()
    connection = Connection("A", ours, recorder)
    pump.add(connection)
    pump.step(0)
    ours.close()
    assert pump.wait(lambda: connection.closed, PATIENCE) == Closed(ABNORMAL, "the transport was closed")


def test_listeners_hear_in_order(a: Pair, pump: Pump, recorder: Recorder) -> None:
    connection, host = a
    heard: list[Frame] = []
    recorder.listen(heard.append)
    connection.send_text("0")
    host.send("1")
    host.close()
    assert pump.wait(lambda: connection.closed, PATIENCE)
    assert [(f.dir, f.kind) for f in heard] == [("out", "json"), ("in", "json"), ("in", "close")]
    assert heard == list(recorder.frames) == connection.frames


def test_listener_that_raises_reaches_the_caller(recorder: Recorder) -> None:
    pairs = [memory_pair() for _ in range(3)]
    pump = Pump()
    for name, (ours, _) in zip("ABC", pairs, strict=True):
        pump.add(Connection(name, ours, recorder))

    def listener(frame: Frame) -> None:
        raise LookupError(frame.conn)

    recorder.listen(listener)
    pairs[1][1].send("0")
    with pytest.raises(LookupError, match="B"):
        pump.wait(lambda: None, PATIENCE)
    with pytest.raises(LookupError):
        pump.close()
    assert [ours.fileno() for ours, _ in pairs] == [-1, -1, -1]


# The pump


def test_wait_asks_first(a: Pair, pump: Pump) -> None:
    _, host = a
    host.send("1")
    assert pump.wait(lambda: "there", PATIENCE) == "there"
    assert a[0].frames == []


def test_falsy_values_end_a_wait(a: Pair, pump: Pump) -> None:
    assert pump.wait(lambda: 0, PATIENCE) == 0
    assert pump.wait(lambda: False, PATIENCE) is False


def test_wait_without_patience_takes_what_is_there(a: Pair, pump: Pump) -> None:
    connection, host = a
    assert pump.wait(lambda: connection.frames or None, 0) is None
    host.send("1")
    assert pump.wait(lambda: connection.frames or None, 0)
    assert pump.wait(lambda: connection.frames[1:] or None, -1) is None


def test_wait_without_end(a: Pair, pump: Pump) -> None:
    connection, host = a
    host.send("1")
    assert pump.wait(lambda: connection.frames or None, float("inf"))


def test_wait_ends_when_nothing_can_come(pair: MakePair, pump: Pump) -> None:
    assert pump.wait(lambda: None, PATIENCE) is None
    (a, host_a), (b, host_b) = pair("A"), pair("B")
    host_a.close()
    host_b.send("1")
    host_b.close()
    assert pump.wait(lambda: None, float("inf")) is None
    assert a.closed
    assert b.closed
    assert [f.kind for f in b.frames] == ["json", "close"]


def test_until_is_asked_between_batches(a: Pair, pump: Pump) -> None:
    connection, host = a
    for number in range(1000):
        host.send(str(number))
    assert pump.wait(lambda: len(connection.frames) >= 70 or None, PATIENCE)
    assert len(connection.frames) < 200
    assert pump.wait(lambda: len(connection.frames) >= 1000 or None, PATIENCE)
    assert [f.msg for f in connection.frames] == list(range(1000))


def test_batches_of_a_single_read_need_no_wake_up(pump: Pump, recorder: Recorder) -> None:
    class OneRead(MemoryTransport):
        """Gives all at once, as one read from a socket may."""

        def receive(self) -> list[Received]:
            return [item for _ in range(20) for item in super(OneRead, self).receive()]

    left, right = socket.socketpair()
    there: deque[Received] = deque()
    back: deque[Received] = deque()
    ours, theirs = OneRead(left, back, there), MemoryTransport(right, there, back)
    connection = Connection("A", ours, recorder)
    pump.add(connection)
    for _ in range(1000):
        theirs.send("1")
    theirs.close()
    assert pump.wait(lambda: connection.closed, PATIENCE)
    assert len(connection.frames) == 1001


def test_frames_of_several_connections_interleave(pair: MakePair, pump: Pump, recorder: Recorder) -> None:
    (_, host_a), (_, host_b) = pair("A"), pair("B")
    for turn in range(3):
        for host in (host_a, host_b):
            host.send(str(turn))
        seen = 2 * turn + 2
        assert pump.wait(lambda seen=seen: len(recorder.frames) >= seen or None, PATIENCE)  # type: ignore[misc]
    assert [f.n for f in recorder.frames] == list(range(6))
    assert sorted((f.conn, f.msg) for f in recorder.frames) == [(c, t) for c in "AB" for t in range(3)]


def test_descriptor_that_is_used_again(pair: MakePair, pump: Pump) -> None:
    first, _ = pair("A")
    pump.step(0)
    number = first.fileno()
    first.close()
    for name in "BCDE":
        again, host = pair(name)
        host.send("1")
        assert pump.wait(lambda again=again: again.frames or None, PATIENCE)  # type: ignore[misc]
        if again.fileno() == number:
            break
    else:
        pytest.fail("no descriptor was used again")


def test_removed_connection_is_left_alone(a: Pair, pump: Pump) -> None:
    connection, host = a
    pump.step(0)
    pump.remove(connection)
    pump.remove(connection)
    host.send("1")
    pump.step(0)
    assert connection.frames == []
    assert not pump.connections
    pump.add(connection)
    pump.add(connection)
    assert pump.wait(lambda: connection.frames or None, PATIENCE)
    assert pump.connections == (connection,)


def test_pump_closes_its_connections(recorder: Recorder) -> None:
    ours, theirs = memory_pair()
    connection = Connection("A", ours, recorder)
    with pytest.raises(LookupError), Pump() as pump:
        pump.add(connection)
        raise LookupError
    assert connection.closed == Closed(1000, ours=True)
    assert list(theirs.receive()) == [Closed(1000)]
