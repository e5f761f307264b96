"""Reading JSON that may be anything: what is missing or of another shape reads as nothing.

A host may send whatever it likes, and no rule may break on it: what is wrong with a shape is said by the rule about
shapes, and all others take from a value what they understand.
"""

from __future__ import annotations

from typing import Any

JSON = Any


def member(value: JSON, name: str) -> JSON:
    """A member of an object; None when it is absent or the value is no object."""
    return value.get(name) if isinstance(value, dict) else None


def dicts(value: JSON) -> list[dict[str, JSON]]:
    """The objects in an array."""
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def texts(value: JSON) -> list[str]:
    """The strings in an array."""
    return [entry for entry in value if isinstance(entry, str)] if isinstance(value, list) else []


def text(value: JSON) -> str | None:
    return value if isinstance(value, str) else None


def whole(value: JSON) -> int | None:
    """A whole number. JSON has one kind of number, so 5.0 is 5; true is none."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


# -- places in states that several rules look at --------------------------------------------------------


def active_turn(chat: JSON) -> dict[str, JSON] | None:
    turn = member(chat, "activeTurn")
    return turn if isinstance(turn, dict) else None


def calls_in(turn: JSON) -> list[dict[str, JSON]]:
    """The tool calls of a turn."""
    return [part["toolCall"] for part in dicts(member(turn, "responseParts")) if isinstance(part.get("toolCall"), dict)]


def call_in(turn: JSON, call_id: JSON) -> dict[str, JSON] | None:
    """The call of a turn that has this id."""
    return next((call for call in calls_in(turn) if call.get("toolCallId") == call_id), None)


def contributor_of(call: JSON) -> str | None:
    """Who provides the tool of a call: "mcp", "client", or None for the host itself."""
    return text(member(member(call, "contributor"), "kind"))


def servers_in(session: JSON) -> list[dict[str, JSON]]:
    """The MCP server entries of a session state, at top level and in containers."""
    top = dicts(member(session, "customizations"))
    every = [*top, *(child for entry in top for child in dicts(entry.get("children")))]
    return [entry for entry in every if entry.get("type") == "mcpServer"]


def server_status(server: JSON) -> str | None:
    """What an MCP server is doing: starting, ready, authRequired, error or stopped."""
    return text(member(member(server, "state"), "kind"))


def chats_in(session: JSON) -> list[str]:
    """The chats in the catalogue of a session state."""
    return texts([entry.get("resource") for entry in dicts(member(session, "chats"))])


def changesets_in(state: JSON) -> list[str]:
    """The changesets that a session or chat state names, less templates that stand for many."""
    uris = texts([entry.get("uriTemplate") for entry in dicts(member(state, "changesets"))])
    return [uri for uri in uris if "{" not in uri]


def entries_in(session: JSON) -> list[dict[str, JSON]]:
    """The entries of inputNeeded of a session state."""
    return dicts(member(session, "inputNeeded"))
