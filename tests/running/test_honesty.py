"""No vacuous pass: hosts that do nothing get no pass at all, and trouble in the suite is no verdict."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.running.command import ahp
from tests.running.impostors import HALF_HOST, IMPOSTORS, serving


@pytest.mark.parametrize("kind", IMPOSTORS)
def test_an_impostor_gets_no_pass_and_no_exit_code_0(kind: str, tmp_path: Path) -> None:
    with serving(IMPOSTORS[kind]) as address:
        run = ahp("run", address, "--patience", "0.3", cwd=tmp_path, out=tmp_path / "out")
    assert run.record is not None, run.err
    assert run.record["counts"]["scenarios"]["passed"] == 0
    assert run.record["counts"]["scenarios"]["error"] == 0
    assert run.code in (1, 3)
    assert run.record["verdict"] in ("broken", "incomplete")
    # What an impostor does keep is the form of single messages, and that it answers a handshake, if only with an error;
    # the oracle may say so.
    met = {o["id"] for o in run.record["obligations"] if o["verdict"] == "met" and o["required"] and o["scenarios"]}
    assert all(id_.startswith("AHP-RPC-") or id_ in ("AHP-INIT-001", "AHP-INIT-015") for id_ in met)


def test_a_host_that_only_shakes_hands_passes_nothing_beyond_the_handshake(tmp_path: Path) -> None:
    with serving(HALF_HOST) as address:
        run = ahp("run", address, "--patience", "0.3", cwd=tmp_path, out=tmp_path / "out")
    passed = {scenario for scenario, outcome in run.outcomes().items() if outcome == "passed"}
    assert {scenario.split("/")[0] for scenario in passed} <= {"handshake"}
    assert run.code == 1
