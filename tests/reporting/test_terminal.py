"""The report that a person reads: everything is there, in order, in 80 columns, and harmless."""

import io
import re
from typing import Any

import pytest
from rich.console import Console

from conformance.reporting.advice import ADVICE, advice
from conformance.reporting.events import RunFinished, RunStarted, ScenarioFinished, ScenarioStarted
from conformance.reporting.live import LiveReporter, console_for
from conformance.reporting.terminal import TerminalReporter, print_report

from .samples import CATALOGUE, HOST, MUST, MUST_NOT, SHOULD, finding, record, result, varied

IDS = [rule.id for rule in CATALOGUE]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def shown(made: dict[str, Any], *, width: int = 80, **options: Any) -> str:
    out = io.StringIO()
    console = Console(file=out, width=width, markup=False, highlight=False, emoji=False, force_terminal=False)
    print_report(made, console, **options)
    return out.getvalue()


def test_the_parts_come_in_the_order_of_their_weight() -> None:
    text = shown(record(varied(), tier="tool-auth", covered=IDS), place="reports/local")
    parts = [
        "Failures (1)",
        "1  The session lists the blocked call",
        "AHP-TOOLAUTH-022  SHOULD (demanded by the tier tool-auth)",
        "The host pairs each blocked call with an entry",
        "step      And the session's inputNeeded",
        "what      The session never listed call-1.",
        "expected  an entry of kind toolAuthentication",
        "seen      one entry, of kind toolConfirmation",
        "frame     #41  A  host to suite  0.410 s",
        '"kind":"toolConfirmation"',
        "rule in   types/channels-chat/actions.ts > ChatToolCallAuthRequiredAction",
        "recorded  reports/local/transcripts/tool-auth-session-level-blocked.jsonl",
        "rerun     ahp-conformance run ws://127.0.0.1:8123 --only sample/rules/blocked\n",
        "Errors of the suite (1)",
        "Seen by the oracle in passing (1 obligation)",
        "AHP-SAMPLE-002  MUST NOT",
        "found     once, in 1 scenario; the first:",
        "oracle    rule delivery",
        "Warnings (1)",
        "2  A nice host does this",
        "Could not be judged (2)",
        "backend-missing  1 scenario",
        "docs/backend.md",
        "timeout  1 scenario",
        "--patience",
        "Summary",
        "obligations",
        "7 in 1.5 s",
        "version-window (1)",
        "This edition judges 9 of the 9 obligations",
        "broken: 1 MUST NOT, 1 SHOULD",
    ]
    place = 0
    for part in parts:
        found = text.find(part, place)
        assert found >= 0, f"{part!r} is missing or too early"
        place = found
    assert text.rstrip().splitlines()[-1].startswith("broken: ")


def test_nothing_is_wider_than_the_terminal_but_what_is_there_to_be_copied() -> None:
    for line in shown(record(varied(), tier="tool-auth", covered=IDS)).splitlines()[:-1]:
        assert len(line) <= 80 or re.match(r" +(rerun|recorded) ", line), line


def test_a_frame_takes_about_five_lines() -> None:
    text = shown(record(varied(), tier="tool-auth", covered=IDS))
    frame = text.split("#41", 1)[1].split("rule in", 1)[0]
    assert 3 <= len(frame.strip().splitlines()) - 1 <= 6


def test_quiet_is_the_verdict_alone() -> None:
    made = record([result("good", MUST)])
    assert shown(made, quiet=True) == "conformant: tier core, protocol 0.6.0 — 1 obligation met\n"


def test_a_host_cannot_drive_the_terminal() -> None:
    evil = "x\x1b]0;owned\x07\x1b[2J\u202e[bold]y"
    bad = result(
        "bad",
        MUST,
        outcome="failed",
        step=evil,
        detail=evil,
        findings=(finding(MUST, message=evil, expected=evil, seen=evil),),
    )
    text = shown(record([bad, result("stuck", MUST, outcome="inconclusive", reason=evil, detail=evil)]))
    assert "\x1b" not in text and "\x07" not in text and "\u202e" not in text
    assert "[bold]y" in text


@pytest.mark.parametrize(
    ("terminal", "no_color", "coloured"), [(True, False, True), (True, True, False), (False, False, False)]
)
def test_colour_only_on_a_terminal_that_wants_it(
    monkeypatch: pytest.MonkeyPatch, terminal: bool, no_color: bool, coloured: bool
) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "COLORTERM"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    if no_color:
        monkeypatch.setenv("NO_COLOR", "1")
    out = Terminal() if terminal else io.StringIO()
    print_report(record(varied()), console_for(out))
    assert bool(re.search(r"\x1b\[[0-9;]*3[0-9]", out.getvalue())) is coloured
    assert terminal or "\x1b" not in out.getvalue()


