"""Comparing values: the first place where two differ, with tolerance for what no version of AHP knows.

Objects are open, so a host may keep members of its own, and members of later versions may come along. Nobody else
can say when those should change: a member that the version does not know is compared only where both values have it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import orjson

from conformance.protocol import BASELINE, schema_for

from .reading import JSON, member

# Members whose content has names of its own, so that none of them is unknown.
_FREE = frozenset({"_meta", "answers", "args", "config", "data", "properties", "structuredContent", "values"})


@dataclass(frozen=True, slots=True)
class Difference:
    """A place, as the members and indices that lead there, and what the two values have in it ("absent": nothing)."""

    steps: tuple[str | int, ...]
    left: JSON
    right: JSON

    @property
    def path(self) -> str:
        return "$" + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in self.steps)


@lru_cache(maxsize=8)
def vocabulary(version: str) -> frozenset[str]:
    """The names of all members that the version knows, of whatever type."""
    return frozenset(_names(schema_for(version)["$defs"]))


def _names(schema: JSON) -> Iterator[str]:
    if isinstance(schema, dict):
        properties = schema.get("properties")
        if isinstance(properties, dict):
            yield from properties
        for part in schema.values():
            yield from _names(part)
    elif isinstance(schema, list):
        for part in schema:
            yield from _names(part)


def without_nulls(value: JSON) -> JSON:
    """The value less its null members: for AHP they mean the same as absent ones."""
    # States of real hosts are large and hardly ever have one; a look at their text is some hundred times faster.
    text = _text(value)
    return value if text is not None and b":null" not in text else _without_nulls(value)


def _without_nulls(value: JSON) -> JSON:
    if isinstance(value, dict):
        return {k: _without_nulls(v) for k, v in value.items() if v is not None}
    if isinstance(value, list):
        return [_without_nulls(v) for v in value]
    return value


def _text(value: JSON) -> bytes | None:
    """A value as JSON that is the same for equal values; None when there is no telling (integers beyond 64 bits)."""
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
    except TypeError:
        return None


def _evident(left: JSON, right: JSON) -> bool:
    """Whether two values are the same by their text. Those that are not may still be, such as 5 and 5.0."""
    text = _text(left)
    return text is not None and text == _text(right)


def difference(left: JSON, right: JSON, version: str | None = None, *, contained: bool = False) -> Difference | None:
    """The first place where two values differ; None when they are equal.

    ``contained``: it is enough that all of ``left`` is in ``right``, which may have members more.
    """
    return _difference(left, right, (), version or BASELINE, contained, free=False)


def _difference(
    left: JSON, right: JSON, steps: tuple[str | int, ...], version: str, contained: bool, free: bool
) -> Difference | None:
    if isinstance(left, dict | list) and _evident(left, right):
        return None
    if isinstance(left, dict) and isinstance(right, dict):
        for key in left if contained else (*left, *(k for k in right if k not in left)):
            if key not in left or key not in right:
                if free or key in vocabulary(version):
                    return Difference((*steps, key), left.get(key, "absent"), right.get(key, "absent"))
                continue
            within = free or key in _FREE
            found = _difference(left[key], right[key], (*steps, key), version, contained, within)
            if found is not None:
                return found
        return None
    if isinstance(left, list) and isinstance(right, list):
        for place, (one, other) in enumerate(zip(left, right, strict=False)):
            found = _difference(one, other, (*steps, place), version, contained, free)
            if found is not None:
                return found
        return None if len(left) == len(right) else Difference(steps, left, right)
    # True is 1 in Python and not in JSON; 5 and 5.0 are the same in both.
    same = left == right and isinstance(left, bool) == isinstance(right, bool)
    return None if same else Difference(steps, left, right)


def found_at(value: JSON, steps: tuple[str | int, ...]) -> JSON:
    """What stands at a place; None when nothing does."""
    for step in steps:
        if isinstance(step, int):
            value = value[step] if isinstance(value, list) and step < len(value) else None
        else:
            value = member(value, step)
    return value
