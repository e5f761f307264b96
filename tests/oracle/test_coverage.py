"""Every obligation that a rule names is in the catalogue, and has a bad and a good trace here."""

from __future__ import annotations

import pytest

from conformance.catalogue import load
from conformance.oracle import Rule, watched_obligations
from conformance.oracle.rules import RULES

from . import (
    test_convergence,
    test_delivery,
    test_entries,
    test_frames,
    test_input_needed,
    test_mcp,
    test_origins,
    test_secrets,
    test_sequence,
    test_shapes,
    test_tool_auth,
    test_tool_calls,
    test_turns,
)
from .traces import Cases

BOOKS: dict[str, Cases] = {
    book.rule: book
    for book in (
        test_frames.form,
        test_frames.answers,
        test_shapes.shapes,
        test_sequence.numbering,
        test_sequence.one,
        test_delivery.delivery,
        test_delivery.vocabulary,
        test_origins.origins,
        test_turns.turns,
        test_tool_calls.calls,
        test_entries.entries,
        test_input_needed.bit,
        test_input_needed.left,
        test_tool_auth.blocks,
        test_mcp.servers,
        test_secrets.secrets,
        test_convergence.convergence,
    )
}

rules = pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)


def test_every_rule_has_a_name_of_its_own_and_a_book() -> None:
    assert sorted(BOOKS) == sorted(rule.name for rule in RULES)


@rules
def test_every_obligation_is_in_the_catalogue(rule: type[Rule]) -> None:
    assert sorted(set(rule.obligations) - load().obligations.keys()) == []


@rules
def test_every_obligation_has_a_trace_that_breaks_it(rule: type[Rule]) -> None:
    broken = {o for case in BOOKS[rule.name].bad_ones for o in case.obligations}
    assert sorted(set(rule.obligations) ^ broken) == []


def test_every_obligation_has_a_trace_that_meets_it() -> None:
    met = {o for book in BOOKS.values() for case in book.good_ones for o in case.obligations}
    assert sorted(watched_obligations() - met) == []


@rules
def test_every_window_is_hit(rule: type[Rule]) -> None:
    """No trace blames a version for what it does not ask for."""
    catalogue = load()
    for case in BOOKS[rule.name].bad_ones:
        for version in case.versions:
            assert any(catalogue[o].applies(version) for o in case.obligations), (case.write.__name__, version)
