"""The side of a run that started it: it holds the theatre and turns what pytest reports into events."""

from __future__ import annotations

import gc
from dataclasses import replace
from typing import Any

import pytest

from conformance.reporting.events import (
    EventStream,
    RunStarted,
    ScenarioFinished,
    ScenarioResult,
    ScenarioStarted,
)
from conformance.running.stage import Theatre

# What a run leaves on the pytest configuration of its own process, so that the judge finds it.
THEATRE = pytest.StashKey[Theatre]()

# How many scenarios the judge has chosen, once it has accepted the features.
CHOSEN = pytest.StashKey[int]()

_TAIL = 2000


class Announcer:
    """``problems`` collects what went wrong in the suite itself."""

    def __init__(self, theatre: Theatre, stream: EventStream, started: RunStarted) -> None:
        self.problems: list[str] = []
        self._theatre = theatre
        self._stream = stream
        self._started = started
        self._announced = False

    @pytest.hookimpl(tryfirst=True)
    def pytest_configure(self, config: pytest.Config) -> None:
        config.stash[THEATRE] = self._theatre

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        gc.freeze()
        gc.enable()
        # It is called after a collection that failed, too.
        if CHOSEN in session.config.stash:
            self.announce(session.config.stash[CHOSEN])

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        self.announce(len(ids))

    def announce(self, total: int) -> None:
        """Say that the run has started; the first call counts."""
        if not self._announced:
            self._announced = True
            self._stream.emit(replace(self._started, total=total))

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        title = nodeid.rpartition("::")[2]
        self._stream.emit(ScenarioStarted(title, title))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        result: dict[str, Any] | None = getattr(report, "ahp_result", None)
        if result is not None:
            self._stream.emit(ScenarioFinished(ScenarioResult.from_json(result)))
        elif report.failed:
            self._problem(report)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self._problem(report)

    def pytest_internalerror(self, excrepr: object) -> None:
        self.problems.append(str(excrepr)[-_TAIL:])

    def _problem(self, report: pytest.TestReport | pytest.CollectReport) -> None:
        self.problems.append(f"{report.nodeid}: {report.longreprtext[-_TAIL:]}")
