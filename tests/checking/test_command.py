"""``ahp-conformance check`` as a user types it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.checking.logs import as_lines, of_a_host, recording, sidecar, transcript
from tests.oracle.traces import SESSION, Trace
from tests.protocol.examples import session


def check(*words: str | Path, stdin: bytes = b"") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "conformance", "check", *map(str, words)]
    done = subprocess.run(command, check=False, capture_output=True, input=stdin, timeout=120)
    return subprocess.CompletedProcess(command, done.returncode, done.stdout.decode(), done.stderr.decode())


def good() -> Trace:
    t = Trace("0.9.0")
    t.handshake()
    t.subscribe(SESSION, session())
    t.envelope(SESSION, {"type": "session/titleChanged", "title": "one"})
    return t


def bad() -> Trace:
    t = good()
    t.seq -= 1
    t.envelope(SESSION, {"type": "session/titleChanged", "title": "two"})
    return t


@pytest.fixture
def good_log(tmp_path: Path) -> Path:
    path = tmp_path / "good.jsonl"
    path.write_bytes(as_lines(sidecar(good().frames)))
    return path


@pytest.fixture
def bad_log(tmp_path: Path) -> Path:
    path = tmp_path / "bad.jsonl"
    path.write_bytes(as_lines(recording(bad().frames)))
    return path


def test_nothing_broken_ends_with_zero_and_says_what_was_not_judged(good_log: Path) -> None:
    done = check(good_log)
    assert done.returncode == 0, done.stderr
    assert "protocol 0.9.0" in done.stdout
    assert "for which no occasion arose" in done.stdout
    assert done.stdout.splitlines()[-1].startswith("nothing broken: ")


def test_a_breach_ends_with_one_and_shows_the_rule_and_the_line(bad_log: Path) -> None:
    done = check(bad_log)
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    number = len(bad_log.read_bytes().splitlines())
    assert any(line.split()[:3] == ["frame", "line", str(number)] for line in lines)
    assert "ahp-conformance explain AHP-SEQ-" in done.stdout
    assert lines[-1].startswith("broken: ")


def test_several_logs_and_folders_are_judged_together(good_log: Path, bad_log: Path) -> None:
    record = json.loads(check(good_log.parent, "--json").stdout)
    assert [Path(log["log"]).name for log in record["logs"]] == ["bad.jsonl", "good.jsonl"]
    assert record["verdict"] == "broken"
    assert [bool(log["findings"]) for log in record["logs"]] == [True, False]


def test_parts_of_one_recording_are_joined(tmp_path: Path) -> None:
    lines = as_lines(recording(bad().frames)).splitlines(keepends=True)
    first, second = tmp_path / "1.jsonl", tmp_path / "2.jsonl"
    first.write_bytes(b"".join(lines[:-1]))
    second.write_bytes(lines[-1])
    assert check(first, second, "--quiet").returncode == 0
    assert check(first, second, "--joined", "--quiet").returncode == 1


def test_a_log_can_come_from_standard_input(bad_log: Path) -> None:
    done = check("-", "--json", stdin=bad_log.read_bytes())
    record = json.loads(done.stdout)
    assert done.returncode == 1
    assert record["logs"][0]["log"] == "standard input"
    assert record["logs"][0]["evidence"]


def test_a_log_from_the_middle_says_that_its_version_is_unknown(tmp_path: Path) -> None:
    path = tmp_path / "middle.jsonl"
    path.write_bytes(as_lines(of_a_host(good().frames[4:])))
    done = check(path)
    assert "no handshake in the log" in done.stdout
    named = check(path, "--protocol", "0.9.0")
    assert "no handshake in the log" not in named.stdout
    assert "protocol 0.9.0" in named.stdout


@pytest.mark.parametrize(
    ("content", "code", "said"),
    [
        (b"", 3, "nothing judged: no obligation was put to the test by 0 frames of 1 log"),
        (b"hello\nworld\n", 4, "line 1: not JSON"),
        (b'{"a": 1}\n{"a": 2}\n', 3, "not understood: 2 lines from line 1 on, as there is no message"),
        (b"[{}]\n", 4, "the file is a JSON array"),
    ],
    ids=["empty", "text", "foreign", "array"],
)
def test_what_cannot_be_judged_is_never_a_pass(tmp_path: Path, content: bytes, code: int, said: str) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(content)
    done = check(path)
    assert done.returncode == code
    assert said in done.stdout


def test_a_host_that_only_refuses_is_never_a_pass(tmp_path: Path) -> None:
    """It keeps the form of messages, and proves nothing else."""
    t = Trace("0.9.0")
    identity = t.ask("initialize", channel="ahp-root://", protocolVersions=["0.9.0"], clientId="A")
    t.error(identity)
    t.error(t.ask("subscribe", channel=SESSION))
    path = tmp_path / "refusing.jsonl"
    path.write_bytes(as_lines(recording(t.frames)))
    done = check(path)
    assert done.returncode == 3
    assert "nothing judged: the host grants no handshake and tells nothing" in done.stdout


def test_a_corrupt_line_is_named_and_what_came_before_is_judged(tmp_path: Path) -> None:
    path = tmp_path / "corrupt.jsonl"
    lines = as_lines(transcript(good().frames)).splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:-1], b"{corrupt\n", lines[-1]]))
    done = check(path)
    assert done.returncode == 4
    assert f"line {len(lines)}: not JSON" in done.stdout
    assert "nothing after it was judged" in done.stdout


def test_a_log_that_is_still_being_written_is_judged(tmp_path: Path) -> None:
    path = tmp_path / "cut.jsonl"
    path.write_bytes(as_lines(transcript(good().frames))[:-20])
    done = check(path)
    assert done.returncode == 0
    assert "is cut off, and was left out" in done.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nowhere.jsonl"], "nowhere.jsonl: there is no such file"),
        (["{empty}"], "there is no log (*.jsonl) in this folder"),
        (["-", "-"], "standard input can be read once"),
        (["{good}", "--protocol", "0.5.0"], "--protocol 0.5.0 is not a version that can be judged"),
        (["{good}", "--protocol", "nine"], "--protocol nine is not a version that can be judged"),
    ],
)
def test_wrong_usage_is_one_clear_line(tmp_path: Path, good_log: Path, words: list[str], said: str) -> None:
    (tmp_path / "empty").mkdir()
    done = check(*(word.format(good=good_log, empty=tmp_path / "empty") for word in words))
    assert done.returncode == 2
    assert said in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert done.stdout == ""


def test_what_a_host_sent_arrives_as_text(tmp_path: Path) -> None:
    """Escapes of a terminal in a title must not reach the terminal."""
    t = good()
    t.seq -= 1
    t.envelope(SESSION, {"type": "session/titleChanged", "title": "\x1b[2J\x1b]0;owned\x07"})
    path = tmp_path / "hostile.jsonl"
    path.write_bytes(as_lines(recording(t.frames)))
    done = check(path)
    assert done.returncode == 1
    assert "\x1b" not in done.stdout
    assert "owned" in done.stdout
