"""Reading logs: in every form the same frames come out, and what cannot be read is told with its line."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import orjson
import pytest

from conformance.checking.logs import LogError
from conformance.wire.frames import Frame
from conformance.wire.transcript import End
from tests.checking.logs import FORMS, as_lines, at_the_root, of_a_host, read, recording, transcript
from tests.oracle.traces import SESSION, Trace
from tests.protocol.examples import session

JSON = Any
Form = Callable[[Iterable[Frame]], Iterator[JSON]]


def a_trace() -> Trace:
    t = Trace("0.9.0")
    t.handshake()
    t.handshake("B")
    t.subscribe(SESSION, session())
    t.envelope(SESSION, {"type": "session/titleChanged", "title": "née ❤"})
    return t


def essence(frames: Iterable[Frame | End]) -> list[tuple[str, str, JSON]]:
    return [(f.conn, f.dir, f.msg) for f in frames if isinstance(f, Frame)]


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_every_form_gives_the_same_frames(form: Form) -> None:
    t = a_trace()
    frames, reader = read(as_lines(form(t.frames)))
    assert essence(frames) == essence(t.frames)
    assert reader.facts.unread == {}
    assert [round(f.t - frames[0].t, 3) for f in frames if isinstance(f, Frame)] == [  # type: ignore[union-attr]
        round(f.t - t.frames[0].t, 3) for f in t.frames
    ]


def test_a_message_at_the_root_loses_what_the_log_added() -> None:
    t = Trace("0.9.0")
    t.handshake()
    frames, _ = read(as_lines(at_the_root(t.frames)))
    assert essence(frames) == essence(t.frames)


def test_a_host_that_keeps_the_log_calls_the_other_way_in() -> None:
    _, reader = read(as_lines(of_a_host(a_trace().frames)))
    assert reader.facts.kept_by == "host"
    assert not reader.facts.assumed


def test_a_log_that_shows_nobody_is_taken_for_a_clients_and_says_so() -> None:
    lines = as_lines([{"dir": "in", "conn": "A", "msg": {"jsonrpc": "2.0", "id": 1, "result": None}}] * 3)
    frames, reader = read(lines)
    assert [f.dir for f in frames if isinstance(f, Frame)] == ["in"] * 3
    assert reader.facts.assumed


def test_frames_of_a_foreign_log_are_numbered_by_line() -> None:
    data = b"\n" + as_lines(recording(a_trace().frames))
    frames, _ = read(data)
    assert [f.n for f in frames if isinstance(f, Frame)] == list(range(2, len(frames) + 2))


def test_blank_lines_a_byte_order_mark_and_windows_line_ends_do_no_harm() -> None:
    data = b"\xef\xbb\xbf" + as_lines(recording(a_trace().frames)).replace(b"\n", b"\r\n\r\n")
    frames, reader = read(data)
    assert essence(frames) == essence(a_trace().frames)
    assert reader.facts.unread == {}


def test_a_handshake_whose_ids_start_over_is_that_of_another_connection() -> None:
    one, other = Trace("0.9.0"), Trace("0.9.0")
    one.handshake()
    other.handshake()
    frames, _ = read(as_lines(recording([*one.frames, *other.frames])))
    assert [f.conn for f in frames if isinstance(f, Frame)] == ["A", "A", "A#2", "A#2"]


def test_a_client_that_shakes_hands_twice_is_one_connection() -> None:
    t = Trace("0.9.0")
    t.handshake()
    t.handshake()
    frames, _ = read(as_lines(recording(t.frames)))
    assert [f.conn for f in frames if isinstance(f, Frame)] == ["A"] * 4


def test_a_close_ends_a_connection_and_its_name_begins_anew() -> None:
    message = {"jsonrpc": "2.0", "method": "ping", "id": 1}
    data = as_lines(
        [
            {"dir": "c2s", "conn": "A", "msg": message},
            {"dir": "note", "conn": "A", "msg": {"note": "connection A closed"}},
            {"dir": "c2s", "conn": "A", "msg": message},
            {"event": "close", "conn": "A", "code": 1001},
            {"event": "open", "conn": "A"},
            {"dir": "c2s", "conn": "A", "msg": message},
        ]
    )
    frames, reader = read(data)
    seen = [(f.conn, f.kind, f.code) for f in frames if isinstance(f, Frame)]
    assert seen == [
        ("A", "json", None),
        ("A", "close", 1000),
        ("A#2", "json", None),
        ("A#2", "close", 1001),
        ("A#3", "json", None),
    ]
    assert reader.facts.remarks == 1


def test_what_is_no_json_on_the_wire_is_a_text_frame() -> None:
    data = as_lines([{"dir": "s2c", "msg": {"__raw__": "hello"}}, {"dir": "s2c", "msg": "{not json"}])
    frames, _ = read(data)
    assert [(f.kind, f.raw) for f in frames if isinstance(f, Frame)] == [("text", "hello"), ("text", "{not json")]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ({"msg": {"jsonrpc": "2.0"}}, "there is no direction (looked for dir, direction,"),
        ({"dir": "up", "msg": {}}, "the direction 'up' is unknown"),
        ({"dir": "in"}, "there is no message (looked for msg, message,"),
        (["a", "line"], "the line is no JSON object"),
        (7, "the line is no JSON object"),
    ],
)
def test_what_is_not_understood_is_said_and_counted(line: JSON, why: str) -> None:
    good = {"dir": "c2s", "msg": {"jsonrpc": "2.0", "method": "ping", "id": 1}}
    frames, reader = read(as_lines([good, line, line, good]))
    assert len(frames) == 2
    [(said, (count, first))] = reader.facts.unread.items()
    assert said.startswith(why)
    assert (count, first) == (2, 2)


def test_the_end_of_a_transcript_stands_where_judging_ended() -> None:
    lines = list(transcript(a_trace().frames))
    frames, _ = read(as_lines([*lines[:3], {"end": {"settled": True}}, *lines[3:]]))
    assert frames[3] == End(3, True)


GOOD = as_lines(recording(a_trace().frames))
DEEP = b'{"msg": ' + b"[" * 300 + b"]" * 300 + b"}\n"


@pytest.mark.parametrize(
    ("data", "line", "problem"),
    [
        (GOOD + b"{broken\n" + GOOD, len(GOOD.splitlines()) + 1, "not JSON ("),
        (GOOD + b'{"dir": "c2s"} extra\n', len(GOOD.splitlines()) + 1, "not JSON ("),
        (GOOD + b'{"dir": "\xff"}\n', len(GOOD.splitlines()) + 1, "not UTF-8 text"),
        (
            GOOD + b'{"msg": ' + b"[" * 300 + b"]" * 300 + b"}\n",
            len(GOOD.splitlines()) + 1,
            "not JSON (nested too deeply)",
        ),
        (b"[" + GOOD.replace(b"\n", b",")[:-1] + b"]\n", 1, "the file is a JSON array; write one message a line"),
        (gzip.compress(GOOD), 1, "the file is compressed"),
        ("{}\n".encode("utf-16"), 1, "the file is UTF-16 text"),
        (b'{"n": 0, "t": 0, "conn": "A", "dir": "in", "raw": 3}\n', 1, "not a frame of a transcript"),
        (b'{"end": 3}\n', 1, "not a frame of a transcript"),
    ],
    ids=["broken", "trailing", "utf-8", "deep", "array", "gzip", "utf-16", "frame", "end"],
)
def test_a_line_that_cannot_be_read_is_named(data: bytes, line: int, problem: str) -> None:
    with pytest.raises(LogError) as caught:
        read(data)
    assert caught.value.line == line
    assert caught.value.problem.startswith(problem)


def test_a_log_that_was_cut_off_is_read_up_to_there() -> None:
    lines = GOOD.splitlines(keepends=True)
    frames, reader = read(b"".join(lines[:-1]) + lines[-1][:40])
    assert len(frames) == len(lines) - 1
    assert reader.facts.cut == len(lines)


def test_a_last_line_without_its_line_end_is_whole() -> None:
    frames, reader = read(GOOD.rstrip(b"\n"))
    assert len(frames) == len(GOOD.splitlines())
    assert reader.facts.cut is None


def test_an_empty_log_has_no_frames() -> None:
    frames, reader = read(b"")
    assert frames == []
    assert (reader.facts.form, reader.facts.lines) == (None, 0)


@pytest.mark.parametrize("value", [None, True, 1.5, "x", [], {}, {"a": 1}])
@pytest.mark.parametrize("name", ["dir", "msg", "ts", "conn", "_ahpLog", "event", "close", "end", "n"])
def test_no_value_anywhere_breaks_the_reader(name: str, value: JSON) -> None:
    line = {"ts": 1, "dir": "c2s", "conn": "A", "msg": {"jsonrpc": "2.0", "method": "ping", "id": 1}}
    try:
        frames, _ = read(as_lines([{**line, name: value}]))
    except LogError as error:
        assert error.line == 1
    else:
        assert all(isinstance(f, Frame | End) for f in frames)


def test_a_lone_surrogate_is_read_as_a_client_reads_it() -> None:
    data = orjson.dumps({"dir": "s2c", "msg": {"text": "X"}}).replace(b"X", b"\\ud83d") + b"\n"
    [frame], _ = read(data)
    assert isinstance(frame, Frame)
    assert frame.msg == {"text": "\ufffd"}
