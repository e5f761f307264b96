"""One run: start the host, look at it, let pytest play the scenarios, and tell the reporters."""

from __future__ import annotations

import gc
import os
import re
import time
from contextlib import redirect_stderr, redirect_stdout
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path

from conformance.catalogue import highest_tier
from conformance.client import HostClosed, Refused, Silent, Unreached
from conformance.drivers import Driver, HostFacts, probe
from conformance.protocol.errors import UNSUPPORTED_PROTOCOL_VERSION
from conformance.reporting.events import EventStream, HostInfo, RunFinished, RunStarted
from conformance.running.settings import Settings
from conformance.running.stage import Stage, Theatre
from conformance.running.suite import make_importable, suite_root


class RunProblem(Exception):
    """The run could not take place; ``code`` is the exit code: 2 for wrong usage, 4 when nothing can be judged."""

    def __init__(self, message: str, code: int = 2) -> None:
        super().__init__(message)
        self.code = code


def default_place(target: str) -> Path:
    """A folder for a run that names none: below reports/local, by target and time."""
    name = re.sub(r"[^a-zA-Z0-9.]+", "-", target).strip("-")
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    place = Path("reports") / "local" / f"{name}-{stamp}"
    number = 1
    while place.exists():
        number += 1
        place = place.with_name(f"{name}-{stamp}-{number}")
    return place


def refuse_foreign_versions(theatre: Theatre) -> None:
    """A host that speaks none of the offered versions and says so is no host that could be judged by them."""
    refused = theatre.facts.refused
    if refused is None or refused.code != UNSUPPORTED_PROTOCOL_VERSION:
        return
    data = refused.error.get("data") if isinstance(refused.error, dict) else None
    spoken = data.get("supportedVersions") if isinstance(data, dict) else None
    says = f"it says it speaks {', '.join(map(str, spoken))}" if isinstance(spoken, list) else "it names none"
    raise RunProblem(
        f"the host speaks none of the offered versions {', '.join(theatre.offers)}; {says};"
        " choose a version with --protocol",
        code=4,
    )


def build_theatre(driver: Driver, settings: Settings) -> Theatre:
    """Probe a started host. A host that will not shake hands is judged all the same, by what it fails at."""
    theatre = Theatre(driver, HostFacts(version=None), settings.patience, settings.offers)
    stage = Stage(theatre)
    try:
        theatre.facts = probe(driver, settings.offers, lambda: stage.enter("probe"))
    except Refused as refused:
        theatre.facts = HostFacts(version=None, problem=str(refused), refused=refused)
    except (Silent, HostClosed, Unreached) as trouble:
        theatre.facts = HostFacts(version=None, problem=str(trouble))
    finally:
        stage.remember_silence()
        stage.conclude(witness=False)
    return theatre


def play(
    driver: Driver,
    theatre: Theatre,
    settings: Settings,
    stream: EventStream,
    *,
    tier: str | None,
    rerun_prefix: str,
    workers: int = 0,
) -> None:
    """Play the scenarios and emit the events of the run. Raises :class:`RunProblem` when none could be played."""
    import pytest

    from conformance.running.announcer import Announcer

    make_importable()
    facts = theatre.facts
    host = HostInfo(
        driver.name,
        driver.endpoint,
        facts.name,
        facts.host_version,
        facts.version,
        tuple(sorted(facts.provocations)),
    )
    began = time.perf_counter()
    started = RunStarted(
        started=datetime.now(UTC).isoformat(timespec="seconds"),
        host=host,
        protocol=theatre.version,
        tier=tier or highest_tier(facts.provocations),
        total=0,
        rerun_prefix=rerun_prefix,
    )
    announcer = Announcer(theatre, stream, started)
    output = StringIO()
    # What is collected lives to the end, so looking through it for garbage again and again finds nothing.
    gc.disable()
    try:
        with redirect_stdout(output), redirect_stderr(output):
            code = pytest.main(_arguments(settings, workers), plugins=[announcer])
    finally:
        gc.enable()
    if code == pytest.ExitCode.USAGE_ERROR:
        raise RunProblem(_usage_error(output.getvalue()))
    if code == pytest.ExitCode.NO_TESTS_COLLECTED:
        chosen = ", ".join(settings.only) or f"level {settings.level}"
        raise RunProblem(
            f"no scenario matches {chosen}; --only wants the id of an obligation or scenario, a tag, or part of a title"
        )
    problem = "\n".join(announcer.problems) or None
    if problem is None and code == pytest.ExitCode.INTERRUPTED:
        problem = "the run was interrupted"
    elif problem is None and code not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        problem = f"pytest ended with {code!r}: {output.getvalue()[-2000:].strip()}"
    announcer.announce(0)
    stream.emit(RunFinished(time.perf_counter() - began, problem))


def _arguments(settings: Settings, workers: int) -> list[str]:
    root = suite_root()
    arguments = [
        str(root / "scenarios"),
        f"--rootdir={root}",
        "-c",
        os.devnull,
        # Neither what else is installed nor rewritten assertions have a part in a verdict, and both cost time.
        "--disable-plugin-autoload",
        "--assert=plain",
        "-p",
        "pytest_bdd.plugin",
        "-p",
        "conformance.plugin",
        "-p",
        "scenarios.vocabulary",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:terminal",
        "-p",
        "no:junitxml",
        "-p",
        "no:doctest",
        "-p",
        "no:unittest",
        "-p",
        "no:faulthandler",
        "-p",
        "no:unraisableexception",
        "-p",
        "no:threadexception",
        "-p",
        "no:logging",
        "--import-mode=importlib",
        "-s",
        "--ahp-settings",
        settings.dumps(),
    ]
    if workers > 1:
        arguments += ["-p", "xdist.plugin", "-n", str(workers)]
    return arguments


def _usage_error(text: str) -> str:
    lines = [line for line in text.splitlines() if line.startswith("ERROR")]
    return "\n".join(line.removeprefix("ERROR:").strip() for line in lines) or text.strip()
