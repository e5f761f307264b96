"""What all reducers share: the context of one step, and ways to copy with a change.

Nothing here touches its input. Absent and null mean the same to a fold: a member set to None is
left out, because clearing is expressed by absence.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

State = dict[str, Any]
Action = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Step:
    """The circumstances of one fold step.

    version: rules to follow, a member of VERSIONS.
    now: the clock of rules that stamp time, giving an ISO 8601 string; None leaves time alone.
    """

    version: str
    now: Callable[[], str] | None = None


Handler = Callable[[State, Action, Step], State]
Handlers = Mapping[str, Handler]


def put(value: Mapping[str, Any], /, **members: Any) -> dict[str, Any]:
    """A copy with the members set; those given as None are left out."""
    copy = {**value, **members}
    for name, member in members.items():
        if member is None:
            del copy[name]
    return copy


def without(value: Mapping[str, Any], name: str) -> dict[str, Any]:
    """A copy that lacks one member."""
    return {key: member for key, member in value.items() if key != name}


def index_of(entries: list[dict[str, Any]], key: str, wanted: Any) -> int:
    """The place of the first entry whose member `key` equals `wanted`, or -1."""
    for place, entry in enumerate(entries):
        if entry.get(key) == wanted:
            return place
    return -1


def upserted(entries: list[dict[str, Any]], entry: dict[str, Any], key: str) -> list[dict[str, Any]]:
    """A copy with the entry in place of the one with the same key, or at the end."""
    place = index_of(entries, key, entry[key])
    return [*entries, entry] if place < 0 else replaced(entries, place, entry)


def replaced(entries: list[Any], place: int, entry: Any) -> list[Any]:
    """A copy with another entry at one place."""
    copy = entries.copy()
    copy[place] = entry
    return copy


def removed(entries: list[Any], place: int) -> list[Any]:
    """A copy that lacks the entry at one place."""
    return [*entries[:place], *entries[place + 1 :]]


def setter(member: str, source: str | None = None) -> Handler:
    """A handler that takes one member from the action as it is; absence clears it."""
    origin = source or member

    def handle(state: State, action: Action, step: Step) -> State:
        return put(state, **{member: action.get(origin)})

    return handle


def unchanged(state: State, action: Action, step: Step) -> State:
    """The handler of an action that asks for something or reports something and changes no state."""
    return state


def config_changed(state: State, action: Action, step: Step) -> State:
    """Merges or replaces config values; a channel without config stays as it is."""
    config = state.get("config")
    if config is None:
        return state
    values = dict(action["config"]) if action.get("replace") else {**config["values"], **action["config"]}
    return put(state, config={**config, "values": values})


def directory_added(state: State, action: Action, step: Step) -> State:
    """Appends a working directory unless it is there."""
    directories = state.get("workingDirectories") or []
    if action["directory"] in directories:
        return state
    return put(state, workingDirectories=[*directories, action["directory"]])


def directory_removed(state: State, action: Action, step: Step) -> State:
    """Takes a working directory away; the list may end up empty, which is not the same as absent."""
    directories = state.get("workingDirectories") or []
    if action["directory"] not in directories:
        return state
    return put(state, workingDirectories=removed(directories, directories.index(action["directory"])))
