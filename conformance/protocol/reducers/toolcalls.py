"""The life of a tool call, as a table.

How to read it. A tool call lives inside a `toolCall` part of the active turn and is in one of seven
statuses. An *event* is an action together with the detail of it that decides where the call goes:
`toolCallReady` may ask for a confirmation or carry one, `toolCallComplete` may report success or
failure and may ask for a review of the result. TOOL_CALL_TRANSITIONS says for each event from which
statuses it moves a call, and where to. A status that is not listed ignores the event, and so does a
call that is unknown, or in another turn, or in a turn that has ended. One more condition stands
beside the table: only a call that an MCP server contributed can be blocked on authentication.

Three rules are easily missed. From auth-required, success is ignored, because execution never went
on after the challenge, while a failure is the client giving up: it completes the call at once, even
if a review was asked for. A running call can fall back to pending-confirmation. And the end of a
turn, however it comes, cancels every call that is not final.

CARRIED and TAKEN say what the new state holds besides the status and the identity of the call: the
members that survive from the old state, and those that come from the action. Whatever is not listed
is gone; that is how the challenge disappears from a resumed call and streamed content from a
completed one.

Sources: `types/channels-chat/reducer.ts`; `docs/guide/state-model.md`, tool call lifecycle.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from conformance.protocol.versions import Window

from .folding import Action, Step

STREAMING: Final = "streaming"
PENDING: Final = "pending-confirmation"
RUNNING: Final = "running"
AUTH_REQUIRED: Final = "auth-required"
REVIEW: Final = "pending-result-confirmation"
COMPLETED: Final = "completed"
CANCELLED: Final = "cancelled"

TOOL_CALL_STATUSES: Final = (STREAMING, PENDING, RUNNING, AUTH_REQUIRED, REVIEW, COMPLETED, CANCELLED)
FINAL_STATUSES: Final = frozenset({COMPLETED, CANCELLED})
BLOCKING_STATUSES: Final = frozenset({PENDING, REVIEW, AUTH_REQUIRED})
"""Statuses that make the chat's activity InputNeeded."""

TOOL_CALL_TRANSITIONS: Final[Mapping[str, Mapping[str, str]]] = {
    "delta": {STREAMING: STREAMING},
    "ready": {STREAMING: PENDING, PENDING: PENDING, RUNNING: PENDING},
    "ready, confirmed": {STREAMING: RUNNING, PENDING: RUNNING, RUNNING: RUNNING},
    "approved": {PENDING: RUNNING},
    "denied": {PENDING: CANCELLED},
    "content": {RUNNING: RUNNING},
    "succeeded": {PENDING: COMPLETED, RUNNING: COMPLETED},
    "succeeded, to review": {PENDING: REVIEW, RUNNING: REVIEW},
    "failed": {PENDING: COMPLETED, RUNNING: COMPLETED, AUTH_REQUIRED: COMPLETED},
    "failed, to review": {PENDING: REVIEW, RUNNING: REVIEW, AUTH_REQUIRED: COMPLETED},
    "result approved": {REVIEW: COMPLETED},
    "result denied": {REVIEW: CANCELLED},
    "challenged": {RUNNING: AUTH_REQUIRED},
    "resolved": {AUTH_REQUIRED: RUNNING},
    "turn ended": {
        STREAMING: CANCELLED,
        PENDING: CANCELLED,
        RUNNING: CANCELLED,
        AUTH_REQUIRED: CANCELLED,
        REVIEW: CANCELLED,
    },
}

MCP_ONLY: Final = frozenset({"challenged"})
"""Events that only a call contributed by an MCP server follows."""

_IDENTITY: Final = ("toolCallId", "toolName", "displayName", "intention", "contributor", "_meta")
_CALL: Final = ("invocationMessage", "toolInput")
_GRANTED: Final = (*_CALL, "confirmed", "selectedOption")
_RESULT: Final = ("success", "pastTenseMessage", "content", "structuredContent", "error")
_PROMPT: Final = ("confirmationTitle", "riskAssessment", "edits", "editable", "options")

# (event, old status) or event -> members kept from the old state.
_CARRIED: Final[Mapping[str | tuple[str, str], tuple[str, ...]]] = {
    ("ready", PENDING): ("toolInput", *_PROMPT),
    "approved": _CALL,
    "denied": _CALL,
    ("succeeded", PENDING): _CALL,
    ("succeeded, to review", PENDING): _CALL,
    ("failed", PENDING): _CALL,
    ("failed, to review", PENDING): _CALL,
    "succeeded": _GRANTED,
    "succeeded, to review": _GRANTED,
    "failed": _GRANTED,
    "failed, to review": _GRANTED,
    # What a call produced before its challenge is all that it will ever have produced.
    ("failed", AUTH_REQUIRED): (*_GRANTED, "content"),
    ("failed, to review", AUTH_REQUIRED): (*_GRANTED, "content"),
    "result approved": (*_GRANTED, *_RESULT),
    "result denied": (*_CALL, "selectedOption"),
    "challenged": (*_GRANTED, "content"),
    "resolved": (*_GRANTED, "content"),
    "turn ended": _CALL,
}

# event -> members taken from the action, over those carried.
_TAKEN: Final[Mapping[str, tuple[str, ...]]] = {
    "ready": (*_CALL, *_PROMPT),
    "ready, confirmed": (*_CALL, "confirmed"),
    "approved": ("confirmed",),
    "denied": ("reason", "reasonMessage", "userSuggestion"),
    "challenged": ("auth",),
}

