"""What a server has been asked, for scenarios to look at and to wait for."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Seen:
    """One HTTP request that reached a server.

    place: 0 for the first, in order of arrival; method: the HTTP method; rpc and tool: method of the JSON-RPC message
    and name of the tool that it calls; token: SHA-256 (lower-case hex) of the bearer token, which itself is never kept;
    status: of the answer, None as long as there is none (a held call may have none until it is let go);
    metadata: a fetch of the metadata of the server's resource, not a request to the server itself.
    """

    place: int
    method: str
    rpc: str | None = None
    tool: str | None = None
    token: str | None = None
    status: int | None = None
    metadata: bool = False


class Record:
    """Requests in order of arrival. Thread-safe; an answer is entered before its first byte goes out."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._entries: list[Seen] = []

    @property
    def entries(self) -> tuple[Seen, ...]:
        with self._changed:
            return tuple(self._entries)

    def arrived(
        self,
        method: str,
        *,
        rpc: str | None = None,
        tool: str | None = None,
        token: str | None = None,
        metadata: bool = False,
    ) -> int:
        """Enter a request that has no answer yet, and return its place."""
        with self._changed:
            place = len(self._entries)
            self._entries.append(Seen(place, method, rpc, tool, token, None, metadata))
            self._changed.notify_all()
            return place

    def answered(self, place: int, status: int) -> None:
        with self._changed:
            self._entries[place] = replace(self._entries[place], status=status)
            self._changed.notify_all()

    def first(self, predicate: Callable[[Seen], bool], timeout: float, start: int) -> Seen | None:
        """The first entry from `start` on that the predicate holds for, awaited up to `timeout` seconds; else None."""

        def look() -> Seen | None:
            return next((seen for seen in self._entries[start:] if predicate(seen)), None)

        with self._changed:
            return self._changed.wait_for(look, timeout)
