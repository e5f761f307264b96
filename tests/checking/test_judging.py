"""Judging logs: the same findings as live, from whatever part of the traffic there is, in constant memory."""

from __future__ import annotations

import json
import subprocess
import sys
import tracemalloc
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Any

import orjson
import pytest

from conformance.catalogue import load
from conformance.checking.judging import LogResult, judge_log
from conformance.checking.record import check_record
from conformance.oracle import Oracle, memory
from conformance.wire.frames import Frame
from tests.benchmarks.traffic import ordinary
from tests.checking.logs import FORMS, as_lines, judged, recording, sidecar, transcript
from tests.oracle.traces import SESSION, Trace, calm_session
from tests.protocol.examples import session

JSON = Any


def a_bad_trace() -> Trace:
    """A host that numbers twice with the same number, in the middle of good traffic."""
    t = Trace("0.9.0")
    t.handshake()
    t.subscribe(SESSION, session())
    t.envelope(SESSION, {"type": "session/titleChanged", "title": "one"})
    t.seq -= 1
    t.envelope(SESSION, {"type": "session/titleChanged", "title": "two"})
    return t


def essence(findings: Iterable[Any]) -> list[tuple[str, tuple[str, ...], str, str, str]]:
    return sorted((f.rule, tuple(f.obligations), f.message, f.expected, f.seen) for f in findings)


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_the_findings_are_those_of_the_live_oracle_in_every_form(form: Any) -> None:
    t = a_bad_trace()
    oracle = Oracle()
    for frame in t.frames:
        oracle.feed(frame)
    oracle.end(settled=False)
    assert oracle.findings
    assert essence(judged(as_lines(form(t.frames))).findings) == essence(oracle.findings)


def test_a_log_that_begins_in_the_middle_is_judged_by_what_is_sure() -> None:
    lines = as_lines(recording(a_bad_trace().frames[2:]))
    result = judged(lines)
    assert [c.handshake for c in result.connections] == ["missing"]
    assert result.versions == frozenset()
    record = check_record([result], load())
    assert record["logs"][0]["connections"][0]["protocol"] is None


def test_a_version_can_be_named_for_a_log_without_handshake() -> None:
    lines = as_lines(recording(a_bad_trace().frames[2:]))
    without, by = judged(lines), judged(lines, version="0.9.0")
    assert by.versions == {"0.9.0"}
    assert set(without.watched) < set(by.watched)


def test_a_named_version_does_not_stand_above_a_handshake() -> None:
    t = Trace("0.6.0")
    t.handshake()
    assert judged(as_lines(recording(t.frames)), version="0.9.0").versions == {"0.6.0"}


def test_what_shows_only_at_the_end_is_judged_in_a_settled_recording_alone() -> None:
    """A client has not been told of a title that another one has: whoever cut the log may have cut the news off."""
    t = Trace("0.9.0")
    t.follow("AB", chat=None)
    title = {"type": "session/titleChanged", "title": "New"}
    t.envelope(SESSION, title, "B")
    t.subscribe(SESSION, calm_session(title="New"), "B")
    lines = list(transcript(t.frames))
    settled = judged(as_lines([*lines, {"end": {"settled": True}}]))
    unsettled = judged(as_lines([*lines, {"end": {"settled": False}}]))
    open_end = judged(as_lines(lines))
    assert [r.ending for r in (settled, unsettled, open_end)] == ["settled", "unsettled", "open"]
    assert "convergence" in {f.rule for f in settled.findings}
    assert unsettled.findings == open_end.findings == ()


def test_what_comes_after_the_end_is_not_judged() -> None:
    lines = list(transcript(a_bad_trace().frames))
    assert judged(as_lines(lines)).findings
    assert not judged(as_lines([{"end": {"settled": True}}, *lines])).findings


def test_tokens_of_a_log_are_in_no_report() -> None:
    token = "very-secret-token-of-somebody"
    t = Trace("0.9.0")
    t.handshake()
    t.call("authenticate", {}, channel="ahp-root://", resource="https://r.example", token=token)
    t.subscribe(SESSION, session(title=f"leaked {token}"))
    result = judged(as_lines(sidecar(t.frames)))
    assert any("AHP-AUTH-013" in f.obligations for f in result.findings)
    assert result.evidence
    assert token not in orjson.dumps(check_record([result], load())).decode()


def test_what_a_log_of_messages_lacks_is_held_against_nobody() -> None:
    """A host answers what it cannot read, and a log of messages does not show what that was."""
    t = Trace("0.9.0")
    t.handshake()
    t.error(None, -32700)
    assert judged(as_lines(sidecar(t.frames))).findings == ()
    assert [f.obligations for f in judged(as_lines(transcript(t.frames))).findings] == [("AHP-RPC-022",)]


