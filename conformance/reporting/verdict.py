"""Verdicts: what the results say about each obligation, and what those say about the run.

Pure functions over the results; the words for the verdict are in :mod:`.summary`.

An obligation, the first line that holds:

    not-applicable   the version window excludes it
    broken           a scenario that carries it failed on it, or an oracle finding names it
    waived           as broken, and a waiver excuses it
    met              the oracle watched it, or a scenario passed and none that carries it failed
    not-applicable   every scenario that carries it was
    undecided        anything else: nothing ran, or what ran proved nothing

A run, the first line that holds:

    broken       an unwaived obligation that decides is broken: a MUST, what the tier demands, in a strict
                 run also a SHOULD
    error        the suite or the environment failed in some part
    incomplete   a required obligation is undecided, or nothing was proven at all
    conformant   anything else

Scenarios that ended in an error are no evidence for anything.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from conformance.catalogue import Catalogue, Obligation, tiers
from conformance.oracle.findings import Finding

from .events import ScenarioResult

ObligationVerdict: TypeAlias = Literal["met", "broken", "undecided", "not-applicable", "waived"]
OBLIGATION_VERDICTS: tuple[ObligationVerdict, ...] = (
    "met",
    "broken",
    "undecided",
    "not-applicable",
    "waived",
)

RunVerdict: TypeAlias = Literal["conformant", "broken", "incomplete", "error"]
EXIT_CODES: Mapping[RunVerdict, int] = {"conformant": 0, "broken": 1, "incomplete": 3, "error": 4}

STEP = "step"
"""The rule of a finding that a Then step made; every other rule is one of the oracle's."""


@dataclass(frozen=True, slots=True)
class Judged:
    """One obligation with its verdict. ``demanded`` is what the tier says of it; ``required`` adds that this
    run had to decide it. ``findings`` name the scenario (by id) in which each was made."""

    obligation: Obligation
    verdict: ObligationVerdict
    demanded: bool
    required: bool
    scenarios: tuple[str, ...]
    findings: tuple[tuple[str, Finding], ...]
    waiver: str | None = None

    def decides(self, strict: bool) -> bool:
        """Whether a breach of it breaks the run."""
        rule = self.obligation
        return rule.decides and (rule.is_must or self.demanded or (strict and rule.is_should))


def judge_obligations(
    results: Sequence[ScenarioResult],
    catalogue: Catalogue,
    *,
    protocol: str,
    tier: str,
    covered: Collection[str],
    occasional: Collection[str] = (),
    restricted: bool,
    waivers: Mapping[str, str],
) -> list[Judged]:
    """The verdict of each obligation that this run could judge, in the order of the catalogue.

    ``covered`` are the ids that a scenario or an oracle rule of this edition judges, ``occasional`` those that the
    oracle alone judges: nothing provokes their occasion on purpose, so they are required only of a run in which it
    arose. In a ``restricted`` run only what the results touch is judged, and only what their scenarios carry is
    required. Ids that the catalogue does not know are left out (the record reports them); ids that were merged count
    as their successor.
    """
    carriers: defaultdict[str, list[ScenarioResult]] = defaultdict(list)
    findings: defaultdict[str, list[tuple[str, Finding]]] = defaultdict(list)
    watched: set[str] = set()

    def known(ids: Collection[str]) -> list[str]:
        return list(dict.fromkeys(catalogue[name].id for name in ids if name in catalogue))

    for result in results:
        carried = known(result.obligations)
        for name in carried:
            carriers[name].append(result)
        if result.outcome == "error":
            continue
        watched.update(known(result.watched))
        for finding in evidence(result):
            for name in known(finding.obligations):
                findings[name].append((result.id, finding))

    touched = carriers.keys() | findings.keys() | watched
    judged_ids = touched if restricted else touched | set(known(covered))
    provoked = set(known(covered)) - set(known(occasional))
    required = tiers.required(catalogue, tier, protocol, provoked | touched)
    if restricted:
        required &= carriers.keys()
    excused = {catalogue[name].id: why for name, why in waivers.items() if name in catalogue}

    return [
        Judged(
            obligation=rule,
            verdict=_verdict(
                carriers[rule.id],
                applies=rule.applies(protocol),
                found=bool(findings[rule.id]),
                watched=rule.id in watched,
                waived=rule.id in excused,
            ),
            demanded=tiers.demanded(tier, rule),
            required=rule.id in required and rule.decides,
            scenarios=tuple(result.id for result in carriers[rule.id]),
            findings=tuple(findings[rule.id]),
            waiver=excused.get(rule.id),
        )
        for rule in catalogue
        if rule.id in judged_ids
    ]


def evidence(result: ScenarioResult) -> tuple[Finding, ...]:
    """The findings of a result that count.

    A step's finding counts only when the scenario failed: a Given that could not be reached proves nothing.
    A failed scenario without a finding of its own still failed on everything that it carries.
    """
    if result.outcome != "failed":
        return tuple(finding for finding in result.findings if finding.rule != STEP)
    if result.own_findings():
        return result.findings
    message = result.detail or "The scenario failed."
    whole = Finding(STEP, result.obligations, message, result.step or result.title, message)
    return (whole, *result.findings)


def _verdict(
    carriers: Sequence[ScenarioResult],
    *,
    applies: bool,
    found: bool,
    watched: bool,
    waived: bool,
) -> ObligationVerdict:
    outcomes = {result.outcome for result in carriers}
    if not applies:
        return "not-applicable"
    if found:
        return "waived" if waived else "broken"
    if watched or ("passed" in outcomes and "failed" not in outcomes):
        return "met"
    if not outcomes:
        return "undecided"
    return "not-applicable" if outcomes == {"not-applicable"} else "undecided"


def judge_run(
    judged: Sequence[Judged],
    results: Sequence[ScenarioResult],
    *,
    problem: str | None,
    strict: bool,
    restricted: bool,
) -> RunVerdict:
    """The verdict of the run.

    ``problem`` says how the suite or the environment failed as a whole, None when they did not. A whole run
    that requires nothing proves nothing; a ``restricted`` one may select what no tier requires.
    """
    if any(item.verdict == "broken" and item.decides(strict) for item in judged):
        return "broken"
    if problem is not None or any(result.outcome == "error" for result in results):
        return "error"
    required = [item.verdict for item in judged if item.required]
    proven = any(result.outcome == "passed" for result in results) and (
        any(verdict in ("met", "waived") for verdict in required) or (restricted and not required)
    )
    return "conformant" if proven and "undecided" not in required else "incomplete"
