"""Decoding, recording, and the transcript file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance.wire.errors import TranscriptError
from conformance.wire.frames import Closed, Frame, NotUtf8, decode, encode
from conformance.wire.recorder import Recorder
from conformance.wire.transcript import read_transcript, write_transcript

# Decoding


@pytest.mark.parametrize(
    "text", ["", " ", "{", "1 2", "NaN", "Infinity", "'a'", "{'a':1}", "[1,]", "\ufeff1", '"\\ud800']
)
def test_not_one_json_value(text: str) -> None:
    with pytest.raises(ValueError):
        decode(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (r'"\ud83d"', "\ufffd"),
        (r'"a\uDE00b"', "a\ufffdb"),
        (r'"\ud83d\ude00"', "😀"),
        (r'["\ud83d\ude00", {"\ud83d": 1}]', ["😀", {"\ufffd": 1}]),
    ],
)
def test_lone_surrogates_are_replaced(text: str, value: Any) -> None:
    assert decode(text) == value


def test_lone_surrogate_does_not_let_nan_in() -> None:
    with pytest.raises(ValueError, match="NaN"):
        decode(r'["\ud83d", NaN]')


def test_nesting() -> None:
    assert decode("[" * 254 + "]" * 254)
    assert decode("[" + ",".join(["{}"] * 1000) + "]") == [{}] * 1000
    for depth in (255, 1024, 100_000):
        with pytest.raises(ValueError):
            decode("[" * depth + "]" * depth)
    with pytest.raises(ValueError):
        decode("[" * 100_000 + r'"\ud800"' + "]" * 100_000)


def test_encoding_what_orjson_refuses() -> None:
    assert encode({"a": 2**70}) == '{"a":1180591620717411303424}'
    assert encode("\ud800") == '"\\ud800"'


# Recording


def test_recorder() -> None:
    recorder = Recorder()
    heard: list[Frame] = []
    recorder.record("A", "out", '{"id":1}')
    recorder.listen(heard.append)
    frames = recorder.frames
    recorder.record("B", "in", "null")
    recorder.record("B", "in", "what?")
    recorder.record("B", "in", b"\xff")
    recorder.record("B", "in", NotUtf8(b"\xfe"))
    recorder.record("B", "in", Closed(1001, "bye"))
    assert [(f.n, f.conn, f.dir, f.kind, f.msg, f.raw, f.code) for f in frames] == [
        (0, "A", "out", "json", {"id": 1}, None, None),
        (1, "B", "in", "json", None, None, None),
        (2, "B", "in", "text", None, "what?", None),
        (3, "B", "in", "binary", None, "base64:/w==", None),
        (4, "B", "in", "not-utf8", None, "base64:/g==", None),
        (5, "B", "in", "close", None, "bye", 1001),
    ]
    assert heard == list(frames[1:])
    assert [f.t for f in frames] == sorted(f.t for f in frames)
    assert [f.has_json for f in frames] == [True, True, False, False, False, False]
    assert [f.data for f in frames] == [None, None, None, b"\xff", b"\xfe", None]


# Transcripts

_frames = st.builds(
    Frame,
    n=st.integers(0, 1000),
    t=st.integers(0, 10**9).map(lambda micros: micros / 10**6),
    conn=st.text(st.characters(codec="utf-8")),
    dir=st.sampled_from(["in", "out"]),
    msg=st.recursive(
        st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.text(st.characters(codec="utf-8")),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(codec="utf-8")), inner),
        max_leaves=8,
    ),
)
_others = st.builds(
    Frame,
    n=st.integers(0, 1000),
    t=st.just(0.5),
    conn=st.just("A"),
    dir=st.sampled_from(["in", "out"]),
    raw=st.text(st.characters(codec="utf-8")),
    kind=st.just("text"),
)


@settings(max_examples=50)
@given(frames=st.lists(_frames | _others, max_size=5))
def test_round_trip(tmp_path_factory: pytest.TempPathFactory, frames: list[Frame]) -> None:
    path = tmp_path_factory.getbasetemp() / "round-trip.jsonl"
    write_transcript(path, frames)
    assert read_transcript(path) == frames


def test_round_trip_of_a_recording(tmp_path: Path) -> None:
    recorder = Recorder()
    for what in ('{"a":[null]}', "null", "what?\u2028", b"\xff", NotUtf8(b"\xfe"), Closed(1001, "bye")):
        recorder.record("A", "in", what)
    recorder.write(tmp_path / "t.jsonl")
    read = read_transcript(tmp_path / "t.jsonl")
    assert [(f.n, f.kind, f.msg, f.raw, f.code) for f in read] == [
        (f.n, f.kind, f.msg, f.raw, f.code) for f in recorder.frames
    ]
    lines = [json.loads(line) for line in (tmp_path / "t.jsonl").read_text("utf-8").split("\n") if line]
    assert lines[0].keys() == {"n", "t", "conn", "dir", "msg"}
    assert lines[-1]["close"] == {"code": 1001, "reason": "bye"}


def test_secrets_never_reach_the_file(tmp_path: Path) -> None:
    plain, awkward = "tok-123", 'n"\\é+\n'
    recorder = Recorder()
    recorder.record("A", "out", encode({"token": plain, plain: [f"Bearer {awkward}!"], "x": "\n" + plain}))
    recorder.record("A", "in", f'{{"cut": {encode(awkward)[:-1]}')
    recorder.record("A", "in", f"https://x?t={plain}&u=n%22%5C%C3%A9%2B%0A")
    recorder.record("A", "in", f"..{plain}..".encode())
    recorder.record("A", "in", NotUtf8(b"\xff" + plain.encode()))
    recorder.record("A", "in", Closed(1008, f"bad {plain}"))
    recorder.record("A", "in", '"tok-1234567"')
    recorder.conceal("alice", plain)
    recorder.conceal("bob", awkward)
    recorder.conceal("longer", "tok-1234567")
    recorder.conceal("nothing", "")
    path = tmp_path / "t.jsonl"
    recorder.write(path)
    read = read_transcript(path)
    assert read[0].msg == {
        "token": "«token:alice»",
        "«token:alice»": ["Bearer «token:bob»!"],
        "x": "\n«token:alice»",
    }
    assert read[1].raw == '{"cut": "«token:bob»'
    assert read[2].raw == "https://x?t=«token:alice»&u=«token:bob»"
    assert read[3].data == "..«token:alice»..".encode()
    assert read[4].data == b"\xff" + "«token:alice»".encode()
    assert read[5].raw == "bad «token:alice»"
    assert read[6].msg == "«token:longer»"
    assert plain not in path.read_text("utf-8")
    assert recorder.masked({"a": [f"<{plain}>", 1]}) == {"a": ["<«token:alice»>", 1]}
    assert recorder.masked(awkward) == "«token:bob»"
    assert recorder.frames[0].msg["token"] == plain
    assert recorder.secrets == {plain: "alice", awkward: "bob", "tok-1234567": "longer"}


def test_write_leaves_all_or_nothing(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text("before")
    broken = Frame(0, 0.0, "A", "in", msg=object())
    with pytest.raises(TypeError):
        write_transcript(path, [Frame(0, 0.0, "A", "in"), broken])
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(OSError):
        write_transcript(tmp_path / "none" / "t.jsonl", [])


def test_transcript_from_elsewhere(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text('{"conn":"A","dir":"in","msg":1}\n\n{"conn":"A","dir":"in","raw":"x"}\n')
    assert read_transcript(path) == [
        Frame(0, 0.0, "A", "in", msg=1),
        Frame(1, 0.0, "A", "in", raw="x", kind="text"),
    ]


@pytest.mark.parametrize(
    "line",
    [
        "not json",
        "[]",
        '{"conn":"A","dir":"in"}',
        '{"conn":"A","dir":"up","msg":1}',
        '{"dir":"in","msg":1}',
        '{"conn":"A","dir":"in","msg":1,"n":"1"}',
        '{"conn":"A","dir":"in","msg":1,"t":true}',
        '{"conn":"A","dir":"in","close":1001}',
        '{"conn":"A","dir":"in","close":{"code":"1"}}',
        '{"conn":"A","dir":"in","raw":5}',
        '{"conn":"A","dir":"in","raw":"x","kind":"json"}',
        '{"conn":"A","dir":"in","raw":"x","kind":[]}',
        '{"conn":"A","dir":"in","raw":"base64:x","kind":"binary"}',
    ],
)
def test_not_a_transcript(tmp_path: Path, line: str) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text(f'{{"conn":"A","dir":"in","msg":1}}\n{line}\n')
    with pytest.raises(TranscriptError, match=r"t\.jsonl line 2"):
        read_transcript(path)


def test_not_even_text(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(TranscriptError, match="not UTF-8"):
        read_transcript(path)
