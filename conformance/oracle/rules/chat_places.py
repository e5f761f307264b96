"""Places in the state of a chat that the fold of single actions is about, named so that rules can point at them.

Each function reads one place; its arguments are ids. None says that there is nothing to be seen there now, such as the
input of a call that has not got so far; what has to be absent is read as a value that says so.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from conformance.oracle.reading import JSON, active_turn, call_in, dicts, member, text
from conformance.protocol import FINAL_STATUSES
from conformance.protocol.status import ACTIVITY_MASK


def finished_turn(chat: JSON, turn: JSON) -> dict[str, JSON] | None:
    """A turn of the history by its id."""
    return next((t for t in reversed(dicts(member(chat, "turns"))) if t.get("id") == turn), None)


def turn_of(chat: JSON, turn: JSON) -> dict[str, JSON] | None:
    """A turn by its id, active or finished."""
    active = active_turn(chat)
    return active if active is not None and active.get("id") == turn else finished_turn(chat, turn)


def part_name(part: JSON) -> JSON:
    """The kind of a part and its id, or that of the call or request in it."""
    kind = member(part, "kind")
    inner = {"toolCall": "toolCallId", "inputRequest": "id"}.get(text(kind) or "")
    holder = member(part, "toolCall" if kind == "toolCall" else "request") if inner else part
    return {"kind": kind, "id": member(holder, inner or "id")}


def parts_of(turn: JSON) -> list[dict[str, JSON]]:
    return dicts(member(turn, "responseParts"))


def message_of(turn: JSON) -> JSON:
    """What was said, and by whom; a host may add to it, such as the model that was really used."""
    message = member(turn, "message")
    if not isinstance(message, dict):
        return None
    return {name: message[name] for name in ("text", "origin", "attachments") if message.get(name) is not None}


def _picked(value: JSON, *names: str) -> JSON:
    return {n: value.get(n) for n in names if value.get(n) is not None} if isinstance(value, dict) else None


def activity_of(chat: JSON) -> int | None:
    status = member(chat, "status")
    return status & ACTIVITY_MASK if isinstance(status, int) and not isinstance(status, bool) else None


def request_parts(chat: JSON, request: JSON) -> list[tuple[JSON, int, dict[str, JSON]]]:
    """The parts that hold a request: the turn, the place in it, the part."""
    turns = [*dicts(member(chat, "turns")), *([active_turn(chat)] if active_turn(chat) else [])]
    return [
        (turn, place, part)
        for turn in turns
        for place, part in enumerate(parts_of(turn))
        if part.get("kind") == "inputRequest" and member(part.get("request"), "id") == request
    ]


# -- turns ----------------------------------------------------------------------------------------------


def _opened(chat: JSON, turn: str) -> JSON:
    active = active_turn(chat)
    if active is None or active.get("id") != turn:
        return None
    return {**(_picked(active, "id", "startedAt") or {}), "first": [part_name(p) for p in parts_of(active)[:1]]}


def _message(chat: JSON, turn: str) -> JSON:
    return message_of(turn_of(chat, turn))


def _ended(chat: JSON, turn: str) -> JSON:
    found = finished_turn(chat, turn)
    if found is None:
        return None
    return {
        "state": found.get("state"),
        "usage": found.get("usage"),
        "message": message_of(found),
        "parts": [part_name(part) for part in parts_of(found)],
        "later": len(dicts(chat["turns"])) - dicts(chat["turns"]).index(found),
    }


def _times(chat: JSON, turn: str) -> JSON:
    return _picked(finished_turn(chat, turn), "startedAt", "duration")


def _calls(chat: JSON, turn: str) -> JSON:
    found = turn_of(chat, turn)
    return (
        None
        if found is None
        else [
            _picked(part.get("toolCall"), "toolCallId", "status", "reason")
            for part in parts_of(found)
            if part.get("kind") == "toolCall"
        ]
    )


def _requests(chat: JSON, turn: str) -> JSON:
    found = finished_turn(chat, turn)
    return (
        None
        if found is None
        else [
            {"id": member(part.get("request"), "id"), "response": part.get("response")}
            for part in parts_of(found)
            if part.get("kind") == "inputRequest"
        ]
    )


def _trouble(chat: JSON, turn: str) -> JSON:
    found = finished_turn(chat, turn)
    return None if found is None else {"error": found.get("error"), "last": parts_of(found)[-1:]}


def _error(chat: JSON, turn: str) -> JSON:
    found = finished_turn(chat, turn)
    return None if found is None else {"error": found.get("error")}


def _part_names(chat: JSON, turn: str) -> JSON:
    found = turn_of(chat, turn)
    return None if found is None else [part_name(part) for part in parts_of(found)]


def _said(chat: JSON, turn: str, part: str, length: int) -> JSON:
    """The text of a part that has grown beyond what it began with."""
    found = next((p for p in parts_of(turn_of(chat, turn)) if p.get("id") == part), None)
    content = member(found, "content")
    return {"content": content} if isinstance(content, str) and len(content) != length else None


def _usage(chat: JSON, turn: str) -> JSON:
    found = turn_of(chat, turn)
    return None if found is None else {"usage": found.get("usage")}


def _resumed(chat: JSON, turn: str, parts: int) -> JSON:
    found = turn_of(chat, turn)
    return None if found is None else {"message": message_of(found), "parts": parts_of(found)[:parts]}


def _active(chat: JSON) -> JSON:
    return {"id": member(active_turn(chat), "id")}


def _streamed(chat: JSON) -> JSON:
    active = active_turn(chat)
    return {"id": active.get("id"), "parts": parts_of(active)} if active and parts_of(active) else None


def _history(chat: JSON) -> JSON:
    return [turn.get("id") for turn in dicts(member(chat, "turns"))]


def _cursor(chat: JSON) -> JSON:
    return {"more": member(chat, "turnsNextCursor") is not None}


def _activity(chat: JSON, *expected: int) -> JSON:
    """The activity, while the fold has it as expected: later actions may have changed it since."""
    found = activity_of(chat)
    return None if found is None or (expected and found not in expected) else {"activity": found}


def _flags(chat: JSON, mask: int) -> JSON:
    status = member(chat, "status")
    return {"flags": status & mask} if isinstance(status, int) and not isinstance(status, bool) else None


def _modified(chat: JSON) -> JSON:
    """The moment, however it is written."""
    moment = text(member(chat, "modifiedAt"))
    if moment is None:
        return None
    try:
        return {"modifiedAt": datetime.fromisoformat(moment).timestamp()}
    except (ValueError, OverflowError):
        return {"modifiedAt": moment}


# -- waiting messages and the draft ---------------------------------------------------------------------


def _draft(chat: JSON) -> JSON:
    return {"draft": member(chat, "draft")}


def _steering(chat: JSON) -> JSON:
    return {"steering": _waiting(member(chat, "steeringMessage"))}


def _queue(chat: JSON) -> JSON:
    return [_waiting(entry) for entry in dicts(member(chat, "queuedMessages"))]


def _waiting(entry: JSON) -> JSON:
    return None if entry is None else {"id": member(entry, "id"), "message": message_of(entry)}


def _pending(chat: JSON) -> JSON:
    return {"queue": _queue(chat), **_steering(chat)}


def _empty_queue(chat: JSON) -> JSON:
    """Whether an empty queue is shown, while it is empty."""
    return None if _queue(chat) else {"shown": isinstance(member(chat, "queuedMessages"), list)}


def _beside_the_draft(chat: JSON) -> JSON:
    return {**_pending(chat), **_active(chat), "turns": _history(chat), "activity": activity_of(chat)}


def _work(chat: JSON) -> JSON:
    return dicts(member(chat, "backgroundWork"))


def _changesets(chat: JSON) -> JSON:
    return {"changesets": member(chat, "changesets")}


# -- tool calls -----------------------------------------------------------------------------------------


def _call(chat: JSON, turn: str, call: str, statuses: frozenset[str] | None, *names: str) -> JSON:
    """Members of a call while it is in one of these statuses; all but its input when none are named."""
    found = call_in(turn_of(chat, turn), call)
    if found is None or (statuses is not None and text(found.get("status")) not in statuses):
        return None
    return _picked(found, *names) if names else {k: v for k, v in found.items() if k != "toolInput"}


def _final(chat: JSON, turn: str, call: str) -> JSON:
    found = call_in(turn_of(chat, turn), call)
    return found if text(member(found, "status")) in FINAL_STATUSES else None


def _partial(chat: JSON, turn: str, call: str) -> JSON:
    """What has been streamed of a call's input."""
    found = call_in(turn_of(chat, turn), call)
    return _picked(found, "partialInput") or None if member(found, "status") == "streaming" else None


