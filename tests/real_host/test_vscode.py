"""The real VS Code host, at the address in AHP_REAL_HOST: what is broken there is what docs/findings.md says."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from tests.running.command import Outcome, ahp

pytestmark = pytest.mark.real_host
FINDINGS = Path(__file__).parents[2] / "docs" / "findings.md"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    address = os.environ.get("AHP_REAL_HOST")
    if not address:
        pytest.skip("AHP_REAL_HOST names no host")
    folder = tmp_path_factory.mktemp("real")
    return ahp("run", address, cwd=folder, out=folder / "out")


def test_the_suite_itself_holds(run: Outcome) -> None:
    assert run.record is not None, run.err
    assert run.record["counts"]["scenarios"]["error"] == 0
    assert run.record["counts"]["scenarios"]["passed"] > 100


def test_what_is_broken_is_documented(run: Outcome) -> None:
    assert run.record is not None, run.err
    broken = {o["id"] for o in run.record["obligations"] if o["verdict"] == "broken"}
    assert broken <= set(re.findall(r"AHP-[A-Z]+-\d{3}", FINDINGS.read_text("utf-8")))


def test_whatever_needs_no_agent_is_decided(run: Outcome) -> None:
    """Inconclusive is only what an agent, a token, or a longer patience than the default would be needed for."""
    assert run.record is not None, run.err
    reasons = {(s["reason"], s["id"]) for s in run.record["scenarios"] if s["outcome"] == "inconclusive"}
    left = {(reason, id_) for reason, id_ in reasons if reason != "backend-missing"}
    # The grace period of that host is 30 s; and as it rejects nothing, nobody can look at a rejection.
    assert {id_ for _, id_ in left} <= {
        "sessions/leaving-clients/a-client-that-does-not-come-back-is-taken-off",
        "dispatch/rejected/a-rejected-action-leaves-no-trace",
        "dispatch/rejected/nobody-takes-a-rejected-action-for-an-accepted-one",
    }
