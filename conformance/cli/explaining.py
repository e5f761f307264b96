"""Gathering what this edition knows about an obligation: scenarios, rules of the oracle, faults, disputes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from conformance.catalogue import Catalogue, Obligation
from conformance.catalogue.disputes import load_disputes
from conformance.host.faults import FAULTS
from conformance.oracle.rules import RULES
from conformance.reporting.explanation import Carrier, Explanation, Mutation
from conformance.running.gherkin import facts_of
from conformance.running.suite import features_root


def explanations(ids: Iterable[str], catalogue: Catalogue) -> list[Explanation]:
    """One for each id; every id must be in the catalogue."""
    root, disputes = features_root(), load_disputes()
    texts = {path: path.read_text("utf-8") for path in sorted(root.rglob("*.feature"))}
    found = []
    for asked in ids:
        obligation = catalogue[asked]
        found.append(
            Explanation(
                asked=asked,
                obligation=obligation,
                scenarios=tuple(
                    carrier
                    for path, text in texts.items()
                    if f"@{obligation.id}" in text
                    for carrier in _carriers(path, root, obligation, catalogue)
                ),
                rules=tuple(rule.name for rule in RULES if obligation.id in rule.obligations),
                faults=tuple(Mutation(f.name, f.doc) for f in FAULTS.values() if f.obligation == obligation.id),
                disputes=tuple(disputes[name] for name in obligation.dispute if name in disputes),
                see=tuple((other, catalogue[other].statement) for other in obligation.see if other in catalogue),
            )
        )
    return found


def _carriers(path: Path, root: Path, obligation: Obligation, catalogue: Catalogue) -> Iterator[Carrier]:
    """The scenarios of a feature that the obligation's tag stands on."""
    from pytest_bdd.parser import FeatureParser

    for scenario in FeatureParser(str(path.parent), path.name).parse().scenarios.values():
        # The parser has the file relative to the folder; an id is relative to all features.
        scenario.feature.filename = str(path)
        facts = facts_of(scenario, None, root, catalogue)
        if obligation.id in facts.obligations:
            place = f"{path.relative_to(root.parent).as_posix()}:{scenario.line_number}"
            yield Carrier(facts.id, facts.title, place)
