"""Plays the scenarios of every fault's obligation against the reference host with that fault, many in one process.

``python -m tests.faults.battery FAULT...`` prints one JSON line for each: what became of the obligation.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from functools import cache

from conformance.catalogue import Catalogue, load
from conformance.drivers.reference import ReferenceDriver
from conformance.host.faults import FAULTS
from conformance.reporting.events import EventStream
from conformance.reporting.record import RunRecorder
from conformance.running.coverage import in_features
from conformance.running.runner import build_theatre, play
from conformance.running.settings import Settings
from conformance.running.suite import features_root


@dataclass(frozen=True)
class Fate:
    """How a fault fared: the verdict of its obligation, and the outcomes of the scenarios that were played."""

    fault: str
    obligation: str
    version: str
    verdict: str
    scenarios: dict[str, int]
    problem: str | None


@cache
def _catalogue() -> Catalogue:
    return load()


def selection(obligation: str) -> str:
    """The scenarios that carry the obligation; for one that only the oracle judges, those of its theme."""
    if obligation in in_features():
        return obligation
    theme = _catalogue()[obligation].theme
    return theme if (features_root() / theme).is_dir() else "tool-authentication"


def fate(name: str) -> Fate:
    """Play one fault at the newest version that its obligation holds for."""
    obligation = _catalogue()[FAULTS[name].obligation]
    version = next(v for v in ("0.9.0", "0.6.0") if obligation.applies(v))
    settings = Settings(offers=(version,), patience=0.6, only=(selection(obligation.id),), faults=(name,))
    driver, recorder = ReferenceDriver(faults=(name,)), RunRecorder()
    driver.start()
    try:
        theatre = build_theatre(driver, settings)
        play(driver, theatre, settings, EventStream([recorder]), tier="tool-auth", rerun_prefix="")
    finally:
        driver.stop()
    record = recorder.record(_catalogue(), selection=settings.only)
    verdicts = {o["id"]: o["verdict"] for o in record["obligations"]}
    return Fate(
        name,
        obligation.id,
        version,
        verdicts.get(obligation.id, "not judged"),
        record["counts"]["scenarios"],
        record.get("problem"),
    )


def main() -> None:
    for name in sys.argv[1:]:
        print(json.dumps(fate(name).__dict__), flush=True)


if __name__ == "__main__":
    main()
