"""What is due to a client's action on a chat, as tables: the state of the chat decides whether it is refused or taken.

Each function looks at one type of action and says which obligations demand what. Where the text leaves both open it
says nothing, or names an obligation that is advice: an action that changes nothing may be echoed either way (ambiguity
AMB-07), and so may a completion of a blocked call (AMB-05) or an answer of another kind than its question (AMB-29).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from conformance.oracle.memory import Bounded
from conformance.oracle.reading import JSON, active_turn, call_in, contributor_of, dicts, member, text, texts
from conformance.oracle.tracker import Envelope
from conformance.oracle.unknown import has_unknown_status

from .chat_places import parts_of

Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Demand:
    """An obligation with what it demands of the host: to refuse the action, or to take it."""

    obligation: str
    refuse: bool
    why: str


@dataclass(slots=True)
class ChatMemory:
    """What has to be known of a chat beside its state. Keys are turns, or turns with calls."""

    # Who started each turn: a client, or None for the host.
    starters: Bounded[str, str | None] = field(default_factory=lambda: Bounded(256))
    # Calls that the host itself completed.
    completed: Bounded[Key, None] = field(default_factory=lambda: Bounded(1024))
    # The last truncation dropped an active turn, and no turn has started since.
    dropped: bool = False
    # Whether clients have been seen to truncate on this host, and who.
    truncators: set[str] = field(default_factory=set)
    # Turns are surely possible: the session is ready and waits for no credentials.
    ready: bool = False


def client_of(envelope: Envelope) -> str | None:
    return text(member(envelope.origin, "clientId"))


def demands_on(envelope: Envelope, memory: ChatMemory) -> Iterator[Demand]:
    """What is due to the action of an envelope with a client as its origin, in the state that was before it."""
    group = DEMANDS.get(envelope.type)
    if group is not None:
        yield from group(envelope, envelope.before, memory)


def _foreign(message: JSON) -> str | None:
    """The origin of a message that no client may send, None when it is the user's or cannot be told."""
    kind = text(member(member(message, "origin"), "kind"))
    return kind if kind is not None and kind != "user" else None


def _plain(message: JSON) -> bool:
    """Whether a message of the user has nothing but text, so that no part of it can be refused."""
    return isinstance(message, dict) and not message.keys() - {"text", "origin"} and _foreign(message) is None


# -- turns and the draft ----------------------------------------------------------------------------------


def _turn_started(envelope: Envelope, chat: JSON, memory: ChatMemory) -> Iterator[Demand]:
    message, turn = envelope.get("message"), text(envelope.get("turnId"))
    kind = _foreign(message)
    if kind is not None:
        yield Demand("AHP-TURN-025", True, f"a client starts a turn with a message of {kind}")
        return
    if active_turn(chat) is not None or not _plain(message) or envelope.get("queuedMessageId") is not None:
        return
    # The id of an earlier turn is a reason to refuse; who is not refused need not be looked up among all turns.
    if not envelope.accepted and (turn in memory.starters or _has_had(chat, turn)):
        return
    # What else may forbid a turn is not known unless the session is.
    if memory.dropped and (envelope.accepted or memory.ready):
        yield Demand("AHP-TRUNC-011", False, "a turn right behind a truncation")
    elif memory.ready:
        yield Demand("AHP-TURN-001", False, "a plain message of the user on an idle chat of a session that is ready")


def _has_had(chat: JSON, turn: str | None) -> bool:
    return any(t.get("id") == turn for t in dicts(member(chat, "turns")))


def _turn_cancelled(envelope: Envelope, chat: JSON, memory: ChatMemory) -> Iterator[Demand]:
    active = active_turn(chat)
    if active is None:
        yield Demand("AHP-TURN-011", True, "a cancellation without active turn")
    elif active.get("id") == envelope.get("turnId"):
        starter = memory.starters.get(text(active.get("id")) or "")
        if starter != client_of(envelope):
            yield Demand("AHP-TURN-014", False, "the running turn is cancelled by another client than its starter")
    else:
        yield Demand("AHP-TURN-012", True, "a cancellation of another turn than the active one")


def _turn_resumed(envelope: Envelope, chat: JSON, memory: ChatMemory) -> Iterator[Demand]:
    turns = dicts(member(chat, "turns"))
    if active_turn(chat) is None and not turns and member(chat, "turnsNextCursor") is not None:
        # A window without any turn: the latest one is not known.
        return
    last = turns[-1] if turns else {}
    trouble = (parts_of(last) or [{}])[-1]
    reasons = {
        "a turn is active": active_turn(chat) is not None,
        "it is not the latest turn": last.get("id") != envelope.get("turnId"),
        "the turn did not fail": last.get("state") != "error",
        "its error cannot be resumed": trouble.get("kind") != "error" or trouble.get("resumable") is not True,
    }
    why = next((reason for reason, holds in reasons.items() if holds), None)
    if why is not None:
        yield Demand("AHP-CHAT-104", True, f"a resumption although {why}")


