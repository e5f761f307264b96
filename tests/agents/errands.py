"""What a turn has done outside of the host: work on the loop whose outcome the turn waits for."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from conformance.host.agent import Steps

if TYPE_CHECKING:
    from .host import AgentHost
    from .turns import AgentTurn

T = TypeVar("T")


class Errand(Generic[T]):
    """Runs ``work`` on the loop. It is broken off when the turn that waits for it is closed.

    work: gets a function that hands something to the turn before the work is done.
    """

    def __init__(self, turn: AgentTurn, work: Callable[[Callable[[Any], None]], Awaitable[T]]) -> None:
        self._host: AgentHost = turn.host
        self._turn = turn
        self.arrived: deque[Any] = deque()
        self._result: T | None = None
        self._failure: Exception | None = None
        self._over = False
        self._task = self._host.spawn(self._run(work))

    async def _run(self, work: Callable[[Callable[[Any], None]], Awaitable[T]]) -> None:
        try:
            self._result = await work(self._put)
        except asyncio.CancelledError:
            raise
        except Exception as failure:
            self._failure = failure
        self._over = True
        self._tell()

    def _put(self, item: Any) -> None:
        self.arrived.append(item)
        self._tell()

    def _tell(self) -> None:
        self._host.touch(self._turn)
        self._host.wake()

    def wait(self) -> Steps:
        """Steps up to something that has arrived, or to the end of the work."""
        try:
            yield lambda: bool(self.arrived) or self._over
        except GeneratorExit:
            self._task.cancel()
            raise

    def outcome(self) -> T | None:
        """What the work has come to; None while it runs. Raises what the work has raised."""
        if self._failure is not None:
            raise self._failure
        return self._result

    @property
    def over(self) -> bool:
        return self._over
