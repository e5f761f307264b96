"""Which obligations this edition judges: those that a scenario carries, and those that a rule of the oracle watches."""

from __future__ import annotations

import re

from conformance.catalogue import Catalogue
from conformance.oracle import watched_obligations
from conformance.running.suite import features_root

_TAG = re.compile(r"@(AHP-[A-Z]+-\d{3})")


def in_features() -> frozenset[str]:
    """The ids that the tags of all features name."""
    return frozenset(
        tag
        for path in features_root().rglob("*.feature")
        for line in path.read_text("utf-8").splitlines()
        if line.lstrip().startswith("@")
        for tag in _TAG.findall(line)
    )


def occasional() -> frozenset[str]:
    """Those that no scenario carries, so that the oracle judges them when their occasion arises."""
    return watched_obligations() - in_features()


def covered(catalogue: Catalogue) -> frozenset[str]:
    return frozenset(o for o in in_features() | watched_obligations() if o in catalogue.obligations)
