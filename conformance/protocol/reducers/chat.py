"""The fold of a chat channel. Source: `types/channels-chat/reducer.ts`.

Time: until 0.9.0 the rules stamp `modifiedAt` with the clock of whoever folds, so a fold and a
snapshot differ in it by right; from 0.9.0 it follows from the data of the actions.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from conformance.protocol.status import (
    ERROR,
    IDLE,
    IN_PROGRESS,
    INPUT_NEEDED,
    IS_ARCHIVED,
    IS_READ,
    with_activity,
    with_flag,
)
from conformance.protocol.versions import Window

from .folding import (
    Action,
    Handlers,
    State,
    Step,
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
from .toolcalls import BLOCKING_STATUSES, STREAMING, event_of, moved

STAMPED_BY_CLOCK: Final = Window("0.4.0", "0.9.0")
"""While this holds, modifiedAt is the time of the fold."""

ERROR_IS_A_TURN_MEMBER: Final = Window("0.4.0", "0.9.0")
"""While this holds, a failed turn has `error`; later the error is its last response part."""


def chat_activity(state: State) -> int:
    """The activity that follows from the active turn: waiting, working or idle."""
    turn = state.get("activeTurn")
    if not turn:
        return IDLE
    for part in turn["responseParts"]:
        kind = part.get("kind")
        if kind == "toolCall":
            if part["toolCall"].get("status") in BLOCKING_STATUSES:
                return INPUT_NEEDED
        elif kind == "inputRequest" and part.get("response") is None:
            return INPUT_NEEDED
    return IN_PROGRESS


def _refreshed(state: State, *, unread: bool = False) -> State:
    """The state with its activity derived anew; the same object when nothing changes."""
    status = with_activity(state["status"], chat_activity(state))
    if unread:
        status = with_flag(status, IS_READ, False)
    return state if status == state["status"] else put(state, status=status)


def _stamped(state: State, step: Step, from_data: str | None = None) -> State:
    """The state with a new modifiedAt; from_data is what the rules without a clock use, if anything."""
    moment = from_data
    if STAMPED_BY_CLOCK.contains(step.version):
        moment = step.now() if step.now else None
    return state if moment is None else put(state, modifiedAt=moment)


def _later(moment: Any, milliseconds: float) -> str | None:
    """An ISO 8601 time some milliseconds on, in UTC with three decimals; None if it is no time."""
    try:
        start = datetime.fromisoformat(moment)
        end = (start + timedelta(milliseconds=int(milliseconds))).astimezone(UTC)
    except (TypeError, ValueError, OverflowError):
        return None
    return end.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _active(state: State, turn_id: Any) -> dict[str, Any] | None:
    """The active turn if it has this id."""
    turn = state.get("activeTurn")
    return turn if turn and turn.get("id") == turn_id else None


def _with_parts(state: State, turn: dict[str, Any], parts: list[dict[str, Any]]) -> State:
    return {**state, "activeTurn": {**turn, "responseParts": parts}}


# Turns


def _turn_started(state: State, action: Action, step: Step) -> State:
    turn = {
        "id": action["turnId"],
        "startedAt": action.get("startedAt"),
        "message": action["message"],
        "responseParts": [],
    }
    new = _stamped(put(state, activeTurn=put(turn, **turn)), step, action.get("startedAt"))
    return _consumed(_refreshed(new, unread=True), action.get("queuedMessageId"))


def _consumed(state: State, message_id: str | None) -> State:
    """Without the pending message that became a turn, wherever it waited."""
    if not message_id:
        return state
    steering = state.get("steeringMessage")
    if steering and steering.get("id") == message_id:
        state = without(state, "steeringMessage")
    queue = state.get("queuedMessages")
    if queue is not None:
        state = put(state, queuedMessages=[m for m in queue if m.get("id") != message_id] or None)
    return state


def _turn_ends_as(outcome: str) -> Callable[[State, Action, Step], State]:
    def handle(state: State, action: Action, step: Step) -> State:
        turn = _active(state, action["turnId"])
        if turn is None:
            return state
        parts = [_ended(part, action, step) for part in turn["responseParts"]]
        duration = max(0, action.get("duration") or 0)
        finished = {**turn, "duration": duration, "responseParts": parts, "state": outcome}
        if outcome == "error":
            if ERROR_IS_A_TURN_MEMBER.contains(step.version):
                finished["error"] = action.get("error")
            elif action.get("part"):
                finished["responseParts"] = [*parts, action["part"]]
        new = put(state, turns=[*state["turns"], put(finished, **finished)], activeTurn=None)
        new = _stamped(new, step, _later(turn.get("startedAt"), duration))
        return put(new, status=with_activity(new["status"], ERROR if outcome == "error" else IDLE))

    return handle


def _ended(part: dict[str, Any], action: Action, step: Step) -> dict[str, Any]:
    if part.get("kind") != "toolCall":
        return part
    call = moved(part["toolCall"], "turn ended", action, step)
    return part if call is part["toolCall"] else put(part, toolCall=call)


def _turn_resumed(state: State, action: Action, step: Step) -> State:
    """Reopens the latest turn if it failed in a way that can be resumed and nothing else is active."""
    turns = state["turns"]
    if state.get("activeTurn") or not turns:
        return state
    last = turns[-1]
    parts = last["responseParts"]
    resumable = bool(parts) and parts[-1].get("kind") == "error" and parts[-1].get("resumable") is True
    if last["id"] != action["turnId"] or last.get("state") != "error" or not resumable:
        return state
    turn = {name: last.get(name) for name in ("id", "startedAt", "message", "responseParts", "usage")}
    turn["startedAt"] = turn["startedAt"] or state.get("modifiedAt")
    return _refreshed(put(state, turns=turns[:-1], activeTurn=put(turn, **turn)), unread=True)


def _truncated(state: State, action: Action, step: Step) -> State:
    turn_id = action.get("turnId")
    if turn_id is None:
        new = without(put(state, turns=[], activeTurn=None), "turnsNextCursor")
    else:
        place = index_of(state["turns"], "id", turn_id)
        if place < 0:
            return state
        new = put(state, turns=state["turns"][: place + 1], activeTurn=None)
    return _refreshed(_stamped(new, step))


def _turns_loaded(state: State, action: Action, step: Step) -> State:
    known = {turn["id"] for turn in state["turns"]}
    older = [turn for turn in action["turns"] if turn["id"] not in known]
    return put(state, turns=[*older, *state["turns"]], turnsNextCursor=action.get("turnsNextCursor"))


# What a turn produces


def _part_added(state: State, action: Action, step: Step) -> State:
    turn = _active(state, action["turnId"])
    if turn is None:
        return state
    # An error ends its turn, so since it became a part only chat/error may bring it.
    if action["part"].get("kind") == "error" and not ERROR_IS_A_TURN_MEMBER.contains(step.version):
        return state
    return _with_parts(state, turn, [*turn["responseParts"], action["part"]])


def _text_appended_to(kind: str) -> Callable[[State, Action, Step], State]:
    def handle(state: State, action: Action, step: Step) -> State:
        turn = _active(state, action["turnId"])
        if turn is None:
            return state
        parts = turn["responseParts"]
        place = _part_place(parts, action["partId"])
        if place < 0 or parts[place].get("kind") != kind:
            return state
        part = parts[place]
        longer = {**part, "content": part["content"] + action["content"]}
        return _with_parts(state, turn, replaced(parts, place, longer))

    return handle


def _part_place(parts: list[dict[str, Any]], wanted: Any) -> int:
    """The place of the first part that an action calls by this id, its own or that of its tool call, or -1.

    The first, because ids that a host gives twice must lead to the part that all other folds choose.
    """
    for place, part in enumerate(parts):
        if part.get("kind") == "toolCall":
            if part["toolCall"].get("toolCallId") == wanted:
                return place
        elif part.get("id") == wanted:
            return place
    return -1


def _usage(state: State, action: Action, step: Step) -> State:
    turn = _active(state, action["turnId"])
    return state if turn is None else put(state, activeTurn=put(turn, usage=action.get("usage")))


def _call_started(state: State, action: Action, step: Step) -> State:
    turn = _active(state, action["turnId"])
    if turn is None:
        return state
    names = ("toolCallId", "toolName", "displayName", "intention", "contributor", "_meta")
    call = put({}, status=STREAMING, **{name: action.get(name) for name in names})
    return _with_parts(state, turn, [*turn["responseParts"], {"kind": "toolCall", "toolCall": call}])


def _call_moved(state: State, action: Action, step: Step) -> State:
    """Moves the call, and derives the activity anew even if there is nothing to move.

    So a late action about a call of a failed turn takes the chat from Error to Idle, for everybody.
    """
    return _refreshed(_call_grown(state, action, step))


def _call_grown(state: State, action: Action, step: Step) -> State:
    """The state with every call of this id after the action; nothing else changes."""
    turn, event = _active(state, action["turnId"]), event_of(action)
    if turn is None or event is None:
        return state
    parts, wanted = turn["responseParts"], action["toolCallId"]
    new = parts
    for place, part in enumerate(parts):
        if part.get("kind") != "toolCall" or part["toolCall"].get("toolCallId") != wanted:
            continue
        call = moved(part["toolCall"], event, action, step)
        if call is not part["toolCall"]:
            new = replaced(new, place, {**part, "toolCall": call})
    return state if new is parts else _with_parts(state, turn, new)


# Questions to the user


def _open_request(turn: dict[str, Any] | None, request_id: Any) -> int:
    """The place of the unanswered part with this request, or -1."""
    for place, part in enumerate(turn["responseParts"] if turn else ()):
        if (
            part.get("kind") == "inputRequest"
            and part.get("response") is None
            and part["request"].get("id") == request_id
        ):
            return place
    return -1


def _input_requested(state: State, action: Action, step: Step) -> State:
    turn = state.get("activeTurn")
    if not turn:
        return state
    request, parts = action["request"], turn["responseParts"]
    place = _open_request(turn, request["id"])
    if place < 0:
        parts = [*parts, {"kind": "inputRequest", "request": request}]
    else:
        # Drafts of the request that is replaced stay unless the new one brings its own.
        drafts = request.get("answers")
        kept = parts[place]["request"].get("answers") if drafts is None else drafts
        parts = replaced(parts, place, {"kind": "inputRequest", "request": put(request, answers=kept)})
    return _stamped(_refreshed(_with_parts(state, turn, parts), unread=True), step)


def _answered(state: State, place: int, answers: dict[str, Any], response: str | None) -> State:
    turn = state["activeTurn"]
    part = turn["responseParts"][place]
    request = put(part["request"], answers=answers or None)
    new = put(part, request=request, response=response)
    return _with_parts(state, turn, replaced(turn["responseParts"], place, new))


def _answer_changed(state: State, action: Action, step: Step) -> State:
    place = _open_request(state.get("activeTurn"), action["requestId"])
    if place < 0:
        return state
    drafts = state["activeTurn"]["responseParts"][place]["request"].get("answers") or {}
    changed = put(drafts, **{action["questionId"]: action.get("answer")})
    return _stamped(_answered(state, place, changed, None), step)


def _input_completed(state: State, action: Action, step: Step) -> State:
    place = _open_request(state.get("activeTurn"), action["requestId"])
    if place < 0:
        return state
    drafts = state["activeTurn"]["responseParts"][place]["request"].get("answers") or {}
    answers = {**drafts, **(action.get("answers") or {})}
    return _stamped(_refreshed(_answered(state, place, answers, action["response"])), step)


# Messages that wait


def _pending_set(state: State, action: Action, step: Step) -> State:
    entry = {"id": action["id"], "message": action["message"]}
    if action["kind"] == "steering":
        return put(state, steeringMessage=entry)
    return put(state, queuedMessages=upserted(state.get("queuedMessages") or [], entry, "id"))


def _pending_removed(state: State, action: Action, step: Step) -> State:
    if action["kind"] == "steering":
        steering = state.get("steeringMessage")
        matches = steering and steering.get("id") == action["id"]
        return without(state, "steeringMessage") if matches else state
    queue = state.get("queuedMessages") or []
    left = [message for message in queue if message.get("id") != action["id"]]
    return state if len(left) == len(queue) else put(state, queuedMessages=left or None)


def _queue_reordered(state: State, action: Action, step: Step) -> State:
    queue = state.get("queuedMessages")
    if queue is None:
        return state
    by_id = {message["id"]: message for message in queue}
    named = [wanted for wanted in dict.fromkeys(action["order"]) if wanted in by_id]
    # A client with an old view of the queue must not drop what it has not seen.
    rest = [message for message in queue if message["id"] not in named]
    return put(state, queuedMessages=[*(by_id[wanted] for wanted in named), *rest])


# Chats since 1.0.0


def _work_set(state: State, action: Action, step: Step) -> State:
    return put(state, backgroundWork=upserted(state.get("backgroundWork") or [], action["work"], "id"))


def _work_removed(state: State, action: Action, step: Step) -> State:
    work = state.get("backgroundWork") or []
    place = index_of(work, "id", action["id"])
    return state if place < 0 else put(state, backgroundWork=removed(work, place))


def _flag(flag: int, source: str) -> Callable[[State, Action, Step], State]:
    def handle(state: State, action: Action, step: Step) -> State:
        return put(state, status=with_flag(state["status"], flag, action[source]))

    return handle


HANDLERS: Final[Handlers] = {
    "chat/turnStarted": _turn_started,
    "chat/turnComplete": _turn_ends_as("complete"),
    "chat/turnCancelled": _turn_ends_as("cancelled"),
    "chat/error": _turn_ends_as("error"),
    "chat/turnResume": _turn_resumed,
    "chat/truncated": _truncated,
    "chat/turnsLoaded": _turns_loaded,
    "chat/delta": _text_appended_to("markdown"),
    "chat/reasoning": _text_appended_to("reasoning"),
    "chat/responsePart": _part_added,
    "chat/usage": _usage,
    "chat/activityChanged": setter("activity"),
    "chat/toolCallStart": _call_started,
    "chat/toolCallDelta": _call_grown,
    "chat/toolCallReady": _call_moved,
    "chat/toolCallConfirmed": _call_moved,
    "chat/toolCallComplete": _call_moved,
    "chat/toolCallResultConfirmed": _call_moved,
    "chat/toolCallContentChanged": _call_grown,
    "chat/toolCallAuthRequired": _call_moved,
    "chat/toolCallAuthResolved": _call_moved,
    "chat/inputRequested": _input_requested,
    "chat/inputAnswerChanged": _answer_changed,
    "chat/inputCompleted": _input_completed,
    "chat/pendingMessageSet": _pending_set,
    "chat/pendingMessageRemoved": _pending_removed,
    "chat/queuedMessagesReordered": _queue_reordered,
    "chat/draftChanged": setter("draft"),
    "chat/workingDirectorySet": directory_added,
    "chat/workingDirectoryRemoved": directory_removed,
    "chat/backgroundWorkSet": _work_set,
    "chat/backgroundWorkRemoved": _work_removed,
    "chat/movableChanged": setter("movable"),
    "chat/changesetsChanged": setter("changesets"),
    "chat/canvasesChanged": setter("canvases"),
    "chat/isReadChanged": _flag(IS_READ, "isRead"),
    "chat/isArchivedChanged": _flag(IS_ARCHIVED, "isArchived"),
}
