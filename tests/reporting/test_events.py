"""Events cross process borders and cost nothing to import."""

import json
import subprocess
import sys

import pytest

from conformance.oracle.findings import Finding
from conformance.reporting.events import (
    Event,
    EventStream,
    HostInfo,
    RunFinished,
    RunStarted,
    ScenarioFinished,
    ScenarioResult,
    ScenarioStarted,
    event_from_json,
)
from conformance.wire.frames import Frame

FRAMES = (
    Frame(3, 0.25, "A", "in", msg={"jsonrpc": "2.0"}),
    Frame(4, 0.26, "A", "in", msg=None),
    Frame(5, 0.27, "B", "in", raw="hello", kind="text"),
    Frame(6, 0.28, "B", "out", raw="base64:/w==", kind="binary"),
    Frame(7, 0.29, "observer", "in", raw="bye", kind="close", code=1001),
)
FULL = ScenarioResult(
    "f/s",
    "A title",
    "a/feature",
    ("AHP-SAMPLE-001",),
    "failed",
    "reason",
    "Detail.",
    0.5,
    (Finding("step", ("AHP-SAMPLE-001",), "m", "e", "s", 3), Finding("schema", (), "m", "e", "s")),
    ("AHP-SAMPLE-002",),
    "transcripts/x.jsonl",
    "Then it holds",
    FRAMES,
)
HOST = HostInfo("endpoint", "ws://h", None, "1", "0.6.0", ("wire",))


@pytest.mark.parametrize(
    "event",
    [
        RunStarted("2026-01-02T03:04:05+00:00", HOST, "0.6.0", "core", 3, "ahp-conformance run ws://h"),
        ScenarioStarted("f/s", "A title"),
        ScenarioFinished(FULL),
        ScenarioFinished(ScenarioResult("f/s", "t", "f", (), "passed")),
        RunFinished(2.5, None),
        RunFinished(2.5, "the host vanished"),
    ],
    ids=lambda event: type(event).__name__,
)
def test_an_event_survives_the_way_through_json(event: Event) -> None:
    assert event_from_json(json.loads(json.dumps(event.to_json()))) == event


def test_an_unknown_event_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match=r"'run-paused'.*run-started"):
        event_from_json({"event": "run-paused"})


def test_every_reporter_gets_every_event_in_order() -> None:
    seen: list[tuple[str, Event]] = []

    class Listener:
        def __init__(self, name: str) -> None:
            self.name = name

        def on(self, event: Event) -> None:
            seen.append((self.name, event))

    first, second = ScenarioStarted("a", "A"), RunFinished(1.0)
    stream = EventStream([Listener("x"), Listener("y")])
    stream.emit(first)
    stream.emit(second)
    assert seen == [("x", first), ("y", first), ("x", second), ("y", second)]


def test_own_findings_are_those_on_carried_obligations() -> None:
    assert [finding.rule for finding in FULL.own_findings()] == ["step"]


def test_taking_an_event_loads_no_renderer_and_no_oracle() -> None:
    heavy = "('rich', 'jsonschema', 'yaml', 'websockets', 'conformance.oracle', 'conformance.wire')"
    code = f"import sys, conformance.reporting.events; print([m for m in {heavy} if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"
