"""What results say about obligations, and what obligations say about the run."""

from typing import Any

import pytest

from conformance.reporting.events import ScenarioResult
from conformance.reporting.verdict import EXIT_CODES

from .samples import (
    CATALOGUE,
    DEMANDED,
    DERIVED,
    LATER,
    MAY,
    MCP,
    MERGED,
    MUST,
    MUST_NOT,
    SECOND,
    SHOULD,
    finding,
    record,
    result,
)


def verdict_of(name: str, made: dict[str, Any]) -> str:
    return str(next(entry["verdict"] for entry in made["obligations"] if entry["id"] == name))


PASSED = result("passed", MUST)
FAILED = result("failed", MUST, outcome="failed")
ELSEWHERE = result("elsewhere", MUST, SECOND, outcome="failed", findings=(finding(SECOND),))
ABSENT = result("absent", MUST, outcome="not-applicable", reason="not-claimed")
UNREACHED = result("unreached", MUST, outcome="inconclusive", reason="timeout")
CRASHED = result("crashed", MUST, outcome="error", reason="suite")
WATCHED = result("watched", SECOND, watched=(MUST,))
ACCUSED = result("accused", SECOND, findings=(finding(MUST, rule="schema"),))


@pytest.mark.parametrize(
    ("results", "verdict"),
    [
        ([PASSED], "met"),
        ([PASSED, UNREACHED], "met"),
        ([PASSED, ABSENT], "met"),
        ([PASSED, CRASHED], "met"),
        ([WATCHED], "met"),
        ([WATCHED, UNREACHED], "met"),
        ([FAILED], "broken"),
        ([PASSED, FAILED], "broken"),
        ([PASSED, ACCUSED], "broken"),
        ([WATCHED, ACCUSED], "broken"),
        ([ABSENT, ACCUSED], "broken"),
        # It failed, but on the other obligation: that proves nothing for this one.
        ([ELSEWHERE], "undecided"),
        ([PASSED, ELSEWHERE], "undecided"),
        ([WATCHED, ELSEWHERE], "met"),
        ([ABSENT], "not-applicable"),
        ([ABSENT, UNREACHED], "undecided"),
        ([UNREACHED], "undecided"),
        ([CRASHED], "undecided"),
        ([], "undecided"),
    ],
    ids=lambda value: "+".join(item.id.split("/")[-1] for item in value) if isinstance(value, list) else value,
)
def test_the_verdict_of_an_obligation(results: list[ScenarioResult], verdict: str) -> None:
    assert verdict_of(MUST, record(results, covered=[MUST])) == verdict


def test_a_failure_without_a_finding_breaks_all_that_the_scenario_carries() -> None:
    made = record([result("bare", MUST, SECOND, outcome="failed", findings=(), detail="It broke.")])
    assert verdict_of(MUST, made) == verdict_of(SECOND, made) == "broken"
    assert made["scenarios"][0]["findings"][0]["message"] == "It broke."


def test_a_given_that_was_not_reached_breaks_nothing() -> None:
    unreached = result("given", MUST, outcome="inconclusive", reason="timeout", findings=(finding(MUST),))
    assert verdict_of(MUST, record([unreached])) == "undecided"


def test_a_crash_of_the_suite_is_no_evidence() -> None:
    crashed = result(
        "crash",
        MUST,
        outcome="error",
        findings=(finding(MUST), finding(SECOND, rule="x")),
        watched=(MUST_NOT,),
    )
    made = record([crashed], covered=[MUST, MUST_NOT, SECOND])
    assert {entry["verdict"] for entry in made["obligations"]} == {"undecided"}
    assert made["verdict"] == "error"


def test_a_rule_outside_its_window_is_not_applicable_whatever_happened() -> None:
    assert verdict_of(LATER, record([result("new", LATER, outcome="failed")])) == "not-applicable"
    assert verdict_of(LATER, record([result("new", LATER, outcome="failed")], protocol="0.9.0")) == "broken"


def test_a_merged_id_counts_as_its_successor() -> None:
    made = record([result("old-name", MERGED, outcome="failed")])
    assert verdict_of(MUST, made) == "broken"


@pytest.mark.parametrize(
    ("name", "options", "verdict"),
    [
        (MUST, {}, "broken"),
        (MUST_NOT, {}, "broken"),
        (SHOULD, {}, "conformant"),
        (SHOULD, {"strict": True}, "broken"),
        (MAY, {"strict": True}, "conformant"),
        (DERIVED, {"strict": True}, "conformant"),
        (DEMANDED, {"tier": "tool-auth"}, "broken"),
        (DEMANDED, {"tier": "core"}, "conformant"),
        (MUST, {"waivers": {MUST: "known, #12"}}, "conformant"),
    ],
)
def test_what_a_broken_obligation_does_to_the_run(name: str, options: dict[str, Any], verdict: str) -> None:
    made = record([result("good", SECOND), result("bad", name, outcome="failed")], **options)
    assert made["verdict"] == verdict


