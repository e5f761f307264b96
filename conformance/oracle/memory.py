"""Remembering no more than a bounded number of things, so that a log of any length is judged in constant memory."""

from __future__ import annotations

from typing import Any, TypeVar

K = TypeVar("K")
V = TypeVar("V")

LIMIT = 4096
"""How far back a rule looks for ids: far more than a scenario has, and little for a log of millions of frames."""


class Bounded(dict[K, V]):
    """A dict that forgets its oldest entries beyond ``limit`` (default: ``LIMIT``).

    Setting a key anew makes it the youngest.
    """

    __slots__ = ("limit",)

    def __init__(self, limit: int | None = None) -> None:
        super().__init__()
        self.limit = LIMIT if limit is None else limit

    def __setitem__(self, key: K, value: V) -> None:
        self.pop(key, None)
        super().__setitem__(key, value)
        if len(self) > self.limit:
            del self[next(iter(self))]

    def setdefault(self, key: K, default: V) -> V:
        """The value of ``key``, which becomes ``default`` when there is none."""
        if key not in self:
            self[key] = default
        return self[key]


def forget(kept: dict[Any, Any], channel: str) -> None:
    """Drop what is kept under keys that are tuples and begin with this channel."""
    for place in [place for place in kept if place[0] == channel]:
        del kept[place]
