"""One run: start the host, look at it, let pytest play the scenarios, and tell the reporters."""

from __future__ import annotations

import os
import time
from contextlib import redirect_stderr, redirect_stdout
from datetime import UTC, datetime
from io import StringIO

from conformance.catalogue import highest_tier
from conformance.client import HostClosed, Refused, Silent, Unreached
from conformance.drivers import Driver, HostFacts, probe
from conformance.reporting.events import EventStream, HostInfo, RunFinished, RunStarted
from conformance.running.settings import Settings
from conformance.running.stage import Stage, Theatre
from conformance.running.suite import make_importable, suite_root


class RunProblem(Exception):
    """The run could not take place: nothing selected, or features that contradict the catalogue. Wrong usage."""


def build_theatre(driver: Driver, settings: Settings) -> Theatre:
    """Probe a started host. A host that will not shake hands is judged all the same, by what it fails at."""
    theatre = Theatre(driver, HostFacts(version=None), settings.patience, settings.offers)
    stage = Stage(theatre)
    try:
        theatre.facts = probe(driver, settings.offers, lambda: stage.enter("probe"))
    except Silent as silent:
        theatre.mute += 1
        theatre.facts = HostFacts(version=None, problem=str(silent))
    except (HostClosed, Refused, Unreached) as trouble:
        theatre.facts = HostFacts(version=None, problem=str(trouble))
    finally:
        stage.conclude(witness=False)
    return theatre


def play(
    driver: Driver, theatre: Theatre, settings: Settings, stream: EventStream, *, tier: str | None,
    rerun_prefix: str, workers: int = 0,
) -> None:  # fmt: skip
    """Play the scenarios and emit the events of the run. Raises :class:`RunProblem` when none could be played."""
    import pytest

    from conformance.running.manager import StageManager

    make_importable()
    facts = theatre.facts
    host = HostInfo(
        driver.name, driver.endpoint, facts.name, facts.host_version, facts.version,
        tuple(sorted(facts.provocations)),
    )  # fmt: skip
    began = time.perf_counter()
    started = RunStarted(
        started=datetime.now(UTC).isoformat(timespec="seconds"),
        host=host,
        protocol=theatre.version,
        tier=tier or highest_tier(facts.provocations),
        total=0,
        rerun_prefix=rerun_prefix,
    )
    manager = StageManager(theatre, stream, started)
    output = StringIO()
    with redirect_stdout(output), redirect_stderr(output):
        code = pytest.main(_arguments(settings, workers), plugins=[manager])
    if code == pytest.ExitCode.USAGE_ERROR:
        raise RunProblem(_usage_error(output.getvalue()))
    if code == pytest.ExitCode.NO_TESTS_COLLECTED:
        chosen = ", ".join(settings.only) or f"level {settings.level}"
        raise RunProblem(
            f"no scenario matches {chosen}; ahp-conformance list shows ids, and --only takes an id, a tag or a text"
        )
    problem = "\n".join(manager.problems) or None
    if code == pytest.ExitCode.INTERRUPTED and problem is None:
        problem = "the run was interrupted"
    stream.emit(RunFinished(time.perf_counter() - began, problem))


def _arguments(settings: Settings, workers: int) -> list[str]:
    root = suite_root()
    arguments = [
        str(root / "scenarios"),
        f"--rootdir={root}",
        "-c", os.devnull,
        "-p", "conformance.plugin",
        "-p", "scenarios.vocabulary",
        "-p", "no:cacheprovider",
        "-p", "no:terminal",
        "-p", "no:junitxml",
        "-p", "no:doctest",
        "-p", "no:unittest",
        "-p", "no:faulthandler",
        "--import-mode=importlib",
        "-s",
        "--ahp-settings", settings.dumps(),
    ]  # fmt: skip
    if workers > 1:
        arguments += ["-n", str(workers)]
    else:
        arguments += ["-p", "no:xdist"]
    return arguments


def _usage_error(text: str) -> str:
    lines = [line for line in text.splitlines() if line.startswith("ERROR")]
    return "\n".join(line.removeprefix("ERROR:").strip() for line in lines) or text.strip()