READY_REFINES_CALL: Final = Window("0.7.0")
"""Since then `toolCallReady` may finalise contributor and intention, and an absent input is kept."""

INPUT_MAY_BE_A_REFERENCE: Final = Window("0.7.0")
"""Since then tool input may be a content reference, whose content the host edits, not the fold."""


def event_of(action: Action) -> str | None:
    """The event an action means to the call it names; None for actions that are not about a call."""
    match action["type"]:
        case "chat/toolCallDelta":
            return "delta"
        case "chat/toolCallReady":
            return "ready, confirmed" if action.get("confirmed") else "ready"
        case "chat/toolCallConfirmed":
            return "approved" if action["approved"] else "denied"
        case "chat/toolCallContentChanged":
            return "content"
        case "chat/toolCallComplete":
            event = "succeeded" if action["result"]["success"] else "failed"
            return f"{event}, to review" if action.get("requiresResultConfirmation") else event
        case "chat/toolCallResultConfirmed":
            return "result approved" if action["approved"] else "result denied"
        case "chat/toolCallAuthRequired":
            return "challenged"
        case "chat/toolCallAuthResolved":
            return "resolved"
        case "chat/turnComplete" | "chat/turnCancelled" | "chat/error":
            return "turn ended"
    return None


def next_status(status: str, event: str, contributor: str | None = None) -> str | None:
    """Where an event takes a call, or None when the call ignores it.

    contributor: the kind of the call's contributor ("mcp", "client") or None for the host's own tool.
    """
    if event in MCP_ONLY and contributor != "mcp":
        return None
    return TOOL_CALL_TRANSITIONS[event].get(status)


def contributor_kind(call: Mapping[str, Any]) -> str | None:
    """The kind of the call's contributor, None for the host's own tools."""
    contributor = call.get("contributor")
    kind = contributor.get("kind") if contributor else None
    return kind if isinstance(kind, str) else None


def moved(call: dict[str, Any], event: str, action: Action, step: Step) -> dict[str, Any]:
    """The call after the event; the same object when it ignores the event."""
    status = call["status"]
    target = next_status(status, event, contributor_kind(call))
    if target is None:
        return call
    if event == "delta":
        return _with_delta(call, action)
    if event == "content":
        return {**call, **_picked(action, ("_meta", "content"))}
    carried = _CARRIED.get((event, status)) or _CARRIED.get(event, ())
    new = {
        "status": target,
        **_picked(call, _IDENTITY),
        # The end of a turn has metadata of its own, which is not the call's.
        **({} if event == "turn ended" else _picked(action, ("_meta",))),
        **_picked(call, carried),
        **_picked(action, _TAKEN.get(event, ())),
    }
    return {**new, **_particular(call, event, action, step)}


def _particular(call: dict[str, Any], event: str, action: Action, step: Step) -> dict[str, Any]:
    """What the tables cannot say about an event, as members over theirs."""
    status = call["status"]
    match event:
        case "ready" | "ready, confirmed":
            return _refined(call, action) if READY_REFINES_CALL.contains(step.version) else {}
        case "approved":
            chosen = _option(call, action)
            edited = action.get("editedToolInput")
            if edited is None or _is_reference(call, step):
                return chosen
            return {**chosen, "toolInput": edited}
        case "denied":
            return _option(call, action)
        case "succeeded" | "failed" | "succeeded, to review" | "failed, to review":
            granted = {"confirmed": "not-needed"} if status == PENDING else {}
            return {**granted, **action["result"]}
        case "result denied":
            return {"reason": "result-denied"}
        case "turn ended":
            # A streaming call may have no message yet, but a cancelled one must have one.
            message = {} if call.get("invocationMessage") is not None else {"invocationMessage": ""}
            return {**message, "reason": "skipped"}
    return {}


def _picked(source: Mapping[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: source[name] for name in names if source.get(name) is not None}


def _with_delta(call: dict[str, Any], action: Action) -> dict[str, Any]:
    new = {**call, **_picked(action, ("_meta", "invocationMessage"))}
    if action.get("content") is not None:
        new["partialInput"] = (call.get("partialInput") or "") + action["content"]
    return new


def _refined(call: dict[str, Any], action: Action) -> dict[str, Any]:
    refined = _picked(action, ("intention",))
    contributor = _refined_contributor(call.get("contributor"), action.get("contributor"))
    if contributor is not None:
        refined["contributor"] = contributor
    if action.get("toolInput") is None and call["status"] != STREAMING:
        refined |= _picked(call, ("toolInput",))
    return refined


def _refined_contributor(old: dict[str, Any] | None, new: dict[str, Any] | None) -> dict[str, Any] | None:
    """Who executes a call is settled at its start: a client never gains or loses a call later."""
    if not new:
        return old
    if old and old.get("kind") == "client":
        same_owner = new.get("kind") == "client" and new.get("clientId") == old.get("clientId")
        return new if same_owner else old
    return old if new.get("kind") == "client" else new


def _is_reference(call: dict[str, Any], step: Step) -> bool:
    return INPUT_MAY_BE_A_REFERENCE.contains(step.version) and not isinstance(call.get("toolInput"), str)


def _option(call: dict[str, Any], action: Action) -> dict[str, Any]:
    wanted = action.get("selectedOptionId")
    for option in call.get("options") or ():
        if wanted and option.get("id") == wanted:
            return {"selectedOption": option}
    return {}
