"""Every fault makes a host that can be told from the right one, and names an obligation that exists."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml

import conformance.catalogue
from conformance.host import ReferenceHost
from conformance.host.faults import FAULTS, Fault

from .driving import Act, Stage, assert_fold_equals_snapshot
from .exercises import EXERCISES, performed

VERSIONS = ("0.6.0", "0.9.0")


def _catalogue() -> Mapping[str, Mapping[str, str]]:
    folder = Path(conformance.catalogue.__file__).parent
    return {
        entry["id"]: entry
        for path in folder.glob("*.yaml")
        for entry in yaml.load(path.read_text(encoding="utf-8"), yaml.CSafeLoader)
    }


@pytest.fixture(scope="module")
def right() -> dict[tuple[str, str], list[str]]:
    return {
        (exercise.__name__, version): performed(exercise, Stage(version=version))
        for exercise in EXERCISES
        for version in VERSIONS
    }


def test_the_exercises_are_deterministic(right: dict[tuple[str, str], list[str]]) -> None:
    for exercise in EXERCISES:
        for version in VERSIONS:
            assert performed(exercise, Stage(version=version)) == right[exercise.__name__, version]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.__name__)
def test_the_right_host_folds_to_its_snapshots(exercise: Act, version: str) -> None:
    stage = Stage(version=version)
    first = stage.a
    exercise(stage)
    if stage.a is first:
        assert_fold_equals_snapshot(stage, first)


@pytest.mark.parametrize("fault", FAULTS.values(), ids=lambda fault: fault.name)
def test_a_fault_shows(fault: Fault, right: dict[tuple[str, str], list[str]]) -> None:
    for exercise in EXERCISES:
        for version in VERSIONS:
            try:
                stage = Stage(fault, version=version)
            except (AssertionError, LookupError):
                return  # so wrong that it gives no session
            if performed(exercise, stage) != right[exercise.__name__, version]:
                return
    pytest.fail(f"{fault.name} behaves like the right host in all exercises")


def test_each_fault_names_an_obligation() -> None:
    known = _catalogue()
    for name, fault in FAULTS.items():
        assert name == fault.name
        assert fault.obligation in known or fault.obligation.startswith("AHP-TURN-"), fault


def test_every_rule_for_hosts_about_blocked_calls_and_needed_input_has_a_fault() -> None:
    covered = {fault.obligation for fault in FAULTS.values()}
    wanted = {
        identifier
        for identifier, entry in _catalogue().items()
        if identifier.startswith(("AHP-TOOLAUTH-", "AHP-INNEED-", "AHP-INPUT-"))
        and entry["subject"] == "host"
        and entry["level"] != "MAY"
    }
    # The host speaks no version below 0.6.0, so it cannot break this one.
    assert wanted - covered == {"AHP-TOOLAUTH-051"}


def test_a_decision_that_does_not_exist_cannot_be_replaced() -> None:
    with pytest.raises(ValueError, match="no decision 'nonsense'"):
        ReferenceHost(faults=[Fault("x", "AHP-X-001", "?", policy={"nonsense": lambda: True})])
