"""What was asked of a model service and what came of it, and the pauses that requests are held at.

The service runs on a loop of its own; who reads this, awaits something or releases a pause is on another thread.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One HTTP request. It never holds the token that came with it.

    number: from 0, in the order of arrival. surface: `chat-completions`, `responses`, `messages`, `copilot`, `mcp`, or
    `unknown`. message: text of the user's message whose playbook is played, None without one. place: index of the first
    move of this answer. performed: what was done of it so far, such as `say`, `pause NAME`, `call TOOL`. tools: what
    the agent offers. missing: what the playbook wants and the agent does not offer, `server/tool` or `tool`. held: the
    pause at which the answer stands now. error: why the playbook cannot be played, or what the request was refused
    for. ended: "" while it is answered; `cut` by a playbook, `abandoned` when the agent went away, or the service did.
    """

    number: int
    surface: str
    method: str
    path: str
    status: int | None = None
    streamed: bool = False
    message: str | None = None
    place: int | None = None
    performed: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    held: str | None = None
    error: str | None = None
    ended: Literal["", "complete", "cut", "abandoned"] = ""


class Ledger:
    """The record and the pauses of one model service. Every method may be called from any thread."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._requests: list[ModelRequest] = []
        self._released: set[str] = set()
        self._waiting: dict[str, set[asyncio.Future[None]]] = {}

    @property
    def requests(self) -> tuple[ModelRequest, ...]:
        with self._changed:
            return tuple(self._requests)

    def await_request(self, wanted: Callable[[ModelRequest], bool], timeout: float) -> ModelRequest | None:
        """The first request that is as wanted, now or within ``timeout`` seconds; None when there was none."""

        def found() -> ModelRequest | None:
            return next((request for request in self._requests if wanted(request)), None)

        with self._changed:
            return self._changed.wait_for(found, timeout)

    def open(self, surface: str, method: str, path: str) -> int:
        """Enter a request; the number by which it is amended."""
        with self._changed:
            number = len(self._requests)
            self._requests.append(ModelRequest(number, surface, method, path))
            self._changed.notify_all()
        return number

    def amend(self, number: int, **changes: Any) -> None:
        """Change members of a request that was entered."""
        with self._changed:
            self._requests[number] = replace(self._requests[number], **changes)
            self._changed.notify_all()

    def release(self, name: str) -> None:
        """Let every request go on that is held at a pause of this name, now or later."""
        with self._changed:
            self._released.add(name)
            waiting = list(self._waiting.get(name, ()))
        for future in waiting:
            # A service that has stopped has no loop any more, and nothing that could go on.
            with suppress(RuntimeError):
                future.get_loop().call_soon_threadsafe(_wake, future)

    async def hold(self, number: int, name: str) -> None:
        """Wait until the pause is released. Cancelled, it is forgotten."""
        released = asyncio.get_running_loop().create_future()
        with self._changed:
            if name in self._released:
                return
            self._waiting.setdefault(name, set()).add(released)
        self.amend(number, held=name)
        try:
            await released
        finally:
            with self._changed:
                waiting = self._waiting[name]
                waiting.discard(released)
                if not waiting:
                    del self._waiting[name]
            self.amend(number, held=None)


def _wake(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