def test_a_waiver_shows_its_reason_and_a_stale_one_is_named() -> None:
    waivers = {MUST: "known, #12", SECOND: "long mended", "AHP-SAMPLE-777": "gone"}
    made = record([result("bad", MUST, outcome="failed"), result("good", SECOND)], waivers=waivers)
    assert next(e for e in made["obligations"] if e["id"] == MUST)["waiver"] == {"reason": "known, #12"}
    assert made["staleWaivers"] == [SECOND, "AHP-SAMPLE-777"]


def test_a_required_obligation_that_stays_undecided_makes_the_run_incomplete() -> None:
    made = record([result("good", MUST)], covered=[MUST, SECOND])
    assert (made["verdict"], EXIT_CODES["incomplete"]) == ("incomplete", 3)
    assert "1 of 2 required obligations undecided; not exercised (1)" in made["summary"]


def test_the_missing_provocation_is_named() -> None:
    waiting = result("mcp", MCP, outcome="inconclusive", reason="backend-missing")
    made = record([result("good", MUST), waiting], tier="tool-auth")
    assert "the host offers no provocation mcp-auth (1)" in made["summary"]


def test_what_no_tier_requires_may_stay_undecided() -> None:
    made = record([result("good", MUST)], covered=[MUST, SHOULD, MAY, DERIVED, LATER, MCP])
    assert made["verdict"] == "conformant"


def test_not_applicable_does_not_block_a_verdict_but_alone_it_is_none() -> None:
    absent = result("absent", SECOND, outcome="not-applicable", reason="not-claimed")
    assert record([result("good", MUST), absent])["verdict"] == "conformant"
    assert record([absent])["verdict"] == "incomplete"


@pytest.mark.parametrize(
    "results",
    [
        [],
        [result("a", MUST, outcome="inconclusive", reason="host-closed")],
        [result("a", MUST, outcome="not-applicable", reason="not-claimed")],
        # The oracle watched everything, but no scenario passed.
        [result("a", MUST, outcome="inconclusive", reason="timeout", watched=tuple(o.id for o in CATALOGUE))],
        # Something passed, but nothing that is required.
        [result("a", MAY)],
    ],
    ids=["nothing", "closed", "absent", "only-watched", "only-may"],
)
@pytest.mark.parametrize("strict", [False, True])
def test_a_run_that_proves_nothing_is_never_conformant(results: list[ScenarioResult], strict: bool) -> None:
    assert record(results, strict=strict)["verdict"] == "incomplete"


def test_errors_rank_below_breaches_and_above_gaps() -> None:
    crash, gap = result("crash", MUST, outcome="error"), result("gap", SECOND, outcome="inconclusive")
    assert record([crash, gap, result("good", MUST)])["verdict"] == "error"
    made = record([crash, gap, result("bad", MUST, outcome="failed")])
    assert made["verdict"] == "broken"
    assert "1 scenario ended in an error of the suite" in made["summary"]


def test_a_restricted_run_requires_only_what_it_selected() -> None:
    made = record([result("good", MUST, watched=(SECOND,))], covered=[MUST, MCP, SECOND], selection=["good"])
    assert made["verdict"] == "conformant"
    assert made["selection"] == ["good"]
    assert [(e["id"], e["required"]) for e in made["obligations"]] == [(MUST, True), (SECOND, False)]
    assert record([result("may", MAY)], selection=["may"])["verdict"] == "conformant"
    assert record([UNREACHED], selection=["x"])["verdict"] == "incomplete"
    assert record([], selection=["x"], covered=[MUST])["verdict"] == "incomplete"


def test_what_nobody_provokes_is_undecided_and_required_only_where_it_arose() -> None:
    """A rule of the oracle waits for an occasion; that none arose says nothing of the host."""
    silent = record([result("other", SECOND)], covered=(MUST, SECOND), occasional=(MUST,))
    assert verdict_of(MUST, silent) == "undecided"
    assert [entry["required"] for entry in silent["obligations"] if entry["id"] == MUST] == [False]
    assert silent["verdict"] == "conformant"
    arose = record([result("other", SECOND, watched=(MUST,))], covered=(MUST, SECOND), occasional=(MUST,))
    assert verdict_of(MUST, arose) == "met"
    assert [entry["required"] for entry in arose["obligations"] if entry["id"] == MUST] == [True]
