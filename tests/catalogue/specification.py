"""The specification's own repository, where a copy of it lies beside the checkout or AHP_SPEC_CHECKOUT names one."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

BASELINE = "3234536b9824a5b6bc45c37458261f675fdc65c9"
"""The commit of release 0.6.0, which the catalogue was read from."""
NEXT = "ea6fae670c4012721fdc02d587b3a46ecdc871c0"
"""The commit of release 0.7.0."""


def _candidates() -> Iterator[Path]:
    if named := os.environ.get("AHP_SPEC_CHECKOUT"):
        yield Path(named)
    for parent in Path(__file__).resolve().parents:
        yield from sorted(parent.glob(".mirror/*agent-host-protocol/repo"))
        yield from sorted(parent.glob("agent-host-protocol*"))


@cache
def repository(commit: str) -> Path | None:
    """A checkout or git directory that has the commit, or None."""
    for path in _candidates():
        words = ["git", "-C", str(path), "cat-file", "-e", f"{commit}^{{commit}}"]
        if path.is_dir() and subprocess.run(words, capture_output=True, check=False).returncode == 0:
            return path
    return None