def test_force_color_does_not_animate_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert not console_for(io.StringIO()).is_terminal


def test_a_console_without_unicode_survives() -> None:
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    print_report(record(varied(), tier="tool-auth", covered=IDS), console_for(stream))
    stream.flush()
    assert b"broken: " in raw.getvalue()


def follow(reporter: LiveReporter | TerminalReporter) -> None:
    some = varied()
    reporter.on(RunStarted("2026-01-02T03:04:05Z", HOST, "0.6.0", "core", len(some), "ahp-conformance run x"))
    for item in some:
        reporter.on(ScenarioStarted(item.id, item.title))
        reporter.on(ScenarioFinished(item))
    reporter.on(RunFinished(1.0))


def test_off_a_terminal_progress_is_one_line_a_scenario() -> None:
    out = io.StringIO()
    reporter = TerminalReporter(out)
    follow(reporter)
    lines = out.getvalue().splitlines()
    assert "judged as   protocol 0.6.0, tier core" in lines
    assert "1/7  passed          Scenario plain" in lines
    assert "5/7  inconclusive    Scenario agent  (backend-missing)" in lines
    assert "\x1b" not in out.getvalue()
    reporter.finish(record(varied()))
    assert "Summary" in out.getvalue()


def test_quiet_shows_no_progress() -> None:
    out = io.StringIO()
    follow(TerminalReporter(out, quiet=True))
    assert out.getvalue() == ""


def test_on_a_terminal_progress_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    out = Terminal()
    follow(TerminalReporter(out))
    assert "\x1b[?25l" in out.getvalue()  # the cursor went …
    assert out.getvalue().rstrip("\n").rfind("\x1b[?25h") > out.getvalue().rfind("\x1b[?25l")  # … and came back


def test_the_progress_shows_counts_and_the_current_scenario() -> None:
    out = io.StringIO()
    console = Console(file=out, width=80, force_terminal=False)
    reporter = LiveReporter(console, animated=False)
    follow(reporter)
    reporter.on(ScenarioStarted("a", "A rejected action leaves the state as it was " * 3))
    reporter.on(ScenarioStarted("b", "Another"))
    out.truncate(0)
    out.seek(0)
    console.print(reporter)
    counts, current = out.getvalue().splitlines()
    assert "7/7" in counts and "1 passed" in counts and "2 failed" in counts and "1 in error" in counts
    assert current.startswith("A rejected action") and len(current) <= 80


def test_a_host_that_fails_everything_gets_a_readable_report() -> None:
    text = shown(record([result(f"s{n:03}", MUST, outcome="failed") for n in range(200)]))
    assert "Failures (200)" in text
    assert "and 175 more, with their evidence in run.json:" in text
    assert "sample/rules/s199" in text
    assert len(text.splitlines()) < 700


def test_findings_of_a_passed_scenario_are_grouped_by_obligation() -> None:
    noise = tuple(finding(MUST_NOT, rule="delivery", frame=n, message=f"number {n}") for n in range(4))
    text = shown(record([result("a", MUST, findings=noise), result("b", MUST, findings=noise[:1])]))
    assert "found     5 times, in 2 scenarios; the first:" in text
    assert "number 0" in text and "number 1" not in text
    assert "frame     #0 of the recording" in text


def test_a_waived_failure_is_a_warning_with_its_reason() -> None:
    made = record([result("bad", MUST, outcome="failed")], waivers={MUST: "known, #12"})
    text = shown(made)
    assert "Failures" not in text
    assert "AHP-SAMPLE-001  MUST (waived: known, #12)" in text


def test_a_clean_run_is_short() -> None:
    text = shown(record([result("good", MUST), result("fine", SHOULD)]))
    assert len(text.splitlines()) < 20
    assert text.rstrip().endswith("conformant: tier core, protocol 0.6.0 — 2 obligations met")


def test_an_id_with_odd_characters_is_quoted_for_the_shell() -> None:
    text = shown(record([result("row [it's 1]", MUST, outcome="failed")]))
    assert "--only 'sample/rules/row [it'\\''s 1]'" in text


def test_there_is_advice_for_every_reason() -> None:
    assert all(advice(reason).endswith(".") for reason in [*ADVICE, "made-up"])
