"""The record of a check: one JSON object that says everything about it (format ``ahp-conformance-check/1``)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any, Final, Literal

import conformance
from conformance.catalogue import Catalogue, Obligation
from conformance.oracle import watched_obligations
from conformance.reporting.events import JSONObject, frame_to_json
from conformance.reporting.excerpt import trim
from conformance.reporting.summary import count

from .judging import LogResult
from .logs import Form

FORMAT: Final = "ahp-conformance-check/1"

Verdict = Literal["nothing broken", "broken", "nothing judged", "error"]
EXIT_CODES: Final[dict[Verdict, int]] = {"nothing broken": 0, "broken": 1, "nothing judged": 3, "error": 4}

_FINDINGS_KEPT = 50
_FRAME_LIMIT = 8192  # characters of JSON
_TEXT_LIMIT = 4096  # characters of a sentence that quotes the host
_NAMED = 5


def check_record(
    results: Sequence[LogResult], catalogue: Catalogue, *, protocol: str | None = None, strict: bool = False
) -> JSONObject:
    """What the logs show together. ``protocol`` is the version that was assumed where no handshake told it.

    An obligation is ``broken`` when a finding names it in a log to whose version it applies, and ``met`` when it was
    put to the test and not broken. A log that could not be read to its end makes the verdict an ``error``, unless
    something is broken before.
    """
    watched: Counter[str] = Counter()
    broken: defaultdict[str, int] = defaultdict(int)
    for result in results:
        for id_, times in result.watched.items():
            if _applies(catalogue, id_, result):
                watched[catalogue[id_].id] += times
        for finding in result.findings:
            for id_ in finding.obligations:
                if _applies(catalogue, id_, result):
                    broken[catalogue[id_].id] += 1
        for (_, ids), more in result.dropped.items():
            for id_ in ids:
                if _applies(catalogue, id_, result):
                    broken[catalogue[id_].id] += more
    entries = [
        _obligation(rule, watched[rule.id], broken.get(rule.id, 0), strict)
        for rule in catalogue
        if rule.id in watched or rule.id in broken
    ]
    verdict = _verdict(entries, results)
    host = [rule for rule in catalogue if rule.subject != "client" and _holds(rule, results, protocol)]
    passive = watched_obligations()
    judged = {entry["id"] for entry in entries}
    return {
        "format": FORMAT,
        "suite": {"name": "ahp-conformance", "version": conformance.__version__},
        "catalogue": {"version": catalogue.version, "digest": catalogue.digest, "obligations": len(catalogue)},
        "protocol": protocol,
        "strict": strict,
        "verdict": verdict,
        "summary": _summary(verdict, entries, results),
        "counts": {
            "met": sum(entry["verdict"] == "met" for entry in entries),
            "broken": sum(entry["verdict"] == "broken" for entry in entries),
            "noOccasion": sum(rule.id in passive and rule.id not in judged for rule in host),
            "needScenarios": sum(rule.id not in passive for rule in host),
        },
        "obligations": entries,
        "logs": [_log(result) for result in results],
    }


def _applies(catalogue: Catalogue, id_: str, result: LogResult) -> bool:
    if id_ not in catalogue:
        return False
    # Without any handshake only rules that hold at every version speak.
    return not result.versions or any(catalogue[id_].applies(version) for version in result.versions)


def _holds(rule: Obligation, results: Sequence[LogResult], protocol: str | None) -> bool:
    versions = {version for result in results for version in result.versions} | ({protocol} if protocol else set())
    return not versions or any(rule.applies(version) for version in versions)


def _obligation(rule: Obligation, occasions: int, findings: int, strict: bool) -> JSONObject:
    return {
        "id": rule.id,
        "level": rule.level,
        "verdict": "broken" if findings else "met",
        "decides": rule.decides and (rule.is_must or (strict and rule.is_should)),
        "advisory": not rule.decides,
        "statement": rule.statement,
        "source": rule.source,
        "occasions": occasions,
        "findings": findings,
    }


def _verdict(entries: Sequence[JSONObject], results: Sequence[LogResult]) -> Verdict:
    if any(entry["verdict"] == "broken" and entry["decides"] for entry in entries):
        return "broken"
    if any(result.problem is not None for result in results):
        return "error"
    return "nothing broken" if entries and any(result.spoke for result in results) else "nothing judged"


def _summary(verdict: Verdict, entries: Sequence[JSONObject], results: Sequence[LogResult]) -> str:
    scope = f"{count(sum(r.facts.frames for r in results), 'frame')} of {count(len(results), 'log')}"
    tested = f"{count(len(entries), 'obligation')} put to the test"
    if verdict == "broken":
        guilty = [entry["id"] for entry in entries if entry["verdict"] == "broken" and entry["decides"]]
        named = ", ".join(guilty[:_NAMED]) + (f" and {len(guilty) - _NAMED} more" if len(guilty) > _NAMED else "")
        return f"broken: {count(len(guilty), 'obligation')} ({named}) — {scope}, {tested}"
    if verdict == "error":
        stopped = next(result for result in results if result.problem is not None)
        assert stopped.problem is not None
        return f"error: {stopped.name}, line {stopped.problem.line} cannot be read — {scope}, {tested} before it"
    if verdict == "nothing judged":
        if entries:
            return f"nothing judged: the host grants no handshake and tells nothing in {scope}"
        return f"nothing judged: no obligation was put to the test by {scope}"
    warnings = sum(entry["verdict"] == "broken" for entry in entries)
    tail = f", {count(warnings, 'warning')}" if warnings else ""
    return f"nothing broken: {tested}{tail} — {scope}; what only scenarios can show is not judged"


def _log(result: LogResult) -> JSONObject:
    facts = result.facts
    log: JSONObject = {
        "log": result.name,
        "form": facts.form,
        "lines": facts.lines,
        "frames": facts.frames,
        "ending": result.ending,
        "connections": [
            {"name": c.name, "protocol": c.version, "handshake": c.handshake, "frames": c.frames}
            for c in result.connections
        ],
        "unread": [{"why": why, "lines": lines, "first": first} for why, (lines, first) in facts.unread.items()],
        "remarks": facts.remarks,
        "findings": [_plain(finding.to_json()) for finding in result.findings[:_FINDINGS_KEPT]],
        "findingCount": len(result.findings) + sum(result.dropped.values()),
        "evidence": [
            _frame(frame_to_json(frame), facts.form) for _, frame in sorted(result.evidence.items())[:_FINDINGS_KEPT]
        ],
    }
    if facts.kept_by is not None:
        log["keptBy"] = {"side": facts.kept_by, "assumed": facts.assumed}
    if facts.cut is not None:
        log["cut"] = facts.cut
    if result.problem is not None:
        log["problem"] = {"line": result.problem.line, "text": result.problem.problem}
    return log


def _plain(finding: JSONObject) -> JSONObject:
    return {k: trim(v, limit=_TEXT_LIMIT) if isinstance(v, str) else v for k, v in finding.items()}


def _frame(frame: dict[str, Any], form: Form | None) -> JSONObject:
    short = {k: trim(v, limit=_FRAME_LIMIT) if k in ("msg", "raw", "close") else v for k, v in frame.items()}
    # Logs of others number no frames, so the line stands for it.
    return short if form == "transcript" else {**short, "line": frame["n"]}