def _truncated(envelope: Envelope, chat: JSON, memory: ChatMemory) -> Iterator[Demand]:
    named = envelope.get("turnId")
    known = named is None or any(turn.get("id") == named for turn in dicts(member(chat, "turns")))
    # A host that cannot rewind its agent at all is not meant.
    if known and (envelope.accepted or memory.truncators - {client_of(envelope)}):
        yield Demand("AHP-TRUNC-006", False, "a truncation by another client than those who were let before")


def _draft(envelope: Envelope, chat: JSON, memory: ChatMemory) -> Iterator[Demand]:
    kind = _foreign(envelope.get("draft"))
    if kind is not None:
        yield Demand("AHP-DRAFT-004", True, f"a client sets a draft of {kind}")


# -- tool calls -----------------------------------------------------------------------------------------


def _call(envelope: Envelope, chat: JSON) -> dict[str, JSON] | None:
    active = active_turn(chat)
    if active is None or active.get("id") != envelope.get("turnId"):
        return None
    return call_in(active, envelope.get("toolCallId"))


def _confirmed(envelope: Envelope, chat: JSON, memory: ChatMemory) -> Iterator[Demand]:
    call = _call(envelope, chat)
    if call is None:
        yield Demand("AHP-CONF-025", True, "a decision about no call of the active turn")
        return
    if call.get("status") != "pending-confirmation":
        return
    action, approved, reason = envelope.action, envelope.get("approved"), text(envelope.get("reason"))
    if approved is False and reason is not None and reason not in ("denied", "skipped"):
        yield Demand("AHP-CONF-021", True, f"a client denies a call as {reason}")
        return
    simple = {"type", "turnId", "toolCallId", "approved", "confirmed" if approved else "reason"}
    # Where options are offered a host may insist on one of them.
    if action.keys() - simple or call.get("options") or (approved and envelope.get("confirmed") != "user-action"):
        return
    starter = memory.starters.get(text(envelope.get("turnId")) or "")
    if starter != client_of(envelope):
        yield Demand("AHP-CONF-022", False, "a decision by another client than the one that started the turn")


def _result_confirmed(envelope: Envelope, chat: JSON, memory: ChatMemory) -> Iterator[Demand]:
    call = _call(envelope, chat)
    if call is not None and call.get("status") != "pending-result-confirmation" and not has_unknown_status(call):
        yield Demand("AHP-CONF-016", True, f"a result is confirmed of a call that is {call.get('status')}")


def _completed(envelope: Envelope, chat: JSON, memory: ChatMemory) -> Iterator[Demand]:
    call = _call(envelope, chat)
    client, key = client_of(envelope), (str(envelope.get("turnId")), str(envelope.get("toolCallId")))
    if call is None:
        return
    if call.get("status") == "running":
        yield from _by_owner(call, client, "AHP-CLTOOL-007", "AHP-CLTOOL-008", "a completion")
    elif call.get("status") == "completed" and _owner(call) == client and key in memory.completed:
        yield Demand("AHP-CLTOOL-020", True, "a completion after the host has ended the call")


def _content(envelope: Envelope, chat: JSON, memory: ChatMemory) -> Iterator[Demand]:
    call = _call(envelope, chat)
    if call is not None and call.get("status") == "running":
        yield from _by_owner(call, client_of(envelope), "AHP-CLTOOL-023", "AHP-CLTOOL-009", "progress")


def _owner(call: JSON) -> str | None:
    """The client that executes a call, None when none does or it is not told which."""
    return text(member(member(call, "contributor"), "clientId")) if contributor_of(call) == "client" else None


def _by_owner(call: JSON, client: str | None, taken: str, refused: str, what: str) -> Iterator[Demand]:
    if contributor_of(call) in (None, "mcp"):
        yield Demand("AHP-TOOL-016", True, f"{what} of a client for a call that no client executes")
    elif _owner(call) == client:
        yield Demand(taken, False, f"{what} of the owner for its running call")
    elif _owner(call) is not None:
        yield Demand(refused, True, f"{what} for the running call of another client")


# -- waiting messages -----------------------------------------------------------------------------------


def _is_pending(chat: JSON, kind: JSON, identity: JSON) -> bool:
    steering = member(chat, "steeringMessage")
    waiting = [steering] if kind == "steering" else dicts(member(chat, "queuedMessages"))
    return any(member(entry, "id") == identity for entry in waiting if entry is not None)


def _pending_set(envelope: Envelope, chat: JSON, memory: ChatMemory) -> Iterator[Demand]:
    kind = _foreign(envelope.get("message"))
    if kind is not None:
        yield Demand("AHP-PEND-012", True, f"a client lets a message of {kind} wait")
    elif _plain(envelope.get("message")):
        yield Demand("AHP-PEND-016", False, "a plain message of the user is to wait")


def _pending_removed(envelope: Envelope, chat: JSON, memory: ChatMemory) -> Iterator[Demand]:
    if _is_pending(chat, envelope.get("kind"), envelope.get("id")):
        yield Demand("AHP-PEND-016", False, "a waiting message is removed")
    else:
        yield Demand("AHP-PEND-011", True, "the removal of a message that does not wait")


