"""The fold of one automation run, since 0.9.0.

A request to cancel changes nothing: its outcome shows as a lifecycle, which only hosts may send.
Sources: `docs/specification/automation-run-channel.md`, `types/channels-automation-run/actions.ts`.
"""

from __future__ import annotations

from typing import Final

from .folding import Action, Handlers, State, Step, put, removed, setter, unchanged, without


def _lifecycle_changed(state: State, action: Action, step: Step) -> State:
    """Replaces the lifecycle, and with it the operations of those hosts whose runs still have them.

    Drafts of 0.9.0 listed the operations of a run beside its lifecycle; the release leaves them out.
    """
    new = put(state, lifecycle=action.get("lifecycle"))
    return put(new, operations=action["operations"]) if "operations" in action else new


def _session_set(state: State, action: Action, step: Step) -> State:
    sessions, session = state["sessions"], action["session"]
    return state if session in sessions else put(state, sessions=[*sessions, session])


def _session_removed(state: State, action: Action, step: Step) -> State:
    sessions, session = state["sessions"], action["session"]
    if session not in sessions:
        return state
    shorter = put(state, sessions=removed(sessions, sessions.index(session)))
    return without(shorter, "primarySession") if state.get("primarySession") == session else shorter


HANDLERS: Final[Handlers] = {
    "automationRun/lifecycleChanged": _lifecycle_changed,
    "automationRun/sessionSet": _session_set,
    "automationRun/sessionRemoved": _session_removed,
    "automationRun/primarySessionChanged": setter("primarySession"),
    "automationRun/cancelRequested": unchanged,
}
