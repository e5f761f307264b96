"""Hosts with a real agent that are wrong, or do not play along: each is told apart from a right one, and rightly."""

from __future__ import annotations

from pathlib import Path

import pytest

from . import flaws
from .runs import judge, obligations, scenarios

_CHALLENGE = "AHP-TOOLAUTH-014"
_UPSTREAM = "tool-authentication/upstream/a-token-for-one-server-does-not-travel-to-another"


@pytest.mark.parametrize(
    ("flaw", "reason", "said"),
    [
        (flaws.IGNORES_PLAYBOOK, "backend-ignored", "did not bring the playbook to the model service"),
        (flaws.SKIPS_MCP, "backend-ignored", "the MCP server 'vault' was never contacted"),
        (flaws.NO_PLUGINS, "backend-missing", "did not take up the plugin"),
    ],
)
def test_a_host_that_does_not_play_along_is_not_judged(flaw: str, reason: str, said: str, tmp_path: Path) -> None:
    run = judge(tmp_path, _CHALLENGE, flaw=flaw, patience=3)
    (scenario,) = scenarios(run, "inconclusive").values()
    assert scenario["reason"] == reason
    assert said in scenario["detail"]
    assert not (scenarios(run, "failed") | scenarios(run, "error") | scenarios(run, "passed"))
    assert (obligations(run, "broken"), _CHALLENGE in obligations(run, "undecided")) == (set(), True)
    assert run.code == 3
    assert said in " ".join(run.out.split())


def test_a_server_that_nobody_has_contacted_is_not_ready(tmp_path: Path) -> None:
    run = judge(tmp_path, "AHP-MCP-002", flaw=flaws.SKIPS_MCP, patience=3)
    (scenario,) = scenarios(run, "failed").values()
    assert scenario["detail"] == "the server is said to be ready, and nothing was ever sent to it"
    assert "AHP-MCP-002" in obligations(run, "broken")


def test_a_token_that_goes_to_another_server_is_seen_there(tmp_path: Path) -> None:
    run = judge(tmp_path, "AHP-TOOLAUTH-036", flaw=flaws.LEAKS_TOKEN)
    # What the host tells its clients is in order; it takes the witness at the other server.
    assert set(scenarios(run, "failed")) == {_UPSTREAM}
    assert scenarios(run, "failed")[_UPSTREAM]["detail"] == "calls to registry carried a token"
    assert obligations(run, "broken") == {"AHP-TOOLAUTH-036"}
    assert run.code == 1


def test_a_host_that_dies_in_the_middle_of_a_turn_ends_the_run_with_its_last_words(tmp_path: Path) -> None:
    run = judge(tmp_path, _CHALLENGE, "AHP-TOOLAUTH-035", flaw=flaws.DIES)
    assert run.record is not None
    first, second = run.record["scenarios"]
    assert (first["outcome"], first["reason"]) == ("failed", "host-closed")
    assert (second["outcome"], second["reason"]) == ("inconclusive", "unreachable")
    assert "the host has ended in the middle of the run (exit code 70)" in second["detail"]
    assert "ready ws://127.0.0.1:" in second["detail"]
    assert "Traceback" not in run.out + run.err
    assert run.code == 1
