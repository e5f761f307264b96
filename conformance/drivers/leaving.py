"""What must be undone before the suite leaves, however it leaves: hosts that run, folders that they were given."""

from __future__ import annotations

import atexit
import os
import signal
import threading
from collections.abc import Callable
from functools import cache
from typing import Final

Undo = Callable[[], None]

_PENDING: Final[dict[Undo, None]] = {}


def before_leaving(undo: Undo) -> None:
    """Call ``undo`` when the suite exits or is asked to terminate; the last one first."""
    _PENDING[undo] = None
    _arrange()


def undone(undo: Undo) -> None:
    """It has been called already."""
    _PENDING.pop(undo, None)


@cache
def _arrange() -> None:
    atexit.register(_undo_all)
    # A worker may be terminated by whoever ends its controller; who has a way of his own to leave keeps it.
    if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _terminated)


def _undo_all() -> None:
    for undo in reversed(tuple(_PENDING)):
        undo()


def _terminated(number: int, frame: object) -> None:
    """Undo, and then do what the signal does by itself."""
    _undo_all()
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