# -- questions ------------------------------------------------------------------------------------------


def _asked(chat: JSON, request: str) -> JSON:
    found = request_parts(chat, request)
    return [
        {"place": place, **(_picked(part.get("request"), "message", "url", "questions") or {})}
        for _, place, part in found
    ] or None


def _answers(chat: JSON, request: str) -> JSON:
    found = request_parts(chat, request)
    return [{"answers": member(part.get("request"), "answers")} for _, _, part in found] or None


def _responses(chat: JSON, request: str) -> JSON:
    found = request_parts(chat, request)
    return [
        {"place": place, "response": part.get("response"), "answers": member(part.get("request"), "answers")}
        for _, place, part in found
    ] or None


def _recorded(chat: JSON, request: str) -> JSON:
    """An answered request, once its turn has ended."""
    found = [(turn, part) for turn, _, part in request_parts(chat, request) if "response" in part]
    if not found or any(turn is active_turn(chat) for turn, _ in found):
        return None
    return [{"response": part["response"], "answers": member(part.get("request"), "answers")} for _, part in found]


PLACES: dict[str, Callable[..., Any]] = {
    "opened": _opened,
    "message": _message,
    "ended": _ended,
    "times": _times,
    "calls": _calls,
    "requests": _requests,
    "trouble": _trouble,
    "error": _error,
    "part names": _part_names,
    "said": _said,
    "usage": _usage,
    "resumed": _resumed,
    "active": _active,
    "streamed": _streamed,
    "history": _history,
    "cursor": _cursor,
    "activity": _activity,
    "flags": _flags,
    "modified": _modified,
    "draft": _draft,
    "steering": _steering,
    "queue": _queue,
    "pending": _pending,
    "empty queue": _empty_queue,
    "beside the draft": _beside_the_draft,
    "work": _work,
    "changesets": _changesets,
    "call": _call,
    "final": _final,
    "partial": _partial,
    "asked": _asked,
    "answers": _answers,
    "responses": _responses,
    "recorded": _recorded,
}

Place = tuple[Any, ...]
"""The name of a place and its arguments."""


def read(chat: JSON, place: Place) -> JSON:
    return PLACES[place[0]](chat, *place[1:])
