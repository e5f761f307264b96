"""Values that no version of this suite knows, where lists are open: nobody can say here what should follow from them.

A status of a call, or a kind of a part or an entry, may be one of a later version. What the fold makes of it is then
no more than a guess, so that rules leave such calls and entries alone, and what depends on them.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from typing import Any, Final

from conformance.protocol import TOOL_CALL_STATUSES
from conformance.protocol.status import ACTIVITY_MASK

from .reading import JSON, active_turn, dicts, member, text, whole

ENTRY_KINDS: Final = frozenset({"chatInput", "toolConfirmation", "toolClientExecution", "toolAuthentication"})
CHANGESET_STATUSES: Final = frozenset({"computing", "recomputing", "ready", "error"})
OPERATION_STATUSES: Final = frozenset({"idle", "running", "error", "disabled"})
PART_KINDS: Final = frozenset(
    {"markdown", "reasoning", "contentRef", "toolCall", "systemNotification", "inputRequest", "error"}
)


def has_unknown_status(call: JSON) -> bool:
    """Whether a tool call is in a status that is none of the seven."""
    return _is_unknown(member(call, "status"), TOOL_CALL_STATUSES)


def has_unknown_kind(entry: JSON) -> bool:
    """Whether an entry of inputNeeded is of a kind that is none of the four."""
    return _is_unknown(member(entry, "kind"), ENTRY_KINDS)


def less_unknown(left: JSON, right: JSON) -> tuple[JSON, JSON]:
    """Two states of a chat less the calls that are in an unknown status in either of them.

    Where such a call, or a part of an unknown kind, is in the active turn, the activity of the chat may follow from it,
    and is taken to be that of ``right``. States without any of that come back as they are.
    """
    turns = [turn for state in (left, right) for turn in _turns(state)]
    calls = {_key(turn, part) for turn in turns for part in _parts(turn) if has_unknown_status(part.get("toolCall"))}
    guessed = any(
        _key(active_turn(state), part) in calls or _is_unknown(part.get("kind"), PART_KINDS)
        for state in (left, right)
        for part in _parts(active_turn(state))
    )
    if calls:
        left, right = _without(left, calls), _without(right, calls)
    if guessed:
        own, other = whole(member(left, "status")), whole(member(right, "status"))
        if own is not None and other is not None:
            left = {**left, "status": own & ~ACTIVITY_MASK | other & ACTIVITY_MASK}
    return left, right


_Key = tuple[str, str]


def _is_unknown(value: JSON, known: Container[str]) -> bool:
    """What is no string at all is malformed, which is another matter."""
    return text(value) is not None and value not in known


def _turns(chat: JSON) -> Iterator[dict[str, Any]]:
    yield from dicts(member(chat, "turns"))
    active = active_turn(chat)
    if active is not None:
        yield active


def _parts(turn: JSON) -> list[dict[str, Any]]:
    return dicts(member(turn, "responseParts"))


def _key(turn: JSON, part: JSON) -> _Key:
    """A call by its turn and its id, as JSON text."""
    return repr(member(turn, "id")), repr(member(member(part, "toolCall"), "toolCallId"))


def _without(chat: JSON, calls: set[_Key]) -> JSON:
    if not isinstance(chat, dict):
        return chat
    changed = dict(chat)
    if isinstance(chat.get("turns"), list):
        changed["turns"] = [_turn_without(turn, calls) for turn in chat["turns"]]
    if active_turn(chat) is not None:
        changed["activeTurn"] = _turn_without(chat["activeTurn"], calls)
    return changed


def _turn_without(turn: JSON, calls: set[_Key]) -> JSON:
    parts = member(turn, "responseParts")
    if not isinstance(parts, list):
        return turn
    return {**turn, "responseParts": [part for part in parts if _key(turn, part) not in calls]}
