"""From the suite through the model service, the agent and the MCP servers back to the suite: a right host passes."""

from __future__ import annotations

from pathlib import Path

from .runs import judge, obligations, scenarios


def test_tool_authentication_is_decided_by_a_host_with_a_real_agent(tmp_path: Path) -> None:
    run = judge(tmp_path, "tool-authentication")
    undecided = {id_: s["detail"].rpartition(": ")[2] for id_, s in scenarios(run, "inconclusive").items()}
    # What no real agent can be told by its model, and what this one does not offer to its users.
    assert undecided == {
        "tool-authentication/blocked-call/what-the-call-had-put-out-before-the-challenge-survives": _CALLS % "partial",
        "tool-authentication/cancelling/what-the-call-had-put-out-survives-its-cancellation": _CALLS % "partial",
        "tool-authentication/edited-input/the-resumed-call-runs-with-the-edited-input": _CALLS % "editable",
    }
    assert not (scenarios(run, "failed") | scenarios(run, "error") | scenarios(run, "not-applicable"))
    assert len(scenarios(run, "passed")) >= 80
    assert obligations(run, "broken") == set()
    assert (run.code, run.record and run.record["verdict"]) == (0, "conformant"), run.out


def test_mcp_servers_are_decided_by_a_host_with_a_real_agent(tmp_path: Path) -> None:
    run = judge(tmp_path, "mcp-servers")
    assert not (scenarios(run, "failed") | scenarios(run, "error") | scenarios(run, "inconclusive"))
    assert {s["reason"] for s in scenarios(run, "not-applicable").values()} == {"version-window"}
    assert len(scenarios(run, "passed")) >= 50
    assert obligations(run, "broken") == set()
    assert run.code == 0, run.out


def test_needs_for_input_are_decided_by_a_host_with_a_real_agent(tmp_path: Path) -> None:
    run = judge(tmp_path, "input-needed")
    undecided = scenarios(run, "inconclusive").values()
    assert {(s["reason"], s["detail"].rpartition(": ")[2]) for s in undecided} == {
        ("backend-missing", _CALLS % "confirm_result")
    }
    assert not (scenarios(run, "failed") | scenarios(run, "error"))
    assert len(scenarios(run, "passed")) >= 60
    assert obligations(run, "broken") == set()
    assert run.code == 0, run.out


_CALLS = "calls with '%s'"
