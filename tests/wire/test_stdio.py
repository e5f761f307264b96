"""Messages over two pipes, in both framings, with hosts that keep to them and hosts that do not."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import pytest

from conformance.wire.connection import Connection
from conformance.wire.frames import ABNORMAL, Closed, Frame, NotUtf8, Received
from conformance.wire.pump import Pump
from conformance.wire.recorder import Recorder
from conformance.wire.stdio import MAX_HEADERS, MAX_MESSAGE, Framing, StdioTransport

from .peers import PATIENCE


@dataclass
class Host:
    """The other ends of a transport's pipes."""

    transport: StdioTransport
    output: int
    input: int
    closed: set[int] = field(default_factory=set)

    def says(self, data: bytes) -> list[Received]:
        """Write, and give what the transport makes of it."""
        os.write(self.output, data)
        return list(self.transport.receive())

    def hears(self) -> bytes:
        return os.read(self.input, 2**20)

    def shut(self, *descriptors: int) -> None:
        for descriptor in descriptors or (self.output, self.input):
            if descriptor not in self.closed:
                self.closed.add(descriptor)
                os.close(descriptor)


Make = Callable[..., Host]


@pytest.fixture
def make() -> Iterator[Make]:
    hosts: list[Host] = []

    def make(framing: Framing = "lines", why: Callable[[], str] = lambda: "") -> Host:
        from_host, output = os.pipe()
        input_, to_host = os.pipe()
        hosts.append(Host(StdioTransport(from_host, to_host, framing=framing, why=why), output, input_))
        return hosts[-1]

    yield make
    for host in hosts:
        host.transport.close()
        host.shut()


def headed(text: str) -> bytes:
    data = text.encode()
    return b"Content-Length: %d\r\n\r\n%b" % (len(data), data)


# -- what a host says ---------------------------------------------------------------------------------


def test_lines_are_messages(make: Make) -> None:
    host = make()
    assert host.transport.receive() == []
    assert host.says(b'{"a":1}\n{"b":"\xc3\xa9"}\r\n\n  \r\n{"c"') == ['{"a":1}', '{"b":"é"}']
    assert host.says(b":2}") == []
    assert host.says(b"\n") == ['{"c":2}']


def test_headers_go_before_messages(make: Make) -> None:
    host = make("headers")
    assert host.says(headed('{"a":"é\\n"}') + headed("[\n]") + headed("")) == ['{"a":"é\\n"}', "[\n]", ""]
    assert host.says(b"content-type: application/x; charset=utf-8\r\nCONTENT-LENGTH :2 \r\n\r\n{}") == ["{}"]


@pytest.mark.parametrize("framing", ["lines", "headers"])
def test_pieces_of_any_size_make_the_same_messages(framing: Framing, make: Make) -> None:
    host = make(framing)
    texts = ['{"a":"日本"}', "no JSON at all", "{}"]
    data = b"".join(headed(text) if framing == "headers" else text.encode() + b"\n" for text in texts)
    assert [message for byte in data for message in host.says(bytes([byte]))] == texts


@pytest.mark.parametrize("framing", ["lines", "headers"])
def test_garbage_is_delivered_as_it_is(framing: Framing, make: Make) -> None:
    host = make(framing)
    assert host.says(b"Content-Length: 3\r\n\r\n\xff\xfe\x01" if framing == "headers" else b"\xff\xfe\x01\n") == [
        NotUtf8(b"\xff\xfe\x01")
    ]
    assert host.says(headed("Warning: x") if framing == "headers" else b"Warning: x\n") == ["Warning: x"]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b'{"jsonrpc":"2.0"}\n', 'there is \'{"jsonrpc"'),
        (b"{", "there is '{'"),
        (b"Listening on port 5\r\n", "'Listening on port 5'"),
        (b"Content-Length: 2\n\n{}", "CR LF"),
        (b"Content-Type: x\r\n\r\n{}", "without one Content-Length"),
        (b"Content-Length: two\r\n\r\n{}", "without one Content-Length"),
        (b"Content-Length: -2\r\n\r\n{}", "without one Content-Length"),
        (b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}", "without one Content-Length"),
        (b"\r\n\r\n", "a header line"),
        (b"X: " + b"x" * MAX_HEADERS, "longer than"),
    ],
)
def test_broken_headers_end_the_connection_with_a_reason(data: bytes, words: str, make: Make) -> None:
    host = make("headers")
    *before, closed = host.says(headed("{}") + data)
    assert before == ["{}"]
    assert isinstance(closed, Closed)
    assert (closed.code, closed.ours) == (1002, True)
    assert words in closed.reason
    assert host.transport.fileno() == host.transport.write_fileno() == -1
    assert host.hears() == b""  # its input is closed, too


