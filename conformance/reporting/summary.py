"""The closing sentence of a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from conformance.catalogue import TIERS

from .events import HostInfo, ScenarioResult
from .verdict import Judged, RunVerdict

_NAMED = 3  # so many ids are worth naming in one sentence


def closing_line(
    verdict: RunVerdict,
    judged: Sequence[Judged],
    results: Sequence[ScenarioResult],
    *,
    host: HostInfo,
    tier: str,
    protocol: str,
    problem: str | None,
    strict: bool,
    selection: Sequence[str],
) -> str:
    """The verdict in words: what was proven, or what broke, or what is missing and why."""
    scope = f"tier {tier}, protocol {protocol}"
    if selection:
        scope += f", only {', '.join(selection)}"
    errors = sum(result.outcome == "error" for result in results)
    if verdict == "broken":
        guilty = [item for item in judged if item.verdict == "broken" and item.decides(strict)]
        tail = f"; {count(errors, 'scenario')} ended in an error of the suite" if errors else ""
        tail += f"; {_sentence(problem)}" if problem else ""
        return f"broken: {_by_level(guilty)} ({_some(item.obligation.id for item in guilty)}) — {scope}{tail}"
    if verdict == "error":
        why = _sentence(problem) if problem else f"{count(errors, 'scenario')} ended in an error of the suite"
        return f"error: no judgement, {why} — {scope}"
    if verdict == "incomplete":
        return f"incomplete: {_gap(judged, results, host)} — {scope}"
    return f"conformant: {scope} — {_proven(judged)}"


def _proven(judged: Sequence[Judged]) -> str:
    verdicts = Counter(item.verdict for item in judged)
    warnings = sum(item.verdict == "broken" and item.obligation.is_should for item in judged)
    parts = [f"{count(verdicts['met'], 'obligation')} met"]
    parts += [f"{verdicts['waived']} waived"] if verdicts["waived"] else []
    parts += [f"{verdicts['not-applicable']} not applicable"] if verdicts["not-applicable"] else []
    if verdicts["undecided"]:
        parts.append(f"{verdicts['undecided']} undecided that the tier does not require")
    parts += [count(warnings, "SHOULD warning")] if warnings else []
    return ", ".join(parts)


def _gap(judged: Sequence[Judged], results: Sequence[ScenarioResult], host: HostInfo) -> str:
    if not results:
        return "no scenario ran"
    required = [item for item in judged if item.required]
    missing = [item for item in required if item.verdict == "undecided"]
    if not any(result.outcome == "passed" for result in results):
        outcomes = Counter(result.outcome for result in results)
        return f"nothing passed ({', '.join(f'{n} {name}' for name, n in outcomes.most_common())})"
    if not missing:
        return "none of the required obligations could be proven"
    share = f"{len(missing)} of {count(len(required), 'required obligation')} undecided"
    return f"{share}; {_causes(missing, results, host)}"


def _causes(missing: Sequence[Judged], results: Sequence[ScenarioResult], host: HostInfo) -> str:
    """What stands in the way, the most frequent cause first. Each obligation counts once."""
    offered = TIERS["core"].provocations | set(host.provocations)
    by_id = {result.id: result for result in results}
    causes: Counter[str] = Counter()
    for item in missing:
        need = item.obligation.provocation
        reasons = Counter(by_id[name].reason or "no reason given" for name in item.scenarios if name in by_id)
        if need not in offered:
            causes[f"the host offers no provocation {need}"] += 1
        elif reasons:
            causes[reasons.most_common(1)[0][0]] += 1
        else:
            causes["not exercised"] += 1
    return ", ".join(f"{cause} ({n})" for cause, n in causes.most_common(4))


def _by_level(items: Sequence[Judged]) -> str:
    levels = Counter(item.obligation.level for item in items)
    return ", ".join(f"{n} {level}" for level, n in levels.items())


def _some(ids: Iterable[str]) -> str:
    names = list(ids)
    return ", ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")


def _sentence(text: str) -> str:
    return text.strip().rstrip(".")


def count(number: int, noun: str) -> str:
    """``1 scenario``, ``2 scenarios``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
