"""The suite can fail: every fault of the reference host is caught at the obligation that it breaks."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.catalogue import load
from conformance.host.faults import FAULTS

ROOT = Path(__file__).parents[2]
BATCH = 25
NAMES = sorted(FAULTS)
BATCHES = [NAMES[start : start + BATCH] for start in range(0, len(NAMES), BATCH)]


@pytest.mark.parametrize("names", BATCHES, ids=lambda names: f"{names[0]}…")
def test_every_fault_is_caught_at_its_obligation(names: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.faults.battery", *names],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    fates = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert [f["fault"] for f in fates] == names, done.stderr[-3000:]
    survivors = [f for f in fates if f["verdict"] != "broken" or f["scenarios"]["error"] or f["problem"]]
    assert not survivors


def test_every_fault_names_an_obligation_of_the_catalogue() -> None:
    assert {f.obligation for f in FAULTS.values()} <= {o.id for o in load()}
    assert all(f.doc.strip() for f in FAULTS.values())
