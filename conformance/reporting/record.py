"""The run record: one JSON object that says everything about a run (format ``ahp-conformance-run/1``).

Every report is made from it, so it carries what a reader needs without the catalogue: statements and sources
of the obligations, and the frames that show a failure, shortened. Its schema is
``reports/run-record.schema.json``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from itertools import chain
from typing import Any

import conformance
from conformance.catalogue import Catalogue

from .events import (
    OUTCOMES,
    Event,
    JSONObject,
    RunFinished,
    RunStarted,
    ScenarioFinished,
    ScenarioResult,
    frame_to_json,
)
from .excerpt import trim, words_of
from .summary import closing_line
from .verdict import OBLIGATION_VERDICTS, Judged, evidence, judge_obligations, judge_run

FORMAT = "ahp-conformance-run/1"

# A host that floods breaks a rule a hundred thousand times; the record keeps the first ones and the number.
_FINDINGS_KEPT = 50
_FRAMES_KEPT = 8
_FRAME_LIMIT = 8192  # characters of JSON
_TEXT_LIMIT = 4096  # characters of a sentence that quotes the host


class RunRecorder:
    """A reporter that collects the results of a run and makes the record when it is over."""

    def __init__(self) -> None:
        self._started: RunStarted | None = None
        self._finished: RunFinished | None = None
        self._results: list[ScenarioResult] = []

    @property
    def results(self) -> Sequence[ScenarioResult]:
        """The results so far, in the order in which the scenarios finished."""
        return self._results

    def on(self, event: Event) -> None:
        if isinstance(event, RunStarted):
            self._started = event
        elif isinstance(event, ScenarioFinished):
            self._results.append(event.result)
        elif isinstance(event, RunFinished):
            self._finished = event

    def record(
        self,
        catalogue: Catalogue,
        *,
        covered: Collection[str] | None = None,
        occasional: Collection[str] = (),
        selection: Sequence[str] = (),
        strict: bool = False,
        waivers: Mapping[str, str] | None = None,
        suite_version: str = conformance.__version__,
    ) -> JSONObject:
        """The run record.

        ``covered`` are the obligations that the whole edition judges, by a scenario or an oracle rule
        (default: what this run touched). ``selection`` holds the ``--only`` arguments, empty for a whole run.
        ``waivers`` maps an obligation id to the reason why its breach is excused. Raises ValueError when the
        run never started; a run that never finished, or lost scenarios, becomes an ``error``.
        """
        started = self._started
        if started is None:
            raise ValueError("there is no record of a run that never started")
        results = sorted(self._results, key=lambda result: result.id)
        if covered is None:
            covered = {name for result in results for name in (*result.obligations, *result.watched)}
        problem = self._problem(started, results, catalogue)
        judged = judge_obligations(
            results,
            catalogue,
            protocol=started.protocol,
            tier=started.tier,
            covered=covered,
            occasional=occasional,
            restricted=bool(selection),
            waivers=waivers or {},
        )
        verdict = judge_run(judged, results, problem=problem, strict=strict, restricted=bool(selection))
        line = closing_line(
            verdict,
            judged,
            results,
            host=started.host,
            tier=started.tier,
            protocol=started.protocol,
            problem=problem,
            strict=strict,
            selection=selection,
        )
        outcomes = Counter(result.outcome for result in results)
        verdicts = Counter(item.verdict for item in judged)
        used = {item.obligation.id for item in judged if item.verdict == "waived"}
        stale = sorted(name for name in waivers or {} if name not in catalogue or catalogue[name].id not in used)
        record: JSONObject = {
            "format": FORMAT,
            "suite": {"name": "ahp-conformance", "version": suite_version},
            "catalogue": {
                "version": catalogue.version,
                "digest": catalogue.digest,
                "obligations": len(catalogue),
                "covered": len({catalogue[name].id for name in covered if name in catalogue}),
            },
            "started": started.started,
            "duration": round(self._finished.duration, 3) if self._finished else 0.0,
            "host": started.host.to_json(),
            "protocol": started.protocol,
            "tier": started.tier,
            "strict": strict,
            "rerun": started.rerun_prefix,
            "verdict": verdict,
            "summary": line,
            "counts": {
                "obligations": {name: verdicts[name] for name in OBLIGATION_VERDICTS},
                "scenarios": {name: outcomes[name] for name in OUTCOMES},
            },
            "obligations": [_obligation(item, strict) for item in judged],
            "scenarios": [_scenario(result) for result in results],
        }
        if selection:
            record["selection"] = list(selection)
        if problem is not None:
            record["problem"] = problem
        if stale:
            record["staleWaivers"] = stale
        plain: JSONObject = _plain(record)
        return plain

    def _problem(self, started: RunStarted, results: Sequence[ScenarioResult], catalogue: Catalogue) -> str | None:
        """What went wrong with the run as a whole; also what the suite itself would rather not notice."""
        if self._finished is None:
            return "the run was interrupted before its end"
        if self._finished.problem is not None:
            return self._finished.problem
        twice = [name for name, n in Counter(result.id for result in results).items() if n > 1]
        if twice:
            return f"two scenarios share the id {twice[0]}"
        for result in results:
            named = [
                result.obligations,
                result.watched,
                *(finding.obligations for finding in result.findings),
            ]
            for name in chain.from_iterable(named):
                if name not in catalogue:
                    return f"scenario {result.id} names {name}, an obligation that the catalogue does not have"
        if len(results) < started.total:
            return f"only {len(results)} of {started.total} scenarios finished"
        return None


def _obligation(item: Judged, strict: bool) -> JSONObject:
    rule = item.obligation
    entry: JSONObject = {
        "id": rule.id,
        "level": rule.level,
        "verdict": item.verdict,
        "demanded": item.demanded,
        "required": item.required,
        "decides": item.decides(strict),
        "advisory": not rule.decides,
        "provocation": rule.provocation,
        "statement": rule.statement,
        "source": rule.source,
        "scenarios": list(item.scenarios),
        "findings": [
            {"scenario": scenario, **finding.to_json()} for scenario, finding in item.findings[:_FINDINGS_KEPT]
        ],
        "findingCount": len(item.findings),
    }
    if item.waiver is not None:
        entry["waiver"] = {"reason": item.waiver}
    return entry


def _scenario(result: ScenarioResult) -> JSONObject:
    counted = evidence(result)
    own = set(result.obligations)
    # The scenario's own findings first: they explain its outcome, so the limit must not drop them.
    ordered = sorted(counted, key=lambda finding: own.isdisjoint(finding.obligations))
    words = words_of(result.step, *(text for f in ordered[:3] for text in (f.message, f.expected, f.seen)))
    optional = {
        "reason": result.reason,
        "detail": result.detail,
        "step": result.step,
        "transcript": result.transcript,
    }
    return {
        "id": result.id,
        "title": result.title,
        "feature": result.feature,
        "obligations": list(result.obligations),
        "outcome": result.outcome,
        **{name: value for name, value in optional.items() if value is not None},
        "duration": round(result.duration, 6),
        "waited": round(result.waited, 6),
        "findings": [finding.to_json() for finding in ordered[:_FINDINGS_KEPT]],
        "findingCount": len(counted),
        "watched": list(result.watched),
        "frames": [_short_frame(frame_to_json(frame), words) for frame in result.frames[:_FRAMES_KEPT]],
    }


def _short_frame(frame: JSONObject, words: Collection[str]) -> JSONObject:
    for name in ("msg", "raw", "close"):
        if name in frame:
            frame[name] = trim(frame[name], words=words, limit=_FRAME_LIMIT)
    return frame


def _plain(value: Any) -> Any:
    """The record as any JSON reader takes it: long quotations cut, no lone surrogates."""
    if isinstance(value, str):
        return trim(value, limit=_TEXT_LIMIT)
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list) else value
