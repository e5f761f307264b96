"""Whole runs against the reference host, as a person would make them."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from conformance.catalogue import load
from conformance.reporting.json_report import first_fault
from tests.running.command import ahp

FAULT = "entry-stays-after-cancel"


@pytest.mark.parametrize("version", ["0.6.0", "0.9.0"])
def test_the_reference_host_is_conformant_with_nothing_undecided_that_is_required(version: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    run = ahp("run", "--protocol", version, cwd=tmp_path, out=out)
    assert run.code == 0, run.out[-3000:]
    assert run.record is not None
    assert first_fault(run.record) is None
    assert (run.record["verdict"], run.record["tier"]) == ("conformant", "tool-auth")
    assert run.record["host"]["protocolVersion"] == version
    assert {o["verdict"] for o in run.record["obligations"]} <= {"met", "not-applicable", "undecided"}
    # Undecided is what only the oracle judges, and whose occasion no scenario brings about.
    undecided = [o for o in run.record["obligations"] if o["verdict"] == "undecided"]
    assert not [o["id"] for o in undecided if o["required"] or o["scenarios"]]
    outcomes = run.record["counts"]["scenarios"]
    assert outcomes["passed"] >= 90
    assert outcomes["failed"] == outcomes["inconclusive"] == outcomes["error"] == 0
    assert not [f for s in run.record["scenarios"] for f in s["findings"]]
    for scenario in run.record["scenarios"]:
        if scenario["outcome"] == "passed":
            assert (out / scenario["transcript"]).is_file()
    cases = ET.parse(out / "junit.xml").getroot().iter("testcase")
    assert len(list(cases)) == len(run.record["scenarios"])


def test_a_host_that_plays_playbooks_is_judged_in_full_by_its_address_alone(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-m", "conformance", "host"], stdout=subprocess.PIPE, text=True) as host:
        try:
            assert host.stdout is not None
            address = host.stdout.readline().removeprefix("ready ").strip()
            run = ahp("run", address, cwd=tmp_path, out=tmp_path / "out")
        finally:
            host.terminate()
    assert run.record is not None, run.err
    assert (run.code, run.record["tier"], run.record["host"]["driver"]) == (0, "tool-auth", "endpoint"), run.out[-2000:]


def test_no_token_gets_into_what_a_run_writes(tmp_path: Path) -> None:
    out = tmp_path / "out"
    run = ahp("run", "--fault", "token-in-description", "--only", "tool-authentication", cwd=tmp_path, out=out)
    written = [p.read_text("utf-8") for p in out.rglob("*") if p.is_file()]
    assert any("«token:" in text for text in written)
    # The suite's tokens end in 24 hexadecimal digits behind their name.
    assert not [m for text in (*written, run.out) for m in re.findall(r"ahpc-[a-z-]+-[0-9a-f]{24}", text)]


def test_several_workers_come_to_the_same_outcomes(tmp_path: Path) -> None:
    alone = ahp("run", "--only", "input-needed", cwd=tmp_path, out=tmp_path / "alone")
    shared = ahp("run", "--only", "input-needed", "--workers", "2", cwd=tmp_path, out=tmp_path / "shared")
    assert alone.code == shared.code == 0, shared.out[-2000:] + shared.err
    assert alone.outcomes() == shared.outcomes()


def test_a_failure_says_everything_and_can_be_run_again(tmp_path: Path) -> None:
    run = ahp(
        "run", "--fault", FAULT, "--only", "AHP-TOOLAUTH-027", "--patience", "1", cwd=tmp_path, out=tmp_path / "o"
    )
    assert run.code == 1
    statement = load()["AHP-TOOLAUTH-027"].statement
    text = " ".join(run.out.split())
    for part in ("AHP-TOOLAUTH-027 MUST", statement, "expected", "seen", "frame", "rule in", "recorded", "rerun"):
        assert part in text
    rerun = re.search(r"rerun (ahp-conformance run .+? --only \S+)", text)
    assert rerun is not None
    again = ahp(*shlex.split(rerun[1])[1:], "--patience", "1", cwd=tmp_path, out=tmp_path / "again")
    assert again.code == 1
    assert again.record is not None
    assert [s["outcome"] for s in again.record["scenarios"]] == ["failed"]


def test_a_stored_run_can_be_rendered(tmp_path: Path) -> None:
    ahp("run", "--only", "AHP-PING-001", cwd=tmp_path, out=tmp_path / "o")
    stored = str(tmp_path / "o" / "run.json")
    shown = ahp("report", stored, cwd=tmp_path)
    assert shown.code == 0
    assert "conformant" in shown.out
    made = ahp("report", stored, "--format", "junit", "--out", str(tmp_path / "again.xml"), cwd=tmp_path)
    assert made.code == 0
    assert (tmp_path / "again.xml").read_bytes() == (tmp_path / "o" / "junit.xml").read_bytes()
    assert ahp("report", str(tmp_path / "none.json"), cwd=tmp_path).code == 2


def test_quiet_prints_the_verdict_alone(tmp_path: Path) -> None:
    run = ahp("run", "--only", "AHP-PING-001", "--quiet", cwd=tmp_path)
    assert run.out.startswith("conformant")
    assert len(run.out.strip().splitlines()) == 1
    (place,) = (tmp_path / "reports" / "local").iterdir()
    assert (place / "run.json").is_file()


def test_a_broken_should_counts_only_when_strict(tmp_path: Path) -> None:
    arguments = ("run", "--fault", "scopes-of-challenge-dropped", "--only", "AHP-TOOLAUTH-018", "--patience", "1")
    assert ahp(*arguments, cwd=tmp_path, out=tmp_path / "a").code != 1
    assert ahp(*arguments, "--strict", cwd=tmp_path, out=tmp_path / "b").code == 1
