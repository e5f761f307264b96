"""What a session shows of its chats: inputNeeded, the catalogue, the activity, and the root's summaries.

All of it is derived from the folds of the chats after each action that can matter, never kept in step
by hand, so a request that ends by a way nobody thought of takes its entry along. Sources:
`docs/specification/session-channel.md` > Chat aggregation, Aggregated input requests.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from conformance.protocol.status import IS_READ, with_activity

from .channels import Chat, Session, summary_of

if TYPE_CHECKING:
    from .core import ReferenceHost

JSON = Any
Key = tuple[str, ...]

# Actions that change neither a request nor a member of the catalogue.
_PLAIN: Final = frozenset({"chat/delta", "chat/reasoning", "chat/responsePart", "chat/usage", "chat/draftChanged"})

_KIND_OF_STATUS: Final = {
    "pending-confirmation": "toolConfirmation",
    "pending-result-confirmation": "toolConfirmation",
    "auth-required": "toolAuthentication",
}

# Members of a ChatState that its catalogue entry repeats and that change here.
_CATALOGUED: Final = ("title", "status", "activity", "modifiedAt")


def after_chat_action(host: ReferenceHost, chat: Chat, cause: str) -> None:
    """Bring the session in line with a chat that an action changed."""
    if cause in _PLAIN or chat.uri not in chat.session.chats:
        return
    session = chat.session
    if cause in ("chat/turnStarted", "chat/inputRequested") and session.state["status"] & IS_READ:
        host.act(session, {"type": "session/isReadChanged", "isRead": False})
    sync_entries(host, chat, cause)
    _sync_catalogue(host, chat)
    refresh(host, session)


def after_session_action(host: ReferenceHost, session: Session, action: JSON) -> None:
    """Follow an action of the session itself: who is active, and what the summary says."""
    kind = action["type"]
    if kind == "session/activeClientSet":
        client = host.clients.get(action["activeClient"]["clientId"])
        if client is not None:
            client.active_in[session] = None
    elif kind == "session/activeClientRemoved":
        client = host.clients.get(action["clientId"])
        if client is not None:
            client.active_in.pop(session, None)
    refresh(host, session)


def refresh(host: ReferenceHost, session: Session) -> None:
    """Set the activity of the session, and tell root subscribers what changed in its summary."""
    if session.uri not in host.sessions:
        return
    for version, state in session.folds.items():
        status = with_activity(state["status"], host.policy.activity(host, session, version))
        if status != state["status"]:
            session.folds[version] = {**state, "status": status}
    if not session.announced:
        return
    changes: dict[str, JSON] = {}
    for version in host.versions:
        summary = summary_of(session, version)
        before = session.announced[version]
        if summary != before:
            changes[version] = {name: value for name, value in summary.items() if before.get(name) != value}
            session.announced[version] = summary
    if changes:
        host.announce(
            "root/sessionSummaryChanged",
            lambda version: {"session": session.uri, "changes": changes[version]} if version in changes else None,
        )


def sync_entries(host: ReferenceHost, chat: Chat, cause: str) -> None:
    """List the open requests of a chat, and take off what is over. cause: type of the action behind it."""
    session = chat.session
    present = dict(_requests(host, chat))
    for key in [key for key in session.entries if key[1] == chat.uri and key not in present]:
        identifier = session.entries.pop(key)
        session.mirrored.pop(key, None)
        if host.policy.removes_entry(key[0], cause):
            host.act(session, {"type": "session/inputNeededRemoved", "id": identifier})
    for key, request in present.items():
        kind = key[0]
        if not host.policy.wants_entry(session, chat, kind, request.get("toolCall")):
            continue
        known = key in session.entries
        if known and session.mirrored[key] == request:
            continue
        if not known or host.policy.renames_entry():
            session.entries[key] = host.policy.entry_id(host, kind, chat, request)
        session.mirrored[key] = request
        identifier = session.entries[key]
        host.act(session, {"type": "session/inputNeededSet", "request": {"id": identifier, **request}})


def drop_entries(host: ReferenceHost, chat: Chat, cause: str) -> None:
    """Take off everything that a chat had listed, because the chat goes away."""
    session = chat.session
    for key in [key for key in session.entries if key[1] == chat.uri]:
        identifier = session.entries.pop(key)
        session.mirrored.pop(key, None)
        if host.policy.removes_entry(key[0], cause):
            host.act(session, {"type": "session/inputNeededRemoved", "id": identifier})


def catalogue_entry(chat: Chat, version: str) -> JSON:
    """The ChatSummary of a chat."""
    state = chat.folds[version]
    names = ("resource", "title", "status", "activity", "modifiedAt", "origin", "interactivity")
    return {name: state[name] for name in names if name in state}


def _requests(host: ReferenceHost, chat: Chat) -> Iterator[tuple[Key, JSON]]:
    """Each open request with a key that tells it apart, in the order of the transcript."""
    active = chat.active
    if active is None:
        return
    turn_id = active["id"]
    for call in chat.calls():
        kind = _KIND_OF_STATUS.get(call["status"]) or host.policy.extra_entries(chat, call)
        contributor = call.get("contributor") or {}
        extra: JSON = {}
        if kind is None and call["status"] == "running" and contributor.get("kind") == "client":
            kind = "toolClientExecution"
        if kind == "toolClientExecution":
            extra = {"clientId": contributor.get("clientId", "")}
        if kind is not None:
            request = {"kind": kind, "chat": chat.uri, "turnId": turn_id, **extra, "toolCall": call}
            # The confirmation of a result is another request than that of the parameters.
            yield (kind, chat.uri, turn_id, call["toolCallId"], call["status"]), request
    for question in chat.questions():
        yield (
            ("chatInput", chat.uri, turn_id, question["id"]),
            {
                "kind": "chatInput",
                "chat": chat.uri,
                "request": question,
            },
        )


def _sync_catalogue(host: ReferenceHost, chat: Chat) -> None:
    changes: dict[str, JSON] = {}
    for version, state in chat.session.folds.items():
        listed = next((entry for entry in state["chats"] if entry["resource"] == chat.uri), None)
        if listed is None:
            return
        now = chat.folds[version]
        changes[version] = {name: now[name] for name in _CATALOGUED if name in now and listed.get(name) != now[name]}
    if any(changes.values()):
        host.act(
            chat.session,
            lambda version: {"type": "session/chatUpdated", "chat": chat.uri, "changes": changes[version]},
        )
