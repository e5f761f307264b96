"""Every obligation that a rule names is in the catalogue, and has a bad and a good trace here."""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path

import pytest

from conformance.catalogue import load
from conformance.oracle import Rule, watched_obligations
from conformance.oracle.rules import RULES

from .traces import Case, Cases


def _books() -> dict[str, list[Cases]]:
    """The books of the modules beside this one, by rule: several modules may write about one."""
    books: dict[str, list[Cases]] = {}
    names = [module.name for module in pkgutil.iter_modules([str(Path(__file__).parent)])]
    for name in names:
        if name.startswith("test_") and name != "test_coverage":
            for value in vars(importlib.import_module(f"{__package__}.{name}")).values():
                if isinstance(value, Cases) and value not in books.setdefault(value.rule, []):
                    books[value.rule].append(value)
    return books


BOOKS = _books()


def _bad(rule: type[Rule]) -> list[Case]:
    return [case for book in BOOKS[rule.name] for case in book.bad_ones]


rules = pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)


def test_every_rule_has_a_name_of_its_own_and_a_book() -> None:
    assert sorted(BOOKS) == sorted(rule.name for rule in RULES)


@rules
def test_every_obligation_is_in_the_catalogue(rule: type[Rule]) -> None:
    assert sorted(set(rule.obligations) - load().obligations.keys()) == []


@rules
def test_every_obligation_has_a_trace_that_breaks_it(rule: type[Rule]) -> None:
    broken = {o for case in _bad(rule) for o in case.obligations}
    assert sorted(set(rule.obligations) ^ broken) == []


def test_every_obligation_has_a_trace_that_meets_it() -> None:
    met = {o for books in BOOKS.values() for book in books for case in book.good_ones for o in case.obligations}
    assert sorted(watched_obligations() - met) == []


@rules
def test_every_window_is_hit(rule: type[Rule]) -> None:
    """No trace blames a version for what it does not ask for."""
    catalogue = load()
    for case in _bad(rule):
        for version in case.versions:
            assert any(catalogue[o].applies(version) for o in case.obligations), (case.write.__name__, version)