def test_a_broken_line_ends_the_judging_and_what_came_before_counts() -> None:
    good = as_lines(recording(a_bad_trace().frames))
    result = judged(good + b"{broken\n" + good)
    assert result.problem is not None
    assert result.problem.line == len(good.splitlines()) + 1
    assert result.findings
    assert check_record([result], load())["verdict"] == "broken"


# -- against live runs --------------------------------------------------------------------------------------


# What one host does wrong at the same time, so that many rules have something to say.
FAULTS = (
    "origin-null",
    "removal-has-an-origin",
    "token-in-description",
    "times-are-numbers",
    "everybody-hears-everything",
    "contributor-names-no-entry",
    "catalogue-goes-stale",
)


def _live(tmp_path: Path, *words: str) -> list[dict[str, JSON]]:
    command = [sys.executable, "-m", "conformance", "run", "--quiet", "--patience", "1", "--out", str(tmp_path), *words]
    subprocess.run(command, check=False, capture_output=True, timeout=300)
    record: dict[str, JSON] = json.loads((tmp_path / "run.json").read_text("utf-8"))
    return [scenario for scenario in record["scenarios"] if "transcript" in scenario]


def _key(finding: dict[str, JSON]) -> str:
    return json.dumps(finding, sort_keys=True)


def _of_scenario(tmp_path: Path, scenario: dict[str, JSON]) -> LogResult:
    path = tmp_path / scenario["transcript"]
    return judge_log(scenario["id"], partial(_open, path))


def _open(path: Path) -> list[bytes]:
    return path.read_bytes().splitlines(keepends=True)


@pytest.mark.parametrize("version", ["0.6.0", "0.9.0"])
def test_transcripts_of_a_run_show_what_the_run_found(tmp_path: Path, version: str) -> None:
    """A host with several faults at once, played in full; rule by rule, frame by frame the same findings."""
    faults = [word for fault in FAULTS for word in ("--fault", fault)]
    scenarios = _live(tmp_path, "--protocol", version, *faults)
    compared = 0
    for scenario in scenarios:
        result = _of_scenario(tmp_path, scenario)
        live = [f for f in scenario["findings"] if f["rule"] != "step"]
        if scenario["findingCount"] > len(scenario["findings"]):
            continue  # the record keeps the first ones only
        # The record shows a scenario's own findings first.
        assert sorted(map(_key, live)) == sorted(_key(f.to_json()) for f in result.findings), scenario["id"]
        assert sorted(result.watched) == scenario["watched"], scenario["id"]
        compared += len(live)
    assert len(scenarios) > 300
    assert compared > 100
    assert len({f["rule"] for s in scenarios for f in s["findings"]}) > 4


# -- long logs ----------------------------------------------------------------------------------------------


def _peak(turns: int) -> tuple[int, int]:
    """Bytes at the worst moment while a log of so many turns is judged, and the number of its frames."""
    lines = (orjson.dumps(line) + b"\n" for line in _frames(turns))
    tracemalloc.start()
    try:
        result = judge_log("long", lambda: lines)
        return tracemalloc.get_traced_memory()[1], result.facts.frames
    finally:
        tracemalloc.stop()


def _frames(turns: int) -> Iterable[JSON]:
    return transcript(ordinary(turns, keep=10, sessions_every=20))


def test_memory_does_not_grow_with_the_log(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sessions come and go, chats are truncated: a log four times as long takes no more memory, but for a margin.

    What a rule remembers of ids is bounded; with lower bounds all of it is full in the shorter log already.
    """

    def narrow(self: memory.Bounded[JSON, JSON], limit: int | None = None) -> None:
        dict.__init__(self)
        self.limit = 32

    monkeypatch.setattr(memory.Bounded, "__init__", narrow)
    judge_log("warm-up", lambda: [orjson.dumps(line) + b"\n" for line in _frames(2)])
    short, few = _peak(150)
    long, many = _peak(600)
    assert many > 3.9 * few
    assert long < 1.5 * short


def test_ordinary_traffic_is_in_order() -> None:
    """What benchmarks and the memory test are made of gives no finding."""
    oracle = Oracle()
    for frame in ordinary(60, keep=10, sessions_every=20):
        oracle.feed(frame)
    oracle.end()
    assert oracle.findings == []
    assert len(oracle.watched) > 40


def test_a_frame_is_as_it_was_in_every_form() -> None:
    frame = Frame(0, 0.0, "A", "in", {"jsonrpc": "2.0", "id": 1, "result": {"é": [1.5, None]}})
    for form in FORMS.values():
        [line] = form([frame])
        assert judged(as_lines([line])).facts.frames == 1
