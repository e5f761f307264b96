"""The actions that steps name: where each goes, what it says, and which member of the state it is after."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from scenarios.world import World

JSON = Any


@dataclass(frozen=True, slots=True)
class Act:
    """``channel`` is a phrase of places.py, ``body`` makes the members, ``member`` is what it would change.

    ``watch`` is the channel whose state holds that member, where it is another than the one it is sent on.
    """

    channel: str
    type: str
    body: Callable[[World], dict[str, JSON]]
    member: str
    watch: str | None = None


def mark(world: World) -> str:
    """A text of this scenario that no state holds unless an action put it there."""
    return str(world.noted.setdefault("mark", f"Marked {uuid4()}"))


def _message(world: World) -> JSON:
    return {"text": mark(world), "origin": {"kind": "user"}}


def _turn(world: World) -> JSON:
    return {
        "id": mark(world),
        "startedAt": "2026-01-01T00:00:00.000Z",
        "message": _message(world),
        "responseParts": [],
        "state": "complete",
        "duration": 1,
    }


def _terminal(world: World) -> JSON:
    terminal = {"resource": "ahp-terminal:/marked", "title": mark(world), "claim": _claim(world)}
    return {**terminal, "lifecycle": {"status": "running"}} if world.at_least("0.9.0") else terminal


def _claim(world: World) -> JSON:
    return {"kind": "client", "clientId": world.a.client_id}


def _question(world: World) -> JSON:
    return {"id": mark(world), "kind": "chatInput", "chat": world.chat, "request": {"id": mark(world)}}


def _own_entry(world: World) -> JSON:
    return {"clientId": world.a.client_id, "tools": []}


def _plugin(world: World) -> JSON:
    return {"type": "plugin", "id": mark(world), "uri": "file:///marked", "name": mark(world), "enabled": True}


S, C, R = "the session", "the chat", "the root"

ACTIONS: dict[str, Act] = {
    "session/titleChanged": Act(S, "session/titleChanged", lambda w: {"title": mark(w)}, "title"),
    "session/titleChanged without a title": Act(S, "session/titleChanged", lambda w: {}, "title"),
    "session/titleChanged with a number as title": Act(S, "session/titleChanged", lambda w: {"title": 5}, "title"),
    "session/isReadChanged with a text as flag": Act(S, "session/isReadChanged", lambda w: {"isRead": "yes"}, "status"),
    "session/isReadChanged to true": Act(S, "session/isReadChanged", lambda w: {"isRead": True}, "status"),
    "session/isReadChanged to false": Act(S, "session/isReadChanged", lambda w: {"isRead": False}, "status"),
    "session/isArchivedChanged to true": Act(S, "session/isArchivedChanged", lambda w: {"isArchived": True}, "status"),
    "session/isArchivedChanged to false": Act(
        S, "session/isArchivedChanged", lambda w: {"isArchived": False}, "status"
    ),
    "session/activeClientSet for itself": Act(
        S, "session/activeClientSet", lambda w: {"activeClient": _own_entry(w)}, "activeClients"
    ),
    "session/activityChanged": Act(S, "session/activityChanged", lambda w: {"activity": mark(w)}, "activity"),
    "session/serverToolsChanged": Act(
        S, "session/serverToolsChanged", lambda w: {"tools": [{"name": mark(w)}]}, "serverTools"
    ),
    "session/metaChanged": Act(S, "session/metaChanged", lambda w: {"_meta": {"marked": mark(w)}}, "_meta"),
    "session/changesetsChanged": Act(
        S,
        "session/changesetsChanged",
        lambda w: {"changesets": [{"label": mark(w), "uriTemplate": "ahp-changeset:/marked", "changeKind": "session"}]},
        "changesets",
    ),
    "session/inputNeededSet": Act(S, "session/inputNeededSet", lambda w: {"request": _question(w)}, "inputNeeded"),
    "session/chatRemoved": Act(S, "session/chatRemoved", lambda w: {"chat": w.chat}, "chats"),
    "session/customizationsChanged": Act(
        S, "session/customizationsChanged", lambda w: {"customizations": [_plugin(w)]}, "customizations"
    ),
    "session/defaultChatChanged to an unknown chat": Act(
        S, "session/defaultChatChanged", lambda w: {"defaultChat": f"ahp-chat:/{mark(w)}"}, "defaultChat"
    ),
    "session/conformanceUnknown": Act(S, "session/conformanceUnknown", lambda w: {"title": mark(w)}, "title"),
    "chat/draftChanged": Act(C, "chat/draftChanged", lambda w: {"draft": _message(w)}, "draft"),
    "chat/activityChanged": Act(C, "chat/activityChanged", lambda w: {"activity": mark(w)}, "activity"),
    "chat/turnsLoaded": Act(C, "chat/turnsLoaded", lambda w: {"turns": [_turn(w)]}, "turns"),
    "chat/turnCancelled without a turn": Act(
        C, "chat/turnCancelled", lambda w: {"turnId": mark(w), "duration": 0}, "turns"
    ),
    "chat/conformanceUnknown": Act(C, "chat/conformanceUnknown", lambda w: {"title": mark(w)}, "title"),
    "root/agentsChanged": Act(R, "root/agentsChanged", lambda w: {"agents": []}, "agents"),
    "root/terminalsChanged": Act(R, "root/terminalsChanged", lambda w: {"terminals": [_terminal(w)]}, "terminals"),
    "session/titleChanged on the chat": Act(C, "session/titleChanged", lambda w: {"title": mark(w)}, "title", watch=S),
    "chat/draftChanged on the session": Act(S, "chat/draftChanged", lambda w: {"draft": _message(w)}, "draft", watch=C),
    "root/configChanged on the session": Act(
        S, "root/configChanged", lambda w: {"config": {"marked": mark(w)}}, "config", watch=R
    ),
    "session/titleChanged for a session that does not exist": Act(
        "a session that does not exist", "session/titleChanged", lambda w: {"title": mark(w)}, "title"
    ),
    "chat/draftChanged for a chat that does not exist": Act(
        "a chat that does not exist", "chat/draftChanged", lambda w: {"draft": _message(w)}, "draft"
    ),
}


def essence(member: str, state: JSON) -> JSON:
    """What of a member counts when it is compared: identities where the rest may change by itself."""
    value = state.get(member) if isinstance(state, dict) else None
    names = {"chats": "resource", "agents": "provider", "inputNeeded": "id", "turns": "id"}
    if member in names and isinstance(value, list):
        return [entry.get(names[member]) for entry in value if isinstance(entry, dict)]
    if member in ("serverTools", "customizations", "_meta", "changesets", "config"):
        return None  # the host may change these at any time; only the mark tells
    return value
