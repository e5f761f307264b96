"""Which versions a run offers, and what becomes of several."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from conformance.protocol import VERSIONS
from conformance.running.settings import Settings
from tests.running.command import ahp

PING = ("--only", "AHP-PING-001")


def record_in(folder: Path) -> dict[str, Any]:
    record: dict[str, Any] = json.loads((folder / "run.json").read_text("utf-8"))
    return record


def test_every_known_version_is_offered_newest_first() -> None:
    assert Settings().offers == tuple(reversed(VERSIONS))


def test_the_host_picks_and_is_judged_by_what_it_picked(tmp_path: Path) -> None:
    run = ahp("run", *PING, cwd=tmp_path, out=tmp_path / "out")
    assert run.record is not None
    assert run.record["protocol"] == run.record["host"]["protocolVersion"] == "0.9.0"


def test_several_versions_are_several_runs_in_folders_of_their_own(tmp_path: Path) -> None:
    out = tmp_path / "out"
    run = ahp("run", *PING, "--protocol", "0.6.0", "--protocol", "0.9.0", cwd=tmp_path, out=out)
    assert run.code == 0, run.err
    assert sorted(path.name for path in out.iterdir()) == ["0.6.0", "0.9.0"]
    assert [record_in(out / v)["protocol"] for v in ("0.6.0", "0.9.0")] == ["0.6.0", "0.9.0"]
    assert "--protocol 0.6.0" in record_in(out / "0.6.0")["rerun"]
    assert [line.split()[:2] for line in run.out.splitlines()[-2:]] == [
        ["0.6.0", "conformant:"],
        ["0.9.0", "conformant:"],
    ]


def test_the_gravest_verdict_is_that_of_all(tmp_path: Path) -> None:
    """The fault changes what is announced from 0.8.0 on alone, so that one version is fine and the other is not."""
    words = ("--protocol", "0.9.0", "--protocol", "0.6.0", "--fault", "notice-always-identifier", "--quiet")
    run = ahp("run", *words, "--only", "auth-required", cwd=tmp_path, out=tmp_path / "out")
    verdicts = {v: record_in(tmp_path / "out" / v)["verdict"] for v in ("0.6.0", "0.9.0")}
    assert verdicts == {"0.6.0": "conformant", "0.9.0": "broken"}
    assert run.code == 1


def test_a_version_that_the_host_does_not_speak_keeps_nothing_from_the_others(tmp_path: Path) -> None:
    out = tmp_path / "out"
    run = ahp("run", *PING, "--protocol", "0.6.99", "--protocol", "0.9.0", cwd=tmp_path, out=out)
    assert run.code == 4
    assert "speaks none of the offered versions 0.6.99" in run.err
    assert record_in(out / "0.9.0")["verdict"] == "conformant"
    assert not (out / "0.6.99").exists()


@pytest.mark.parametrize("version", ["0.7.0", "0.8.0", "1.0.0"])
def test_the_reference_host_is_right_by_the_rules_of_every_version(version: str, tmp_path: Path) -> None:
    run = ahp("run", "--protocol", version, cwd=tmp_path, out=tmp_path / "out")
    assert run.code == 0, run.out[-2000:]
    assert run.record is not None
    assert (run.record["protocol"], run.record["verdict"]) == (version, "conformant")
    assert not [finding for scenario in run.record["scenarios"] for finding in scenario["findings"]]
    assert run.record["counts"]["scenarios"]["passed"] > 400


def test_a_version_without_rules_is_wrong_usage(tmp_path: Path) -> None:
    for version in ("0.5.0", "2.0.0", "newest"):
        run = ahp("run", "--protocol", version, cwd=tmp_path)
        assert run.code == 2
        assert run.err.strip() == (
            f"ahp-conformance: --protocol {version} is not a version that can be judged;"
            " the rules of 0.6.0 to 1.0.0 are known"
        )
    assert list(tmp_path.iterdir()) == []
