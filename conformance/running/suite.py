"""Where features and steps are: at the top of a checkout, inside the package once installed."""

from __future__ import annotations

import os
import sys
from functools import cache
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parents[1]


@cache
def suite_root() -> Path:
    """The folder that holds ``features`` and ``scenarios``. Raises FileNotFoundError for a broken installation.

    The environment variable AHP_CONFORMANCE_SUITE names another one, for whoever writes features of their own.
    """
    own = os.environ.get("AHP_CONFORMANCE_SUITE")
    for root in (Path(own),) if own else (_PACKAGE / "suite", _PACKAGE.parent):
        if (root / "features").is_dir() and (root / "scenarios").is_dir():
            return root
    raise FileNotFoundError("the installation lacks its features; install ahp-conformance again")


def features_root() -> Path:
    return suite_root() / "features"


def make_importable() -> None:
    """Let ``import scenarios`` find the step modules of this suite."""
    root = str(suite_root())
    if root not in sys.path:
        sys.path.insert(0, root)
