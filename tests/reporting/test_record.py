"""The record says what happened, fits its schema, and stays small whatever a host sends."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.reporting.events import OUTCOMES, Outcome, RunStarted, ScenarioFinished
from conformance.reporting.json_report import first_fault
from conformance.reporting.record import FORMAT, RunRecorder
from conformance.wire.frames import Frame

from .samples import (
    CATALOGUE,
    DEMANDED,
    HOST,
    MUST,
    MUST_NOT,
    SECOND,
    finding,
    record,
    recorder,
    result,
    varied,
)

IDS = [rule.id for rule in CATALOGUE]


def test_the_record_of_a_varied_run() -> None:
    made = record(varied(), tier="tool-auth", covered=IDS)
    assert first_fault(made) is None
    assert made["format"] == FORMAT
    assert made["host"]["protocolVersion"] == made["protocol"] == "0.6.0"
    assert made["counts"]["scenarios"] == {
        "passed": 1,
        "failed": 2,
        "not-applicable": 1,
        "inconclusive": 2,
        "error": 1,
    }
    assert made["counts"]["obligations"] == {
        "met": 2,
        "broken": 3,
        "undecided": 3,
        "not-applicable": 1,
        "waived": 0,
    }
    assert made["catalogue"] == {
        "version": "1.0.0",
        "digest": "0123456789abcdef",
        "obligations": 9,
        "covered": 9,
    }
    entry = next(e for e in made["obligations"] if e["id"] == DEMANDED)
    assert entry["level"] == "SHOULD"
    assert entry["demanded"] and entry["required"] and entry["decides"]
    assert entry["scenarios"] == ["sample/rules/blocked"]
    assert entry["findings"][0]["scenario"] == "sample/rules/blocked"
    assert made["summary"].startswith("broken: 1 MUST NOT, 1 SHOULD")


def test_scenarios_are_in_the_order_of_their_ids_whatever_the_workers_did() -> None:
    some = varied()
    assert record(some)["scenarios"] == record(some[::-1])["scenarios"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"problem": "the host vanished"}, "the host vanished"),
        ({"total": 5}, "only 1 of 5 scenarios finished"),
    ],
)
def test_a_run_with_a_problem_is_an_error(options: dict[str, Any], words: str) -> None:
    made = record([result("good", MUST)], **options)
    assert made["verdict"] == "error"
    assert words in made["summary"]
    assert words in made["problem"]


def test_an_interrupted_run_is_an_error() -> None:
    listener = RunRecorder()
    listener.on(RunStarted("2026-01-02T03:04:05Z", HOST, "0.6.0", "core", 1, "ahp-conformance run x"))
    listener.on(ScenarioFinished(result("good", MUST)))
    made = listener.record(CATALOGUE)
    assert made["verdict"] == "error"
    assert first_fault(made) is None


def test_the_suite_does_not_overlook_its_own_faults() -> None:
    same = result("good", MUST)
    assert "two scenarios share the id sample/rules/good" in record([same, same])["summary"]
    assert "names AHP-SAMPLE-777" in record([same, result("odd", "AHP-SAMPLE-777")])["summary"]
    accused = result("accused", MUST, findings=(finding("AHP-SAMPLE-778", rule="x"),))
    assert record([accused])["verdict"] == "error"


def test_a_run_that_never_started_has_no_record() -> None:
    with pytest.raises(ValueError, match="never started"):
        RunRecorder().record(CATALOGUE)


def test_a_flood_of_findings_keeps_the_ones_that_explain_the_outcome() -> None:
    flood = tuple(finding(MUST_NOT, rule="flood", frame=n) for n in range(5000))
    made = record([result("flooded", MUST, outcome="failed", findings=(*flood, finding(MUST)))])
    scenario = made["scenarios"][0]
    assert scenario["findingCount"] == 5001
    assert len(scenario["findings"]) == 50
    assert scenario["findings"][0]["obligations"] == [MUST]
    assert next(e for e in made["obligations"] if e["id"] == MUST_NOT)["findingCount"] == 5000
    assert len(json.dumps(made)) < 50_000


def test_monstrous_frames_become_small_and_plain() -> None:
    deep: Any = "bottom"
    for _ in range(300):
        deep = {"deeper": [deep]}
    frames = (
        Frame(
            1,
            0.1,
            "A",
            "in",
            msg={"big": "x" * 1_000_000, "huge": 10**400, "odd": float("inf"), "lone": "\ud800"},
        ),
        Frame(2, 0.2, "A", "in", msg=deep),
        Frame(3, 0.3, "A", "in", raw="y" * 100_000, kind="text"),
        Frame(4, 0.4, "A", "in", raw="z" * 500, kind="close", code=1002),
        *(Frame(n, 1.0, "A", "in", msg=n) for n in range(5, 50)),
    )
    odd = finding(MUST, seen="\udcff" * 100_000)
    made = record([result("monster", MUST, outcome="failed", findings=(odd,), frames=frames)])
    assert first_fault(made) is None
    assert len(json.dumps(made, allow_nan=False)) < 80_000
    assert len(made["scenarios"][0]["frames"]) == 8


names = st.lists(st.sampled_from(IDS), max_size=3, unique=True).map(tuple)
texts = st.text(max_size=40)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
findings = st.builds(
    lambda ids, rule, message, frame: finding(*ids, rule=rule, message=message, frame=frame),
    names,
    st.sampled_from(["step", "schema"]),
    texts,
    st.none() | st.integers(0, 9),
)
frames = st.one_of(
    st.builds(lambda n, msg: Frame(n, n / 10, "A", "in", msg=msg), st.integers(0, 9), json_values),
    st.builds(lambda n, raw: Frame(n, n / 10, "A", "in", raw=raw, kind="text"), st.integers(0, 9), texts),
)


@st.composite
def results(draw: st.DrawFn) -> list[Any]:
    outcomes: list[Outcome] = draw(st.lists(st.sampled_from(OUTCOMES), max_size=6))
    return [
        result(
            f"s{number}",
            *draw(names),
            outcome=outcome,
            title=draw(texts),
            detail=draw(st.none() | texts),
            findings=tuple(draw(st.lists(findings, max_size=3))),
            watched=draw(names),
            frames=tuple(draw(st.lists(frames, max_size=2))),
        )
        for number, outcome in enumerate(outcomes)
    ]


@given(results(), st.booleans(), st.sampled_from(["core", "turns", "tool-auth", "full"]))
def test_any_run_makes_a_valid_and_honest_record(some: list[Any], strict: bool, tier: str) -> None:
    made = record(some, strict=strict, tier=tier, covered=IDS)
    assert first_fault(made) is None
    broken = {e["id"] for e in made["obligations"] if e["verdict"] == "broken" and e["decides"]}
    if made["verdict"] == "conformant":
        assert any(item.outcome == "passed" for item in some)
        assert not any(item.outcome == "error" for item in some)
        assert not any(e["required"] and e["verdict"] == "undecided" for e in made["obligations"])
    assert (made["verdict"] == "broken") == bool(broken)
    assert made["summary"].startswith(f"{made['verdict']}: ")


def test_the_recorder_shows_its_results() -> None:
    some = [result("b", MUST), result("a", SECOND)]
    assert list(recorder(some).results) == some
