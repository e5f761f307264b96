"""Whatever a host makes of the traffic on these channels, no rule breaks on it."""

from __future__ import annotations

import copy
import random
from typing import Any

import pytest

from conformance.oracle import Oracle
from conformance.wire.frames import Frame

from . import (
    test_annotations,
    test_changesets,
    test_channel_folds,
    test_channel_shapes,
    test_offers,
    test_terminal_lives,
    test_terminal_results,
    test_terminals,
    test_unasked,
)
from . import test_watches as watching
from .traces import Case, Cases, Trace

MODULES = (
    test_annotations,
    test_changesets,
    test_channel_folds,
    test_channel_shapes,
    test_offers,
    test_terminal_lives,
    test_terminal_results,
    test_terminals,
    test_unasked,
    watching,
)
BOOKS = [value for module in MODULES for value in vars(module).values() if isinstance(value, Cases)]
CASES = [case for book in BOOKS for case in (*book.bad_ones, *book.good_ones)]
JUNK: tuple[Any, ...] = (
    None,
    0,
    -1,
    0.5,
    2**70,
    "",
    "x",
    "ahp-terminal:/t1",
    True,
    [],
    [[]],
    {},
    [{}],
    {"id": []},
    [1],
)


def _mutated(value: Any, chance: random.Random) -> Any:
    """The value with something else somewhere in it, or something taken away."""
    if not isinstance(value, dict | list) or not value or chance.random() < 0.15:
        return chance.choice(JUNK)
    key = chance.choice(list(value)) if isinstance(value, dict) else chance.randrange(len(value))
    changed = copy.copy(value)
    if chance.random() < 0.15:
        del changed[key]
    else:
        changed[key] = _mutated(value[key], chance)
    return changed


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.rule}-{case.write.__name__}")
def test_mutated_traffic_breaks_no_rule(case: Case) -> None:
    chance = random.Random(case.write.__name__)
    for version in case.versions[:1]:
        trace = Trace(version)
        case.write(trace)
        for _ in range(12):
            frames = list(trace.frames)
            for _ in range(chance.randint(1, 3)):
                place = chance.randrange(len(frames))
                frame = frames[place]
                message = _mutated(frame.msg, chance)
                frames[place] = Frame(frame.n, frame.t, frame.conn, frame.dir, message, frame.raw, frame.kind)
            oracle = Oracle()
            for n, frame in enumerate(frames):
                oracle.feed(Frame(n, frame.t, frame.conn, frame.dir, frame.msg, frame.raw, frame.kind, frame.code))
            oracle.end()
            assert all(finding.rule and finding.obligations for finding in oracle.findings)
