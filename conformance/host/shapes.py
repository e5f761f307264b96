"""What an action of a client has to look like: its members and their JSON types, as a table.

Only what clients may dispatch is here; everything else is refused before its shape matters. Source:
`types/channels-*/actions.ts`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

JSON = Any
Check = Callable[[JSON], bool]


def _text(value: JSON) -> bool:
    return isinstance(value, str)


def _number(value: JSON) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _flag(value: JSON) -> bool:
    return isinstance(value, bool)


def _object(value: JSON) -> bool:
    return isinstance(value, dict)


def _list(value: JSON) -> bool:
    return isinstance(value, list)


def _texts(value: JSON) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _markup(value: JSON) -> bool:
    return isinstance(value, str) or (isinstance(value, dict) and isinstance(value.get("markdown"), str))


def _one_of(*values: str) -> Check:
    return lambda value: value in values


def _message(value: JSON) -> bool:
    return (
        isinstance(value, dict)
        and isinstance(value.get("text"), str)
        and isinstance(value.get("origin"), dict)
        and isinstance(value["origin"].get("kind"), str)
        and isinstance(value.get("attachments", []), list)
    )


def _result(value: JSON) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("success"), bool):
        return False
    error = value.get("error")
    named = error is None or (isinstance(error, dict) and isinstance(error.get("message"), str))
    return named and _markup(value.get("pastTenseMessage")) and isinstance(value.get("content", []), list)


def _active_client(value: JSON) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("clientId"), str):
        return False
    tools = value.get("tools")
    return isinstance(tools, list) and all(
        isinstance(tool, dict) and isinstance(tool.get("name"), str) for tool in tools
    )


def _decisions(value: JSON) -> bool:
    return isinstance(value, list) and all(
        isinstance(item, dict)
        and item.get("kind") in ("session", "workspace", "global")
        and isinstance(item.get("enabled"), bool)
        for item in value
    )


is_active_client: Final = _active_client
is_message: Final = _message

_CALL: Final = {"turnId": _text, "toolCallId": _text}
_PENDING_KIND: Final = _one_of("steering", "queued")

# Members of each action; a "?" behind the name makes one optional.
_SHAPES: Final[Mapping[str, Mapping[str, Check]]] = MappingProxyType(
    {
        "chat/turnStarted": {
            "turnId": _text,
            "startedAt": _text,
            "message": _message,
            "queuedMessageId?": _text,
        },
        "chat/turnCancelled": {"turnId": _text, "duration": _number},
        "chat/turnResume": {"turnId": _text},
        "chat/truncated": {"turnId?": _text},
        "chat/toolCallConfirmed": {
            **_CALL,
            "approved": _flag,
            "editedToolInput?": _text,
            "selectedOptionId?": _text,
        },
        "chat/toolCallComplete": {**_CALL, "result": _result, "requiresResultConfirmation?": _flag},
        "chat/toolCallResultConfirmed": {**_CALL, "approved": _flag},
        "chat/toolCallContentChanged": {**_CALL, "content": _list},
        "chat/pendingMessageSet": {"kind": _PENDING_KIND, "id": _text, "message": _message},
        "chat/pendingMessageRemoved": {"kind": _PENDING_KIND, "id": _text},
        "chat/queuedMessagesReordered": {"order": _texts},
        "chat/draftChanged": {"draft?": _message},
        "chat/inputAnswerChanged": {"requestId": _text, "questionId": _text, "answer?": _object},
        "chat/inputCompleted": {
            "requestId": _text,
            "response": _one_of("accept", "decline", "cancel"),
            "answers?": _object,
        },
        "session/titleChanged": {"title": _text},
        "session/isReadChanged": {"isRead": _flag},
        "session/isArchivedChanged": {"isArchived": _flag},
        "session/configChanged": {"config": _object, "replace?": _flag},
        "session/activeClientSet": {"activeClient": _active_client},
        "session/activeClientRemoved": {"clientId": _text},
        "session/customizationToggled": {"id": _text, "enabled": _flag},
        "session/mcpServerStartRequested": {"id": _text},
        "session/mcpServerStopRequested": {"id": _text},
        "root/configChanged": {"config": _object, "replace?": _flag},
    }
)

_TOGGLE_SINCE_080: Final = {"id": _text, "enablement": _decisions}
_DENIAL: Final = {"reason": _one_of("denied", "skipped")}
_APPROVAL: Final = {"confirmed": _text}


def misshapen(action: JSON, *, decisions: bool) -> str | None:
    """What is wrong with the shape of an action, None when nothing is or its type has no entry here.

    decisions: whether the version writes the enablement of customizations as a list (0.8.0 and later).
    """
    kind = action["type"]
    shape = _SHAPES.get(kind, {})
    if kind == "session/customizationToggled" and decisions:
        shape = _TOGGLE_SINCE_080
    wrong = _first_wrong(action, shape)
    if wrong is None and kind == "chat/toolCallConfirmed":
        wrong = _first_wrong(action, _APPROVAL if action["approved"] else _DENIAL)
    return None if wrong is None else f"{kind}: {wrong} is missing or has the wrong type"


def _first_wrong(action: JSON, shape: Mapping[str, Check]) -> str | None:
    for name, check in shape.items():
        plain = name.rstrip("?")
        if plain in action:
            if not check(action[plain]):
                return plain
        elif plain == name:
            return name
    return None
