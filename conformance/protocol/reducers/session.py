"""The fold of a session channel. Source: `types/channels-session/reducer.ts`.

The activity bits of a session's status change by fold only through its input-needed list; every
other change of activity is the host's own and shows in snapshots and summaries.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from conformance.protocol.status import (
    ACTIVITY_MASK,
    IN_PROGRESS,
    INPUT_NEEDED,
    IS_ARCHIVED,
    IS_READ,
    with_flag,
)
from conformance.protocol.versions import Window

from .folding import (
    Action,
    Handlers,
    State,
    Step,
    config_changed,
    directory_added,
    directory_removed,
    index_of,
    put,
    removed,
    replaced,
    setter,
    upserted,
    without,
)

CLIENT_EXECUTION_NEEDS_INPUT: Final = Window("0.5.1", "0.8.0")
"""While this holds, an entry that waits for a client's tool counts like one that waits for a person."""

LIFECYCLE_CREATION_FAILED: Final = Window("0.1.0", "0.9.0")
"""While this holds, the failed lifecycle is named creationFailed; later it is failed."""

TOGGLE_IS_A_FLAG: Final = Window("0.1.0", "0.8.0")
"""While this holds, a toggle carries `enabled`; later the complete list of enablement decisions."""

_WAITING_BIT: Final = INPUT_NEEDED & ~IN_PROGRESS


def awaits_user(request: dict[str, Any], version: str) -> bool:
    """Whether an input-needed entry raises InputNeeded."""
    return request.get("kind") != "toolClientExecution" or CLIENT_EXECUTION_NEEDS_INPUT.contains(version)


def _status_with(status: int, requests: list[dict[str, Any]], version: str) -> int:
    if any(awaits_user(request, version) for request in requests):
        return status & ~ACTIVITY_MASK | INPUT_NEEDED
    return status & ~_WAITING_BIT


def _ready(state: State, action: Action, step: Step) -> State:
    return put(state, lifecycle="ready")


def _creation_failed(state: State, action: Action, step: Step) -> State:
    name = "creationFailed" if LIFECYCLE_CREATION_FAILED.contains(step.version) else "failed"
    return put(state, lifecycle=name, creationError=action.get("error"))


def _chat_added(state: State, action: Action, step: Step) -> State:
    return put(state, chats=upserted(state["chats"], action["summary"], "resource"))


def _chat_removed(state: State, action: Action, step: Step) -> State:
    place = index_of(state["chats"], "resource", action["chat"])
    if place < 0:
        return state
    changed = put(state, chats=removed(state["chats"], place))
    return without(changed, "defaultChat") if state.get("defaultChat") == action["chat"] else changed


def _chat_updated(state: State, action: Action, step: Step) -> State:
    place = index_of(state["chats"], "resource", action["chat"])
    if place < 0:
        return state
    # The URI is the identity of a chat; a change that carries another one does not rename it.
    summary = put(state["chats"][place], **without(action["changes"], "resource"))
    return put(state, chats=replaced(state["chats"], place, summary))


def _chats_reordered(state: State, action: Action, step: Step) -> State:
    by_uri = {chat["resource"]: chat for chat in state["chats"]}
    named = [uri for uri in dict.fromkeys(action["chats"]) if uri in by_uri]
    rest = [chat for chat in state["chats"] if chat["resource"] not in named]
    return put(state, chats=[*(by_uri[uri] for uri in named), *rest])


def _flag(flag: int, source: str) -> Callable[[State, Action, Step], State]:
    def handle(state: State, action: Action, step: Step) -> State:
        return put(state, status=with_flag(state["status"], flag, action[source]))

    return handle


def _active_client_set(state: State, action: Action, step: Step) -> State:
    return put(state, activeClients=upserted(state["activeClients"], action["activeClient"], "clientId"))


def _active_client_removed(state: State, action: Action, step: Step) -> State:
    place = index_of(state["activeClients"], "clientId", action["clientId"])
    return state if place < 0 else put(state, activeClients=removed(state["activeClients"], place))


def _directory_replaced(state: State, action: Action, step: Step) -> State:
    directories = state.get("workingDirectories") or []
    old, new = action["directory"], action["replacement"]
    if old not in directories:
        return state
    place = directories.index(old)
    # The earlier place wins: a replacement that is already listed before the old entry stays there.
    if new in directories[:place]:
        return put(state, workingDirectories=removed(directories, place))
    later = [entry for entry in directories[place + 1 :] if entry != new]
    return put(state, workingDirectories=[*directories[:place], new, *later])


def _input_needed_set(state: State, action: Action, step: Step) -> State:
    requests = upserted(state.get("inputNeeded") or [], action["request"], "id")
    return put(state, inputNeeded=requests, status=_status_with(state["status"], requests, step.version))


def _input_needed_removed(state: State, action: Action, step: Step) -> State:
    requests = state.get("inputNeeded") or []
    place = index_of(requests, "id", action["id"])
    if place < 0:
        return state
    left = removed(requests, place)
    return put(state, inputNeeded=left or None, status=_status_with(state["status"], left, step.version))


_Change = Callable[[dict[str, Any]], dict[str, Any] | None]
"""Gives the new entry, None to take it away, or the same object to leave it."""


def _in_customizations(state: State, wanted: str, change: _Change, *, everywhere: bool = True) -> State:
    """Applies a change to the customization with this id: at the top, else inside containers.

    everywhere: in every container that has such a child; otherwise in the first.
    """
    entries: list[dict[str, Any]] = state.get("customizations") or []
    place = index_of(entries, "id", wanted)
    if place >= 0:
        changed = _changed_at(entries, place, change)
        return state if changed is entries else put(state, customizations=changed)
    changed = entries
    for top, container in enumerate(entries):
        children = container.get("children")
        # A server has no children, whatever members it carries.
        if container.get("type") == "mcpServer" or not children:
            continue
        place = index_of(children, "id", wanted)
        if place < 0:
            continue
        kept = _changed_at(children, place, change)
        if kept is not children:
            changed = replaced(changed, top, put(container, children=kept))
        if not everywhere:
            break
    return state if changed is entries else put(state, customizations=changed)


def _changed_at(entries: list[dict[str, Any]], place: int, change: _Change) -> list[dict[str, Any]]:
    entry = change(entries[place])
    if entry is entries[place]:
        return entries
    return removed(entries, place) if entry is None else replaced(entries, place, entry)


def _customization_toggled(state: State, action: Action, step: Step) -> State:
    change = _switched if TOGGLE_IS_A_FLAG.contains(step.version) else _decided
    return _in_customizations(state, action["id"], change(action), everywhere=False)


def _switched(action: Action) -> _Change:
    enabled = action["enabled"]
    return lambda entry: put(entry, enabled=enabled)


def _decided(action: Action) -> _Change:
    decisions: list[dict[str, Any]] = action["enablement"]

    def decide(entry: dict[str, Any]) -> dict[str, Any]:
        if entry.get("type") in ("plugin", "mcpServer"):
            return put(entry, enablement=list(decisions) or None)
        return put(entry, enabled=decisions[0].get("enabled", True) if decisions else True)

    return decide


def _customization_updated(state: State, action: Action, step: Step) -> State:
    entries = upserted(state.get("customizations") or [], action["customization"], "id")
    return put(state, customizations=entries)


def _customization_removed(state: State, action: Action, step: Step) -> State:
    return _in_customizations(state, action["id"], lambda entry: None)


def _server_changed(state: State, action: Action, change: Callable[[dict[str, Any]], dict[str, Any]]) -> State:
    return _in_customizations(
        state, action["id"], lambda entry: change(entry) if entry.get("type") == "mcpServer" else entry
    )


def _server_state_changed(state: State, action: Action, step: Step) -> State:
    return _server_changed(
        state, action, lambda entry: put(entry, state=action["state"], channel=action.get("channel"))
    )


def _server_start_requested(state: State, action: Action, step: Step) -> State:
    return _server_changed(state, action, lambda entry: put(entry, state={"kind": "starting"}, channel=None))


def _server_stop_requested(state: State, action: Action, step: Step) -> State:
    return _server_changed(state, action, lambda entry: put(entry, state={"kind": "stopped"}, channel=None))


def _server_background_requested(state: State, action: Action, step: Step) -> State:
    def unblock(entry: dict[str, Any]) -> dict[str, Any]:
        current = entry["state"]
        if current.get("kind") != "starting" or current.get("blocking") is not True:
            return entry
        return put(entry, state=put(current, blocking=False))

    return _server_changed(state, action, unblock)


HANDLERS: Final[Handlers] = {
    "session/ready": _ready,
    "session/creationFailed": _creation_failed,
    "session/chatAdded": _chat_added,
    "session/chatRemoved": _chat_removed,
    "session/chatUpdated": _chat_updated,
    "session/chatsReordered": _chats_reordered,
    "session/defaultChatChanged": setter("defaultChat"),
    "session/titleChanged": setter("title"),
    "session/isReadChanged": _flag(IS_READ, "isRead"),
    "session/isArchivedChanged": _flag(IS_ARCHIVED, "isArchived"),
    "session/activityChanged": setter("activity"),
    "session/changesetsChanged": setter("changesets"),
    "session/configChanged": config_changed,
    "session/metaChanged": setter("_meta"),
    "session/serverToolsChanged": setter("serverTools", "tools"),
    "session/activeClientSet": _active_client_set,
    "session/activeClientRemoved": _active_client_removed,
    "session/workingDirectorySet": directory_added,
    "session/workingDirectoryRemoved": directory_removed,
    "session/workingDirectoryReplaced": _directory_replaced,
    "session/inputNeededSet": _input_needed_set,
    "session/inputNeededRemoved": _input_needed_removed,
    "session/customizationsChanged": setter("customizations"),
    "session/customizationToggled": _customization_toggled,
    "session/customizationUpdated": _customization_updated,
    "session/customizationRemoved": _customization_removed,
    "session/mcpServerStateChanged": _server_state_changed,
    "session/mcpServerStartRequested": _server_start_requested,
    "session/mcpServerStopRequested": _server_stop_requested,
    "session/mcpServerBackgroundRequested": _server_background_requested,
}