def test_a_message_without_bounds_is_not_taken_in(make: Make) -> None:
    host = make("headers")
    (closed,) = host.says(b"Content-Length: %d\r\n\r\n" % (MAX_MESSAGE + 1))
    assert isinstance(closed, Closed)
    assert closed.code == 1009


# -- what a host is told ------------------------------------------------------------------------------


def test_a_message_is_told_in_one_line_whatever_is_in_it(make: Make) -> None:
    host = make()
    host.transport.send('{\n "a": "\\n",\r\n "b": "é"}')
    host.transport.send(b"\0\1")
    assert host.hears() == '{  "a": "\\n",   "b": "é"}\n\0\1\n'.encode()


def test_a_message_is_told_behind_its_length_in_bytes(make: Make) -> None:
    host = make("headers")
    host.transport.send('{"é":\n1}')
    assert host.hears() == b'Content-Length: 9\r\n\r\n{"\xc3\xa9":\n1}'


# -- the end ------------------------------------------------------------------------------------------


def test_the_end_of_the_output_is_the_end_with_what_is_known_of_it(make: Make) -> None:
    host = make(why=lambda: "exit code 3")
    os.write(host.output, b"{}\n")
    host.shut(host.output)
    assert host.transport.receive() == ["{}"]
    assert host.transport.receive() == [Closed(ABNORMAL, "the host closed its standard output (exit code 3)")]
    assert host.transport.receive() == []
    host.transport.send("{}")
    assert host.hears() == b""


def test_the_end_in_the_middle_of_a_message_is_said(make: Make) -> None:
    host = make("headers")
    assert host.says(b"Content-Length: 9\r\n\r\n{}") == []
    host.shut(host.output)
    assert host.transport.receive() == [
        Closed(ABNORMAL, "the host closed its standard output in the middle of a message")
    ]


def test_closing_lets_the_host_see_the_end_of_its_input(make: Make) -> None:
    host = make()
    host.transport.send("{}")
    host.transport.close()
    host.transport.close()
    assert (host.hears(), host.hears()) == (b"{}\n", b"")
    assert host.transport.receive() == []


# -- on a pump ----------------------------------------------------------------------------------------


def inbound(connection: Connection, count: int) -> Callable[[], list[Frame] | None]:
    def until() -> list[Frame] | None:
        frames = [f for f in connection.frames if f.dir == "in"]
        return frames if len(frames) >= count else None

    return until


def test_more_than_a_pipe_holds_goes_both_ways_at_once(make: Make, pump: Pump, recorder: Recorder) -> None:
    host = make()
    long = '"' + "x" * 2**21 + '"'

    def echo() -> None:
        with os.fdopen(os.dup(host.input), "rb") as told, os.fdopen(os.dup(host.output), "wb") as said:
            for _ in range(2):
                said.write(told.readline())
                said.flush()

    thread = threading.Thread(target=echo)
    connection = Connection("A", host.transport, recorder)
    pump.add(connection)
    connection.send_text(long)
    connection.send_text("{}")
    assert not connection.flushed
    thread.start()
    assert pump.flush(PATIENCE)
    frames = pump.wait(inbound(connection, 2), PATIENCE)
    thread.join()
    assert frames is not None
    assert [f.text for f in frames] == [long, "{}"]


def test_a_host_that_takes_no_more_is_heard_out_and_gone(make: Make, pump: Pump, recorder: Recorder) -> None:
    host = make()
    connection = Connection("A", host.transport, recorder)
    pump.add(connection)
    pump.step(0)
    os.write(host.output, b'{"last":"words"}\n')
    host.shut(host.input)
    connection.send_text("{}")
    frames = pump.wait(inbound(connection, 2), PATIENCE)
    assert frames is not None
    assert frames[0].msg == {"last": "words"}
    assert connection.closed == Closed(ABNORMAL, "the host takes no more on its standard input")
    assert host.transport.fileno() == -1


def test_a_descriptor_that_comes_again_is_polled_for_its_new_connection(
    make: Make, pump: Pump, recorder: Recorder
) -> None:
    first = make()
    old = Connection("A", first.transport, recorder)
    pump.add(old)
    old.send_text('"' + "x" * 2**21 + '"')
    pump.step(0)
    numbers = {first.transport.fileno(), first.transport.write_fileno()}
    old.close()
    second = make()
    new = Connection("B", second.transport, recorder)
    pump.add(new)
    assert new.fileno() in numbers
    os.write(second.output, b"{}\n")
    assert pump.wait(inbound(new, 1), PATIENCE) is not None
