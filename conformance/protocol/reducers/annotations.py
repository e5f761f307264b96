"""The fold of an annotations channel. Source: `types/channels-annotations/reducer.ts`.

That an annotation has at least one entry is for those who send actions to see to: removing the last
entry leaves an empty annotation.
"""

from __future__ import annotations

from typing import Final

from conformance.protocol.versions import Window

from .folding import Action, Handlers, State, Step, index_of, put, removed, replaced, upserted

MADE_IN_A_TURN: Final = Window("0.4.0", "0.9.0")
"""While this holds, an annotation names the turn it was made in; later its origin."""


def _set(state: State, action: Action, step: Step) -> State:
    return put(state, annotations=upserted(state["annotations"], action["annotation"], "id"))


def _updated(state: State, action: Action, step: Step) -> State:
    """Changes the members that the action has; none can be taken away."""
    place = index_of(state["annotations"], "id", action["annotationId"])
    made = "turnId" if MADE_IN_A_TURN.contains(step.version) else "origin"
    changes = {name: action[name] for name in (made, "resource", "range", "resolved") if action.get(name) is not None}
    if place < 0 or not changes:
        return state
    annotation = put(state["annotations"][place], **changes)
    return put(state, annotations=replaced(state["annotations"], place, annotation))


def _removed(state: State, action: Action, step: Step) -> State:
    place = index_of(state["annotations"], "id", action["annotationId"])
    return state if place < 0 else put(state, annotations=removed(state["annotations"], place))


def _entry_set(state: State, action: Action, step: Step) -> State:
    place = index_of(state["annotations"], "id", action["annotationId"])
    if place < 0:
        return state
    annotation = state["annotations"][place]
    longer = put(annotation, entries=upserted(annotation["entries"], action["entry"], "id"))
    return put(state, annotations=replaced(state["annotations"], place, longer))


def _entry_removed(state: State, action: Action, step: Step) -> State:
    place = index_of(state["annotations"], "id", action["annotationId"])
    if place < 0:
        return state
    annotation = state["annotations"][place]
    entry = index_of(annotation["entries"], "id", action["entryId"])
    if entry < 0:
        return state
    shorter = put(annotation, entries=removed(annotation["entries"], entry))
    return put(state, annotations=replaced(state["annotations"], place, shorter))


HANDLERS: Final[Handlers] = {
    "annotations/set": _set,
    "annotations/updated": _updated,
    "annotations/removed": _removed,
    "annotations/entrySet": _entry_set,
    "annotations/entryRemoved": _entry_removed,
}
