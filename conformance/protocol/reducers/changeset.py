"""The fold of a changeset channel. Source: `types/channels-changeset/reducer.ts`.

An error is kept only as long as the status that it explains. Files keep their order: a known id is
replaced where it is, a new one comes last.
"""

from __future__ import annotations

from typing import Any, Final

from conformance.protocol.versions import Window

from .folding import Action, Handlers, State, Step, index_of, put, removed, replaced, setter, upserted

CONTENT_CARRIES_ERROR: Final = Window("0.4.0", "0.9.0")
"""While this holds, new content brings an error or clears the old one; later only a status does."""


def _with_status(value: dict[str, Any], action: Action) -> dict[str, Any]:
    status = action["status"]
    return put(value, status=status, error=action.get("error") if status == "error" else None)


def _status_changed(state: State, action: Action, step: Step) -> State:
    return _with_status(state, action)


def _file_set(state: State, action: Action, step: Step) -> State:
    return put(state, files=upserted(state["files"], action["file"], "id"))


def _file_removed(state: State, action: Action, step: Step) -> State:
    place = index_of(state["files"], "id", action["fileId"])
    return state if place < 0 else put(state, files=removed(state["files"], place))


def _files_review_changed(state: State, action: Action, step: Step) -> State:
    named, reviewed = set(action["files"]), action["reviewed"]
    files = [
        put(file, reviewed=reviewed) if file["id"] in named and file.get("reviewed") != reviewed else file
        for file in state["files"]
    ]
    same = all(new is old for new, old in zip(files, state["files"], strict=True))
    return state if same else put(state, files=files)


def _content_changed(state: State, action: Action, step: Step) -> State:
    new = put(state, files=action["files"])
    if action.get("operations") is not None:
        new = put(new, operations=action["operations"])
    if CONTENT_CARRIES_ERROR.contains(step.version):
        new = put(new, error=action.get("error"))
    return new


def _operation_status_changed(state: State, action: Action, step: Step) -> State:
    operations = state.get("operations") or []
    place = index_of(operations, "id", action["operationId"])
    if place < 0:
        return state
    return put(state, operations=replaced(operations, place, _with_status(operations[place], action)))


def _cleared(state: State, action: Action, step: Step) -> State:
    return put(state, files=[]) if state["files"] else state


HANDLERS: Final[Handlers] = {
    "changeset/statusChanged": _status_changed,
    "changeset/fileSet": _file_set,
    "changeset/fileRemoved": _file_removed,
    "changeset/filesReviewChanged": _files_review_changed,
    "changeset/contentChanged": _content_changed,
    "changeset/operationsChanged": setter("operations"),
    "changeset/operationStatusChanged": _operation_status_changed,
    "changeset/cleared": _cleared,
}
