"""VS Code's agent host, installed and started by the suite: what is broken there is what docs/findings.md says."""

from __future__ import annotations

import re
from pathlib import Path

import psutil
import pytest

from tests.running.command import Outcome, ahp

pytestmark = pytest.mark.real_host
FINDINGS = Path(__file__).parents[2] / "docs" / "findings.md"

VERSIONS = {"4.139.1": "0.9.0", "4.133.0": "0.8.0"}

# What the mission is about has to be decided there, one way or the other.
DECIDED = (
    "AHP-TOOLAUTH-014",  # 401 in the middle of a turn
    "AHP-TOOLAUTH-058",  # 403 in the middle of a turn
    "AHP-TOOLAUTH-022",  # the entry of the session
    "AHP-TOOLAUTH-025",  # its status
    "AHP-TOOLAUTH-026",  # the entry goes
    "AHP-TOOLAUTH-030",  # a token accepted
    "AHP-TOOLAUTH-071",  # the resumed call
    "AHP-TOOLAUTH-032",  # a token refused
    "AHP-TOOLAUTH-072",
    "AHP-TOOLAUTH-027",  # cancelled while blocked
    "AHP-TOOLAUTH-039",
    "AHP-TOOLAUTH-043",
    "AHP-TOOLAUTH-035",  # two calls blocked at once
    "AHP-TOOLAUTH-036",
    "AHP-TOOLAUTH-037",
    "AHP-STAT-002",  # a plain turn
    "AHP-INPUT-017",  # a call that waits for confirmation
    "AHP-MCP-026",  # an MCP tool
)

# What this agent cannot be made to do; the grace period is 30 s; and as nothing is rejected, no rejection can be seen.
LEFT = {
    "sessions/leaving-clients/a-client-that-does-not-come-back-is-taken-off",
    "dispatch/rejected/a-rejected-action-leaves-no-trace",
    "dispatch/rejected/nobody-takes-a-rejected-action-for-an-accepted-one",
    # The turn of a cancelled call hangs, so what comes after its end is never seen.
    "tool-authentication/cancelling/a-token-pushed-later-does-not-wake-the-cancelled-call",
    "tool-authentication/upstream/the-request-of-a-cancelled-call-is-not-sent-any-more",
}


@pytest.fixture(scope="module", params=list(VERSIONS))
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    folder = tmp_path_factory.mktemp("real")
    return ahp("run", f"code-server@{request.param}", "--workers", "2", cwd=folder, out=folder / "out")


def _verdicts(run: Outcome) -> dict[str, str]:
    assert run.record is not None, run.err
    return {o["id"]: o["verdict"] for o in run.record["obligations"]}


def test_the_suite_itself_holds(run: Outcome) -> None:
    assert run.record is not None, run.err
    assert run.record["counts"]["scenarios"]["error"] == 0
    assert run.record["counts"]["scenarios"]["passed"] > 300
    assert run.record["host"]["protocolVersion"] in VERSIONS.values()


def test_what_the_mission_is_about_is_decided(run: Outcome) -> None:
    verdicts = _verdicts(run)
    assert {id_: verdicts[id_] for id_ in DECIDED if verdicts[id_] not in ("met", "broken")} == {}


def test_what_is_broken_is_documented(run: Outcome) -> None:
    broken = {id_ for id_, verdict in _verdicts(run).items() if verdict == "broken"}
    assert broken <= set(re.findall(r"AHP-[A-Z]+-\d{3}", FINDINGS.read_text("utf-8")))


def test_whatever_the_agent_can_do_is_decided(run: Outcome) -> None:
    assert run.record is not None, run.err
    left = {
        s["id"] for s in run.record["scenarios"] if s["outcome"] == "inconclusive" and s["reason"] != "backend-missing"
    }
    assert left <= LEFT


def test_nothing_of_the_host_is_left(run: Outcome) -> None:
    assert run.record is not None, run.err
    assert not [p for p in psutil.process_iter() if "--type=agentHost" in _words(p)]


def _words(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []
