"""The fold of a canvas, since 1.0.0. Source: `types/channels-canvas/actions.ts`."""

from __future__ import annotations

from typing import Any, Final

from .folding import Action, Handlers, State, Step


def _state_changed(state: State, action: Action, step: Step) -> State:
    """Replaces the state as a whole, so that a source which is not named any more is withdrawn."""
    canvas: Any = action["canvas"]
    return canvas if isinstance(canvas, dict) else state


HANDLERS: Final[Handlers] = {"canvas/stateChanged": _state_changed}
