"""The fold of the automation catalogue, since 0.9.0.

Requests change nothing: what becomes of them shows in `automation/set`, which only hosts may send.
Sources: `docs/specification/automation-channel.md`, `types/channels-automation/actions.ts`.
"""

from __future__ import annotations

from typing import Final

from .folding import Action, Handlers, State, Step, index_of, put, removed, unchanged, upserted


def _set(state: State, action: Action, step: Step) -> State:
    return put(state, entries=upserted(state["entries"], action["automation"], "resource"))


def _removed(state: State, action: Action, step: Step) -> State:
    place = index_of(state["entries"], "resource", action["resource"])
    return state if place < 0 else put(state, entries=removed(state["entries"], place))


HANDLERS: Final[Handlers] = {
    "automation/createRequested": unchanged,
    "automation/updateRequested": unchanged,
    "automation/set": _set,
    "automation/removed": _removed,
}
