"""Reference data of the specification's own project, where a copy of it lies beside the checkout."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

FROZEN_CLOCK = "1970-01-01T00:00:09.999Z"
"""The time at which the fixtures' folds were made."""


def beside_checkout(*parts: str) -> Path | None:
    """The folder `shared/…` next to the checkout or further up, or None."""
    for parent in Path(__file__).resolve().parents:
        candidate = parent.joinpath("shared", *parts)
        if candidate.is_dir():
            return candidate
    return None


UPSTREAM = beside_checkout("upstream", "0.6.0")
TRANSCRIPTS = beside_checkout("transcripts")


def without_nulls(value: Any) -> Any:
    """The value with null members left out: in the fixtures null stands for an absent member."""
    if isinstance(value, dict):
        return {name: without_nulls(member) for name, member in value.items() if member is not None}
    if isinstance(value, list):
        return [without_nulls(entry) for entry in value]
    return value


@cache
def fixtures() -> dict[str, dict[str, Any]]:
    """Every fold fixture by file name, null members left out."""
    if UPSTREAM is None:
        return {}
    return {
        path.stem: without_nulls(json.loads(path.read_text("utf-8")))
        for path in sorted((UPSTREAM / "reducers").glob("*.json"))
    }


@cache
def round_trips() -> dict[str, dict[str, Any]]:
    """Every value that codecs have to bring back, by file name. Here null is not absence."""
    if UPSTREAM is None:
        return {}
    return {
        path.stem: json.loads(path.read_text("utf-8")) for path in sorted((UPSTREAM / "round-trips").glob("*.json"))
    }


def fixture_names(*kinds: str) -> list[str]:
    """The fixtures of these channel kinds, or of all."""
    return [name for name, fixture in fixtures().items() if not kinds or fixture["reducer"] in kinds]
