"""The pytest plugin: binds scenarios to a host, judges each one, and hands the results on.

It is loaded with ``-p conformance.plugin`` and told what to do by ``--ahp-settings``. pytest and pytest-bdd find and
run the steps; what a scenario's end means is decided here (and in verdict.py), not by pytest.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pytest_bdd.scenario import scenario_wrapper_template_registry

from conformance.catalogue import Catalogue
from conformance.catalogue import load as load_catalogue
from conformance.client import HostClosed, Silent, Unreached
from conformance.oracle import Finding
from conformance.protocol import compare
from conformance.reporting.events import ScenarioResult
from conformance.running.announcer import CHOSEN, THEATRE
from conformance.running.gherkin import FeatureError, ScenarioFacts, duplicate_titles, facts_of
from conformance.running.settings import Settings
from conformance.running.stage import Stage, Theatre
from conformance.running.steps import StepBook, StepError
from conformance.running.suite import features_root
from conformance.running.verdict import Ending, ending
from conformance.wire.frames import Frame
from conformance.wire.transcript import masked, masked_text

STAGE = pytest.StashKey[Stage]()
STEP = pytest.StashKey[Any]()
RESULT = pytest.StashKey[ScenarioResult]()
_LEVEL_RANK = {"must": 0, "should": 1, "may": 2}


class Judge:
    """The side that runs scenarios: one in a plain run, one in each worker."""

    def __init__(self, settings: Settings, theatre: Theatre, *, owns_driver: bool) -> None:
        self.settings = settings
        self.theatre = theatre
        self.catalogue: Catalogue = load_catalogue()
        self.facts: dict[str, ScenarioFacts] = {}
        self._owns_driver = owns_driver

    # -- collecting -----------------------------------------------------------------------------------

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(
        self, session: pytest.Session, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        root = features_root()
        try:
            book = StepBook()
            book.install()
            for path in {Path(t.feature.filename) for t in map(_template, items) if t is not None}:
                for title in duplicate_titles(path):
                    raise FeatureError(f"{path.name}: two scenarios are called {title!r}; give each its own title")
            every = {item.nodeid: self._facts(item, root) for item in items}
            for item in items:
                _check_steps(item, book)
        except (FeatureError, StepError) as error:
            raise pytest.UsageError(str(error)) from error
        _refuse_equal_ids([f for f in every.values() if f])
        chosen = [item for item in items if self._wanted(every[item.nodeid])]
        self.facts = {item.nodeid: fact for item in chosen if (fact := every[item.nodeid]) is not None}
        chosen.sort(key=lambda item: self.facts[item.nodeid].id)
        items[:] = chosen
        config.stash[CHOSEN] = len(chosen)

    def _facts(self, item: pytest.Item, root: Path) -> ScenarioFacts | None:
        template = _template(item)
        return None if template is None else facts_of(template, _example(item), root, self.catalogue)

    def _wanted(self, facts: ScenarioFacts | None) -> bool:
        if facts is None or not facts.matches(self.settings.only):
            return False
        level = next((tag for tag in _LEVEL_RANK if tag in facts.tags), "may")
        return _LEVEL_RANK[level] <= _LEVEL_RANK[self.settings.level]

    # -- running --------------------------------------------------------------------------------------

    @pytest.hookimpl(tryfirst=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> object:
        facts = self.facts.get(pyfuncitem.nodeid)
        if facts is None:
            return None
        began = time.perf_counter()
        end = self._without_running(facts)
        if end is not None:
            result = _result(facts, end, time.perf_counter() - began)
        else:
            result = self._run(pyfuncitem, facts, began)
        pyfuncitem.stash[RESULT] = result
        _tell_pytest(result)
        return True

    def _without_running(self, facts: ScenarioFacts) -> Ending | None:
        version = self.theatre.version
        if not any(self.catalogue[o].applies(version) for o in facts.obligations):
            return Ending("not-applicable", "version-window", f"none of its obligations holds at {version}")
        if facts.since and _before(version, facts.since):
            return Ending("not-applicable", "version-window", f"it is about hosts from {facts.since} on")
        if facts.until and not _before(version, facts.until):
            return Ending("not-applicable", "version-window", f"it is about hosts before {facts.until}")
        missing = sorted(facts.needs - self.theatre.facts.provocations)
        if missing:
            return Ending(
                "inconclusive",
                "backend-missing",
                f"the host cannot be made to do this here: {', '.join(missing)}",
            )
        return None

    def _run(self, item: pytest.Function, facts: ScenarioFacts, began: float) -> ScenarioResult:
        stage = item.stash[STAGE] = Stage(self.theatre)
        trouble: BaseException | None = None
        try:
            arguments = {name: item.funcargs[name] for name in item._fixtureinfo.argnames}
            item.obj(**arguments)
        except Exception as error:
            trouble = error
        if isinstance(trouble, Silent):
            # A host may send anything, so looking for an excuse may fail; then there is none.
            with suppress(Exception):
                trouble = stage.agent.excuse() or trouble
        step = item.stash.get(STEP, None)
        kind = step.type if step is not None else "given"
        try:
            stage.conclude(witness=_answers(trouble))
        except Exception as error:
            trouble = trouble or error
        watched = tuple(sorted(stage.oracle.watched))
        end = ending(trouble, kind, facts.obligations, stage.oracle.findings)
        stage.remember_silence()
        if end.outcome == "passed" and not stage.heard:
            end = Ending("inconclusive", "nothing-seen", "the host answered nothing, so nothing was judged")
        findings = tuple(
            _masked(stage, f) for f in ((end.finding,) if end.finding else ()) + tuple(stage.oracle.findings)
        )
        end = replace(end, detail=masked_text(end.detail or "", stage.recorder.secrets) or None)
        line = f"{step.keyword} {step.name}" if step is not None and trouble is not None else None
        return _result(
            facts,
            end,
            time.perf_counter() - began,
            findings=findings,
            waited=stage.pump.waited,
            watched=watched,
            step=line,
            frames=tuple(_evidence(stage, findings)),
            transcript=self._transcript(facts, stage),
        )

    def _transcript(self, facts: ScenarioFacts, stage: Stage) -> str | None:
        if self.settings.out is None or not stage.frames:
            return None
        name = f"transcripts/{facts.id.replace('/', '.')}.jsonl"
        path = Path(self.settings.out) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        stage.recorder.write(path)
        return name

    def pytest_bdd_before_step(self, request: pytest.FixtureRequest, step: Any) -> None:
        request.node.stash[STEP] = step

    def pytest_bdd_step_func_lookup_error(self, request: pytest.FixtureRequest, step: Any) -> None:
        request.node.stash[STEP] = step

    def pytest_bdd_apply_tag(self, tag: str, function: Any) -> bool:
        # Tags are read from the scenario itself; as markers they would only be unknown ones.
        return True

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Generator[None, Any, Any]:
        report = yield
        result = item.stash.get(RESULT, None)
        if result is not None and report.when == "call":
            report.ahp_result = result.to_json()
        return report

    def pytest_sessionfinish(self) -> None:
        if self._owns_driver:
            self.theatre.driver.stop()


@pytest.fixture
def stage(request: pytest.FixtureRequest) -> Stage:
    """The stage of the running scenario."""
    current: Stage = request.node.stash[STAGE]
    return current


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--ahp-settings", default=None, help="what the conformance run is told to do, as JSON")


def pytest_configure(config: pytest.Config) -> None:
    text = config.getoption("--ahp-settings")
    if text is None or getattr(config.option, "numprocesses", None):
        return
    settings = Settings.loads(text)
    theatre = config.stash.get(THEATRE, None)
    owns = theatre is None
    if theatre is None:
        theatre = _theatre_of_worker(settings, config)
    config.pluginmanager.register(Judge(settings, theatre, owns_driver=owns), "ahp-judge")


def _theatre_of_worker(settings: Settings, config: pytest.Config) -> Theatre:
    from conformance.running.runner import build_theatre

    driver = settings.driver(timeout=settings.patience)
    workerinput = getattr(config, "workerinput", None) or {}
    settings.keep_evidence(driver, workerinput.get("workerid", "worker"))
    try:
        driver.start()
        return build_theatre(driver, settings)
    except BaseException:
        driver.stop()
        raise


def _template(item: pytest.Item) -> Any:
    function = getattr(item, "function", None)
    return scenario_wrapper_template_registry.get(function) if function is not None else None


def _example(item: pytest.Item) -> dict[str, str] | None:
    """The row of an outline that the item plays."""
    callspec = getattr(item, "callspec", None)
    return callspec.params.get("_pytest_bdd_example") if callspec else None


def _check_steps(item: pytest.Item, book: StepBook) -> None:
    """Every step has exactly one definition; better known before the first scenario than in the middle of a run."""
    template = _template(item)
    if template is None:
        return
    for step in template.render(_example(item) or {}).steps:
        try:
            book.find(step)
        except StepError as error:
            raise StepError(f"{Path(template.feature.filename).name}: {template.name!r}: {error}") from error


def _refuse_equal_ids(facts: Sequence[ScenarioFacts]) -> None:
    seen: set[str] = set()
    for fact in facts:
        if fact.id in seen:
            raise pytest.UsageError(f"two scenarios have the id {fact.id}; tell them apart with an @id-… tag")
        seen.add(fact.id)


def _before(version: str, bound: str) -> bool:
    return compare(version, bound) < 0


def _answers(trouble: BaseException | None) -> bool:
    """Whether the host may be asked once more: one that fell silent would only be waited for."""
    return not isinstance(trouble, Silent | HostClosed | Unreached)


def _masked(stage: Stage, finding: Finding) -> Finding:
    """Findings go into reports as they are, so no secret may be left in them."""
    secrets = stage.recorder.secrets
    return replace(
        finding,
        message=masked_text(finding.message, secrets),
        expected=masked_text(finding.expected, secrets),
        seen=masked_text(finding.seen, secrets),
    )


def _evidence(stage: Stage, findings: Sequence[Finding], limit: int = 8) -> Iterator[Frame]:
    numbers = sorted({f.frame for f in findings if f.frame is not None})[:limit]
    for number in numbers:
        if number < len(stage.frames):
            yield masked(stage.frames[number], stage.recorder.secrets)


def _result(facts: ScenarioFacts, end: Ending, duration: float, **more: Any) -> ScenarioResult:
    return ScenarioResult(
        id=facts.id,
        title=facts.title,
        feature=facts.feature,
        obligations=facts.obligations,
        outcome=end.outcome,
        reason=end.reason,
        detail=end.detail,
        duration=duration,
        **more,
    )


def _tell_pytest(result: ScenarioResult) -> None:
    """Whoever runs pytest by hand sees the outcome there too."""
    if result.outcome in ("failed", "error"):
        pytest.fail(result.detail or result.outcome, pytrace=False)
    elif result.outcome != "passed":
        pytest.skip(f"{result.outcome}: {result.reason}: {result.detail}")
