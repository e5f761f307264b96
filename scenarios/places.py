"""The channels that steps name in words, and harmless changes by which a scenario sees that a channel is alive."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from conformance.client import Unreached
from conformance.oracle.tracker import Envelope
from conformance.protocol import ROOT_URI
from scenarios.world import World

# What does not exist, by the scheme of what it would be.
_NOWHERE = {
    "a session that does not exist": "ahp-session:/",
    "a chat that does not exist": "ahp-chat:/",
    "a terminal that does not exist": "ahp-terminal:/",
    "a channel of an unknown scheme": "conformance-unknown:/",
}


def channel_of(world: World, what: str) -> str:
    """The URI of a channel that a step names. What does not exist keeps its URI for the scenario."""
    if what == "the root":
        return ROOT_URI
    if what in ("the session", "the chat"):
        uri = world.session if what == "the session" else world.chat
        if not uri:
            raise LookupError(f"no step has opened {what}")
        return uri
    if what == "a session that is yet to come":
        return str(world.noted.setdefault(what, world.stage.new_session_uri()))
    if what in _NOWHERE:
        return str(world.noted.setdefault(what, f"{_NOWHERE[what]}{uuid4()}"))
    raise LookupError(f"no channel is called {what!r}")


def harmless(channel: str) -> tuple[dict[str, Any], str]:
    """An action that every client may dispatch there, with a text of its own to know it by."""
    text = f"Change {uuid4()}"
    if channel == "the session":
        return {"type": "session/titleChanged", "title": text}, text
    if channel == "the chat":
        return {"type": "chat/draftChanged", "draft": {"text": text, "origin": {"kind": "user"}}}, text
    raise LookupError(f"a change of the session or of the chat, not of {channel!r}")


def change(world: World, name: str, channel: str) -> Envelope | None:
    """Change a channel and await the echo where the client gets one. Unreached when the change is refused."""
    client = world.client(name)
    action, text = harmless(channel)
    uri = channel_of(world, channel)
    world.noted.setdefault("changes", []).append((uri, action["type"], text))
    number = client.dispatch(uri, action)
    if uri not in client.view.subscribed:
        client.fence()
        return None
    echo = client.echo(number)
    if not echo.accepted:
        raise Unreached("precondition-failed", f"{action['type']} was rejected: {echo.rejection!r}")
    return echo


def text_of(envelope: Envelope) -> Any:
    """The text of a harmless change, in whichever action it travels."""
    draft = envelope.get("draft")
    return draft.get("text") if isinstance(draft, dict) else envelope.get("title")


def carries(envelope: Envelope, changed: tuple[str, str, str]) -> bool:
    """Whether an envelope is that change."""
    uri, kind, text = changed
    return envelope.channel == uri and envelope.type == kind and text_of(envelope) == text
