"""What each action does to a chat: the obligations about its fold, and the places where they show.

An effect is an obligation with a place (``chat_places``). Where a later snapshot says something else at that place than
the fold, the host's own state did not follow its action. Only what an action really did counts: an action that the
reducers ignore has the effect that its place stays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from conformance.oracle.reading import JSON, active_turn, call_in, calls_in, member, text
from conformance.oracle.tracker import Envelope
from conformance.protocol import BLOCKING_STATUSES, FINAL_STATUSES, STATUS, Window
from conformance.protocol.status import IS_READ

from .chat_places import Place, activity_of, finished_turn, parts_of, read, request_parts

Effect = tuple[str, Place]

CLOCK_FREE = Window("0.9.0")
"""Since then modifiedAt follows from the actions, and an error is the last part of its turn."""
READY_KEEPS_INPUT = Window("0.7.0")
READ_BY_ACTION = Window("1.0.0")
_FLAGS = ~STATUS.ACTIVITY_MASK

PENDING = frozenset({"pending-confirmation"})
RUNNING = frozenset({"running"})
_ASKED = frozenset({"pending-confirmation", "running"})
_REVIEWED = frozenset({"pending-result-confirmation", "completed"})
_BEYOND_STREAMING = frozenset(
    {"pending-confirmation", "running", "auth-required", "pending-result-confirmation", "completed", "cancelled"}
)
_AFTER_RUNNING = frozenset({"auth-required", "pending-result-confirmation", "completed", "cancelled"})


def effects_of(envelope: Envelope, version: str) -> Iterator[Effect]:
    """The effects of an accepted action on a chat whose fold is known."""
    group = _EFFECTS.get(envelope.type)
    if group is not None:
        yield from group(envelope, version)
    if envelope.type.startswith("chat/toolCall"):
        yield from _of_call(envelope, version)


def _turn(envelope: Envelope) -> str:
    return text(envelope.get("turnId")) or ""


def _waits(chat: JSON) -> bool:
    return bool(member(chat, "steeringMessage") or member(chat, "queuedMessages"))


# -- turns ----------------------------------------------------------------------------------------------


def _started(envelope: Envelope, version: str) -> Iterator[Effect]:
    before, turn = envelope.before, _turn(envelope)
    yield "AHP-TURN-002", ("opened", turn)
    if read(before, ("flags", _FLAGS)) not in (None, {"flags": 0}):
        # Who has read a chat is told by no action of it before 1.0.0 (ambiguity AMB-49).
        yield "AHP-TURN-003", ("flags", _FLAGS if READ_BY_ACTION.contains(version) else _FLAGS & ~IS_READ)
    if envelope.origin is not None:
        yield "AHP-TURN-029", ("message", turn)
    if envelope.get("queuedMessageId") is not None or _waits(before):
        yield "AHP-TURN-004", ("pending",)
    if member(before, "draft") is not None:
        yield "AHP-DRAFT-006", ("draft",)
    if CLOCK_FREE.contains(version):
        yield "AHP-CHAT-107", ("modified",)


def _ended(envelope: Envelope, version: str) -> Iterator[Effect]:
    before, turn, active = envelope.before, _turn(envelope), active_turn(envelope.before)
    if active is None:
        return
    if active.get("id") != turn:
        yield "AHP-TURN-008", ("active",)
        return
    if member(before, "backgroundWork"):
        yield "AHP-CHAT-121", ("work",)
    failed = envelope.type == "chat/error"
    yield "AHP-TURN-006", ("ended", turn)
    yield "AHP-TURN-007", ("times", turn)
    if any(call.get("status") not in FINAL_STATUSES for call in calls_in(active)):
        yield "AHP-TURN-009", ("calls", turn)
    if any(part.get("kind") == "inputRequest" and "response" not in part for part in parts_of(active)):
        yield "AHP-TURN-010", ("requests", turn)
    if _waits(before):
        yield "AHP-PEND-020", ("pending",)
    if failed:
        yield "AHP-TURN-016", ("activity", STATUS.ERROR)
        yield ("AHP-CHAT-144", ("trouble", turn)) if CLOCK_FREE.contains(version) else ("AHP-TURN-041", ("error", turn))
    else:
        yield "AHP-TURN-015", ("activity", STATUS.IDLE)
    if CLOCK_FREE.contains(version):
        yield "AHP-CHAT-107", ("modified",)


def _resumed(envelope: Envelope, version: str) -> Iterator[Effect]:
    last = finished_turn(envelope.before, _turn(envelope))
    if last is not None and active_turn(envelope.after) is not None:
        yield "AHP-CHAT-105", ("resumed", _turn(envelope), len(parts_of(last)))


def _truncated(envelope: Envelope, version: str) -> Iterator[Effect]:
    before, named = envelope.before, envelope.get("turnId")
    dropped = active_turn(before)
    if member(before, "backgroundWork"):
        yield "AHP-CHAT-121", ("work",)
    if envelope.after is before:
        yield "AHP-TRUNC-003", ("history",)
        yield "AHP-TRUNC-003", ("active",)
        return
    yield "AHP-TRUNC-001" if named is not None else "AHP-TRUNC-002", ("history",)
    if named is None and member(before, "turnsNextCursor") is not None:
        yield "AHP-TRUNC-002", ("cursor",)
    if dropped is not None or activity_of(before) != STATUS.IDLE:
        yield "AHP-TRUNC-004", ("active",)
        yield "AHP-TRUNC-004", ("activity", STATUS.IDLE)
    if any(part.get("kind") == "inputRequest" for part in parts_of(dropped)):
        yield "AHP-INPUTREQ-022", ("active",)
        yield "AHP-INPUTREQ-022", ("activity", STATUS.IDLE)
    if _waits(before) or member(before, "draft") is not None:
        yield "AHP-TRUNC-010", ("pending",)
        yield "AHP-TRUNC-010", ("draft",)


def _loaded(envelope: Envelope, version: str) -> Iterator[Effect]:
    yield "AHP-PAGE-008", ("history",)


def _part(envelope: Envelope, version: str) -> Iterator[Effect]:
    turn, part = _turn(envelope), envelope.get("part")
    if envelope.after is envelope.before:
        return
    yield "AHP-TURN-021", ("part names", turn)
    identity, content = text(member(part, "id")), member(part, "content")
    obligation = {"markdown": "AHP-TURN-019", "reasoning": "AHP-TURN-020"}.get(text(member(part, "kind")) or "")
    if identity is not None and obligation is not None and isinstance(content, str):
        yield obligation, ("said", turn, identity, len(content))


def _usage(envelope: Envelope, version: str) -> Iterator[Effect]:
    if active_turn(envelope.after) is not None and envelope.after is not envelope.before:
        yield "AHP-TURN-022", ("usage", _turn(envelope))


def _worked(envelope: Envelope, version: str) -> Iterator[Effect]:
    yield "AHP-CHAT-121", ("work",)


def _changesets(envelope: Envelope, version: str) -> Iterator[Effect]:
    yield "AHP-CHAT-122", ("changesets",)


# -- waiting messages and the draft -----------------------------------------------------------------------


def _drafted(envelope: Envelope, version: str) -> Iterator[Effect]:
    yield "AHP-DRAFT-001", ("draft",)


def _pending_set(envelope: Envelope, version: str) -> Iterator[Effect]:
    if envelope.get("kind") == "steering":
        yield "AHP-PEND-001", ("steering",)
    else:
        yield "AHP-PEND-002", ("queue",)


def _pending_removed(envelope: Envelope, version: str) -> Iterator[Effect]:
    if envelope.get("kind") == "steering":
        yield "AHP-PEND-003", ("steering",)
    else:
        yield "AHP-PEND-004", ("queue",)
        if member(envelope.before, "queuedMessages") and not member(envelope.after, "queuedMessages"):
            yield "AHP-PEND-022", ("empty queue",)


def _reordered(envelope: Envelope, version: str) -> Iterator[Effect]:
    if member(envelope.before, "queuedMessages"):
        yield "AHP-PEND-005", ("queue",)


# -- questions ------------------------------------------------------------------------------------------


def _asked(envelope: Envelope, version: str) -> Iterator[Effect]:
    request = envelope.get("request")
    identity = text(member(request, "id"))
    if identity is None or active_turn(envelope.before) is None:
        return
    yield "AHP-INPUTREQ-004", ("asked", identity)
    parts = [part for _, _, part in request_parts(envelope.before, identity)]
    if any(part.get("response") is None and member(part.get("request"), "answers") for part in parts):
        yield "AHP-INPUTREQ-005", ("answers", identity)
    if any(part.get("response") is not None for part in parts):
        yield "AHP-INPUTREQ-023", ("responses", identity)
    yield from _busy(envelope, "AHP-INPUTREQ-006")


def _answered(envelope: Envelope, version: str) -> Iterator[Effect]:
    identity = text(envelope.get("requestId"))
    if identity is None or not request_parts(envelope.before, identity):
        return
    if envelope.type == "chat/inputAnswerChanged":
        yield "AHP-INPUTREQ-007", ("answers", identity)
        drafts = [member(part.get("request"), "answers") for _, _, part in request_parts(envelope.before, identity)]
        if any(isinstance(d, dict) and d.keys() - {envelope.get("questionId")} for d in drafts):
            yield "AHP-INPUTREQ-016", ("answers", identity)
        return
    yield "AHP-INPUTREQ-008", ("responses", identity)
    yield "AHP-INPUTREQ-018", ("recorded", identity)
    yield from _busy(envelope, "AHP-INPUTREQ-006")


def _busy(envelope: Envelope, obligation: str) -> Iterator[Effect]:
    """The activity, where an action changed it between waiting for somebody and working."""
    activity = activity_of(envelope.after)
    if activity != activity_of(envelope.before) and activity in (STATUS.INPUT_NEEDED, STATUS.IN_PROGRESS):
        yield obligation, ("activity", activity)


# -- tool calls -----------------------------------------------------------------------------------------


def _of_call(envelope: Envelope, version: str) -> Iterator[Effect]:
    turn, identity, active = _turn(envelope), text(envelope.get("toolCallId")), active_turn(envelope.before)
    if identity is None or active is None:
        return
    call, after = call_in(active, identity), call_in(active_turn(envelope.after), identity)
    if active.get("id") != turn or (call is None and envelope.type != "chat/toolCallStart"):
        yield "AHP-TOOL-010", ("calls", text(active.get("id")) or "")
        return
    if envelope.type == "chat/toolCallStart":
        yield from _call_started(turn, identity, version)
        return
    place = ("call", turn, identity)
    status, now = text(member(call, "status")) or "", text(member(after, "status")) or ""
    if status in FINAL_STATUSES:
        yield "AHP-TOOL-011", ("final", turn, identity)
    if envelope.get("_meta") is not None:
        yield "AHP-TOOL-009", (*place, None, "toolCallId", "_meta")
    yield from _busy(envelope, "AHP-TOOL-023")
    others = [c for c in calls_in(active) if c is not call and c.get("status") in BLOCKING_STATUSES]
    if others and now != status:
        yield "AHP-TOOL-021", ("calls", turn)
    moves = _MOVES.get(envelope.type)
    if moves is not None and call is not None:
        yield from moves(envelope, version, place, call, now)


def _call_started(turn: str, identity: str, version: str) -> Iterator[Effect]:
    place = ("call", turn, identity)
    yield "AHP-TOOL-001", (*place, frozenset({"streaming"}), "toolName", "displayName", "contributor", "intention")
    yield "AHP-TOOL-004", ("partial", turn, identity)
    yield "AHP-TOOL-027", (*place, _BEYOND_STREAMING, "toolName", "displayName")
    if not READY_KEEPS_INPUT.contains(version):
        yield "AHP-TOOL-025", (*place, _BEYOND_STREAMING, "toolCallId", "contributor", "intention")


def _ready(envelope: Envelope, version: str, place: Place, call: JSON, now: str) -> Iterator[Effect]:
    status = call.get("status")
    yield "AHP-TOOL-005", (*place, frozenset({now}), "status")
    if status not in ("streaming", "pending-confirmation", "running"):
        return
    keeps = READY_KEEPS_INPUT.contains(version)
    if status != "streaming":
        yield "AHP-CONF-013", (*place, frozenset({now}))
        if envelope.get("toolInput") is None:
            lost = status == "running" or envelope.get("confirmed") is not None
            if keeps:
                yield "AHP-CONF-029", (*place, frozenset({now}), "toolCallId", "toolInput")
            elif lost:
                yield "AHP-CONF-028", (*place, frozenset({now}), "toolCallId", "toolInput")
    if keeps and (envelope.get("contributor") is not None or envelope.get("intention") is not None):
        yield "AHP-TOOL-030", (*place, frozenset({now}), "toolCallId", "contributor", "intention")
    if envelope.get("riskAssessment") is not None:
        yield "AHP-CONF-019", (*place, PENDING, "toolCallId", "riskAssessment", "options", "edits")


def _confirmed(envelope: Envelope, version: str, place: Place, call: JSON, now: str) -> Iterator[Effect]:
    if call.get("status") != "pending-confirmation":
        return
    if now == "cancelled":
        named = ("status", "reason", "reasonMessage", "userSuggestion", "selectedOption")
        yield "AHP-CONF-004", (*place, frozenset({"cancelled"}), *named)
        return
    yield "AHP-CONF-003", (*place, RUNNING, "status", "confirmed", "selectedOption")
    if envelope.get("selectedOptionId") is not None:
        yield "AHP-CONF-011", (*place, _AFTER_RUNNING, "toolCallId", "selectedOption")
    if envelope.get("editedToolInput") is not None:
        inline = isinstance(call.get("toolInput"), str)
        if inline or READY_KEEPS_INPUT.contains(version):
            yield "AHP-CONF-026" if inline else "AHP-CONF-027", (*place, RUNNING, "toolCallId", "toolInput")


def _completed(envelope: Envelope, version: str, place: Place, call: JSON, now: str) -> Iterator[Effect]:
    yield "AHP-TOOL-006", (*place, frozenset({now}), "status")
    if call.get("status") in ("running", "pending-confirmation") and now in _REVIEWED:
        yield "AHP-TOOL-008", (*place, _REVIEWED, "toolCallId", "content")
        if now == "pending-result-confirmation":
            named = ("status", "success", "pastTenseMessage", "content", "error")
            yield "AHP-CONF-014", (*place, frozenset({now}), *named)


def _result_confirmed(envelope: Envelope, version: str, place: Place, call: JSON, now: str) -> Iterator[Effect]:
    yield "AHP-CONF-015", (*place, frozenset({now}), "status", "reason", "success", "content", "error")


def _content(envelope: Envelope, version: str, place: Place, call: JSON, now: str) -> Iterator[Effect]:
    yield "AHP-TOOL-007", (*place, frozenset({now}), "toolCallId", "content")


_MOVES: dict[str, Callable[[Envelope, str, Place, Any, str], Iterator[Effect]]] = {
    "chat/toolCallReady": _ready,
    "chat/toolCallConfirmed": _confirmed,
    "chat/toolCallComplete": _completed,
    "chat/toolCallResultConfirmed": _result_confirmed,
    "chat/toolCallContentChanged": _content,
}

_EFFECTS: dict[str, Callable[[Envelope, str], Iterator[Effect]]] = {
    "chat/turnStarted": _started,
    "chat/turnComplete": _ended,
    "chat/turnCancelled": _ended,
    "chat/error": _ended,
    "chat/turnResume": _resumed,
    "chat/truncated": _truncated,
    "chat/turnsLoaded": _loaded,
    "chat/responsePart": _part,
    "chat/usage": _usage,
    "chat/backgroundWorkSet": _worked,
    "chat/backgroundWorkRemoved": _worked,
    "chat/changesetsChanged": _changesets,
    "chat/draftChanged": _drafted,
    "chat/pendingMessageSet": _pending_set,
    "chat/pendingMessageRemoved": _pending_removed,
    "chat/queuedMessagesReordered": _reordered,
    "chat/inputRequested": _asked,
    "chat/inputAnswerChanged": _answered,
    "chat/inputCompleted": _answered,
}

FOLDED = (
    frozenset(_EFFECTS)
    | frozenset(_MOVES)
    | {"chat/toolCallStart", "chat/toolCallAuthRequired", "chat/toolCallAuthResolved"}
)
"""The actions that have effects."""