def _reordered(envelope: Envelope, chat: JSON, memory: ChatMemory) -> Iterator[Demand]:
    order = texts(envelope.get("order"))
    if order and all(_is_pending(chat, "queued", identity) for identity in order):
        yield Demand("AHP-PEND-016", False, "the queue is reordered")


# -- questions ------------------------------------------------------------------------------------------

_PAYLOADS: dict[str, tuple[type, ...]] = {
    "text": (str,),
    "number": (int, float),
    "boolean": (bool,),
    "selected": (str,),
    "selected-many": (list,),
}


# The kind of the value that answers each kind of question.
_VALUES = {
    "text": "text",
    "number": "number",
    "integer": "number",
    "boolean": "boolean",
    "single-select": "selected",
    "multi-select": "selected-many",
}


def open_request(chat: JSON, identity: JSON) -> dict[str, JSON] | None:
    """The unanswered request of the active turn that has this id."""
    for part in parts_of(active_turn(chat)):
        request = part.get("request")
        if part.get("kind") == "inputRequest" and part.get("response") is None and member(request, "id") == identity:
            return request if isinstance(request, dict) else {}
    return None


def _answer_changed(envelope: Envelope, chat: JSON, memory: ChatMemory) -> Iterator[Demand]:
    request = open_request(chat, envelope.get("requestId"))
    if request is None:
        yield Demand("AHP-INPUTREQ-009", True, "an answer to no open request of the active turn")
        return
    answer = envelope.get("answer")
    if member(answer, "state") not in ("draft", "submitted"):
        return
    value = member(answer, "value")
    payload = _PAYLOADS.get(text(member(value, "kind")) or "")
    wrong = payload is not None and not _is(member(value, "value"), payload)
    if value is None or wrong:
        yield Demand("AHP-INPUTREQ-010", True, "an answer without the value that its state and kind call for")
        return
    questions = dicts(request.get("questions"))
    question = next((q for q in questions if q.get("id") == envelope.get("questionId")), None)
    due = _VALUES.get(text(member(question, "kind")) or "")
    if payload is not None and due is not None and member(value, "kind") != due:
        yield Demand("AHP-INPUTREQ-020", True, f"an answer of kind {member(value, 'kind')} where {due} is due")


def _is(value: JSON, payload: tuple[type, ...]) -> bool:
    return isinstance(value, payload) and (bool in payload or not isinstance(value, bool))


def _completed_request(envelope: Envelope, chat: JSON, memory: ChatMemory) -> Iterator[Demand]:
    request, response = open_request(chat, envelope.get("requestId")), envelope.get("response")
    if request is None:
        yield Demand("AHP-INPUTREQ-011", True, "the completion of no open request of the active turn")
        return
    demands = [Demand("AHP-INPUTREQ-013", False, f"a request is completed with {response}")]
    if response == "accept":
        demands = list(_accepted(envelope, request))
    yield from demands
    starter = memory.starters.get(text(member(active_turn(chat), "id")) or "")
    refused = any(demand.refuse for demand in demands)
    if starter not in (None, client_of(envelope)) and not refused and not _map(envelope.get("answers")):
        yield Demand("AHP-INPUTREQ-017", False, "a request is completed by another client than the turn's starter")


def _accepted(envelope: Envelope, request: dict[str, JSON]) -> Iterator[Demand]:
    questions = dicts(request.get("questions"))
    answers = {**(_map(request.get("answers"))), **_map(envelope.get("answers"))}
    missing = [
        question.get("id")
        for question in questions
        if question.get("required") is True and member(answers.get(str(question.get("id"))), "state") != "submitted"
    ]
    if missing:
        yield Demand("AHP-INPUTREQ-012", True, f"required questions lack a submitted answer: {missing}")
    elif not questions and request.get("url") is not None and not answers:
        yield Demand("AHP-INPUTREQ-021", False, "a request by URL is accepted")


def _map(value: JSON) -> dict[str, JSON]:
    return value if isinstance(value, dict) else {}


DEMANDS: dict[str, Callable[[Envelope, Any, ChatMemory], Iterator[Demand]]] = {
    "chat/turnStarted": _turn_started,
    "chat/turnCancelled": _turn_cancelled,
    "chat/turnResume": _turn_resumed,
    "chat/truncated": _truncated,
    "chat/draftChanged": _draft,
    "chat/toolCallConfirmed": _confirmed,
    "chat/toolCallResultConfirmed": _result_confirmed,
    "chat/toolCallComplete": _completed,
    "chat/toolCallContentChanged": _content,
    "chat/pendingMessageSet": _pending_set,
    "chat/pendingMessageRemoved": _pending_removed,
    "chat/queuedMessagesReordered": _reordered,
    "chat/inputAnswerChanged": _answer_changed,
    "chat/inputCompleted": _completed_request,
}
