"""How a step says that something did not go as it should. The plugin turns these into outcomes.

A step that raises :class:`Broken` has seen the host break a rule. :class:`Unreached` means that the situation to
be judged never came about, and :class:`NotClaimed` that the host does not offer what is judged. Silence and a
closed connection are neutral in themselves: under a Given they leave the scenario inconclusive, under a Then they
are the failure.
"""

from __future__ import annotations

from typing import Any


class Broken(Exception):
    """The host broke a rule. ``obligation`` narrows it to one of the scenario's obligations."""

    def __init__(
        self,
        message: str,
        *,
        expected: Any = "",
        seen: Any = "",
        frame: int | None = None,
        obligation: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.expected = expected
        self.seen = seen
        self.frame = frame
        self.obligation = obligation


class Unreached(Exception):
    """The situation could not be reached; ``code`` is the reason code of the report."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class NotClaimed(Exception):
    """The host does not claim the capability that the scenario judges."""


class Silent(Exception):
    """Nothing came within the patience. ``last`` is the number of the last frame before it."""

    def __init__(self, awaited: str, patience: float, last: int | None = None) -> None:
        super().__init__(f"no {awaited} within {patience:g} s")
        self.awaited = awaited
        self.last = last


class HostClosed(Exception):
    """The host closed the connection while something was awaited."""

    def __init__(self, awaited: str, code: int | None, reason: str = "") -> None:
        detail = f" ({reason})" if reason else ""
        super().__init__(f"the host closed the connection with code {code}{detail} while {awaited} was awaited")
        self.awaited = awaited
        self.code = code


class Refused(Exception):
    """A request that had to succeed was answered with an error."""

    def __init__(self, method: str, error: Any, frame: int) -> None:
        super().__init__(f"{method} was answered with the error {error!r}")
        self.method = method
        self.error = error
        self.frame = frame

    @property
    def code(self) -> int | None:
        code = self.error.get("code") if isinstance(self.error, dict) else None
        return code if isinstance(code, int) else None


class Rejected(Refused):
    """An action that had to be accepted came back with a rejectionReason."""

    def __init__(self, action: str, reason: Any, frame: int) -> None:
        super().__init__(action, reason, frame)
        self.args = (f"{action} was rejected: {reason!r}",)
